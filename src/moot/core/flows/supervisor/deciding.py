"""Complete the supervisor's turn: its question, its tool calls, or else its decision.

The supervisor decides; Moot corrects only choices whose preconditions are missing.
"""

from moot.core.draft import Draft
from moot.core.flows.supervisor import questions, tools
from moot.core.flows.supervisor.decision import (
    Decision,
    Fault,
    Instructions,
    Unusable,
    find_document,
    read_decision,
    read_instructions,
)
from moot.core.flows.supervisor.ending import review_approved, review_exists
from moot.core.flows.supervisor.jobs import finish, job_of, notice, player_of, settings_of
from moot.core.flows.supervisor.quality import quality_fallback
from moot.core.flows.supervisor.supervisor_events import SupervisorDecided, SupervisorUndecided
from moot.core.flows.supervisor.supervisor_routing import NextNode, route_from_supervisor, should_continue
from moot.core.flows.supervisor.supervisor_settings import END, ROUTE, SUPERVISOR
from moot.core.session.commands import CompleteTurn
from moot.core.session.state import Turn

UNUSABLE = 3  # after this many unusable answers in a row a human is asked
REPEATED = 3  # after this many equal corrections, or suggestions of failed reviews that were followed, a human is asked
SILENT = 2  # after this many following a failed review, the scores choose an agent once


def complete(draft: Draft, turn: Turn, message: str, command: CompleteTurn) -> None:
    """Act on the result of the supervisor's turn. `message` is the cleaned text of the result."""
    if command.ask is not None and questions.ask_user(draft, turn, command.ask):
        return
    settings, job = settings_of(draft), job_of(draft)
    calls = tools.read_calls(command.tool_calls, message)
    node = should_continue(settings, SUPERVISOR, job.state, has_tool_calls=bool(calls))
    if node != ROUTE:
        tools.call_tools(draft, turn, node, calls)
        return
    document = find_document(message)
    decision = read_decision(document, settings.agents)
    following = route_from_supervisor(settings, decision if isinstance(decision, Decision) else None, job.state)
    if isinstance(decision, Unusable):
        _refuse(draft, turn, decision)
    elif following.name == SUPERVISOR:
        fault: Fault = "early_end" if decision.next_agent == END else "not_ready"
        _refuse(draft, turn, Unusable(fault=fault, given=decision.next_agent))
    else:
        _follow(draft, turn, decision, following, read_instructions(document or {}))


def _follow(draft: Draft, turn: Turn, decision: Decision, following: NextNode, whole: Instructions) -> None:
    """Carry out a decision. If a human spoke while the supervisor decided to end, it decides again first.

    `whole` are the texts of the decision, not shortened.
    """
    is_interrupted = following.name == END and bool(job_of(draft).heard)
    corrected = END if is_interrupted else following.corrected_from
    repeated, followed = _count_repeated(draft, following), _count_followed(draft, following.name)
    if following.corrected_from:
        skipped = player_of(draft, following.corrected_from).display_name
        notice(draft, "decision_corrected", following.name, detail=skipped)
    draft.add(
        SupervisorDecided(
            decision=decision,
            next=SUPERVISOR if is_interrupted else following.name,
            member=turn.member,
            turn_id=turn.turn_id,
            corrected_from=corrected,
            correction="human" if is_interrupted else "precondition" if corrected else None,
            repeated=repeated,
            followed=followed,
            guidance=whole.guidance if whole.guidance != decision.guidance else "",
            context=whole.context if whole.context != decision.context_from_previous else "",
        )
    )
    if following.name == END and not is_interrupted:
        finish(draft, END)
    elif repeated >= REPEATED:
        skipped = player_of(draft, following.corrected_from or SUPERVISOR).display_name
        notice(draft, "correction_repeated", following.name, detail=skipped, limit=repeated)
        questions.ask_stuck(draft, "correction_repeated")
    elif followed >= REPEATED:
        _stop_following(draft, following.name, followed)


def _count_repeated(draft: Draft, following: NextNode) -> int:
    """Return how often in a row this choice was corrected, now included; 0 if it is not corrected."""
    if not following.corrected_from:
        return 0
    job = job_of(draft)
    return job.repeated + 1 if job.corrected_from == following.corrected_from else 1


def _count_followed(draft: Draft, agent: str) -> int:
    """Return how often the agent that failed reviews suggest was chosen, now included; 0 if another one is chosen.

    Other choices in between do not interrupt the count; the suggestion of another agent does.
    """
    job = job_of(draft)
    if agent != _find_suggested(draft):
        return 0
    return job.followed + 1 if job.suggested == agent else 1


def _find_suggested(draft: Draft) -> str | None:
    """Return the agent that the scores of a failed review suggest."""
    settings, job = settings_of(draft), job_of(draft)
    is_rejected = review_exists(settings, job.state) and not review_approved(settings, job.state)
    return quality_fallback(settings.quality, job.state) if is_rejected else None


def _stop_following(draft: Draft, agent: str, count: int) -> None:
    notice(draft, "suggestion_repeated", agent, limit=count)
    questions.ask_stuck(draft, "correction_repeated")


def _refuse(draft: Draft, turn: Turn, unusable: Unusable) -> None:
    """Let the supervisor decide again. After a failed review the scores choose the second time; then a human does."""
    count = job_of(draft).unusable_in_a_row + 1
    draft.add(
        SupervisorUndecided(
            turn_id=turn.turn_id, member=turn.member, fault=unusable.fault, given=unusable.given, count=count
        )
    )
    if count >= UNUSABLE:
        notice(draft, "supervisor_undecided", SUPERVISOR, limit=count)
        questions.ask_stuck(draft, "undecided")
    elif count == SILENT:
        _fall_back(draft)


def _fall_back(draft: Draft) -> None:
    fallback = _find_suggested(draft)
    if fallback is None or job_of(draft).is_fallback_used:
        return
    notice(draft, "quality_corrected", fallback)
    followed = _count_followed(draft, fallback)
    decision = Decision(next_agent=fallback)
    draft.add(SupervisorDecided(decision=decision, next=fallback, correction="quality_fallback", followed=followed))
    if followed >= REPEATED:
        _stop_following(draft, fallback, followed)
