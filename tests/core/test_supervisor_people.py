"""People in the supervisor flow: questions of agents, review stops, a job that is stuck, and speaking at any time."""

from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.flows.supervisor.supervisor_events import InputNoted, StateUpdated, SupervisionEnded, SupervisorDecided
from moot.core.session.commands import Answer, CancelTurn, Pause, ReportUnderstanding, Resume
from moot.core.session.events import RoutingDecided, StepAsked, StepClosed
from moot.testing.intents import control
from moot.testing.supervisor_scenario import SupervisorScenario, supervisor_given
from tests.core.studio import APPROVED, BODY, GOOD
from tests.core.teams import only, turn_input
from tests.core.test_supervisor_flow import BRIEF, STUDIO, started, written

AUDIENCE = {
    "question": "Who reads it?",
    "key": "audience",
    "options": [{"id": "beginners", "label": "Beginners"}, {"id": "cooks", "label": "Cooks"}],
    "selection": "single",
    "allow_custom_input": True,
}


def asked(**changes: Any) -> SupervisorScenario:
    return started().decides("brief_compiler_agent").acts("I would rather ask.", ask={**AUDIENCE, **changes})


def given_to(session: SupervisorScenario) -> Any:
    brief = turn_input("s1", session.state, session.turn).brief
    assert brief is not None
    return brief


# questions of agents


def test_an_agent_asks_and_the_session_waits() -> None:
    """A step with its options; the one who wants the job done has the floor."""
    session = asked()
    step = session.question
    assert (step.kind, step.question, step.key, step.selection, step.allow_custom_input) == (
        "ask_user",
        "Who reads it?",
        "audience",
        "single",
        True,
    )
    assert [option.id for option in step.options] == ["beginners", "cooks"]
    assert (session.state.waiting_for, session.state.pause_reason) == ("you", "step")
    assert (session.shared["clarificationRounds"], session.shared["agentClarificationKeys"]) == (1, ["audience"])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"selected_ids": ("cooks",)}, {"selected_ids": ["cooks"], "custom_input": ""}),
        ({"choice": "cooks"}, {"selected_ids": ["cooks"], "custom_input": ""}),
        ({"answer": "cooks"}, {"selected_ids": ["cooks"], "custom_input": ""}),
        ({"custom_input": "my aunt"}, {"selected_ids": [], "custom_input": "my aunt"}),
        ({"answer": "my aunt"}, {"selected_ids": [], "custom_input": "my aunt"}),
        ({"confirmed": True}, {"selected_ids": ["beginners"], "custom_input": ""}),
    ],
)
def test_the_answer_goes_to_the_agent_that_asked(said: dict[str, Any], expected: dict[str, Any]) -> None:
    """Answers {selected_ids, custom_input}; the same agent acts again and knows."""
    session = asked().answers(**said)
    assert session.acting == "brief_compiler_agent"
    assert given_to(session).answers == {"audience": expected}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, {"selected_ids": ("beginners", "cooks")}),
        ({}, {"selected_ids": ("poets",)}),
        ({}, {}),
        ({"allow_custom_input": False}, {"custom_input": "my aunt"}),
        ({"options": [], "selection": "none"}, {"custom_input": "  "}),
        ({"options": [{"id": "a", "label": "A"}]}, {"confirmed": True}),
    ],
)
def test_an_answer_that_does_not_fit_leaves_the_question_open(changes: dict[str, Any], said: dict[str, Any]) -> None:
    """The first valid answer wins; others are refused and change nothing."""
    session = asked(**changes).answers(**said).refused("bad_answer")
    assert session.question.key == "audience"


def test_several_may_be_chosen_where_the_question_says_so() -> None:
    """Selection multiple."""
    session = asked(selection="multiple").answers(selected_ids=("cooks", "beginners"))
    assert given_to(session).answers["audience"]["selected_ids"] == ["cooks", "beginners"]


def test_a_key_is_asked_once() -> None:
    """The same key is never asked twice; the agent's turn counts without it."""
    session = asked().answers(choice="cooks").acts(ask={**AUDIENCE, "question": "Really?"}, state=BRIEF)
    assert session.acting == "supervisor"
    assert session.notices == ["Brief asked this before, so it is not asked again: Really?"]
    assert session.shared["briefComplete"] is True
    session.decides("research_evidence_agent").acts(ask=AUDIENCE)
    assert len(only(session.facts, StepAsked)) == 1


