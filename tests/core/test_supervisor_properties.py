"""The promises in the supervisor flow, over sessions that hypothesis makes up: hostile outputs, people at any moment.

Commands are made up without knowing the session; `aim` points those about "the running turn", "the open question",
"the tool under way" or "the input" (written as `?`) at it, so that most of them hit.
"""

from collections import Counter
from functools import reduce
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from moot.config.loading import load_team
from moot.core.decide import create, decide
from moot.core.effects import RunTool, RunTurn, Understand
from moot.core.errors import Refused
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.flows.plan import plan_commands
from moot.core.flows.supervisor.deciding import UNUSABLE
from moot.core.flows.supervisor.supervision import DECISIONS, INPUTS
from moot.core.flows.supervisor.supervisor_events import SUPERVISOR_FACTS
from moot.core.flows.supervisor.supervisor_settings import END, SUPERVISOR
from moot.core.flows.supervisor.supervisor_slice import current_job, find_job
from moot.core.machines.session import Status
from moot.core.outstanding import outstanding
from moot.core.session import commands
from moot.core.session.commands import Command
from moot.core.session.events import SessionCompleted, SessionPaused
from moot.core.session.settings import Budget
from moot.core.session.state import State
from moot.core.session.team import Team, member
from moot.core.states import decode, encode
from moot.testing.intents import analyse, control
from tests.core.studio import APPROVED, BODY, GOOD, REJECTED, scores
from tests.core.teams import fold
from tests.core.test_properties import AT, check_log, check_turns, garbage, weighted

STUDIO = load_team("content-studio-demo").team()
AGENTS = tuple(STUDIO.supervisor.agents)


class Odd:
    """What no JSON can hold."""


def decision(next_agent: Any, **fields: Any) -> str:
    return f"so: {msgspec.json.encode({'next_agent': next_agent, **fields}).decode()}"


