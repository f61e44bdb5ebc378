"""HTTP responses: JSON, and errors as the frames that a WebSocket client would get, with a matching status."""

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Message, Send

from moot.core.errors import MootError
from moot.core.session.team import Language, match_language
from moot.core.texts import render
from moot.protocol.frames import error_frame
from moot.protocol.protocol_errors import as_protocol_error
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
    "session_without_changes": 404,
    "task_without_changes": 404,
    "turn_without_changes": 404,
    "file_not_changed": 404,
    "trees_gone": 404,
    "too_slow": 408,
    "too_large": 413,
    "file_empty": 400,
    "team_source_invalid": 422,
    "team_source_unreadable": 404,
    "team_without_file": 404,
    "file_too_large": 413,
    "file_type": 415,
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
TOO_MANY = 429
RETRY_AFTER_S = 1  # the buckets of the rates have room for a message again after this time

PIECE_BYTES = 64 * 1024

_encode = msgspec.json.Encoder().encode


class Json(Response):
    """A JSON response. Its content is a value to encode, or `bytes` that are JSON already."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return content if isinstance(content, bytes) else _encode(content)


def in_pieces(send: Send) -> Send:
    """Send long bodies a piece at a time, each when the client has taken most of the one before.

    So a connection holds little of what its client has not taken, and a client that is slow, but takes something, is
    not one that has stopped.
    """

    async def send_pieces(message: Message) -> None:
        body: bytes = message.get("body", b"")
        starts = range(0, len(body), PIECE_BYTES)
        for start in starts[:-1]:
            await send({"type": message["type"], "body": body[start : start + PIECE_BYTES], "more_body": True})
        await send({**message, "body": body[starts[-1] :]} if starts else message)

    return send_pieces


def wanted_language(request: Request) -> Language | None:
    """Return the language of `?lang=`, if it is one of ours."""
    return match_language(request.query_params.get("lang", ""))


def error_language(request: Request, default: Language) -> Language:
    """Return the language of `?lang=`, else the first of ours in Accept-Language, else `default`."""
    tags = [request.query_params.get("lang", ""), *request.headers.get("accept-language", "")[:200].split(",")]
    return next((language for tag in tags if (language := match_language(tag))), default)


def is_for_person(scope: Mapping[str, Any]) -> bool:
    """Whether a request comes from somebody who typed an address into a browser, and wants a page."""
    if scope["method"] not in ("GET", "HEAD") or scope["path"].startswith("/api/"):
        return False
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])


def tell_not_found(language: Language) -> Response:
    """Return the page for an address that leads nowhere; it looks like the login of the page."""
    title, sentence, home = (render(f"ui.not_found.{name}", language) for name in ("title", "sentence", "home"))
    page = (
        f'<!doctype html>\n<html lang="{language}"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f'<title>{title} · Moot</title><link rel="icon" href="/static/favicon.svg" type="image/svg+xml">'
        '<link rel="stylesheet" href="/static/css/main.css"><login-form><main>'
        f'<h1>{title}</h1><p>{sentence}</p><a href="/">{home}</a></main></login-form></html>\n'
    )
    return HTMLResponse(page, 404)


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
    status = STATUS.get(refusal.code, REFUSED)
    headers = {"WWW-Authenticate": "Bearer"} if refusal.code == "unauthenticated" else {}
    if status == TOO_MANY:
        headers["Retry-After"] = str(RETRY_AFTER_S)
    return Json(frame.encode(), status, headers)
