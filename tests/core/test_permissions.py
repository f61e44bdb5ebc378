"""A worker asks people in the middle of its turn."""

from collections.abc import Callable

import pytest

from moot.config.loading import load_team
from moot.core import limits
from moot.core.effects import Deadline, DeliverAnswer, RunTurn
from moot.core.flows.plan.plan_commands import CancelPlan, CancelTask, EndGrace, Replan, RestartTask
from moot.core.flows.registry import show
from moot.core.machines.session import Status
from moot.core.outstanding import outstanding
from moot.core.session.commands import (
    TOO_MANY_QUESTIONS,
    Answer,
    AskHuman,
    CancelTurn,
    Command,
    CompleteTurn,
    End,
    ExpireLease,
    ExpireStep,
    ExpireTurn,
    FailTurn,
    Pause,
    Post,
    Resume,
)
from moot.core.session.events import NoticePosted, Option, StepAsked, StepClosed, TurnFailed
from moot.core.session.permissions import name_step
from moot.core.states import decode, encode
from moot.testing.scenario import AT, Scenario, given
from moot.testing.supervisor_scenario import supervisor_given
from tests.core.plan_teams import planned, solving
from tests.core.teams import make_chat_team, only

OPTIONS = (Option(id="once", label="Allow once"), Option(id="always", label="Always"), Option(id="no", label="No"))


def ask(turn_id: str, key: str = "c1") -> AskHuman:
    return AskHuman(turn_id=turn_id, key=key, question="rm -r build", options=OPTIONS, default="no")


def chat() -> tuple[Scenario, str]:
    return given(make_chat_team()).says("[NEXT: bob, carol] go"), "t1"


def plan_turn() -> tuple[Scenario, str]:
    scenario = planned().rejects().says("another report").understands("different_task")
    return scenario, scenario.turn("plan").turn_id


def plan_task() -> tuple[Scenario, str]:
    scenario = solving().starts("a")
    return scenario, scenario.dispatch_id("a")


def supervised() -> tuple[Scenario, str]:
    scenario = supervisor_given(load_team("content-studio-demo")).starts("a post").decides("writer_agent")
    return scenario, scenario.turn.turn_id


Place = Callable[[], tuple[Scenario, str]]
PLACES: list[Place] = [chat, plan_turn, plan_task, supervised]
everywhere = pytest.mark.parametrize("place", PLACES)


def asking(place: Place = chat) -> tuple[Scenario, str]:
    scenario, turn_id = place()
    return scenario.when(ask(turn_id)), turn_id


def keys(scenario: Scenario) -> list[str]:
    return [effect.key for effect in outstanding(scenario.state)]


def delivered(scenario: Scenario) -> list[str | None]:
    return [each.choice for each in outstanding(scenario.state) if isinstance(each, DeliverAnswer)]


@everywhere
def test_a_question_is_put_and_the_session_goes_on(place: Place) -> None:
    """It says who wants what and what can be answered, and waits for ever; nobody gets the floor because of it."""
    scenario, turn_id = asking(place)
    (question,) = only(scenario.then("agent.user_confirm").new, StepAsked)
    assert (question.step_id, question.kind) == (name_step(turn_id, "c1"), "tool")
    assert (question.turn_id, question.options, question.default, question.code) == (turn_id, OPTIONS, "no", "")
    assert question.expires_at is None
    assert (show(question, "en") or "").endswith(" asks for permission: rm -r build")
    assert (show(question, "zh") or "").endswith(" 请求许可：rm -r build")
    assert scenario.state.status is Status.ACTIVE


@everywhere
@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ({"confirmed": True}, "once"),
        ({"confirmed": False}, "no"),
        ({"choice": "always"}, "always"),
        ({"confirmed": False, "choice": "once"}, "once"),
    ],
)
def test_the_answer_goes_to_the_worker(place: Place, said: dict[str, str | bool], choice: str) -> None:
    """Yes is the first option, no the default, a choice itself; nothing else follows, the turn runs on."""
    scenario, turn_id = asking(place)
    before = keys(scenario)
    step_id = name_step(turn_id, "c1")
    scenario.when(Answer(step_id=step_id, **said)).then("agent.user_confirm_closed")  # type: ignore[arg-type]
    assert only(scenario.new, StepClosed)[0].choice == choice
    assert delivered(scenario) == [choice]
    after = {f"deadline:{turn_id}", f"answer:{turn_id}:{step_id}"}
    assert set(keys(scenario)) == {*before, *after} - {f"step:{step_id}"}
    assert scenario.state.status is Status.ACTIVE


