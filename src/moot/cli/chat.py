"""`moot chat`: the terminal UI, or line mode if there is no terminal or it is too small."""

from argparse import ArgumentParser, Namespace
from contextlib import AsyncExitStack

from moot.cli.data import add_store_arguments
from moot.cli.terminal import has_screen, opening


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="a team file or a built-in team (default: ./moot.yaml, else chat-demo)"
    )
    parser.add_argument("--session", metavar="ID", help="continue this session instead of starting a new one")
    parser.add_argument(
        "--continue", dest="go_on", action="store_true", help="continue the last session of this team file"
    )
    parser.add_argument("--title", default="", help="title of a new session")
    parser.add_argument("--as", dest="speaks_as", metavar="MEMBER", help="which human you are, if there are several")
    parser.add_argument(
        "--plain", "--inline", action="store_true", help="line by line: for screen readers, logs and pipes"
    )
    add_store_arguments(parser)
    parser.add_argument(
        "--connect", metavar="URL", help="as `moot serve` printed it, instead of --data; FILE is then a team it offers"
    )


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
