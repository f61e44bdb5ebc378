"""The input of a turn in the supervisor flow: for an agent, or for the supervisor."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from moot.core.flows.supervisor.briefing import Briefing
from moot.core.flows.supervisor.decision import without_json
from moot.core.flows.supervisor.quality import low_axes
from moot.core.flows.supervisor.shapes import Misfit, list_shapes
from moot.core.flows.supervisor.supervision import Heard, Supervision, ToolResult
from moot.core.flows.supervisor.supervisor_settings import SUPERVISOR, Condition, SupervisorSettings
from moot.core.session.state import Message
from moot.core.session.team import Language

MESSAGES = 20  # of the conversation, the newest, for the state's `messages`
MESSAGE_CHARS = 1_000


class AgentBrief(Struct, frozen=True, kw_only=True, gc=False):
    """`briefing` is for the supervisor's prompt; guidance, context and focus are for the agent that it chose.

    If the supervisor chose another agent, `needed_by`, and its precondition `needs` is missing, the agent acts first to
    provide it, and the guidance is empty: it was meant for the other one.
    """

    agent: str
    goal: str
    state: dict[str, Any]
    purpose: str = ""
    writes: tuple[str, ...] = ()
    shapes: dict[str, Any] = {}  # examples of the keys that it writes
    guidance: str = ""
    context_from_previous: str = ""
    focus_areas: tuple[str, ...] = ()
    needed_by: str = ""
    needs: tuple[Condition, ...] = ()
    low_scores: tuple[str, ...] = ()  # of the last review, if they are why it acts
    misfits: tuple[Misfit, ...] = ()  # what its last output lacked
    feedback: str = ""  # of a human who rejected the last output
    answers: dict[str, Any] = {}  # what people answered, by the question's key
    may_call: bool = False  # whether it may call tools between its turns
    tools: tuple[str, ...] = ()  # one line for each tool, filled in by the shell
    results: tuple[ToolResult, ...] = ()  # of the tools it called
    heard: tuple[Heard, ...] = ()  # what people said since the supervisor last decided
    briefing: Briefing | None = None


def brief(
    job: Supervision, settings: SupervisorSettings, node: str, language: Language, messages: Sequence[Message] = ()
) -> AgentBrief:
    state = _add_messages(job.state, messages)
    if node == SUPERVISOR:
        return _brief_supervisor(job, settings, state, language)
    agent = settings.agents[node]
    is_corrected = job.corrected_from in settings.agents
    decision = None if is_corrected else job.decision
    return AgentBrief(
        agent=node,
        goal=job.goal,
        state=state,
        purpose=agent.purpose,
        writes=agent.writes,
        shapes=list_shapes(settings, node),
        guidance=job.instructions.guidance or decision.guidance if decision else "",
        context_from_previous=job.instructions.context or decision.context_from_previous if decision else "",
        focus_areas=decision.focus_areas if decision else (),
        needed_by=job.corrected_from if is_corrected else "",
        needs=settings.agents[job.corrected_from].requires_any if is_corrected else (),
        low_scores=tuple(low_axes(settings.quality, job.state)) if job.is_chosen_by_scores and settings.quality else (),
        misfits=job.misfits,
        feedback=job.feedback,
        answers=job.answers,
        may_call=agent.tools is not None,
        results=job.results,
    )


def _brief_supervisor(
    job: Supervision, settings: SupervisorSettings, state: dict[str, Any], language: Language
) -> AgentBrief:
    return AgentBrief(
        agent=SUPERVISOR,
        goal=job.goal,
        state=state,
        answers=job.answers,
        may_call=True,
        results=job.results,
        heard=job.given,
        briefing=Briefing(
            settings=settings,
            state=state,
            language=language,
            goal=job.goal,
            decisions=job.decisions,
            unusable=job.unusable,
            said=tuple([f"{heard.member}: {heard.text}" for heard in job.given]),
            changed=job.changed,
            acted=job.acted,
        ),
    )


def _add_messages(state: dict[str, Any], messages: Sequence[Message]) -> dict[str, Any]:
    """Fill in `messages`, which is derived from the log, if the team declares it."""
    if "messages" not in state:
        return state
    texts = [(each.member, without_json(each.text).strip()[:MESSAGE_CHARS]) for each in messages[-MESSAGES:]]
    return {**state, "messages": [{"by": member, "text": text} for member, text in texts if text]}
