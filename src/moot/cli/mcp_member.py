"""`moot mcp-member`: carries MCP between an agent and Moot. Moot has agents start it; people need not.

    python -I mcp_member.py FILE

It understands nothing of what it carries: it shows the token of FILE to the socket of FILE and passes lines on. It
imports no Moot, because an agent waits for it when it starts.
"""

import json
import os
import socket
import sys
import threading
from argparse import ArgumentParser, Namespace
from pathlib import Path

from moot.cli.wording import say

PIECE = 65_536
OK, FAILED = 0, 1


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help=say("help.mcp-member.file"))


def run(options: Namespace) -> int:
    try:
        told = json.loads(options.file.read_text())
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.connect(told["socket"])
        link.sendall(told["token"].encode() + b"\n")
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(
            f"moot: no member's tools behind {options.file} ({error}); Moot has ended, or never began", file=sys.stderr
        )
        return FAILED
    threading.Thread(target=_send, args=(link,), daemon=True).start()
    with link:
        while piece := link.recv(PIECE):
            _write(piece)
    return OK


def _send(link: socket.socket) -> None:
    """Pass on what the agent says; when it says no more, so does this."""
    while piece := os.read(sys.stdin.fileno(), PIECE):
        link.sendall(piece)
    link.shutdown(socket.SHUT_WR)


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sys.stdout.fileno(), view) :]


if __name__ == "__main__":
    _parser = ArgumentParser(prog="moot mcp-member")
    add_arguments(_parser)
    sys.exit(run(_parser.parse_args()))
