"""One seeded run: a server that dies and comes back, its clients, and everything between them.

While faults are on anything may happen. Then they stop, people become sensible, and every session must come to rest.
"""

import hashlib
import random
from collections.abc import Callable, Collection

from moot.core.codec import Event
from moot.core.evolve import evolve
from moot.core.machines.session import Status
from moot.core.session.state import State
from sim import checks
from sim.client import SharedFold, SimClient
from sim.disk import Disk, restore_backup
from sim.faults import Faults
from sim.loop import Timeline
from sim.network import Agenda, Link
from sim.server import Server
from sim.teams import HUMANS, MAKERS

CALM_S = 4_000.0  # how long a session may take to come to rest once the faults are over
STEPS = 400_000  # of one run; more is a livelock
JUMPS_S = (1.0, 400.0, 7_200.0)


class World:
    """One run.

    Args:
        crash_steps: kill the first life of the server at the first of these steps, and so on; None draws them.
        without: kinds of faults that do not happen.
    """

    def __init__(self, seed: int, crash_steps: tuple[int, ...] | None = None, without: Collection[str] = ()) -> None:
        self.seed = seed
        self.timeline = Timeline()
        self.agenda = Agenda(self.timeline)
        chance = self._chance = random.Random(seed)
        random.seed(seed)  # the engine draws the jitter of retries from here
        self.faults = Faults(random.Random(chance.random()), without)
        self.disk = Disk()
        self.is_rolled_back = False
        self.session_ids: list[str] = []
        flows = chance.choice([["chat"], ["plan"], ["studio"], ["plan"], ["studio"], ["chat", "plan", "studio"]])
        self.teams = [MAKERS[flow](chance) for flow in flows]
        self._order = random.Random(chance.random()) if chance.random() < 0.5 else None
        self.fold = SharedFold()
        self._trace = hashlib.sha256()
        self._steps = 0
        self._crash_steps = crash_steps
        self.lives = 0
        self.server: Server | None = None
        self.clients = [
            SimClient(number, self, random.Random(chance.random()), chance.choice([None, *HUMANS]) if number else None)
            for number in range(chance.randint(1, 4))
        ]
        self.clients[0].on_session = self._meet
        self._crash_at: int | None = None

    @property
    def now_s(self) -> float:
        return self.timeline.now_s

    @property
    def steps(self) -> int:
        """How many steps the server has taken in all of its lives."""
        return self._steps

    @property
    def trace(self) -> str:
        """A hash of everything that happened: the same seed gives the same one."""
        return self._trace.hexdigest()[:16]

    def note(self, *words: object) -> None:
        self._trace.update(f"{self.now_s:.6f} {' '.join(map(str, words))}\n".encode())

    # the run

    def run(self) -> None:
        """Play the run. Raises AssertionError if a promise is broken."""
        self._start()
        for team in self.teams:
            self.clients[0].create(team.name)
        chaos_s = self._chance.uniform(10.0, 90.0)
        self._play(lambda: self.now_s >= chaos_s)
        self._calm()
        self._play(self._is_at_rest, self.now_s + CALM_S)
        self._finish()

    def _play(self, is_over: Callable[[], bool], until_s: float = float("inf")) -> None:
        while not is_over():
            assert self.now_s < until_s, f"stuck: {self._describe()}"
            self._advance()

    def _advance(self) -> None:
        """Run the server until it waits or dies or, when it waits, the next thing that happens anywhere."""
        server = self.server
        if server is not None and server.loop.has_ready:
            self._run_server(server)
            return
        agenda, timeline = self.agenda, self.timeline
        next_s = min(agenda.next_s, server.loop.next_timer_s) if server is not None else agenda.next_s
        timeline.now_s = max(timeline.now_s, next_s)
        if server is not None:
            server.loop.wake_timers()
        if agenda.next_s <= timeline.now_s:
            agenda.run_next()

    def _run_server(self, server: Server) -> None:
        loop = server.loop
        while loop.has_ready:
            self._steps += 1
            assert self._steps < STEPS, "the server never waits"
            loop.step()
            if self._crash_at is not None and loop.steps >= self._crash_at:
                self._kill()
                return
            if server.is_over:
                self._bury()
                return

    # the lives of the server

    def _start(self) -> None:
        self.lives += 1
        self.server = Server(self.timeline, self.disk, self.faults, self.teams, self._order)
        self._crash_at = self._draw_crash()
        checks.check_log(self.server.log, self._tellers())

    def _draw_crash(self) -> int | None:
        if self._crash_steps is not None:
            return self._crash_steps[self.lives - 1] if self.lives <= len(self._crash_steps) else None
        if not self.faults.is_on or self.lives > 12:
            return None
        first, short, middle, long = (self._chance.randint(1, limit) for limit in (4, 60, 300, 1_000))
        return self._chance.choice([first, short, middle, middle, long, None])

    def _tellers(self) -> list[SimClient]:
        """Clients whose copy must be in the log; none after an old backup was put back."""
        return [] if self.is_rolled_back else self.clients

    def _kill(self) -> None:
        """kill -9 and a power cut in one: what is not synced is at the mercy of the disk."""
        server = self.server
        assert server is not None
        server.check_life()
        if server.app is None:
            self.faults.count("killed while recovering")
        if self.disk.unsynced:
            self.faults.count("killed during a commit")
        self.faults.count("killed")
        self.note("killed", server.loop.steps)
        links, self.server = server.links, None
        server.loop.crash()
        self.disk.crash(self.faults)
        for link in links:
            link.drop()
        if self._crash_steps is None and self._chance.random() < 0.03:
            lost = restore_backup(self.disk, self._chance)
            self.is_rolled_back = self.is_rolled_back or lost > 0
            self.faults.count("backup restored")
        self.agenda.after(self._chance.choice([0.1, 1.0, 15.0, 130.0]), self._start)

    def _bury(self) -> None:
        """The server ended in good order: what it knew is what the log says."""
        server = self.server
        assert server is not None
        server.check_life()
        self.note("stopped")
        self.disk.sync()
        server.loop.crash()
        for link in server.links:
            link.drop()
        self.server = None
        self.agenda.after(self._chance.choice([0.1, 2.0]), self._start)

    # what happens around it

    def connect(self, client: SimClient) -> Link | None:
        server = self.server
        if server is None or not server.is_up or self.faults.strikes("connection refused"):
            return None
        link = Link(self.agenda, self.faults, client.receive, client.lose)
        server.accept(link, client.speaks_for, takes_batches=client.takes_batches, wants_views=client.wants_views)
        return link

    def _meet(self, session_id: str) -> None:
        """A session exists: everybody follows it, and acts now and then."""
        if session_id in self.session_ids:
            return
        self.session_ids.append(session_id)
        for client in self.clients:
            client.follow(session_id)
            self.agenda.after(self._chance.uniform(0.0, 2.0), self._act, client, session_id)
        if len(self.session_ids) == 1:
            self.agenda.after(1.0, self._meddle)

    def _act(self, client: SimClient, session_id: str) -> None:
        if self.faults.is_on:
            client.act(session_id)
            self.agenda.after(self._chance.choice([0.0, 0.5, 3.0, 12.0]), self._act, client, session_id)
        else:
            if client is self.clients[0]:
                client.act_sensibly(session_id)
                self.agenda.after(2.0, self._act, client, session_id)

    def _meddle(self) -> None:
        """Faults that need nobody's doing: the clock jumps, the process is stopped or suspended."""
        if not self.faults.is_on:
            return
        if self.faults.strikes("wall clock forward"):
            self.timeline.wall_offset_s += self._chance.choice(JUMPS_S)
        if self.faults.strikes("wall clock back"):
            self.timeline.wall_offset_s -= self._chance.choice(JUMPS_S)
        if self.faults.strikes("process suspended"):
            self.timeline.now_s += self._chance.choice([5.0, 70.0])
        if self.server is not None and self.server.is_up and self._chance.random() < 0.01:
            self.faults.count("stopped")
            self.server.stop()
        self.agenda.after(1.0, self._meddle)

    def _calm(self) -> None:
        """No more faults, and every client gets a new link.

        A frame that was dropped may have been the last one; no later frame shows the hole, but a new link does.
        """
        self.note("calm")
        self.faults.is_on = False
        if self._crash_steps is None:
            self._crash_at = None
        if len(self.session_ids) < len(self.teams):
            for team in self.teams:
                self.clients[0].create(team.name)  # it was refused, for want of a disk; the same id is the same session
        for client in self.clients:
            if client.link is not None:
                client.link.cut()

    # the end

    def _is_at_rest(self) -> bool:
        """Every session waits for a human or is over, and every client has all of it."""
        server = self.server
        if server is None or not server.is_up or server.loop.has_ready or self.agenda_is_near:
            return False
        if len(self.session_ids) < len(self.teams):
            return False
        return all(self._rests(session_id) for session_id in self.session_ids)

    @property
    def agenda_is_near(self) -> bool:
        return self.agenda.next_s <= self.now_s

    def _rests(self, session_id: str) -> bool:
        assert self.server is not None
        head = len(self.server.log.events_of(session_id))
        copies = [client.copies.get(session_id) for client in self.clients]
        if any(copy is None or len(copy.events) != head or copy.state is None for copy in copies):
            return False
        if any(client.unanswered for client in self.clients):
            return False
        state = copies[0].state if copies[0] else None
        return state is not None and is_at_rest(state)

    def _describe(self) -> str:
        sessions = []
        for session_id in self.session_ids:
            events = self.server.log.events_of(session_id) if self.server else []
            state = fold(events)
            copies = [len(client.copies[session_id].events) for client in self.clients if session_id in client.copies]
            if state is not None:
                sessions.append(
                    f"{state.team.name} {state.status} interrupt={state.interrupt} running={state.running} "
                    f"steps={list(state.open_steps)} door={state.door} head={len(events)} copies={copies}"
                )
        waiting = [client.unanswered for client in self.clients]
        return f"sessions={sessions} unanswered={waiting} up={self.server is not None and self.server.is_up}"

    def _finish(self) -> None:
        server = self.server
        assert server is not None
        server.check_life()
        checks.check_end(self)
        for session_id in self.session_ids:
            for event in server.log.events_of(session_id):
                self.note(event.seq, event.hash)

    def abandon(self) -> None:
        """End the process, if it still lives, when the run is over or has failed."""
        if self.server is not None:
            self.server.loop.crash()


def fold(events: list[Event]) -> State | None:
    state: State | None = None
    for event in events:
        state = evolve(state, event.fact)
    return state


def is_at_rest(state: State) -> bool:
    """Nothing moves without a human, no question is open, and no work is unfinished or put off."""
    if state.status is Status.COMPLETED:
        return True
    return state.is_settled and not state.open_steps and not state.slice.is_active and not state.door.deferred
