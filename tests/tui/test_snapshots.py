"""A few screens as text, compared with the files in `snapshots/`.

`MOOT_SNAPSHOTS=update pytest tests/tui/test_snapshots.py` writes them anew; the difference is read like any other.
"""

import asyncio
import os
import re
from contextlib import suppress
from pathlib import Path

from tests.client.deadline import run
from tests.tui.screens import NARROW, WIDE, Playing, ai, chat_team, plan_team, playing

SNAPSHOTS = Path(__file__).parent / "snapshots"
SAID = "First draft:\n\n> **Sundays are for reading.**\n> From May the library opens every Sunday.\n\n- `10 am` to 4 pm"
ZH = chat_team(
    ai(
        "bai",
        "好的，草稿如下：\n\n> **周日适合读书。**\n> 五月起图书馆每周日开放，上午十点到下午四点，第一杯咖啡免费。",
        name="小白",
    ),
    language="zh",
    name="海报",
)
# what differs from run to run, replaced by something as wide
VARIES = (
    (re.compile(r"\d\d:\d\d:\d\d"), "12:00:00"),
    (re.compile(r"(?<= )\d\d:\d\d(?= )"), "12:00"),
    (re.compile(r"\d:\d\d(?= (?:left|⏳|]))|(?<=剩 )\d:\d\d"), "4:59"),
    (re.compile(r" \d+(?:\.\d)? m?s(?= *$)", re.MULTILINE), ""),
)


def read(here: Playing) -> str:
    shown = here.screen
    for pattern, instead in VARIES:
        shown = pattern.sub(instead, shown)
    return "\n".join(line.rstrip() for line in shown.split("\n")) + "\n"


async def compare(name: str, here: Playing) -> None:
    """The screen comes to look like the file; a screen that is being laid out is waited for."""
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("MOOT_SNAPSHOTS") == "update":
        await asyncio.sleep(2)  # nobody waits for it: what is written is read by people
        path.parent.mkdir(exist_ok=True)
        path.write_text(read(here), encoding="utf-8")
    expected = path.read_text(encoding="utf-8")
    with suppress(AssertionError):
        await here.until(lambda: read(here) == expected)
    assert read(here) == expected


def test_a_conversation() -> None:
    """Three panes at 120×32."""

    async def play() -> None:
        async with playing(chat_team(ai("bob", f"{SAID} [NEXT: Ann]"))) as here:
            await here.say("[NEXT: Bob] A poster for the library, please: when it opens, and for whom it is.")
            await here.sees("Sundays are for reading.", "Waiting for you", "waits for Ann", "Bob: First draft")
            await compare("conversation", here)

    run(play())


def test_a_conversation_in_chinese_at_80_columns() -> None:
    """One pane and tabs at 80×24, Chinese text broken between its characters."""

    async def play() -> None:
        async with playing(ZH, NARROW) as here:
            await here.say(
                "[NEXT: 小白] 写一张海报，说说图书馆五月起周日开放的消息，要友好、简短，还要提到咖啡和开放时间。"
            )
            await here.sees("周日适合读书。", "等你")
            await compare("chinese", here)

    run(play())


def test_a_plan_that_waits() -> None:
    """The card of a plan at 80×24, with what the buttons do."""

    async def play() -> None:
        async with playing(plan_team(), NARROW) as here:
            await here.say("Please prepare the reading night.")
            await here.sees("Approve 3 tasks (a)", "f7 answer")
            await compare("plan-card", here)

    run(play())


def test_a_plan_that_is_edited() -> None:
    """The editor of a plan takes the room of the side panes."""

    async def play() -> None:
        async with playing(plan_team(), WIDE) as here:
            await here.say("Please prepare the reading night.")
            await here.sees("Approve 3 tasks (a)")
            await here.press("f7", "e")
            await here.sees("Edit the plan", "Find readers", "Back to the proposal", "Ctrl+S approves")
            await compare("plan-editor", here)

    run(play())


def test_the_help() -> None:
    """Every key on one screen, also at 80×24."""

    async def play() -> None:
        async with playing(ZH, NARROW) as here:
            await here.press("f1")
            await here.sees("命令面板", "退出")
            await compare("help", here)

    run(play())
