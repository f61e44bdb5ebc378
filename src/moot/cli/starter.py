"""The team file that `moot init` writes, from the template of a flow: `teams/templates/<flow>.<language>.yaml`."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache

import msgspec
from msgspec import Struct

from moot.config.yaml_source import read_yaml
from moot.core.session.team import Language


class Part(Struct, frozen=True, kw_only=True):
    """An AI of a template. `replies` are the lines of its script, as YAML in flow style."""

    role: str
    name: str
    instructions: str
    replies: str


class Template(Struct, frozen=True, kw_only=True):
    """A team for one flow in one language.

    `usual_worker` is the role of the AIs beyond those of the template; `settings` is YAML for the end of the file.
    """

    you: str
    first_line: str
    members: tuple[Part, ...]
    usual_worker: str
    settings: str = ""


@cache
def load_template(flow: str, language: Language) -> Template:
    from importlib import resources  # slow to import, and needed by one command only

    file = resources.files("moot").joinpath("teams", "templates", f"{flow}.{language}.yaml")
    return msgspec.convert(read_yaml(file.read_bytes()).data, Template)


class Starter(Struct, frozen=True, kw_only=True):
    """What to write: `names` begins with the human; `agent` is YAML for what plays the AIs, None for scripts."""

    flow: str
    language: Language
    names: tuple[str, ...]
    agent: str | None = None

    @property
    def first_line(self) -> str:
        return load_template(self.flow, self.language).first_line.replace("{first}", self.names[1])


def default_names(flow: str, language: Language) -> tuple[str, ...]:
    template = load_template(flow, language)
    return (template.you, *(part.name for part in template.members))


def fill_names(flow: str, language: Language, names: Sequence[str]) -> tuple[str, ...]:
    """Complete the names with those of the template, as far as the flow needs more; a chat needs only one AI."""
    defaults = default_names(flow, language)
    least = 2 if flow == "chat" else len(defaults)
    chosen = tuple(names) or defaults
    return (*chosen, *(name for name in defaults[1:] if name not in chosen))[: max(len(chosen), least)]


def write_team(starter: Starter) -> str:
    template, you = load_template(starter.flow, starter.language), starter.names[0]
    ids = list(_ids(starter.names))
    lines = [
        f"# {starter.first_line}",
        "moot: 1",
        "name: my-team",
        f"flow: {starter.flow}",
        f"language: {starter.language}",
        "members:",
        f"  - {{id: {ids[0]}, name: {_quote(you)}, kind: human}}",
    ]
    names = starter.names[1:]
    for at, name in enumerate(names):
        part = _part_at(template, at)
        following = names[at + 1] if at + 1 < len(names) else you
        replies = part.replies.replace("{next}", following).replace("{you}", you)
        agent = starter.agent or f"{{type: script, replies: {replies}}}"
        lines += [
            f"  - id: {ids[at + 1]}",
            f"    name: {_quote(name)}",
            "    kind: ai",
            f"    role: {part.role}",
            f"    instructions: {_quote(part.instructions)}",
            f"    agent: {agent}",
        ]
    settings = template.settings.replace("{supervisor}", ids[1]).replace("{default}", ids[1])
    return "\n".join(lines) + "\n" + (f"\n{settings}" if settings else "")


def agent_lines(text: str) -> list[int]:
    """Return the numbers of the lines that say who plays an AI."""
    return [number for number, line in enumerate(text.splitlines(), 1) if line.startswith("    agent: ")]


def _part_at(template: Template, at: int) -> Part:
    if at < len(template.members):
        return template.members[at]
    return next(part for part in template.members if part.role == template.usual_worker)


def _ids(names: Sequence[str]) -> Iterator[str]:
    taken: set[str] = set()
    for number, name in enumerate(names):
        plain = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")
        wanted = plain if plain and plain[0].isalpha() else f"m{number}"
        taken.add(wanted := wanted if wanted not in taken else f"{wanted}_{number}")
        yield wanted


def _quote(text: str) -> str:
    """Quote a text as a JSON string, which is valid YAML."""
    return json.dumps(text, ensure_ascii=False)
