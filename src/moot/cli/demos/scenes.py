"""What a demo is: a built-in team and the scenes in which a human speaks to it. Data; `cli/demo.py` plays it."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from moot.core.codec import Event
from moot.core.events import Fact


class Cue(Struct, frozen=True):
    """An event that a scene waits for while members are at work; `task_id` where it must be about that task."""

    event: str
    task_id: str = ""

    def fits(self, fact: Fact) -> bool:
        about = getattr(fact, "task_id", None) or (getattr(fact, "task", None) or {}).get("id", "")
        return fact.event == self.event and (not self.task_id or about == self.task_id)


class Scene(Struct, frozen=True, kw_only=True):
    """A caption that says what to look at, and what the human does: says something, answers the oldest question, or
    only looks on. It comes when the floor is back with the human, or earlier, at its cue.
    """

    caption: str
    cut: str = ""  # said as well where there is a link to cut: it is cut when the human acts
    say: str = ""
    answer: Mapping[str, Any] | None = None  # confirmed, choice, answer, tasks
    cue: Cue | None = None

    @property
    def acts(self) -> bool:
        return bool(self.say) or self.answer is not None

    def is_cued(self, happened: Iterable[Event]) -> bool:
        return self.cue is not None and any(self.cue.fits(event.fact) for event in happened)


class Demo(Struct, frozen=True, kw_only=True):
    team: str
    scenes: tuple[Scene, ...]
