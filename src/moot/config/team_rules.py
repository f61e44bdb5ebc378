"""What types cannot say about a team. Works on data that may be wrong elsewhere, so that all is reported at once."""

import unicodedata
from collections.abc import Iterator, Mapping

from moot.config.agent_specs import check_servers, find_agent_type
from moot.config.message_format import shorten, suggest
from moot.config.plan_rules import check_plan
from moot.config.problem import Problem
from moot.config.supervisor_rules import check_supervisor
from moot.config.team_file import find_locale_language
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
                for problem in _check_member(entry):
                    yield Problem(path=("members", position, *problem.path), text=problem.text, hint=problem.hint)
    yield from _check_label("name", data.get("name"))
    understanding = data.get("understanding")
    if isinstance(understanding, dict):
        for problem in _check_understanding(understanding, members if isinstance(members, list) else []):
            yield Problem(path=("understanding", *problem.path), text=problem.text, hint=problem.hint)
    yield from _check_default(data)
    yield from check_plan(data)
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
            path=("chat", "default"), text=f"no member is called {shorten(default)}", hint=f"use one of {ids}"
        )


def _check_understanding(entry: dict[str, object], members: list[object]) -> Iterator[Problem]:
    kind, member_id, agent = entry.get("type"), entry.get("member"), entry.get("agent")
    if kind == "llm" and entry.get("model") is None:
        yield Problem(path=("model",), text="understanding by llm needs a model")
    if kind != "agent":
        for field in ("member", "agent"):
            if entry.get(field) is not None:
                yield Problem(path=(field,), text=f"{field} goes with type agent")
        return
    if (member_id is None) == (agent is None):
        yield Problem(
            path=(),
            text="understanding by an agent needs either a member or an agent",
            hint="name an AI of the team, or describe an agent, such as agent: {type: cli, preset: claude}",
        )
    minds = [str(each.get("id")) for each in members if isinstance(each, dict) and each.get("kind") == "ai"]
    if isinstance(member_id, str) and member_id not in minds:
        text_ = f"no AI member has the id {shorten(member_id)}"
        yield Problem(path=("member",), text=text_, hint=suggest(member_id, minds, "AI members"))
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
            text="an AI member needs an agent",
            hint="say what plays it, such as agent: {type: cli, preset: claude}",
        )
    if entry.get("kind") == "human" and agent is not None:
        yield Problem(path=("agent",), text="a human member takes no agent")
    if isinstance(agent, dict):
        for problem in _check_agent(agent):
            yield Problem(path=("agent", *problem.path), text=problem.text, hint=problem.hint)


def _check_name(field: str, written: str) -> Iterator[Problem]:
    forbidden = [char for char in written if char in _FORBIDDEN or unicodedata.category(char) in ("Cc", "Cs")]
    if forbidden:
        shown = " ".join(dict.fromkeys(map(repr, forbidden)))
        yield Problem(
            path=(field,),
            text=f"{field} {shorten(written)} contains {shown}, so no marker could address it",
            hint=f"leave out {' '.join(_FORBIDDEN)} and control characters",
        )
    elif text.clean(written) != written:
        yield Problem(path=(field,), text=f"{field} {shorten(written)} contains characters that change text direction")
    elif written.strip() and parse(f"[NEXT:{written}]").next != (Target(written.strip()),):
        yield Problem(
            path=(field,),
            text=f"{field} {shorten(written)} could not be addressed: in a marker its decoration is dropped",
            hint="leave out @ at the start, ** around it and !P1 at the end",
        )


def _check_label(field: str, written: object) -> Iterator[Problem]:
    """Names and roles are shown on one line, on terminals too."""
    if isinstance(written, str) and (text.clean(written) != written or "\n" in written):
        yield Problem(path=(field,), text=f"{field} {shorten(written)} contains control characters or line breaks")


def _check_agent(agent: dict[str, object]) -> Iterator[Problem]:
    name = agent.get("type")
    kind = find_agent_type(name) if isinstance(name, str) else None
    if kind is not None:
        yield from kind.check(agent)
