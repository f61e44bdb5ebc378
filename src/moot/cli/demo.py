"""`moot demo`: a built-in scripted team at work. No key, no network, nothing kept."""

import sys
from argparse import ArgumentParser, Namespace

from moot.app import open_app
from moot.cli import exits
from moot.cli.transcript import Transcript

# flow → the built-in team, and what the human says with what to look at
DEMOS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "chat": (
        "chat-demo",
        [
            (
                "You name who speaks next, they name who follows. Watch the queue; Dora is not in this team and is "
                "skipped with a notice.",
                "[NEXT: Claude] The library opens on Sundays from May. Can you three write the poster?",
            ),
            ("Nobody was named any more, so the floor came back to you. One change:", "[NEXT: Bob] Shorter, please."),
            ("A human ends the session; an AI cannot.", "Perfect, thank you all. [DONE]"),
        ],
    ),
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--flow", choices=sorted(DEMOS), default="chat")
    parser.add_argument("--plain", action="store_true", help="line by line, unattended (the only way so far)")


async def run(options: Namespace) -> int:
    team, lines = DEMOS[options.flow]
    async with open_app(team) as app:
        session = await app.session(title="Demo")
        transcript = Transcript()
        for event in await app.log.read(session.id):
            print(*transcript.lines(event), sep="\n")
        for caption, text in lines:
            print(f"\n» {caption}", file=sys.stderr, flush=True)
            async for event in session.say(text):
                for line in transcript.lines(event):
                    print(line, flush=True)
    return exits.OK
