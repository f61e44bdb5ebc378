"""The session (seed 000): who has the floor.

`paused` waits for a human, `active` means an AI acts or the queue is being worked on, `completed` takes nothing more.
The seed lets `paused` go to `active` only; the floor may also pass from one human to another, hence the extensions.
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
