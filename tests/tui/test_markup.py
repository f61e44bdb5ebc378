"""What people, models and tools write is never read as markup, and never reaches the terminal as an escape."""

import ast
from pathlib import Path

import pytest

from tests.client.deadline import run
from tests.tidy.sources import PACKAGE, list_python_files, parse, place
from tests.tui.screens import ai, chat_team, messages, plan_team, playing

MODULES = list_python_files(PACKAGE / "tui")
DOOR = PACKAGE / "tui" / "text" / "plain.py"
# of textual.widgets these read no markup; all others are used through plain.py
HARMLESS = {"Input", "TextArea", "DataTable"}  # DataTable: for its messages only
READS_MARKUP = {"from_markup", "from_text", "render_markup", "border_title", "border_subtitle", "tooltip", "sub_title"}


@pytest.mark.parametrize("path", [path for path in MODULES if path != DOOR], ids=place)
def test_text_goes_through_one_door(path: Path) -> None:
    """Widgets that read markup are only made in plain.py, which gives them plain content."""
    found = []
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual.widgets"):
            found += [f"{node.lineno} {alias.name}" for alias in node.names if alias.name not in HARMLESS]
        if isinstance(node, ast.Attribute) and node.attr in READS_MARKUP:
            found.append(f"{node.lineno} {node.attr}")
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("update", "notify")
        ):
            found.append(f"{node.lineno} {node.func.attr}")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "DataTable":
            found.append(f"{node.lineno} DataTable")
        if isinstance(node, ast.keyword) and node.arg == "markup":
            found.append(f"{node.lineno} markup=")
    assert found == []


@pytest.mark.parametrize("path", [path for path in MODULES if path != DOOR], ids=place)
def test_content_is_made_of_our_own_words(path: Path) -> None:
    """Content(...) and Text(...) outside of plain.py take constants, or what was made printable."""
    found = []
    for node in ast.walk(parse(path)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Content"):
            continue
        first = node.args[0] if node.args else None
        if not isinstance(first, ast.Constant | ast.IfExp):
            found.append(f"{place(path)}:{node.lineno}")
    assert found == []


HOSTILE = (
    "[bold red]x[/] [/] [@click=app.bell]y[/] [link=file:///etc/passwd]z[/] \x1b[31mred\x1b]0;title\x07 \u202eevil"
)
SHOWN = "[bold red]x[/]"


def test_hostile_text_is_shown_as_it_is() -> None:
    """Markup in names, titles, messages and steps is text; escapes and overrides are gone; nothing breaks."""
    member = {**ai("bob", {"steps": [{"thought": HOSTILE}], "text": HOSTILE}), "name": "Bob", "role": "[red]r[/]"}

    async def play() -> None:
        async with playing(chat_team(member, name="[blink]team[/]"), size=(140, 40)) as here:
            await here.say(f"[NEXT: Bob] {HOSTILE}")
            await here.until(lambda: len(messages(here.ui)) == 2)
            await here.sees(SHOWN, "[blink]team[/]", "[@click=app.bell]y[/]")
            await here.press("@")
            await here.sees("[red]r[/]")
            await here.until(lambda: here.screen.count(SHOWN) >= 3)  # said by Ann and Bob, and the thought
            for bad in ("\x1b", "\u202e", "\x07"):
                assert bad not in here.screen

    run(play())


def test_a_hostile_plan_is_shown_as_it_is() -> None:
    """Markup in tasks, options and summaries is text on the card, in the editor and on the board."""
    team = plan_team()
    tasks = [{"id": "a", "title": HOSTILE, "objective": "[b]aim[/b]"}, {"id": "[i]b[/i]", "title": "[/] two"}]
    team["members"][1]["agent"]["replies"] = [{"plan": {"summary": HOSTILE, "tasks": tasks}}]

    async def play() -> None:
        async with playing(team, size=(140, 40)) as here:
            await here.say("Please prepare it.")
            await here.sees("Approve 2 tasks", "[bold red]x[/]", "[/] two")
            await here.press("alt+e")
            await here.sees("Edit the plan", "[i]b[/i]")
            await here.press("ctrl+s", "f3")
            await here.until(lambda: here.ui.viewer_state.view.work and here.ui.viewer_state.view.work.tasks)
            await here.sees("[/] two")

    run(play())
