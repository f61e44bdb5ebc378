"""The supervisor flow on the log: it leads, Moot corrects the obvious, and nothing loops for ever."""

from typing import Any

import pytest
from msgspec.structs import replace

from moot.config.loading import load_team
from moot.core.flows.supervisor.deliverable import Deliverable
from moot.core.flows.supervisor.supervisor_events import (
    Reviewed,
    StateUpdated,
    SupervisionEnded,
    SupervisorDecided,
    SupervisorUndecided,
)
from moot.core.machines.session import Status
from moot.core.session.commands import CompleteTurn, End, ExpireTurn
from moot.core.session.events import SessionPaused, StepAsked, TurnStarted
from moot.testing.supervisor_scenario import SupervisorScenario, supervisor_given
from tests.core.studio import APPROVED, BODY, GOOD, REJECTED, scores
from tests.core.teams import only, turn_input

STUDIO = load_team("content-studio-demo").team()
BRIEF = {"creativeBrief": {"subject": "herbs"}, "briefComplete": True}


def studio(**settings: Any) -> SupervisorScenario:
    return supervisor_given(replace(STUDIO, supervisor=replace(STUDIO.supervisor, **settings)))


def started(**settings: Any) -> SupervisorScenario:
    return studio(**settings).starts("a post about herbs")


def written(**settings: Any) -> SupervisorScenario:
    """A brief and a text are there; the supervisor is to decide."""
    return (
        started(**settings).decides("brief_compiler_agent").acts(state=BRIEF).decides("writer_agent").acts(state=BODY)
    )


def rejected(**settings: Any) -> SupervisorScenario:
    """The review did not approve: the text says too little."""
    return written(**settings).decides("review_agent").acts(state={**REJECTED, **scores(infoDensity=0.3)})


def test_a_message_begins_a_job_and_the_supervisor_decides_first() -> None:
    """User input → supervisor; the shared state starts as the team file says."""
    session = started().then("understanding.completed", "routing.decided", "supervisor.started", "turn.started")
    assert session.acting == "supervisor"
    assert session.shared["maxIterations"] == 3
    assert session.shared["creativeBrief"] is None


def test_the_chosen_agent_is_given_what_the_supervisor_says() -> None:
    """Guidance, context and focus areas reach the agent; and the state it may read."""
    session = started().decides(
        "brief_compiler_agent",
        guidance="Who reads it?",
        context_from_previous="nothing yet",
        focus_areas="tone；length",
    )
    brief = turn_input("s1", session.state, session.turn).brief
    assert brief is not None
    assert (brief.agent, brief.guidance, brief.context_from_previous) == (
        "brief_compiler_agent",
        "Who reads it?",
        "nothing yet",
    )
    assert brief.focus_areas == ("tone", "length")
    assert brief.writes == ("creativeBrief", "briefComplete")
    assert turn_input("s1", session.state, session.turn).job == "act"


def test_the_agent_hands_back_to_the_supervisor() -> None:
    """After the chosen node the supervisor decides again, and knows what was decided so far."""
    session = started().decides("brief_compiler_agent", guidance="ask").acts("here it is", state=BRIEF)
    given = turn_input("s1", session.state, session.turn)
    assert given.job == "supervise"
    assert given.brief is not None
    assert given.brief.briefing is not None
    assert [taken.next_agent for taken in given.brief.briefing.decisions] == ["brief_compiler_agent"]
    assert session.shared["creativeBrief"] == {"subject": "herbs"}
    session.then("turn.completed", "message.posted", "supervisor.state_updated", "turn.started")


def test_a_missing_precondition_is_corrected_once_and_shown() -> None:
    """review_agent without a body → writer_agent, not on to brief_compiler_agent; an event and a notice."""
    session = started().decides("review_agent", guidance="check it")
    assert session.acting == "writer_agent"
    [decided] = only(session.new, SupervisorDecided)
    assert (decided.next, decided.corrected_from, decided.correction) == (
        "writer_agent",
        "review_agent",
        "precondition",
    )
    assert session.notices == ["↪ What Review needs is missing: Writer acts first"]


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("let me think", "no_json"),
        ('{"next_agent": ""}', "empty"),
        ('{"next_agent": null}', "empty"),
        ('{"next_agent": 7}', "not_text"),
        ('{"next_agent": "poet"}', "unknown"),
        ('{"next_agent": "Writer_Agent"}', "unknown"),
        ('{"next_agent": "END"}', "early_end"),
        ('{"next_agent": "writer_agent"', "no_json"),
    ],
)
def test_without_a_usable_decision_the_supervisor_decides_again_with_a_hint(said: str, fault: str) -> None:
    """Missing, empty, unknown, broken, an END that may not be: back with what was wrong."""
    session = started().mutters(said)
    assert session.acting == "supervisor"
    [undecided] = only(session.new, SupervisorUndecided)
    assert (undecided.fault, undecided.count) == (fault, 1)
    brief = turn_input("s1", session.state, session.turn).brief
    assert brief is not None
    assert brief.briefing is not None
    assert brief.briefing.unusable is not None
    assert brief.briefing.unusable.fault == fault


