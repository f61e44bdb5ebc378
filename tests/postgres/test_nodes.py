"""Several nodes on one log: any of them takes a command, one of them acts, and when it is gone another one does."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

import pytest

from moot.core.errors import CommandReused, LogError, Newer, Refused
from moot.core.flows.plan.plan_commands import SolveTasks
from moot.core.flows.plan.plan_events import LeaseExpired
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import Answer, Post, Rename
from moot.core.session.events import MessagePosted, TurnCompleted
from moot.core.session.principal import Principal, Role
from moot.runtime.ports import CommandKey, Delta, Desk, Output, Result
from moot.runtime.stores.postgres import nodes
from moot.runtime.stores.postgres.nodes import Pace, Suspicion
from moot.runtime.stores.postgres.pieces import Pieces
from tests.core.test_log_version import NEWER, upgraded
from tests.postgres.cluster import PAIR, ClusterNode, check_history, node
from tests.postgres.test_pg_writes import until
from tests.runtime.apps import Puppet, facts, run
from tests.runtime.plans import Hands, answer, crew, planning, plays, task

__all__ = ["upgraded"]  # a fixture
ALICE = Principal(token_id="t", role=Role.OWNER, member="alice")


def post(text: str) -> Post:
    return Post(text=text, principal=ALICE)


async def texts(on: ClusterNode, session: object) -> list[str]:
    return [fact.text for fact in await facts(on.app, session, MessagePosted)]  # type: ignore[arg-type]


@run
async def test_created_here_said_there_followed_elsewhere(pg_url: str) -> None:
    """No session belongs to a server: any of them takes commands, one plays the member, all tell the same."""
    agents = [Puppet() for _ in range(3)]
    async with AsyncExitStack() as stack:
        a, b, c = [await stack.enter_async_context(node(pg_url, n, {"bob": agents[i]})) for i, n in enumerate("abc")]
        session = await a.app.session()
        followed: list[str] = []

        async def follow() -> None:
            async for batch in c.log.follow(session.id):
                followed.extend(event.name for event in batch)

        following = asyncio.create_task(follow())
        await (await b.open(session)).submit(post("[NEXT: bob] hello"))
        await until(lambda: sum(len(agent.turns) for agent in agents) == 1)
        assert len(agents[1].turns) == 1  # b made work due, so b acts
        assert b.owns(session)
        assert (await (await a.open(session)).state()).running  # a reads what b wrote, told or not
        await (await a.open(session)).submit(post("and this"))
        agents[1].replies("well")
        await until(lambda: "turn.completed" in followed)
        assert [len(agent.turns) for agent in agents] == [0, 1, 0]
        states = [await (await on.open(session)).state() for on in (a, b, c)]
        assert states[0] == states[1] == states[2]
        assert "well" in await texts(a, session)
        await check_history(a.app, session)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


@run
async def test_when_a_node_dies_another_one_plays_its_turns(pg_url: str) -> None:
    """Its connections end: another node takes over, the turn is played again and ends once."""
    first, second = Puppet(), Puppet()
    async with node(pg_url, "a", {"bob": first}) as a, node(pg_url, "b", {"bob": second}) as b:
        session = await a.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        await first.is_called()
        a.proxy.stop_flow()
        a.proxy.reset_all()  # nothing comes through any more
        await until(lambda: second.turns)
        second.replies("from b")
        await until(lambda: not b.owns(session) or (b.app.sessions._engines[session.id].state.is_settled))
        first.replies("from a") if not first.killed else None
        await until(lambda: first.killed or a.log.node.id is None)
        a.proxy.resume()
        await until(lambda: a.log.node.id is not None)
        assert (await texts(b, session)).count("from b") == 1
        assert "from a" not in await texts(b, session)
        assert await (await a.open(session)).state() == await (await b.open(session)).state()
        await check_history(b.app, session)
        assert (b.log.node.counts["dead"], b.log.node.counts["unowned"]) == (1, 0)


@run
async def test_a_node_that_is_cut_off_stops_before_others_begin(pg_url: str) -> None:
    """Nothing passes and nothing is closed: the agent here is stopped before the agent there starts."""
    times: dict[str, float] = {}

    class Timed(Puppet):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
            times[f"{self.name} began"] = time.monotonic()
            try:
                async for output in super().act(turn):
                    yield output
            finally:
                times[f"{self.name} ended"] = time.monotonic()

    first, second = Timed("a"), Timed("b")
    pace = Pace(beat_s=0.1, suspect_s=0.3, lease_s=1.2)
    async with node(pg_url, "a", {"bob": first}, pace=pace) as a, node(pg_url, "b", {"bob": second}, pace=pace) as b:
        session = await a.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        await first.is_called()
        a.proxy.stop_flow()
        await until(lambda: second.turns)
        assert times["a ended"] < times["b began"]
        with pytest.raises(LogError):
            await asyncio.wait_for(session.submit(post("lost?")), 10)
        second.replies("done")
        a.proxy.resume()
        await until(lambda: a.log.node.id is not None)
        await until(lambda: b.app.sessions._engines[session.id].state.is_settled)
        await check_history(b.app, session)
        assert a.log.node.counts["fenced"] == 1


@run
async def test_a_node_that_stops_in_order_hands_over_at_once(pg_url: str) -> None:
    """Nobody has to suspect it: what is due has no owner, and the others are told."""
    first, second = Puppet(), Puppet()
    slow = Pace(beat_s=20.0, suspect_s=60.0, lease_s=120.0)  # so that only the wake-up can be the reason
    async with node(pg_url, "b", {"bob": second}, pace=slow) as b:
        async with node(pg_url, "a", {"bob": first}, pace=slow) as a:
            session = await a.app.session()
            await session.submit(post("[NEXT: bob] hello"))
            await first.is_called()
        await until(lambda: second.turns)
        second.replies("done")
        await until(lambda: b.app.sessions._engines[session.id].state.is_settled)
        await check_history(b.app, session)


@pytest.mark.usefixtures("upgraded")
def test_a_new_kind_of_event_waits_for_the_last_old_node(pg_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one node cannot read it nobody writes it; afterwards who cannot read it is told that it is newer."""

    @run
    async def play() -> None:
        async with AsyncExitStack() as stack:
            old = await stack.enter_async_context(AsyncExitStack())
            await old.enter_async_context(node(pg_url, "old"))
            monkeypatch.setattr(nodes, "LOG_VERSION", NEWER)
            new = await stack.enter_async_context(node(pg_url, "new"))
            session = await new.app.session()
            with pytest.raises(Refused, match="servers_differ"):
                await session.submit(Rename(title="Poster"))
            await old.aclose()
            await until(lambda: new.log.cluster.log_version == NEWER)
            await session.submit(Rename(title="Poster"))
            with pytest.raises(Newer, match=r"session\.retitled"):
                await new.log.read(session.id)  # its codec does not know the kind
            assert len(await new.log.read(session.id, limit=1)) == 1

    play()


