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
    unfired={
        T.ROUTE_TO_AI: "a session is activated by what a human said or asked for, which is `human_input`",
        T.HUMAN_DONE: "[DONE] ends a session like any other way to end it, which is `end`",
    },
)


def pause(status: Status, *, is_fallback: bool) -> Status:
    """A human gets the floor: by name, or because nobody else was named."""
    return SESSION.advance(status, T.FALLBACK if is_fallback else T.ROUTE_TO_HUMAN)


def activate(status: Status) -> Status:
    """An AI gets the floor."""
    return SESSION.advance(status, T.HUMAN_INPUT if status is S.PAUSED else T.AI_CHAINED)


def complete(status: Status) -> Status:
    """The session ends; what runs is stopped."""
    return SESSION.advance(status, T.STOP if status is S.ACTIVE else T.END)