def test_end_completes_the_job_and_the_session_waits_for_the_next() -> None:
    """With a body and no review it may end; the session goes on with another message."""
    session = (
        written()
        .decides("END")
        .then("turn.completed", "message.posted", "supervisor.decided", "supervisor.ended", "session.paused")
    )
    assert only(session.new, SupervisionEnded) == [
        SupervisionEnded(outcome="complete", reason="END", deliverable=Deliverable(title="t", body="words"))
    ]
    assert session.new[-1] == SessionPaused(waiting_for="you", reason="finished")
    session.starts("another post")
    assert session.acting == "supervisor"
    assert session.shared["generatedContent"] is None


def test_an_approving_review_ends_the_job_by_itself() -> None:
    """Approved and quality approved → END."""
    session = written().decides("review_agent").acts(state={**APPROVED, **GOOD})
    assert only(session.new, Reviewed)[0].approved
    assert session.job.outcome == "complete"
    assert session.state.pause_reason == "finished"


def test_a_review_without_scores_does_not_end_it() -> None:
    """No scores = not approved; the supervisor goes on and END is refused."""
    session = written().decides("review_agent").acts(state=APPROVED)
    assert session.acting == "supervisor"
    assert session.shared["iterationCount"] == 1
    assert only(session.decides("END").new, SupervisorUndecided)[0].fault == "early_end"


def test_the_scores_choose_only_where_the_supervisor_is_silent() -> None:
    """After a failed review, at the second unusable decision in a row, once."""
    session = rejected().mutters("hm")
    assert session.acting == "supervisor"
    session.mutters("hm")
    [decided] = only(session.new, SupervisorDecided)
    assert (decided.next, decided.correction, decided.corrected_from) == (
        "research_evidence_agent",
        "quality_fallback",
        None,
    )
    assert session.acting == "research_evidence_agent"
    session.acts(state={"evidencePack": [1]}).mutters("hm")  # the third in a row
    assert session.question.code == "supervisor_stuck"
    assert (session.state.pause_reason, session.question.error_type) == ("step", "undecided")


def test_a_valid_decision_is_never_overridden_by_the_scores() -> None:
    """The supervisor leads; a hint is a hint."""
    session = rejected().mutters("hm").decides("layout_planner_agent")
    assert session.acting == "layout_planner_agent"
    assert session.job.unusable_in_a_row == 0
    assert only(rejected().decides("image_planner_agent").new, SupervisorDecided)[0].correction is None


def test_without_a_failed_review_the_scores_choose_nobody() -> None:
    """Two unusable decisions before any review lead to the supervisor again."""
    session = written().mutters("hm").mutters("hm")
    assert session.acting == "supervisor"


def test_three_unusable_decisions_pause_and_ask_the_first_human() -> None:
    """One option per agent, and the end."""
    session = started().mutters("a").mutters("b").mutters("c")
    assert isinstance(session.new[-1], SessionPaused)
    assert (session.new[-1].waiting_for, session.new[-1].reason) == ("you", "step")  # chat: a closed list of reasons
    assert session.question.error_type == "undecided"
    assert [option.id for option in session.question.options] == [*STUDIO.supervisor.agents, "END"]
    assert session.notices == ["⏸ Supervisor gave no usable decision 3 times in a row"]


def test_the_steps_of_all_ais_are_bounded() -> None:
    """max_steps counts turns of any AI; then a human is asked, and going on counts anew."""
    session = started(max_steps=3).decides("brief_compiler_agent").acts().decides("brief_compiler_agent")
    assert (session.state.pause_reason, session.question.error_type) == ("step", "step_limit")
    assert session.job.node == "brief_compiler_agent"
    session.says("/resume")
    assert session.acting == "brief_compiler_agent"
    assert session.job.steps == 1


def test_too_many_reviews_with_nothing_to_show_pause() -> None:
    """The iteration limit without a body is for a human to settle."""
    agents = {**STUDIO.supervisor.agents}
    agents["review_agent"] = replace(agents["review_agent"], requires_any=())
    session = started(max_iterations=1, state={}, agents=agents).decides("review_agent").acts(state=REJECTED)
    assert (session.state.pause_reason, session.question.error_type) == ("step", "iteration_limit")
    assert session.notices == ["⏸ 1 reviews did not approve, and there is no result to deliver"]


