"""The list of sessions for people at a terminal: columns with a header, grouped by project, and times as they are
spoken of.
"""

from collections.abc import Sequence

from moot.cli.parser import count_columns
from moot.config.message_format import show_name
from moot.runtime.clock import seconds_between
from moot.runtime.ports import Listing

HEADER = ("ID", "ACTIVE", "STATUS", "EVENTS", "TEAM", "TITLE")
TITLE_CHARS = 48
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3_600, 86_400


def draw_table(listings: Sequence[Listing], now: str) -> list[str]:
    """Return a header, and one line for each session below that of its project.

    A project is the folder of the team file; built-in teams have none and are groups of their own.
    """
    rows = [HEADER, *(_make_row(listing, now) for listing in listings)]
    widths = [max(map(count_columns, column)) for column in zip(*rows, strict=True)]
    header, *lines = ("  ".join(map(_pad, row, widths)).rstrip() for row in rows)
    projects: dict[str, list[str]] = {}
    for listing, line in zip(listings, lines, strict=True):
        folder = listing.project.folder if listing.project else ""
        projects.setdefault(show_name(folder) or listing.summary.team, []).append(line)
    return [header, *(line for name, members in projects.items() for line in ("", name, *members))]


def tell_age(then: str, now: str) -> str:
    """Return how long ago a time was; its date if that is more than 30 days."""
    age_s = max(0.0, seconds_between(then, now))
    if age_s < _MINUTE_S:
        return "just now"
    if age_s < _HOUR_S:
        return f"{age_s // _MINUTE_S:.0f} min ago"
    if age_s < _DAY_S:
        return f"{age_s // _HOUR_S:.0f} h ago"
    if age_s < 2 * _DAY_S:
        return "yesterday"
    return f"{age_s // _DAY_S:.0f} days ago" if age_s <= 30 * _DAY_S else then[:10]


def tell_status(listing: Listing) -> str:
    summary = listing.summary
    return f"{summary.status} for {summary.waiting_for}" if summary.waiting_for else str(summary.status)


def _make_row(listing: Listing, now: str) -> tuple[str, ...]:
    summary = listing.summary
    title = summary.title or (f"{summary.last.by}: {summary.last.text}" if summary.last else "")
    short = title if len(title) <= TITLE_CHARS else f"{title[: TITLE_CHARS - 1]}…"
    age = tell_age(listing.updated_at, now)
    return listing.session_id, age, tell_status(listing), str(listing.head.seq), summary.team, short


def _pad(text: str, width: int) -> str:
    return text + " " * (width - count_columns(text))
