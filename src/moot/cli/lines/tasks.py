"""Tasks as lines: who starts, how far they are, what failed and when it is tried again, what came of it."""

from collections.abc import Callable
from typing import Any

from moot.cli.lines.telling import Telling, indent
from moot.core.plan import events


def _start(tell: Telling, fact: events.SolverStarted) -> list[str]:
    code = "task_started" if fact.attempt == 1 else "task_started_again"
    return [tell.say(code, who=tell.name(fact.member), title=fact.task["title"], count=fact.attempt)]


def _progress(tell: Telling, fact: events.SolverProgressed) -> list[str]:
    count = f"{fact.done}/{fact.total}" if fact.total else str(fact.done)
    return indent(f"  · {tell.name(fact.member)} {count}: ", fact.step)


def _complete(tell: Telling, fact: events.SolverCompleted) -> list[str]:
    told = tell.say("task_finished", who=tell.name(fact.member), title=fact.task["title"])
    return [told, *tell.result(fact.result)]


def _take(tell: Telling, fact: events.DispatchAcked) -> list[str]:
    return [] if fact.place is None else [tell.say("task_in_line", count=fact.place, title=tell.title(fact.task_id))]


def _refuse(tell: Telling, fact: events.DispatchNacked) -> list[str]:
    told = tell.say(
        "task_not_taken", who=tell.name(fact.member), title=tell.title(fact.task_id), reason=_reason(tell, fact.reason)
    )
    again = "" if fact.retry_in_s is None else tell.say("offered_again", seconds=fact.retry_in_s)
    return [told + again]


def _reason(tell: Telling, reason: str) -> str:
    return tell.say("reason_timeout") if reason == "timeout" else reason


def _fail(tell: Telling, fact: events.TaskFailed) -> list[str]:
    about = {"title": tell.title(fact.task_id), "error_type": fact.error_type, "detail": tell.failure(fact)}
    code = "task_broke" if fact.message else "task_ended"
    return indent("", tell.say(code, who=tell.name(fact.member), **about))


def _retry(tell: Telling, fact: events.RecoveryStarted) -> list[str]:
    code = "retry_in" if fact.delay_s else "retry_at_once"
    about = {"count": fact.attempt, "limit": fact.max_attempts, "title": _subject(tell, fact)}
    return [tell.say(code, seconds=fact.delay_s, **about)]


def _recover(tell: Telling, fact: events.RecoverySucceeded) -> list[str]:
    return [tell.say("retry_worked", count=fact.attempt, title=_subject(tell, fact))]


def _give_up(tell: Telling, fact: events.RecoveryFailed) -> list[str]:
    return [tell.say("retries_over", title=_subject(tell, fact))]


def _subject(tell: Telling, fact: events.RecoveryStarted | events.RecoverySucceeded | events.RecoveryFailed) -> str:
    """The task, or for a planner's, a reviewer's or an aggregator's turn the name of that job."""
    job = fact.job.partition(":")[0]
    title = tell.title(fact.task_id)
    return " · ".join(each for each in (tell.say(f"job_{job}") if job else "", title) if each)


def _lose(tell: Telling, fact: events.LeaseExpired) -> list[str]:
    """A pause gives tasks back too: that is told as a pause."""
    return [] if fact.reason == "paused" else [tell.say("worker_gone", title=tell.title(fact.task_id))]


def _review(tell: Telling, fact: events.TaskReviewed) -> list[str]:
    code = "task_passed" if fact.passed else "task_sent_back"
    about = {"who": tell.name(fact.member), "title": tell.title(fact.task_id)}
    return indent("", tell.say(code, detail=fact.feedback, **about))


def _cancel(tell: Telling, fact: events.SolverCancelled) -> list[str]:
    return [tell.say("task_cancelled", title=fact.task["title"])]


def _restart(tell: Telling, fact: events.SolverRestarted) -> list[str]:
    who = f" → {tell.name(fact.member)}" if fact.member else ""
    return [tell.say("task_restarted", title=fact.task["title"]) + who]


def _skip(tell: Telling, fact: events.TaskSkipped) -> list[str]:
    return [tell.say("task_skipped", title=tell.title(fact.task_id))]


def _open_breaker(tell: Telling, fact: events.MemberUnavailable) -> list[str]:
    return [
        tell.say("member_unavailable", who=tell.name(fact.member), count=fact.failures, seconds=fact.retry_in_s),
    ]


TASK_LINES: dict[type, Callable[[Telling, Any], list[str]]] = {
    events.SolverStarted: _start,
    events.SolverProgressed: _progress,
    events.SolverCompleted: _complete,
    events.DispatchAcked: _take,
    events.DispatchNacked: _refuse,
    events.TaskFailed: _fail,
    events.RecoveryStarted: _retry,
    events.RecoverySucceeded: _recover,
    events.RecoveryFailed: _give_up,
    events.LeaseExpired: _lose,
    events.TaskReviewed: _review,
    events.SolverCancelled: _cancel,
    events.SolverRestarted: _restart,
    events.TaskSkipped: _skip,
    events.MemberUnavailable: _open_breaker,
}