choices = st.sampled_from([*AGENTS, *AGENTS, "review_agent", "review_agent", "image_agent", END, END])
hostile = st.sampled_from(
    ["", "hm", '{"next_agent": "poet"}', '{"next_agent": null}', '{"next_agent": ["END"]}', '{"next_agent":', "{" * 500]
)
decisions = weighted(
    (9, choices.map(decision)),
    (1, choices.map(lambda agent: decision(agent, guidance="g" * 999, focus_areas="a,b；c"))),
    (2, hostile),
    (1, garbage),
)
values = st.sampled_from(
    [None, True, False, 0, -1, 10**30, "", " ", "text", [], [1], {"id": "a"}, [{"id": "a"}], Odd()]
)
keys = st.sampled_from([*STUDIO.supervisor.state, "imagePlans", "generatedImageAssetIds", "", "\x1b[2J", "no.such"])
reviews = st.sampled_from(
    [{**APPROVED, **GOOD}, {**REJECTED, **scores(infoDensity=0.1)}, REJECTED, {**BODY, **APPROVED}]
)
states: st.SearchStrategy[Any] = weighted(
    (3, st.just(BODY)),
    (2, reviews),
    (2, st.just({"creativeBrief": {}, "imagePlans": [{"id": "a"}]})),
    (2, st.dictionaries(keys, values, max_size=4)),
    (1, st.sampled_from([None, 7, "state", [1]])),
)
calls: st.SearchStrategy[Any] = weighted(
    (5, st.none()),
    (2, st.just(({"name": "search", "args": {"q": 1}, "result": [1]},))),
    (2, st.just(({"name": "draw", "args": {}}, {"name": "draw", "id": "2"}))),
    (1, st.sampled_from([(), (7,), ({"name": None},), ({"name": "x", "args": Odd(), "error": "no"},), "calls"])),
)
asks: st.SearchStrategy[Any] = weighted(
    (8, st.none()),
    (2, st.sampled_from([{"question": "Who?", "key": key} for key in ("a", "b", "layoutPreference")])),
    (1, st.just({"question": "Which?", "options": ["x", "y", "y", 7], "selection": "multiple"})),
    (1, st.sampled_from([{}, {"question": 7}, 7, {"question": " ", "key": Odd()}])),
)
said = weighted(
    (3, decisions), (1, garbage), (1, st.just('{"state": {"briefComplete": true}, "ask": {"question": "?"}}'))
)
results: st.SearchStrategy[Command] = weighted(
    (9, st.builds(commands.CompleteTurn, turn_id=st.just("?"), text=said, state=states, tool_calls=calls, ask=asks)),
    (9, st.builds(commands.CompleteTurn, turn_id=st.just("?"), text=decisions)),
    (3, st.builds(commands.CompleteTool, call_id=st.just("?"), result=values, error=st.sampled_from(["", "", "no"]))),
    (1, st.builds(commands.FailTurn, turn_id=st.just("?"), error_type=garbage, message=garbage)),
    (1, st.builds(commands.ExpireTurn, turn_id=st.just("?"))),
    (1, st.builds(commands.ReportStep, turn_id=st.just("?"), thought=garbage)),
)
relations = st.sampled_from(
    ["same_task_no_change", "same_task_minor_change", "same_task_major_change", "different_task", "different_task"]
)
analyses = weighted(
    (5, st.builds(analyse, relations, st.sampled_from([0.95, 0.95, 0.65, 0.2]))),
    (2, st.builds(control, st.sampled_from(["pause", "resume", "cancel", "status_query"]))),
    (1, st.builds(analyse, relations, clarification=st.just("what?"))),
)
speakers = st.sampled_from([None, "you", "you", "eve"])
texts = st.sampled_from(
    ["a post", "with chives", "[NEXT: you] hm", "[TEAM_TASK: win] x", "\x1b[2J", "/status", "/retry"]
)
options = st.sampled_from(
    [
        *(None, None, "approve", "reject", "edit", "retry", "drop", "finish_first", "close_and_start"),
        *("tell_supervisor", "resume", "pause", "x", "y", "writer_agent", "review_agent", END, "nobody"),
    ]
)
answers = st.builds(
    commands.Answer,
    step_id=st.just("?"),
    by=speakers,
    confirmed=st.sampled_from([None, None, True, False]),
    choice=options,
    answer=st.sampled_from([None, None, "shorter", " "]),
    selected_ids=st.sampled_from([None, None, (), ("x",), ("x", "y")]),
    custom_input=st.sampled_from([None, None, "my aunt"]),
    state=st.sampled_from([None, None, BODY, {"x": Odd()}]),
)
people: st.SearchStrategy[Command] = weighted(
    (5, st.builds(commands.Post, text=texts, by=speakers)),
    (5, st.builds(commands.ReportUnderstanding, input_id=st.just("?"), analysis=analyses)),
    (6, answers),
    (1, st.builds(commands.Pause, by=speakers)),
    (2, st.builds(commands.Resume, by=speakers)),
    (1, st.builds(commands.Retry, by=speakers)),
    (1, st.sampled_from([commands.CancelTurn(), plan_commands.CancelPlan(), commands.ExpireStep(step_id="?")])),
)
begin: list[Command] = [
    commands.Post(text="a post about herbs", by="you"),
    commands.ReportUnderstanding(input_id="?", analysis=analyse("different_task")),
]
anything: st.SearchStrategy[Command] = weighted((5, results), (3, people))
has_text: list[Command] = [
    commands.CompleteTurn(turn_id="?", text=decision("brief_compiler_agent")),
    commands.CompleteTurn(turn_id="?", text="", state={"creativeBrief": {}}),
    commands.CompleteTurn(turn_id="?", text=decision("writer_agent")),
    commands.CompleteTurn(turn_id="?", text="", state=BODY),
]
is_rejected: list[Command] = [
    commands.CompleteTurn(turn_id="?", text=decision("review_agent")),
    commands.CompleteTurn(turn_id="?", text="", state={**REJECTED, **scores(infoDensity=0.1)}),
]
openings = st.sampled_from([[], has_text, [*has_text, *is_rejected]])
histories = st.tuples(
    st.builds(lambda opening, rest: [*opening, *rest], openings, st.lists(anything, min_size=25, max_size=60)),
    st.sampled_from([[], [], [], [commands.End()], [commands.Post(text="thanks [DONE]", by="you")]]),
)
teams = st.builds(
    lambda steps, rounds, pauses, understanding, turns: replace(
        STUDIO,
        members=(*STUDIO.members, member("eve", "human", order=50)),
        understanding=understanding,
        budget=Budget(max_turns=turns),
        supervisor=replace(
            STUDIO.supervisor, max_steps=steps, max_clarification_rounds=rounds, pause_after=pauses, max_iterations=1
        ),
    ),
    st.sampled_from([3, 8, 100]),
    st.sampled_from([0, 1, 3]),
    st.sampled_from([(), ("writer_agent",), ("review_agent", "writer_agent")]),
    st.sampled_from(["rules", "rules", "explicit"]),
    st.sampled_from([0, 0, 5]),
)


def aim(command: Command, now: State) -> Command:
    """`?` becomes the running turn, the open question, the tool under way, the input that is being understood."""
    found: dict[str, str | None] = {
        "turn_id": now.running[0].turn_id if now.running else None,
        "step_id": next(iter(now.open_steps), None),
        "call_id": next(iter(current_job(now).calls), None) if find_job(now) else None,
        "input_id": now.door.inputs[0].input_id if now.door.inputs else None,
    }
    for field, value in found.items():
        if getattr(command, field, None) == "?" and value:
            return replace(command, **{field: value})
    return command


def check_never_stuck(before: State, facts: list[Fact], now: State) -> None:
    """A member acts, a tool runs, an input is being understood, or a named human has the floor, or it is over."""
    last = facts[-1] if facts else None
    effects = outstanding(now)
    goes_on = [effect for effect in effects if isinstance(effect, RunTurn | RunTool | Understand)]
    assert len(now.running) <= 1
    assert [effect.turn for effect in effects if isinstance(effect, RunTurn)] == list(now.running)
    assert not (now.running and find_job(now) and current_job(now).calls)
    if now.status is Status.ACTIVE:
        assert goes_on
    if now.status is Status.PAUSED:
        assert isinstance(last, SessionPaused) if last else now == before
        assert not [effect for effect in goes_on if not isinstance(effect, Understand)]
        assert now.waiting_for is None or now.team.member(now.waiting_for).is_human
        assert now.waiting_for or find_job(now) is None
    if now.status is Status.COMPLETED:
        assert isinstance(last, SessionCompleted)
        assert (now.running, now.open_steps, now.waiting_for) == ((), {}, None)


