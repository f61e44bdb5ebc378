"""One seeded run of several nodes on a shared log: they die, stop, are cut off and take over from each other.

While faults are on anything may happen. Then they stop, people become sensible, and every session must come to rest.
"""

import asyncio
import hashlib
import random
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Sequence
from typing import Any

from msgspec.structs import replace

from moot.agents.roster import Roster
from moot.app import App, build
from moot.config.team_file import TeamFile
from moot.core.errors import LogError, Refused
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import HumanCommand, Post
from moot.core.session.principal import Principal, Role
from moot.core.session.state import State
from moot.core.session.team import Kind
from moot.runtime.dispatch import EmbeddedDispatch
from moot.runtime.engine import Engine
from moot.runtime.files import Files
from moot.runtime.ports import Ask, CommandKey, Output, Receipt
from sim import checks
from sim.clock import SimClock
from sim.faults import CLUSTER_KINDS, Faults
from sim.loop import SimLoop, Timeline
from sim.members import SimAgent, SimUnderstander, make_tool
from sim.network import Agenda
from sim.people import pick_any, pick_sensible
from sim.shared_log import NodeLog, SharedStore, fold
from sim.teams import HUMANS, MAKERS
from sim.world import CALM_S, STEPS, is_at_rest

PAUSES_S = (0.5, 3.0, 17.0, 23.0, 25.0, 60.0)  # of a node that is stopped or cut off; its lease is 20 s


class Order:
    """A command of a person. It is sent again, to any node, until there is a definite answer."""

    def __init__(self, session_id: str, command: HumanCommand, number: int) -> None:
        self.session_id = session_id
        self.command = command
        self.key = CommandKey(f"c{number}", f"d{number}")
        self.tries = 0
        self.receipt: Receipt | None = None
        self.refusal = ""

    @property
    def word(self) -> str:
        return f"m{self.key.command_id}x"


