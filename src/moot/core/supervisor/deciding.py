"""The supervisor's turn is over: its question, its tools, else its decision. It leads, Moot corrects the obvious."""

from moot.core.commands import CompleteTurn
from moot.core.draft import Draft
from moot.core.state import Turn
from moot.core.supervisor import questions, tools
from moot.core.supervisor.decision import Decision, Fault, Unusable, extract_decision
from moot.core.supervisor.ending import review_approved, review_exists
from moot.core.supervisor.events import SupervisorDecided, SupervisorUndecided
from moot.core.supervisor.jobs import finish, job_of, notice, player_of, settings_of
from moot.core.supervisor.quality import quality_fallback
from moot.core.supervisor.routing import NextNode, route_from_supervisor, should_continue
from moot.core.supervisor_settings import END, ROUTE, SUPERVISOR

UNUSABLE = 3  # decisions in a row without a use: then a human is asked
SILENT = 2  # after a failed review so many, and the scores choose once


def complete(draft: Draft, turn: Turn, said: str, command: CompleteTurn) -> None:
    if command.ask is not None and questions.ask_user(draft, turn, command.ask):
        return
    settings, job = settings_of(draft), job_of(draft)
    calls = tools.read_calls(command.tool_calls, said)
    node = should_continue(settings, SUPERVISOR, job.state, has_tool_calls=bool(calls))
    if node != ROUTE:
        tools.call_tools(draft, turn, node, calls)
        return
    read = extract_decision(said, settings.agents)
    following = route_from_supervisor(settings, read if isinstance(read, Decision) else None, job.state)
    if isinstance(read, Unusable):
        _refuse(draft, turn, read)
    elif following.name == SUPERVISOR:
        fault: Fault = "early_end" if read.next_agent == END else "not_ready"
        _refuse(draft, turn, Unusable(fault=fault, given=read.next_agent))
    else:
        _follow(draft, turn, read, following)


def _follow(draft: Draft, turn: Turn, decision: Decision, following: NextNode) -> None:
    """Do as the supervisor says. When somebody spoke while it decided on the end, it hears that first."""
    is_interrupted = following.name == END and bool(job_of(draft).heard)
    corrected = END if is_interrupted else following.corrected_from
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
        )
    )
    if following.name == END and not is_interrupted:
        finish(draft, END)


def _refuse(draft: Draft, turn: Turn, unusable: Unusable) -> None:
    """Decide again. After a failed review the scores choose once in its place; the third time a human is asked."""
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