def test_a_question_without_a_key_is_its_own_key() -> None:
    """Also then the same question is asked once."""
    session = asked(key=None).answers(choice="cooks").acts(ask={**AUDIENCE, "key": ""})
    assert len(only(session.facts, StepAsked)) == 1


def test_questions_are_bounded() -> None:
    """max_clarification_rounds; one more is not asked, and that is said."""
    session = started(max_clarification_rounds=1).decides("brief_compiler_agent").acts(ask=AUDIENCE)
    session.answers(choice="cooks").acts(ask={"question": "How long?"})
    assert session.acting == "supervisor"
    assert session.notices == ["At most 1 questions are asked; this one of Brief was left out: How long?"]


def test_an_answer_becomes_state_where_people_own_the_key() -> None:
    """Keys of `inputs` are given by people."""
    session = asked(key="layoutPreference").answers(choice="cooks", by="you")
    assert session.shared["layoutPreference"] == "cooks"
    assert only(session.new, StateUpdated)[-1].member == "you"
    session = asked(key="referenceImages", selection="multiple").answers(selected_ids=("cooks", "beginners"))
    assert session.shared["referenceImages"] == ["cooks", "beginners"]


def test_the_supervisor_may_ask_too() -> None:
    """Any agent; it decides when it knows."""
    session = started().mutters("", ask={"question": "For whom?"})
    assert session.question.job == "supervisor"
    session.answers(answer="for cooks")
    assert session.acting == "supervisor"
    assert given_to(session).answers["For whom?"]["custom_input"] == "for cooks"


@pytest.mark.parametrize("ask", [7, {}, {"question": " "}, {"question": ["x"]}, "why?", {"question": None}])
def test_a_question_that_is_none_is_not_asked(ask: Any) -> None:
    """What agents write is untrusted: the turn counts, nothing is asked."""
    session = started().decides("brief_compiler_agent").acts(ask=ask)
    assert session.acting == "supervisor"


# review stops


def stopped() -> SupervisorScenario:
    """The writer's text is to be checked by people."""
    return written(pause_after=("writer_agent",))


def test_people_check_the_output_where_the_team_says_so() -> None:
    """The work waits for approve, reject or edit."""
    session = stopped()
    assert session.question.code == "review_output"
    assert [option.id for option in session.question.options] == ["approve", "reject", "edit"]
    assert session.state.pause_reason == "step"


@pytest.mark.parametrize("said", [{"choice": "approve"}, {"confirmed": True}])
def test_approved_the_work_goes_on(said: dict[str, Any]) -> None:
    """The supervisor decides next."""
    assert stopped().answers(**said).acting == "supervisor"


@pytest.mark.parametrize(
    "said",
    [{"choice": "reject", "answer": "shorter"}, {"confirmed": False, "answer": "shorter"}, {"answer": "shorter"}],
)
def test_rejected_it_goes_back_to_the_right_agent_with_the_feedback(said: dict[str, Any]) -> None:
    """Not to the supervisor, and not to whoever else."""
    session = stopped().answers(**said)
    assert session.acting == "writer_agent"
    assert given_to(session).feedback == "shorter"
    session.acts(state=BODY)
    assert session.question.code == "review_output"
    assert session.answers(choice="approve").acting == "supervisor"
    assert session.job.feedback == ""


def test_the_output_may_be_edited() -> None:
    """What the agent owns, and nothing else."""
    better = {"generatedContent": {"title": "t", "body": "better words", "tags": []}}
    session = stopped().answers(state=better, by="you")
    assert session.shared["generatedContent"]["body"] == "better words"
    assert only(session.new, StateUpdated)[-1].member == "you"
    assert session.acting == "supervisor"
    stopped().answers(state=APPROVED).refused("bad_answer")


def test_an_approved_review_that_people_check_ends_after_they_did() -> None:
    """pause_after and should_continue_review together."""
    session = written(pause_after=("review_agent",)).decides("review_agent").acts(state={**APPROVED, **GOOD})
    assert session.job.is_active
    assert session.answers(choice="approve").job.outcome == "complete"


