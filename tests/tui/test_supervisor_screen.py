"""A supervisor's job on a screen: a question, an output that is put right, being stuck."""

from pathlib import Path

from textual.widgets import Input, TextArea

from moot.tui.questions.cards import Card
from moot.tui.text.plain import Button, Ticks
from tests.client.deadline import run
from tests.tui.screens import Playing, playing

TEAMS = Path(__file__).parents[1] / "web" / "teams"


async def until_asked(here: Playing, code: str) -> Card:
    await here.until(lambda: here.ui.query(Card) and here.ui.query_one(Card).question.code == code)
    return here.ui.query_one(Card)


def test_an_output_is_put_right() -> None:
    """What an agent wrote stands on the card and can be edited; what is no JSON is said."""

    async def play() -> None:
        async with playing(str(TEAMS / "studio.yaml")) as here:
            await here.say("A story for the evening")
            await here.sees("Who should read it?", "asked by Asker")
            here.ui.query_one(Ticks).select_all()
            here.ui.query_one("#send", Button).press()
            card = await until_asked(here, "review_output")
            await here.sees('draft: {"body": "Once upon a time"}', "3. Edit")
            await here.press("f7", "down", "down", "enter")
            await here.until(lambda: here.ui.focused is card.query_one(TextArea))
            box = card.query_one(TextArea)
            box.text = "{ not json"
            card.query_one("#save", Button).press()
            await here.sees("JSON: ")
            box.text = '{"draft": {"body": "Twice upon a time"}}'
            card.query_one("#save", Button).press()
            await here.until(
                lambda: here.ui.viewer_state.view.supervision and here.ui.viewer_state.view.supervision.outcome
            )
            job = here.ui.viewer_state.view.supervision
            assert job
            assert job.state["draft"] == {"body": "Twice upon a time"}

    run(play())


def test_being_stuck_is_a_question() -> None:
    """After three turns without a decision people choose who acts, by name, with what they want."""

    async def play() -> None:
        async with playing(str(TEAMS / "stuck.yaml")) as here:
            await here.say("A story for the evening")
            card = await until_asked(here, "supervisor_stuck")
            await here.sees("What now?", "1. Writer", "2. End it")
            card.query_one("#answer", Input).value = "short, please"
            card.query_one("#option-0", Button).press()
            await here.until(
                lambda: here.ui.viewer_state.view.supervision and here.ui.viewer_state.view.supervision.outcome
            )
            await here.sees("Once upon a *time*.")

    run(play())