def check_bounds(now: State) -> None:
    job = find_job(now)
    if job is None:
        return
    rules = now.team.supervisor
    assert job.steps <= rules.max_steps
    assert job.unusable_in_a_row <= UNUSABLE
    assert job.state["clarificationRounds"] <= rules.max_clarification_rounds
    assert len(set(job.state["agentClarificationKeys"])) == job.state["clarificationRounds"]
    assert len(job.decisions) <= DECISIONS
    assert len(job.heard) <= INPUTS >= len(job.given)
    assert job.node in (SUPERVISOR, END, *rules.agents)
    if not job.is_active:
        assert (job.calls, now.running) == ({}, ())


def play(team: Team, history: list[Command]) -> tuple[list[Fact], State]:
    created = create(commands.CreateSession(team=team))
    facts, now = list(created.facts), created.state
    for wanted in history:
        command, kept = aim(wanted, now), encode(now)
        try:
            decided = decide(now, command, AT)
        except Refused:
            assert encode(now) == kept  # a refusal changes nothing
            continue
        assert encode(now) == kept  # neither does deciding
        assert decide(decode(kept), command, AT) == decided  # from a snapshot: the same
        assert encode(reduce(evolve, decided.facts, now)) == encode(decided.state)
        check_never_stuck(now, decided.facts, decided.state)
        check_bounds(decided.state)
        facts += decided.facts
        now = decided.state
    return facts, now


@pytest.mark.slow
def test_supervised_sessions_keep_the_promises() -> None:
    """Never stuck, pure replay, dense order, each turn ends once; every fact is met."""
    seen: Counter[str] = Counter()

    @settings(max_examples=300)
    @given(teams, histories)
    def explore(team: Team, parts: tuple[list[Command], list[Command]]) -> None:
        facts, final = play(team, [*begin, *parts[0], *parts[1]])
        check_log(team, facts, final)
        check_turns(facts, final)
        seen.update(fact.event for fact in facts)

    explore()
    assert [kind.event for kind in SUPERVISOR_FACTS if not seen[kind.event]] == []


@settings(max_examples=150)
@given(teams, st.lists(results, min_size=1, max_size=8))
def test_without_people_a_job_ends_or_asks_within_its_bounds(team: Team, outputs: list[Command]) -> None:
    """Whatever the AIs say, over and over, the floor is with a human after max_steps turns at most."""
    created = create(commands.CreateSession(team=team))
    now = created.state
    for opening in begin:
        try:
            now = decide(now, aim(opening, now), AT).state
        except Refused:
            assert team.understanding == "explicit"
    turns = now.turn_count
    for number in range(40 * team.supervisor.max_steps):
        if now.status is not Status.ACTIVE:
            break
        if find_job(now) and current_job(now).calls:
            command: Command = commands.CompleteTool(call_id="?", result=number)
        else:
            command = outputs[number % len(outputs)]
            if not hasattr(command, "turn_id") or isinstance(command, commands.ReportStep):
                command = commands.CompleteTurn(turn_id="?", text="hm")
        now = decide(now, aim(command, now), AT).state
    assert now.status is Status.PAUSED
    assert now.waiting_for == "you"
    assert now.turn_count - turns < team.supervisor.max_steps


@settings(max_examples=60)
@given(teams, histories)
def test_a_human_can_always_go_on(team: Team, parts: tuple[list[Command], list[Command]]) -> None:
    """From any state that is not the end, the supervisor can be reached again."""
    _, now = play(team, [*begin, *parts[0]])
    if now.slice.is_active:
        now = decide(now, commands.CancelTurn(by="you"), AT).state
    while now.door.inputs:
        fired = commands.ReportUnderstanding(input_id="?", analysis=control("status_query"))
        now = decide(now, aim(fired, now), AT).state
    now = decide(now, commands.Post(text="another post", by="you"), AT).state
    for _ in range(3):
        if now.door.inputs:
            now = decide(now, aim(begin[1], now), AT).state
        if not now.running:  # a budget that is used up
            now = decide(now, commands.Resume(by="you"), AT).state
    assert [turn.job for turn in now.running] == [SUPERVISOR]


def test_the_final_state_comes_back_from_the_log() -> None:
    """Replay: byte-equal, also with values that agents made up."""
    history: list[Command] = [*begin, commands.CompleteTurn(turn_id="?", text=decision("brief_compiler_agent"))]
    history.append(commands.CompleteTurn(turn_id="?", text="ok", state={"creativeBrief": {"é\u2028": [1.5, None]}}))
    facts, final = play(STUDIO, history)
    assert encode(fold(facts)) == encode(final)
