"""`moot route`: dry runs of the routing, with JSON Lines in and out. Nothing is started or stored."""

import importlib
import sys
from argparse import ArgumentParser, Namespace

import msgspec

from moot.cli import exits
from moot.cli.wording import say
from moot.core.errors import MootError

# each is a module of `routes`, with the type of its input, Question, and the function route()
KINDS = ("chat", "supervisor", "intent")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("kind", choices=KINDS, help=say("help.route.kind"))


def run(options: Namespace) -> int:
    module = importlib.import_module(f"moot.cli.routes.{options.kind}")
    code = exits.OK
    if sys.stdin.isatty():
        print("reading JSON objects from the terminal, one a line; Ctrl-D ends", file=sys.stderr)
    for line in sys.stdin.buffer:  # bytes, so that a line which is not UTF-8 fails alone
        if not line.strip():
            continue
        try:
            answer = module.route(msgspec.json.decode(line, type=module.Question))
        except (ValueError, RecursionError, MootError) as error:
            answer = {"error": str(error)}
            code = exits.FAILED
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
        sys.stdout.flush()
    return code
