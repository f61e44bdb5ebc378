"""The conversation on a screen: writing, following, panes."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from moot.app import open_app
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import Post
from moot.core.session.events import MessagePosted
from moot.runtime.ports import Ask, Output, Project, Thinking
from moot.tui.composer.composer import Composer
from moot.tui.conversation.conversation import Conversation
from moot.tui.screens.help import HelpScreen
from moot.tui.terminal import MootApp
from moot.tui.text.plain import HEADING, Entries
from tests.client.deadline import run
from tests.tui.screens import AMPLE, EN, NARROW, WIDE, ai, chat_team, messages, playing

TEAM = chat_team(ai("bob", "Hello from Bob. [NEXT: Carol]"), ai("carol", "And from Carol. [NEXT: Ann]"))


def test_a_conversation_goes_round() -> None:
    """What is sent appears, members answer in turn, the floor comes back, timeline and list show it."""

    async def play() -> None:
        async with playing(TEAM, AMPLE) as here:
            await here.sees("Say something.", "New")
            await here.type("[NEXT: Bob] A poster, please.")
            await here.press("enter")
            await here.sees("A poster, please.", "Hello from Bob.", "And from Carol.", "Waiting for you", "your turn")
            await here.sees("Input", "Routed", "Turn Bob")
            await here.until(lambda: here.ui.query_one(Composer).text == "")

    run(play())


def test_some_keys_send_and_others_break_the_line() -> None:
    """Enter and F5 send; Alt+Enter, Ctrl+J, Shift+Enter and a backslash before Enter break the line."""

    async def play() -> None:
        async with playing(TEAM) as here:
            for key in ("enter", "f5"):
                await here.type(f"by {key}")
                await here.press(key)
                await here.sees(f"by {key}")
                await here.until(lambda: here.ui.query_one(Composer).text == "")
            await here.type("first\\")
            await here.press("enter", *"2", "alt+enter", *"3", "ctrl+j", *"4", "shift+enter", *"5", "enter")
            await here.until(lambda: messages(here.ui)[-1].text == "first\n2\n3\n4\n5")

    run(play())


def test_the_composer_remembers_and_completes() -> None:
    """↑ brings back what was said; @ and / offer members and commands, Tab takes one."""

    async def play() -> None:
        async with playing(TEAM) as here:
            composer = here.ui.query_one(Composer)
            await here.say("one")
            await here.say("two")
            await here.press("up", "up")
            assert composer.text == "one"
            await here.press("down", "down")
            assert composer.text == ""
            await here.press("@", "c", "a")
            await here.sees("▸ Carol  AI")
            await here.press("tab")
            assert composer.text == "@Carol "
            composer.text = ""
            await here.press("/", "q")
            await here.sees("▸ /queue  show the queue", "/queue skip")
            await here.press("down", "tab")
            assert composer.text == "/queue skip"

    run(play())


def test_a_refused_text_comes_back() -> None:
    """What is refused is explained in a sentence, and the text is there again to be mended."""

    async def play() -> None:
        async with playing(TEAM) as here:
            await here.say("/nonsense")
            await here.sees("Unknown command /nonsense")
            await here.until(lambda: here.ui.query_one(Composer).text == "/nonsense")

    run(play())


def test_scrolling_up_pauses_following() -> None:
    """Who reads above is not pulled down; a line counts what is new, and End goes there."""
    talkative = ai("bob", "\n".join(f"line {number}" for number in range(60)))

    async def play() -> None:
        async with playing(chat_team(talkative)) as here:
            await here.say("[NEXT: Bob] go")
            await here.sees("line 59", "Waiting for you")
            conversation = here.ui.query_one(Conversation)
            await here.press("pageup")
            was = conversation.scroll_y
            await here.ui.talk.submit(Post(text="[NEXT: Bob] again"))  # in another window
            await here.sees("2 new")
            assert conversation.scroll_y == was
            await here.press("end")
            await here.until(lambda: "2 new" not in here.screen and "line 59" in here.screen)
            await here.press("pageup")
            await here.say("[NEXT: Bob] thank you")  # who writes goes to the end, too
            await here.until(lambda: conversation.scroll_y == conversation.max_scroll_y)

    run(play())


def test_a_stream_is_painted_at_most_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text appears while it is written, at most ten repaints a second, and ends as the message."""

    async def recite(turn: TurnInput) -> AsyncIterator[str]:
        for number in range(200):
            await asyncio.sleep(0.001)
            yield f"w{number} "

    paints: list[float] = []
    paint = MootApp.paint

    def count(ui: MootApp) -> None:
        paints.append(time.monotonic())
        paint(ui)

    monkeypatch.setattr(MootApp, "paint", count)

    async def play() -> None:
        async with playing(TEAM, agents={"bob": recite}) as here:
            await here.say("[NEXT: Bob] go")
            await here.sees("w199")

    run(play())
    gaps = [after - before for before, after in itertools.pairwise(paints)]
    assert all(gap > 0.09 for gap in gaps)


