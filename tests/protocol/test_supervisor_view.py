"""The supervisor flow on a screen: after every event the view shows what the core knows, and what people need."""

import json
from functools import reduce as fold
from typing import Any

from hypothesis import given, settings

from moot.core.codec import Head, frame, stamp
from moot.core.commands import Command
from moot.core.events import Fact
from moot.core.evolve import evolve
from moot.core.state import State
from moot.core.team import Team
from moot.protocol.supervisor_view import CHOICES
from moot.protocol.view import View, reduce
from tests.core.test_properties import AT
from tests.core.test_supervisor_flow import STUDIO, rejected, started
from tests.core.test_supervisor_people import asked, stuck
from tests.core.test_supervisor_properties import begin, histories, play, teams


def frames_of(team: Team, facts: list[Fact]) -> list[dict[str, Any]]:
    events = stamp(team, "s_00000001", Head(), facts, AT)
    return [json.loads(frame(event, team.language)) for event in events]


def view_of(facts: list[Fact]) -> View:
    return fold(reduce, frames_of(STUDIO, facts), View())


def check(view: View, state: State) -> None:
    assert (view.status, view.waiting_for, view.pause_reason) == (state.status, state.waiting_for, state.pause_reason)
    assert (view.input_routing, view.interrupt) == (state.door.state, state.interrupt)
    assert [each.text for each in view.deferred] == [each.text for each in state.door.deferred]
    assert [each.step_id for each in view.questions] == list(state.open_steps)
    assert [turn.turn_id for turn in view.running] == [turn.turn_id for turn in state.running]
    job, shown = state.supervision, view.supervision
    if job is None or shown is None:
        assert job is None
        assert shown is None
        return
    assert (shown.goal, shown.asked_by, shown.outcome or None) == (job.goal, job.asked_by, job.outcome)
    assert {key: job.state[key] for key in shown.state} == shown.state
    assert all(job.state[key] == STUDIO.supervisor.state.get(key) for key in job.state if key not in written(shown))
    running = [row.call_id for row in shown.tools if not row.is_done]
    assert running == list(job.calls) or not job.is_active
    if state.running:
        assert shown.acting == job.node


def written(shown: Any) -> set[str]:
    """Keys that are not what they were at the start; maxIterations comes from the settings."""
    return {*shown.state, "maxIterations", "iterationCount", "clarificationRounds"}


@settings(max_examples=60)
@given(teams, histories)
def test_the_view_agrees_with_the_core(team: Team, parts: tuple[list[Command], list[Command]]) -> None:
    """Spec 1: one truth; after every event of a made-up session the screen shows the core's state, tools, machines."""
    facts, _ = play(team, [*begin, *parts[0], *parts[1]])
    state: State | None = None
    view = View()
    for fact, each in zip(facts, frames_of(team, facts), strict=True):
        state = evolve(state, fact)
        view = reduce(view, each)
        check(view, state)


def test_a_correction_can_be_seen() -> None:
    """Spec 3: a correction is an event and shown."""
    view = view_of(started().decides("review_agent", guidance="go").facts)
    assert view.supervision is not None
    [choice] = view.supervision.choices
    assert (choice.next, choice.corrected_from, choice.correction, choice.guidance) == (
        "writer_agent",
        "review_agent",
        "precondition",
        "go",
    )
    assert view.supervision.acting == "writer_agent"


def test_a_failed_review_can_be_seen() -> None:
    """Spec 3 quality_fallback: the hint after the review."""
    view = view_of(rejected().facts)
    assert view.supervision is not None
    assert view.supervision.review is not None
    assert (view.supervision.review.approved, view.supervision.review.fallback) == (False, "research_evidence_agent")
    assert view.supervision.writers["generatedContent"] == "writer_agent"


def test_a_question_brings_what_a_form_needs() -> None:
    """Spec 3 ask_user: options, how many may be chosen, whether one may write."""
    [question] = view_of(asked().facts).questions
    assert (question.kind, question.key, question.selection, question.allow_custom_input, question.job) == (
        "ask_user",
        "audience",
        "single",
        True,
        "brief_compiler_agent",
    )


def test_choices_are_bounded() -> None:
    """Everything that grows has a bound."""
    facts = stuck().facts
    view = fold(reduce, frames_of(STUDIO, facts), View())
    for number in range(300):
        again = {**frames_of(STUDIO, facts)[-5], "event": "supervisor.undecided", "seq": view.seq + 1}
        again["metadata"] = {"turn_id": "t1", "member": "supervisor", "fault": "empty", "given": "", "count": number}
        view = reduce(view, again)
    assert view.supervision is not None
    assert len(view.supervision.choices) == CHOICES
