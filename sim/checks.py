"""The promises that every run must keep."""

from collections import Counter
from typing import TYPE_CHECKING

from moot.core.codec import Event, chain
from moot.core.evolve import evolve
from moot.core.machines.session import Status
from moot.core.outstanding import outstanding
from moot.core.session.events import (
    MessagePosted,
    NoticePosted,
    StepAsked,
    StepClosed,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
)
from moot.core.session.state import State
from moot.runtime.snapshots import load_state
from sim.client import SimClient
from sim.disk import DiskLog, run_now

if TYPE_CHECKING:
    from sim.world import World

# Refusals after which a command may have been done all the same.
UNCERTAIN = {"unanswered", "unavailable", "storage_full", "internal", "command_id_reused"}


def check_log(log: DiskLog, clients: list[SimClient]) -> None:
    """The log of a new life: dense, chained, and holding everything that any client has seen or was promised."""
    for session_id in log.session_ids():
        check_chain(log.events_of(session_id), session_id)
    for client in clients:
        for session_id, copy in client.copies.items():
            check_prefix(copy.events, log.events_of(session_id), f"client {client.number} after a restart")
    check_promises(clients, log)


def check_chain(events: list[Event], session_id: str) -> None:
    previous = ""
    for seq, event in enumerate(events, start=1):
        assert event.seq == seq, f"{session_id}: seq {event.seq} stands at {seq}"
        assert event.session_id == session_id
        previous = chain(previous, event.data)
        assert event.hash == previous, f"{session_id}: event {seq} does not follow from the one before"


def check_prefix(copy: list[tuple[bytes, str]], events: list[Event], whose: str) -> None:
    """A client's copy is the start of the log, byte for byte."""
    assert len(copy) <= len(events), f"{whose} has {len(copy)} events, the log {len(events)}"
    for (data, hash_), event in zip(copy, events, strict=False):
        assert (data, hash_) == (event.data, event.hash), f"{whose} has another event {event.seq}"


def check_promises(clients: list[SimClient], log: DiskLog) -> None:
    """What was accepted is in the log once; nothing is in it twice; what was refused is not in it."""
    posts = Counter(
        word
        for session_id in log.session_ids()
        for event in log.events_of(session_id)
        for word in read_words(event).split()
        if word.startswith("m") and word.endswith("x")
    )
    for client in clients:
        for command_id, order in client.orders.items():
            words = [word for word in order.text.split() if word.startswith("m") and word.endswith("x")]
            for word in words:
                times = posts[word]
                assert times <= 1, f"{command_id} was done {times} times"
                assert order.seq is None or times == 1, f"{command_id} was accepted with seq {order.seq} and is lost"
                is_refused = bool(order.refusal) and order.refusal not in UNCERTAIN and not client.is_doubled
                assert not (is_refused and times), f"{command_id} was refused ({order.refusal}) and done"


def read_words(event: Event) -> str:
    """What a person said: a message, or words for one or several open questions."""
    match event.fact:
        case MessagePosted(text=text):
            return text
        case StepClosed(answer=str(answer)):
            return answer
        case NoticePosted(code="several_questions", detail=text):
            return text  # it could answer several questions: the person is asked which
    return ""


def check_end(world: "World") -> None:
    """What must hold once the faults are over and everybody has come to rest."""
    server = world.server
    assert server is not None
    assert server.app is not None
    log = server.log
    for session_id in world.session_ids:
        events = log.events_of(session_id)
        check_chain(events, session_id)
        state = check_replay(world, session_id, events)
        check_turns(events, state)
        check_steps(events)
        check_floor(state)
        for client in world.clients:
            copy = client.copies[session_id]
            check_prefix(copy.events, events, f"client {client.number}")
            assert copy.state == state, f"client {client.number} has another state"
    check_promises([] if world.is_rolled_back else world.clients, log)


def check_replay(world: "World", session_id: str, events: list[Event]) -> State:
    """The fold of the log is the state of the running engine, and what a snapshot leads to."""
    state: State | None = None
    for event in events:
        state = evolve(state, event.fact)
    assert state is not None
    server = world.server
    assert server is not None
    assert server.app is not None
    engine = server.loop.call(run_now, server.app.sessions.open(session_id))
    assert engine.state == state, "the engine has another state than its log"
    loaded, _ = run_now(load_state(server.log, session_id))
    assert loaded == state, "a snapshot leads to another state"
    return state


def check_turns(events: list[Event], state: State) -> None:
    """Each turn ends once: done, failed or cancelled."""
    started = Counter(event.fact.turn_id for event in events if isinstance(event.fact, TurnStarted))
    ends = (TurnCompleted, TurnFailed, TurnCancelled)
    ended = Counter(event.fact.turn_id for event in events if isinstance(event.fact, ends))
    assert all(times == 1 for times in started.values()), "a turn started twice"
    assert all(times == 1 for times in ended.values()), f"a turn ended twice: {ended.most_common(1)}"
    assert not state.running, f"a turn never ended: {state.running}"
    assert set(ended) <= set(started) | {turn for turn in ended if turn.startswith("d")}, (
        "a turn ended that never started"
    )


def check_steps(events: list[Event]) -> None:
    """Each question is asked once and closed at most once."""
    asked = Counter(event.fact.step_id for event in events if isinstance(event.fact, StepAsked))
    closed = Counter(event.fact.step_id for event in events if isinstance(event.fact, StepClosed))
    assert all(times == 1 for times in asked.values()), "a question was asked twice"
    assert all(times == 1 for times in closed.values()), "a question was closed twice"
    assert set(closed) <= set(asked), "a question was closed that was never asked"


def check_floor(state: State) -> None:
    """A named human has the floor, or the session is over; nothing is under way behind their back."""
    if state.status is Status.COMPLETED:
        return
    assert state.status is Status.PAUSED, state.status
    waiting_for = state.waiting_for
    is_untouched = state.message_count == 0 and state.turn_count == 0
    assert waiting_for is not None or is_untouched, "nobody has the floor"
    assert waiting_for is None or state.team.member(waiting_for).is_human, f"{waiting_for} has the floor"
    left = [effect.key for effect in outstanding(state)]
    assert not left, f"still under way: {left}"
