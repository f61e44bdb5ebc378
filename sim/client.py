"""A client of the simulated server: Moot's own client half, a copy of the log, and a person who acts."""

import random
from collections.abc import Callable
from typing import Protocol

import msgspec
from msgspec import Struct

from moot.core.codec import Head, decode
from moot.core.errors import MootError
from moot.core.evolve import evolve
from moot.core.machines.connection import State as LinkState
from moot.core.session.commands import CancelTurn, HumanCommand, Post
from moot.core.session.state import State
from moot.protocol.client import ClientHalf
from moot.protocol.command_table import sign, write_command
from moot.protocol.happenings import Denied, Done, Ended, Happening, Logged, Moved, Reset, Sever
from sim.faults import Faults
from sim.network import Agenda, Link
from sim.people import pick_any, pick_sensible

BUSY_TICK_S, IDLE_TICK_S = 0.5, 10.0
OLD_COPY_EVENTS = 3
GIVES_UP_AFTER = 40  # answers of a sensible person
GARBAGE = ("{", '{"event": 7}', '{"event": "user.message"}', '{"event": "user.ack", "last_seq": -1}', "[]", "\x00")


class Order(Struct):
    """A command that was given: `seq` once it was accepted, `refusal` once it was not."""

    session_id: str | None
    text: str  # of a post; empty for other commands
    seq: int | None = None
    refusal: str = ""


class Network(Protocol):
    """What a client needs of its surroundings."""

    agenda: Agenda
    faults: Faults
    fold: "SharedFold"

    @property
    def now_s(self) -> float: ...

    def connect(self, client: "SimClient") -> Link | None: ...

    def note(self, *words: object) -> None: ...


class SharedFold:
    """Folds the events of all clients. Clients with the same bytes share the state, which is folded once."""

    def __init__(self) -> None:
        self._states: dict[tuple[int, bytes], State] = {}  # by the id of the state before, and the stored bytes

    def evolve(self, state: State | None, data: bytes, hash_: str) -> State:
        key = (id(state) if state is not None else 0, data)  # every state is kept here, so no id is used again
        after = self._states.get(key)
        if after is None:
            after = self._states[key] = evolve(state, decode(data, hash_).fact)
        return after


class Copy:
    """What a client has of one session."""

    def __init__(self, fold: SharedFold) -> None:
        self.events: list[tuple[bytes, str]] = []  # stored bytes and hash
        self.state: State | None = None
        self._fold = fold

    def add(self, logged: Logged) -> None:
        self.events.append((logged.data, logged.hash))
        self.state = self._fold.evolve(self.state, logged.data, logged.hash)

    def cut(self, size: int) -> None:
        del self.events[size:]
        self.state = None
        for data, hash_ in self.events:
            self.state = self._fold.evolve(self.state, data, hash_)

    @property
    def head(self) -> Head:
        return Head(len(self.events), self.events[-1][1]) if self.events else Head()


