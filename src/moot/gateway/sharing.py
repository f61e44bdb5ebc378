"""Links to one session, made by an owner for somebody else: a token each, that can be taken back."""

from datetime import UTC, datetime, timedelta

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from moot.app import App
from moot.core.errors import NotFound
from moot.core.session.principal import Role
from moot.core.session.team import Kind
from moot.core.text import clean
from moot.gateway.auth import Tokens
from moot.gateway.bodies import convert, read_text
from moot.gateway.guard import principal_of
from moot.gateway.operations import Operation
from moot.gateway.replies import Json
from moot.gateway.rest import SESSION, readable_session
from moot.gateway.token_file import TokenRecord
from moot.protocol.protocol_errors import ProtocolError
from moot.protocol.strict_json import read_object
from moot.runtime.clock import format_time
from moot.runtime.snapshots import load_state

LINKS = f"{SESSION}/links"
BODY_BYTES = 4096
LABEL_CHARS = 80
LONGEST_S = 366 * 86_400.0


class NewLink(Struct, frozen=True, kw_only=True):
    """A link to a session. A member speaks as one human of its team, a viewer looks on."""

    role: Role
    member: str | None = None
    label: str = ""
    expires_s: float | None = None  # from now; without it until it is revoked


class Link(Struct, frozen=True, kw_only=True):
    """A link that was made, without its token."""

    token_id: str
    role: Role
    member: str | None
    label: str
    created_at: str
    expires_at: str | None


class MadeLink(Link, frozen=True, kw_only=True):
    """A new link. Its token is shown this once and goes behind the address of the session, after `#token=`."""

    token: str


class LinkOperations:
    """The operations `/api/sessions/{session_id}/links`; owners only."""

    def __init__(self, app: App, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens

    def list_operations(self) -> list[Operation]:
        return [
            Operation(
                method="GET",
                path=LINKS,
                summary="The links to a session that were made, without their tokens; owners only",
                handler=self.list_links,
                gives=list[Link],
            ),
            Operation(
                method="POST",
                path=LINKS,
                summary="Make a link to a session for a viewer or a member; owners only",
                handler=self.make_link,
                takes=NewLink,
                gives=MadeLink,
                status=201,
            ),
            Operation(
                method="DELETE",
                path=f"{LINKS}/{{token_id}}",
                summary="Revoke a link, and close what it has open; owners only",
                handler=self.revoke_link,
                status=204,
            ),
        ]

    async def list_links(self, request: Request) -> Response:
        session_id = await self._find(request)
        return Json([_describe(record) for record in self._links(session_id)])

    async def make_link(self, request: Request) -> Response:
        session_id = await self._find(request)
        wanted = convert(read_object(await read_text(request, BODY_BYTES)), NewLink)
        await self._check(session_id, wanted)
        now = datetime.now(UTC)
        token, record = self._tokens.file.create(
            wanted.role,
            format_time(now),
            session_id=session_id,
            member=wanted.member,
            label=clean(wanted.label)[:LABEL_CHARS],
            expires_at=format_time(now + timedelta(seconds=wanted.expires_s)) if wanted.expires_s else None,
        )
        return Json(MadeLink(**msgspec.structs.asdict(_describe(record)), token=token), 201)

    async def revoke_link(self, request: Request) -> Response:
        session_id = await self._find(request)
        token_id: str = request.path_params["token_id"]
        if token_id not in [record.token_id for record in self._links(session_id)]:
            raise NotFound("no such link")
        self._tokens.file.revoke(token_id)
        return Response(status_code=204)

    async def _find(self, request: Request) -> str:
        """Return the session. Raises ProtocolError unless an owner asks, and NotFound if there is none."""
        session_id = readable_session(request)
        if not principal_of(request.scope).may_create:
            raise ProtocolError("forbidden")
        await self._app.log.head(session_id)
        return session_id

    async def _check(self, session_id: str, wanted: NewLink) -> None:
        if wanted.role not in (Role.VIEWER, Role.MEMBER):
            raise ProtocolError("bad_field", detail="role (viewer or member)")
        if (wanted.role is Role.MEMBER) != (wanted.member is not None):
            raise ProtocolError("bad_field", detail="member (for the role member, and only for it)")
        if wanted.expires_s is not None and not 0 < wanted.expires_s <= LONGEST_S:
            raise ProtocolError("bad_field", detail="expires_s")
        if wanted.member is not None:
            state, _ = await load_state(self._app.log, session_id)
            if wanted.member not in [each.id for each in state.team.members if each.kind is Kind.HUMAN]:
                raise ProtocolError("bad_field", detail="member (a human of the team)")

    def _links(self, session_id: str) -> list[TokenRecord]:
        return [record for record in self._tokens.file.read() if record.session_id == session_id]


def _describe(record: TokenRecord) -> Link:
    return Link(
        token_id=record.token_id,
        role=record.role,
        member=record.member,
        label=record.label,
        created_at=record.created_at,
        expires_at=record.expires_at,
    )
