"""The team file that `moot init` writes, from a template: `teams/templates/<template>.<language>.yaml`."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache

import msgspec
from msgspec import Struct

from moot.config.yaml_source import read_yaml
from moot.core.flows.registry import FLOWS
from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.core.texts import render

EDIT, ASK = "edit", "ask"
TEMPLATES = ("pair", "plan", "supervisor", "studio")


class Part(Struct, frozen=True, kw_only=True):
    """An AI of a template. `replies` are the lines of its script, as YAML in flow style."""

    role: str
    name: str
    instructions: str
    replies: str
    permissions: str = ""  # of a command-line agent that plays it; empty: its own default
    for_code: str = ""  # its instructions in a repository, where command-line agents play


class Template(Struct, frozen=True, kw_only=True):
    """A team for one flow in one language.

    `least_ais` must be there, the first ones of `members`; `usual_worker` is the role of the AIs beyond those of the
    template; `settings` is YAML for the end of the file; `first_line_for_code` is the first line in a repository.
    """

    flow: str
    you: str
    first_line: str
    members: tuple[Part, ...]
    usual_worker: str
    least_ais: int
    settings: str = ""
    first_line_for_code: str = ""


def list_flows() -> list[str]:
    """Return the flows that have a template, in the order of the registry."""
    flows = {load_template(name, DEFAULT_LANGUAGE).flow for name in TEMPLATES}
    return [flow for flow in FLOWS if flow in flows]


@cache
def load_template(name: str, language: Language) -> Template:
    from importlib import resources  # slow to import, and needed by one command only

    file = resources.files("moot").joinpath("teams", "templates", f"{name}.{language}.yaml")
    return msgspec.convert(read_yaml(file.read_bytes()).data, Template)


class Starter(Struct, frozen=True, kw_only=True):
    """What to write: `names` begins with the human; `agents` are YAML for what plays each AI, None for a script.

    Programs that may edit work in trees of the repository; where there is none they ask before each change.
    """

    team: str
    template: str
    language: Language
    names: tuple[str, ...]
    agents: tuple[str | None, ...] = ()
    has_repository: bool = False  # trees can be made where the file is written

    @property
    def is_for_code(self) -> bool:
        """Whether the team works on a repository: there is one, and a command-line agent that can read it."""
        return self.has_repository and any("preset:" in agent for agent in self.agents if agent)

    @property
    def first_line(self) -> str:
        template = load_template(self.template, self.language)
        line = template.first_line_for_code if self.is_for_code else ""
        return (line or template.first_line).replace("{first}", self.names[1])


def fill_names(template: str, language: Language, names: Sequence[str]) -> tuple[str, ...]:
    """Complete the names with those of the template, as far as its flow needs more."""
    loaded = load_template(template, language)
    defaults = (loaded.you, *(part.name for part in loaded.members))
    least = 1 + loaded.least_ais
    chosen = tuple(names) or defaults
    return (*chosen, *(name for name in defaults[1:] if name not in chosen))[: max(len(chosen), least)]


def write_team(starter: Starter) -> str:
    template, you = load_template(starter.template, starter.language), starter.names[0]
    ids = list(_ids(starter.names))
    lines = [
        f"# {starter.first_line}",
        "moot: 1",
        f"name: {_quote(starter.team)}",
        f"examples: [{_quote(starter.first_line)}]",
        f"flow: {template.flow}",
        f"language: {starter.language}",
        "members:",
        f"  - {{id: {ids[0]}, name: {_quote(you)}, kind: human}}",
    ]
    names = starter.names[1:]
    for at, name in enumerate(names):
        part = _part_at(template, at)
        following = names[at + 1] if at + 1 < len(names) else you
        replies = part.replies.replace("{next}", following).replace("{you}", you)
        agent = _write_agent(starter, at, part) or f"{{type: script, replies: {replies}}}"
        lines += [
            f"  - id: {ids[at + 1]}",
            f"    name: {_quote(name)}",
            "    kind: ai",
            f"    role: {part.role}",
            f"    instructions: {_quote((starter.is_for_code and part.for_code) or part.instructions)}",
            f"    agent: {agent}",
        ]
    if any(line.startswith("    agent: ") and f"permissions: {EDIT}" in line for line in lines):
        lines += ["", f"# {render('starter.workspace', starter.language)}", "workspace:", "  type: worktree"]
        lines.append(f"  # check: [[make, test]]  # {render('starter.check', starter.language)}")
    settings = template.settings.replace("{supervisor}", ids[1]).replace("{default}", ids[1])
    return "\n".join(lines) + "\n" + (f"\n{settings}" if settings else "")


def _write_agent(starter: Starter, at: int, part: Part) -> str | None:
    """Return the YAML of an agent, with what its part lets a command-line agent do; None for a script."""
    agent = starter.agents[at] if at < len(starter.agents) else None
    if agent and part.permissions and "preset:" in agent:
        permissions = part.permissions if starter.has_repository or part.permissions != EDIT else ASK
        return f"{agent.removesuffix('}')}, permissions: {permissions}}}"
    return agent


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
