"""What REST takes and gives, as types: the OpenAPI document is made from them."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from moot.config.agent_specs import ScriptAgent
from moot.config.team_file import TeamFile
from moot.core.events import PauseReason
from moot.core.machines.session import Status
from moot.core.state import State
from moot.core.team import Flow, Language, Member
from moot.gateway.principal import Role
from moot.runtime.ports import LastLine, Listing

Seq = Annotated[int, Meta(ge=0)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
SessionId = Annotated[str, Meta(pattern="^[a-z0-9_-]{8,64}$")]


class TeamDocument(Struct, frozen=True, kw_only=True):
    """A team on offer; the first one is the default."""

    name: str
    flow: Flow
    language: Language
    members: tuple[Member, ...]
    scripted: bool  # its AIs play a script: no model is asked


class NewSession(Struct, frozen=True, kw_only=True):
    """`command_id` makes it exactly-once: asking again gives the same session."""

    team: str | None = None
    title: str = ""
    command_id: Annotated[str, Meta(min_length=1, max_length=128)] | None = None


class SessionEntry(Struct, frozen=True, kw_only=True):
    """A line in the list of sessions."""

    session_id: SessionId
    seq: Seq
    hash: Sha256
    created_at: str
    updated_at: str
    title: str
    team: str
    flow: Flow
    status: Status
    waiting_for: str | None
    busy: bool
    pause_reason: PauseReason | None
    messages: Annotated[int, Meta(ge=0)]
    last: LastLine | None
    removed_at: str | None


class SessionDocument(Struct, frozen=True, kw_only=True):
    """A session as it is now: its folded log, and where the log ends."""

    session_id: SessionId
    seq: Seq
    hash: Sha256
    state: State


class Frame(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A frame of the event protocol. Logged ones have seq, event_id, source and hash; others have none of these."""

    event: str
    timestamp: str
    session_id: SessionId | None = None
    seq: Seq | None = None
    event_id: str | None = None
    step_id: str | None = None
    source: dict[str, Any] | None = None
    timeline: str | None = None
    content: Any = None
    metadata: dict[str, Any] = {}
    show_content: str | None = None
    hash: Sha256 | None = None


class CommandFrame(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A `user.*` frame. Each field may stand at top level, in metadata, or in content when that is an object."""

    event: Annotated[str, Meta(pattern=r"^user\.[a-z_]+$")]
    session_id: SessionId | None = None
    command_id: Annotated[str, Meta(min_length=1, max_length=128)] | None = None
    content: Any = None
    metadata: dict[str, Any] = {}


class Transition(Struct, frozen=True, kw_only=True, rename={"source": "from"}):
    source: str
    trigger: str
    to: str
    extension: bool


class MachineDocument(Struct, frozen=True, kw_only=True):
    name: str
    initial: str
    final: tuple[str, ...]
    states: tuple[str, ...]
    transitions: tuple[Transition, ...]


class Login(Struct, frozen=True, kw_only=True):
    token: str


class LoginDocument(Struct, frozen=True, kw_only=True):
    """Who the cookie is for."""

    role: Role
    session_id: SessionId | None
    member: str | None


class Health(Struct, frozen=True, kw_only=True):
    status: Literal["ok"] = "ok"


def describe_team(team: TeamFile) -> TeamDocument:
    """Without what plays the AIs: that is nobody's business outside, but for whether it is only a script."""
    known = team.team()
    return TeamDocument(
        name=known.name,
        flow=known.flow,
        language=known.language,
        members=known.members,
        scripted=all(isinstance(agent, ScriptAgent) for agent in team.agents().values()),
    )


def describe_listing(listing: Listing) -> SessionEntry:
    summary = listing.summary
    return SessionEntry(
        session_id=listing.session_id,
        seq=listing.head.seq,
        hash=listing.head.hash,
        created_at=listing.created_at,
        updated_at=listing.updated_at,
        title=summary.title,
        team=summary.team,
        flow=summary.flow,
        status=summary.status,
        waiting_for=summary.waiting_for,
        busy=summary.busy,
        pause_reason=summary.pause_reason,
        messages=summary.messages,
        last=summary.last,
        removed_at=listing.removed_at,
    )