def test_too_many_reviews_with_something_to_show_may_end_as_partial() -> None:
    """iterationCount ≥ maxIterations with a body ends, marked partial."""
    session = rejected(max_iterations=1, state={"maxIterations": 1}).decides("END")
    assert only(session.new, SupervisionEnded) == [
        SupervisionEnded(
            outcome="partial", reason="END", partial=True, deliverable=Deliverable(title="t", body="words")
        )
    ]


def test_an_agent_writes_its_own_keys_and_no_others() -> None:
    """Updates to keys of others are refused with a notice; the rest counts."""
    session = started().decides("brief_compiler_agent").acts(state={**BRIEF, **APPROVED, "iterationCount": -5})
    [update] = only(session.new, StateUpdated)
    assert update.changes == BRIEF
    assert update.refused == {"reviewFeedback": "not_owned", "iterationCount": "not_owned"}
    assert session.shared["reviewFeedback"] is None
    assert session.shared["iterationCount"] == 0
    assert session.notices == [
        "⚠️ Brief may not write this, or it is not plain data; ignored: reviewFeedback, iterationCount"
    ]


def test_keys_that_complete_themselves_do() -> None:
    """imagesComplete is also set when every image plan has an asset."""
    session = started().decides("image_planner_agent").acts(state={"imagePlans": [{"id": "a"}, {"id": "b"}]})
    session.decides("image_agent").acts(state={"generatedImageAssetIds": ["x", "y"]})
    assert session.shared["imagesComplete"] is True


def test_an_agent_that_can_only_write_text_may_put_its_state_in_it() -> None:
    """Agents behind a command line have no other way: the last JSON object with `state` counts."""
    session = started().decides("brief_compiler_agent").acts('Here: ```{"state": {"briefComplete": true}}```')
    assert session.shared["briefComplete"] is True


def test_a_failed_turn_asks_what_now() -> None:
    """A failure is shown and somebody has the floor; /retry repeats the same agent."""
    session = started().decides("brief_compiler_agent").fails("network", "no line")
    assert session.notices == ["Agent Brief encountered an error: no line"]
    assert session.state.pause_reason == "agent_error"
    assert session.question.code == "supervisor_stuck"
    session.says("/retry")
    assert session.acting == "brief_compiler_agent"


def test_a_turn_that_takes_too_long_asks_what_now() -> None:
    """The supervisor's own time limit counts, not that of chat."""
    session = started(turn_timeout_s=90.0)
    session.when(ExpireTurn(turn_id=session.turn.turn_id))
    assert session.notices == ["Agent Supervisor timed out after 1.5 minutes"]
    assert session.state.pause_reason == "agent_timeout"


def test_what_is_said_after_the_end_of_a_turn_is_ignored() -> None:
    """A turn ends once."""
    session = started()
    turn_id = session.turn.turn_id
    session.decides("brief_compiler_agent")
    session.when(CompleteTurn(turn_id=turn_id, text="late")).refused("stale_turn")


def test_the_end_of_the_session_ends_the_job() -> None:
    """Stop works as everywhere; no question and no turn is left."""
    session = started().decides("brief_compiler_agent").when(End())
    assert session.state.status is Status.COMPLETED
    assert session.job.outcome == "cancelled"
    assert (session.state.running, session.state.open_steps) == ((), {})


def test_turns_carry_the_node_as_their_job() -> None:
    """Log: turns stay turn.*, whoever plays; questions stay agent.user_confirm."""
    session = started().decides("brief_compiler_agent").acts(ask={"question": "Who?", "key": "k"})
    assert [fact.job for fact in only(session.facts, TurnStarted)] == ["supervisor", "brief_compiler_agent"]
    assert [fact.job for fact in only(session.facts, StepAsked)] == ["brief_compiler_agent"]


def test_an_agent_without_a_fallback_that_is_not_ready_is_chosen_again() -> None:
    """What a choice needs is missing and nobody stands in: that is no usable decision."""
    agents = {**STUDIO.supervisor.agents}
    agents["writer_agent"] = replace(agents["writer_agent"], fallback=None)
    session = started(agents=agents).decides("writer_agent")
    assert only(session.new, SupervisorUndecided)[0].fault == "not_ready"


def test_the_scores_choose_once_a_review() -> None:
    """Routes to it once; silence later in the same round is the supervisor's own again."""
    session = rejected().mutters("hm").mutters("hm").acts(state={"evidencePack": [1]})
    session.decides("layout_planner_agent").acts(state={"layoutSpec": {}}).mutters("hm").mutters("hm")
    assert session.acting == "supervisor"