@everywhere
def test_no_answer_is_a_no(place: Place) -> None:
    """After its time the question is closed and the worker is told the default."""
    scenario, turn_id = asking(place)
    scenario.when(ExpireStep(step_id=name_step(turn_id, "c1"))).then("agent.user_confirm_closed")
    assert delivered(scenario) == ["no"]


def test_the_turn_s_time_does_not_count_while_it_waits() -> None:
    """The deadline is put off while a question is open and starts again with its answer; the worker runs."""
    scenario, _ = asking()
    assert [type(effect) for effect in outstanding(scenario.state)] == [RunTurn]
    scenario.when(ask("t1", "c2"), Answer(step_id=name_step("t1", "c1"), confirmed=True))
    assert [type(effect) for effect in outstanding(scenario.state)] == [RunTurn, DeliverAnswer]
    scenario.when(Answer(step_id=name_step("t1", "c2"), confirmed=True))
    assert [type(each) for each in outstanding(scenario.state)] == [RunTurn, Deadline, DeliverAnswer, DeliverAnswer]


@everywhere
def test_the_same_question_is_put_once(place: Place) -> None:
    """A turn that a crash made run again asks again: open or answered, it is the same question; another key is not."""
    scenario, turn_id = asking(place)
    scenario.when(ask(turn_id)).then()
    scenario.when(Answer(step_id=name_step(turn_id, "c1"), choice="once"), ask(turn_id)).then()
    scenario.state = decode(encode(scenario.state))
    assert delivered(scenario.when(ask(turn_id)).then()) == ["once"]
    scenario.when(ask(turn_id, "c2")).then("agent.user_confirm")


@everywhere
def test_only_who_is_at_work_may_ask(place: Place) -> None:
    """A question for a turn that is over, or never was, comes too late."""
    scenario, turn_id = place()
    scenario.when(ask("t99")).refused("stale_turn")
    scenario.when(FailTurn(turn_id=turn_id, error_type="config", message="x"), ask(turn_id)).refused("stale_turn")


def test_a_task_that_nobody_started_asks_nothing() -> None:
    """An offer is no work."""
    scenario = solving()
    scenario.when(ask(scenario.dispatch_id("a"))).refused("stale_turn")


# what ends a turn or a dispatch, by its id
ENDS: dict[str, Callable[[str], list[Command]]] = {
    "completed": lambda turn_id: [CompleteTurn(turn_id=turn_id, text="done")],
    "failed": lambda turn_id: [FailTurn(turn_id=turn_id, error_type="network", message="x")],
    "late": lambda turn_id: [ExpireTurn(turn_id=turn_id)],
    "cancelled": lambda _: [CancelTurn()],
    "ended": lambda _: [End()],
    "done": lambda _: [Post(text="[DONE]")],
}
TASK_ENDS: dict[str, Callable[[str], list[Command]]] = {
    "lost": lambda dispatch_id: [ExpireLease(dispatch_id=dispatch_id)],
    "restarted": lambda _: [ExpireLease()],
    "task_cancelled": lambda _: [CancelTask(task_id="a")],
    "task_restarted": lambda _: [RestartTask(task_id="a")],
    "plan_cancelled": lambda _: [CancelPlan()],
    "replanned": lambda _: [Replan(feedback="shorter")],
    "paused": lambda _: [Pause(), EndGrace()],
}


@pytest.mark.parametrize(
    ("place", "end"),
    [*((place, end) for place in PLACES for end in ENDS), *((plan_task, end) for end in TASK_ENDS)],
)
def test_whatever_ends_a_turn_withdraws_its_questions(place: Place, end: str) -> None:
    """Completed, failed, cancelled, late, its lease lost, the session over: superseded, once, and told to nobody."""
    scenario, turn_id = asking(place)
    scenario.when(ask(turn_id, "c2")).when(*(ENDS | TASK_ENDS)[end](turn_id))
    assert scenario.refusal is None
    closed = [(each.step_id, each.outcome) for each in only(scenario.new, StepClosed)]
    assert closed == [(name_step(turn_id, key), "superseded") for key in ("c1", "c2")]
    assert delivered(scenario) == []
    scenario.when(Answer(step_id=name_step(turn_id, "c1"), confirmed=True))
    assert scenario.refusal


