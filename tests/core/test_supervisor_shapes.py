"""Shapes of the shared state: told to those who write it, checked at once, and sent back at most three times."""

from typing import Any

import pytest
from msgspec.structs import replace

from moot.core import decide
from moot.core.draft import Draft
from moot.core.flows.supervisor import jobs
from moot.core.flows.supervisor.quality import OVERALL
from moot.core.flows.supervisor.shapes import Misfit, describe_misfit, find_misfits, find_shape, list_shapes
from moot.core.flows.supervisor.supervisor_events import StateUpdated, SupervisionStarted, SupervisorDecided
from moot.core.flows.supervisor.supervisor_settings import (
    Condition,
    EndReview,
    EndRule,
    Quality,
    SupervisedAgent,
    SupervisorSettings,
)
from moot.core.session.commands import CreateSession
from moot.core.session.events import NoticePosted, SessionPaused, StepAsked, TurnFailed
from moot.core.session.team import Language
from tests.core.studio import AXES, BODY, REJECTED, scores
from tests.core.teams import only, turn_input
from tests.core.test_supervisor_flow import BRIEF, started, written

RESEARCHER, EVIDENCE = "research_evidence_agent", {"evidencePack": {"facts": ["a fact"]}}
BARE = SupervisorSettings(
    agents={
        "writer": SupervisedAgent(writes=("text", "ready")),
        "reviewer": SupervisedAgent(
            writes=("review", "marks"), requires_any=(Condition(key="text.body", expected="non_blank"),)
        ),
        "printer": SupervisedAgent(requires_any=(Condition(key="text"), Condition(key="plan.size"))),
        "poster": SupervisedAgent(requires_any=(Condition(key="ready", expected=True),)),
    },
    end=EndRule(
        requires=(Condition(key="text.body", expected="non_blank"),), review=EndReview(approved="review.approved")
    ),
    quality=Quality(key="marks", fallback=(("depth", "writer"), ("tone", "writer"))),
)


def test_shapes_are_implied_by_what_is_asked_of_a_key() -> None:
    """Where the team declares none, the end, the quality and single preconditions say what a key must have."""
    assert list_shapes(BARE, "writer") == {"text": {"body": "…"}, "ready": True}
    marks = {"scores": {"depth": 0.8, "tone": 0.8}, "overall": 0.8}
    assert list_shapes(BARE, "reviewer") == {"review": {"approved": True}, "marks": marks}
    assert find_shape(BARE, "plan") is None  # one of several alternatives is no must


def test_a_declared_shape_is_an_example() -> None:
    """The team's own example counts; the mark of an optional field is not told."""
    own = replace(BARE, shapes={"text": {"title": "…", "body": "…", "tags?": ["…"]}})
    assert list_shapes(own, "writer")["text"] == {"title": "…", "body": "…", "tags": ["…"]}
    assert find_misfits(own, "text", {"title": "t", "body": "b", "more": 1}) == []
    assert find_misfits(own, "text", {"title": "t", "body": "b", "tags": "x"}) == [
        Misfit(path="text.tags", expected="list")
    ]


MISFITS: dict[str, tuple[str, Any, list[str]]] = {
    "a text where an object is needed": ("text", "once upon a time", ["text: must be an object {…}"]),
    "Chinese keys": ("text", {"标题": "t", "正文": "b"}, ["text.body: missing; must be a text"]),
    "a blank body": ("text", {"body": " "}, ["text.body: must not be empty"]),
    "a list for a text": ("text", {"body": ["b"]}, ["text.body: must be a text"]),
    "yes is no boolean": ("review", {"approved": "yes"}, ["review.approved: must be true or false"]),
    "an axis is missing": (
        "marks",
        {"scores": {"depth": 1}, "overall": 1},
        ["marks.scores.tone: missing; must be a number from 0 to 1"],
    ),
    "scores that cannot be read": (
        "marks",
        {"scores": {"depth": "good", "tone": "90%"}, "overall": None},
        ["marks.scores.depth: must be a number from 0 to 1", "marks.overall: missing; must be a number from 0 to 1"],
    ),
    "null takes a value back": ("text", None, []),
    "it fits": ("marks", {"scores": {"depth": "0.9", "tone": 1}, "overall": "95%"}, []),
}


@pytest.mark.parametrize("case", MISFITS)
def test_what_does_not_fit_is_named(case: str) -> None:
    """Each thing that a value lacks has its path and what is expected there."""
    key, value, expected = MISFITS[case]
    assert [describe_misfit(misfit, "en") for misfit in find_misfits(BARE, key, value)] == expected