def test_who_reads_above_is_told_that_somebody_writes() -> None:
    """While a stream goes on below, nothing pulls the reader down, and a line says so."""
    may_end = asyncio.Event()

    async def bob(turn: TurnInput) -> AsyncIterator[str]:
        yield "line\n" * 60
        await may_end.wait()
        yield "the end"

    async def play() -> None:
        async with playing(TEAM, agents={"bob": bob}) as here:
            await here.say("[NEXT: Bob] go")
            conversation = here.ui.query_one(Conversation)
            await here.until(lambda: conversation.scroll_y == conversation.max_scroll_y > 0)
            await here.press("pageup")
            await here.sees("↓ Bob is replying (End goes there)")
            await here.press("end")
            await here.until(lambda: "End goes there" not in here.screen)
            may_end.set()

    run(play())


def test_esc_stops() -> None:
    """Esc stops what runs at once: what was written stays on the screen, the queue waits, Ctrl+R goes on."""

    async def bob(turn: TurnInput) -> AsyncIterator[str]:
        yield "half a draft"
        await asyncio.Event().wait()

    async def play() -> None:
        async with playing(TEAM, agents={"bob": bob}) as here:
            await here.say("[NEXT: Bob, Carol] go")
            await here.sees("Bob ⏳", "half a draft")
            await here.press("escape")
            await here.sees(EN("status.paused"), "half a draft", f"Bob  {EN('partial')}", "Bob was stopped")
            await here.sees("Ctrl+R goes on", "^r resume")
            assert "And from Carol." not in here.screen
            await here.press("ctrl+r")
            await here.sees("And from Carol.")

    run(play())


def test_a_narrow_terminal_shows_one_pane() -> None:
    """Below 100 columns one pane and tabs; F2, F3, F4 and F6 change it, Esc goes back."""

    async def play() -> None:
        async with playing(TEAM, NARROW) as here:
            await here.say("[NEXT: Bob] hello")
            await here.sees(f"{EN('pane.talk')}   {EN('tab.timeline')}", "And from Carol.")
            assert "Routed" not in here.screen
            await here.press("f2")
            await here.sees("Routed")
            await here.until(lambda: "And from Carol." not in here.screen)
            await here.press("f4")
            await here.sees("● paused", "● idle IDLE")
            await here.press("escape")
            await here.sees("And from Carol.")
            await here.press("shift+f6")
            await here.sees("your turn")

    run(play())


def test_sessions_are_listed_below_their_project(tmp_path: Path) -> None:
    """A project is the folder of a team file, the last active one first. Its heading cannot be chosen, and its
    letters find its sessions."""

    async def talk(folder: str, said: str) -> str:
        (tmp_path / folder).mkdir(exist_ok=True)
        projects = {"poster": Project(str(tmp_path / folder / "moot.yaml"), str(tmp_path / folder))}
        async with open_app(TEAM, data=tmp_path / "data", projects=projects) as app:
            session = await app.session()
            async for _ in session.say(said):
                pass
            return session.id

    async def play() -> None:
        ids = [await talk("library", "one"), await talk("festival", "two"), await talk("library", "three")]
        async with playing(TEAM, data=tmp_path / "data") as here:
            await here.press("ctrl+o")
            await here.sees("library", "festival", "three", "two", "one")
            found = here.ui.screen.query_one("#found", Entries)
            keys = [found.find_key(at) for at in range(found.option_count)]
            assert [key for key in keys if key != here.ui.talk.id][1:-1] == [HEADING, ids[2], ids[0], HEADING, ids[1]]
            assert found.highlighted == 1
            await here.press("down")
            assert found.find_key(found.highlighted) == ids[2]
            await here.press(*"festi")
            await here.until(lambda: "library" not in here.screen)
            await here.press("enter")
            await here.until(lambda: here.ui.talk.id == ids[1])

    run(play())


