"""`moot`: parses the command line and runs one command. Each command is a file of its own, imported when it is used."""

import importlib
import io
import os
import sys
from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence

from moot import __version__
from moot.cli import exits
from moot.cli.parser import WORDS, Parser, list_subparsers

GREETING = """\
Moot: sessions in which people and AI agents work together. The floor always comes back to a human.
  moot demo                                      watch a scripted team work: no key, no network
  moot init                                      write a team file that runs, moot.yaml
  moot chat                                      talk to your team in the terminal
  moot serve --open                              the same in the browser
  moot run moot.yaml --say '[NEXT: bob] hello'   without a screen; --json for programs
  moot sessions list                             what was said, kept for good
  moot --help                                    every command and option
"""

# each is a module of this package; in the order of --help
COMMANDS: dict[str, str] = {
    "demo": "play a built-in scripted team: no key, no network",
    "init": "detect the installed agents and write a team file",
    "chat": "talk to a team in the terminal; --plain line by line",
    "validate": "check a team file: every problem with its line",
    "run": "run a session without a screen",
    "serve": "serve the web page and the gateway: WebSocket, SSE, REST",
    "worker": "play members with `runs_on` on this machine, for servers elsewhere",
    "stop": "end the server that `moot serve --background` started, or another one on the same data",
    "trust": "say which programs team files may start: add, list, remove",
    "token": "print your token, or let others connect: create, list, revoke",
    "route": "dry-run the routing, JSON Lines in and out: chat, supervisor, intent",
    "machines": "print every state machine, from its table",
    "sessions": "manage sessions: list, search, show, export, replay, verify, fork, diff, take, import, rename, rm",
    "db": "the database that several machines share: init, migrate, status, maintain, copy",
    "doctor": "check this machine: what is there, what is missing, and how to fix it",
    "schema": "print the JSON Schema of the team file, for editors",
    "completions": "print the script for Tab completion in bash, zsh or fish",
    "mcp-member": "internal: give an agent its member's tools; agents start it themselves",
}

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
        print(f"moot: the output cannot be written ({error.strerror})", file=sys.stderr)
        drop_stdout()
        return exits.FAILED


def run_command(arguments: list[str]) -> int:
    arguments = [WORDS.get(argument, argument) if at == 0 else argument for at, argument in enumerate(arguments)]
    debugs = [argument for argument in arguments[:1] if argument in DEBUG]  # `moot -v run …`, as many programs have it
    arguments = arguments[len(debugs) :]
    if not arguments:
        print(GREETING, end="")
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
    parser = Parser(prog="moot", description="Sessions in which people and AI agents work together.")
    parser.add_argument("-V", "--version", action="version", version=f"moot {__version__}")
    add_debug_argument(parser)
    parser.set_defaults(data=None)  # for every command; see add_data_argument
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    for name, line in COMMANDS.items():
        subparser = commands.add_parser(name, help=line, description=line)
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
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = "examples:\n" + "\n".join(f"  {example}" for example in EXAMPLES[name])
    for action, inner in list_subparsers(parser).items():
        finish(inner, f"{name} {action}")


def add_debug_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        *DEBUG, dest="debug", action="store_true", default=SUPPRESS, help="say on stderr what happens; errors in full"
    )


if __name__ == "__main__":
    if not sys.flags.safe_path:
        sys.path.pop(0)  # `python -m` puts the current folder there; team files import from their own folder only
    sys.exit(main())
