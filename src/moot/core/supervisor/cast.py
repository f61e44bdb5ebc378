"""Which member plays which part: the team file names agents, members act."""

from collections.abc import Iterable

from moot.core.supervisor_settings import SUPERVISOR, SupervisorSettings
from moot.core.team import Member


def find_leader(settings: SupervisorSettings, members: Iterable[Member]) -> Member | None:
    """The AI that leads, by id, then by role."""
    minds = [member for member in members if not member.is_human]
    by_id = (member for member in minds if member.id == settings.member)
    by_role = (member for member in minds if member.role == settings.member)
    return next(by_id, None) or next(by_role, None)


def find_player(settings: SupervisorSettings, agent: str, members: Iterable[Member]) -> Member | None:
    """The AI that plays an agent: the one it names, else the one with its name as role, then as id."""
    minds = [member for member in members if not member.is_human]
    named = settings.agents[agent].member
    if named is not None:
        return next((member for member in minds if member.id == named), None)
    by_role = (member for member in minds if member.role == agent)
    by_id = (member for member in minds if member.id == agent)
    return next(by_role, None) or next(by_id, None)


def list_missing(settings: SupervisorSettings, members: Iterable[Member]) -> list[str]:
    """The parts that nobody plays; a team file is checked for this, a team made by a program is not."""
    members = tuple(members)
    missing = [] if find_leader(settings, members) else [SUPERVISOR]
    return missing + [agent for agent in settings.agents if find_player(settings, agent, members) is None]
