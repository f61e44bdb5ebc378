"""Timestamps as the log writes them: RFC 3339, UTC, milliseconds, `Z`. They sort as text."""

from datetime import datetime, timedelta


def later(at: str, seconds: float) -> str:
    """Return the timestamp `seconds` after `at`, at most the last one of the year 9999."""
    try:
        moved = datetime.fromisoformat(at) + timedelta(seconds=seconds)
    except OverflowError:
        return "9999-12-31T23:59:59.999Z"
    return f"{moved:%Y-%m-%dT%H:%M:%S}.{moved.microsecond // 1000:03}Z"
