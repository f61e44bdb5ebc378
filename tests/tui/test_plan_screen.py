"""Questions on a screen: a plan approved, edited, rejected; decisions; an agent's question."""

import asyncio

from textual.widgets import Input

from moot.core.flows.turns import TurnInput
from moot.tui.questions.cards import Card
from moot.tui.questions.plan_editor import PlanEditor
from moot.tui.text.plain import Table, Ticks
from tests.client.deadline import run
from tests.tui.screens import EN, Playing, ai, chat_team, plan_team, playing


async def until_asked(here: Playing) -> None:
    await here.say("Please prepare the reading night.")
    await here.sees("Needs your decision", "Approve 3 tasks", "Find readers", "Two things side by side")


def test_a_plan_is_approved_with_one_key() -> None:
    """The card is docked and takes no focus; Alt+A approves exactly what it names."""

    async def play() -> None:
        async with playing(plan_team()) as here:
            await until_asked(here)
            await here.until(lambda: here.ui.focused is here.ui.query_one("#composer"))
            await here.press("alt+a")
            await here.sees("All of it.")
            await here.until(lambda: not here.ui.query("Card"))
            await here.press("f3")
            await here.sees("✓ Find readers", "3/3", "complete")
            await here.until(lambda: here.ui.focused is here.ui.query_one("#board"))
            await here.press("home", "enter")
            await here.sees("Result: Done.", "Who: Ben", EN("task.retry"), EN("task.cancel"))
            await here.press("escape")

    run(play())


def test_esc_pauses_work_and_again_stops_it() -> None:
    """The bottom line says what Esc does: nothing, pause, then stop what has not come to its end."""

    async def play() -> None:
        async with playing(plan_team(works={"hang": True}, plan={"confirm": "never"})) as here:
            await here.until(lambda: "esc" not in here.screen)
            await here.say("Please prepare the reading night.")
            await here.sees("Ben: Find readers ⏳", "esc pause")
            await here.press("escape")
            await here.sees("Pausing", "esc stop now")
            await here.press("escape")
            await here.sees("Paused", "Ctrl+R goes on")
            assert not here.ui.viewer_state.view.running
            assert "esc" not in here.screen

    run(play())


def test_a_plan_is_edited_in_a_table() -> None:
    """Title, order, who, dependencies, adding and removing; the button counts tasks and changes; what
    was approved is what runs."""

    async def play() -> None:
        async with playing(plan_team()) as here:
            await until_asked(here)
            await here.press("alt+e")
            await here.until(lambda: here.ui.query(PlanEditor) and here.ui.focused is here.ui.query_one(Table))
            editor = here.ui.query_one(PlanEditor)
            await here.press("down", "down", "enter")
            title = editor.query_one("#title", Input)
            await here.until(lambda: here.ui.focused is title and title.value == "Write it down")
            await here.press(*" neatly")
            await here.sees("Write it down neatly", "title changed", "Approve 3 tasks (1 changed)")
            await here.press("enter", "up", "up")
            await here.pilot.click("#remove")
            await here.sees("Approve 2 tasks (2 changed)", "− Find readers")
            await here.pilot.click("#add")
            await here.until(lambda: here.ui.focused is title and title.value == "")
            await here.press(*"Sweep up")
            await here.sees("Approve 3 tasks (3 changed)", "new")
            await here.press("alt+up")
            assert [task["id"] for task in editor.tasks] == ["b", "t3", "c"]
            editor.query_one("#after", Input).value = "nowhere"
            await here.sees("There is no task nowhere")
            assert editor.query_one("#approve").disabled
            editor.query_one("#after", Input).value = "b"
            await here.until(lambda: not editor.query_one("#approve").disabled)
            await here.press("ctrl+s")
            await here.sees("All of it.")
            told = [item.text for item in here.ui.viewer_state.story.items]
            assert any("Ann changed the plan and approved it" in text for text in told)
            work = here.ui.viewer_state.view.work
            assert work
            assert [row.title for row in work.tasks.values()] == ["Find rooms", "Sweep up", "Write it down neatly"]
            assert work.tasks["t3"].task["depends_on"] == ["b"]

    run(play())


