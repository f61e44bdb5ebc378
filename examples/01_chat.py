"""A team of one human and two scripted AIs, without a file and without a key. Run it: `python examples/01_chat.py`."""

import asyncio

import moot
from moot.events import MessagePosted

TEAM = {
    "name": "poster",
    "language": "en",
    "members": [
        {"id": "ann", "name": "Ann", "kind": "human"},
        {
            "id": "bob",
            "name": "Bob",
            "kind": "ai",
            "agent": {"type": "script", "replies": ["Open on Sundays. [NEXT: Carol]"]},
        },
        {
            "id": "carol",
            "name": "Carol",
            "kind": "ai",
            "agent": {"type": "script", "replies": ["Add the hours."]},
        },
    ],
}


async def main() -> None:
    async with moot.open(TEAM) as app:  # in memory; data="folder" keeps it on disk
        session = await app.session()
        async for event in session.say("[NEXT: Bob] A poster, please."):  # until the floor is back with a human
            match event.fact:
                case MessagePosted(member=member, text=text):
                    print(f"{member}: {text.strip()}")
        view = await session.view()
        print(f"{view.status}, waiting for {view.waiting_for}")


if __name__ == "__main__":
    asyncio.run(main())
