"""The machines, walked by the real flows and a real client: every row that can be reached is reached.

A row that is listed here as being in the table only is one that nothing in Moot triggers today.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from moot.core.flows.plan.plan_commands import CancelTask, EndGrace, ProbeMember, Replan
from moot.core.flows.plan.plan_events import WorkflowChanged
from moot.core.flows.plan.plan_settings import PlanSettings
from moot.core.fsm import Machine
from moot.core.intake.intent import PlanPatch
from moot.core.machines.agent import AGENT
from moot.core.machines.agent import State as Slot
from moot.core.machines.catalogue import MACHINES
from moot.core.machines.connection import CONNECTION
from moot.core.machines.input_routing import INPUT_ROUTING
from moot.core.machines.input_routing import State as Door
from moot.core.machines.interrupt import INTERRUPT
from moot.core.machines.interrupt import State as Interrupt
from moot.core.machines.session import SESSION
from moot.core.machines.task import TASK, TaskState
from moot.core.machines.workflow import WORKFLOW
from moot.core.machines.workflow import WorkflowState as Flow
from moot.core.session.commands import CancelTurn, End, ExpireDispatch, ExpireLease, Pause, Resume
from moot.protocol.client import ClientHalf
from moot.protocol.frames import unlogged
from moot.testing import PlanScenario, control, plan_given, task
from moot.testing.scenario import given
from tests.core.plan_teams import GATED, TEAM, make_plan_team, planned, retrying, solving, worker
from tests.core.teams import make_chat_team, only

Walked = dict[str, set[tuple[str, str]]]
WATCHED = (INPUT_ROUTING, WORKFLOW, TASK, AGENT, INTERRUPT, SESSION, CONNECTION)
PATCH = (PlanPatch(op="modify", task_id="b", changes={"title": "Bee"}),)

# rows that nothing triggers, and why
ONLY_IN_TABLE: dict[str, set[tuple[str, str]]] = {
    "input_routing": set(),
    "workflow": set(),
    "task": {
        ("REWORK_REQUIRED", "cancelled"),  # READY or BLOCKED within the same decision
    },
    "agent": set(),
    "interrupt": set(),
    "session": set(),
    "connection": set(),
}


class Recorder(dict[Any, Any]):
    """A table that remembers which of its rows were used."""

    def __init__(self, table: Any, used: set[tuple[str, str]]) -> None:
        super().__init__(table)
        self._used = used

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        self._used.add((str(key[0]), str(key[1])))
        return found

    def get(self, key: Any, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default


@contextmanager
def recorded(machine: Machine[Any, Any], walked: Walked) -> Iterator[None]:
    table, used = machine.table, walked.setdefault(machine.name, set())
    object.__setattr__(machine, "table", Recorder(table, used))
    try:
        yield
    finally:
        object.__setattr__(machine, "table", table)


def finish(scenario: PlanScenario) -> PlanScenario:
    for task_id in list(scenario.work.tasks):
        scenario.completes(task_id)
    return scenario.aggregates()


def paused(scenario: PlanScenario) -> PlanScenario:
    return scenario.when(Pause(by="alice"), EndGrace())


# stories: each walks some of the rows


def inputs() -> None:
    """The machine of an input."""
    said = solving().says("x")
    said.understands("same_task_no_change", clarification="what?").answers("", answer="this")
    said.understands("same_task_no_change")
    said.says("y").understands("same_task_minor_change", plan_patches=PATCH)
    said.says("z").understands("same_task_major_change").answers("ask_replan", "continue")
    said.says("?").understands("same_task_no_change", 0.4).answers("ask_unsure", "continue")
    said.says("!").understands("same_task_no_change", 0.4).answers("ask_unsure", "drop")
    said.says("?!").understands("same_task_no_change", 0.4).says("never mind").understands("same_task_no_change")
    said.says("how far?").understands(control("status_query"))
    said.says("other").understands("different_task").answers("ask_new_task", "close_and_start")
    said.says("status").understands(control("status_query"))  # while planning
    said.says("bigger").understands("same_task_major_change").plans(task("a")).approves()
    said.says("?").understands("same_task_no_change", 0.4).answers("ask_unsure", "replan").plans(task("a")).approves()
    finish(said).says("again").understands("different_task").when(CancelTurn(by="alice"))
    said.says("status").understands(control("status_query"))  # nothing is under way
    solving().when(CancelTurn(by="alice")).says("more").understands("different_task")


def failures() -> None:
    """What the planner should know of, and what people decide."""
    solving().task_fails("a", "auth").answers("task_failed", "retry")
    solving().task_fails("a", "auth").answers("task_failed", "replan")
    solving().task_fails("a", "auth").answers("task_failed", "abort")
    solving().when(Replan(feedback="better"))
    planned(make_plan_team(plan=retrying())).rejects()
    plan_given(TEAM).says("x").understands("different_task").when(CancelTurn(by="alice"))
    finish(solving())
    planned(make_plan_team(plan=PlanSettings(confirm="never")))


def evaluations() -> None:
    """The planner says whether its plan still holds."""
    for decision in ("replan", "continue", "ask", "abort"):
        solving().task_fails("a", "auth").evaluates(decision)
    solving().says("bigger").understands("same_task_major_change").evaluates("replan")
    solving().task_fails("a", "auth").when(CancelTurn(by="alice"))
    gave_up = solving(TEAM, task("a"), task("b")).task_fails("a", "auth").answers("task_failed", "abort")
    gave_up.says("again").understands("different_task")


def tasks_and_agents() -> None:
    """The handshake, retries, reviews, leases, cancelling in every state."""
    one = solving(GATED, task("a")).starts("a").steps("a").completes("a")
    one.reviews("a", passes=False).completes("a").reviews("a", passes=True)
    solving(TEAM, task("a")).completes("a")
    solving(TEAM, task("a")).nacks("a").waits().nacks("a", "no_resource").waits()
    late = solving(TEAM, task("a"))
    late.when(ExpireDispatch(dispatch_id=late.dispatch_id("a"))).waits().acks("a")
    late.when(ExpireDispatch(dispatch_id=late.dispatch_id("a")))
    solving(make_plan_team(plan=retrying(0)), task("a")).nacks("a", "no_resource")
    solving(make_plan_team(plan=retrying(0)), task("a")).nacks("a", "busy")
    solving(TEAM, task("a")).task_fails("a").waits().task_fails("a", "auth")
    leased = solving(TEAM, task("a")).acks("a").loses_lease("a").starts("a")
    leased.when(ExpireLease()).starts("a")
    rejected = solving(GATED, task("a"))
    for _ in range(3):
        rejected.completes("a").reviews("a", passes=False)
    waits = PlanPatch(op="modify", task_id="a", changes={"depends_on": ["z"]})
    serial = solving(make_plan_team(worker("w1", concurrency=1)), task("z"), task("a"))
    serial.says("a after z").understands("same_task_minor_change", plan_patches=(waits,))
    breaker()
    cancelling()


def breaker() -> None:
    team = make_plan_team(worker("w1"), plan=retrying(9, base_delay_s=0.0))
    storm = solving(team, task("a"))
    for _ in range(5):
        storm.nacks("a")
    storm.when(ProbeMember(member="w1")).acks("a")


def cancelling() -> None:
    cancel = CancelTask(task_id="a", by="alice")
    team = make_plan_team(worker("w1"), plan=retrying())
    solving(team, task("z"), task("a", "z")).when(cancel)  # CREATED
    serial = make_plan_team(worker("w1", concurrency=1))
    solving(serial, task("z"), task("a")).when(cancel)  # READY
    solving(team, task("a")).when(cancel)  # DISPATCHING
    solving(team, task("a")).nacks("a").when(cancel)  # DISPATCH_FAILED
    solving(team, task("a")).acks("a").when(cancel)  # DISPATCHED
    solving(team, task("a")).starts("a").when(cancel)  # RUNNING
    solving(team, task("a")).task_fails("a").when(cancel)  # EXECUTION_FAILED
    solving(GATED, task("a")).completes("a").when(cancel)  # REVIEWING
    held = solving(GATED, task("a")).starts("a").when(Pause(by="alice"))
    held.completes("a").when(cancel)  # EXECUTION_SUCCEEDED: its review waits for the pause to end


def interrupts() -> None:
    """Pause, and every way on from there."""
    paused(solving()).when(Resume(by="alice"))
    solving().when(Pause(by="alice", trigger="esc"))
    paused(solving()).says("go on").understands("same_task_no_change")
    paused(solving()).says("title").understands("same_task_minor_change", plan_patches=PATCH)
    for choice in ("replan", "continue"):
        paused(solving()).says("bigger").understands("same_task_major_change").answers("ask_replan", choice)
    for choice in ("finish_first", "close_and_start", "drop"):
        paused(solving()).says("other").understands("different_task").answers("ask_new_task", choice)
    paused(solving()).says("?").understands("same_task_no_change", 0.4).answers("ask_unsure", "minor_replan")


def sessions() -> None:
    """Who has the floor, and every way to the end."""
    chat = given(make_chat_team()).says("[NEXT: bob, carol] go").replies("one").replies("two")
    chat.says("[NEXT: zoe] you").says("nobody").says("[DONE] thanks")
    given(make_chat_team()).says("[NEXT: bob, carol] go").fails().says("/retry")
    chat = given(make_chat_team()).says("[NEXT: bob] go").when(Pause(by="alice"))
    chat.when(Resume(by="alice")).when(End(by="alice"))
    given(make_chat_team()).says("hello").when(End(by="alice"))


def connections() -> None:
    """A client's link, from the first try to giving up."""
    greeting = unlogged("system.connected", "2026-01-01T00:00:00.000Z")
    half = ClientHalf(give_up_s=10)
    half.connect(0)
    half.opened(0)
    half.receive(greeting, 0)
    half.lost(1, 0.5)
    half.opened(2)
    half.receive(greeting, 2)
    half.lost(3, 0.5)
    half.tick(20)
    half.connect(21)
    half.lost(22, 0.5)