def test_other_sessions_are_a_key_away() -> None:
    """Ctrl+N starts a session, Ctrl+O finds another one by some of its letters, each with its own history."""

    async def play() -> None:
        async with playing(TEAM) as here:
            first = here.ui.talk.id
            await here.say("only in the first")
            await here.sees("only in the first")
            await here.press("ctrl+n")
            await here.until(lambda: here.ui.talk.id != first and here.ui.viewer_state.seq)
            await here.sees("Say something.")
            await here.until(lambda: "only in the first" not in here.screen)
            await here.press("ctrl+o")
            await here.sees(EN("switcher.hint"), "Ann: only in the first")
            await here.press(*"onyfst")
            await here.press("enter")
            await here.until(lambda: here.ui.talk.id == first)
            await here.sees("only in the first", "Nobody was addressed")

    run(play())


def test_it_speaks_chinese() -> None:
    """Zh and en from one catalogue; /lang changes what is on the screen."""

    async def play() -> None:
        async with playing(chat_team(ai("bob", "好的。"), language="zh")) as here:
            await here.say("[NEXT: Bob] 你好，写一张海报")
            await here.sees("你好，写一张海报", "好的。", "等你", "本机", "会话", "帮助")
            await here.say("/lang en")
            await here.sees("Waiting for you", "On this machine")

    run(play())


def test_ctrl_c_stops_and_twice_leaves() -> None:
    """The first one stops what runs and says how to leave; the second one leaves."""

    async def bob(_: TurnInput) -> str:
        await asyncio.Event().wait()
        return ""

    async def play() -> None:
        async with playing(TEAM, agents={"bob": bob}) as here:
            await here.say("[NEXT: Bob] go")
            await here.sees("Bob ⏳")
            await here.press("ctrl+c")
            await here.sees(EN("leave_again"), EN("status.paused"))
            await here.press("ctrl+c")
            await here.until(lambda: not here.ui.is_running)

    run(play())


def test_what_is_typed_anywhere_goes_into_the_composer() -> None:
    """A list, the conversation and a card let letters and `@` pass: nothing typed is lost, and no letter acts."""

    async def play() -> None:
        async with playing(TEAM, AMPLE) as here:
            composer = here.ui.query_one(Composer)
            await here.say("[NEXT: Bob] hello")
            await here.sees("And from Carol.")
            for keys in (("f2",), ("f3",), ("f4",), ("shift+f6",), ("shift+tab",)):
                await here.press("escape", *keys)
                await here.until(lambda: here.ui.focused is not composer)
                await here.press("@")
                await here.sees("▸ Bob")
                await here.press("r", "c", "y", "o")
                await here.until(lambda: composer.text == "@rcyo")
                assert here.ui.focused is composer
                composer.text = ""
            await here.press("tab", "x")
            assert (composer.text, here.ui.focused) == ("x", composer)

    run(play())


def test_what_was_said_to_nobody_is_given_with_one_key() -> None:
    """The line below the composer names the keys."""

    async def play() -> None:
        async with playing(TEAM) as here:
            await here.say("hello")
            await here.sees("Alt+1 Bob · Alt+2 Carol")
            await here.press("alt+2")
            await here.sees("And from Carol.")

    run(play())


def test_a_row_of_the_timeline_leads_to_its_message() -> None:
    """Enter on a row of the timeline shows what was said there."""
    talkative = ai("bob", "\n".join(f"line {number}" for number in range(60)))

    async def play() -> None:
        async with playing(chat_team(talkative)) as here:
            await here.say("the very first thing")
            await here.say("[NEXT: Bob] go")
            await here.sees("line 59")
            conversation = here.ui.query_one(Conversation)
            assert conversation.scroll_y > 0
            await here.press("f2")
            await here.until(lambda: here.ui.focused is here.ui.query_one("#timeline"))
            await here.press("home", "enter")
            await here.until(lambda: conversation.scroll_y <= 2)

    run(play())