# stuck


def stuck() -> SupervisorScenario:
    return started().mutters("a").mutters("b").mutters("c")


def test_a_human_chooses_who_acts() -> None:
    """Choosing an agent is a decision of its own, shown as such."""
    session = stuck().answers(choice="writer_agent", answer="just write", by="you")
    assert session.acting == "writer_agent"
    [decided] = only(session.new, SupervisorDecided)
    assert (decided.member, decided.correction, decided.decision.guidance) == ("you", "human", "just write")
    assert session.job.unusable_in_a_row == 0


def test_a_human_ends_it() -> None:
    """Or ends; what is not whole is partial."""
    session = stuck().answers(choice="END")
    assert only(session.new, SupervisionEnded)[0].outcome == "partial"
    assert session.state.pause_reason == "finished"


def test_a_human_answers_the_supervisor() -> None:
    """Free text reaches the supervisor, which has its three tries again."""
    session = stuck().answers(answer="take the writer")
    assert session.acting == "supervisor"
    assert [heard.text for heard in given_to(session).heard] == ["take the writer"]
    session.mutters("x").mutters("y")
    assert session.acting == "supervisor"
    session = stuck().says("take the writer")
    assert session.acting == "supervisor"
    assert session.state.open_steps == {}


def test_nobody_else_can_be_chosen() -> None:
    """What is no option is refused."""
    stuck().answers(choice="poet").refused("bad_answer")
    stuck().answers(confirmed=True).refused("bad_answer")


# speaking at any time


@pytest.mark.parametrize("relation", ["same_task_no_change", "same_task_minor_change", "same_task_major_change"])
def test_what_is_about_the_job_reaches_the_supervisors_next_turn(relation: Any) -> None:
    """In the supervisor flow same_task_* reaches the supervisor's next turn; nobody is asked."""
    session = started().decides("brief_compiler_agent").says("with chives").understands(relation)
    assert session.acting == "brief_compiler_agent"
    assert only(session.new, InputNoted) == [InputNoted(member="you", text="with chives")]
    [routed] = only(session.new, RoutingDecided)
    assert (routed.user_confirmation_required, routed.user_message) == (
        False,
        "Noted; the supervisor will consider it in the next decision",
    )
    session.acts(state=BRIEF)
    assert given_to(session).briefing.said == ("you: with chives",)
    session.mutters("hm")
    assert given_to(session).briefing.said == ("you: with chives",)  # no decision was made on it yet
    session.decides("writer_agent").acts(state=BODY)
    assert given_to(session).briefing.said == ()


def test_what_is_said_while_the_supervisor_ends_it_is_heard_first() -> None:
    """People may speak at any time; an END that did not know of it is not the last word."""
    session = written().says("and basil!").understands("same_task_minor_change").decides("END")
    assert session.acting == "supervisor"
    [decided] = only(session.new, SupervisorDecided)
    assert (decided.next, decided.corrected_from, decided.correction) == ("supervisor", "END", "human")
    assert session.decides("END").job.outcome == "complete"


def test_another_task_is_asked_about() -> None:
    """Finish first, close and start, or drop; meanwhile the work goes on."""
    session = started().says("book a flight").understands("different_task")
    assert session.acting == "supervisor"
    assert [option.id for option in session.question.options] == ["finish_first", "close_and_start", "drop", "abort"]
    dropped = replace_choice(session, "drop")
    assert dropped.acting == "supervisor"
    assert dropped.job.goal == "a post about herbs"
    closed = replace_choice(session, "close_and_start")
    assert closed.job.goal == "book a flight"
    assert only(closed.new, SupervisionEnded)[0].reason == "closed_for_new_task"
    waiting = replace_choice(session, "finish_first")
    waiting.decides("brief_compiler_agent").acts(state=BRIEF).decides("writer_agent").acts(state=BODY).decides("END")
    assert waiting.job.goal == "book a flight"
    assert waiting.acting == "supervisor"


def replace_choice(session: SupervisorScenario, choice: str) -> SupervisorScenario:
    """The same session, one answer further."""
    further = supervisor_given(STUDIO)
    further.state, further.facts = session.state, list(session.facts)
    return further.answers(choice=choice)


