"""What can happen to a session of the plan flow, for properties: moves that are made up without knowing the session
and aimed at it when they are played: at one of its tasks, turns, questions, timers."""

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from moot.core.effects import Deadline, LeaseCheck, RunTask, RunTurn, StepDeadline, Understand
from moot.core.flows.plan import plan_commands
from moot.core.flows.plan.jobs import REVIEWS
from moot.core.flows.plan.plan_slice import PlanSlice, find_work
from moot.core.intake.intent import IntentAnalysis, PlanPatch
from moot.core.machines.interrupt import STOPPED
from moot.core.machines.task import TaskState
from moot.core.outstanding import outstanding
from moot.core.session import commands
from moot.core.session.commands import Command
from moot.core.session.events import StepAsked
from moot.core.session.state import State
from moot.core.session.usage import Usage
from moot.testing import analyse, control, task

T = TypeVar("T")


class Move(Struct, frozen=True):
    """`kind` says what, `at` which of several, `given` with what."""

    kind: str
    at: int = 0
    given: Any = None


def weighted(*choices: tuple[int, st.SearchStrategy[T]]) -> st.SearchStrategy[T]:
    return st.sampled_from([strategy for weight, strategy in choices for _ in range(weight)]).flatmap(lambda one: one)


DECISIONS = ("ask", "replan", "continue", "abort", "nonsense")
numbers = st.integers(0, 7)
words = st.sampled_from(
    ["go on", "shorter", "also in blue", "\x1b[2Jevil\u202e", "", "[TEAM_TASK: win] x", "[NEXT: w1] x"]
)
ids = st.sampled_from(["a", "b", "c", "d", "e", "nope"])
documents = st.builds(
    lambda name, needed, fields: task(name, *needed, **fields),
    st.sampled_from(["a", "b", "c", "d", "e"]),
    st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=2),
    st.sampled_from([{}, {}, {}, {"member": "w1"}, {"role": "executor"}, {"member": "ghost"}, {"x": {"y": [1, None]}}]),
)


