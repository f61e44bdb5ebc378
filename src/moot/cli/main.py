"""`moot`: parses the command line and runs one command. Each command is a file of its own, imported when it is used."""

import importlib
import io
import os
import sys
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Sequence

from moot import __version__
from moot.cli import exits
from moot.cli.parser import WORDS, Parser, list_subparsers
from moot.cli.wording import say

GREETING = {  # command lines for a start, and what is said of each
    "moot demo": "demo",
    "moot init": "init",
    "moot chat": "chat",
    "moot serve --open": "serve",
    "moot run --say hello": "run",
    "moot sessions list": "sessions",
    "moot --help": "help",
}

# each is a module of this package, described by the text `help.NAME`; in the order of --help
COMMANDS = (
    *("demo", "init", "chat", "validate", "run", "serve", "worker", "stop", "trust", "token", "route", "machines"),
    *("sessions", "db", "doctor", "schema", "completions", "mcp-member"),
)

DEBUG = ("-v", "--verbose", "--debug")
HOSTS = (["chat"], ["run"], ["serve"], ["worker"])  # commands that start agents' programs


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    if argv is None and arguments[:1] in HOSTS:
        from moot.runtime.process_table import forbid_inspection

        forbid_inspection()  # keys and tokens are in its environment and memory, and agents run as the same user
    try:
        try:
            return run_command(arguments)
        finally:
            sys.stdout.flush()  # here, so that a failure is handled below and not while Python exits
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`: not an error
        drop_stdout()
        return exits.OK
    except OSError as error:
        print(f"moot: {say('error.output', reason=error.strerror)}", file=sys.stderr)
        drop_stdout()
        return exits.FAILED


def run_command(arguments: list[str]) -> int:
    arguments = [WORDS.get(argument, argument) if at == 0 else argument for at, argument in enumerate(arguments)]
    debugs = [argument for argument in arguments[:1] if argument in DEBUG]  # `moot -v run …`, as many programs have it
    arguments = arguments[len(debugs) :]
    if not arguments:
        print(
            say("help.greeting"),
            *(f"  {line:20} {say(f'help.greeting.{code}')}" for line, code in GREETING.items()),
            sep="\n",
        )
        return exits.OK
    parser = make_parser(arguments[0])
    if arguments[0].startswith("-"):
        parser.check_option(arguments[0])
    options = parser.parse_args(arguments)
    if debugs or getattr(options, "debug", False):
        options.debug = True
        log_details()
    return exits.run(options.run, options)


def log_details() -> None:
    """Write what Moot does to stderr. The libraries are left alone: at this level they write tokens."""
    import logging

    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger("moot").setLevel(logging.DEBUG)


def prepare_streams() -> None:
    """Open the null device for closed standard streams, so that no other file gets their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this stream's
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows a question mark


def drop_stdout() -> None:
    """Redirect stdout to the null device, so that Python does not fail to flush it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_parser(wanted: str) -> Parser:
    """Return the parser of all commands. Only the module of the wanted one is imported."""
    parser = Parser(prog="moot", description=say("help.moot"))
    parser.add_argument("-V", "--version", action="version", version=f"moot {__version__}", help=say("help.version"))
    add_debug_argument(parser)
    parser.set_defaults(data=None)  # for every command; see add_data_argument
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", title=say("help.commands"))
    for name in COMMANDS:
        subparser = commands.add_parser(name, help=(line := say(f"help.{name}")), description=line)
        if name == wanted:
            module = importlib.import_module(f"moot.cli.{name.replace('-', '_')}")
            module.add_arguments(subparser)
            subparser.set_defaults(run=subparser.get_default("run") or module.run)
            finish(subparser, name)
    return parser


def finish(parser: ArgumentParser, name: str) -> None:
    """Give a command, and each of its actions, its examples and what every command has."""
    from moot.cli.examples import EXAMPLES

    add_debug_argument(parser)
    parser.epilog = f"{say('help.examples')}:\n" + "\n".join(f"  {example}" for example in EXAMPLES[name])
    for action, inner in list_subparsers(parser).items():
        finish(inner, f"{name} {action}")


def add_debug_argument(parser: ArgumentParser) -> None:
    parser.add_argument(*DEBUG, dest="debug", action="store_true", default=SUPPRESS, help=say("help.debug"))


if __name__ == "__main__":
    if not sys.flags.safe_path:
        sys.path.pop(0)  # `python -m` puts the current folder there; team files import from their own folder only
    sys.exit(main())
