"""Members written in Python: one returns its text, one yields it piece by piece and says what it does on the way."""

import asyncio
from collections.abc import AsyncIterator

import moot
from moot.events import MessagePosted, TurnStepped

TEAM = {
    "name": "counters",
    "language": "en",
    "members": [
        {"id": "ann", "kind": "human"},
        # who plays them is given to moot.open below, whatever stands here
        {"id": "counter", "kind": "ai", "agent": {"type": "script"}},
        {"id": "shouter", "kind": "ai", "agent": {"type": "script"}},
    ],
}


@moot.agent
async def counter(turn: moot.Turn) -> str:
    """Gets the newest message and names who is next, like everybody."""
    words = turn.message.text.split() if turn.message else []
    return f"{len(words)} words. [NEXT: shouter]"


@moot.agent
async def shouter(turn: moot.Turn) -> AsyncIterator[str | moot.Step]:
    """What is yielded is joined: text is the message, a Step is logged beside it."""
    yield moot.Step(thought=f"{len(turn.history)} messages so far")
    for message in turn.history:
        yield message.text.strip().upper() + " "


async def main() -> None:
    async with moot.open(TEAM, agents={"counter": counter, "shouter": shouter}) as app:
        session = await app.session()
        async for event in session.say("[NEXT: counter] one two three"):
            match event.fact:
                case TurnStepped(member=member, thought=thought):
                    print(f"  ({member} thinks: {thought})")
                case MessagePosted(member=member, text=text):
                    print(f"{member}: {text.strip()}")


if __name__ == "__main__":
    asyncio.run(main())