def _tidy(plan: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Most plans must be sound: each id once, dependencies only on those before."""
    known: dict[str, dict[str, Any]] = {}
    for each in plan:
        if each["id"] not in known:
            known[each["id"]] = {**each, "depends_on": [needed for needed in each["depends_on"] if needed in known]}
            known[each["id"]].pop("member", None)
    return list(known.values())


sound_plans = st.lists(documents, min_size=1, max_size=5).map(_tidy)
plans: st.SearchStrategy[Any] = weighted(
    (8, sound_plans), (1, st.lists(documents, max_size=4)), (1, st.sampled_from([None, "prose", [7], {}]))
)
patches = st.builds(
    PlanPatch,
    op=st.sampled_from(["add", "modify", "modify", "remove", "reorder"]),
    task_id=ids,
    changes=st.sampled_from(
        [
            {"title": "New"},
            {"title": "New", "objective": "blue"},
            {"after": None},
            {"after": "a"},
            {},
            {"depends_on": ["a"]},
        ]
    ),
)
patch_lists = st.lists(patches, max_size=2).map(tuple)
confidences = st.sampled_from([0.95, 0.95, 0.95, 0.65, 0.3, 1.7])
analyses: st.SearchStrategy[IntentAnalysis] = weighted(
    (
        6,
        st.builds(
            analyse,
            st.sampled_from(
                ["same_task_no_change", "same_task_minor_change", "same_task_major_change", "different_task"]
            ),
            confidences,
        ),
    ),
    (2, st.builds(lambda them: analyse("same_task_minor_change", plan_patches=them), patch_lists)),
    (1, st.builds(lambda: analyse("same_task_no_change", must_confirm=True))),
    (1, st.builds(lambda: analyse("different_task", clarification="what?"))),
    (3, st.builds(control, st.sampled_from(["pause", "resume", "cancel", "status_query"]), confidences)),
)
errors = st.sampled_from(["network", "timeout", "validation", "agent", "auth", "weird\x00"])
costs = st.sampled_from([Usage(), Usage(input_tokens=30, cost_usd=0.1)])
answers = st.fixed_dictionaries(
    {},
    optional={
        "confirmed": st.booleans(),
        "answer": st.sampled_from(["w2", "ghost", "make it blue", ""]),
        "tasks": plans.map(lambda plan: tuple(plan) if isinstance(plan, list) else (plan,)),
    },
)
outcomes = st.tuples(analyses, sound_plans, patch_lists, st.sampled_from([True, True, False]), errors, numbers)
moves: st.SearchStrategy[Move] = weighted(
    (60, st.builds(Move, st.just("go"), st.integers(0, 31), outcomes)),
    (4, st.builds(Move, st.just("say"), numbers, words)),
    (5, st.builds(Move, st.just("understand"), numbers, analyses)),
    (5, st.builds(Move, st.just("plan"), numbers, plans)),
    (2, st.builds(Move, st.just("patch"), numbers, patch_lists)),
    (3, st.builds(Move, st.just("review"), numbers, st.sampled_from([True, True, False, None]))),
    (2, st.builds(Move, st.sampled_from(["review_plan", "review_answer"]), numbers, st.booleans())),
    (2, st.builds(Move, st.just("evaluate"), numbers, st.sampled_from(DECISIONS))),
    (3, st.builds(Move, st.just("aggregate"), numbers, costs)),
    (3, st.builds(Move, st.just("fail turn"), numbers, errors)),
    (6, st.builds(Move, st.just("ack"), numbers)),
    (2, st.builds(Move, st.just("nack"), numbers)),
    (6, st.builds(Move, st.just("start"), numbers)),
    (2, st.builds(Move, st.just("step"), numbers, st.sampled_from([None, 0, 1, 5, -3, 10**30]))),
    (8, st.builds(Move, st.just("complete"), numbers, costs)),
    (3, st.builds(Move, st.just("fail"), numbers, errors)),
    (2, st.builds(Move, st.just("lose"), numbers)),
    (1, st.builds(Move, st.just("restart server"))),
    (7, st.builds(Move, st.just("timer"), numbers)),
    (8, st.builds(Move, st.just("choose"), numbers, st.tuples(numbers, answers))),
    (2, st.builds(Move, st.just("answer"), numbers, answers)),
    (5, st.builds(Move, st.just("human"), numbers, ids)),
    (2, st.builds(Move, st.just("wrong timer"), numbers)),
    (1, st.builds(Move, st.just("solve"), numbers, plans)),
)


# a member that takes nothing, until its breaker opens and its probe fails; everything else stands still meanwhile
_tasks = [task(name, member="w1") for name in "abcdefg"]
storm = [Move("solve", 0, _tasks), *[Move("nack")] * 6, *[Move("wait over", at) for at in range(3)], Move("nack")]
# a change that the rules know, and one that the planner makes
_change = PlanPatch(op="modify", task_id="b", changes={"title": "New"})
changed = [
    Move("solve", 0, [task("a"), task("b", "a")]),
    Move("understand", 0, analyse("same_task_minor_change", plan_patches=(_change,))),
    Move("say", 0, "and shorter"),
    Move("understand", 0, analyse("same_task_minor_change")),
    Move("patch", 0, (_change,)),
]
# a plan that comes to its answer
finished = [
    Move("solve", 0, [task("a")]),
    *(Move(kind) for kind in ("ack", "start")),
    Move("complete", 0, Usage()),
    Move("review", 0, True),
    Move("aggregate", 0, Usage()),
    Move("review_answer", 0, True),
]
# a change so large that the planner weighs it, and plans again
replanned = [
    Move("solve", 0, [task("a"), task("b", "a")]),
    Move("understand", 0, analyse("same_task_major_change")),
    Move("evaluate", 0, "replan"),
]
histories = st.builds(
    lambda first, rest: [*first, *rest],
    st.sampled_from([[], [], storm, changed, finished, replanned]),
    st.lists(moves, min_size=25, max_size=70),
)


def pick(choices: Sequence[T], at: int) -> T | None:
    return choices[at % len(choices)] if choices else None


def aim(move: Move, now: State) -> Command:
    """The command that a move is in this state; one that finds no target is stale."""
    people = [*now.team.humans]
    by = people[move.at % len(people)].id
    match move.kind:
        case "go":
            return _go_on(move, now, by)
        case "say":
            return commands.Post(text=move.given, by=by)
        case "understand":
            said = pick(now.door.inputs, move.at)
            return commands.ReportUnderstanding(input_id=said.input_id if said else "i0", analysis=move.given)
        case "choose" | "answer":
            return _aim_answer(move, now, by)
        case "human":
            return _human(move, by)
        case "solve":
            plan = move.given if isinstance(move.given, list) else [move.given]
            return plan_commands.SolveTasks(tasks=tuple(plan), by=by)
        case "timer":
            due = [each for each in outstanding(now) if isinstance(each, Deadline | LeaseCheck | StepDeadline)]
            found = pick(due, move.at)
            return found.command if found else plan_commands.EndWait(number=99)
        case "wait over":
            waits = [
                each for each in outstanding(now) if isinstance(each, Deadline) and each.key[:4] in ("wait", "prob")
            ]
            over = pick(waits, move.at)
            return over.command if over else plan_commands.EndWait(number=99)
        case "plan" | "patch" | "evaluate" | "review" | "review_plan" | "review_answer" | "aggregate" | "fail turn":
            return _aim_turn(move, now)
        case _:
            return _aim_dispatch(move, now)


def _go_on(move: Move, now: State, by: str) -> Command:
    """Something that is due: the search would hardly ever get to the end of a plan without it."""
    analysis, plan, patched, passes, error, number = move.given
    patched = _sound_patches(now) or patched if number % 2 else patched
    due: list[Command] = []
    for effect in outstanding(now):
        match effect:
            case Understand(input=said):
                due.append(commands.ReportUnderstanding(input_id=said.input_id, analysis=analysis))
            case RunTurn(turn=turn):
                kind = turn.job if move.at % 8 else "fail turn"
                given = {"plan": plan, "patch": patched, "aggregate": Usage(), "fail turn": error}
                given |= dict.fromkeys(REVIEWS, passes) | {"evaluate": DECISIONS[number % len(DECISIONS)]}
                thought = commands.ReportStep(turn_id=turn.turn_id, thought="hm")
                due += [_aim_turn(Move(kind, given=given[kind]), replace(now, running=(turn,))), thought]
            case RunTask(dispatch_id=dispatch_id):
                due += [next_of_task(state_of(now, dispatch_id), dispatch_id)] * 3 + _trouble_of_task(
                    state_of(now, dispatch_id), dispatch_id, error
                )
            case Deadline():
                due.append(effect.command)
            case _:
                pass
    for step in now.open_steps.values():
        option = pick(step.options, number if step.code != "confirm_plan" else number // 7)
        due.append(
            commands.Answer(
                step_id=step.step_id, by=by, choice=option.id if option else None, answer=None if option else "x"
            )
        )
    if now.interrupt in STOPPED:
        due.append(commands.Resume(by=by))
    return pick(due, move.at) or commands.Post(text="write another report", by=by)


def _sound_patches(now: State) -> tuple[PlanPatch, ...]:
    """One for the last task that is not over yet: patches that are made up rarely fit."""
    left = (
        [task_id for task_id, run in now.part(PlanSlice).current.tasks.items() if not run.is_over]
        if find_work(now)
        else []
    )
    return tuple(PlanPatch(op="modify", task_id=task_id, changes={"title": "New"}) for task_id in left[-1:])


def state_of(now: State, dispatch_id: str) -> TaskState:
    """Where the task of a dispatch stands."""
    work = now.part(PlanSlice).current
    return work.tasks[work.dispatches[dispatch_id]].state


def next_of_task(state: TaskState, dispatch_id: str) -> Command:
    """What a worker that does its best says next."""
    match state:
        case TaskState.DISPATCHING:
            return commands.AckDispatch(dispatch_id=dispatch_id)
        case TaskState.DISPATCHED:
            return commands.StartTask(dispatch_id=dispatch_id)
        case _:
            return commands.CompleteTurn(turn_id=dispatch_id, text="done")


def _trouble_of_task(state: TaskState, dispatch_id: str, error: str) -> list[Command]:
    match state:
        case TaskState.DISPATCHING:
            return [commands.NackDispatch(dispatch_id=dispatch_id, reason="no_resource")]
        case TaskState.DISPATCHED:
            return []
        case _:
            step = commands.ReportStep(turn_id=dispatch_id, action="look", total=2)
            return [step, commands.FailTurn(turn_id=dispatch_id, error_type=error, message="boom")]


def _aim_turn(move: Move, now: State) -> Command:
    turn = pick([each for each in now.running if move.kind in (each.job, "fail turn")], move.at)
    turn_id = turn.turn_id if turn else "t0"
    match move.kind:
        case "plan" if isinstance(move.given, str):
            return commands.CompleteTurn(turn_id=turn_id, text=move.given)
        case "plan":
            return commands.CompleteTurn(turn_id=turn_id, text="", plan={"summary": "s", "tasks": move.given})
        case "patch":
            return commands.CompleteTurn(turn_id=turn_id, text="", patches=move.given)
        case "review" | "review_plan" | "review_answer":
            verdict = None if move.given is None else {"pass": move.given, "feedback": "better"}
            return commands.CompleteTurn(turn_id=turn_id, text="looks odd", review=verdict)
        case "evaluate":
            return commands.CompleteTurn(turn_id=turn_id, text="", evaluation={"decision": move.given})
        case "aggregate":
            return commands.CompleteTurn(turn_id=turn_id, text="the answer", usage=move.given)
        case _:
            return commands.FailTurn(turn_id=turn_id, error_type=move.given, message="boom", retry_after_s=2.0)


def _aim_dispatch(move: Move, now: State) -> Command:
    dispatch_id = pick(list(now.part(PlanSlice).current.dispatches) if find_work(now) else [], move.at) or "d0"
    match move.kind:
        case "ack":
            return commands.AckDispatch(dispatch_id=dispatch_id)
        case "nack":
            return commands.NackDispatch(dispatch_id=dispatch_id, reason="busy")
        case "start":
            return commands.StartTask(dispatch_id=dispatch_id)
        case "step":
            return commands.ReportStep(turn_id=dispatch_id, thought="hm", total=move.given)
        case "complete":
            return commands.CompleteTurn(turn_id=dispatch_id, text="done", usage=move.given)
        case "fail":
            return commands.FailTurn(turn_id=dispatch_id, error_type=move.given, message="boom")
        case "lose":
            return commands.ExpireLease(dispatch_id=dispatch_id)
        case "restart server":
            return commands.ExpireLease()
        case _:
            wrong: list[Command] = [
                commands.ExpireDispatch(dispatch_id=dispatch_id),
                commands.ExpireTurn(turn_id=dispatch_id),
                plan_commands.EndWait(number=move.at),
                plan_commands.ProbeMember(member="w1"),
                plan_commands.ProbeMember(member="ghost"),
                plan_commands.EndGrace(),
                commands.ExpireStep(step_id="confirm_plan_p1"),
            ]
            return wrong[move.at % len(wrong)]


def _aim_answer(move: Move, now: State, by: str) -> Command:
    step: StepAsked | None = pick(list(now.open_steps.values()), move.at)
    if step is None:
        return commands.Answer(step_id="confirm_plan_p1", by=by, confirmed=True)
    if move.kind == "answer":
        return commands.Answer(step_id=step.step_id, by=by, **move.given)
    at, fields = move.given
    option = pick(step.options, at)
    text = fields.get("answer") or ("more" if option is None else None)
    return commands.Answer(step_id=step.step_id, by=by, choice=option.id if option else None, answer=text)


def _human(move: Move, by: str) -> Command:
    some: list[Command] = [
        commands.Pause(by=by),
        commands.Resume(by=by),
        commands.Retry(by=by),
        commands.CancelTurn(by=by),
        plan_commands.CancelTask(task_id=move.given, by=by),
        plan_commands.RestartTask(task_id=move.given, by=by),
        plan_commands.Replan(feedback="again", by=by),
        plan_commands.CancelPlan(by=by) if move.given == "a" else commands.Post(text="/status", by=by),
    ]
    return some[move.at % len(some)]
