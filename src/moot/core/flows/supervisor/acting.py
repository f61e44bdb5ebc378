"""Complete an agent's turn: its changes to the state, its question, its tool calls, its review, and who acts next."""

from collections.abc import Mapping
from typing import Any

from moot.core.draft import Draft
from moot.core.flows.supervisor import questions, tools
from moot.core.flows.supervisor.ending import how_it_may_end, is_out_of_rounds, is_reviewer, review_approved
from moot.core.flows.supervisor.jobs import finish, job_of, notice, settings_of
from moot.core.flows.supervisor.quality import quality_fallback
from moot.core.flows.supervisor.shapes import Misfit, find_shape, fits
from moot.core.flows.supervisor.state_update import StateUpdate, check_update
from moot.core.flows.supervisor.state_update import complete as complete_keys
from moot.core.flows.supervisor.supervisor_events import Reviewed, StateUpdated
from moot.core.flows.supervisor.supervisor_routing import should_continue
from moot.core.flows.supervisor.supervisor_settings import END
from moot.core.json_text import find_object
from moot.core.session.commands import CompleteTurn
from moot.core.session.state import Turn

SENT_BACK = 3  # after this many outputs in a row that do not fit, a human is asked
_NO_STATE = Misfit(path="state", expected="no_state", is_missing=True)


def complete(draft: Draft, turn: Turn, message: str, command: CompleteTurn) -> None:
    """Act on the result of an agent's turn. `message` is the cleaned text of the result."""
    settings, node = settings_of(draft), turn.job
    written, ask = _read_output(message, command)
    calls = tools.read_calls(command.tool_calls, message)
    if written:
        _update(draft, turn, written)
    elif ask is None and not calls and command.state is None and _owes_state(draft, node):
        _send_back(draft, turn, StateUpdate(changes={}, refused={}, misfits=(_NO_STATE,)))
    if job_of(draft).misfits:
        return
    if ask is not None and questions.ask_user(draft, turn, ask):
        return
    job = job_of(draft)
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
    """End the job if the agent may end it and the review approved; otherwise the supervisor is next.

    The job does not end if people said something that the supervisor has not heard yet.
    """
    job = job_of(draft)
    following = should_continue(settings_of(draft), node, job.state, has_tool_calls=False)
    if following == END and not job.heard:
        finish(draft, node)


def _read_output(message: str, command: CompleteTurn) -> tuple[Mapping[str, Any] | None, Any]:
    """Return the state and the question of a result. If it has no such fields, they are read from JSON in the text."""
    written, ask = command.state, command.ask
    if written is None and ask is None and command.tool_calls is None:
        written, ask = ((find_object(message, key) or {}).get(key) for key in ("state", "ask"))
    return written if isinstance(written, Mapping) else None, ask


def _update(draft: Draft, turn: Turn, written: Mapping[str, Any]) -> None:
    update = check_update(settings_of(draft), turn.job, written)
    _send_back(draft, turn, update)
    if update.refused and not update.misfits:
        notice(draft, "state_refused", turn.job, detail=", ".join(list(update.refused)[:10]))
    complete_state(draft)


def _owes_state(draft: Draft, agent: str) -> bool:
    """Whether an agent has a key with a shape for which the state has no fitting value yet."""
    settings, state = settings_of(draft), job_of(draft).state
    writes = settings.agents[agent].writes
    return any(find_shape(settings, key) is not None and not fits(settings, key, state) for key in writes)


def _send_back(draft: Draft, turn: Turn, update: StateUpdate) -> None:
    """Log an agent's update. If it lacks something, the agent acts again; the third time in a row a human is asked."""
    sent_back = job_of(draft).sent_back + 1 if update.misfits else 0
    draft.add(
        StateUpdated(
            changes=update.changes,
            agent=turn.job,
            member=turn.member,
            turn_id=turn.turn_id,
            refused=update.refused,
            misfits=update.misfits,
            sent_back=sent_back,
            is_after_review=bool(update.changes) and job_of(draft).review is not None,
        )
    )
    if sent_back >= SENT_BACK:
        notice(draft, "output_misshapen", turn.job, detail=", ".join(misfit.path for misfit in update.misfits))
        questions.ask_stuck(draft, "misshapen")


def complete_state(draft: Draft) -> None:
    """Set the keys that have become true by their `complete_when` rule."""
    completed = complete_keys(settings_of(draft), job_of(draft).state)
    if completed:
        draft.add(StateUpdated(changes=dict(completed)))


def _review(draft: Draft, turn: Turn) -> bool:
    """Log a review. Returns whether the rounds are used up and the job cannot even end as partial."""
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
