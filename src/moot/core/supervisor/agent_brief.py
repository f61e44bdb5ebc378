"""What an agent of the supervisor flow is given when its turn comes, and what the supervisor is."""

from typing import Any

from msgspec import Struct

from moot.core.supervisor.briefing import Briefing
from moot.core.supervisor.supervision import Heard, Supervision, ToolResult
from moot.core.supervisor_settings import SUPERVISOR, SupervisorSettings
from moot.core.team import Language


class AgentBrief(Struct, frozen=True, kw_only=True, gc=False):
    """`briefing` is the supervisor's, for its prompt; guidance, context and focus are for the agent that it chose."""

    agent: str
    goal: str
    state: dict[str, Any]
    writes: tuple[str, ...] = ()
    guidance: str = ""
    context_from_previous: str = ""
    focus_areas: tuple[str, ...] = ()
    feedback: str = ""  # of a human who did not like the last output
    answers: dict[str, Any] = {}  # what people answered, by the question's key
    may_call: bool = False  # tools, between its turns
    tools: tuple[str, ...] = ()  # which: a line each, filled in by who plays the turn
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
                said=tuple([f"{each.member}: {each.text}" for each in job.given]),
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
