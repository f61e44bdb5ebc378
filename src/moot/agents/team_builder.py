"""Teams that are built in code: `moot.team(moot.human("ann"), moot.ai("bob", answer))`."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from moot.agents.python import AgentFunction, FunctionAgent, as_agent
from moot.config.loading import load_team
from moot.config.team_file import TeamFile
from moot.runtime.ports import Agent

_STAND_IN = {"type": "script"}  # for what a team file cannot say, while the team is checked


def human(member_id: str, **fields: Any) -> dict[str, Any]:
    """A human member; `fields` are other keys of a member in a team file."""
    return {"id": member_id, "kind": "human", **fields}


def ai(member_id: str, agent: str | Mapping[str, Any] | AgentFunction | Agent, **fields: Any) -> dict[str, Any]:
    """An AI member.

    Args:
        agent: what plays it: an async function, an object with `act(turn)`, or what a team file may say: a mapping, or
            in short the name of a preset (`"claude"`) or a model (`"openai:gpt-5"`).
        fields: other keys of a member in a team file, such as `role` and `instructions`.
    """
    return {"id": member_id, "kind": "ai", "agent": agent, **fields}


def team(*members: Mapping[str, Any], name: str = "team", **fields: Any) -> TeamFile:
    """A team for `moot.open`, checked like a team file. In a chat with one AI, that one is given what names nobody.

    Args:
        members: made by `human` and `ai`, or mappings with the keys of a member in a team file.
        name: what lists of sessions show; a session is opened again by a team of the same name.
        fields: other keys of a team file: `flow`, `language`, `chat`, `plan`, `budget` …

    Raises:
        InvalidTeam: with every problem.
        TypeError: a member is no member, or is given something that cannot play it.
    """
    for member in members:
        if not isinstance(member, Mapping):
            raise TypeError(f"a team is made of moot.human(…) and moot.ai(…), one after the other, not of {member!r}")
    players = {
        member["id"]: as_agent(member["id"], member["agent"])
        for member in members
        if not _is_written(member.get("agent"))
    }
    written = [{**member, "agent": _STAND_IN} if member.get("id") in players else dict(member) for member in members]
    checked = load_team({"name": name, "members": written, **fields})
    chat, ais = checked.chat, list(checked.agents())
    if len(ais) == 1 and not chat.default:
        chat = replace(chat, default=ais[0])
    return replace(
        checked,
        chat=chat,
        members=tuple(
            replace(spec, agent=FunctionAgent(player=players[spec.id])) if spec.id in players else spec
            for spec in checked.members
        ),
    )


def _is_written(agent: object) -> bool:
    """Whether a team file could say this."""
    return agent is None or isinstance(agent, str | Mapping)
