"""The promises, over sessions that hypothesis makes up: several humans and AIs, failures, commands, garbage.

Commands are generated without knowing the session; `aim` points those about "the running turn" or "the open step"
(written as `?`) at it, so that most of them hit.
"""

import hashlib
from collections import Counter
from functools import reduce
from itertools import pairwise
from typing import TypeVar

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from moot.core import states
from moot.core.codec import Head, decode, stamp
from moot.core.decide import Decided, create, decide
from moot.core.effects import RunTurn, Wake
from moot.core.errors import Refused
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.flows.chat.chat_settings import ChatSettings
from moot.core.flows.chat.chat_slice import ChatSlice, Entry
from moot.core.flows.plan.plan_events import PLAN_FACTS
from moot.core.flows.registry import FACTS
from moot.core.flows.supervisor.supervisor_events import SUPERVISOR_FACTS
from moot.core.intake.slash import OBEY
from moot.core.machines.interrupt import STOPPED
from moot.core.machines.session import Status
from moot.core.outstanding import outstanding
from moot.core.session import commands
from moot.core.session.attachments import Attachment
from moot.core.session.commands import Command
from moot.core.session.desk_events import AnswerAwaited
from moot.core.session.events import (
    BudgetCounted,
    InputDeferred,
    Option,
    PermissionGranted,
    PermissionRevoked,
    SessionCompleted,
    SessionPaused,
    TurnSpent,
    TurnStarted,
    UnderstandingCompleted,
    UnderstandingStarted,
)
from moot.core.session.settings import Budget
from moot.core.session.state import State
from moot.core.session.team import Team
from moot.core.session.usage import Usage
from moot.core.session.workspace_events import WORKSPACE_FACTS
from tests.core.teams import fold, make_chat_team, only

HUMANS, AIS = ("alice", "adam", "eve"), ("bob", "carol", "dave")
T = TypeVar("T")
AT = "2026-01-01T00:00:00.000Z"
FILE = Attachment(sha256="0" * 64, name="a.txt", media_type="text/plain", size=1)


def weighted(*choices: tuple[int, st.SearchStrategy[T]]) -> st.SearchStrategy[T]:
    """One of these, each as often as its weight says: what is rare in life must not be rare here."""
    return st.sampled_from([strategy for weight, strategy in choices for _ in range(weight)]).flatmap(lambda one: one)


