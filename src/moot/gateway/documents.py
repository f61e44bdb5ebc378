"""The types of REST requests and responses. The OpenAPI document is made from them and from the table of commands."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from moot.config.agent_specs import AgentSpec
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.machines.session import Status
from moot.core.session.events import PauseReason
from moot.core.session.principal import Principal, Role
from moot.core.session.team import Language, Member
from moot.core.view import View
from moot.protocol.command_table import CommandId, Create, Seq, SessionId
from moot.runtime.ports import LastLine, Listing, Project
from moot.runtime.searching import Found
from moot.runtime.summaries import Need, find_need
from moot.runtime.waiting_list import InboxItem

Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Player(Struct, frozen=True, kw_only=True):
    """What plays an AI member, as its team file says."""

    member: str
    agent: str  # the type, or the preset of a program
    model: str
    permissions: str  # what a program may do; empty where there is no such setting
    tools: tuple[str, ...]
    instructions: str


class TeamDocument(Struct, frozen=True, kw_only=True):
    """A team on offer; the first one is the default."""

    name: str
    flow: str
    language: Language
    members: tuple[Member, ...]
    scripted: bool  # its AIs play a script: no model is asked
    description: str
    examples: tuple[str, ...]  # first messages to offer
    has_file: bool  # its file may be read and changed here (`/api/teams/{name}/source`)
    players: tuple[Player, ...]  # told to whoever may read the file, too


class NewSession(Create, frozen=True, kw_only=True):
    """`user.create_session` without a connection: asking again with the same `command_id` gives the same session."""

    command_id: CommandId | None = None


class ForkPlace(Struct, frozen=True, kw_only=True):
    """From which event on a copy of a session goes its own way; without one from the last."""

    at: Annotated[int, Meta(ge=1)] | None = None


class SessionEntry(Struct, frozen=True, kw_only=True):
    """A line in the list of sessions."""

    session_id: SessionId
    seq: Seq
    hash: Sha256
    created_at: str
    updated_at: str
    title: str
    team: str
    flow: str
    status: Status
    waiting_for: str | None
    busy: bool
    pause_reason: PauseReason | None
    messages: Annotated[int, Meta(ge=0)]
    last: LastLine | None
    asks: str | None
    needs: Need | None
    removed_at: str | None
    project: Project | None  # for owners only


class InboxDocument(Struct, frozen=True, kw_only=True):
    """What waits for you, oldest first."""

    items: list[InboxItem]


class FoundDocument(Struct, frozen=True, kw_only=True):
    """What was found, the newest first."""

    found: list[Found]


class SessionDocument(Struct, frozen=True, kw_only=True):
    """A session as it is now, or was after an event: its public view, and where its log ends or ended."""

    session_id: SessionId
    seq: Seq
    hash: Sha256
    state: View


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
    """Who sends the request. `login_id` is the login that it came by, if it did."""

    role: Role
    session_id: SessionId | None
    member: str | None
    login_id: str | None


class NewLoginDocument(LoginDocument, frozen=True, kw_only=True):
    """A new login. The page sends `secret` with every request, in the header `Moot-Login`, beside the cookie."""

    secret: str


class LoginEntry(Struct, frozen=True, kw_only=True):
    """A login of a browser; it ends at `ends_at` unless it is used before."""

    login_id: str
    token_id: str
    created_at: str
    last_used_at: str
    ends_at: str
    agent: str
    is_this: bool  # the request came by it


class Health(Struct, frozen=True, kw_only=True):
    status: Literal["ok"] = "ok"


def describe_team(team: TeamFile, *, may_read: bool, has_file: bool) -> TeamDocument:
    """Describe a team for clients.

    Of its agents' configuration they learn only whether all of them are scripted, unless they may read the team file.
    """
    public = team.team()
    return TeamDocument(
        name=public.name,
        flow=public.flow,
        language=public.language,
        members=public.members,
        scripted=team.is_scripted,
        description=team.description,
        examples=team.examples,
        has_file=has_file,
        players=tuple(_describe_player(spec, spec.agent) for spec in team.members if spec.agent and may_read),
    )


def _describe_player(spec: MemberSpec, agent: AgentSpec) -> Player:
    return Player(
        member=spec.id,
        agent=getattr(agent, "preset", None) or str(agent.__struct_config__.tag),
        model=agent.name_model()[1],
        permissions=getattr(agent, "permissions", None) or "",
        tools=agent.name_tools(),
        instructions=spec.instructions,
    )


def describe_listing(listing: Listing, principal: Principal) -> SessionEntry:
    """Describe a session to the holder of a token. Only owners are told where on this machine it belongs."""
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
        asks=summary.asks,
        needs=find_need(summary),
        removed_at=listing.removed_at,
        project=listing.project if principal.may_create else None,
    )
