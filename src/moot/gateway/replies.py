"""Answers over HTTP: JSON, and errors as the frames that a WebSocket client would get, each with a fitting status."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from moot.core.errors import MootError
from moot.core.team import Language
from moot.protocol.errors import ProtocolError, as_protocol_error
from moot.protocol.frames import error_frame
from moot.runtime.clock import SystemClock

# every other code is a session's refusal: 409
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
    "internal": 500,
    "storage_full": 503,
    "unavailable": 503,
}
REFUSED = 409

_encode = msgspec.json.Encoder().encode
_TEXTS: dict[str, dict[Language, str]] = {
    "unauthenticated": {
        "zh": "需要有效的令牌：Authorization: Bearer、?token= 或登录页面",
        "en": "A valid token is needed: send Authorization: Bearer or ?token=, or open the URL that the server printed",
    },
    "unknown_path": {"zh": "没有这个地址：见 /api/openapi.json", "en": "There is nothing here: see /api/openapi.json"},
    "wrong_method": {
        "zh": "这个地址不接受此方法",
        "en": "This address does not take this method: see /api/openapi.json",
    },
    "too_large": {"zh": "请求太大：最多 {limit} 字节", "en": "The request is too large: send at most {limit} bytes"},
    "too_slow": {"zh": "请求太慢", "en": "The request took too long to arrive: send it again"},
}


class HttpError(ProtocolError):
    """What only HTTP can say."""

    def explain(self, language: Language) -> str:
        return _TEXTS[self.code][language].format(**self.params)


class Json(Response):
    """A value, or JSON that is encoded already."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return content if isinstance(content, bytes) else _encode(content)


def wanted_language(request: Request) -> Language | None:
    """`?lang=` as a connection may ask for it."""
    return _as_language(request.query_params.get("lang", ""))


def error_language(request: Request, default: Language) -> Language:
    """`?lang=`, else the first of ours in Accept-Language, else the team's."""
    asked = [request.query_params.get("lang", ""), *request.headers.get("accept-language", "")[:200].split(",")]
    return next((language for each in asked if (language := _as_language(each.strip()))), default)


def _as_language(written: str) -> Language | None:
    match written[:2].lower():
        case "zh":
            return "zh"
        case "en":
            return "en"
        case _:
            return None


def explain(
    error: MootError, language: Language, *, session_id: str | None = None, command_id: str | None = None
) -> Response:
    """The error frame with its status. A session that is not there is not named: unknown and foreign look alike."""
    told = as_protocol_error(error)
    if told.code in ("not_found", "unauthenticated"):
        session_id = None
    frame = error_frame(told, SystemClock().now(), language, session_id=session_id, command_id=command_id)
    headers = {"WWW-Authenticate": "Bearer"} if told.code == "unauthenticated" else None
    return Json(frame.encode(), STATUS.get(told.code, REFUSED), headers)
