"""`moot sessions list` for people: a table in a terminal, and filters everywhere."""

import os
from pathlib import Path

import pytest

from moot.cli.session_table import tell_age
from tests.cli.command import CHAT, MOOT, Moot
from tests.cli.keyboard import Keyboard


@pytest.mark.parametrize(
    ("then", "age"),
    [
        ("2026-11-18T12:00:30.000Z", "just now"),
        ("2026-11-18T11:59:30.000Z", "just now"),
        ("2026-11-18T11:58:59.000Z", "1 min ago"),
        ("2026-11-18T09:00:00.000Z", "3 h ago"),
        ("2026-11-17T12:00:00.000Z", "yesterday"),
        ("2026-11-10T12:00:00.000Z", "8 days ago"),
        ("2026-09-01T12:00:00.000Z", "2026-09-01"),
    ],
)
def test_ages(then: str, age: str) -> None:
    """A time is told as people do; a time in the future, by another clock, is now."""
    assert tell_age(then, "2026-11-18T12:00:00.000Z") == age


def test_a_terminal_gets_a_table(moot: Moot) -> None:
    """In a terminal there is a header, columns are aligned also with wide characters, and times are relative."""
    moot("run", CHAT, "--title", "海报", "--say", "alice: one")
    session_id, _ = moot.talk("zoe: hello there")
    screen = Keyboard([*MOOT, "sessions", "list"], os.environ)
    assert screen.end() == 0
    header, _, folder, last, first = screen.seen.splitlines()
    assert folder == str(Path(CHAT).parent)
    assert header.split() == ["ID", "ACTIVE", "STATUS", "EVENTS", "TEAM", "TITLE"]
    assert last.startswith(session_id)
    assert last[header.index("ACTIVE") :].startswith("just now")
    assert last[header.index("TITLE") :] == "hello there"
    assert first[header.index("TITLE") :] == "海报"


def test_the_table_is_grouped_by_project(moot: Moot, tmp_path: Path) -> None:
    """Sessions stand below the folder of their team file, the last active project first; built-in teams by name."""
    (tmp_path / "站点").mkdir()
    own = tmp_path / "站点" / "moot.yaml"
    own.write_text(Path(CHAT).read_text(encoding="utf-8"), encoding="utf-8")
    first, _ = moot.talk("alice: one")
    second, _ = moot.talk("alice: two", team=str(own))
    demo, _ = moot.talk("hello", team="plan-demo")
    third, _ = moot.talk("alice: three")
    screen = Keyboard([*MOOT, "sessions", "list"], os.environ)
    assert screen.end() == 0
    words = [line.partition("  ")[0] for line in screen.seen.splitlines()[1:]]
    groups = (str(Path(CHAT).parent), third, first, "", "plan-demo", demo, "", str(own.parent), second)
    assert words == ["", *groups]


def test_filters(moot: Moot) -> None:
    """Sessions of a team, in a status, at most so many; what fits nothing is said on stderr."""
    first, _ = moot.talk("alice: one")
    over, _ = moot.talk("alice: two [DONE]")
    demo, _ = moot.talk("hello", team="plan-demo")

    def ids(*filters: str) -> list[str]:
        return [each["session_id"] for each in moot("sessions", "list", "--json", *filters).objects]

    assert ids("--team", "chat-five") == [over, first]
    assert ids("--status", "completed") == [over]
    assert ids("--limit", "1") == [demo]
    nothing = moot("sessions", "list", "--team", "nobody")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no session fits these filters\n")
    assert moot("sessions", "list", "--limit", "0").code == 2
