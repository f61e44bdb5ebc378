"""Instants as the log writes them: RFC 3339, UTC, milliseconds, `Z`. Text order is time order."""

from datetime import datetime, timedelta


def later(at: str, seconds: float) -> str:
    """The instant `seconds` after `at`; one too far for a calendar is the last there is."""
    try:
        moved = datetime.fromisoformat(at) + timedelta(seconds=seconds)
    except OverflowError:
        return "9999-12-31T23:59:59.999Z"
    return f"{moved:%Y-%m-%dT%H:%M:%S}.{moved.microsecond // 1000:03}Z"
