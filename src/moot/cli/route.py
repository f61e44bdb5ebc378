"""`moot route`: dry runs. One JSON object a line in, one a line out; nothing is started, nothing is stored."""

import importlib
import sys
from argparse import ArgumentParser, Namespace

import msgspec

from moot.cli import exits
from moot.core.errors import MootError

# a module of `routes` each: Question is what it reads, route() what it answers
KINDS = ("chat", "supervisor", "intent")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("kind", choices=KINDS, help="what is routed")


def run(options: Namespace) -> int:
    module = importlib.import_module(f"moot.cli.routes.{options.kind}")
    code = exits.OK
    for line in sys.stdin.buffer:  # bytes: a line that is no UTF-8 is one bad line, not the end
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
