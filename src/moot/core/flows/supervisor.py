"""The supervisor flow (spec/3, seed 003): a supervisor chooses who acts, the chosen one acts and hands back, until END.

Every function ends in `floor.advance`: whoever's turn it is acts, or a human is asked, or the job is over.
"""

from moot.core import failures, front_door, text
from moot.core.commands import Answer, CompleteTool, CompleteTurn, FailTurn, ReportStep, ReportUnderstanding
from moot.core.draft import Draft
from moot.core.events import MessagePosted, NoticePosted, StepAsked, TurnCompleted
from moot.core.markers import Markers
from moot.core.messages import post
from moot.core.state import Turn
from moot.core.supervisor import acting, answers, deciding, floor, jobs, questions, steering, tools
from moot.core.supervisor_settings import SUPERVISOR
from moot.core.team import Member
from moot.core.usage import safe_usage


def receive(draft: Draft, speaker: Member, raw: str, markers: Markers) -> None:
    """A human spoke: what it means is understood first."""
    post(draft, speaker, raw, markers, turn_id=None)
    if markers.done:
        stop(draft, "session_ended")
        draft.end("done")
        return
    if markers.next or markers.drop:
        draft.add(NoticePosted(code="no_queue_here"))
    routed = front_door.receive(draft, speaker.id, markers.clean.strip()) if markers.clean.strip() else None
    if routed:
        steering.steer(draft, *routed)
    floor.advance(draft)


def understand(draft: Draft, command: ReportUnderstanding) -> None:
    routed = front_door.complete(draft, command)
    if routed:
        steering.steer(draft, *routed)
    floor.advance(draft)


def complete_turn(draft: Draft, turn: Turn, command: CompleteTurn) -> None:
    said = text.cut(text.clean(command.text))
    draft.add(TurnCompleted(turn_id=turn.turn_id, member=turn.member, usage=safe_usage(command.usage)))
    if not text.is_blank(said):
        draft.add(MessagePosted(member=turn.member, text=said, turn_id=turn.turn_id))
    if turn.job == SUPERVISOR:
        deciding.complete(draft, turn, said, command)
    else:
        acting.complete(draft, turn, said, command)
    floor.advance(draft)


def fail_turn(draft: Draft, turn: Turn, command: FailTurn) -> None:
    """Say so and ask: the same one again, another one, or the end."""
    failures.log_failure(draft, turn, command)
    reason = failures.tell_failure(draft, turn, command, draft.team.supervisor.turn_timeout_s)
    questions.ask_stuck(draft, reason)
    floor.advance(draft)


def complete_tool(draft: Draft, command: CompleteTool) -> None:
    """When the last of them has answered, who called them acts again."""
    tools.complete_tool(draft, command)
    floor.advance(draft)


def step_turn(draft: Draft, turn: Turn, step: ReportStep) -> bool:  # noqa: ARG001 - steps have no other name here
    return False


def answer(draft: Draft, step: StepAsked, command: Answer, by: Member | None) -> None:
    answers.answer(draft, step, command, by)
    floor.advance(draft)


def expire(draft: Draft, step: StepAsked) -> None:  # noqa: ARG001 - questions of this flow wait for ever
    floor.advance(draft)


def pause(draft: Draft, by: Member | None) -> None:
    steering.pause(draft, by)
    floor.advance(draft)


def resume(draft: Draft) -> None:
    steering.resume(draft)
    floor.advance(draft, starts_deferred=True)


def retry(draft: Draft) -> None:
    """What failed, or where the job is stuck, again."""
    steering.retry(draft)
    floor.advance(draft)


def cancel(draft: Draft, by: Member | None) -> None:  # noqa: ARG001 - one signature for all flows
    steering.cancel(draft)
    floor.advance(draft)


def stop(draft: Draft, reason: str) -> None:
    if jobs.active_job(draft.state) is not None:
        jobs.cancel(draft, reason)


def status(draft: Draft) -> NoticePosted:
    return steering.status_notice(draft)