class Node:
    """One life of a node: the real app on a log that others share, and agents that say when they are at work."""

    def __init__(self, number: int, world: "ClusterWorld") -> None:
        self.number = number
        self.loop = SimLoop(world.timeline, world.order)  # type: ignore[abstract]  # of sockets nothing is needed
        self.log = NodeLog(world.store, self.loop, world.faults, lambda: world.suspend(self))
        self.app: App | None = None
        self.is_suspended = False
        self.steps_left = 0  # until something happens to it
        self._world = world
        self._stop = asyncio.Event()
        self._life: asyncio.Task[None] = self.loop.call(self.loop.create_task, self._live())

    @property
    def is_over(self) -> bool:
        return self._life.done()

    @property
    def takes_commands(self) -> bool:
        return self.app is not None and not self._stop.is_set()

    def stop(self) -> None:
        """End in good order, as after SIGTERM."""
        self.loop.call(self._stop.set)

    def start(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task: asyncio.Task[Any] = self.loop.call(self.loop.create_task, work)
        return task

    def check_life(self) -> None:
        """Raise what the process has died of, if it was not killed."""
        if self._life.done() and not self._life.cancelled() and self._life.exception() is not None:
            raise AssertionError("a node died by itself") from self._life.exception()
        assert not self.loop.errors, f"an error that nobody handled: {self.loop.errors[0]}"

    async def _live(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            faults, teams = self._world.faults, self._world.teams
            clock = SimClock(self.loop)
            members = [member for team in teams for member in team.members if member.kind is Kind.AI]
            agent, tool = _WatchedAgent(faults, self, self._world), make_tool(faults)
            roster = Roster(teams, {member.id: agent for member in members}, clock)
            dispatch = EmbeddedDispatch(tasks, roster.find, 3, lambda *_: tool, files=Files(self.log))
            understander = SimUnderstander(faults)
            app = build(tasks, teams, self.log, clock, dispatch, lambda _: understander)
            await self._join(app)
            self.app = app
            await self._stop.wait()
            try:
                await app.sessions.close()
            except LogError:
                return  # the others find out

    async def _join(self, app: App) -> None:
        while True:
            try:
                await app.join()
            except LogError:
                await asyncio.sleep(1.0)
            else:
                return


class _WatchedAgent(SimAgent):
    """Nobody else is at work on its turns, unless that node is stopped, or stops in order."""

    def __init__(self, faults: Faults, node: Node, world: "ClusterWorld") -> None:
        super().__init__(faults)
        self._node = node
        self._world = world

    async def act_asking(self, turn: TurnInput, ask: Ask) -> AsyncGenerator[Output, None]:
        at_work = self._world.at_work.setdefault((turn.session_id, turn.turn_id), set())
        rivals = [node for node in at_work if node is not self._node and node in self._world.list_awake()]
        if rivals:
            self._world.store.violations.append(f"{turn.turn_id} is played by two nodes at once")
        at_work.add(self._node)
        try:
            async for output in super().act_asking(turn, ask):
                yield output
        finally:
            at_work.discard(self._node)


class ClusterWorld:
    """One run.

    Args:
        without: kinds of faults that do not happen.
        store: makes the store that the nodes share.
    """

    def __init__(
        self, seed: int, without: Collection[str] = (), store: Callable[[Timeline], SharedStore] = SharedStore
    ) -> None:
        self.seed = seed
        self.timeline = Timeline()
        self.agenda = Agenda(self.timeline)
        self.store = store(self.timeline)
        chance = self._chance = random.Random(seed)
        random.seed(seed)  # engines draw the jitter of retries from here
        # one that ignores being stopped is at work when others begin: agents are killed then, these are functions
        self.faults = Faults(random.Random(chance.random()), {*without, "member ignores being stopped"}, CLUSTER_KINDS)
        flows = chance.choice([["chat"], ["plan"], ["studio"], ["chat", "plan"], ["chat", "plan", "studio"]])
        self.teams: Sequence[TeamFile] = [MAKERS[flow](chance) for flow in flows]
        self.order = random.Random(chance.random()) if chance.random() < 0.5 else None
        self.at_work: dict[tuple[str, str], set[Node]] = {}
        self.orders: list[Order] = []
        self.steps = 0
        self._lives = 0
        self._trace = hashlib.sha256()
        self.nodes: list[Node] = []
        self._pending: list[tuple[Node, asyncio.Task[Any], Order]] = []
        for _ in range(chance.choice([2, 2, 3])):
            self._begin()

    @property
    def trace(self) -> str:
        """A hash of everything that happened: the same seed gives the same one."""
        return self._trace.hexdigest()[:16]

    def note(self, *words: object) -> None:
        self._trace.update(f"{self.timeline.now_s:.6f} {' '.join(map(str, words))}\n".encode())

    def list_awake(self) -> list[Node]:
        """The nodes whose agents should be at work, if anybody's are."""
        return [node for node in self.nodes if not node.is_suspended and node.takes_commands]

    # the run

    def run(self) -> None:
        """Play the run. Raises AssertionError if a promise is broken."""
        self._play(lambda: all(node.takes_commands for node in self.nodes))
        self.faults.is_on = False
        for team in self.teams:
            self._ask(self.nodes[0], _create(self.nodes[0], team, f"s_{team.name}"))
        self.faults.is_on = True
        chaos_s = self.timeline.now_s + self._chance.uniform(30.0, 150.0)
        self.agenda.after(1.0, self._disturb)
        self.agenda.after(0.1, self._speak)
        self._play(lambda: self.timeline.now_s >= chaos_s)
        self.faults.is_on = False
        for node in list(self.nodes):
            self._resume(node)
            self._reconnect(node)
        self._play(self._is_at_rest, self.timeline.now_s + CALM_S)
        self._finish()

    def _play(self, is_over: Callable[[], bool], until_s: float = float("inf")) -> None:
        while not is_over():
            assert self.timeline.now_s < until_s, f"stuck: {self._describe()}"
            self._advance()

    def _advance(self) -> None:
        """Run one node until it waits or, when all wait, the next thing that happens anywhere."""
        ready = [node for node in self.nodes if node.loop.has_ready and not node.is_suspended]
        if ready:
            self._run(self._chance.choice(ready))
            return
        awake = [node for node in self.nodes if not node.is_suspended]
        next_s = min([self.agenda.next_s, *(node.loop.next_timer_s for node in awake)])
        self.timeline.now_s = max(self.timeline.now_s, next_s)
        for node in awake:
            node.loop.wake_timers()
        if self.agenda.next_s <= self.timeline.now_s:
            self.agenda.run_next()

    def _run(self, node: Node) -> None:
        for _ in range(self._chance.choice([1, 3, 30])):
            if not node.loop.has_ready or node.is_suspended:
                break
            self.steps += 1
            assert self.steps < STEPS, "the nodes never wait"
            node.loop.step()
            node.steps_left -= 1
            if not node.steps_left and self.faults.is_on:
                self._strike(node)
                return
        if node.is_over:
            node.check_life()
            self._bury(node)

    # what happens to the nodes

    def _begin(self) -> None:
        self._lives += 1
        self.nodes.append(Node(self._lives, self))

    def _disturb(self) -> None:
        """Draw a node that something will happen to, and in how many steps."""
        if not self.faults.is_on:
            return
        self.agenda.after(self._chance.choice([0.5, 3.0, 10.0, 30.0]), self._disturb)
        sound = [node for node in self.list_awake() if not node.log.is_cut]
        busy = [node for node in sound if any(node in at_work for at_work in self.at_work.values())]
        if sound:
            node = self._chance.choice(busy if busy and self._chance.random() < 0.7 else sound)
            node.steps_left = self._chance.choice([1, 3, 10, 30, 100])

    def _strike(self, node: Node) -> None:
        """Do something to a node, between any two of its steps."""
        if node.log.is_cut or not node.takes_commands:
            return
        kind = self._chance.choice(["node killed", "node stopped in order", "node suspended", "node cut off"])
        if not self.faults.strikes(kind):
            return
        self.note(kind, node.number)
        match kind:
            case "node killed":
                node.check_life()
                self._bury(node)
            case "node stopped in order":
                node.stop()
            case "node suspended":
                self.suspend(node)
            case _:
                node.log.is_cut = True
                self.agenda.after(self._chance.choice(PAUSES_S), self._reconnect, node)

    def suspend(self, node: Node) -> None:
        node.is_suspended = True
        self.agenda.after(self._chance.choice(PAUSES_S), self._resume, node)

    def _resume(self, node: Node) -> None:
        node.is_suspended = False

    def _reconnect(self, node: Node) -> None:
        node.log.is_cut = False

    def _bury(self, node: Node) -> None:
        """The process is gone; another one begins in its place."""
        self.note("gone", node.number)
        node.loop.crash()
        self.nodes.remove(node)
        self.store.links.remove(node.log)
        row = self.store.nodes.get(node.log.cluster.id or 0)
        if row:
            row.is_alive = False
        for at_work in self.at_work.values():
            at_work.discard(node)
        for gone, _, order in [each for each in self._pending if each[0] is node]:
            self._pending = [each for each in self._pending if each[0] is not gone]
            self._try_again(order)
        self.agenda.after(self._chance.choice([0.1, 2.0, 15.0]), self._begin)

    # what people do

    def _speak(self) -> None:
        """Let somebody do something, on any node."""
        is_calm = not self.faults.is_on
        self.agenda.after(1.0 if is_calm else self._chance.choice([0.01, 0.2, 1.0, 5.0]), self._speak)
        known = self.store.session_ids()
        if not known or (is_calm and any(not order.receipt and not order.refusal for order in self.orders)):
            return
        session_id = self._chance.choice(known)
        order = Order(session_id, Post(text=""), len(self.orders) + 1)
        state = fold(self.store.events_of(session_id))
        command = pick_sensible(state) if is_calm else pick_any(state, order.word, self._chance)
        if command is None:
            return
        by = self._chance.choice(HUMANS)
        order.command = replace(command, principal=Principal(token_id=by, role=Role.OWNER, member=by))
        self.orders.append(order)
        self._send(order)

    def _send(self, order: Order) -> None:
        nodes = [node for node in self.nodes if node.takes_commands]
        if not nodes:
            self._try_again(order)
            return
        node = self._chance.choice(nodes)
        order.tries += 1
        task = node.start(_submit(node, order))
        self._pending.append((node, task, order))
        task.add_done_callback(lambda _: self._hear(node, task, order))

    def _hear(self, node: Node, task: "asyncio.Task[Any]", order: Order) -> None:
        self._pending = [each for each in self._pending if each[1] is not task]
        if node not in self.nodes:
            return
        if task.cancelled() or task.exception() is not None:
            error = None if task.cancelled() else task.exception()
            assert error is None or isinstance(error, LogError), f"a command fails with {error!r}"
            self._try_again(order)
        elif isinstance(task.result(), Receipt):
            order.receipt = task.result()
        else:
            order.refusal = task.result().code

    def _try_again(self, order: Order) -> None:
        """Nobody knows whether it was done."""
        self.faults.count("command tried again")
        self.agenda.after(self._chance.choice([0.1, 1.0]), self._send, order)

    def _ask(self, node: Node, work: Coroutine[Any, Any, Any]) -> Any:
        """Run something on a node, and everything else meanwhile; return its result."""
        task = node.start(work)
        self._play(task.done, self.timeline.now_s + CALM_S)
        return task.result()

    # the end

    def _is_at_rest(self) -> bool:
        if self._pending or any(not order.receipt and not order.refusal for order in self.orders):
            return False
        if any(node.loop.has_ready or not node.takes_commands or not node.log.cluster.id for node in self.nodes):
            return False
        states = [fold(self.store.events_of(session_id)) for session_id in self.store.session_ids()]
        return len(self.nodes) > 1 and all(is_at_rest(state) for state in states)

    def _describe(self) -> str:
        told = []
        for session_id, row in self.store.heads.items():
            state = fold(self.store.events_of(session_id))
            told.append(
                f"{session_id} {state.status} interrupt={state.interrupt} running={state.running} "
                f"steps={list(state.open_steps)} door={state.door} owner={row.owner} epoch={row.epoch} due={row.due}"
            )
        nodes = [(node.number, node.log.cluster.id, node.takes_commands) for node in self.nodes]
        return f"sessions={told} nodes={nodes} pending={len(self._pending)}"

    def _finish(self) -> None:
        assert not self.store.violations, self.store.violations[0]
        for session_id in self.store.session_ids():
            events = self.store.events_of(session_id)
            checks.check_chain(events, session_id)
            for node in list(self.nodes):
                node.check_life()
                state: State = self._ask(node, _read_state(node, session_id))
                assert state == fold(self.store.events_of(session_id)), f"node {node.number} has another state"
            events, state = self.store.events_of(session_id), fold(self.store.events_of(session_id))
            checks.check_turns(events, state)
            checks.check_steps(events)
            checks.check_floor(state)
            for event in events:
                self.note(event.seq, event.hash)
        assert not self.store.violations, self.store.violations[0]
        self._check_orders()

    def _check_orders(self) -> None:
        """What was accepted is in the log once; what was refused at its first try is not in it."""
        logs = [self.store.events_of(session_id) for session_id in self.store.session_ids()]
        said = Counter(word for events in logs for event in events for word in checks.read_words(event).split())
        for order in self.orders:
            times = said[order.word]
            is_said = isinstance(order.command, Post)
            assert times <= 1, f"{order.word} was done {times} times"
            assert not (is_said and order.receipt) or times == 1, f"{order.word} was accepted and is lost"
            assert not (order.refusal and order.tries == 1 and times), f"{order.word} was refused and done"

    def abandon(self) -> None:
        """End the processes when the run is over or has failed."""
        for node in self.nodes:
            node.loop.crash()


async def _create(node: Node, team: TeamFile, session_id: str) -> Engine:
    assert node.app is not None
    return await node.app.sessions.create(team.team(), session_id=session_id)


async def _submit(node: Node, order: Order) -> Receipt | Refused:
    assert node.app is not None
    try:
        engine = await node.app.sessions.open(order.session_id)
        return await engine.submit(order.command, order.key)
    except Refused as refused:
        return refused


async def _read_state(node: Node, session_id: str) -> State:
    assert node.app is not None
    state, _ = await (await node.app.sessions.open(session_id)).current()
    return state
