"""Complete the supervisor's turn: its question, its tool calls, or else its decision.

The supervisor decides; Moot corrects only choices whose preconditions are missing.
"""

from moot.core.draft import Draft
from moot.core.flows.supervisor import questions, tools
from moot.core.flows.supervisor.decision import Decision, Fault, Unusable, extract_decision, read_instructions
from moot.core.flows.supervisor.ending import review_approved, review_exists
from moot.core.flows.supervisor.jobs import finish, job_of, notice, player_of, settings_of
from moot.core.flows.supervisor.quality import quality_fallback
from moot.core.flows.supervisor.supervisor_events import SupervisorDecided, SupervisorUndecided
from moot.core.flows.supervisor.supervisor_routing import NextNode, route_from_supervisor, should_continue
from moot.core.flows.supervisor.supervisor_settings import END, ROUTE, SUPERVISOR
from moot.core.session.commands import CompleteTurn
from moot.core.session.state import Turn

UNUSABLE = 3  # after this many unusable answers in a row a human is asked
REPEATED = 3  # after this many equal corrections in a row a human is asked
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
    decision = extract_decision(message, settings.agents)
    following = route_from_supervisor(settings, decision if isinstance(decision, Decision) else None, job.state)
    if isinstance(decision, Unusable):
        _refuse(draft, turn, decision)
    elif following.name == SUPERVISOR:
        fault: Fault = "early_end" if decision.next_agent == END else "not_ready"
        _refuse(draft, turn, Unusable(fault=fault, given=decision.next_agent))
    else:
        _follow(draft, turn, decision, following, message)


def _follow(draft: Draft, turn: Turn, decision: Decision, following: NextNode, message: str) -> None:
    """Carry out a decision. If a human spoke while the supervisor decided to end, it decides again first."""
    is_interrupted = following.name == END and bool(job_of(draft).heard)
    corrected = END if is_interrupted else following.corrected_from
    repeated = _count_repeated(draft, following)
    if following.corrected_from:
        skipped = player_of(draft, following.corrected_from).display_name
        notice(draft, "decision_corrected", following.name, detail=skipped)
    whole = read_instructions(message)
    draft.add(
        SupervisorDecided(
            decision=decision,
            next=SUPERVISOR if is_interrupted else following.name,
            member=turn.member,
            turn_id=turn.turn_id,
            corrected_from=corrected,
            correction="human" if is_interrupted else "precondition" if corrected else None,
            repeated=repeated,
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


def _count_repeated(draft: Draft, following: NextNode) -> int:
    """Return how often in a row this choice was corrected, now included; 0 if it is not corrected."""
    if not following.corrected_from:
        return 0
    job = job_of(draft)
    return job.repeated + 1 if job.corrected_from == following.corrected_from else 1


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
    settings, job = settings_of(draft), job_of(draft)
    is_rejected = review_exists(settings, job.state) and not review_approved(settings, job.state)
    fallback = quality_fallback(settings.quality, job.state)
    if not is_rejected or fallback is None or job.is_fallback_used:
        return
    notice(draft, "quality_corrected", fallback)
    decision = Decision(next_agent=fallback)
    draft.add(SupervisorDecided(decision=decision, next=fallback, correction="quality_fallback"))
