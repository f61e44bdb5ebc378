"""The client's half of a connection: no sockets, no clock, no randomness. The browser's client does the same.

A shell opens the link and says so (`connect`, `opened`), hands in what it receives, reports the link lost, and ticks
several times a second. It acts on the happenings that these return, and sends the texts of `to_send`.
tests/data/protocol/client_cases.json lists inputs with their outcomes.

It is reliable because an event counts only if it is the next one and its hash follows, because a command is kept with
its id until it is answered, and because everything else that is lost is asked for again.
"""

from collections import deque
from typing import Any

import msgspec
from msgspec import Struct

from moot.core.backoff import Backoff
from moot.core.bucket import Bucket
from moot.core.codec import Head, Placed, place
from moot.core.errors import Refused
from moot.core.machines.connection import CONNECTION, State, Trigger
from moot.protocol.following import Following, Verdict
from moot.protocol.frames import Accepted, Greeting, Limits, Problem, Resumed, StateExported
from moot.protocol.happenings import Denied, Done, Ended, Exported, Happening, Logged, Moved, Passing, Reset, Sever
from moot.protocol.unanswered import ANSWER_S, RETRY_S, SENDS, Unanswered

RECONNECT = Backoff(base_s=1.0, cap_s=30.0, floor_s=0.5)
HEADROOM = 0.75  # share of the server's rate limit that is used: the two clocks differ
GIVE_UP_S = 300.0
RATE_PAUSE_S = 5.0  # extra delay after the server closed the link because of the rate limit
STABLE_S = 10.0  # a link that lived this long resets the delays between attempts
GREETING_S = 10.0
ACK_S = 1.0
ACKS_A_TICK = 5
FATAL = {4401: "unauthenticated", 4403: "forbidden"}
RATE = 4429

_batch_decoder = msgspec.json.Decoder(list[msgspec.Raw])


class Unlogged(Struct, frozen=True):
    """A frame without a place in the log."""

    event: str
    session_id: str | None = None
    content: Any = None
    metadata: dict[str, Any] = {}


_unlogged_decoder = msgspec.json.Decoder(Unlogged)


def _make_pace(limits: Limits, now: float) -> Bucket:
    """A bucket for the frames of this client, a little smaller than the server's."""
    return Bucket(limits.messages_per_s * HEADROOM, max(1.0, limits.message_burst * HEADROOM), now)


