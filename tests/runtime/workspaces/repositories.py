"""Repositories and teams for tests of trees."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from moot.app import App, Session, open_app
from moot.core.codec import Event
from moot.core.flows.turns import TurnInput

P = ParamSpec("P")
CALC = "def add(a, b):\n    return a + b\n"
MUL = f"{CALC}\n\ndef mul(a, b):\n    return a * b\n"
SUB = f"{CALC}\n\ndef sub(a, b):\n    return a - b\n"
BOTH = f"{MUL}\n\ndef sub(a, b):\n    return a - b\n"


def awaited(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Let an async function be a test."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


def git(folder: Path, *arguments: str) -> str:
    """The output of a command of git, run as a person does."""
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def make_repository(folder: Path, files: dict[str, str] | None = None, object_format: str = "sha1") -> Path:
    """A repository with one commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", f"--object-format={object_format}")
    for name, text in (files or {"calc.py": CALC}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "start")
    return folder


def plan_team(
    tasks: list[dict[str, Any]],
    by_task: dict[str, list[Any]],
    *,
    reviews: list[Any] | None = None,
    workspace: dict[str, Any] | None = None,
    **plan: Any,
) -> dict[str, Any]:
    """A team whose planner has this plan and whose executor writes these files."""
    members: list[dict[str, Any]] = [
        {"id": "ann", "kind": "human"},
        {
            "id": "pat",
            "kind": "ai",
            "role": "planner",
            "agent": {"type": "script", "replies": [{"plan": {"summary": "s", "tasks": tasks}}, "all done"]},
        },
        {"id": "will", "kind": "ai", "role": "executor", "agent": {"type": "script", "by_task": by_task}},
    ]
    if reviews is not None:
        members.append({"id": "rae", "kind": "ai", "role": "reviewer", "agent": {"type": "script", "replies": reviews}})
    return {
        "moot": 1,
        "name": "coders",
        "flow": "plan",
        "language": "en",
        "workspace": {"type": "worktree", **(workspace or {})},
        "plan": {"confirm": "never", "retry": {"base_delay_s": 0}, **plan},
        "members": members,
    }


def chat_team(*replies: Any, workspace: dict[str, Any] | None = None) -> dict[str, Any]:
    """A chat with one member that writes files."""
    return {
        "moot": 1,
        "name": "pair",
        "language": "en",
        "workspace": {"type": "worktree", **(workspace or {})},
        "members": [
            {"id": "ann", "kind": "human"},
            {"id": "bob", "kind": "ai", "agent": {"type": "script", "replies": list(replies)}},
        ],
    }


@asynccontextmanager
async def working(
    top: Path, *deeds: Callable[[Path], object], workspace: dict[str, Any] | None = None
) -> AsyncIterator[tuple[App, Session]]:
    """A chat whose member does one of these in its folder each turn, with the first one done."""
    left = list(deeds)

    async def play(turn: TurnInput) -> str:
        left.pop(0)(Path(turn.folder))
        return "done"

    team = chat_team(workspace=workspace)
    team["members"][1]["agent"] = {"type": "python", "call": "played:elsewhere"}
    trees = top.parent / "trees"
    async with open_app(team, folders={"pair": top}, trees=trees, agents={"bob": play}) as app:
        session = await app.session()
        await say(session, "[NEXT: bob] go")
        yield app, session


def write(**files: str) -> Callable[[Path], object]:
    """A deed: write files at the top of the tree."""

    def do(folder: Path) -> None:
        for name, text in files.items():
            (folder / name).write_text(text)

    return do


async def say(session: Session, text: str) -> list[Event]:
    return [event async for event in session.say(text)]


async def take(session: Session, app: App, how: str) -> list[Event]:
    """Take the work and wait until git has done it."""
    from moot.core.session.workspace_commands import Take
    from moot.core.session.workspace_events import WorkspaceFailed, WorkspaceTaken

    head = (await session.state(), (await app.sessions.open(session.id)).head.seq)[1]
    await session.submit(Take(how=how))  # type: ignore[arg-type]
    seen: list[Event] = []
    async for events in session.follow(head):
        seen += events
        if any(isinstance(event.fact, WorkspaceTaken | WorkspaceFailed) for event in events):
            return seen
    return seen


def names(events: list[Event], prefix: str = "workspace.") -> list[str]:
    return [event.fact.event for event in events if event.fact.event.startswith(prefix)]
