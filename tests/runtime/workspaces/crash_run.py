"""Kills a plan of six tasks, two of which conflict, at every append and before every command of git.

    python -m tests.runtime.workspaces.crash_run [EVERY [FIRST]]

Each try is a process of its own that ends itself with `kill -9` at one moment. Another process opens the same data,
goes on and is killed soon, at another moment in each try; a third one finishes. Before the work is taken, somebody
edits the tree of the whole. In the end the person's repository must hold what an undisturbed run gives, each task and
these edits in one commit, and nothing may be left of the trees. The same is tried
for work that is applied to files of a person who has uncommitted changes, at every moment from there on. `EVERY` tries
only every n-th moment, from the `FIRST`.
"""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from moot.app import open_app
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import End
from moot.core.session.workspace_commands import Take
from moot.runtime.stores.sqlite import SqliteLog
from moot.runtime.workspaces.git import Git
from tests.runtime.workspaces.repositories import git, make_repository, plan_team

KILLED, DONE = -signal.SIGKILL, 0
SECOND_KILLS = 60  # moments of the second process at which it may die
How = Literal["merge", "apply"]
FILES = {"one.txt": "a\nb\nc\n", "two.txt": "x\ny\nz\n"}


TASKS: list[dict[str, Any]] = [{"id": name, "title": f"task {name}"} for name in "abcdef"]
TASKS[5]["depends_on"] = ["a"]
LINES = {"a": ("one.txt", "a", "A"), "b": ("one.txt", "b", "B"), "d": ("two.txt", "x", "X"), "e": ("two.txt", "y", "Y")}
NEW = {"c": ("three.txt", "new\n"), "f": ("four.txt", "last\n")}
SIBLINGS = {"a": "b", "b": "a", "d": "e", "e": "d"}  # they change lines beside each other
EDITS = {"five.txt": "by hand\n"}
RESOLVED = {"one.txt": "A\nB\nc\n", "two.txt": "X\nY\nz\n"}
EXPECTED = {**RESOLVED, "three.txt": "new\n", "four.txt": "last\n", **EDITS}
TEAM = plan_team(TASKS, {}, max_parallel=6)
TEAM["members"][2]["agent"] = {"type": "python", "call": "played:elsewhere"}


async def play_executor(turn: TurnInput) -> str:
    """Change one line, or add a file. The tree of the sibling is waited for, so that two tasks do conflict."""
    folder, name = Path(turn.folder), turn.task_id
    if name in NEW:
        path, text = NEW[name]
        (folder / path).write_text(text)
        return "done"
    path, old, new = LINES[name]
    for _ in range(200):
        if (folder.parent / SIBLINGS[name]).is_dir():
            break
        await asyncio.sleep(0.01)
    text = (folder / path).read_text()
    if "<<<<<<<" in text:
        (folder / path).write_text(RESOLVED[path])
        return "resolved"
    (folder / path).write_text(text.replace(old, new))
    return "done"


class Moments:
    """Counts the moments at which a process may die, and ends it at one of them. `taking` is when the work is taken."""

    def __init__(self, last: int | None) -> None:
        self.count = self.taking = 0
        self._last = last

    def pass_one(self) -> None:
        self.count += 1
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        run, append, replace = Git.run, SqliteLog.append, Path.replace

        def run_counted(git: Git, *arguments: str, **options: Any) -> Any:
            self.pass_one()
            return run(git, *arguments, **options)

        async def append_counted(log: SqliteLog, *arguments: Any, **options: Any) -> None:
            self.pass_one()
            await append(log, *arguments, **options)
            self.pass_one()

        def replace_counted(path: Path, target: Path) -> Path:
            self.pass_one()
            return replace(path, target)

        Path.replace = replace_counted  # type: ignore[method-assign, assignment]
        Git.run = run_counted  # type: ignore[method-assign, assignment]
        SqliteLog.append = append_counted  # type: ignore[method-assign, assignment]


async def _work(folder: Path, how: How, moments: Moments) -> None:
    """Do, or go on with, the plan; let the person take it; end the session."""
    async with open_app(
        TEAM,
        data=folder / "data",
        folders={"coders": folder / "repo"},
        trees=folder / "trees",
        agents={"will": play_executor},
        max_tasks=6,
    ) as app:
        await app.recover()
        known = await app.log.sessions()
        session = await app.session(known[0].session_id) if known else await app.session()
        if not (await session.state()).message_count:
            async for _ in session.say("go"):
                pass
        async with asyncio.timeout(120):
            while not (await session.state()).workspace.is_removed:
                state = await session.state()
                if state.is_settled and state.workspace.pending is None:
                    if state.workspace.has_work:
                        moments.taking = moments.taking or moments.count
                        _edit(folder / "trees" / session.id / "main")
                        await session.submit(Take(how=how, by="ann"))
                    elif state.status != "completed":
                        await session.submit(End(by="ann"))
                await asyncio.sleep(0.01)


