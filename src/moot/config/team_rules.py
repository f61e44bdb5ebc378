"""What types cannot say about a team. Works on data that may be wrong elsewhere, so that all is reported at once."""

import unicodedata
from collections.abc import Iterator, Mapping

from moot.config.agent_specs import check_servers, find_agent_type
from moot.config.message_format import shorten, suggest
from moot.config.phrase import Phrase
from moot.config.plan_rules import check_plan
from moot.config.problem import Problem
from moot.config.supervisor_rules import check_supervisor
from moot.config.user_locale import find_locale_language
from moot.config.workspace import check_workspace
from moot.core import limits, text
from moot.core.intake.markers import Target, parse
from moot.core.session.team import Kind, Language, Member, as_language, find_problems, member, normalise
from moot.core.texts import render

_NAMES = ("id", "name", "display_name")
_FORBIDDEN = "[],，、"  # they end or split a name in a marker


def check_rules(data: Mapping[str, object]) -> Iterator[Problem]:
    members = data.get("members")
    if isinstance(members, list):
        yield from _check_team(members, _read_language(data))
        for position, entry in enumerate(members):
            if isinstance(entry, dict):
                for problem in (*_check_member(entry), *_check_fallback(entry, members), *_check_scope(entry)):
                    yield Problem(path=("members", position, *problem.path), text=problem.text, hint=problem.hint)
    yield from _check_label("name", data.get("name"))
    understanding = data.get("understanding")
    if isinstance(understanding, dict):
        for problem in _check_understanding(understanding, members if isinstance(members, list) else []):
            yield Problem(path=("understanding", *problem.path), text=problem.text, hint=problem.hint)
    yield from _check_default(data)
    yield from check_plan(data)
    yield from check_workspace(data)
    yield from check_supervisor(data)


def _check_default(data: Mapping[str, object]) -> Iterator[Problem]:
    """`chat.default` must name a member."""
    chat, members = data.get("chat"), data.get("members")
    default = chat.get("default") if isinstance(chat, dict) else None
    if not isinstance(default, str) or not default or not isinstance(members, list):
        return
    team = [_stand_in(entry, position) for position, entry in enumerate(members)]
    names = {normalise(name): each.id for each in team for name in (each.id, each.name, each.display_name)}
    if normalise(default) not in names:
        ids = ", ".join(each.id for each in team)
        yield Problem(
            path=("chat", "default"),
            text=Phrase("team.member.default", value=shorten(default)),
            hint=Phrase("team.member.default.hint", value=ids),
        )


def _check_understanding(entry: dict[str, object], members: list[object]) -> Iterator[Problem]:
    kind, member_id, agent = entry.get("type"), entry.get("member"), entry.get("agent")
    if kind == "llm" and entry.get("model") is None:
        yield Problem(path=("model",), text=Phrase("team.member.llm_model"))
    if kind != "agent":
        for field in ("member", "agent"):
            if entry.get(field) is not None:
                yield Problem(path=(field,), text=Phrase("team.member.with_agent", field=field))
        return
    if (member_id is None) == (agent is None):
        yield Problem(
            path=(),
            text=Phrase("team.member.either"),
            hint=Phrase("team.member.either.hint"),
        )
    minds = [str(each.get("id")) for each in members if isinstance(each, dict) and each.get("kind") == "ai"]
    if isinstance(member_id, str) and member_id not in minds:
        text_ = Phrase("team.supervisor.no_ai_member", value=shorten(member_id))
        yield Problem(path=("member",), text=text_, hint=suggest(member_id, minds, Phrase("team.plural.ai_members")))
    if isinstance(agent, dict):
        for problem in _check_agent(agent):
            yield Problem(path=("agent", *problem.path), text=problem.text, hint=problem.hint)


def _read_language(data: Mapping[str, object]) -> Language:
    return as_language(data.get("language")) or find_locale_language()


def _check_team(entries: list[object], language: Language) -> Iterator[Problem]:
    members = [_stand_in(entry, position) for position, entry in enumerate(entries)]
    for problem in find_problems(members):
        match problem.path:
            case ("members", int(position), str(field)) if not _was_written(entries[position], field):
                continue  # the default repeats what was said of the name it comes from
        yield Problem(path=problem.path, text=render(problem.code, language, **problem.params))


