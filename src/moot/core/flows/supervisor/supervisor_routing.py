"""Decide who acts next, by the team's settings: preconditions, tools, and which agents may end the work."""

from msgspec import Struct

from moot.core.flows.supervisor.conditions import SharedState, holds_any, look_up
from moot.core.flows.supervisor.decision import Decision
from moot.core.flows.supervisor.ending import can_end, review_approved
from moot.core.flows.supervisor.supervisor_settings import END, ROUTE, SUPERVISOR, SupervisorSettings


class NextNode(Struct, frozen=True, gc=False):
    """The next node. `corrected_from` is the supervisor's choice, if it was another."""

    name: str
    corrected_from: str | None = None


def route_from_supervisor(settings: SupervisorSettings, decision: Decision | None, state: SharedState) -> NextNode:
    """Return the chosen agent, its fallback if its precondition is missing, or END.

    The supervisor decides again if there is no decision, or the job may not end yet.
    """
    if decision is None:
        return NextNode(SUPERVISOR)
    chosen = decision.next_agent
    if chosen == END:
        return NextNode(END) if can_end(settings, state) else NextNode(SUPERVISOR, corrected_from=END)
    fallback = check_basic_preconditions(settings, chosen, state)
    return NextNode(chosen) if fallback is None else NextNode(fallback, corrected_from=chosen)


def check_basic_preconditions(settings: SupervisorSettings, agent: str, state: SharedState) -> str | None:
    """Return who acts instead if the precondition of `agent` is missing; None if it holds.

    The fallback's own precondition is not checked. Without a fallback the supervisor chooses again.
    """
    needs = settings.agents[agent].requires_any
    return None if holds_any(needs, state) else settings.agents[agent].fallback or SUPERVISOR


def should_continue(
    settings: SupervisorSettings, node: str, state: SharedState, *, has_tool_calls: bool, tool_round: int = 1
) -> str:
    """Return the node after `node`: its tools, the end, or the supervisor. `tool_round` counts rounds of tools."""
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


def owner_of_tools(settings: SupervisorSettings, node: str) -> str | None:
    """Return the supervisor or agent whose tools the node runs. It acts again afterwards."""
    if node == settings.tools.node:
        return SUPERVISOR
    owners = (name for name, agent in settings.agents.items() if agent.tools and agent.tools.node == node)
    return next(owners, None)
