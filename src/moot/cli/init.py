"""`moot init`: looks for agents on this machine, asks who plays each AI, and writes a team file that runs."""

import os
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from moot.agents.cli.discovery import FoundCli, find_clis
from moot.agents.cli.presets import find_preset, list_presets
from moot.cli import exits
from moot.cli.progress import Progress
from moot.cli.starter import (
    TEMPLATES,
    Starter,
    agent_lines,
    fill_names,
    list_flows,
    load_template,
    write_team,
)
from moot.cli.usage import UsageError
from moot.cli.wording import say
from moot.config.loading import InvalidTeam
from moot.config.message_format import suggest
from moot.config.user_locale import find_locale_language
from moot.config.validation import find_problems
from moot.config.yaml_source import read_yaml
from moot.core.errors import ConfigError, WorkspaceError
from moot.core.session.team import DEFAULT_LANGUAGE, LANGUAGES, Language
from moot.core.texts import find_text, render
from moot.runtime.workspaces.repository import find_repository

FILE = "moot.yaml"
SCRIPT = "script"
MODELS = {  # a model for each key in the environment
    "ANTHROPIC_API_KEY": "anthropic:claude-opus-5",
    "OPENAI_API_KEY": "openai:gpt-5-mini",
    "GOOGLE_API_KEY": "google:gemini-3.5-flash",
}


class Offer(Struct, frozen=True):
    """Something that can play an AI. `agent` is its YAML, None for a script; `says` describes it to people.

    `title` is what a member played by it may be called. `fix` is what has to be done before it can answer.
    """

    name: str
    agent: str | None
    says: str
    title: str = ""
    fix: str = ""

    @property
    def is_ready(self) -> bool:
        return not self.fix


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", default=".", help=say("help.init.folder"))
    parser.add_argument("--template", choices=TEMPLATES, help=say("help.init.template"))
    parser.add_argument("--flow", choices=list_flows(), help=say("help.init.flow"))
    parser.add_argument("--language", choices=LANGUAGES, help=say("help.language"))
    parser.add_argument("--members", metavar="NAMES", help=say("help.init.members"))
    parser.add_argument(
        "--agents",
        metavar="NAMES",
        help=say("help.init.agents"),
    )
    parser.add_argument("--yes", action="store_true", help=say("help.init.yes"))


async def run(options: Namespace) -> int:
    path = Path(options.folder) / FILE
    if path.parent.is_file():
        raise UsageError(f"{options.folder} is a file; name the folder of the new {FILE}: moot init DIR")
    if path.exists():
        raise ConfigError(f"{path} is there already; edit it, or name another folder: moot init DIR")
    is_new = not path.parent.exists()
    path.parent.mkdir(parents=True, exist_ok=True)  # first: if it cannot be made, nothing need be asked
    try:
        language = starting_language(options)
        with Progress(render("init.looking", language)):
            offers = list_offers(await find_clis(), os.environ, language)
        write_file(options, path, offers)
    except BaseException:  # Ctrl-C too
        if is_new:
            with suppress(OSError):  # something is in it
                path.parent.rmdir()
        raise
    return exits.OK


def write_file(options: Namespace, path: Path, offers: list[Offer]) -> None:
    """Write the file, and say what to do next. Raises UsageError if the options name nobody who plays an AI."""
    is_asked = not options.yes and sys.stdin.isatty() and sys.stderr.isatty()
    if not options.agents:  # else the choice is made
        for offer in offers[:-1]:
            print(render("init.found", starting_language(options), what=offer.says), file=sys.stderr)
    starter = choose(options, offers, is_asked=is_asked)
    text = write_team(starter)
    problems = find_problems(read_yaml(text.encode()))
    if problems:
        raise InvalidTeam(FILE, problems)
    path.write_text(text, encoding="utf-8")
    print(path)
    tell(starter, text, path, offers)


def list_offers(
    clis: Sequence[FoundCli], environment: Mapping[str, str], language: Language = DEFAULT_LANGUAGE
) -> list[Offer]:
    """Return what can play an AI: CLIs that are logged in, models, CLIs that are not, and a script last."""
    usable = [cli for cli in clis if cli.path and not cli.problem]
    offers = [_offer_cli(cli, language) for cli in usable]
    for key, model in MODELS.items():
        if environment.get(key):
            has_library = find_spec("pydantic_ai") is not None
            fix = "" if has_library else "`pip install 'moot[llm]'`"
            says = render("init.offer.model", language, key=key, model=model)
            needs = render("init.offer.needs", language, fix=fix) if fix else ""
            offers.append(Offer(key, f'{{type: llm, model: "{model}"}}', says + needs, fix=fix))
    script = Offer(SCRIPT, None, render("init.offer.script", language))
    return [*sorted(offers, key=lambda offer: not offer.is_ready), script]


def _offer_cli(cli: FoundCli, language: Language) -> Offer:
    """Offer a CLI. One that is there needs at most a login."""
    name, fix = cli.name, cli.fix
    if cli.path and fix:
        fix = render("init.fix.login", language, name=name, key=cli.preset.keys[0])
    login = render("init.offer.login", language) if fix else ""
    return Offer(
        name, f"{{type: cli, preset: {name}}}", f"{name} {cli.version}".strip() + login, name.capitalize(), fix
    )