def test_problems_are_told_in_the_language_of_the_session() -> None:
    """An agent of a Chinese team is told in Chinese what its output lacks."""
    (misfit,) = find_misfits(BARE, "text", {"正文": "b"})
    assert describe_misfit(misfit, "zh") == "text.body: 缺失；必须是文本"


def test_an_example_may_hold_lists_numbers_and_anything() -> None:
    """Items of a list fit its first item; null in an example stands for anything."""
    own = replace(BARE, shapes={"ready": [{"id": "a", "size": 1, "note": None}]})
    assert find_misfits(own, "ready", [{"id": "b", "size": 2, "note": [1]}]) == []
    problems = [misfit.path for misfit in find_misfits(own, "ready", [{"id": 1, "size": "large"}])]
    assert problems == ["ready[0].id", "ready[0].size"]


def brief_of(session: Any) -> Any:
    return turn_input("s1", session.state, session.turn).brief


def test_a_misshapen_output_goes_back_to_its_agent() -> None:
    """What does not fit is not stored; the agent acts again and is told what is missing."""
    session = started().decides("brief_compiler_agent").acts(state=BRIEF).decides("writer_agent")
    session = session.acts(state={"generatedContent": {"标题": "香草", "正文": "很好种"}})
    assert session.acting == "writer_agent"
    assert session.shared["generatedContent"] is None
    updated = only(session.facts, StateUpdated)[-1]
    assert (updated.refused, updated.sent_back) == ({"generatedContent": "misshapen"}, 1)
    assert {misfit.path for misfit in brief_of(session).misfits} >= {"generatedContent.body"}
    session = session.acts(state=BODY)
    assert session.acting == "supervisor"
    assert session.shared["generatedContent"] == BODY["generatedContent"]
    assert session.job.sent_back == 0


def test_an_agent_that_writes_only_prose_is_asked_for_its_keys() -> None:
    """Prose where JSON was wanted goes back, as long as the agent owes a key."""
    session = started().decides("brief_compiler_agent").acts(state=BRIEF).decides("writer_agent").acts("Here it is!")
    assert session.acting == "writer_agent"
    assert [misfit.expected for misfit in brief_of(session).misfits] == ["no_state"]
    assert (
        session.acts('{} {"state": {"generatedContent": {"title": "t", "body": "b", "tags": []}}}').acting
        == "supervisor"
    )


def test_three_misshapen_outputs_in_a_row_pause() -> None:
    """A model that never finds the form costs three turns; then the first human has the floor and may choose."""
    session = started().decides("brief_compiler_agent").acts(state=BRIEF).decides("writer_agent")
    for _ in range(3):
        session = session.acts(state={"generatedContent": "标题：香草 正文：很好种"})
    assert only(session.facts, SessionPaused)[-1].waiting_for == "you"
    assert "output_misshapen" in [fact.code for fact in session.facts if isinstance(fact, NoticePosted)]
    question = only(session.facts, StepAsked)[-1]
    assert (question.code, question.error_type) == ("supervisor_stuck", "misshapen")
    again = session.answers(choice="writer_agent", custom_input="an object with title, body and tags")
    assert again.acting == "writer_agent"
    assert again.acts(state={"generatedContent": "no"}).acting == "writer_agent"  # it counts from one again


def test_the_same_correction_three_times_pauses() -> None:
    """A fallback that does not provide what is needed is tried three times; then the first human has the floor."""
    session = started().decides("image_agent").acts(state={"imagePlans": []})
    session = session.decides("image_agent").acts(state={"imagePlans": []}).decides("image_agent")
    decided = only(session.facts, SupervisorDecided)[-1]
    assert (decided.corrected_from, decided.next, decided.repeated) == ("image_agent", "image_planner_agent", 3)
    assert only(session.facts, SessionPaused)[-1].waiting_for == "you"
    assert only(session.facts, StepAsked)[-1].error_type == "correction_repeated"
    assert not session.state.running
    assert session.says("/retry").acting == "image_planner_agent"