def _stand_in(entry: object, position: int) -> Member:
    """The member as far as it can be read: what is wrong with one must not hide or invent problems of the others.

    A kind that cannot be read may be the human that is missing; `members[1]` as an id can clash with nobody's.
    """
    fields = entry if isinstance(entry, dict) else {}
    known = {field: fields[field] for field in _NAMES if _was_written(fields, field)}
    return member(
        known.get("id", f"members[{position}]"),
        Kind.AI if fields.get("kind") == "ai" else Kind.HUMAN,
        name=known.get("name"),
        display_name=known.get("display_name"),
        position=position,
    )


def _was_written(entry: object, field: str) -> bool:
    written = entry.get(field) if isinstance(entry, dict) else None
    return isinstance(written, str) and 0 < len(written) <= limits.NAME_CHARS


def _check_member(entry: dict[str, object]) -> Iterator[Problem]:
    for field in _NAMES:
        if _was_written(entry, field):
            yield from _check_name(field, str(entry[field]))
    yield from _check_label("role", entry.get("role"))
    yield from check_servers(entry)
    agent = entry.get("agent")
    if entry.get("kind") == "ai" and agent is None:
        yield Problem(
            path=("agent",),
            text=Phrase("team.member.needs_agent"),
            hint=Phrase("team.member.needs_agent.hint"),
        )
    if entry.get("kind") == "human" and agent is not None:
        yield Problem(path=("agent",), text=Phrase("team.member.human_agent"))
    if isinstance(agent, dict):
        for problem in _check_agent(agent):
            yield Problem(path=("agent", *problem.path), text=problem.text, hint=problem.hint)


def _check_fallback(entry: dict[str, object], members: list[object]) -> Iterator[Problem]:
    """Who acts instead of a member must be other AIs of the team."""
    fallback = entry.get("fallback")
    minds = [str(each.get("id")) for each in members if isinstance(each, dict) and each.get("kind") == "ai"]
    others = [each for each in minds if each != entry.get("id")]
    for position, name in enumerate(fallback if isinstance(fallback, list) else []):
        if isinstance(name, str) and name not in others:
            text_ = f"no other AI member has the id {shorten(name)}"
            yield Problem(path=("fallback", position), text=text_, hint=suggest(name, others, "AI members"))


def _check_scope(entry: dict[str, object]) -> Iterator[Problem]:
    """A member's budget is that of one session."""
    budget = entry.get("budget")
    if isinstance(budget, dict) and budget.get("scope", "session") != "session":
        yield Problem(path=("budget", "scope"), text=Phrase("team.member.budget_scope"))


def _check_name(field: str, written: str) -> Iterator[Problem]:
    forbidden = [char for char in written if char in _FORBIDDEN or unicodedata.category(char) in ("Cc", "Cs")]
    if forbidden:
        shown = " ".join(dict.fromkeys(map(repr, forbidden)))
        yield Problem(
            path=(field,),
            text=Phrase("team.member.marker", field=field, value=shorten(written), shown=shown),
            hint=Phrase("team.member.marker.hint", value=" ".join(_FORBIDDEN)),
        )
    elif text.clean(written) != written:
        yield Problem(path=(field,), text=Phrase("team.member.direction", field=field, value=shorten(written)))
    elif written.strip() and parse(f"[NEXT:{written}]").next != (Target(written.strip()),):
        yield Problem(
            path=(field,),
            text=Phrase("team.member.decoration", field=field, value=shorten(written)),
            hint=Phrase("team.member.decoration.hint"),
        )


def _check_label(field: str, written: object) -> Iterator[Problem]:
    """Names and roles are shown on one line, on terminals too."""
    if isinstance(written, str) and (text.clean(written) != written or "\n" in written):
        yield Problem(path=(field,), text=Phrase("team.member.control", field=field, value=shorten(written)))


def _check_agent(agent: dict[str, object]) -> Iterator[Problem]:
    name = agent.get("type")
    kind = find_agent_type(name) if isinstance(name, str) else None
    if kind is not None:
        yield from kind.check(agent)