def test_a_draft_is_kept() -> None:
    """Later, or Esc, closes it; opened again it has what was changed."""

    async def play() -> None:
        async with playing(plan_team()) as here:
            await until_asked(here)
            await here.press("alt+e")
            await here.until(lambda: here.ui.query(PlanEditor) and here.ui.focused is here.ui.query_one(Table))
            await here.press("enter")
            await here.until(lambda: here.ui.focused is here.ui.query_one("#title"))
            await here.press(*"!!", "escape")
            await here.sees("Approve 3 tasks (alt+a)")
            await here.press("alt+e")
            await here.sees("Find readers!!", "(1 changed)")
            assert not any(row.state == "RUNNING" for row in here.ui.viewer_state.view.work.tasks.values())  # type: ignore[union-attr]

    run(play())


def test_a_plan_goes_back_with_a_reason() -> None:
    """R asks what should be different; with an answer the planner plans again, without it is over."""

    async def play() -> None:
        async with playing(plan_team()) as here:
            await until_asked(here)
            await here.press("alt+r")
            await here.until(lambda: here.ui.focused is here.ui.query_one("#feedback"))
            await here.press(*"cheaper", "enter")
            await here.until(
                lambda: sum(row.name == "user_confirmation_required" for row in here.ui.viewer_state.timeline.rows) == 2
            )
            await here.until(lambda: here.ui.query_one(Card).question == here.ui.viewer_state.view.questions[0])
            await here.press("alt+r")
            await here.until(lambda: here.ui.focused is here.ui.query_one("#feedback"))
            await here.pilot.click("#reject-now")
            await here.until(
                lambda: here.ui.viewer_state.view.work and here.ui.viewer_state.view.work.outcome == "user_reject"
            )

    run(play())


def test_a_failed_task_asks_what_to_do() -> None:
    """One generic card shows any decision, with what happened and a button for each way on."""
    fails = {"error": {"type": "auth", "message": "no key"}}

    async def play() -> None:
        async with playing(plan_team(works=fails, plan={"confirm": "never"})) as here:
            await here.say("Please prepare the reading night.")
            await here.sees("no key", "Try again", "Go on without it", "Give it to another member")
            await here.press("f7")
            await here.pilot.click("#option-1")
            await here.until(lambda: any(row.is_skipped for row in here.ui.viewer_state.view.work.tasks.values()))  # type: ignore[union-attr]

    run(play())


def test_an_agent_asks_a_person() -> None:
    """The options of an agent are buttons, the answer goes to who asked."""

    async def play() -> None:
        async with playing("content-studio-demo") as here:
            await here.say("A post about growing herbs on a balcony, with two pictures.")
            await here.sees("Who should read the post?", "Needs your decision")
            question = here.ui.viewer_state.view.questions[0]
            assert question.selection == "multiple" or question.options
            await here.press("f7")
            if here.ui.query(Ticks):
                await here.press("space")
                await here.pilot.click("#send")
            else:
                await here.press("enter")
            await here.until(lambda: question not in here.ui.viewer_state.view.questions)
            await here.until(lambda: any("✓ You:" in each.text for each in here.ui.viewer_state.story.items))
            await here.press("f3")
            await here.sees(EN("job.choices"), "→ Brief", EN("job.shared"))

    run(play())


def test_clearing_the_queue_asks_first() -> None:
    """/queue clear is answered on the card like any other question."""
    may_end = asyncio.Event()

    async def bob(turn: TurnInput) -> str:
        await may_end.wait()
        return "done"

    async def play() -> None:
        async with playing(chat_team(ai("bob"), ai("carol", "late")), agents={"bob": bob}) as here:
            await here.say("[NEXT: Bob, Carol] go")
            await here.say("/queue clear")
            await here.sees("Clear the queue?")
            assert here.ui.viewer_state.view.pending == ("carol",)
            await here.press("f7", "enter")
            await here.until(lambda: here.ui.viewer_state.view.pending == ())
            may_end.set()

    run(play())
