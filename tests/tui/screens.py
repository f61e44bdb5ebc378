"""The terminal UI played without a terminal: a session in this process, a pilot's fingers, the screen as text."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from moot.app import App, open_app
from moot.tui.hosts import LocalHost
from moot.tui.keys import Keys
from moot.tui.remembered import Memory
from moot.tui.terminal import MootApp
from moot.tui.viewer_state import Item
from moot.tui.words import Words

WAIT_S = 60.0
EN = Words("en")
AMPLE, WIDE, NARROW = (200, 50), (120, 32), (80, 24)


def ai(member_id: str, *replies: Any, **fields: Any) -> dict[str, Any]:
    agent = {"type": "script", "replies": list(replies)}
    return {"id": member_id, "name": member_id.title(), "kind": "ai", "agent": agent, **fields}


def chat_team(*members: Mapping[str, Any], language: str = "en", **fields: Any) -> dict[str, Any]:
    people = [{"id": "ann", "name": "Ann", "kind": "human"}]
    return {"name": "poster", "flow": "chat", "language": language, "members": [*people, *members], **fields}


PLAN = {
    "summary": "Two things side by side, then one.",
    "tasks": [
        {"id": "a", "title": "Find readers", "member": "ben"},
        {"id": "b", "title": "Find rooms"},
        {"id": "c", "title": "Write it down", "depends_on": ["a", "b"]},
    ],
}


def plan_team(*, works: Any = "Done.", **fields: Any) -> dict[str, Any]:
    members = [
        ai("nora", {"plan": PLAN}, role="planner"),
        ai("ben", works, role="executor"),
        ai("leo", "All of it.", role="aggregator"),
    ]
    return {**chat_team(*members), "name": "night", "flow": "plan", **fields}


def messages(ui: MootApp) -> list[Item]:
    """What members said, as the conversation shows it."""
    return [item for item in ui.viewer_state.story.items if item.member]


class Playing:
    """`press` keys, wait `until` something is so, read the `screen`."""

    def __init__(self, ui: MootApp, pilot: Pilot[None], app: App | None = None) -> None:
        self.ui, self.pilot, self.app = ui, pilot, app

    @property
    def screen(self) -> str:
        compositor = self.ui.screen._compositor
        return "\n".join("".join(segment.text for segment in strip) for strip in compositor.render_strips())

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        self.ui.query_one("#composer").focus()
        self.ui.query_one("TalkPane").composer.insert(text)  # type: ignore[attr-defined]
        await self.pilot.pause()

    async def say(self, text: str) -> None:
        await self.type(text)
        await self.press("f5")

    async def until(self, is_so: Callable[[], object]) -> None:
        try:
            async with asyncio.timeout(WAIT_S):
                while not is_so():  # noqa: ASYNC110 - what a screen shows is no event
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"it did not come to that:\n{self.screen}") from None

    async def sees(self, *texts: str) -> None:
        await self.until(lambda: all(text in self.screen for text in texts))


@asynccontextmanager
async def playing(
    team: dict[str, Any] | str,
    size: tuple[int, int] = WIDE,
    data: Path | None = None,
    keys: Keys | None = None,
    memory: Memory | None = None,
    folder: Path | None = None,
    **open_with: Any,
) -> AsyncIterator[Playing]:
    async with open_app(team, data=data, **open_with) as app:
        host = LocalHost(app)
        ui = MootApp(host, await host.create(), keys=keys, memory=memory, folder=folder)
        async with ui.run_test(size=size) as pilot:
            here = Playing(ui, pilot, app)
            await here.until(lambda: ui.words("here", seq=1) in here.screen)
            yield here
