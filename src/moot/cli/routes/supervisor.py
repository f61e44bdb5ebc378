"""`moot route supervisor`: where the supervisor flow would go from a node."""

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from moot.config.loading import load_team
from moot.core import text
from moot.core.errors import MootError
from moot.core.flows.supervisor import supervisor_routing as routing
from moot.core.flows.supervisor.decision import Decision, extract_decision
from moot.core.flows.supervisor.ending import can_end
from moot.core.flows.supervisor.quality import quality_fallback
from moot.core.flows.supervisor.state_update import complete
from moot.core.flows.supervisor.supervisor_routing import NextNode
from moot.core.flows.supervisor.supervisor_settings import ROUTE, SUPERVISOR, SupervisorSettings


class Question(Struct, frozen=True, kw_only=True):
    """`team` is a path, the name of a built-in team, or a team file as an object; `message` is what `node` said."""

    team: str | dict[str, Any]
    node: str = SUPERVISOR
    state: dict[str, Any] | None = None
    message: str | None = None
    tool_calls: tuple[Any, ...] | None = None
    tool_round: int = 1


def route(question: Question) -> dict[str, Any]:
    """Return where the flow would go. Keys of the state that the team does not declare have no effect."""
    settings = load_team(question.team).supervisor
    if not settings.agents:
        raise MootError("this team has no agents for a supervisor: give it a part supervisor, or use content-studio")
    values = question.state or {}
    state = values | complete(settings, values)
    decision, following = _follow(question, settings, state)
    return {
        "decision": None if decision is None else asdict(decision),
        "next": following.name,
        "corrected_from": following.corrected_from,
        "quality_fallback": quality_fallback(settings.quality, state),
        "can_end": can_end(settings, state),
    }


def _follow(
    question: Question, settings: SupervisorSettings, state: dict[str, Any]
) -> tuple[Decision | None, NextNode]:
    node = question.node
    owner = routing.owner_of_tools(settings, node)
    if owner is not None:  # after its tools, the agent that called them continues
        return None, NextNode(owner)
    if node not in (SUPERVISOR, ROUTE, *settings.agents):
        raise MootError(f"no node {node!r} in this team: use one of {', '.join(_list_nodes(settings))}")
    if node != ROUTE:
        node = routing.should_continue(
            settings, node, state, has_tool_calls=bool(question.tool_calls), tool_round=question.tool_round
        )
    if node != ROUTE:
        return None, NextNode(node)
    extracted = extract_decision(text.cut(text.clean(question.message or "")), settings.agents)
    decision = extracted if isinstance(extracted, Decision) else None
    return decision, routing.route_from_supervisor(settings, decision, state)


def _list_nodes(settings: SupervisorSettings) -> list[str]:
    loops = [settings.tools, *(agent.tools for agent in settings.agents.values())]
    return [SUPERVISOR, ROUTE, *settings.agents, *(loop.node for loop in loops if loop)]