@run
async def test_a_command_id_counts_once_on_all_nodes(pg_url: str) -> None:
    """One command sent to three nodes at once is logged once; all get the same receipt; another body is refused."""
    async with AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(node(pg_url, name, acts=name == "a")) for name in "abc"]
        session = await nodes[0].app.session()
        handles = [await each.open(session) for each in nodes]
        for number in range(15):
            key = CommandKey(f"c{number}", "d")
            receipts = await asyncio.gather(*[handle.submit(post(f"n{number}"), key) for handle in handles])
            assert len(set(receipts)) == 1
        said = await texts(nodes[0], session)
        assert [said.count(f"n{number}") for number in range(15)] == [1] * 15
        with pytest.raises(CommandReused):
            await handles[1].submit(post("other"), CommandKey("c3", "another"))
        await check_history(nodes[0].app, session)


@run
async def test_a_busy_owner_does_not_starve_the_others(pg_url: str) -> None:
    """A command that lost a race is decided under the lock of the session: two tries are enough."""
    async with node(pg_url, "a") as a, node(pg_url, "b", acts=False) as b:
        session = await a.app.session()
        there = await b.open(session)
        is_over = False

        async def chatter() -> int:
            said = 0
            while not is_over:
                await session.submit(post(f"a{said}"))
                said += 1
            return said

        chattering = asyncio.create_task(chatter())
        for number in range(20):
            await there.submit(post(f"b{number}"))
        is_over = True
        said = await chattering
        lost_races = sum(b.log._writer.conflicts.values())
        assert b.log.locked_count == lost_races <= 20
        heard = await texts(b, session)
        assert [text for text in heard if text.startswith("b") and text[1:].isdigit()] == [f"b{n}" for n in range(20)]
        assert [text for text in heard if text.startswith("a") and text[1:].isdigit()] == [f"a{n}" for n in range(said)]
        await check_history(a.app, session)


@run
async def test_connections_that_are_reset_lose_and_double_nothing(pg_url: str) -> None:
    """All connections of a node are reset again and again: every command is logged once."""
    calm = Pace(beat_s=0.1, suspect_s=0.3, lease_s=60.0)  # only the connections are to be lost
    async with node(pg_url, "a", pace=calm) as a:
        session = await a.app.session()

        for number in range(40):
            submitting = asyncio.create_task(session.submit(post(f"n{number}")))
            await asyncio.sleep(0.001 * (number % 8))
            a.proxy.reset_all()
            await submitting
        said = await texts(a, session)
        assert [text for text in said if text.startswith("n")] == [f"n{number}" for number in range(40)]
        await check_history(a.app, session)


