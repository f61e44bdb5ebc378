"""Steering a supervisor's job with what people say: what is about it, the supervisor hears next (plan: routing)."""

from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.events import Input, NoticePosted, PauseRequested, SessionActivated, StepAsked, StepClosed
from moot.core.intent import ControlAction, RoutingDecision
from moot.core.interruption import STOPPED
from moot.core.machines.interrupt import State as Interrupt
from moot.core.plan import questions
from moot.core.plan.events import InputDeferred
from moot.core.supervisor import jobs
from moot.core.supervisor.events import InputNoted
from moot.core.supervisor.jobs import active_job, begin
from moot.core.supervisor.supervision import STUCK
from moot.core.team import Member

CONTROLS = ("pause", "resume", "cancel", "status_query")
CHOICES = ("finish_first", "close_and_start", "drop")


def steer(draft: Draft, said: Input, decision: RoutingDecision) -> None:
    """Do what was decided about an input."""
    job = active_job(draft.state)
    match decision.route:
        case "control_action":
            control(draft, decision.payload.control_action or "status_query", said.member)
        case "wait_user_decision":
            guess = decision.payload.control_action
            options = ("tell_supervisor", *CHOICES) if job else ("close_and_start", "drop")
            questions.ask_about_input(draft, "ask_unsure", (guess, *options) if guess else options, said)
        case _ if job is None:
            begin(draft, said.text, said.member)
        case "new_task":
            questions.ask_about_input(draft, "ask_new_task", CHOICES, said)
        case _:
            tell(draft, said.text, said.member)


def tell(draft: Draft, text: str, member: str) -> None:
    """The supervisor hears it when it decides next; a job that was stuck goes on with that."""
    draft.add(InputNoted(member=member, text=text))
    for step in draft.state.open_steps.values():
        if step.code == STUCK:
            draft.add(StepClosed(step_id=step.step_id, outcome="superseded", by=member))


def choose(draft: Draft, step: StepAsked, choice: str) -> None:
    """A human decided what becomes of an input. When the job is over meanwhile, it is one of its own."""
    said = step.input
    assert said is not None  # noqa: S101 - questions about inputs carry them
    if choice in CONTROLS:
        control(draft, choice, said.member)  # type: ignore[arg-type]
    elif choice == "drop":
        draft.add(NoticePosted(code="input_dropped", detail=said.text[:200]))
    elif active_job(draft.state) is None:
        begin(draft, said.text, said.member)
    elif choice == "finish_first":
        draft.add(InputDeferred(text=said.text, member=said.member))
    elif choice == "close_and_start":
        jobs.cancel(draft, "closed_for_new_task")
        begin(draft, said.text, said.member)
    else:
        tell(draft, said.text, said.member)


def control(draft: Draft, action: ControlAction, by: str) -> None:
    """What cannot be done is said, not refused: nobody waits for the answer to this."""
    try:
        match action:
            case "pause":
                pause(draft, draft.team.member(by))
            case "resume":
                resume(draft)
            case "cancel":
                cancel(draft)
            case "status_query":
                draft.add(status_notice(draft))
    except Refused as refusal:
        draft.add(NoticePosted(code=refusal.code, detail=str(refusal.params.get("detail", ""))))


def pause(draft: Draft, by: Member | None) -> None:
    """What runs comes to its end, then the job waits."""
    if active_job(draft.state) is None:
        if draft.state.door.inputs:
            raise Refused("still_understanding")
        draft.pause(by or draft.team.first_human, "user_pause")
    elif draft.state.interrupt is Interrupt.EXECUTION:
        draft.add(PauseRequested(member=by.id if by else None))


def resume(draft: Draft) -> None:
    """Also a job that is stuck: it goes on where it stopped."""
    state = draft.state
    stuck = find_stuck(draft)
    if state.interrupt is Interrupt.PAUSING or state.interrupt in STOPPED:
        draft.add(SessionActivated())
    elif stuck:
        draft.add(StepClosed(step_id=stuck.step_id, outcome="answered", choice="retry"))
    elif not state.door.deferred or active_job(state):
        raise Refused("nothing_to_resume")


def retry(draft: Draft) -> None:
    stuck = find_stuck(draft)
    if stuck is None:
        raise Refused("nothing_to_retry")
    draft.add(StepClosed(step_id=stuck.step_id, outcome="answered", choice="retry"))


def find_stuck(draft: Draft) -> StepAsked | None:
    return next((step for step in draft.state.open_steps.values() if step.code == STUCK), None)


def cancel(draft: Draft) -> None:
    if active_job(draft.state) is None:
        raise Refused("nothing_running")
    jobs.cancel(draft, "user_cancel")


def status_notice(draft: Draft) -> NoticePosted:
    """Answered from the state, without a model."""
    state = draft.state
    job = active_job(state)
    if job is None:
        return NoticePosted(code="no_work")
    who = jobs.player_of(draft, job.node).display_name
    limit = draft.team.supervisor.max_steps
    return NoticePosted(code="supervisor_status", detail=state.status, who=who, count=job.steps, limit=limit)
