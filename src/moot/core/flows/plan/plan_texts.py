"""The texts that go with the frames of the plan flow: what each step of the timeline means (`show_content`)."""

from moot.core.fact_lines import Lines
from moot.core.flows.plan import plan_events as plan
from moot.core.session.notices import tell_failure
from moot.core.session.session_lines import SESSION_LINES
from moot.core.session.team import Language
from moot.core.texts import render

PLAN_TEXTS = Lines(SESSION_LINES)


@PLAN_TEXTS.text(plan.ExecutionFailed)
def _execution_failure_text(fact: plan.ExecutionFailed, language: Language) -> str:
    return tell_failure(fact.error_type, fact.message, language)


@PLAN_TEXTS.text(plan.WorkflowChanged)
def _phase_text(fact: plan.WorkflowChanged, language: Language) -> str:
    return render("shown_phase", language, detail=render(f"ui.phase.{fact.state}", language))


@PLAN_TEXTS.text(plan.DispatchRequested)
def _dispatch_text(fact: plan.DispatchRequested, language: Language) -> str:
    return render("shown_dispatch", language, detail=fact.place or fact.agent_id)


@PLAN_TEXTS.text(plan.DispatchAcked)
def _ack_text(_: plan.DispatchAcked, language: Language) -> str:
    return render("shown_ack", language)


@PLAN_TEXTS.text(plan.DispatchNacked)
def _nack_text(fact: plan.DispatchNacked, language: Language) -> str:
    return render("shown_nack", language, reason=tell_reason(fact.reason, language))


@PLAN_TEXTS.text(plan.SolverStarted)
def _start_text(_: plan.SolverStarted, language: Language) -> str:
    return render("shown_start", language)


@PLAN_TEXTS.text(plan.SolverProgressed)
def _progress_text(fact: plan.SolverProgressed, language: Language) -> str:
    return tell_step(fact, language)


@PLAN_TEXTS.text(plan.PlanStepped)
def _plan_step_text(fact: plan.PlanStepped, language: Language) -> str:
    return tell_step(fact, language)


@PLAN_TEXTS.text(plan.SolverCompleted)
def _success_text(_: plan.SolverCompleted, language: Language) -> str:
    return render("shown_success", language)


@PLAN_TEXTS.text(plan.TaskFailed)
def _failed_text(fact: plan.TaskFailed, language: Language) -> str:
    return render("shown_failure", language, reason=tell_failure(fact.error_type, fact.message, language))


@PLAN_TEXTS.text(plan.TaskReviewed)
def _reviewed_text(fact: plan.TaskReviewed, language: Language) -> str:
    return _tell_verdict(fact.passed, fact.feedback, language)


@PLAN_TEXTS.text(plan.PlanReviewed)
def _plan_reviewed_text(fact: plan.PlanReviewed, language: Language) -> str:
    return _tell_verdict(fact.passed, fact.feedback, language)


@PLAN_TEXTS.text(plan.AggregateReviewed)
def _answer_reviewed_text(fact: plan.AggregateReviewed, language: Language) -> str:
    return _tell_verdict(fact.passed, fact.feedback, language)


def tell_reason(reason: str, language: Language) -> str:
    """A reason for which a task was not taken: Moot's own, or the member's."""
    return render("reason_timeout", language) if reason == "timeout" else reason


def tell_step(step: plan.SolverProgressed | plan.PlanStepped, language: Language) -> str:
    """A step with the name of what it is: a thought, an action, an observation."""
    named = (("thought", step.thought), ("action", step.action), ("observation", step.observation))
    parts = [render(f"shown_{name}", language, detail=text) for name, text in named if text]
    return "\n".join(parts) or step.step


def _tell_verdict(passed: bool, feedback: str, language: Language) -> str:
    code = "shown_pass" if passed else "shown_reject_why" if feedback else "shown_reject"
    return render(code, language, detail=feedback)