@run
async def test_tasks_of_a_plan_are_offered_again_by_the_next_owner(pg_url: str) -> None:
    """Their workers ended with the node: their leases are void, the tasks are done by the other node, once."""
    team = crew(planning(), plays("wu"))
    first, second = Hands(), Hands()
    async with node(pg_url, "b", {"wu": second}, team) as b, node(pg_url, "a", {"wu": first}, team) as a:
        session = await a.app.session()
        await session.submit(SolveTasks(tasks=(task("a"), task("b", "a")), principal=ALICE))
        await until(lambda: first.at_work)
        a.proxy.stop_flow()
        a.proxy.reset_all()
        await until(lambda: second.given == ["a"])
        assert len(await facts(b.app, session, LeaseExpired)) == 1
        second.finish("a")
        await until(lambda: second.given == ["a", "b"])
        second.finish("b")
        there = await b.open(session)
        await until(lambda: b.app.sessions._engines[session.id].state.is_settled)
        assert await answer(b.app, there) == "all of it"
        await check_history(b.app, session)
        a.proxy.resume()


@run
async def test_only_what_is_due_is_taken_over(pg_url: str) -> None:
    """A session that waits for a person has no owner, and needs none."""
    async with node(pg_url, "b") as b:
        async with node(pg_url, "a") as a:
            session = await a.app.session()
        await b.log.cluster.claim()
        assert (b.log.node.counts["dead"], b.log.node.counts["unowned"]) == (0, 0)
        assert not b.owns(session)


@run
async def test_many_who_look_at_once_take_in_each_event_once(pg_url: str) -> None:
    """Looking at a session takes in what others wrote, one look at a time: nothing is folded twice."""
    async with node(pg_url, "a") as a, node(pg_url, "b", acts=False) as b:
        session = await a.app.session()
        there = await b.open(session)
        for number in range(5):
            await session.submit(post(f"n{number}"))
            states = await asyncio.gather(*[there.state() for _ in range(8)])
            assert all(state == states[0] for state in states)
        assert await there.state() == await session.state()


class Asking:
    """An agent that asks for a permission and says what it was told."""

    def __init__(self) -> None:
        self.asked = 0

    def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        raise NotImplementedError

    async def act_asking(self, turn: TurnInput, desk: Desk) -> AsyncGenerator[Output, None]:
        self.asked += 1
        yield Result(text=f"told {await desk('may I?')}")


@run
async def test_a_question_is_answered_on_another_node(pg_url: str) -> None:
    """The answer reaches the agent on the node that plays it."""
    first = Asking()
    async with node(pg_url, "a", {"bob": first}) as a, node(pg_url, "b", {"bob": Asking()}) as b:
        session = await a.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        there = await b.open(session)
        await until(lambda: b.app.sessions._engines[session.id].state.open_steps)
        [step] = (await there.state()).open_steps
        await there.submit(Answer(step_id=step, choice="allow", principal=ALICE))
        await until(lambda: a.app.sessions._engines[session.id].state.is_settled)
        assert "told allow" in await texts(b, session)
        assert first.asked == 1


