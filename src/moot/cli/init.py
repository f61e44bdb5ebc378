"""`moot init`: looks at what this machine has, asks three things, and writes a team file that runs."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from moot.agents.cli.discovery import FoundCli, find_clis
from moot.cli import exits
from moot.cli.progress import Progress
from moot.cli.starter import PARTS, Starter, agent_lines, default_names, fill_names, write_team
from moot.cli.usage import UsageError
from moot.config.loading import InvalidTeam
from moot.config.validation import find_problems
from moot.config.yaml_source import read_yaml
from moot.core.errors import ConfigError
from moot.core.team import Flow, Language

FILE = "moot.yaml"
SCRIPT = "script"
MODELS = {  # a key's name, and a model that it opens
    "ANTHROPIC_API_KEY": "anthropic:claude-opus-5",
    "OPENAI_API_KEY": "openai:gpt-5-mini",
    "GOOGLE_API_KEY": "google:gemini-3.5-flash",
}


class Offer(Struct, frozen=True):
    """Something that can play the AIs: what it is called, the YAML, what people read."""

    name: str
    agent: str | None
    says: str


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="DIR", nargs="?", default=".", help=f"where {FILE} is written (default: here)"
    )
    parser.add_argument(
        "--flow", choices=[str(flow) for flow in Flow], default="chat", help="how the team works (default: chat)"
    )
    parser.add_argument("--language", choices=["zh", "en"], help="default: that of the locale")
    parser.add_argument(
        "--members", metavar="NAMES", help="with commas, you first; those whom the flow needs besides are added"
    )
    parser.add_argument(
        "--agents", metavar="NAME", help="what plays the AIs: script, claude, codex, gemini or a key's name"
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


def list_offers(clis: Sequence[FoundCli], environment: "os._Environ[str] | dict[str, str]") -> list[Offer]:
    """Scripts first: they always play. Then what was found, those who are logged in before the others."""
    found = sorted((cli for cli in clis if cli.path and not cli.problem), key=lambda cli: not cli.login)
    offers = [Offer(SCRIPT, None, "scripts: no key, no network")]
    for cli in found:
        login = "" if cli.login else ", not logged in yet"
        offers.append(Offer(cli.name, f"{{type: cli, preset: {cli.name}}}", f"{cli.name} {cli.version}{login}"))
    for key, model in MODELS.items():
        if environment.get(key):
            needs = "" if find_spec("pydantic_ai") else ", once you `pip install 'moot[llm]'`"
            offers.append(Offer(key, f'{{type: llm, model: "{model}"}}', f"{key}, for {model}{needs}"))
    return offers


def choose(options: Namespace, offers: list[Offer], wanted: Offer | None, *, is_asked: bool) -> Starter:
    flow = Flow(options.flow)
    language = options.language or (ask_language() if is_asked else find_language())
    given = options.members or (ask_members(flow, language) if is_asked else "")
    names = tuple(name for each in given.replace("，", ",").split(",") if (name := each.strip()))
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


def find_language() -> Language:
    spoken = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    return "zh" if spoken.lower().startswith("zh") else "en"


def ask_language() -> Language:
    usual = find_language()
    answer = ask(f"Language / 语言 (zh, en) [{usual}]: ").lower()
    return "zh" if answer.startswith(("zh", "中")) else "en" if answer.startswith("en") else usual


def ask_members(flow: Flow, language: Language) -> str:
    usual = ", ".join(default_names(flow, language))
    roles = ", ".join(part.role for part in PARTS[flow])
    question = {
        "en": f"Who is in the team? You first, then the AIs ({roles}) [{usual}]: ",
        "zh": f"团队里有谁？先写你自己，再写 AI（{roles}）[{usual}]：",
    }
    return ask(question[language])


def ask_offer(offers: list[Offer], language: Language) -> Offer:
    """What was found is the usual answer."""
    for number, offer in enumerate(offers):
        print(f"  {number}  {offer.says}", file=sys.stderr)
    answer = ask({"en": "Who plays the AIs? [1]: ", "zh": "由谁来扮演 AI？[1]："}[language])
    chosen = [offer for number, offer in enumerate(offers) if answer in (str(number), offer.name)]
    return chosen[0] if chosen else offers[1]


def ask(question: str) -> str:
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


NEXT: dict[Language, str] = {
    "en": "\nNext:\n  moot chat{where}\nand say there:\n  {first}\nIn the browser: moot serve{where} --open",
    "zh": "\n下一步：\n  moot chat{where}\n然后在里面说：\n  {first}\n在浏览器中：moot serve{where} --open",
}
SCRIPTED: dict[Language, str] = {
    "en": "\nThe AIs are scripts; tell them /mock fail or /mock slow to see what that looks like.\n"
    "For a real team change {lines} of {path}, for example to\n"
    "    agent: {agent}\n`moot doctor` says what this machine has.",
    "zh": "\n这些 AI 是脚本；对它们说 /mock fail 或 /mock slow，可以看到失败和变慢的样子。\n"
    "要换成真正的代理，请修改 {path} 的第 {lines} 行，例如\n"
    "    agent: {agent}\n`moot doctor` 会列出本机可用的代理。",
}


def tell(starter: Starter, text: str, path: Path, found: Sequence[Offer]) -> None:
    """What to do next, and what to change for a real team: to what was found, if something was."""
    where = "" if path.parent == Path() else f" {path}"
    print(NEXT[starter.language].format(where=where, first=starter.first_line), file=sys.stderr)
    if starter.agent is None:
        lines = list_lines(agent_lines(text), starter.language)
        agent = found[0].agent if found else "{type: cli, preset: claude}"
        print(SCRIPTED[starter.language].format(lines=lines, path=path, agent=agent), file=sys.stderr)


def list_lines(numbers: Sequence[int], language: Language) -> str:
    *others, last = map(str, numbers)
    if language == "zh":
        return "、".join([*others, last])
    return f"lines {', '.join(others)} and {last}" if others else f"line {last}"
