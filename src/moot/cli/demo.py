"""`moot demo`: shows a built-in scripted team at work. It needs no key and no network and keeps nothing."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from moot.cli.terminal import has_screen, opening
from moot.cli.wording import say
from moot.core.session.team import LANGUAGES

if TYPE_CHECKING:
    from moot.telling.demos.scenes import Demo

FLOWS = ("chat", "supervisor", "plan")
WATCHED, TOLD = "plan", "chat"  # the defaults: the richest demo on a screen, the shortest line by line


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--flow", choices=FLOWS, help=say("help.demo.flow", watched=WATCHED, told=TOLD))
    parser.add_argument("--language", choices=LANGUAGES, help=say("help.language"))
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--plain", action="store_true", help=say("help.demo.plain"))
    how.add_argument("--web", action="store_true", help=say("help.demo.web"))


async def run(options: Namespace) -> int:
    """Play a demo. Slow modules are imported only after the first line is on the screen."""
    if options.web:
        from moot.cli.demos.watching import show_in_browser

        flow = options.flow or WATCHED
        return await show_in_browser(find(flow, options.language), flow)
    if options.plain or not has_screen():
        from moot.cli.demos.lines import tell

        return await tell(find(options.flow or TOLD, options.language))
    with opening("demo"):
        from moot.cli.demos.watching import show_on_screen

        demo = find(options.flow or WATCHED, options.language)
    return await show_on_screen(demo)


def find(flow: str, language: str | None) -> "Demo":
    """Return the demo of a flow in a language, by default that of the locale."""
    from moot.config.user_locale import find_locale_language
    from moot.telling.demos.catalogue import DEMOS

    return DEMOS[flow][language or find_locale_language()]
