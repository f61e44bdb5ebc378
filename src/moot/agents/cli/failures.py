"""Reads what a CLI says when it fails as one of the error types (docs/agents.md). Pure."""

import json
import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from moot.core.errors import AgentError
from moot.core.text import clean, cut

DETAIL_CHARS = 600
_DECODER = json.JSONDecoder(strict=False)

_STATUS = re.compile(r"(?:^|status|code|http|error|rejected)\W{0,4}(?:code\W{0,4})?([45]\d\d)\b", re.IGNORECASE)
_RETRY_AFTER = re.compile(
    r"(?:retry|try again|retrydelay)\W{0,4}(?:after|in)?\W{0,4}"
    r"(?:(\d{1,5})\s?m(?:in\w*)?\s?)?(\d{1,6}(?:\.\d{1,6})?)\s?(ms|s|sec)",
    re.IGNORECASE,
)
_LONG = re.compile(  # `try again in 2 days 3 hours 12 minutes`
    r"(?:try again|retry|resets?)\W{0,4}(?:after|in)\W{1,4}(?=\d)"
    r"(?:(\d{1,3})\s?d(?:ays?)?\b[\s,]*)?(?:(\d{1,3})\s?h(?:(?:ou)?rs?)?\b[\s,]*)?(?:(\d{1,5})\s?m(?:in\w*)?\b)?",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"limit reached\|(\d{10})\b", re.IGNORECASE)  # Claude Code: `usage limit reached|1768003200`
_CLOCK = (
    re.compile(  # `resets 3pm (Europe/Berlin)`, `resets Nov 21, 1:49pm (UTC)`, `try again at Nov 20th, 2026 7:49 AM`
        r"(?:resets?|try again)\W{0,4}(?:at\s)?"
        r"(?:(?P<month>[a-z]{3}) (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:, (?P<year>\d{4}))?,?\s(?:at\s)?)?"
        r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s?(?P<half>[ap]m)?\b(?:\s*\((?P<zone>[a-z_]+/[a-z_/]+|UTC)\))?",
        re.IGNORECASE,
    )
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MINUTE, _DAY = timedelta(minutes=1), timedelta(days=1)
_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(words, re.IGNORECASE))
    for kind, words in (
        (
            "auth",
            r"unauthori[sz]ed|authenticat|(invalid|incorrect).{0,12}api.?key|api.?key.{0,20}(missing|invalid|not)|"
            r"not logged in|please (log|sign).?in|/login|login required|permission_denied|credentials",
        ),
        (
            "rate_limit",
            r"rate.?limit|too many requests|quota|overloaded|high demand|(usage|session|weekly) limit|"
            r"resource.?exhausted",
        ),
        ("refused", r"content polic|safety (system|filter|polic)|refus(al|ed to)|violat\w* .{0,20}polic"),
        (
            "network",
            r"econn(refused|reset)|\benotfound|etimedout|eai_again|fetch failed|"
            r"connection (error|refused|reset|closed)|network|dns|timed? ?out|"
            r"stream (disconnected|closed)|socket hang up|error sending request",
        ),
        (
            "config",
            r"model.{0,40}(not found|not supported|does not exist|unknown)|"
            r"unknown (option|argument)|unexpected argument|cannot be used with root",
        ),
    )
)
_BY_STATUS = {401: "auth", 403: "auth", 429: "rate_limit", 529: "rate_limit", 503: "rate_limit", 404: "config"}


def read_failure(name: str, message: str, status: int | None = None, now: datetime | None = None) -> AgentError:
    """Classify a failure of the program `name` by its message, and by its HTTP status where that is known.

    `now` is the time by which an absolute time in the message is read, that of the machine if it is None.
    """
    match = _STATUS.search(message)
    status = status or (int(match[1]) if match else None)
    kind = _BY_STATUS.get(status or 0) or next((kind for kind, words in _WORDS if words.search(message)), "agent")
    detail = cut(clean(_put_into_words(message)).strip(), DETAIL_CHARS) or (
        f"HTTP status {status}" if status else "no reason given"
    )
    hint = {"auth": f"; log in with `{name}` or set its key", "config": ""}.get(kind, "")
    return AgentError(kind, f"{name} failed: {detail}{hint}", read_wait(message, now) if kind == "rate_limit" else 0.0)


def _put_into_words(message: str) -> str:
    """Replace the JSON of a server's error by what it says, with its code."""
    start = message.find("{")
    try:
        value, end = _DECODER.raw_decode(message, start)
    except (ValueError, RecursionError):
        return message
    error = value.get("error", value)
    said = error.get("message") if isinstance(error, dict) else error
    if not isinstance(said, str) or not said.strip():
        return message
    code = error.get("code") if isinstance(error, dict) else None
    number = f" ({code})" if isinstance(code, int) and str(code) not in said else ""
    return f"{message[:start]}{said}{number}{message[end:]}"


def read_wait(message: str, now: datetime | None = None) -> float:
    """Return the seconds until a limit ends, as a message says: after a while, or at a time. 0 if it does not."""
    return (
        _read_retry_after(message) or _read_long(message) or _read_moment(message, now or datetime.now().astimezone())
    )


def _read_long(message: str) -> float:
    match = _LONG.search(message)
    days, hours, minutes = (int(part or 0) for part in match.groups()) if match else (0, 0, 0)
    return 86_400.0 * days + 3_600.0 * hours + 60.0 * minutes


def _read_moment(message: str, now: datetime) -> float:
    """Read an absolute time: seconds of the epoch, or the next time that a clock shows this, with or without a day.

    The limit ends within the minute that the clock shows, so the wait ends with that minute.
    """
    if match := _EPOCH.search(message):
        return max(float(match[1]) - now.timestamp(), 0.0)
    match = _CLOCK.search(message)
    if match is None:
        return 0.0
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    if not (half or match["minute"]):
        return 0.0
    there = _move_to(match["zone"], now)
    try:
        moment = there.replace(hour=hour, minute=int(match["minute"] or 0), second=0, microsecond=0) + _MINUTE
        if match["month"]:
            moment = _put_on_day(moment, match)
    except ValueError:  # no such hour, month or day
        return 0.0
    left = moment - there
    return max(left if match["month"] else left % _DAY, timedelta()).total_seconds()


def _move_to(zone: str | None, now: datetime) -> datetime:
    try:
        return now.astimezone(ZoneInfo(zone)) if zone else now
    except (ZoneInfoNotFoundError, ValueError):
        return now


def _put_on_day(moment: datetime, match: re.Match[str]) -> datetime:
    """Return the moment on the day that is named; without a year on the nearest such day. Raises ValueError."""
    month, day = _MONTHS.index(match["month"].lower()) + 1, int(match["day"])
    year = int(match["year"]) if match["year"] else moment.year + (month < moment.month)
    return moment.replace(year=year, month=month, day=day)


def _read_retry_after(message: str) -> float:
    """`retry after 12s`, `try again in 1m30s`, `"retryDelay": "7s"`."""
    match = _RETRY_AFTER.search(message)
    if not match:
        return 0.0
    seconds = float(match[2]) / (1_000 if match[3].lower() == "ms" else 1)
    return seconds + 60 * int(match[1] or 0)
