"""A session as one viewer sees it: its view, conversation, timeline, link, and the messages being sent."""

from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.facts import Fact
from moot.core.flows.registry import FACTS
from moot.core.machines.connection import State as LinkState
from moot.core.session import events
from moot.core.session.team import Language
from moot.core.view import View
from moot.protocol.frames import STREAMED
from moot.protocol.happenings import LINK_CHANGED, VIEW_CHANGED, Moved
from moot.telling.teller import Teller, Told
from moot.telling.timeline import Timeline
from moot.telling.tool_calls import ToolCall, ToolCalls, may_join, tell_calls

STREAMED_CHARS = 100_000  # of a running turn: its end is shown
THINKING_CHARS = 4_000
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


class Item(Struct, frozen=True, kw_only=True):
    """One entry of the conversation. `name` is empty in lines that Moot writes itself.

    Kinds: a message; the unfinished text of a turn that was stopped or failed; the use of a tool, or several that are
    told together; a step without a tool; a line of Moot.
    """

    seq: int
    at: str
    text: str
    kind: Literal["message", "partial", "tool", "step", "note"] = "note"
    name: str = ""
    member: str = ""
    to: tuple[str, ...] = ()  # names of the addressees
    place: str = ""  # of the author in the system: `moot-executor.writer`
    calls: tuple[ToolCall, ...] = ()


class Story:
    """The newest items. `count` also counts the older items that were dropped."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.count = 0
        self.is_unaddressed = False  # the last word of a human was said to nobody
        self._calls = ToolCalls()
        self._numbers: dict[str, int] = {}  # of the item of each call, counted from the first item ever

    def push(self, frame: Frame, fact: Fact, told: Told) -> None:
        place: dict[str, Any] = {"seq": frame["seq"], "at": frame["timestamp"]}
        if isinstance(fact, events.NoticePosted) and fact.code == "nobody_addressed":
            self.is_unaddressed = True
        elif isinstance(fact, events.MessagePosted | events.SessionActivated):
            self.is_unaddressed = False
        if told.member:
            if told.text:
                said = Item(**place, kind="message", text=told.text, name=told.name, member=told.member, to=told.to)
                self._add(replace(said, place=_name_place(frame)))
        elif call := self._calls.take(fact, frame["timestamp"]):
            self._push_call(call, told, place)
        elif partial := getattr(fact, "partial", ""):
            self._push_partial(partial, told, frame)
        elif told.lines and fact.event not in QUIET:
            is_question = isinstance(fact, events.StepAsked) and told.text  # the card shows the options
            text = f"? {told.text}" if is_question else "\n".join(told.lines)
            is_step = hasattr(fact, "observation")
            self._add(Item(**place, kind="step" if is_step else "note", text=text))

    def _push_call(self, call: ToolCall, told: Told, place: dict[str, Any]) -> None:
        """Add the use of a tool, or put it in the place of what was known of it before."""
        number = self._numbers.get(call.key, -1) - (self.count - len(self.items))
        language = told.state.language
        if 0 <= number < len(self.items):
            calls = tuple(call if each.key == call.key else each for each in self.items[number].calls)
            self.items[number] = replace(self.items[number], calls=calls, text=tell_calls(calls, language))
            if number + 1 == len(self.items):
                self._join_last(language)
            return
        name = told.state.team.member(call.member).display_name if call.member else ""
        text = tell_calls((call,), language)
        self._add(Item(**place, kind="tool", text=text, calls=(call,), name=name, member=call.member))
        self._numbers[call.key] = self.count - 1
        self._join_last(language)

    def _join_last(self, language: Language) -> None:
        """Make one item of the last two if they are files that were read one after another."""
        if len(self.items) < 2 or not (self.items[-2].calls and self.items[-1].calls):
            return
        before, last = self.items[-2:]
        if may_join(before.calls[-1], last.calls[0]):
            calls = (*before.calls, *last.calls)
            self.items[-2:] = [replace(before, calls=calls, text=tell_calls(calls, language))]
            self.count -= 1
            self._numbers |= {call.key: self.count - 1 for call in calls}

    def _push_partial(self, partial: str, told: Told, frame: Frame) -> None:
        """Add what a turn had written, then the line that says how it ended."""
        member = frame.get("source", {}).get("member") or ""
        name = told.state.team.member(member).display_name if member else ""
        place: dict[str, Any] = {"seq": frame["seq"], "at": frame["timestamp"]}
        self._add(Item(**place, kind="partial", text=partial, place=_name_place(frame), name=name, member=member))
        ends = told.lines[len(partial.split("\n")) :]
        if ends:
            self._add(Item(**place, text="\n".join(ends)))

    def _add(self, item: Item) -> None:
        self.items.append(item)
        self.count += 1
        if len(self.items) > MOST_ITEMS:
            del self.items[: MOST_ITEMS // 4]
            dropped = self.count - len(self.items)
            self._numbers = {key: number for key, number in self._numbers.items() if number >= dropped}


def _name_place(frame: Frame) -> str:
    source = frame.get("source") or {}
    return f"{source['loop_id']}.{source['role']}" if source.get("loop_id") else ""


class ViewerState:
    """`speaks_as` is the human named on the command line; `viewer` is the member called "You", if known."""

    def __init__(self, speaks_as: str | None = None) -> None:
        self.speaks_as = speaks_as
        self.unsent: tuple[Unsent, ...] = ()
        self.link = Moved(state=LinkState.DISCONNECTED)
        self.is_reset = False  # the server had another history, which was loaded from the start
        self.version = 0  # increases with every change
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
        self.version += 1
        seq, metadata = frame.get("seq"), frame.get("metadata") or {}
        if seq is not None:
            self._take_logged(frame, seq)
        elif frame["event"] == VIEW_CHANGED:
            self.view = metadata["view"]
            running = {turn.turn_id for turn in self.view.running}
            self.streams = {turn_id: stream for turn_id, stream in self.streams.items() if turn_id in running}
        elif frame["event"] == LINK_CHANGED:
            self.link = msgspec.convert(metadata, Moved)
        elif frame["event"] in STREAMED:
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
        if turn_id in self.streams and "observation" in getattr(_FACTS.get(frame["event"]), "__struct_fields__", ()):
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
        self.version += 1
        self.unsent = (*self.unsent, Unsent(self._sent, text))
        return self._sent

    def end_sending(self, number: int) -> None:
        self.version += 1
        self.unsent = tuple(message for message in self.unsent if message.number != number)


def _read_fact(frame: Frame) -> Fact | None:
    """Decode the fact of a logged frame. None if it is unknown here (written by a newer version)."""
    kind = _FACTS.get(frame["event"])
    try:
        return msgspec.convert(frame.get("metadata") or {}, kind) if kind else None
    except msgspec.ValidationError:
        return None