garbage = st.text(st.characters(), max_size=20)
names = st.sampled_from([*HUMANS, *AIS, *AIS, *AIS, "Bob!P1", "carol!P3", "@dave", "**eve**", "zoe", "", "!P1"])
name_lists = st.lists(names, min_size=1, max_size=12).map(", ".join)
nexts = name_lists.map("go [NEXT: {}]".format)
pieces = weighted(
    (4, nexts),
    (1, name_lists.map("[next：{}]".format)),
    (1, (name_lists | st.just("all")).map("[DROP: {}]".format)),
    (1, names.map("[FROM: {}]".format)),
    (1, st.just("[TEAM_TASK: win]")),
    (1, st.sampled_from(["hello", "\n```\n", "[NEXT:", "[NEXT:]", "]", "> ", "\x1b[2J", "\u200b", "[x]"])),
    (1, garbage),
)
texts = st.lists(pieces, max_size=3).map(" ".join)
speakers = st.sampled_from(["alice"] * 6 + [None, "adam", "eve", "bob", "zoe"])
turns = st.sampled_from(["?"] * 6 + ["t1", "t2"])
costs = st.sampled_from([0.0, 0.1, -1.0, float("nan"), float("inf")])
usages = st.builds(Usage, input_tokens=st.integers(0, 50), output_tokens=st.integers(0, 50), cost_usd=costs)
slashes = st.sampled_from([*(command for command in OBEY if command != "/end"), "/queue clear", "/x"])
posts = st.builds(commands.Post, text=weighted((3, texts), (2, nexts), (1, slashes)), by=speakers)
results: st.SearchStrategy[Command] = weighted(
    (6, st.builds(commands.CompleteTurn, turn_id=turns, text=texts, usage=usages)),
    (1, st.builds(commands.FailTurn, turn_id=turns, error_type=garbage | st.just("timeout"), message=garbage)),
    (1, st.builds(commands.ExpireTurn, turn_id=turns)),
    (1, st.builds(commands.ReportStep, turn_id=turns, thought=garbage, observation=st.none() | garbage)),
)
options = st.lists(garbage.map(lambda text: Option(id=text, label=text)), max_size=3).map(tuple)
calls: st.SearchStrategy[Command] = weighted(
    (3, st.builds(commands.AskPeople, turn_id=turns, key=names, question=texts, options=options, to=st.none() | names)),
    (4, st.builds(commands.AskMember, turn_id=turns, key=names, question=texts, to=names)),
    (3, st.builds(commands.AwaitAnswer, turn_id=turns, question_id=st.just("?"))),
    (2, st.builds(commands.HandOver, turn_id=turns, to=names, reason=garbage)),
    (1, st.builds(commands.ReportBlocked, turn_id=turns, reason=texts)),
    (1, st.builds(commands.ShowFile, turn_id=turns, path=garbage, file=st.just(FILE), caption=garbage)),
)
limited = st.builds(
    commands.FailTurn,
    turn_id=turns,
    error_type=st.just("rate_limit"),
    message=garbage,
    retry_after_s=st.sampled_from([0.0, 120.0, 120.0, 3_600.0, 1e9]),
)
asides = st.just("aside")
answers_of_members: st.SearchStrategy[Command] = weighted(
    (4, st.builds(commands.CompleteTurn, turn_id=asides, text=texts, usage=usages)),
    (1, st.builds(commands.FailTurn, turn_id=asides, error_type=garbage, message=garbage)),
    (1, st.builds(commands.ExpireTurn, turn_id=asides)),
    (1, st.builds(commands.ReportStep, turn_id=asides, thought=garbage)),
    (1, st.builds(commands.AskPeople, turn_id=asides, key=names, question=texts)),
    (1, st.builds(commands.AskMember, turn_id=asides, key=names, question=texts, to=names)),
)
queue_changes = st.builds(
    commands.ChangeQueue,
    action=st.sampled_from(["skip", "clear", "move"]),
    by=speakers,
    member=st.none() | names,
    to=st.integers(-2, 5),
)
controls: st.SearchStrategy[Command] = weighted(
    (2, st.builds(commands.Pause, by=speakers)),
    (2, st.builds(commands.Resume, by=speakers)),
    (2, st.builds(commands.Retry, by=speakers)),
    (1, st.builds(commands.CancelTurn, by=speakers)),
    (1, st.builds(commands.Stop, by=speakers)),
    (2, st.builds(commands.WakeTurn, turn_id=turns)),
    (2, queue_changes),
    (1, st.builds(commands.SetLanguage, language=st.sampled_from(["zh", "en"]))),
    (1, st.builds(commands.Rename, title=st.sampled_from(["Harbour", "港口"]) | garbage, by=speakers)),
)
answers = st.builds(
    commands.Answer,
    step_id=st.sampled_from(["?", "?", "confirm_queue_clear_1"]),
    by=speakers,
    confirmed=st.none() | st.booleans(),
    choice=st.sampled_from([None, "clear", "keep", "other"]),
    answer=st.none() | garbage,
)
steps: st.SearchStrategy[Command] = weighted((3, answers), (1, st.builds(commands.ExpireStep, step_id=st.just("?"))))
endings = st.sampled_from(["[DONE]", "bye [DONE] [NEXT: bob]", "/end"])
last_words = st.builds(commands.Post, text=endings, by=speakers) | st.builds(commands.End, by=speakers)
anything: st.SearchStrategy[Command] = weighted(
    (6, posts), (8, results), (3, controls), (2, steps), (4, calls), (2, answers_of_members), (2, limited)
)
histories = st.tuples(st.lists(anything, min_size=20, max_size=40), st.lists(last_words, max_size=1))
teams = st.builds(
    lambda humans, ais, hops, history, budget, fallback: make_chat_team(
        HUMANS[:humans],
        AIS[:ais],
        chat=ChatSettings(max_hops=hops, history=history),
        budget=budget,
        fallback={"bob": AIS[1:ais]} if fallback else {},
    ),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from([0, 1, 3, 50]),
    st.sampled_from([0, 1, 3]),
    st.builds(Budget, max_turns=st.sampled_from([0, 0, 2]), max_tokens=st.sampled_from([0, 0, 60])),
    st.booleans(),
)