def test_a_turn_that_asks_is_answered_on_its_card() -> None:
    """Permissions on a screen: the question of a turn that runs stands on a card; the answer goes into the turn."""

    async def bob(turn: TurnInput, ask: Ask) -> str:
        return f"it was {await ask('Delete the build folder?')} [NEXT: ann]"

    async def play() -> None:
        async with playing(TEAM, agents={"bob": bob}) as here:
            await here.say("[NEXT: Bob] go")
            await here.sees("Delete the build folder?", EN("card.title"))
            await here.press("f7", "enter")
            await here.sees("it was allow")

    run(play())


def test_a_thought_is_shown_while_it_is_thought() -> None:
    """The end of a thought stands in two dim lines below its member; the answer takes its place."""

    async def bob(turn: TurnInput, ask: Ask) -> AsyncIterator[Output | str]:
        yield Thinking("a long way " * 30 + "and the [b]end[/b] of it")
        await ask("Go on?")
        yield "Four. [NEXT: ann]"

    async def play() -> None:
        async with playing(TEAM, agents={"bob": bob}) as here:
            await here.say("[NEXT: Bob] go")
            await here.sees(EN("thinking"), "the [b]end[/b]")
            await here.press("f7", "enter")
            await here.sees("Four.")
            await here.until(lambda: EN("thinking") not in here.screen)

    run(play())


def test_the_panes_follow_the_size_of_the_terminal() -> None:
    """With ample room there are three panes; with less the conversation has it all, unless one is wanted."""

    async def play() -> None:
        async with playing(TEAM, AMPLE) as here:
            await here.say("[NEXT: Bob] hello")
            await here.sees("And from Carol.", "Routed", "your turn")
            await here.pilot.resize_terminal(*WIDE)
            await here.until(lambda: "your turn" not in here.screen and "Routed" not in here.screen)
            await here.press("f2")
            await here.sees("Routed", "And from Carol.")
            await here.press("shift+f6", "shift+f6")
            await here.sees("your turn")
            await here.press("escape")
            await here.pilot.resize_terminal(*NARROW)
            await here.until(lambda: "Routed" not in here.screen and "And from Carol." in here.screen)
            await here.pilot.resize_terminal(*AMPLE)
            await here.sees("And from Carol.", "Routed", "your turn")

    run(play())


def test_a_message_is_copied_or_read_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the conversation ↑ ↓ choose a message, Ctrl+Y copies what was written (OSC 52), Enter opens it; without
    a pager it is shown on a screen of its own."""
    monkeypatch.setenv("PAGER", "/nowhere/pager")

    async def play() -> None:
        async with playing(chat_team(ai("bob", "**Open** on Sundays."))) as here:
            await here.say("[NEXT: Bob] write")
            await here.sees("Open on Sundays.", "Waiting for you")
            await here.press("shift+tab")
            await here.sees("▸Bob", "Ctrl+Y copies")
            await here.press("ctrl+y")
            await here.sees("Copied")
            assert here.ui.clipboard == "**Open** on Sundays."
            await here.press("up")
            await here.sees("▸Ann")
            await here.press("enter")
            await here.until(lambda: isinstance(here.ui.screen, HelpScreen))
            await here.sees("write")

    run(play())


def test_a_supervisor_speaks_in_words() -> None:
    """The decision of a supervisor is told, its JSON is not shown; who asks is named."""

    async def play() -> None:
        async with playing("content-studio-demo") as here:
            await here.say("A post about growing herbs on a balcony, with two pictures.")
            await here.sees("Who should read the post?", "asked by Brief", "1. Beginners · a first balcony")
            assert "next_agent" not in here.screen
            assert here.app is not None
            logged = await here.app.log.read(here.ui.talk.id)
            assert any("next_agent" in event.fact.text for event in logged if isinstance(event.fact, MessagePosted))
            await here.say("2")
            await here.until(
                lambda: any("✓ You: People who cook" in each.text for each in here.ui.viewer_state.story.items)
            )

    run(play())
