"""Alerts of a terminal: what it is sent so that a person who looks elsewhere notices that somebody waits for them.

Which ones are sent is the person's own setting (`notify.terminal`). Most terminals ignore those that they do not know.
"""

from collections.abc import Iterable
from typing import Literal

Alert = Literal["bell", "title", "osc9", "osc777"]
ALERTS: tuple[Alert, ...] = ("bell", "title", "osc9", "osc777")
DEFAULT_ALERTS: tuple[Alert, ...] = ("title",)
TEXT_CHARS = 200


def write_alert(alerts: Iterable[Alert], title: str, text: str) -> str:
    """Return the control sequences of these alerts: a bell, the window's title, a notification of the desktop."""
    title, text = _clean(title), _clean(text)
    sequences: dict[Alert, str] = {
        "bell": "\a",
        "title": f"\x1b]2;● {title}: {text}\a",
        "osc9": f"\x1b]9;{title}: {text}\a",
        "osc777": f"\x1b]777;notify;{title.replace(';', ',')};{text}\a",
    }
    return "".join(sequences[alert] for alert in ALERTS if alert in alerts)


def write_title(alerts: Iterable[Alert], title: str) -> str:
    """Return what gives the window its plain title, when nobody is waited for any more."""
    return f"\x1b]2;{_clean(title)}\a" if "title" in alerts else ""


def _clean(text: str) -> str:
    """One line without control characters: text of agents must not end the sequence and start one of its own."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:TEXT_CHARS]
