"""Which member plays which agent: the team file declares agents, members act for them."""

from collections.abc import Iterable

from moot.core.flows.supervisor.supervisor_settings import SUPERVISOR, SupervisorSettings
from moot.core.session.team import Kind, Member


def find_leader(settings: SupervisorSettings, members: Iterable[Member]) -> Member | None:
    """Return the AI that plays the supervisor, by id, then by role."""
    by_role: Member | None = None
    for member in members:
        if member.kind is Kind.HUMAN:
            continue
        if member.id == settings.member:
            return member
        if by_role is None and member.role == settings.member:
            by_role = member
    return by_role


def find_player(settings: SupervisorSettings, agent: str, members: Iterable[Member]) -> Member | None:
    """Return the AI that plays an agent: the member it names, else the one with its name as role, then as id."""
    named = settings.agents[agent].member
    by_id: Member | None = None
    for member in members:
        if member.kind is Kind.HUMAN:
            continue
        if named is None and member.role == agent:
            return member
        if by_id is None and member.id == (named or agent):
            by_id = member
    return by_id


def list_missing(settings: SupervisorSettings, members: Iterable[Member]) -> list[str]:
    """Return the agents that no member plays."""
    members = tuple(members)
    missing = [] if find_leader(settings, members) else [SUPERVISOR]
    return missing + [agent for agent in settings.agents if find_player(settings, agent, members) is None]
