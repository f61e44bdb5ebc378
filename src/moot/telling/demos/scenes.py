"""The data of a demo: a built-in team, and the scenes in which a human speaks to it."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from moot.core.codec import Event
from moot.core.facts import Fact


class Cue(Struct, frozen=True):
    """An event at which a scene begins while members are at work; with `task_id` it must be about that task."""

    event: str
    task_id: str = ""

    def fits(self, fact: Fact) -> bool:
        task_id = getattr(fact, "task_id", None) or (getattr(fact, "task", None) or {}).get("id", "")
        return fact.event == self.event and (not self.task_id or task_id == self.task_id)


class Scene(Struct, frozen=True, kw_only=True):
    """A caption for the viewer, and what the human does: post a text, answer the oldest question, or nothing.

    A scene begins when the human has the floor, or earlier, at its cue.
    """

    caption: str
    cut: str = ""  # a second caption; the connection, if there is one, is cut when the human acts
    say: str = ""
    answer: Mapping[str, Any] | None = None  # confirmed, choice, answer, tasks
    cue: Cue | None = None

    @property
    def acts(self) -> bool:
        return bool(self.say) or self.answer is not None

    def is_cued(self, events: Iterable[Event]) -> bool:
        return self.cue is not None and any(self.cue.fits(event.fact) for event in events)


class Demo(Struct, frozen=True, kw_only=True):
    team: str
    scenes: tuple[Scene, ...]
