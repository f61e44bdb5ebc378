"""`moot init`: looks for agents on this machine, asks up to three questions, and writes a team file that runs."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from moot.agents.cli.discovery import FoundCli, find_clis
from moot.cli import exits
from moot.cli.progress import Progress
from moot.cli.starter import Starter, agent_lines, default_names, fill_names, load_template, write_team
from moot.cli.usage import UsageError
from moot.config.loading import InvalidTeam
from moot.config.team_file import find_locale_language
from moot.config.validation import find_problems
from moot.config.yaml_source import read_yaml
from moot.core.errors import ConfigError
from moot.core.flows.registry import FLOWS
from moot.core.session.team import LANGUAGES, Language, match_language
from moot.core.texts import render

FILE = "moot.yaml"
SCRIPT = "script"
MODELS = {  # a model for each key in the environment
    "ANTHROPIC_API_KEY": "anthropic:claude-opus-5",
    "OPENAI_API_KEY": "openai:gpt-5-mini",
    "GOOGLE_API_KEY": "google:gemini-3.5-flash",
}


class Offer(Struct, frozen=True):
    """Something that can play the AIs. `agent` is its YAML, None for scripts; `says` describes it to people."""

    name: str
    agent: str | None
    says: str


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="DIR", nargs="?", default=".", help=f"where {FILE} is written (default: here)"
    )
    parser.add_argument("--flow", choices=list(FLOWS), default="chat", help="how the team works (default: chat)")
    parser.add_argument("--language", choices=LANGUAGES, help="default: that of the locale")
    parser.add_argument(
        "--members", metavar="NAMES", help="with commas, you first; those whom the flow needs besides are added"
    )
    parser.add_argument(
        "--agents", metavar="NAME", help="what plays the AIs: script, a preset such as claude, or a key's name"
    )
    parser.add_argument("--yes", action="store_true", help="ask nothing (nothing is asked without a terminal either)")


async def run(options: Namespace) -> int:
    path = Path(options.folder) / FILE
    if path.exists():
        raise ConfigError(f"{path} is there already; edit it, or name another folder: moot init DIR")
    with Progress("looking for agents' programs"):
        offers = list_offers(await find_clis(), os.environ)
    wanted = find_offer(options.agents, offers) if options.agents else None
    for offer in offers[1:]:
        print(f"found {offer.says}", file=sys.stderr)
    starter = choose(options, offers, wanted, is_asked=not options.yes and sys.stdin.isatty() and sys.stderr.isatty())
    text = write_team(starter)
    problems = find_problems(read_yaml(text.encode()))
    if problems:
        raise InvalidTeam(FILE, problems)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(path)
    tell(starter, text, path, offers[1:])
    return exits.OK


def list_offers(clis: Sequence[FoundCli], environment: Mapping[str, str]) -> list[Offer]:
    """Return what can play the AIs: scripts first, as they always can, then CLIs (logged in first), then models."""
    usable = sorted((cli for cli in clis if cli.path and not cli.problem), key=lambda cli: not cli.login)
    offers = [Offer(SCRIPT, None, "scripts: no key, no network")]
    for cli in usable:
        login = "" if cli.login else ", not logged in yet"
        offers.append(Offer(cli.name, f"{{type: cli, preset: {cli.name}}}", f"{cli.name} {cli.version}{login}"))
    for key, model in MODELS.items():
        if environment.get(key):
            needs = "" if find_spec("pydantic_ai") else ", once you `pip install 'moot[llm]'`"
            offers.append(Offer(key, f'{{type: llm, model: "{model}"}}', f"{key}, for {model}{needs}"))
    return offers


def choose(options: Namespace, offers: list[Offer], wanted: Offer | None, *, is_asked: bool) -> Starter:
    flow = options.flow
    language = options.language or (ask_language() if is_asked else find_locale_language())
    members = options.members or (ask_members(flow, language) if is_asked else "")
    names = tuple(name for part in members.replace("，", ",").split(",") if (name := part.strip()))
    offer = wanted or (ask_offer(offers, language) if is_asked and len(offers) > 1 else offers[0])
    return Starter(flow=flow, language=language, names=fill_names(flow, language, names), agent=offer.agent)


def find_offer(name: str, offers: list[Offer]) -> Offer:
    for offer in offers:
        if offer.name == name:
            return offer
    known = ", ".join(offer.name for offer in offers)
    raise UsageError(
        f"--agents {name!r} was not found here; what there is: {known}; `moot doctor` says how to get the rest"
    )


def ask_language() -> Language:
    """Ask for a language by its code or its own name; any other answer means that of the locale."""
    usual = find_locale_language()
    question = " / ".join(render("init.language", language) for language in LANGUAGES)
    answer = ask(f"{question} ({', '.join(LANGUAGES)}) [{usual}]: ").lower()
    names = {language: render("language.name", language).lower() for language in LANGUAGES}
    named = next((language for language, name in names.items() if answer and name.startswith(answer)), usual)
    return match_language(answer) or named


def ask_members(flow: str, language: Language) -> str:
    usual = ", ".join(default_names(flow, language))
    roles = ", ".join(part.role for part in load_template(flow, language).members)
    return ask(render("init.members", language, roles=roles, usual=usual))


def ask_offer(offers: list[Offer], language: Language) -> Offer:
    """Ask for the number or name of an offer; any other answer means the first one after scripts."""
    for number, offer in enumerate(offers):
        print(f"  {number}  {offer.says}", file=sys.stderr)
    answer = ask(render("init.agents", language))
    chosen = [offer for number, offer in enumerate(offers) if answer in (str(number), offer.name)]
    return chosen[0] if chosen else offers[1]


def ask(question: str) -> str:
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def tell(starter: Starter, text: str, path: Path, found: Sequence[Offer]) -> None:
    """Print what to do next and, for a team of scripts, which lines to change for real agents."""
    where = "" if path.parent == Path() else f" {path}"
    language = starter.language
    print(render("init.next", language, where=where, first=starter.first_line), file=sys.stderr)
    if starter.agent is None:
        lines = list_lines(agent_lines(text), language)
        agent = found[0].agent if found else "{type: cli, preset: claude}"
        print(render("init.scripted", language, lines=lines, path=path, agent=agent), file=sys.stderr)


def list_lines(numbers: Sequence[int], language: Language) -> str:
    *others, last = map(str, numbers)
    joined = render("init.comma", language).join(others)
    return render("init.lines", language, count=len(numbers), others=joined, last=last)
