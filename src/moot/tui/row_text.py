"""What a row of the timeline says beside its name, in the reader's words, as on the web page. Pure."""

from collections.abc import Callable

from moot.protocol.view import View
from moot.tui.job_panel import player_name
from moot.tui.rows import Frame, Row
from moot.tui.words import Words

CHARS = 200


def describe(row: Row, view: View, words: Words) -> str:
    """One line, for people."""
    said, about = row.said, _about(row.said, view, words)
    tell = TELL.get(row.event)
    if tell:
        text = tell(said, view, words)
    elif row.event == "agent.user_confirm":
        text = row.shown or said.get("question") or said.get("kind") or ""
    elif said.get("error_type"):
        failure = [words.term("error", said["error_type"]), said.get("message")]
        text = ": ".join(each for each in (about, *failure) if each)
    else:
        text = about or words.term("outcome", str(said.get("reason") or said.get("status") or ""))
    return " ".join(str(text).split())[:CHARS]


def _about(said: Frame, view: View, words: Words) -> str:
    """The task, by its title; or the job that is no task."""
    task_id = said.get("task_id") or ""
    known = view.work.tasks.get(task_id) if view.work else None
    title = (known.task if known else said.get("task") or {}).get("title") or task_id
    job = said.get("job") if view.work else None
    return " · ".join(each for each in (words.term("work", job.split(":")[0]) if job else "", title) if each)


def _say(said: Frame, view: View, words: Words) -> str:  # noqa: ARG001 - one signature for all
    return str(said["text"]).strip() or str(said.get("raw") or "")


def _understand(said: Frame, view: View, words: Words) -> str:  # noqa: ARG001
    relation = (said.get("analysis") or {}).get("task_relation") or {}
    if not relation.get("type"):
        return ""
    return f"{words.term('relation', relation['type'])} · {float(relation.get('confidence', 0)):.0%}"


def _route(said: Frame, view: View, words: Words) -> str:
    if said.get("route"):
        return words.term("route", said["route"])
    action = said.get("action") or {}
    named = said.get("queue_updates") or action.get("addressees") or [action.get("member")]
    return f"{words.term('action', action.get('type', ''))} {' → '.join(view.name(each) for each in named if each)}"


def _change(said: Frame, view: View, words: Words) -> str:  # noqa: ARG001
    return " → ".join(words.term("phase", each) for each in (said.get("from"), said["to"]) if each)


def _decide(said: Frame, view: View, words: Words) -> str:
    chosen = words("mark.decided_end") if said["next"] == "END" else f"→ {player_name(said['next'], view)}"
    passed_over = said.get("corrected_from")
    return f"{chosen} · {words('job.corrected', **{'from': player_name(passed_over, view)})}" if passed_over else chosen


def _judge(said: Frame, view: View, words: Words) -> str:  # noqa: ARG001
    return words("review.passed" if said["approved"] else "review.sent_back")


def _refuse(said: Frame, view: View, words: Words) -> str:
    return f"{_about(said, view, words)}: {words.term('error', said['reason'])}"


def _start(said: Frame, view: View, words: Words) -> str:
    attempt = said.get("attempt") or 1
    again = [words("task.attempt", n=attempt)] if attempt > 1 else []
    return " · ".join([*again, _about(said, view, words)])


def _progress(said: Frame, view: View, words: Words) -> str:  # noqa: ARG001
    return f"{said['done']}{'/' + str(said['total']) if said.get('total') else ''} {said.get('step') or ''}"


def _recover(said: Frame, view: View, words: Words) -> str:
    return f"{said['attempt']}/{said['max_attempts']} · {_about(said, view, words)}"


def _review(said: Frame, view: View, words: Words) -> str:
    verdict = words("review.passed" if said.get("pass") else "review.sent_back")
    details = [each for each in (_about(said, view, words), said.get("feedback")) if each]
    return f"{verdict}: {' · '.join(details)}"


TELL: dict[str, Callable[[Frame, View, Words], str]] = {
    "message.posted": _say,
    "understanding.completed": _understand,
    "routing.decided": _route,
    "supervisor.decided": _decide,
    "supervisor.reviewed": _judge,
    "workflow.changed": _change,
    "task.dispatch_nacked": _refuse,
    "solver.start": _start,
    "solver.progress": _progress,
    "error.recovery_started": _recover,
    "task.reviewed": _review,
}
