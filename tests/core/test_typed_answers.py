"""What a person types while a question is open may be its answer."""

from typing import Any

import pytest

from moot.core.session.commands import Answer, AskHuman, Post
from moot.core.session.events import MessagePosted, NoticePosted, Option, StepAsked, StepClosed
from moot.core.session.team import Team
from moot.core.session.typed_answers import read_answer, takes_text
from moot.testing.scenario import Scenario, given
from tests.core.teams import make_chat_team, only


def question(*ids: str, **fields: Any) -> StepAsked:
    options = tuple(Option(id=each, label=each.title()) for each in ids)
    named = {"kind": "decision", **fields}
    return StepAsked(step_id="s1", options=options, expires_at=None, default=None, **named)


PLAN = question("approve", "reject", kind="plan", code="confirm_plan")
FAILED = question("retry", "skip", "abort", code="task_failed")
PICK = question("red", "green", "blue", kind="ask_user", selection="multiple")


@pytest.mark.parametrize(
    ("asked", "typed", "fields"),
    [
        (PLAN, "approve", {"confirmed": True}),
        (PLAN, "批准", {"choice": "approve"}),
        (PLAN, "Approve.", {"confirmed": True}),
        (PLAN, "yes", {"confirmed": True}),
        (PLAN, "Go  ahead!", {"confirmed": True}),
        (PLAN, "好的。", {"confirmed": True}),
        (PLAN, "不行", {"confirmed": False}),
        (PLAN, "2", {"choice": "reject"}),
        (PLAN, "２", {"choice": "reject"}),
        (PLAN, "(2)", {"choice": "reject"}),
        (PLAN, "（2）", {"choice": "reject"}),
        (PLAN, "2)", {"choice": "reject"}),
        (PLAN, "2.", {"choice": "reject"}),
        (PLAN, "②", {"choice": "reject"}),
        (PLAN, "#2", {"choice": "reject"}),
        (PLAN, "Option 2", {"choice": "reject"}),
        (PLAN, "第二个", {"choice": "reject"}),
        (PLAN, "选2", {"choice": "reject"}),
        (PLAN, "(3)", None),
        (PLAN, "(0)", None),
        (PLAN, "2 of them are wrong", None),
        (PLAN, "Yes, go ahead", {"confirmed": True}),
        (PLAN, "好的，批准", {"confirmed": True}),
        (PLAN, "yes, but shorter", None),
        (PLAN, "yes, no", None),
        (PLAN, ",", None),
        (PLAN, "3", None),
        (FAILED, "try again", {"choice": "retry"}),
        (FAILED, "Go on without it", {"choice": "skip"}),
        (FAILED, "skip", {"choice": "skip"}),
        (FAILED, "yes", None),
        (PICK, "1, 3", {"selected_ids": ("red", "blue")}),
        (PICK, "(1) (3)", {"selected_ids": ("red", "blue")}),
        (PICK, "1) and 3)", None),
        (PICK, "Green", {"choice": "green"}),
        (PICK, "1, 7", None),
    ],
)
def test_what_is_typed_names_an_option(asked: StepAsked, typed: str, fields: dict[str, Any] | None) -> None:
    """An id, a number, a label in either language; yes and no only to what asks for a confirmation."""
    assert read_answer(asked, typed) == fields


def test_which_questions_take_any_text() -> None:
    """Those without options, those that say so, and an agent's question that selects nothing."""
    assert takes_text(question(kind="ask_user"))
    assert takes_text(question("a", kind="ask_user", allow_custom_input=True))
    assert not takes_text(PICK)
    assert not takes_text(PLAN)


def asking(*keys: str, team: Team | None = None) -> Scenario:
    """A chat in which Bob waits for permissions."""
    scenario = given(team or make_chat_team(("alice", "adam"))).says("[NEXT: bob] go", by="alice")
    turn_id = scenario.state.running[0].turn_id
    return scenario.when(*(AskHuman(turn_id=turn_id, key=key, question=f"rm {key}") for key in keys))


def test_yes_answers_the_open_question_and_is_no_message() -> None:
    """The question is closed by the one who typed it."""
    scenario = asking("a").says("yes", by="adam")
    (closed,) = only(scenario.new, StepClosed)
    assert (closed.outcome, closed.by, closed.confirmed, closed.choice) == ("answered", "adam", True, "allow")
    assert not only(scenario.new, MessagePosted)


@pytest.mark.parametrize("text", ["yes please do", "@Carol yes", "[NEXT: carol] yes", "yes [TEAM_TASK: win]"])
def test_other_text_markers_and_mentions_are_messages(text: str) -> None:
    """The question stays open, and the text goes where it would go without it."""
    scenario = asking("a").says(text, by="alice")
    assert only(scenario.new, MessagePosted)
    assert len(scenario.state.open_steps) == 1


def test_the_question_that_is_looked_at_is_answered() -> None:
    """`step_id` of the message says which; the other stays open."""
    scenario = asking("a", "b")
    first, second = scenario.state.open_steps
    scenario.when(Post(text="no", by="alice", step_id=second))
    assert list(scenario.state.open_steps) == [first]


def test_a_text_that_fits_several_questions_answers_none() -> None:
    """A notice lists them."""
    scenario = asking("a", "b").says("yes", by="alice")
    (notice,) = only(scenario.new, NoticePosted)
    assert (notice.code, notice.detail, len(notice.names)) == ("several_questions", "yes", 2)
    assert len(scenario.state.open_steps) == 2
    assert not only(scenario.new, MessagePosted)


def test_a_question_to_somebody_else_is_not_answered() -> None:
    """Who clears the queue was asked; what another human types is a message."""
    scenario = given(make_chat_team(("alice", "adam"))).says("[NEXT: bob, carol] go", by="alice").fails()
    scenario.says("/queue clear", by="alice").says("yes", by="adam")
    assert [step.code for step in scenario.state.open_steps.values()] == ["confirm_queue_clear"]
    scenario.says("好", by="alice")
    assert not scenario.state.open_steps


def test_nothing_expires_by_default() -> None:
    """A team that sets a time gets a deadline."""
    assert next(iter(asking("a").state.open_steps.values())).expires_at is None
    team = Team(name="t", members=make_chat_team(("alice", "adam")).members, permission_timeout_s=300)
    limited = next(iter(asking("a", team=team).state.open_steps.values()))
    assert limited.expires_at == "2026-01-01T00:05:00.000Z"


def test_an_answer_by_its_step_still_works() -> None:
    """Buttons send `user.response`."""
    scenario = asking("a")
    (step_id,) = scenario.state.open_steps
    assert not scenario.when(Answer(step_id=step_id, confirmed=False, by="alice")).state.open_steps
