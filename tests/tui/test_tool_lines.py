"""Uses of tools on the screen: folded to one line, opened with Enter or a click."""

from collections.abc import AsyncIterator

from msgspec.structs import replace

from moot.core.flows.turns import TurnInput
from moot.core.session.tool_use import ToolUse
from moot.runtime.ports import Output, Step
from moot.tui.conversation.conversation import Conversation
from tests.client.deadline import run
from tests.tui.screens import ai, chat_team, playing

TEAM = chat_team(ai("bob"))
DIFF = "--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n same\n-old\n+new line"


async def work(_: TurnInput) -> AsyncIterator[Output | str]:
    """Read three files, change one, run the tests."""
    for name in ("a.py", "b.py", "c.py"):
        tool = ToolUse(id=name, kind="read", title="Read", paths=(name,), status="completed")
        yield Step(tool=tool, observation="x\n" * 59)
    edit = ToolUse(id="e", kind="edit", title="Edit", paths=("src/app.py",), added=12, removed=3)
    yield Step(tool=edit)
    yield Step(tool=replace(edit, status="completed"), diff=DIFF)
    test = ToolUse(id="t", kind="execute", title="make test [b]", status="failed", exit=2)
    yield Step(tool=test, observation="1 failed\n\x1b[31mE  boom")
    yield Step(thought="It fails.\nI will look again.")
    yield "Done. [NEXT: Ann]"


def test_a_tool_is_one_line_that_opens() -> None:
    """Reads in a row are one line, steps of one use are one line; opened they show files, diff or output."""

    async def play() -> None:
        async with playing(TEAM, agents={"bob": work}) as here:
            await here.say("[NEXT: Bob] go")
            await here.sees("▸ Bob ◎ Read 3 files", "▸ Bob ✎ Edited src/app.py +12 −3", "make test [b] ✗ exit 2")
            await here.sees("It fails. … 1 more line", "Done.")
            assert here.screen.count("✎") == 1
            assert "+new line" not in here.screen
            await here.press("shift+tab", "up", "up", "up")
            await here.press("enter")
            await here.sees("▾ Bob ✎ Edited src/app.py", "│    2 +new line", "│    2 -old")
            await here.press("enter")
            await here.until(lambda: "+new line" not in here.screen)
            await here.press("down", "enter")
            await here.sees("│ E  boom")
            assert "\x1b" not in here.screen
            conversation = here.ui.query_one(Conversation)
            line = next(number for number, text in enumerate(here.screen.split("\n")) if "Read 3 files" in text)
            await here.pilot.click(conversation, offset=(6, line - conversation.region.y))
            await here.sees("    b.py")

    run(play())
