"""What types cannot say about a team. Works on data that may be wrong elsewhere, so that all is reported at once."""

import unicodedata
from collections.abc import Iterator, Mapping

from moot.config.plan_rules import check_plan
from moot.config.problem import Problem
from moot.config.supervisor_rules import check_supervisor
from moot.config.team_file import find_locale_language
from moot.config.wording import shorten
from moot.core import limits, text
from moot.core.markers import Target, parse
from moot.core.team import Kind, Language, Member, Path, find_problems, member

_NAMES = ("id", "name", "display_name")
_FORBIDDEN = "[],，、"  # they end or split a name in a marker


def check_rules(data: Mapping[str, object]) -> Iterator[Problem]:
    members = data.get("members")
    if isinstance(members, list):
        yield from _check_team(members, _read_language(data))
        for position, each in enumerate(members):
            if isinstance(each, dict):
                for problem in _check_member(each):
                    yield Problem(path=("members", position, *problem.path), text=problem.text, hint=problem.hint)
    yield from _check_label("name", data.get("name"))
    understanding = data.get("understanding")
    if isinstance(understanding, dict) and understanding.get("type") == "llm" and understanding.get("model") is None:
        yield Problem(path=("understanding", "model"), text="understanding by llm needs a model")
    yield from check_plan(data)
    yield from check_supervisor(data)


def _read_language(data: Mapping[str, object]) -> Language:
    match data.get("language"):
        case "zh":
            return "zh"
        case "en":
            return "en"
        case _:
            return find_locale_language()


def _check_team(entries: list[object], language: Language) -> Iterator[Problem]:
    members = [_stand_in(entry, position) for position, entry in enumerate(entries)]
    for problem in find_problems(members, language):
        match problem.path:
            case ("members", int(position), str(field)) if not _was_written(entries[position], field):
                continue  # the default repeats what was said of the name it comes from
        yield Problem(path=problem.path, text=problem.text)


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
    yield from _check_servers(entry)
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
    match agent.get("type"):
        case "cli":
            yield from _check_cli(agent)
        case "llm":
            yield from _check_servers(agent)
        case "script":
            yield from _check_script(agent)


def _check_servers(holder: dict[str, object]) -> Iterator[Problem]:
    for position, server in enumerate(_list(holder.get("mcp"))):
        if isinstance(server, dict):
            yield from _check_server(("mcp", position), server)


def _check_server(path: Path, server: dict[object, object]) -> Iterator[Problem]:
    is_program, is_address = server.get("command") is not None, server.get("url") is not None
    if is_program == is_address:
        yield Problem(path=path, text="an MCP server needs either a command or a url")
    elif is_address and server.get("env"):
        yield Problem(path=(*path, "env"), text="env goes with a command; an address takes a key")
    elif is_program and server.get("key"):
        yield Problem(path=(*path, "key"), text="key goes with a url; a program takes env")


def _check_cli(agent: dict[str, object]) -> Iterator[Problem]:
    has_preset, has_command = agent.get("preset") is not None, agent.get("command") is not None
    if has_preset and has_command:
        yield Problem(path=("command",), text="a cli agent takes a preset or a command, not both")
    elif not has_preset and not has_command:
        yield Problem(text="a cli agent needs a preset or a command")
    elif has_preset and agent.get("output") is not None:
        yield Problem(path=("output",), text="output goes with a command; a preset knows its own")
    elif has_command:
        for key in ("model", "permissions"):
            if agent.get(key) is not None:
                yield Problem(path=(key,), text=f"{key} goes with a preset; write it into the command")


def _check_script(agent: dict[str, object]) -> Iterator[Problem]:
    for path, entry in _list_entries(agent):
        for number, step in enumerate(_list(entry.get("steps"))):
            if step == {}:
                empty = "a step needs a thought, an action or an observation"
                yield Problem(path=(*path, "steps", number), text=empty)


def _list_entries(agent: dict[str, object]) -> Iterator[tuple[Path, dict[str, object]]]:
    by_task = agent.get("by_task")
    scripts: list[tuple[Path, object]] = [(("replies",), agent.get("replies"))]
    if isinstance(by_task, dict):
        scripts += [(("by_task", task), entries) for task, entries in by_task.items()]
    for path, entries in scripts:
        for position, entry in enumerate(_list(entries)):
            if isinstance(entry, dict):
                yield (*path, position), entry


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