def aim(command: Command, now: State) -> Command:
    """`?` becomes the running turn, the open step or a question between members, `aside` the aside."""
    if getattr(command, "turn_id", None) == "aside" and now.asides:
        return replace(command, turn_id=now.asides[0].turn_id)
    if getattr(command, "question_id", None) == "?":
        asked = [*now.open_steps, *now.inquiries]
        turn_id = now.running[0].turn_id if now.running else "?"
        return replace(command, question_id=asked[0] if asked else "?", turn_id=turn_id)
    if getattr(command, "turn_id", None) == "?" and now.running:
        return replace(command, turn_id=now.running[0].turn_id)
    if getattr(command, "step_id", None) == "?" and now.open_steps:
        return replace(command, step_id=next(iter(now.open_steps)))
    return command


def has_twins(queue: tuple[Entry, ...]) -> bool:
    return any(left.member == right.member for left, right in pairwise(queue))


def check_never_stuck(before: State, decided: Decided) -> None:
    """Running, or waiting for a named human, or over; and the log says which."""
    now, last = decided.state, decided.facts[-1] if decided.facts else None
    assert (now.status is Status.ACTIVE) == bool(now.running)
    assert len(now.running) <= 1  # strictly serial
    assert now.slice.queue[0] == (now.running[0].member if now.running else None)
    at_work = [turn for turn in (*now.running, *now.asides) if turn.turn_id not in now.parked]
    if now.interrupt in STOPPED:
        at_work = []  # until somebody resumes
    assert [effect.turn for effect in outstanding(now) if isinstance(effect, RunTurn)] == at_work
    assert {turn.question_id for turn in now.asides} <= set(now.inquiries)
    assert set(now.parked) <= {turn.turn_id for turn in now.running}
    assert now.parked == {} or any(isinstance(effect, Wake) for effect in outstanding(now))
    if now.status is Status.PAUSED:
        assert isinstance(last, SessionPaused) if last else now == before
        assert now.waiting_for is None or now.team.member(now.waiting_for).is_human
        assert now.waiting_for == (last.waiting_for if isinstance(last, SessionPaused) else before.waiting_for)
    if now.status is Status.COMPLETED:
        assert isinstance(last, SessionCompleted)
        assert (now.part(ChatSlice).entries, now.running, now.open_steps, now.waiting_for) == ((), (), {}, None)
        assert (now.asides, now.inquiries) == ((), {})


def check_bounds(before: State, command: Command, now: State) -> None:
    """Limits hold, and nobody is queued next to himself unless somebody between was taken out."""
    limit = now.team.chat.max_hops
    assert not limit or now.hops <= limit
    assert len(now.history) <= max(now.team.chat.history, 1)
    removes = isinstance(command, commands.ChangeQueue) or "DROP" in getattr(command, "text", "")
    if not removes and "/queue" not in getattr(command, "text", "") and not has_twins(before.part(ChatSlice).entries):
        assert not has_twins(now.part(ChatSlice).entries)


def play(team: Team, history: list[Command]) -> tuple[list[Fact], State]:
    """Run the commands, checking after each."""
    created = create(commands.CreateSession(team=team))
    facts, now = list(created.facts), created.state
    for minute, wanted in enumerate(history):
        command, at = aim(wanted, now), f"2026-01-01T{minute // 4:02}:{minute % 4 * 15:02}:00.000Z"
        kept = states.encode(now)
        try:
            decided = decide(now, command, at)
        except Refused:
            assert states.encode(now) == kept  # a refusal changes nothing
            continue
        assert states.encode(now) == kept  # neither does deciding
        assert decide(states.decode(kept), command, at) == decided  # from a snapshot: the same, byte for byte
        assert states.encode(reduce(evolve, decided.facts, now)) == states.encode(decided.state)
        check_never_stuck(now, decided)
        check_bounds(now, command, decided.state)
        facts += decided.facts
        now = decided.state
    return facts, now


