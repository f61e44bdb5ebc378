"""Who acts next, as pure functions with the names of seed 003 in snake_case.

The engine is general (`should_continue`): what an agent's tools and end mean is said by the team. The functions that
name an agent of the content studio are that engine, asked about that agent.
"""

from msgspec import Struct

from moot.core.supervisor.conditions import SharedState, holds_any, look_up
from moot.core.supervisor.decision import Decision
from moot.core.supervisor.ending import can_end, review_approved
from moot.core.supervisor_settings import END, ROUTE, SUPERVISOR, SupervisorSettings

RESEARCH, IMAGE, REVIEW = "research_evidence_agent", "image_agent", "review_agent"


class NextNode(Struct, frozen=True, gc=False):
    """`corrected_from` is what the supervisor chose, where that is not what happens."""

    name: str
    corrected_from: str | None = None


def route_from_supervisor(settings: SupervisorSettings, decision: Decision | None, state: SharedState) -> NextNode:
    """No decision: decide again. END: if it may. Else the choice, unless what it needs is obviously missing."""
    if decision is None:
        return NextNode(SUPERVISOR)
    chosen = decision.next_agent
    if chosen == END:
        return NextNode(END) if can_end(settings, state) else NextNode(SUPERVISOR, corrected_from=END)
    fallback = check_basic_preconditions(settings, chosen, state)
    return NextNode(chosen) if fallback is None else NextNode(fallback, corrected_from=chosen)


def check_basic_preconditions(settings: SupervisorSettings, agent: str, state: SharedState) -> str | None:
    """Who acts instead because what `agent` needs is missing; None if nothing is. One correction, never chained.

    An agent that needs something but names no fallback is the supervisor's to choose again.
    """
    needs = settings.agents[agent].requires_any
    return None if holds_any(needs, state) else settings.agents[agent].fallback or SUPERVISOR


def should_continue(
    settings: SupervisorSettings, node: str, state: SharedState, *, has_tool_calls: bool, tool_round: int = 1
) -> str:
    """Where the work goes after `node`: its tools, the end, or back. `tool_round` is the number of this call."""
    if node == SUPERVISOR:
        return settings.tools.node if has_tool_calls else ROUTE
    agent = settings.agents[node]
    if agent.tools is not None and has_tool_calls:
        is_done = agent.tools.done_when is not None and look_up(state, agent.tools.done_when) is True
        is_spent = 0 < agent.tools.max_rounds <= tool_round
        if not is_done and not is_spent:
            return agent.tools.node
    if agent.ends and review_approved(settings, state):
        return END
    return SUPERVISOR


def should_continue_supervisor(settings: SupervisorSettings, state: SharedState, *, has_tool_calls: bool) -> str:
    return should_continue(settings, SUPERVISOR, state, has_tool_calls=has_tool_calls)


def should_continue_research(settings: SupervisorSettings, state: SharedState, *, has_tool_calls: bool) -> str:
    return should_continue(settings, RESEARCH, state, has_tool_calls=has_tool_calls)


def should_continue_image(
    settings: SupervisorSettings, state: SharedState, *, has_tool_calls: bool, tool_round: int
) -> str:
    return should_continue(settings, IMAGE, state, has_tool_calls=has_tool_calls, tool_round=tool_round)


def should_continue_review(settings: SupervisorSettings, state: SharedState) -> str:
    return should_continue(settings, REVIEW, state, has_tool_calls=False)


def owner_of_tools(settings: SupervisorSettings, node: str) -> str | None:
    """The supervisor or the agent whose tools the node runs: it acts again afterwards."""
    if node == settings.tools.node:
        return SUPERVISOR
    owners = (name for name, agent in settings.agents.items() if agent.tools and agent.tools.node == node)
    return next(owners, None)