def test_the_same_suggestion_followed_three_times_pauses() -> None:
    """With or without another review, the agent that a failed review suggests is chosen three times at most."""
    failed = {**REJECTED, **scores(infoDensity=0.2)}
    session = started().decides("brief_compiler_agent").acts(state=BRIEF).decides("writer_agent").acts(state=BODY)
    session = session.decides("review_agent").acts(state=failed).decides(RESEARCHER).acts(state=EVIDENCE)
    session = session.decides("review_agent").acts(state=failed).decides(RESEARCHER).acts(state=EVIDENCE)
    session = session.decides(RESEARCHER)
    assert [fact.followed for fact in only(session.facts, SupervisorDecided) if fact.followed] == [1, 2, 3]
    assert only(session.facts, NoticePosted)[-1].code == "suggestion_repeated"
    assert only(session.facts, StepAsked)[-1].error_type == "correction_repeated"
    again = session.answers(choice=RESEARCHER).acts(state=EVIDENCE)
    assert again.decides(RESEARCHER).acting == RESEARCHER  # it counts from one again


def test_another_decision_between_corrections_counts_from_one() -> None:
    """Only corrections in a row count."""
    session = started().decides("image_agent").acts(state={"imagePlans": []})
    session = session.decides("image_agent").acts(state={"imagePlans": []})
    session = session.decides("brief_compiler_agent").acts(state=BRIEF)
    session = session.decides("image_agent")
    assert session.acting == "image_planner_agent"
    assert session.job.repeated == 1


def test_a_corrected_agent_knows_why_it_acts() -> None:
    """It is told which condition is missing and for whom, not the guidance for somebody else."""
    session = started().decides("review_agent", guidance="Check the tone", focus_areas=["tone"])
    brief = brief_of(session)
    assert (brief.agent, brief.needed_by, brief.guidance, brief.focus_areas) == ("writer_agent", "review_agent", "", ())
    assert [need.key for need in brief.needs] == ["generatedContent.body"]


def test_an_agent_knows_its_purpose_its_shapes_and_the_whole_guidance() -> None:
    """Nothing of what the supervisor says is cut for the agent; what people see is short."""
    long = "Mind this. " * 100
    session = written().decides("review_agent", guidance=long, context_from_previous=long)
    brief = brief_of(session)
    assert brief.guidance == long.strip()
    assert brief.context_from_previous == long.strip()
    assert len(only(session.facts, SupervisorDecided)[-1].decision.guidance) == 203
    assert brief.purpose.startswith("Reviews the whole post")
    assert set(brief.shapes["qualityScores"]["scores"]) == set(AXES)
    assert OVERALL in brief.shapes["qualityScores"]
    assert brief.shapes["reviewFeedback"]["approved"] is True


def test_the_conversation_and_the_ids_are_part_of_the_state() -> None:
    """`messages` is what was said, without JSON; `threadId` and `creativeId` name the job and what it makes."""
    session = started().mutters('A brief first. {"next_agent": "brief_compiler_agent"}')
    brief = brief_of(session)
    assert brief.state["messages"] == [
        {"by": "you", "text": "a post about herbs"},
        {"by": "supervisor", "text": "A brief first."},
    ]
    (begun,) = only(session.facts, SupervisionStarted)
    assert (brief.state["threadId"], brief.state["creativeId"]) == (begun.thread_id, begun.creative_id)


def test_no_two_jobs_have_the_same_ids() -> None:
    """The ids hold the session and the moment: another session, its copy and its next job have ids of their own."""

    def begin(session_id: str, at: str) -> str:
        state = decide.create(CreateSession(team=started().state.team, session_id=session_id)).state
        draft = Draft(state, at)
        jobs.begin(draft, "a post", "you")
        return str(draft.facts[0].thread_id)  # type: ignore[attr-defined]

    ids = [begin(name, f"2026-01-01T00:00:0{second}.000Z") for name in ("s_1", "s_2") for second in (1, 2)]
    assert ids[0] == "job-s_1-1-20260101000001000"
    assert len(set(ids)) == 4


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_expected_kind_has_its_words(language: Language) -> None:
    """No problem is told by its code."""
    for expected in ("object", "list", "text", "number", "boolean", "filled", "score", "no_state"):
        assert "[" not in describe_misfit(Misfit(path="x", expected=expected), language).replace("[…]", "")


def test_an_agent_that_cannot_do_its_part_says_so_and_people_decide() -> None:
    """`BLOCKED:` as the first line is a failure with its reason, not an output; it is not sent back to the agent."""
    session = started().decides("brief_compiler_agent").acts("**BLOCKED:** no access to the brief\nSorry.")
    failed = only(session.facts, TurnFailed)[-1]
    assert (failed.error_type, failed.message) == ("blocked", "no access to the brief")
    assert only(session.facts, StepAsked)[-1].code == "supervisor_stuck"
    assert only(session.facts, SessionPaused)[-1].waiting_for == "you"
    assert session.answers(choice="research_evidence_agent").acting == "research_evidence_agent"
