"""Conflicts that people settle: what they chose is what they get, and nothing else is dropped."""

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from moot.app import Session, open_app
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import Answer
from moot.core.session.events import NoticePosted, StepAsked
from moot.core.session.state import State
from tests.core.teams import only
from tests.runtime.workspaces.repositories import awaited, make_repository, plan_team, say, take

TASKS = [{"id": name, "title": name} for name in ("one", "two")]


class Case(NamedTuple):
    """What both tasks do, what the person answers, and the files that come of it. Task `two` is merged last."""

    one: str
    two: str
    answers: tuple[tuple[str, str], ...]
    result: dict[str, str]
    start: tuple[str, ...] = ("a.txt",)
    in_tree: str = ""  # what the person does there before the answer
    object_format: str = "sha1"


CASES = {
    "a file that one side removed": Case("rm a.txt", "echo 2 > a.txt", (("ours", ""),), {}, object_format="sha256"),
    "a file where the other side has a folder": Case(
        "echo x > d", "mkdir d; echo y > d/f", (("ours", ""),), {"a.txt": "start\n", "d": "x\n"}
    ),
    "a folder where the other side has a file": Case(
        "echo x > d", "mkdir d; echo y > d/f", (("theirs", ""),), {"a.txt": "start\n", "d/f": "y\n"}
    ),
    "one side for a name with spaces, the other for the rest": Case(
        "echo 1 > 'a 文 b'; echo 1 > b",
        "echo 2 > 'a 文 b'; echo 2 > b",
        (("theirs", "a 文 b"), ("ours", "b")),
        {"a 文 b": "2\n", "b": "1\n"},
        start=("a 文 b", "b"),
    ),
    "marks that are part of the text": Case(
        "printf '<<<<<<< a\\n1\\n' > a.txt",
        "printf '<<<<<<< a\\n2\\n' > a.txt",
        (("tree", ""),),
        {"a.txt": "<<<<<<< a\n1 and 2\n"},
        in_tree="printf '<<<<<<< a\\n1 and 2\\n' > a.txt",
    ),
}


@pytest.mark.parametrize("name", CASES)
@awaited
async def test_a_person_settles_a_conflict(tmp_path: Path, name: str) -> None:
    """Either side for any file, or what they made of the tree."""
    case = CASES[name]
    top = make_repository(tmp_path / "repo", dict.fromkeys(case.start, "start\n"), case.object_format)

    begun: dict[str, asyncio.Event] = {name: asyncio.Event() for name in ("one", "two")}

    async def play(turn: TurnInput) -> str:
        if begun[turn.task_id].is_set():
            return "I cannot resolve it"
        begun[turn.task_id].set()
        if turn.task_id == "one":  # both start from the same files, and two is merged last
            await begun["two"].wait()
        else:
            await wait_until(session, lambda state: _is_merged(state, "one"))
        _run(getattr(case, turn.task_id), Path(turn.folder))
        return "done"

    team = plan_team(TASKS, {}, max_rework=1, max_parallel=2)
    team["members"][2]["agent"] = {"type": "python", "call": "played:elsewhere"}
    async with open_app(team, folders={"coders": top}, trees=tmp_path / "trees", agents={"will": play}) as app:
        session = await app.session()
        await say(session, "go")
        if case.in_tree:
            _run(case.in_tree, tmp_path / "trees" / session.id / "two")
        for choice, files in case.answers:
            await _answer(session, choice, files)
        await _find_question(session, "take_work")
        await take(session, app, "apply")
    paths = [path for path in top.rglob("[!.]*") if path.is_file() and ".git" not in path.parts]
    assert {str(path.relative_to(top)): path.read_text() for path in paths} == case.result


@awaited
async def test_marks_that_a_person_left_are_told(tmp_path: Path) -> None:
    """They say that it is resolved and it is not: it is asked again, with the reason, and nothing is merged."""
    top = make_repository(tmp_path / "repo")
    scripts = {name: [{"text": name, "files": {"calc.py": f"{name}\n"}}, "no"] for name in ("one", "two")}
    async with open_app(plan_team(TASKS, scripts, max_rework=1), folders={"coders": top}, trees=tmp_path / "t") as app:
        session = await app.session()
        await say(session, "go")
        await _answer(session, "tree")
        await wait_until(session, lambda state: bool(state.open_steps))
        notices = only([event.fact async for event in session.history()], NoticePosted)
        assert [notice.names for notice in notices if notice.code == "still_in_conflict"] == [("calc.py",)]
        assert (await _find_question(session, "merge_conflict")).names == ("calc.py",)


def _run(command: str, folder: Path) -> None:
    subprocess.run(command, shell=True, cwd=folder, check=True)  # noqa: S602 - the commands are above


def _is_merged(state: State, task: str) -> bool:
    tree = state.workspace.find(task)
    return tree is not None and tree.is_merged


async def _answer(session: Session, choice: str, files: str = "") -> None:
    step_id = (await _find_question(session, "merge_conflict")).step_id
    await session.submit(Answer(step_id=step_id, choice=choice, answer=files))
    await wait_until(session, lambda state: step_id not in state.open_steps)


async def wait_until(session: Session, holds: Callable[[State], bool]) -> None:
    async with asyncio.timeout(60):
        async for _ in session.follow():
            if holds(await session.state()):
                return


async def _find_question(session: Session, code: str) -> StepAsked:
    """The open question of this kind, when it is asked."""
    await wait_until(session, lambda state: any(step.code == code for step in state.open_steps.values()))
    return next(step for step in (await session.state()).open_steps.values() if step.code == code)