def test_an_unclear_input_is_asked_about() -> None:
    """Unsure → the person says what it means; it may be for the supervisor."""
    session = started().says("hmm, chives").understands("same_task_minor_change", 0.3)
    assert session.question.options[0].id == "tell_supervisor"
    session.answers(choice="tell_supervisor")
    assert [heard.text for heard in session.job.heard] == ["hmm, chives"]


def test_under_explicit_understanding_the_person_says_what_it_means() -> None:
    """Nothing is guessed."""
    session = supervisor_given(replace(STUDIO, understanding="explicit")).says("a post")
    assert session.acting == "supervisor"
    session.says("with chives")
    assert session.question.code == "ask_unsure"


def test_a_pause_lets_the_turn_end_and_resume_goes_on_there() -> None:
    """Pause and resume as everywhere; what was decided is not lost."""
    session = started().when(Pause(by="you")).decides("brief_compiler_agent")
    assert (session.state.running, session.state.pause_reason) == ((), "user_pause")
    session.when(Resume(by="you"))
    assert session.acting == "brief_compiler_agent"


def test_what_is_only_being_understood_cannot_be_paused() -> None:
    """A typed refusal where a pause would have no effect."""
    supervisor_given(STUDIO).says("a post").when(Pause(by="you")).refused("still_understanding")


def test_what_is_said_about_a_paused_job_lets_it_go_on() -> None:
    """New input on the same task, no question: the work resumes and the supervisor hears it."""
    for relation in ("same_task_no_change", "same_task_minor_change", "same_task_major_change"):
        session = started().when(Pause(by="you")).mutters("hm").says("with chives")
        session.understands(relation)
        assert session.acting == "supervisor"
        assert [heard.text for heard in given_to(session).heard] == ["with chives"]


def test_controls_may_be_said_in_words() -> None:
    """Pause, cancel and status without a slash."""
    session = started().says("how far are we?")
    session.when(understood(session, "status_query"))
    assert session.notices == ["Status: active · acting: Supervisor · step 1 of 100"]
    session.says("stop it")
    session.when(understood(session, "cancel"))
    assert session.job.outcome == "cancelled"
    assert session.state.pause_reason == "finished"


def understood(session: SupervisorScenario, action: str) -> Any:
    return ReportUnderstanding(input_id=session.state.door.inputs[0].input_id, analysis=control(action))


def test_cancelling_ends_the_job_and_withdraws_its_questions() -> None:
    """Stop works as everywhere; an answer to a withdrawn question is refused."""
    session = asked()
    step_id = session.question.step_id
    session.when(CancelTurn(by="you"))
    assert only(session.new, StepClosed)[0].outcome == "superseded"
    session.when(Answer(step_id=step_id, choice="cooks")).refused("confirmation_expired")
    session.when(CancelTurn(by="you")).refused("nothing_running")


def test_done_ends_the_session() -> None:
    """Also in this flow, and with nothing left behind."""
    session = started().says("thank you [DONE]")
    assert session.state.status == "completed"
    assert session.job.outcome == "cancelled"


def test_what_is_said_during_an_approving_review_is_heard_before_the_end() -> None:
    """People may speak at any time; the approval did not know of it."""
    session = written().decides("review_agent").says("and basil!").understands("same_task_minor_change")
    session.acts(state={**APPROVED, **GOOD})
    assert session.acting == "supervisor"
    assert given_to(session).briefing.said == ("you: and basil!",)


def test_after_a_failed_turn_free_text_is_for_the_supervisor() -> None:
    """The human answers, and the one who leads decides what comes of it, not the one who failed."""
    session = started().decides("brief_compiler_agent").fails().answers(answer="somebody else, please")
    assert session.acting == "supervisor"


def test_a_pause_holds_for_what_was_put_off() -> None:
    """Pause as everywhere; a job that ends while it is being paused does not start the next one."""
    session = started().says("book a flight").understands("different_task").answers(choice="finish_first")
    session.decides("brief_compiler_agent").acts(state=BRIEF).decides("writer_agent").acts(state=BODY)
    session.when(Pause(by="you")).decides("END")
    assert (session.job.outcome, session.state.pause_reason) == ("complete", "user_pause")
    session.when(Resume(by="you"))
    assert session.job.goal == "book a flight"
    assert session.acting == "supervisor"