def test_a_turn_that_is_paused_keeps_its_question() -> None:
    """It begins again with the same id, asks again, and finds what was answered meanwhile."""
    scenario, turn_id = asking(plan_turn)
    scenario.when(Pause(), EndGrace())
    assert delivered(scenario.when(Answer(step_id=name_step(turn_id, "c1"), choice="always"))) == []
    scenario.when(Resume())
    assert delivered(scenario.when(ask(turn_id)).then()) == ["always"]


def test_a_question_without_options_is_yes_or_no() -> None:
    """They are called allow and reject, in the language of the session."""
    scenario = given(make_chat_team(language="zh")).says("[NEXT: bob] go")
    scenario.when(AskHuman(turn_id="t1", key="k", question="?"))
    (question,) = only(scenario.new, StepAsked)
    assert question.options == (Option(id="allow", label="允许"), Option(id="reject", label="拒绝"))
    assert delivered(scenario.when(Answer(step_id=question.step_id, confirmed=False))) == ["reject"]


@pytest.mark.parametrize(
    "said", [Answer(step_id="?"), Answer(step_id="?", choice="x"), Answer(step_id="?", answer="y")]
)
def test_an_answer_that_does_not_fit_leaves_the_question_open(said: Answer) -> None:
    """Only an option that was offered, or a plain yes or no, counts."""
    scenario, turn_id = asking()
    step_id = name_step(turn_id, "c1")
    scenario.when(Answer(step_id=step_id, choice=said.choice, answer=said.answer)).refused("bad_answer")
    scenario.when(Answer(step_id=step_id, choice="no"), Answer(step_id=step_id, choice="once"))
    scenario.refused("already_answered")


def test_what_a_worker_asks_is_untrusted() -> None:
    """Control characters go, lengths are bounded, options that cannot be shown or are there twice are left out."""
    odd = [Option(id="\x1b[2Jx", label="x"), Option(id=" ", label="y"), *OPTIONS, *OPTIONS]
    many = [Option(id=f"o{n}", label="\x1b[31m" + "l" * 500) for n in range(50)]
    scenario, _ = chat()
    scenario.when(AskHuman(turn_id="t1", key="\ud800", question="\x1b[2J" + "q" * 20_000, options=(*odd, *many)))
    (question,) = only(scenario.new, StepAsked)
    assert [option.id for option in question.options][:4] == ["once", "always", "no", "o0"]
    assert len(question.options) <= limits.OPTIONS
    assert all(option.label[0] != "\x1b" and len(option.label) < 300 for option in question.options)
    assert question.question.startswith("qqq")
    assert len(question.question) < limits.QUESTION_CHARS + 100
    assert question.default is None


@everywhere
def test_a_turn_that_never_stops_asking_fails(place: Place) -> None:
    """A bound on everything: each question puts off the deadline."""
    scenario, turn_id = place()
    for n in range(limits.PERMISSIONS):
        scenario.when(ask(turn_id, f"{n}"), Answer(step_id=name_step(turn_id, f"{n}"), confirmed=True))
    scenario.when(ask(turn_id, "0")).then()
    scenario.when(ask(turn_id, "more"))
    assert not scenario.state.is_under_way(turn_id)
    if place is chat:
        assert only(scenario.new, TurnFailed)[0].error_type == TOO_MANY_QUESTIONS
        [told] = only(scenario.new, NoticePosted)
        assert show(told, "zh") == "Agent Bob 请求许可的次数过多，已停止"


def test_answers_of_turns_that_are_over_are_forgotten() -> None:
    """The state stays small however long the session gets."""
    scenario, _ = asking()
    scenario.when(Answer(step_id=name_step("t1", "c1"), confirmed=True)).replies("[NEXT: carol] done")
    scenario.when(ask("t2"), Answer(step_id=name_step("t2", "c1"), confirmed=True), at=AT)
    assert [reply.turn_id for reply in scenario.state.replies.values()] == ["t2"]