def _edit(tree: Path) -> None:
    """What somebody does by hand in the tree of the whole."""
    for name, text in EDITS.items():
        (tree / name).write_text(text)


def _in_process(folder: Path, how: How, last: int | None) -> tuple[int, str]:
    """Work in a process of its own. Returns how it ended, how many moments it had, and at which the work was taken."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        code = 1
        try:
            moments = Moments(last)
            moments.install()
            asyncio.run(_work(folder, how, moments))
            os.write(writing, f"{moments.count} {moments.taking}".encode())
            code = 0
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as said:
        count = said.read()
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), count


def _make_dirty(repo: Path) -> None:
    """Changes of a person that are in no commit: one staged, one not, one in a file that the work changes too."""
    (repo / "staged").write_text("staged\n")
    git(repo, "add", "staged")
    (repo / "staged").write_text("staged and changed\n")
    (repo / "new").write_text("new\n")
    (repo / "one.txt").write_text(FILES["one.txt"] + "\n\n\n\nmine\n")


MINE = {"staged": "staged and changed\n", "new": "new\n", "one.txt": EXPECTED["one.txt"] + "\n\n\n\nmine\n"}
APPLIED = "M one.txt\nAM staged\n M two.txt\n?? five.txt\n?? four.txt\n?? new\n?? three.txt"
OUTSIDE = "What was done outside of turns"


def check(folder: Path, how: How) -> list[str]:
    """Return what is wrong with the result."""
    repo, problems = folder / "repo", []
    for name, text in (EXPECTED if how == "merge" else {**EXPECTED, **MINE}).items():
        found = (repo / name).read_text() if (repo / name).exists() else None
        if found != text:
            problems.append(f"{name} is {found!r}")
    subjects = sorted(git(repo, "log", "--format=%s").splitlines())
    taken = (*(f"task {name}" for name in "abcdef"), OUTSIDE) if how == "merge" else ()
    if subjects != sorted([*taken, "start"]):
        problems.append(f"commits: {subjects}")
    status = git(repo, "status", "--porcelain")
    if status != ("" if how == "merge" else APPLIED):
        problems.append(f"the checkout is {status!r}")
    left = [ref for ref in git(repo, "for-each-ref", "--format=%(refname)").splitlines() if ref.startswith("refs/moot")]
    problems += [f"{ref} is left" for ref in left]
    problems += [f"{path} is left" for path in (folder / "trees").glob("*")]
    problems += [f"{path} is left" for path in (repo / ".git").rglob("*.lock")]
    return problems


def try_moment(how: How, last: int | None) -> tuple[str, list[str]]:
    """Die at one moment and go on in other processes. Returns what the last one counted, and what is wrong."""
    folder = Path(tempfile.mkdtemp(prefix="moot-crash-"))
    try:
        make_repository(folder / "repo", FILES)
        if how == "apply":
            _make_dirty(folder / "repo")
        ended, count = _in_process(folder, how, last)
        if last is not None and ended == KILLED:
            ended, count = _in_process(folder, how, last % SECOND_KILLS + 1)
        if last is not None and ended == KILLED:
            ended, count = _in_process(folder, how, None)
        problems = [] if ended == DONE else [f"it ended with {ended}"]
        return count, problems or check(folder, how)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def try_all(how: How = "merge", every: int = 1, first: int = 1, tell: Callable[[str], object] = print) -> list[str]:
    """Try the moments. Returns what went wrong."""
    counted, wrong = try_moment(how, None)
    if wrong:
        return [f"undisturbed: {problem}" for problem in wrong]
    count, taking = map(int, counted.split())
    moments = range((taking if how == "apply" else 0) + first, count + 1, every)
    for last in moments:
        _, problems = try_moment(how, last)
        wrong += [f"{how}, moment {last} of {count}: {problem}" for problem in problems]
        if problems:
            tell(wrong[-1])
    tell(f"{how}: {len(moments)} of {count} moments, {len(wrong)} problems")
    return wrong


if __name__ == "__main__":
    every, first = (*map(int, sys.argv[1:3]), 1, 1)[:2]
    sys.exit(1 if [*try_all("apply", every, first), *try_all("merge", every, first)] else 0)
