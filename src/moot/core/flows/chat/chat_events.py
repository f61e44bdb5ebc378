"""The facts of the chat flow."""

from typing import ClassVar

from moot.core.facts import Fact


class QueueChanged(Fact, frozen=True, kw_only=True):
    """The queue changed. `priorities` are those of `pending`, omitted if all are P2."""

    event: ClassVar[str] = "queue.changed"
    executing: str | None
    pending: tuple[str, ...]
    priorities: tuple[str, ...] = ()


CHAT_FACTS: tuple[type[Fact], ...] = (QueueChanged,)
