"""The input of a turn in the supervisor flow: for an agent, or for the supervisor."""

from typing import Any

from msgspec import Struct

from moot.core.flows.supervisor.briefing import Briefing
from moot.core.flows.supervisor.supervision import Heard, Supervision, ToolResult
from moot.core.flows.supervisor.supervisor_settings import SUPERVISOR, SupervisorSettings
from moot.core.session.team import Language


class AgentBrief(Struct, frozen=True, kw_only=True, gc=False):
    """`briefing` is for the supervisor's prompt; guidance, context and focus are for the agent that it chose."""

    agent: str
    goal: str
    state: dict[str, Any]
    writes: tuple[str, ...] = ()
    guidance: str = ""
    context_from_previous: str = ""
    focus_areas: tuple[str, ...] = ()
    feedback: str = ""  # of a human who rejected the last output
    answers: dict[str, Any] = {}  # what people answered, by the question's key
    may_call: bool = False  # whether it may call tools between its turns
    tools: tuple[str, ...] = ()  # one line for each tool, filled in by the shell
    results: tuple[ToolResult, ...] = ()  # of the tools it called
    heard: tuple[Heard, ...] = ()  # what people said since the supervisor last decided
    briefing: Briefing | None = None


def brief(job: Supervision, settings: SupervisorSettings, node: str, language: Language) -> AgentBrief:
    if node == SUPERVISOR:
        return AgentBrief(
            agent=node,
            goal=job.goal,
            state=job.state,
            answers=job.answers,
            may_call=True,
            results=job.results,
            heard=job.given,
            briefing=Briefing(
                settings=settings,
                state=job.state,
                language=language,
                goal=job.goal,
                decisions=job.decisions,
                unusable=job.unusable,
                said=tuple([f"{heard.member}: {heard.text}" for heard in job.given]),
            ),
        )
    decision = job.decision
    return AgentBrief(
        agent=node,
        goal=job.goal,
        state=job.state,
        writes=settings.agents[node].writes,
        guidance=decision.guidance if decision else "",
        context_from_previous=decision.context_from_previous if decision else "",
        focus_areas=decision.focus_areas if decision else (),
        feedback=job.feedback,
        answers=job.answers,
        may_call=settings.agents[node].tools is not None,
        results=job.results,
    )
