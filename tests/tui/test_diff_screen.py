"""What the work changed, on the screen: files, diffs in two forms, comments on lines, the board."""

from pathlib import Path
from typing import Any

from moot.tui.screens.diff_lines import DiffLines
from moot.tui.screens.diff_screen import DiffScreen
from moot.tui.text.diff_rows import lay_out, quote_rows, read_rows
from tests.client.deadline import run
from tests.runtime.workspaces.repositories import MUL, SUB, chat_team, make_repository, plan_team
from tests.tui import screens
from tests.tui.screens import AMPLE, NARROW, playing

DIFF = """\
diff --git a/calc.py b/calc.py
index 1..2 100644
--- a/calc.py
+++ b/calc.py
@@ -1,4 +1,4 @@
 def add(a, b):
-    return a+b
-    # wrong
+    return a + b
+
 print("[bold]x[/bold]")
\\ No newline at end of file
"""


def test_rows_have_the_numbers_of_both_files() -> None:
    """Context has both, an added line that of the new file, a removed one that of the old."""
    rows = read_rows(DIFF)
    kinds = ["head"] * 4 + ["hunk", "context", "removed", "removed", "added", "added", "context", "note"]
    assert [row.kind for row in rows] == kinds
    assert [(row.old, row.new) for row in rows if row.is_code] == [(1, 1), (2, 2), (3, 2), (0, 2), (0, 3), (4, 4)]


def test_side_by_side_puts_what_replaces_beside_what_was_there() -> None:
    """Removed lines stand left, those that follow right; every line keeps within its half."""
    unified = [line.text.plain for line in lay_out(read_rows(DIFF), "calc.py", 60, is_split=False)]
    assert unified[5:9] == [
        "   1  def add(a, b):",
        "   2 -    return a+b",
        "   3 -    # wrong",
        "   2 +    return a + b",
    ]
    split = [line.text.plain for line in lay_out(read_rows(DIFF), "calc.py", 60, is_split=True)]
    assert split[6] == "   2 -    return a+b         │    2 +    return a + b"
    assert split[7] == "   3 -    # wrong            │    3 +"
    assert split[8].rstrip() == '   4  print("[bold]x[/bold]… │    4  print("[bold]x[/bold]…'


def test_a_comment_quotes_the_rows_and_names_lines_of_the_new_file() -> None:
    """A removed line is where it was; heads and hunks are no lines of the file."""
    rows = read_rows(DIFF)
    assert quote_rows(rows, 4, 8) == ((1, 2), " def add(a, b):\n-    return a+b\n-    # wrong\n+    return a + b")


def _chat(**fields: Any) -> dict[str, Any]:
    first = {"text": "one", "files": {"calc.py": MUL, "sub.py": SUB}}
    return {**chat_team(first, "I have read it"), **fields}


def test_changes_are_shown_and_commented(tmp_path: Path) -> None:
    """`/diff` opens the files and the diff; comments are kept, marked, and sent together to who wrote the lines."""
    top = make_repository(tmp_path / "repo")

    async def play() -> None:
        async with playing(_chat(), AMPLE, folders={"pair": top}, trees=tmp_path / "trees") as here:
            await here.say("[NEXT: bob] write it")
            await here.sees("calc.py +4 −0, sub.py +6 −0")
            await here.say("/diff")
            await here.sees("All changes", "2 files, +10 −0", "✎ calc.py +4 −0", "+ sub.py +6 −0", "+def mul(a, b):")
            await here.press("enter", "down", "down", "c")
            await here.sees("Comment on calc.py:3")
            await here.press(*"why", "enter")
            await here.sees("1 comment to send")
            await here.press("down", "shift+down", "c")
            await here.sees("Comment on calc.py:4–5")
            await here.press(*"both", "enter")
            await here.sees("2 comments to send")
            await here.press("v")
            await here.until(lambda: here.ui.screen.query_one(DiffLines).is_split)
            await here.sees(" │ ")
            await here.press("left", "down")
            await here.sees("+++ b/sub.py")
            await here.press("s")
            await here.until(lambda: "comments to send" not in here.screen)
            await here.press("escape")
            await here.sees("calc.py:3", "why", "both", "I have read it")

    run(play())


def test_changes_of_a_turn_and_what_there_is_not(tmp_path: Path) -> None:
    """`/diff 1` is the first turn; a turn without changes is told on the screen, in a narrow terminal too."""
    top = make_repository(tmp_path / "repo")

    async def play() -> None:
        async with playing(_chat(), NARROW, folders={"pair": top}, trees=tmp_path / "trees") as here:
            await here.press("alt+d")
            await here.sees("No member has worked in the files of this session yet")
            await here.press("escape")
            await here.say("[NEXT: bob] write it")
            await here.sees("calc.py +4 −0, sub.py +6 −0")
            await here.say("/diff 1")
            await here.sees("Changes of t1", "✎ calc.py +4 −0", "+def mul(a, b):")
            await here.press("escape")
            await here.say("/diff t7")
            await here.sees("Turn t7 has changed no files")
            await here.press("escape")
            await here.until(lambda: not isinstance(here.ui.screen, DiffScreen))

    run(play())


def test_a_tree_without_changes_says_so(tmp_path: Path) -> None:
    """A member that only read has a tree, and the screen is not just empty."""
    top = make_repository(tmp_path / "repo")
    team = chat_team("I have read it", {"text": "two", "files": {"calc.py": MUL}})

    async def play() -> None:
        async with playing(team, AMPLE, folders={"pair": top}, trees=tmp_path / "trees") as here:
            await here.say("[NEXT: bob] read it")
            await here.sees("Waiting for")
            await here.press("alt+d")
            await here.sees("All changes", "Nothing is changed yet")

    run(play())


def test_the_board_shows_trees_and_a_task_its_changes(tmp_path: Path) -> None:
    """Branch, lines, checks, where the work stands; a task opens to its diff and can be undone."""
    top = make_repository(tmp_path / "repo")
    scripts = {"mul": [{"text": "mul", "files": {"calc.py": MUL}}]}
    team = plan_team([{"id": "mul", "title": "Add mul"}], scripts, workspace={"check": [["true"]]})

    async def play() -> None:
        async with playing(team, AMPLE, folders={"coders": top}, trees=tmp_path / "trees") as here:
            await here.say("extend it")
            await here.sees("What is to become of it?", "Alt+D shows the changes")
            await here.press("f3")
            await here.sees("⎇ mul +4 −0 · checks ✓ · merged", "⎇ main +4 −0 · not taken")
            await here.press("home", "enter")
            await here.sees("Branch: moot/", "Changes", "Undo")
            await here.pilot.click("#command-2")
            await here.sees("Changes of mul", "+def mul(a, b):")
            await here.press("escape", "escape")
            await here.say("/take apply")
            await here.sees("The work is in your files")
            assert (top / "calc.py").read_text() == MUL

    run(play())


def test_without_trees_there_are_no_changes() -> None:
    """The key says why it shows nothing."""

    async def play() -> None:
        async with playing(screens.chat_team(screens.ai("bob", "hello"))) as here:
            await here.press("alt+d")
            await here.sees("No member has worked in the files of this session yet")

    run(play())
