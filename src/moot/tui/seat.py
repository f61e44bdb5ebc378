"""What one viewer has of a session: the view that every interface folds, the story, the timeline, what is unsent."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from moot.protocol.view import View, reduce
from moot.tui.rows import Rows
from moot.tui.story import Story, Teller

Frame = dict[str, Any]


class Unsent(Struct, frozen=True):
    number: int
    text: str


class Seat:
    """`speaks_as` is the human that was named on the command line; `viewer` is who "You" is, if that is known."""

    def __init__(self, make_teller: Callable[[], Teller], speaks_as: str | None = None) -> None:
        self._make_teller = make_teller
        self.speaks_as = speaks_as
        self.unsent: tuple[Unsent, ...] = ()
        self._sent = 0
        self.restart()

    def restart(self) -> None:
        self.view = View()
        self.rows = Rows()
        self.story = Story(self._make_teller())

    @property
    def viewer(self) -> str | None:
        humans = [member.id for member in self.view.members if member.is_human]
        return self.speaks_as or (humans[0] if len(humans) == 1 else None)

    def take(self, frame: Frame) -> None:
        seq, before = frame.get("seq"), self.view
        self.view = reduce(before, frame)
        if before.seq and not self.view.seq:  # the server's history is another one
            connection = self.view.connection
            self.restart()
            self.view = View(connection=connection)
        elif seq is not None and self.view.seq != before.seq:
            self.story.push(frame, self.view)
            self.rows.push(frame)

    def begin_sending(self, text: str) -> int:
        self._sent += 1
        self.unsent = (*self.unsent, Unsent(self._sent, text))
        return self._sent

    def end_sending(self, number: int) -> None:
        self.unsent = tuple(each for each in self.unsent if each.number != number)
