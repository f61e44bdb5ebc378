"""Teams for tests: `make_team(human("alice"), scripted("bob", "hello [NEXT: carol]"), scripted("carol"))`."""

from typing import Any, Literal

from moot.agents.script import ScriptAgent, ScriptEntry
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.flows.flow_settings import DEFAULT_FLOW
from moot.core.flows.registry import FlowName
from moot.core.session.team import DEFAULT_LANGUAGE, Kind


def human(member_id: str, **fields: Any) -> MemberSpec:
    """A human member. `fields` are other keys of a member."""
    return MemberSpec(id=member_id, kind=Kind.HUMAN, **fields)


def scripted(
    member_id: str,
    *replies: str | ScriptEntry,
    when_exhausted: Literal["repeat", "empty", "error"] = "repeat",
    **fields: Any,
) -> MemberSpec:
    """An AI member that gives these replies, one per turn. `fields` are other keys of a member."""
    script = ScriptAgent(replies=replies, when_exhausted=when_exhausted)
    return MemberSpec(id=member_id, kind=Kind.AI, agent=script, **fields)


def make_team(*members: MemberSpec, name: str = "test-team", flow: FlowName = DEFAULT_FLOW, **fields: Any) -> TeamFile:
    """A team of these members; `fields` are other keys of a team file, decoded."""
    return TeamFile(moot=1, name=name, flow=flow, members=members, **{"language": DEFAULT_LANGUAGE, **fields})
