"""Questions that wait for one answer."""

import pytest

from moot.core.decide import decide
from moot.core.errors import Refused
from moot.core.evolve import evolve
from moot.core.facts import Fact
from moot.core.session.commands import Answer, End, ExpireStep
from moot.core.session.events import Option, SessionPaused, StepAsked, StepClosed
from moot.core.session.state import State
from moot.testing.scenario import AT, Scenario, given
from tests.core.teams import make_chat_team, only

TEAM = make_chat_team(("alice", "adam"))
STEP = "confirm_queue_clear_1"
BEFORE, DEADLINE, AFTER = "2026-01-01T00:04:59.999Z", "2026-01-01T00:05:00.000Z", "2026-01-01T00:05:00.001Z"


def asked() -> Scenario:
    """Bob acts, Carol and Dave wait, Alice asks to clear the queue."""
    return given(TEAM).says("[NEXT: bob, carol, dave] go", by="alice").says("/queue clear", by="alice")


def with_deadline() -> State:
    """A question that expires."""
    question: Fact = StepAsked(
        step_id="s1", kind="decision", options=(Option(id="a", label="A"),), expires_at=DEADLINE, default="a"
    )
    return evolve(given(TEAM).state, question)


def test_the_question_says_who_asked_and_what_can_be_answered() -> None:
    """step_id, kind, options; the notice catalogue has the words."""
    question = only(asked().new, StepAsked)[0]
    assert (question.step_id, question.kind, question.asked_by) == (STEP, "decision", "alice")
    assert question.options == (Option(id="clear", label="Clear the queue"), Option(id="keep", label="Keep it"))
    assert (question.expires_at, question.default, question.code) == (None, None, "confirm_queue_clear")


def test_options_are_labelled_in_the_language_of_the_session() -> None:
    """People read the options in their language."""
    scenario = given(make_chat_team(language="zh")).says("[NEXT: bob, carol] go").says("/queue clear")
    assert [option.label for option in only(scenario.new, StepAsked)[0].options] == ["清空", "保留"]


@pytest.mark.parametrize(("confirmed", "choice"), [(True, None), (None, "clear"), (False, "clear")])
def test_agreeing_clears_the_queue(confirmed: bool | None, choice: str | None) -> None:
    """Confirmed or chosen, the queue is emptied; the running turn goes on."""
    scenario = asked().when(Answer(step_id=STEP, by="adam", confirmed=confirmed, choice=choice))
    scenario.then("agent.user_confirm_closed", "queue.changed")
    assert (scenario.state.slice.queue[0], scenario.queue) == ("bob", [])
    assert only(scenario.new, StepClosed)[0].by == "adam"


@pytest.mark.parametrize(("confirmed", "choice"), [(False, None), (None, "keep"), (True, "keep")])
def test_declining_keeps_the_queue(confirmed: bool | None, choice: str | None) -> None:
    """Declined, nothing changes but the question."""
    scenario = asked().when(Answer(step_id=STEP, by="alice", confirmed=confirmed, choice=choice))
    assert scenario.then("agent.user_confirm_closed").queue == ["carol", "dave"]


def test_the_first_answer_wins() -> None:
    """The second answer is told who was first."""
    scenario = asked().when(
        Answer(step_id=STEP, by="adam", choice="keep"), Answer(step_id=STEP, by="alice", choice="clear")
    )
    assert "adam" in scenario.refused("already_answered").refusal_text
    assert scenario.queue == ["carol", "dave"]


def test_a_step_nobody_asked_is_unknown() -> None:
    """A guessed step_id is refused."""
    asked().when(Answer(step_id="confirm_plan_1", by="alice", confirmed=True)).refused("unknown_step")


def test_an_ai_cannot_answer() -> None:
    """Answers come from humans only."""
    asked().when(Answer(step_id=STEP, by="bob", confirmed=True)).refused("sender_is_ai")


@pytest.mark.parametrize(
    "answer", [Answer(step_id=STEP), Answer(step_id=STEP, choice="explode"), Answer(step_id=STEP, answer="?")]
)
def test_an_answer_that_does_not_fit_is_refused_and_the_question_stays(answer: Answer) -> None:
    """The refusal names the options; the first valid answer still counts."""
    scenario = asked().when(answer)
    assert "clear, keep" in scenario.refused("bad_answer").refusal_text
    scenario.when(Answer(step_id=STEP, choice="clear")).then("agent.user_confirm_closed", "queue.changed")


def test_asking_again_replaces_the_question() -> None:
    """The old question is superseded; only the new one can be answered."""
    scenario = asked().says("/queue clear", by="adam").then("agent.user_confirm_closed", "agent.user_confirm")
    assert only(scenario.new, StepClosed)[0].outcome == "superseded"
    scenario.when(Answer(step_id=STEP, choice="clear")).refused("confirmation_expired")
    scenario.when(Answer(step_id="confirm_queue_clear_2", choice="clear")).then(
        "agent.user_confirm_closed", "queue.changed"
    )


def test_a_queue_that_emptied_meanwhile_needs_no_clearing() -> None:
    """An answer that comes when the queue is empty closes the question and changes nothing else."""
    scenario = asked().says("[DROP: ALL] never mind", by="alice").when(Answer(step_id=STEP, by="alice", choice="clear"))
    scenario.then("agent.user_confirm_closed")


def test_asking_in_a_paused_session_waits_for_who_asked() -> None:
    """`step` while the question is open; afterwards the floor is still with a named human."""
    scenario = given(TEAM).says("[NEXT: bob, carol] go", by="alice").fails().says("/queue clear", by="adam")
    assert scenario.new[-1] == SessionPaused(waiting_for="adam", reason="step")
    scenario.when(Answer(step_id=STEP, by="adam", choice="clear"))
    assert scenario.new[-1] == SessionPaused(waiting_for="adam", reason="fallback")


def test_the_end_withdraws_open_questions() -> None:
    """One outcome per step; ending the session cancels what nobody answered."""
    scenario = asked().when(End())
    assert only(scenario.new, StepClosed) == [StepClosed(step_id=STEP, outcome="cancelled")]
    assert scenario.state.open_steps == {}


@pytest.mark.parametrize("at", [BEFORE, DEADLINE, AFTER])
def test_an_answer_counts_until_the_question_is_closed(at: str) -> None:
    """The wall clock of the answer decides nothing: it may have jumped. The timer closes a question, by an event."""
    answer = Answer(step_id="s1", by="alice", choice="a")
    assert only(decide(with_deadline(), answer, at).facts, StepClosed)[0].outcome == "answered"


def test_expiry_is_an_event_and_final() -> None:
    """A step expires once; later answers and a second timer are refused."""
    expired = decide(with_deadline(), ExpireStep(step_id="s1"), DEADLINE)
    assert expired.facts[0] == StepClosed(step_id="s1", outcome="expired")
    with pytest.raises(Refused, match="confirmation_expired"):
        decide(expired.state, Answer(step_id="s1", by="alice", choice="a"), AFTER)
    with pytest.raises(Refused, match="unknown_step"):
        decide(expired.state, ExpireStep(step_id="s1"), AFTER)


def test_an_answer_in_words_is_made_safe() -> None:
    """What a person answers is untrusted text like any other."""
    answered = decide(with_deadline(), Answer(step_id="s1", by="alice", choice="a", answer="\x1b[2Jyes\ud800"), AT)
    assert only(answered.facts, StepClosed)[0].answer == "yes"
