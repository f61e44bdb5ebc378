"""Teams in a line: `make_team(human("alice"), scripted("bob", "hello [NEXT: carol]"), scripted("carol"))`."""

from typing import Any, Literal

from moot.config.agent_specs import ScriptAgent, ScriptEntry
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.team import Flow, Kind


def human(member_id: str, **fields: Any) -> MemberSpec:
    return MemberSpec(id=member_id, kind=Kind.HUMAN, **fields)


def scripted(
    member_id: str,
    *replies: str | ScriptEntry,
    when_exhausted: Literal["repeat", "empty", "error"] = "repeat",
    **fields: Any,
) -> MemberSpec:
    """An AI that says these things, one a turn."""
    script = ScriptAgent(replies=replies, when_exhausted=when_exhausted)
    return MemberSpec(id=member_id, kind=Kind.AI, agent=script, **fields)


def make_team(*members: MemberSpec, name: str = "test-team", **fields: Any) -> TeamFile:
    return TeamFile(moot=1, name=name, flow=Flow.CHAT, language="en", members=members, **fields)