class ClientHalf:
    """Followed sessions and unanswered commands outlive the link; all other state belongs to one link."""

    def __init__(self, *, give_up_s: float = GIVE_UP_S) -> None:
        self.state = CONNECTION.initial
        self.attempt = 0
        self.retry_at = 0.0  # when to open a link, while there is none and one is wanted
        self.greeting = Greeting()
        self.following: dict[str, Following] = {}
        self._give_up_s = give_up_s
        self._commands = Unanswered()
        self._newborn: list[str] = []  # sessions whose events arrive before the answer to the command that created them
        self._outbox: deque[str] = deque()
        self._pace = _make_pace(Limits(), 0.0)
        self._is_open = False
        self._down_since: float | None = None
        self._greeted_at = self._heard_at = self._acked_at = 0.0

    # what the user wants

    def connect(self, now: float) -> list[Happening]:
        """Start to connect, also after giving up: followed sessions and commands are taken up again."""
        self.attempt, self.retry_at, self._down_since = 0, now, now
        return self._move(Trigger.CONNECT)

    def follow(self, session_id: str, now: float, head: Head | None = None) -> None:
        """Follow a session from `head`, or from its start."""
        following = self.following[session_id] = Following(session_id, head)
        if self.state is State.CONNECTED:
            self._post(following.ask(now))

    def leave(self, session_id: str) -> None:
        """Stop following a session. The protocol has no frame for this: events that still arrive are ignored."""
        self.following.pop(session_id, None)

    def send(
        self, command_id: str, event: str, fields: dict[str, Any], now: float, *, session_id: str | None = None
    ) -> None:
        """Send a command now or as soon as there is a link, and again until it is answered.

        Raises Refused if it is larger than a frame may be.
        """
        waiting = self._commands.add(command_id, event, session_id, fields)
        size, limit = len(waiting.text.encode()), self.greeting.limits.frame_bytes
        if size > limit:
            self._commands.remove(command_id)
            raise Refused("message_too_long", length=size, limit=limit)
        if self.state is State.CONNECTED:
            self._post_commands(now)

    # what happens to the link

    def opened(self, now: float) -> None:
        """The link is up; the server sends the first frame."""
        self._is_open = True
        self._heard_at = now

    def lost(self, now: float, random: float, code: int | None = None) -> list[Happening]:
        """The link is down or could not be opened.

        `random` (0 to 1) spreads the next attempt; `code` is the close code, if there was one.
        """
        if self.state is State.DISCONNECTED:
            return []
        self._is_open = False
        self._outbox.clear()
        if self._down_since is None:
            self._down_since = now
        if self.state is State.CONNECTED and now - self._greeted_at >= STABLE_S:
            self.attempt = 0
        if self.state is not State.RECONNECTING:
            trigger = Trigger.LINK_LOST if self.state is State.CONNECTED else Trigger.CONNECT_FAILED
            self.state = CONNECTION.advance(self.state, trigger)
        if code in FATAL:  # trying again with the same token is no use
            return self._move(Trigger.RECONNECT_TIMEOUT, reason=FATAL[code])
        self.attempt += 1
        wait_s = RECONNECT.delay(self.attempt, random) + (RATE_PAUSE_S if code == RATE else 0.0)
        self.retry_at = now + wait_s
        reason = None if code is None else f"closed with {code}"
        return [Moved(state=self.state, attempt=self.attempt, retry_in_s=wait_s, reason=reason)]

    def _move(self, trigger: Trigger, reason: str | None = None) -> list[Happening]:
        self.state = CONNECTION.advance(self.state, trigger)
        return [Moved(state=self.state, reason=reason)]

    def receive(self, message: bytes | str, now: float) -> list[Happening]:
        """Read a message of the server: a frame, or an array of frames."""
        self._heard_at = now
        data = message.encode() if isinstance(message, str) else message
        happened: list[Happening] = []
        try:
            frames = [bytes(raw) for raw in _batch_decoder.decode(data)] if data.startswith(b"[") else [data]
            for frame in frames:
                happened += self._read(frame, now)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            happened.append(Sever(f"the server sent what is no frame: {error}"))
        return happened

    def tick(self, now: float) -> list[Happening]:
        """Do what is due: acknowledge, ask again, report silence, give up."""
        if self.state is State.RECONNECTING and not self._is_open:
            if self._down_since is not None and now - self._down_since >= self._give_up_s:
                return self._move(Trigger.RECONNECT_TIMEOUT, reason="gave_up")
            return []
        if not self._is_open:
            return []
        silence_s = 2 * self.greeting.heartbeat_s + 5.0 if self.state is State.CONNECTED else GREETING_S
        if now - self._heard_at > silence_s:
            self._heard_at = now
            return [Sever(f"nothing was heard for {silence_s:g} s")]
        if self.state is not State.CONNECTED:
            return []
        for following in self.following.values():
            if following.asked_at is not None and now - following.asked_at >= ANSWER_S:
                self._post(following.ask(now))
        happened = self._post_commands(now)
        if now - self._acked_at >= ACK_S and not self._outbox:
            self._acknowledge(now)
        return happened

    def to_send(self, now: float) -> list[str]:
        """Return the texts to send now. The rest waits, so that the rate limit of the server is not reached."""
        texts = []
        while self._outbox and self._pace.take(now):
            texts.append(self._outbox.popleft())
        return texts

    # what the server says

    def _read(self, frame: bytes, now: float) -> list[Happening]:
        placed = place(frame)
        if placed.seq is not None:
            return self._read_logged(placed, frame, now)
        said = _unlogged_decoder.decode(frame)
        match said.event:
            case "system.connected" if said.session_id is None and "session_id" not in said.metadata:
                return self._read_greeting(said, now)
            case "system.connected":
                return self._read_resumption(said)
            case "system.accepted":
                return self._read_acceptance(said)
            case "system.error" | "agent.error":
                return self._read_problem(said, now)
            case "agent.state_exported":
                return self._read_export(said)
            case "system.heartbeat":
                return []
            case _:
                return [Passing(msgspec.json.decode(frame, type=dict[str, Any]))]

    def _read_greeting(self, said: Unlogged, now: float) -> list[Happening]:
        if self.state is State.CONNECTED:
            return []
        self.greeting = msgspec.convert(said.metadata, Greeting)
        self._pace = _make_pace(self.greeting.limits, now)
        self._greeted_at = self._acked_at = now
        self._down_since = None
        is_first = self.state is State.CONNECTING
        happened = self._move(Trigger.CONNECT_OK if is_first else Trigger.RECONNECT_OK)
        for following in self.following.values():
            self._post(following.ask(now))
        self._commands.link_is_new()
        return happened + self._post_commands(now)

    def _read_resumption(self, said: Unlogged) -> list[Happening]:
        told = msgspec.convert(said.metadata, Resumed)
        following = self.following.get(told.session_id)
        if following is None:
            return []
        following.asked_at = None
        if told.resumed or not following.head.seq:
            return []
        following.forget()
        return [Reset(session_id=told.session_id, reason=told.reason or "")]

    def _read_logged(self, placed: Placed, frame: bytes, now: float) -> list[Happening]:
        session_id = placed.session_id or ""
        following = self.following.get(session_id)
        if following is None:
            if placed.seq != 1 or not self._commands.of("user.create_session"):
                return []
            following = self.following[session_id] = Following(session_id)
            self._newborn.append(session_id)
        verdict, data = following.judge(placed, frame)
        match verdict:
            case Verdict.NEXT:
                hash_ = following.head.hash
                return [Logged(session_id=session_id, seq=following.head.seq, hash=hash_, data=data, frame=frame)]
            case Verdict.HOLE:
                return self._restart(following, now)
            case Verdict.BROKEN:
                return self._restart(following, now, forget=True)
            case Verdict.OLD:
                return []

    def _restart(self, following: Following, now: float, *, forget: bool = False) -> list[Happening]:
        """Ask again after a missing event, or for the whole history (`forget`) after one that does not verify."""
        session_id = following.session_id
        if not following.may_restart():
            del self.following[session_id]
            why = f"the history of session {session_id} does not verify; `moot sessions verify` checks it"
            return [Ended(session_id=session_id, code="diverged", sentence=why)]
        had = following.head.seq
        if forget:
            following.forget()
        self._post(following.ask(now))
        return [Reset(session_id=session_id, reason="diverged")] if forget and had else []

    def _read_acceptance(self, said: Unlogged) -> list[Happening]:
        told = msgspec.convert(said.metadata, Accepted)
        waiting = self._commands.find(told.command_id)
        if waiting is None:
            return []  # answered before: a repetition
        if waiting.event == "user.request_state":
            return []  # the state itself is the answer
        self._commands.remove(told.command_id)
        session_id = said.session_id or waiting.session_id
        if waiting.event == "user.create_session":
            session_id = self._claim(session_id)
        return [Done(command_id=told.command_id, session_id=session_id, seq=told.seq)]

    def _claim(self, session_id: str | None) -> str | None:
        """Return the session that a command created: the one in the answer, else the oldest unclaimed new one."""
        if session_id is None:
            return self._newborn.pop(0) if self._newborn else None
        if session_id in self._newborn:
            self._newborn.remove(session_id)
        elif session_id not in self.following:
            self.following[session_id] = Following(session_id)  # its log is on its way
        return session_id

    def _read_export(self, said: Unlogged) -> list[Happening]:
        told, session_id = msgspec.convert(said.metadata, StateExported), said.session_id or ""
        happened: list[Happening] = []
        for waiting in self._commands.of("user.request_state", session_id):
            self._commands.remove(waiting.command_id)
            head = Head(told.seq, told.hash)
            happened.append(Exported(command_id=waiting.command_id, session_id=session_id, head=head, view=told.state))
        return happened

    def _read_problem(self, said: Unlogged, now: float) -> list[Happening]:
        told = msgspec.convert(said.metadata, Problem)
        sentence = said.content if isinstance(said.content, str) else told.code
        if told.command_id is not None:
            waiting = self._commands.find(told.command_id)
            if waiting is None or (told.retryable and self._commands.put_off(now, waiting)):
                return []
            self._commands.remove(told.command_id)
        elif told.code == "rate_limited":  # it does not say what was dropped
            self._commands.put_off(now)
            for each in self.following.values():
                self._ask_soon(each, now)
            return []
        elif following := self.following.get(said.session_id or ""):
            if told.retryable:
                self._ask_soon(following, now)
            elif told.code == "not_found" or following.asked_at is not None:
                del self.following[following.session_id]
                return [Ended(session_id=following.session_id, code=told.code, sentence=sentence)]
        denied = Denied(
            command_id=told.command_id, session_id=said.session_id, code=told.code, sentence=sentence, by=told.by
        )
        return [denied]

    # what is sent

    def _post(self, frame: dict[str, Any]) -> None:
        self._outbox.append(msgspec.json.encode(frame).decode())

    def _post_commands(self, now: float) -> list[Happening]:
        given_up: list[Happening] = []
        for waiting in self._commands.due(now):
            if waiting.sends <= SENDS:
                self._outbox.append(waiting.text)
                continue
            self._commands.remove(waiting.command_id)
            why = f"the command was sent {SENDS} times and never answered: it may or may not have been done"
            given_up.append(
                Denied(command_id=waiting.command_id, session_id=waiting.session_id, code="unanswered", sentence=why)
            )
        return given_up

    def _ask_soon(self, following: Following, now: float) -> None:
        """Ask again in a second, if there is no answer by then."""
        if following.asked_at is not None:
            following.asked_at = now - ANSWER_S + RETRY_S

    def _acknowledge(self, now: float) -> None:
        """Acknowledge the sessions that are furthest behind, a few at a time."""
        behind = [each for each in self.following.values() if each.asked_at is None and each.unacked]
        for following in sorted(behind, key=lambda each: -each.unacked)[:ACKS_A_TICK]:
            following.acked_seq = following.head.seq
            self._post({"event": "user.ack", "session_id": following.session_id, "last_seq": following.acked_seq})
            self._acked_at = now