STORIES = (inputs, failures, evaluations, tasks_and_agents, interrupts, sessions, connections)


@pytest.fixture(scope="module")
def walked() -> Walked:
    seen: Walked = {}
    with ExitStack() as stack:
        for machine in WATCHED:
            stack.enter_context(recorded(machine, seen))
        for story in STORIES:
            story()
    return seen


@pytest.mark.parametrize("machine", WATCHED, ids=lambda machine: machine.name)
def test_the_flow_walks_every_row(machine: Machine[Any, Any], walked: Walked) -> None:
    """Each row is met by a story, or listed with the reason why nothing triggers it."""
    rows = {(str(row.state), str(row.trigger)) for row in machine.rows}
    missed = rows - walked[machine.name]
    assert missed == ONLY_IN_TABLE[machine.name]


def test_every_trigger_of_the_machines_is_fired(walked: Walked, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands of people, members and timers, and what happens to a link, fire every trigger of all seven machines."""
    assert {machine.name for machine in WATCHED} == {machine.name for machine in MACHINES}
    fired = {machine.name: {trigger for _, trigger in walked[machine.name]} for machine in WATCHED}
    known = {machine.name: {str(row.trigger) for row in machine.rows} for machine in WATCHED}
    with capsys.disabled():
        count, total = sum(map(len, fired.values())), sum(map(len, known.values()))
        print(f"\n{count} of {total} triggers fired")
    assert {name: known[name] - fired[name] for name in known} == {name: set() for name in known}


# the ways that people know, state by state


def door(scenario: PlanScenario) -> Door:
    return scenario.state.door.state


def test_an_input_walks_from_idle_to_the_end_of_its_work() -> None:
    """IDLE → SEMANTIC_UNDERSTANDING → (ROUTING_DECISION, NEW_TASK) → PLAN_LOOP → EXECUTION → COMPLETED."""
    scenario = plan_given(TEAM)
    assert door(scenario) is Door.IDLE
    assert door(scenario.says("x")) is Door.SEMANTIC_UNDERSTANDING
    assert door(scenario.understands("different_task")) is Door.PLAN_LOOP
    assert door(scenario.plans(task("a")).approves()) is Door.EXECUTION
    assert door(finish(scenario)) is Door.COMPLETED
    assert door(scenario.says("y")) is Door.SEMANTIC_UNDERSTANDING


def test_a_question_about_an_input_waits_in_the_machine_too() -> None:
    """WAIT_USER_DECISION until the human chooses; the work goes on meanwhile."""
    scenario = solving().says("?").understands("same_task_no_change", 0.4)
    assert door(scenario) is Door.WAIT_USER_DECISION
    assert door(scenario.answers("ask_unsure", "continue")) is Door.EXECUTION
    assert door(scenario.says("other").understands("different_task")) is Door.WAIT_USER_DECISION
    assert door(scenario.answers("ask_new_task", "finish_first")) is Door.EXECUTION
    assert door(scenario.says("bigger").understands("same_task_major_change").evaluates("ask")) is Door.FULL_REPLAN
    assert door(scenario.answers("ask_replan", "continue")) is Door.EXECUTION


def test_an_input_that_comes_while_another_is_on_its_way_walks_alone() -> None:
    """The machine is that of the newest input; every one is understood and routed."""
    scenario = solving().says("bigger").understands("same_task_major_change").evaluates("ask").says("go on")
    assert door(scenario) is Door.SEMANTIC_UNDERSTANDING
    assert door(scenario.understands("same_task_no_change")) is Door.EXECUTION
    assert scenario.step("ask_replan")  # the first is still asked about


def test_the_workflow_tells_each_of_its_moves() -> None:
    """From plan to end, each move one event with its trigger."""
    scenario = finish(solving())
    moves = [(str(move.was), move.trigger, str(move.state)) for move in only(scenario.facts, WorkflowChanged)]
    assert moves == [
        ("None", "new_task", "PLAN_LOOP"),
        ("PLAN_LOOP", "plan_needs_user_confirmation", "WAIT_USER_DECISION"),
        ("WAIT_USER_DECISION", "user_choose_continue", "EXECUTION"),
        ("EXECUTION", "all_done_and_review_passed", "COMPLETED"),
    ]


def test_a_failure_that_others_depend_on_is_evaluated() -> None:
    """EXECUTION → REPLAN_EVALUATION → WAIT_USER_DECISION; a task that nobody needs leaves EXECUTION be."""
    scenario = solving().task_fails("a", "auth")
    assert [move.trigger for move in only(scenario.new, WorkflowChanged)] == ["major_failure"]
    moves = [move.trigger for move in only(scenario.evaluates("ask").new, WorkflowChanged)]
    assert moves == ["user_decision_required"]
    alone = solving(TEAM, task("a"), task("b")).task_fails("a", "auth")
    assert alone.work.status is Flow.EXECUTION
    assert alone.step("task_failed").task_id == "a"


def test_a_task_walks_to_done() -> None:
    """CREATED → READY → DISPATCHING → DISPATCHED → RUNNING → (EXECUTION_SUCCEEDED) REVIEWING → DONE."""
    scenario = solving(GATED, task("z"), task("a", "z"))
    seen = [scenario.state_of("a")]
    scenario.completes("z").reviews("z", passes=True)
    seen.append(scenario.state_of("a"))
    seen += [step("a").state_of("a") for step in (scenario.acks, scenario.starts, scenario.completes)]
    seen.append(scenario.reviews("a", passes=True).state_of("a"))
    assert seen == [
        TaskState.CREATED,
        TaskState.DISPATCHING,
        TaskState.DISPATCHED,
        TaskState.RUNNING,
        TaskState.REVIEWING,
        TaskState.DONE,
    ]


def test_a_slot_walks_with_its_task() -> None:
    """IDLE → RESERVED → RUNNING → ERROR → IDLE, each slot of a member on its own."""
    scenario = solving(make_plan_team(worker("w1")), task("a"), task("b"))

    def slots() -> dict[str, Slot]:
        return dict(scenario.work.slots["w1"].states)

    assert slots() == {"w1#1": Slot.IDLE, "w1#2": Slot.IDLE}
    scenario.acks("a")
    assert slots() == {"w1#1": Slot.RESERVED, "w1#2": Slot.IDLE}
    scenario.starts("a").starts("b")
    assert slots() == {"w1#1": Slot.RUNNING, "w1#2": Slot.RUNNING}
    scenario.task_fails("a").completes("b")
    assert slots() == {"w1#1": Slot.ERROR, "w1#2": Slot.IDLE}
    scenario.waits()
    assert slots() == {"w1#1": Slot.IDLE, "w1#2": Slot.IDLE}


def test_an_interruption_walks_from_pause_to_its_decision() -> None:
    """EXECUTION → PAUSING → PAUSED → WAIT_USER_DECISION → EXECUTION."""
    scenario = solving().starts("a")
    seen = [scenario.when(Pause(by="alice")).state.interrupt, scenario.when(EndGrace()).state.interrupt]
    seen.append(scenario.says("bigger").understands("same_task_major_change").state.interrupt)
    seen.append(scenario.answers("ask_replan", "continue").state.interrupt)
    assert seen == [Interrupt.PAUSING, Interrupt.PAUSED, Interrupt.WAIT_USER_DECISION, Interrupt.EXECUTION]
