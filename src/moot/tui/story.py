"""The conversation as a list: messages from the view, everything else as the lines of the transcript. Pure."""

from typing import Any, Protocol, get_args

import msgspec
from msgspec import Struct

from moot.core.events import Fact
from moot.core.supervisor.decision import without_decision
from moot.core.team import Flow
from moot.protocol.view import View

Frame = dict[str, Any]
MOST_ITEMS = 2_000
QUIET = {"queue.changed", "session.paused", "session.activated"}  # the lines on top say it

_FACTS: dict[str, type] = {kind.event: kind for kind in get_args(Fact)}


class Teller(Protocol):
    """Says in lines what a fact means to a reader; it folds what it is told."""

    def tell(self, fact: Fact) -> list[str]: ...


class Item(Struct, frozen=True, kw_only=True):
    """`name` is empty for what Moot says itself."""

    seq: int
    at: str
    text: str
    name: str = ""
    author: str = ""
    member: str = ""


class Story:
    def __init__(self, teller: Teller) -> None:
        self.items: list[Item] = []
        self.count = 0  # of all items, also those that were cut
        self._teller = teller

    def push(self, frame: Frame, view: View) -> None:
        """`view` has folded the frame already."""
        kind = _FACTS.get(frame["event"])
        if kind is None:
            return  # logged by a newer version
        try:
            lines = self._teller.tell(msgspec.convert(frame.get("metadata") or {}, kind))
        except msgspec.ValidationError:
            return
        line = view.messages[-1] if view.messages and view.messages[-1].seq == frame["seq"] else None
        if line:
            text = without_decision(line.text) if view.flow == Flow.SUPERVISOR and line.turn_id else line.text
            if text.strip():
                said = {"name": line.name, "author": line.author, "member": line.member}
                self._add(Item(seq=line.seq, at=line.at, text=text.strip(), **said))
        elif lines and frame["event"] not in QUIET:
            asked = frame.get("show_content") if frame["event"] == "agent.user_confirm" else None
            text = f"? {asked}" if asked else "\n".join(lines)  # the card has the options
            self._add(Item(seq=frame["seq"], at=frame["timestamp"], text=text))

    def _add(self, item: Item) -> None:
        self.items.append(item)
        self.count += 1
        if len(self.items) > MOST_ITEMS:
            del self.items[: MOST_ITEMS // 4]
