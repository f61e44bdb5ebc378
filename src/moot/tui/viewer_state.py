"""A session as one viewer sees it: its view, conversation, timeline, link, and the messages being sent."""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.facts import Fact
from moot.core.flows.registry import FACTS
from moot.core.machines.connection import State as LinkState
from moot.core.session import events
from moot.core.view import View
from moot.protocol.happenings import LINK_CHANGED, VIEW_CHANGED, Moved
from moot.telling.teller import Teller, Told
from moot.telling.timeline import Timeline

STREAMED_CHARS = 100_000  # of a running turn: its end is shown
THINKING_CHARS = 4_000
STEPS = 50
MOST_ITEMS = 2_000
QUIET = ("queue.changed", "session.paused", "session.activated")  # shown in the lines at the top instead

Frame = dict[str, Any]
_FACTS: dict[str, type[Fact]] = {kind.event: kind for kind in FACTS}


class Unsent(Struct, frozen=True):
    number: int
    text: str


class Stream(Struct, frozen=True):
    """The text of a running turn so far. `thinking` is the current thought; it ends with the next step or text."""

    text: str = ""
    thinking: str = ""
    steps: tuple[Frame, ...] = ()  # thought, action or observation


class Item(Struct, frozen=True, kw_only=True):
    """One entry of the conversation. `name` is empty in lines that Moot writes itself."""

    seq: int
    at: str
    text: str
    name: str = ""
    member: str = ""
    to: tuple[str, ...] = ()  # names of the addressees


class Story:
    """The newest items. `count` also counts the older items that were dropped."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.count = 0
        self.last_message: Item | None = None
        self.is_unaddressed = False  # the last word of a human was said to nobody

    def push(self, frame: Frame, fact: Fact, told: Told) -> None:
        place = {"seq": frame["seq"], "at": frame["timestamp"]}
        if isinstance(fact, events.NoticePosted) and fact.code == "nobody_addressed":
            self.is_unaddressed = True
        elif isinstance(fact, events.MessagePosted | events.SessionActivated):
            self.is_unaddressed = False
        if told.member:
            if told.text:
                self._add(Item(**place, text=told.text, name=told.name, member=told.member, to=told.to))
        elif told.lines and fact.event not in QUIET:
            is_question = isinstance(fact, events.StepAsked) and told.text  # the card shows the options
            self._add(Item(**place, text=f"? {told.text}" if is_question else "\n".join(told.lines)))

    def _add(self, item: Item) -> None:
        self.items.append(item)
        if item.member:
            self.last_message = item
        self.count += 1
        if len(self.items) > MOST_ITEMS:
            del self.items[: MOST_ITEMS // 4]


class ViewerState:
    """`speaks_as` is the human named on the command line; `viewer` is the member called "You", if known."""

    def __init__(self, speaks_as: str | None = None) -> None:
        self.speaks_as = speaks_as
        self.unsent: tuple[Unsent, ...] = ()
        self.link = Moved(state=LinkState.DISCONNECTED)
        self.is_reset = False  # the server had another history, which was loaded from the start
        self._sent = 0
        self.restart()

    def restart(self) -> None:
        """Forget everything about the session, to read it again from its first event."""
        self.seq, self.at = 0, ""
        self.view = View()
        self.streams: dict[str, Stream] = {}  # by turn
        self.teller = Teller()
        self.timeline = Timeline()
        self.story = Story()

    @property
    def viewer(self) -> str | None:
        humans = [member.id for member in self.view.members if member.is_human]
        return self.speaks_as or (humans[0] if len(humans) == 1 else None)

    def take(self, frame: Frame) -> None:
        """Apply the next frame: a logged event, a change of the link or the view, or streamed text."""
        seq, metadata = frame.get("seq"), frame.get("metadata") or {}
        if seq is not None:
            self._take_logged(frame, seq)
        elif frame["event"] == VIEW_CHANGED:
            self.view = metadata["view"]
            running = {turn.turn_id for turn in self.view.running}
            self.streams = {turn_id: stream for turn_id, stream in self.streams.items() if turn_id in running}
        elif frame["event"] == LINK_CHANGED:
            self.link = msgspec.convert(metadata, Moved)
        elif frame["event"] in ("turn.delta", "turn.thinking"):
            self._stream(frame["event"], metadata)

    def _take_logged(self, frame: Frame, seq: int) -> None:
        if seq <= self.seq:
            return
        self.seq, self.at = seq, frame["timestamp"]
        if fact := _read_fact(frame):
            told = self.teller.tell(fact)
            self.story.push(frame, fact, told)
            self.timeline.push(frame, fact, told.state)
        turn_id = frame.get("metadata", {}).get("turn_id")
        if frame["event"] == "turn.step":
            stream = self.streams.get(turn_id, Stream())
            self.streams[turn_id] = replace(stream, thinking="", steps=(*stream.steps, frame["metadata"])[-STEPS:])
        elif frame["event"] == "plan.step_completed" and turn_id in self.streams:
            self.streams[turn_id] = replace(self.streams[turn_id], thinking="")

    def _stream(self, event: str, metadata: Frame) -> None:
        """Append streamed text or thoughts to a turn. The next view removes the streams of turns that have ended."""
        turn_id, text = metadata["turn_id"], metadata["text"]
        stream = self.streams.get(turn_id, Stream())
        if event == "turn.thinking":
            self.streams[turn_id] = replace(stream, thinking=(stream.thinking + text)[-THINKING_CHARS:])
        else:
            self.streams[turn_id] = replace(stream, text=(stream.text + text)[-STREAMED_CHARS:], thinking="")

    def begin_sending(self, text: str) -> int:
        """Show `text` as unsent. Returns the number to pass to `end_sending`."""
        self._sent += 1
        self.unsent = (*self.unsent, Unsent(self._sent, text))
        return self._sent

    def end_sending(self, number: int) -> None:
        self.unsent = tuple(message for message in self.unsent if message.number != number)


def _read_fact(frame: Frame) -> Fact | None:
    """Decode the fact of a logged frame. None if it is unknown here (written by a newer version)."""
    kind = _FACTS.get(frame["event"])
    try:
        return msgspec.convert(frame.get("metadata") or {}, kind) if kind else None
    except msgspec.ValidationError:
        return None
