"""What 09_llm_chat.yaml names: a tool for a model, and a member that is a function."""

import moot

HOURS = {"saturday": "9 to 12", "sunday": "10 to 4"}


def opening_hours(day: str) -> str:
    """When the repair café is open on a day of the week."""
    return HOURS.get(day.lower(), "closed")


async def count_words(turn: moot.Turn) -> str:
    """A member: gets the turn, says how long the newest message is."""
    words = len(turn.message.text.split()) if turn.message else 0
    return f"{words} words."