def check_log(team: Team, facts: list[Fact], final: State) -> None:
    """Dense seq, a chain anybody can recompute, and a state that comes back from the bytes alone."""
    half = len(facts) // 2
    events = stamp(team, "s1", Head(), facts[:half], AT)
    events += stamp(team, "s1", events[-1].head if events else Head(), facts[half:], AT)
    assert [event.seq for event in events] == list(range(1, len(facts) + 1))
    previous = ""
    for event in events:
        previous = hashlib.sha256(previous.encode() + event.data).hexdigest()
        assert event.hash == previous
    read_back = [decode(event.data, event.hash) for event in events]
    assert read_back == events
    assert states.encode(fold(event.fact for event in read_back)) == states.encode(final)


def check_turns(facts: list[Fact], final: State) -> None:
    """Each turn starts once and ends once: done, failed or cancelled, unless it still runs."""
    started = [fact.turn_id for fact in only(facts, TurnStarted)]
    ends = Counter(
        fact.turn_id  # type: ignore[attr-defined]
        for fact in facts
        if fact.event in {"turn.completed", "turn.failed", "turn.cancelled"}
    )
    assert started == [f"t{number}" for number in range(1, len(started) + 1)]
    assert ends + Counter(turn.turn_id for turn in (*final.running, *final.asides)) == Counter(started)


@pytest.mark.slow
def test_sessions_keep_the_promises() -> None:
    """Never stuck; and pure replay, dense order, each turn ends once, completed accepts nothing."""
    seen: Counter[str] = Counter()

    @settings(max_examples=400)
    @given(teams, histories)
    def explore(team: Team, parts: tuple[list[Command], list[Command]]) -> None:
        facts, final = play(team, [*parts[0], *parts[1]])
        check_log(team, facts, final)
        check_turns(facts, final)
        assert sum(isinstance(fact, SessionCompleted) for fact in facts) == (final.status is Status.COMPLETED)
        seen.update(fact.event for fact in facts)

    elsewhere = {*PLAN_FACTS, *SUPERVISOR_FACTS, *WORKSPACE_FACTS, InputDeferred}
    elsewhere |= {UnderstandingStarted, UnderstandingCompleted}  # not in chat as it is by default
    elsewhere |= {PermissionGranted, PermissionRevoked, AnswerAwaited}  # test_permissions.py, test_member_tools.py
    elsewhere |= {BudgetCounted, TurnSpent}  # test_budgets.py
    expected = {kind.event for kind in FACTS if kind not in elsewhere}
    for number in range(5):  # examples depend on what else the process has imported, so one round may miss a rare event
        seed(number)(explore)()
        if expected <= seen.keys():
            break
    assert expected - seen.keys() == set()  # a search that misses an event proves nothing about it


@settings(max_examples=60)
@given(teams, (anything | last_words).filter(lambda command: not isinstance(command, commands.Rename)))
def test_completed_accepts_nothing(team: Team, command: Command) -> None:
    """Completed → [*]; whatever comes but another name is refused with one code."""
    ended = decide(create(commands.CreateSession(team=team)).state, commands.End(), AT).state
    with pytest.raises(Refused, match="session_completed"):
        decide(ended, command, AT)


@settings(max_examples=60)
@given(teams, histories, st.integers(0, 10))
def test_a_human_can_always_go_on(team: Team, parts: tuple[list[Command], list[Command]], failures: int) -> None:
    """From any state that is not the end, a named AI can be reached again with plain messages."""
    _, now = play(team, parts[0])
    if now.status is Status.COMPLETED:
        return
    for _ in range(failures + len(now.part(ChatSlice).entries) + 3):  # pauses, limits and people in the queue
        if now.running:
            late = commands.FailTurn(turn_id=now.running[0].turn_id, error_type="agent", message="")
            now = decide(now, late, AT).state
        now = decide(now, commands.Post(text="[DROP: ALL] [NEXT: bob] go", by="alice"), AT).state
        if now.running:
            break
    assert [turn.member for turn in now.running] == ["bob"]