class Typing:
    """An agent that writes pieces until the test lets it end."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        while not self.may_end.is_set():
            yield Delta("ab")
            await asyncio.sleep(0.01)
        yield Result(text="abab")


@run
async def test_what_a_member_writes_is_seen_on_other_nodes(pg_url: str) -> None:
    """Pieces reach the nodes on which somebody looks on, in order; nothing of it is logged."""
    agent = Typing()
    async with node(pg_url, "a", {"bob": agent}) as a, node(pg_url, "b", {"bob": Typing()}) as b:
        session = await a.app.session()
        seen: list[str] = []
        b.app.streams.listeners.add(lambda _, event, piece: seen.append(f"{event}:{piece['text']}"))

        async def look_on() -> None:
            async for _ in b.log.follow(session.id):
                pass

        following = asyncio.create_task(look_on())
        await session.submit(post("[NEXT: bob] hello"))
        await until(lambda: len(seen) > 3)
        assert all(text.removeprefix("turn.delta:").replace("ab", "") == "" for text in seen)
        agent.may_end.set()
        await until(lambda: a.app.sessions._engines[session.id].state.is_settled)
        status = await a.log.cluster.read_status()
        assert ([each.name for each in status.nodes], status.unowned_due) == (["a", "b"], 0)
        await a.log.cluster.check_ready()
        measured = {sample.name: sample.value for sample in a.log.cluster.measure()}
        assert measured["store_commits_total"] > 0
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def test_too_many_pieces_are_dropped_and_nobody_gets_what_nobody_wants() -> None:
    """The oldest go first; a session in which no other node looks on costs nothing."""

    async def play() -> None:
        sent: list[tuple[str, str, str, str]] = []
        pieces = Pieces(sent.append, lambda _: None)
        pieces.show("s", "turn.delta", "t1", "unwanted")
        pieces.hear_wanted("s")
        for number in range(100):
            pieces.show("s", "turn.delta", f"t{number}", "x" * 1_000)
        await until(lambda: sent)
        assert sent[-1] == ("s", "turn.delta", "t99", "x" * 1_000)
        assert len(sent) + pieces.dropped == 100
        assert pieces.dropped > 80

    asyncio.run(play())


@run
async def test_a_session_that_is_removed_stops_on_its_owner(pg_url: str) -> None:
    """Whoever removes it: the agent is stopped where it runs; restored, it goes on somewhere."""
    agents = Puppet(), Puppet()
    async with node(pg_url, "a", {"bob": agents[0]}) as a, node(pg_url, "b", {"bob": agents[1]}) as b:
        session = await a.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        await agents[0].is_called()
        await b.app.sessions.remove(session.id)
        await until(lambda: agents[0].killed)
        await b.log.restore(session.id)
        await b.app.recover()
        await until(lambda: len(agents[0].turns) + len(agents[1].turns) == 2)
        (agents[0] if len(agents[0].turns) == 2 else agents[1]).replies("done")
        there = await b.open(session)

        async def is_done() -> bool:
            return (await there.state()).is_settled

        while not await is_done():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert len(await facts(b.app, session, TurnCompleted)) == 1
        await check_history(b.app, session)


@run
async def test_a_node_without_agents_serves_people_alone(pg_url: str) -> None:
    """It takes commands and never acts; what is due waits for a node that does."""
    agent = Puppet()
    async with node(pg_url, "front", {"bob": Puppet()}, acts=False) as front:
        session = await front.app.session()
        await session.submit(post("[NEXT: bob] hello"))
        assert not front.owns(session)
        async with node(pg_url, "back", {"bob": agent}) as back:
            await agent.is_called()
            assert back.owns(session)
            agent.replies("done")
            await until(lambda: front.app.sessions._engines[session.id].state.is_settled)
        await check_history(front.app, session)


@run
async def test_nodes_act_for_their_own_teams(pg_url: str) -> None:
    """A node that does not offer a team does not take its sessions over."""
    other = crew(planning(), plays("wu"), name="others")
    async with node(pg_url, "b", None, other) as b:
        async with node(pg_url, "a", {"bob": Puppet()}, PAIR) as a:
            session = await a.app.session()
            await session.submit(post("[NEXT: bob] hello"))
        await b.log.cluster.claim()
        assert not b.owns(session)


def test_a_node_is_dead_when_it_is_silent_and_gone() -> None:
    """Silence counts only while one could look; a lock that is held, or a lease that is not late, means it lives."""
    suspicion = Suspicion(2.0)
    assert suspicion.look(0.0, [(1, 5, True)], 1.0) == set()
    assert suspicion.look(1.0, [(1, 5, True)], 1.0) == set()
    assert suspicion.look(2.0, [(1, 5, True)], 1.0) == {1}
    assert suspicion.look(3.0, [(1, 6, True)], 1.0) == set()  # a beat
    assert suspicion.look(100.0, [(1, 6, True)], 1.0) == {1}  # of the long gap two periods count
    assert suspicion.look(101.0, [(1, 6, False)], 1.0) == set()  # its lock is held and its lease is good
    fresh = Suspicion(5.0)
    fresh.look(0.0, [(1, 5, True)], 1.0)
    assert fresh.look(1000.0, [(1, 5, True)], 1.0) == set()  # the server was away for long: nobody is dead


@run
async def test_a_peer_that_never_answers_does_not_keep_a_node_away(pg_url: str) -> None:
    """A connection that is made and then says nothing is given up, also by a node that has lost its lease."""
    pace = Pace(beat_s=0.1, suspect_s=0.3, lease_s=1.0)
    async with node(pg_url, "a", pace=pace) as a:
        a.proxy.swallows = lambda data: b"LISTEN" in data
        a.proxy.reset_all()
        await until(lambda: a.log.node.is_lost)
        a.proxy.swallows = lambda _: False
        await until(lambda: a.log.node.id is not None)
