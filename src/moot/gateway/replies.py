"""HTTP responses: JSON, and errors as the frames that a WebSocket client would get, with a matching status."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from moot.core.errors import MootError
from moot.core.session.team import Language, match_language
from moot.protocol.errors import as_protocol_error
from moot.protocol.frames import error_frame
from moot.runtime.clock import SystemClock

# any other code means that the session refused the command: 409
STATUS: dict[str, int] = {
    "bad_json": 400,
    "bad_field": 400,
    "bad_cursor": 400,
    "bad_signed_state": 400,
    "missing_session": 400,
    "missing_step_id": 400,
    "unknown_event": 400,
    "upgrade_required": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "not_found": 404,
    "unknown_team": 404,
    "unknown_path": 404,
    "too_slow": 408,
    "too_large": 413,
    "rate_limited": 429,
    "too_many_tries": 429,
    "too_many_streams": 429,
    "too_many_bytes": 429,
    "export_running": 429,
    "server_full": 503,
    "internal": 500,
    "storage_full": 503,
    "unavailable": 503,
}
REFUSED = 409

_encode = msgspec.json.Encoder().encode


class Json(Response):
    """A JSON response. Its content is a value to encode, or `bytes` that are JSON already."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return content if isinstance(content, bytes) else _encode(content)


def wanted_language(request: Request) -> Language | None:
    """Return the language of `?lang=`, if it is one of ours."""
    return match_language(request.query_params.get("lang", ""))


def error_language(request: Request, default: Language) -> Language:
    """Return the language of `?lang=`, else the first of ours in Accept-Language, else `default`."""
    tags = [request.query_params.get("lang", ""), *request.headers.get("accept-language", "")[:200].split(",")]
    return next((language for tag in tags if (language := match_language(tag))), default)


def explain(
    error: MootError, language: Language, *, session_id: str | None = None, command_id: str | None = None
) -> Response:
    """Return the error frame with its status.

    `not_found` does not repeat the session id: an unknown session and one of others must look alike.
    """
    refusal = as_protocol_error(error)
    if refusal.code in ("not_found", "unauthenticated"):
        session_id = None
    frame = error_frame(refusal, SystemClock().now(), language, session_id=session_id, command_id=command_id)
    headers = {"WWW-Authenticate": "Bearer"} if refusal.code == "unauthenticated" else None
    return Json(frame.encode(), STATUS.get(refusal.code, REFUSED), headers)
