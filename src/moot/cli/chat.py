"""`moot chat`: the terminal UI, or line mode if there is no terminal or it is too small."""

from argparse import ArgumentParser, Namespace
from contextlib import AsyncExitStack

from moot.cli.data import add_store_arguments
from moot.cli.terminal import has_screen, opening
from moot.cli.wording import say


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help=say("help.chat.file"))
    parser.add_argument("--session", metavar="ID", help=say("help.session"))
    parser.add_argument("--continue", dest="go_on", action="store_true", help=say("help.chat.continue"))
    parser.add_argument("--title", default="", help=say("help.title"))
    parser.add_argument("--as", dest="speaks_as", metavar="MEMBER", help=say("help.chat.as"))
    parser.add_argument("--plain", "--inline", action="store_true", help=say("help.chat.plain"))
    add_store_arguments(parser)
    parser.add_argument("--connect", metavar="URL", help=say("help.connect"))


async def run(options: Namespace) -> int:
    """Show a session. Slow modules are imported only after the first line is on the screen."""
    if options.plain or not has_screen():
        from moot.cli.line_mode import run_lines

        return await run_lines(options)
    async with AsyncExitStack() as stack:
        with opening(options.session or options.file or "chat"):
            from moot.cli.hosting import check_speaker, opened
            from moot.cli.screen import show_session
            from moot.cli.user_settings import read_keys

            keys = read_keys()  # before anything is opened: raises ConfigError
            host, session, _ = await stack.enter_async_context(opened(options))
            await check_speaker(session, options.speaks_as)
        return await show_session(host, session.id, options, keys)
