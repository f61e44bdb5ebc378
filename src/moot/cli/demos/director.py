"""The director of a watched demo: shows a caption, waits, then acts for the human unless the viewer has acted."""

from collections import deque
from contextlib import aclosing
from typing import Protocol

from moot.app import Session
from moot.core.errors import Refused
from moot.core.evolve import evolve
from moot.core.machines.session import Status
from moot.core.session.commands import Answer, Post
from moot.core.session.state import State
from moot.telling.demos.scenes import Demo, Scene

READING_S, CHARS_PER_S = 2.5, 22.0  # time to read a caption before the director acts
ON_CUE_S = 1.2  # shorter at a cue, because the work goes on meanwhile


class Screen(Protocol):
    """What the director needs of the interface that shows the demo."""

    def show_caption(self, caption: str) -> None: ...

    def cut(self) -> None:
        """Close the connection, as a bad network would."""

    def prepare(self, text: str) -> None:
        """Show the text that the director will post next; empty to show none."""

    async def wait(self, seconds: float) -> bool:
        """Wait at most so long, less if the viewer wants to go on. Return whether they have posted something."""


class Director:
    def __init__(self, session: Session, demo: Demo, screen: Screen, *, hurry: float = 1.0) -> None:
        self._session, self._screen, self._hurry = session, screen, hurry
        self._scenes = deque(demo.scenes)
        self._state: State | None = None
        self._accepted_seq = 0

    async def play(self) -> None:
        """Play all scenes. Returns when the session is completed, by the last scene or by the viewer."""
        async with aclosing(self._session.follow()) as batches:
            async for batch in batches:
                for event in batch:
                    state = self._state = evolve(self._state, event.fact)
                if state.status is Status.COMPLETED:
                    return
                is_settled = state.is_settled and batch[-1].seq >= self._accepted_seq
                while self._scenes and (is_settled or self._scenes[0].is_cued(batch)):
                    scene = self._scenes.popleft()
                    space = "" if scene.caption.endswith("。") else " "
                    self._screen.show_caption(f"{scene.caption}{space}{scene.cut}".strip())
                    if scene.acts and await self._act(scene, is_settled=is_settled):
                        break

    async def _act(self, scene: Scene, *, is_settled: bool) -> bool:
        """Act a scene unless the viewer acts first. Return whether new events are to be expected."""
        before, reading_s = await self._count(), READING_S + len(scene.caption + scene.cut) / CHARS_PER_S
        self._screen.prepare(scene.say)
        has_spoken = await self._screen.wait(self._hurry * (reading_s if is_settled else ON_CUE_S))
        if has_spoken or await self._count() != before:
            return True
        if scene.cut:
            self._screen.cut()
        try:
            self._accepted_seq = await self._play(scene, self._session)
        except Refused:  # the viewer has changed the course, so that this scene no longer fits: skip it
            return False
        finally:
            self._screen.prepare("")
        return self._accepted_seq > 0

    async def _play(self, scene: Scene, session: Session) -> int:
        if scene.answer is None:
            return (await session.submit(Post(text=scene.say))).seq
        steps = (await session.state()).open_steps
        if not steps:
            return 0
        return (await session.submit(Answer(step_id=next(iter(steps)), **scene.answer))).seq

    async def _count(self) -> tuple[int, int]:
        """Return the numbers of answers and of human messages, which change when the viewer acts."""
        state = await self._session.state()
        messages = [message for message in state.history if state.team.member(message.member).is_human]
        return len(state.closed_steps), len(messages)
