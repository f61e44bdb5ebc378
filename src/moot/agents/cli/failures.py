"""What a CLI says when it fails, as one of the error types of the plan flow. Pure."""

import re

from moot.core.errors import AgentError
from moot.core.text import clean, cut

DETAIL_CHARS = 600

_STATUS = re.compile(r"(?:status|code|http|error)\W{0,4}(?:code\W{0,4})?([45]\d\d)\b", re.IGNORECASE)
_RETRY_AFTER = re.compile(
    r"(?:retry|try again|retrydelay)\W{0,4}(?:after|in)?\W{0,4}"
    r"(?:(\d{1,5})\s?m(?:in\w*)?\s?)?(\d{1,6}(?:\.\d{1,6})?)\s?(ms|s|sec)",
    re.IGNORECASE,
)
_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(words, re.IGNORECASE))
    for kind, words in (
        (
            "auth",
            r"unauthori[sz]ed|authenticat|invalid.{0,12}api.?key|api.?key.{0,20}(missing|invalid|not)|"
            r"not logged in|please (log|sign).?in|/login|login required|permission_denied|credentials",
        ),
        ("rate_limit", r"rate.?limit|too many requests|quota|overloaded|high demand|usage limit|resource.?exhausted"),
        ("refused", r"content polic|safety (system|filter|polic)|refus(al|ed to)|violat\w* .{0,20}polic"),
        (
            "network",
            r"econn(refused|reset)|enotfound|etimedout|eai_again|fetch failed|connection (error|refused|reset|closed)|"
            r"network|dns|timed? ?out|stream (disconnected|closed)|socket hang up|error sending request",
        ),
        (
            "config",
            r"model.{0,40}(not found|not supported|does not exist|unknown)|"
            r"unknown (option|argument)|unexpected argument|cannot be used with root",
        ),
    )
)
_BY_STATUS = {401: "auth", 403: "auth", 429: "rate_limit", 529: "rate_limit", 503: "rate_limit", 404: "config"}


def read_failure(name: str, message: str, status: int | None = None) -> AgentError:
    """Classify a failure of the program `name` by its message, and by its HTTP status where that is known."""
    match = _STATUS.search(message)
    status = status or (int(match[1]) if match else None)
    kind = _BY_STATUS.get(status or 0) or next((kind for kind, words in _WORDS if words.search(message)), "agent")
    detail = cut(clean(message).strip(), DETAIL_CHARS) or (f"HTTP status {status}" if status else "no reason given")
    hint = {"auth": f"; log in with `{name}` or set its key", "config": ""}.get(kind, "")
    return AgentError(
        kind, f"{name} failed: {detail}{hint}", _read_retry_after(message) if kind == "rate_limit" else 0.0
    )


def _read_retry_after(message: str) -> float:
    """`retry after 12s`, `try again in 1m30s`, `"retryDelay": "7s"`."""
    match = _RETRY_AFTER.search(message)
    if not match:
        return 0.0
    seconds = float(match[2]) / (1_000 if match[3].lower() == "ms" else 1)
    return seconds + 60 * int(match[1] or 0)
