"""`moot run --on-question`: what a question of a running turn means when no `--answer` is left for it."""

from argparse import Namespace
from typing import Any

import pytest

from moot.app import open_app
from moot.cli import exits
from moot.cli.run import Run
from moot.core.flows.turns import TurnInput
from moot.core.session.events import MessagePosted
from moot.runtime.ports import Ask
from moot.testing import VirtualClock, human, make_team, scripted
from tests.runtime.apps import facts, run

TEAM = make_team(human("alice"), scripted("bob", "unused"))


async def wants_permission(turn: TurnInput, ask: Ask) -> str:
    return f"{await ask('Delete build/?', default='reject')}ed"


async def wants_to_know(turn: TurnInput, ask_human: Any) -> str:
    return str(await ask_human("Which database?"))


async def play(function: Any, on_question: str, *answers: str) -> tuple[int, str]:
    """Return the exit code, and what bob said."""
    options = Namespace(
        say=["[NEXT: bob] go"], answer=list(answers), input=[], attach=[], json=False, fail_on=None, session=None
    )
    async with open_app(TEAM, agents={"bob": function}, clock=VirtualClock()) as app:
        session = await app.session()
        code = await Run(session, Namespace(**vars(options), on_question=on_question)).play([])
        said = [fact.text for fact in await facts(app, session, MessagePosted) if fact.member == "bob"]
    return code, " ".join(said)


@run
async def test_a_permission_is_rejected() -> None:
    """`reject`: the turn goes on with a no, and the run ends well; an `--answer` counts first."""
    assert await play(wants_permission, "reject") == (exits.OK, "rejected")
    assert await play(wants_permission, "reject", "allow") == (exits.OK, "allowed")


@run
async def test_a_question_is_told_that_nobody_is_there() -> None:
    """`reject`: a member that asks people in words is told to go on without them."""
    code, said = await play(wants_to_know, "reject")
    assert code == exits.OK
    assert "nobody is here" in said


@pytest.mark.parametrize("function", [wants_permission, wants_to_know])
@run
async def test_a_run_can_fail_at_a_question(function: Any) -> None:
    """`fail`: exit 8 at once; the turn does not wait for somebody who never comes."""
    assert await play(function, "fail") == (exits.WORK_FAILED, "")