class SimClient:
    """`speaks_for`: the human of a member's token; None for the owner."""

    def __init__(self, number: int, world: Network, chance: random.Random, speaks_for: str | None) -> None:
        self.number = number
        self.speaks_for = speaks_for
        self.wants_views = chance.random() < 0.3
        self.takes_batches = chance.random() < 0.5
        self.orders: dict[str, Order] = {}
        self.copies: dict[str, Copy] = {}
        self.link: Link | None = None
        self.half = ClientHalf(give_up_s=120.0)
        self._world = world
        self._chance = chance
        self._count = self._patience = 0
        self.on_session: Callable[[str], None] = lambda _: None
        self.half.connect(0.0)
        world.agenda.after(chance.uniform(0, 0.5), self.tick)

    # the link

    def tick(self) -> None:
        """Do what is due, and come back sooner if something is awaited."""
        now = self._world.now_s
        if self.half.state is LinkState.DISCONNECTED:
            self._take(self.half.connect(now))  # it gave up; the person tries again
        self._take(self.half.tick(now))
        is_down = self.half.state in (LinkState.CONNECTING, LinkState.RECONNECTING)
        if is_down and self.link is None and now >= self.half.retry_at:
            self.link = self._world.connect(self)
            if self.link is None:
                self._take(self.half.lost(now, self._chance.random()))
            else:
                self.half.opened(now)
        self.flush()
        is_waiting = any(each.asked_at is not None or each.unacked for each in self.half.following.values())
        is_busy = is_down or is_waiting or self.unanswered
        self._world.agenda.after(BUSY_TICK_S if is_busy else IDLE_TICK_S, self.tick)

    def flush(self) -> None:
        for text in self.half.to_send(self._world.now_s):
            if self.link is not None:
                self.link.send(text)

    def receive(self, link: Link, payload: bytes) -> None:
        if link is not self.link:
            return
        try:
            happened = self.half.receive(payload, self._world.now_s)
        except msgspec.ValidationError as error:
            happened = [Sever(f"a frame without sense: {error}")]
        self._take(happened)
        self.flush()

    def lose(self, link: Link, code: int | None) -> None:
        if link is self.link:
            self.link = None
            self._take(self.half.lost(self._world.now_s, self._chance.random(), code))

    def _take(self, happened: list[Happening]) -> None:  # noqa: C901 - one case for each happening
        for each in happened:
            match each:
                case Logged():
                    self.copies.setdefault(each.session_id, Copy(self._world.fold)).add(each)
                    self._world.note(self.number, "logged", each.seq, each.hash)
                case Reset(session_id=session_id):
                    self.copies[session_id] = Copy(self._world.fold)
                    self._world.note(self.number, "reset")
                case Done(command_id=command_id, seq=seq, session_id=session_id):
                    self._settle(command_id, seq=seq)
                    if command_id.startswith("create") and session_id:
                        self.on_session(session_id)
                case Denied(command_id=command_id, code=code):
                    self._settle(command_id, refusal=code)
                case Ended(session_id=session_id):
                    self.copies.pop(session_id, None)
                    self._world.agenda.after(BUSY_TICK_S, self.follow, session_id)
                case Sever():
                    self._world.note(self.number, "severs")
                    if self.link:
                        self.link.cut()
                case Moved(state=state):
                    self._world.note(self.number, state)
                case _:
                    pass

    def _settle(self, command_id: str | None, seq: int | None = None, refusal: str = "") -> None:
        order = self.orders.get(command_id or "")
        if order is not None:
            order.seq, order.refusal = seq, refusal
            self._world.note(self.number, command_id, seq, refusal)

    @property
    def unanswered(self) -> list[Order]:
        return [order for order in self.orders.values() if not (order.seq or order.refusal)]

    @property
    def is_doubled(self) -> bool:
        """Whether a command may have arrived twice: a refusal is not remembered, so the second one may be accepted."""
        counts = self._world.faults.counts
        return bool(counts["frame to server doubled"] or counts["command sent twice"])

    # the person

    def create(self, team: str) -> None:
        self._send(f"create-{team}", "user.create_session", {"team": team}, None)

    def follow(self, session_id: str) -> None:
        if session_id not in self.half.following:
            self.half.follow(session_id, self._world.now_s)
            self.flush()

    def act(self, session_id: str) -> None:
        """Do anything, as a person or a broken program would."""
        faults, copy = self._world.faults, self.copies.get(session_id)
        if faults.strikes("client restarted empty"):
            self._restart(session_id, 0)
        elif copy and faults.strikes("client restarted with an old copy"):
            self._restart(session_id, max(0, len(copy.events) - OLD_COPY_EVENTS))
        if self.link is not None and faults.strikes("garbage sent"):
            self.link.send(self._chance.choice(GARBAGE))
        if self.link is not None and faults.strikes("ack of the future"):
            self.link.send(f'{{"event":"user.ack","session_id":"{session_id}","last_seq":99999}}')
        if copy and copy.state is not None:
            self.give(session_id, pick_any(copy.state, f"m{self.number}x{self._count + 1}x", self._chance))

    def act_sensibly(self, session_id: str) -> None:
        copy = self.copies.get(session_id)
        is_waiting = any(order.session_id == session_id for order in self.unanswered)
        command = None if copy is None or copy.state is None or is_waiting else pick_sensible(copy.state)
        if command is None:
            return
        self._patience -= 1
        if self._patience % GIVES_UP_AFTER == 0:
            command = CancelTurn()  # members that are never content do not keep a person for ever
        self.give(session_id, command)

    def give(self, session_id: str, command: HumanCommand) -> None:
        """Send a command, now and then twice, or its id again with another body."""
        self._count += 1
        command_id = f"c{self.number}-{self._count}"
        text = ""
        if isinstance(command, Post):
            text = command.text
            command = Post(text=sign(text, self.speaks_for))
        frame = write_command(command)
        event = frame.pop("event")
        self._send(command_id, event, frame, session_id, text)
        faults = self._world.faults
        if self.link is not None and faults.strikes("command sent twice"):
            again = {"event": event, "session_id": session_id, **frame, "command_id": command_id}
            self.link.send(msgspec.json.encode(again).decode())
        is_known = bool(self.orders[f"c{self.number}-1"].seq)  # else the other body would be the first
        if self.link is not None and is_known and faults.strikes("command id reused"):
            other = {"event": "user.message", "session_id": session_id, "content": "reused"}
            self.link.send(msgspec.json.encode({**other, "command_id": f"c{self.number}-1"}).decode())

    def _send(
        self, command_id: str, event: str, frame: dict[str, object], session_id: str | None, text: str = ""
    ) -> None:
        self.orders[command_id] = Order(session_id=session_id, text=text)
        try:
            self.half.send(command_id, event, frame, self._world.now_s, session_id=session_id)
        except MootError as error:
            self.orders[command_id].refusal = str(error)
        self.flush()

    def _restart(self, session_id: str, size: int) -> None:
        """The program starts again with a copy that is empty or a few events old."""
        copy = self.copies.setdefault(session_id, Copy(self._world.fold))
        copy.cut(size)
        self.half.follow(session_id, self._world.now_s, copy.head)
        self.flush()