def choose(options: Namespace, offers: list[Offer], *, is_asked: bool) -> Starter:
    """Return what to write: from the options, else from the answers, else what runs here at once."""
    language = starting_language(options)
    template = options.template or (_of_flow(options.flow) if options.flow else "")
    template = template or (ask_template(language) if is_asked else "pair")
    names = tuple(name for part in re.split("[,，]", options.members or "") if (name := part.strip()))
    filled = fill_names(template, language, names)
    players = _choose_players(options, offers, template, filled, language, is_asked=is_asked)
    if not names:
        filled = (filled[0], *_name_after_players(filled[1:], players))
    return Starter(
        team=name_team(Path(options.folder)),
        template=template,
        language=language,
        names=filled,
        agents=tuple(player.agent for player in players),
        has_repository=has_repository(Path(options.folder)),
    )


def starting_language(options: Namespace) -> Language:
    language: Language = options.language or find_locale_language()
    return language


def has_repository(folder: Path) -> bool:
    """Whether trees can be made of the repository that a folder, which need not be there yet, is in."""
    folder = folder.absolute()
    while not folder.is_dir():
        folder = folder.parent
    try:
        find_repository(folder)
    except WorkspaceError:
        return False
    return True


def _of_flow(flow: str) -> str:
    return next(name for name in TEMPLATES if load_template(name, DEFAULT_LANGUAGE).flow == flow)


def _choose_players(
    options: Namespace, offers: list[Offer], template: str, names: Sequence[str], language: Language, *, is_asked: bool
) -> list[Offer]:
    """Return who plays each AI, in the order of the names."""
    count = len(names) - 1
    if options.agents:
        wanted = [find_offer(name.strip(), offers, language) for name in options.agents.split(",") if name.strip()]
        if len(wanted) not in (1, count):
            raise UsageError(f"--agents names {len(wanted)} and the team has {count} AIs; name one for all or one each")
        return wanted * count if len(wanted) == 1 else wanted
    if not is_asked or len(offers) == 1:
        return [offers[-1]] * count
    for number, offer in enumerate(offers, 1):
        print(f"  {number}  {offer.says}", file=sys.stderr)
    parts = load_template(template, language).members
    players: list[Offer] = []
    for at, name in enumerate(names[1:]):
        role = parts[at].role if at < len(parts) else ""
        players.append(ask_player(name, role, offers, players, language))
    return players


def _name_after_players(names: Sequence[str], players: Sequence[Offer]) -> list[str]:
    """Call a member after the program that plays it, if only one member is; nobody is called so who is not."""
    titles = [player.title for player in players]
    return [title if title and titles.count(title) == 1 else name for name, title in zip(names, titles, strict=True)]


def name_team(folder: Path) -> str:
    """Return a name for the team: that of its folder, with what names cannot have taken out."""
    return re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-.")[:60] or "my-team"


def find_offer(name: str, offers: list[Offer], language: Language) -> Offer:
    """Return an offer by its name. A preset that is not installed here is taken too, with a warning."""
    for offer in offers:
        if offer.name == name:
            return offer
    presets = [preset.name for preset in list_presets()]
    if name in presets:
        print(render("init.missing", language, name=name), file=sys.stderr)
        return _offer_cli(FoundCli(preset=find_preset(name)), language)
    known = dict.fromkeys([*(offer.name for offer in offers), *presets])
    raise UsageError(f"--agents {name!r} is nothing that plays an AI; {suggest(name, known, 'there are')}")


def ask_template(language: Language) -> str:
    """Ask what kind of team it is, until the answer is one."""
    names = list(TEMPLATES)
    for number, name in enumerate(names, 1):
        print(f"  {number}  {render(f'init.template.{name}', language)}", file=sys.stderr)
    return names[_ask_number(render("init.template", language), names, 1, language) - 1]


def ask_player(name: str, role: str, offers: Sequence[Offer], earlier: Sequence[Offer], language: Language) -> Offer:
    """Ask who plays one AI. The default is one that is ready, if possible one that plays nobody yet, else a script."""
    ready = [offer for offer in offers[:-1] if offer.is_ready]
    usual = next((offer for offer in ready if offer not in earlier), (ready or offers[-1:])[0])
    names = [offer.name for offer in offers]
    shown = find_text(f"ui.role.{role}", language) or role
    question = render("init.player", language, name=name, role=shown)
    return offers[_ask_number(question, names, offers.index(usual) + 1, language) - 1]


def _ask_number(question: str, names: Sequence[str], usual: int, language: Language) -> int:
    """Ask for a number or a name, until the answer is one; Enter, or the end of the input, takes the usual one."""
    while True:
        answer = ask(f"{question} [{usual}]: ")
        if not answer:
            return usual
        if answer.isdecimal() and 1 <= int(answer) <= len(names):
            return int(answer)
        if answer in names:
            return names.index(answer) + 1
        print(render("init.again", language, count=len(names)), file=sys.stderr)


def ask(question: str) -> str:
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def tell(starter: Starter, text: str, path: Path, offers: Sequence[Offer]) -> None:
    """Print what to do next: what an agent needs first and, for scripts, which lines to change for real agents."""
    where = "" if path.parent == Path() else f" {path}"
    language, found = starter.language, offers[:-1]
    for offer in found:
        if offer.fix and offer.agent in starter.agents:
            print(render("init.first", language, name=offer.name, fix=offer.fix), file=sys.stderr)
    print(render("init.next", language, where=where, first=starter.first_line), file=sys.stderr)
    if not any(starter.agents):
        lines = list_lines(agent_lines(text), language)
        agent = found[0].agent if found else "{type: cli, preset: claude}"
        print(render("init.scripted", language, lines=lines, path=path, agent=agent), file=sys.stderr)


def list_lines(numbers: Sequence[int], language: Language) -> str:
    *others, last = map(str, numbers)
    joined = render("init.comma", language).join(others)
    return render("init.lines", language, count=len(numbers), others=joined, last=last)
