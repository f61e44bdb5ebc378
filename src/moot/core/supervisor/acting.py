"""An agent's turn is over: what it wrote into the state, its question, its tools, its review, and where it goes on."""

from collections.abc import Mapping
from typing import Any

from moot.core.commands import CompleteTurn
from moot.core.draft import Draft
from moot.core.json_text import find_object
from moot.core.state import Turn
from moot.core.supervisor import questions, tools
from moot.core.supervisor.ending import how_it_may_end, is_out_of_rounds, review_approved
from moot.core.supervisor.events import Reviewed, StateUpdated
from moot.core.supervisor.jobs import finish, job_of, notice, settings_of
from moot.core.supervisor.quality import quality_fallback
from moot.core.supervisor.routing import should_continue
from moot.core.supervisor.state_update import check_update
from moot.core.supervisor.state_update import complete as complete_keys
from moot.core.supervisor_settings import END, SupervisorSettings


def complete(draft: Draft, turn: Turn, said: str, command: CompleteTurn) -> None:
    settings, node = settings_of(draft), turn.job
    written, ask = _read_output(said, command)
    if written:
        _update(draft, turn, written)
    if ask is not None and questions.ask_user(draft, turn, ask):
        return
    job, calls = job_of(draft), tools.read_calls(command.tool_calls, said)
    following = should_continue(settings, node, job.state, has_tool_calls=bool(calls), tool_round=job.tool_round + 1)
    loop = settings.agents[node].tools
    if calls and loop is not None and following == loop.node:
        tools.call_tools(draft, turn, following, calls)
        return
    if calls:
        notice(draft, "tools_ignored", node)
    if is_reviewer(settings, node) and _review(draft, turn):
        return
    if settings.pauses_after(node):
        questions.ask_review(draft, node)
    else:
        go_on(draft, node)


def go_on(draft: Draft, node: str) -> None:
    """Where its output leads: the end, if the review approved and nobody has said anything since; else back."""
    job = job_of(draft)
    following = should_continue(settings_of(draft), node, job.state, has_tool_calls=False)
    if following == END and not job.heard:
        finish(draft, node)


def _read_output(said: str, command: CompleteTurn) -> tuple[Mapping[str, Any] | None, Any]:
    """State and question as the agent gave them, or, of one that can only write text, from JSON in it."""
    written, ask = command.state, command.ask
    if written is None and ask is None and command.tool_calls is None:
        written, ask = ((find_object(said, key) or {}).get(key) for key in ("state", "ask"))
    return written if isinstance(written, Mapping) else None, ask


def _update(draft: Draft, turn: Turn, written: Mapping[str, Any]) -> None:
    update = check_update(settings_of(draft), turn.job, written)
    draft.add(
        StateUpdated(
            changes=update.changes,
            agent=turn.job,
            member=turn.member,
            turn_id=turn.turn_id,
            refused=update.refused,
        )
    )
    if update.refused:
        notice(draft, "state_refused", turn.job, detail=", ".join(list(update.refused)[:10]))
    complete_state(draft)


def complete_state(draft: Draft) -> None:
    """Keys that have become true by themselves."""
    completed = complete_keys(settings_of(draft), job_of(draft).state)
    if completed:
        draft.add(StateUpdated(changes=dict(completed)))


def is_reviewer(settings: SupervisorSettings, agent: str) -> bool:
    """The agent that writes what the end asks for."""
    review = settings.end.review
    return review is not None and review.approved.partition(".")[0] in settings.agents[agent].writes


def _review(draft: Draft, turn: Turn) -> bool:
    """Count a review; whether the rounds are used up and there is nothing to show for them."""
    settings, state = settings_of(draft), job_of(draft).state
    approved = review_approved(settings, state)
    count = state.get("iterationCount") or 0
    draft.add(
        Reviewed(
            approved=approved,
            iteration=count if approved else count + 1,
            fallback=None if approved else quality_fallback(settings.quality, state),
            agent=turn.job,
            member=turn.member,
        )
    )
    state = job_of(draft).state
    if approved or not is_out_of_rounds(settings, state) or how_it_may_end(settings, state):
        return False
    notice(draft, "iteration_limit", limit=count + 1)
    questions.ask_stuck(draft, "iteration_limit")
    return True
