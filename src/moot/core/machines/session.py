"""The session: who has the floor.

`paused` waits for a human, `active` means that an AI acts or the queue is being worked on, `completed` accepts nothing
more. The two extensions let the floor pass from one human to another, and let a log end with the fact that names the
human who has it.
"""

from enum import StrEnum

from moot.core.fsm import machine


class Status(StrEnum):
    PAUSED = "paused"
    ACTIVE = "active"
    COMPLETED = "completed"


class Trigger(StrEnum):
    HUMAN_INPUT = "human_input"
    ROUTE_TO_AI = "route_to_ai"
    ROUTE_TO_HUMAN = "route_to_human"
    FALLBACK = "fallback"
    AI_CHAINED = "ai_chained"
    END = "end"
    HUMAN_DONE = "human_done"
    STOP = "stop"


S, T = Status, Trigger

SESSION = machine(
    "session",
    initial=S.PAUSED,
    final=[S.COMPLETED],
    rows=[
        (S.PAUSED, T.HUMAN_INPUT, S.ACTIVE),
        (S.PAUSED, T.ROUTE_TO_AI, S.ACTIVE),
        (S.ACTIVE, T.ROUTE_TO_HUMAN, S.PAUSED),
        (S.ACTIVE, T.FALLBACK, S.PAUSED),
        (S.ACTIVE, T.AI_CHAINED, S.ACTIVE),
        (S.PAUSED, T.END, S.COMPLETED),
        (S.PAUSED, T.HUMAN_DONE, S.COMPLETED),
        (S.ACTIVE, T.STOP, S.COMPLETED),
    ],
    extensions=[
        (S.PAUSED, T.ROUTE_TO_HUMAN, S.PAUSED),
        (S.PAUSED, T.FALLBACK, S.PAUSED),
    ],
)


def pause(status: Status, *, is_fallback: bool) -> Status:
    """A human gets the floor: by name, or because nobody else was named."""
    return SESSION.advance(status, T.FALLBACK if is_fallback else T.ROUTE_TO_HUMAN)


def activate(status: Status, *, is_routed: bool) -> Status:
    """An AI gets the floor: by what a human said just now, or routed there by an answer, a command or a result."""
    if status is S.ACTIVE:
        return SESSION.advance(status, T.AI_CHAINED)
    return SESSION.advance(status, T.ROUTE_TO_AI if is_routed else T.HUMAN_INPUT)


def complete(status: Status, *, is_done: bool) -> Status:
    """The session ends, by a human's `[DONE]` or a command; what runs is stopped."""
    if status is S.ACTIVE:
        return SESSION.advance(status, T.STOP)
    return SESSION.advance(status, T.HUMAN_DONE if is_done else T.END)
