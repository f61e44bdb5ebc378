"""Panes beside the conversation, what is remembered of them, and the inbox over all sessions."""

from pathlib import Path

from moot.core.flows.turns import TurnInput
from moot.runtime.ports import Ask
from moot.tui.panes.layout import PaneLayout
from moot.tui.remembered import Layout, Memory
from moot.tui.terminal import MootApp
from tests.client.deadline import run
from tests.tui.recorded import RecordedHost, chat
from tests.tui.screens import EN, WIDE, Playing, ai, chat_team, playing

TEAM = chat_team(ai("bob", "Hello. [NEXT: Ann]"))


def layout(columns: int, **kept: object) -> PaneLayout:
    panes = PaneLayout(Layout(**kept))  # type: ignore[arg-type]
    panes.columns = columns
    return panes


def test_the_conversation_gets_the_width() -> None:
    """Side panes are there by themselves only with ample room; the one that is gone to is always shown."""
    assert [layout(columns).has_inspector("talk") for columns in (80, 120, 200)] == [False, False, True]
    assert layout(120).has_inspector("timeline")
    assert layout(120, has_sessions=True).has_sessions("talk")
    assert not layout(104, has_sessions=True, has_inspector=True).has_sessions("talk")
    assert (layout(80).has_talk("talk"), layout(80).has_talk("tasks")) == (True, False)


def test_widths_change_within_bounds() -> None:
    """A pane is dragged or widened; the conversation keeps its columns."""
    panes = layout(120, has_inspector=True)
    panes.drag("inspector", 500)
    assert panes.kept.inspector_width == 80
    panes.drag("inspector", -500)
    assert panes.kept.inspector_width == 16
    panes.widen("inspector")
    assert panes.kept.inspector_width == 44


def test_what_stands_below_the_messages_is_wrapped_again() -> None:
    """A screen that becomes wide has the hint of a new session, and what is being written, on as few lines."""

    async def play() -> None:
        async with playing(chat_team(ai("bob", "word " * 20, "late")), (30, 20)) as here:
            hint = EN("say_something")
            assert hint not in here.screen
            await here.pilot.resize_terminal(120, 32)
            await here.sees(hint)

    run(play())


def test_the_line_about_the_link_says_first_what_counts() -> None:
    """Where there is no room for the address it is left out, not what needs people elsewhere."""

    async def play() -> None:
        host = RecordedHost(chat("en"), "en")
        host.url = ""  # type: ignore[assignment] # another window of this machine
        ui = MootApp(host, await host.create())
        async with ui.run_test(size=WIDE) as pilot:
            here = Playing(ui, pilot)
            await here.sees("1 other session needs you · shared with another window")
            await pilot.resize_terminal(70, 24)
            await here.until(lambda: "shared" not in here.screen)
            await here.sees("1 other session needs you")

    run(play())


def test_panes_and_theme_are_remembered(tmp_path: Path) -> None:
    """What was hidden, shown or widened, and the theme, are the same at the next start."""

    async def first() -> None:
        async with playing(TEAM, WIDE, memory=Memory(tmp_path)) as here:
            await here.press("f9")
            await here.sees("Timeline", EN("list.find"))
            await here.press("f3")
            await here.until(lambda: here.ui.pane == "tasks")
            here.ui.theme = "nord"
            await here.until(lambda: Memory(tmp_path).layout.theme == "nord")

    async def second() -> None:
        async with playing(TEAM, WIDE, memory=Memory(tmp_path)) as here:
            await here.sees("Tasks", EN("list.find"))
            assert here.ui.theme == "nord"
            await here.press("f9")
            await here.until(lambda: EN("list.find") not in here.screen)

    run(first())
    run(second())


def test_a_question_of_another_session_is_answered_in_the_inbox() -> None:
    """F8 lists what waits in all sessions; the answer is given there, and the other session goes on."""

    async def bob(_: TurnInput, ask: Ask) -> str:
        return f"it was {await ask('Delete the build folder?')} [NEXT: ann]"

    async def play() -> None:
        async with playing(TEAM, agents={"bob": bob}) as here:
            first = here.ui.talk.id
            await here.say("[NEXT: Bob] go")
            await here.sees("Delete the build folder?")
            await here.press("ctrl+n")
            await here.until(lambda: here.ui.talk.id != first and here.ui.viewer_state.seq)
            await here.press("f8")
            await here.sees(EN("inbox.title"), EN("list.permission"), "Delete the build folder?")
            await here.press("enter")
            await here.sees("Allow", EN("inbox.open"))
            await here.press("enter")
            assert here.app is not None
            app = here.app

            async def is_answered() -> bool:
                return any("it was allow" in str(event.fact) for event in await app.log.read(first))

            while not await is_answered():
                await here.pilot.pause(0.1)
            await here.until(lambda: "Delete the build folder?" not in here.screen)

    run(play())
