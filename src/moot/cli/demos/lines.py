"""A demo line by line, unattended: what happens on stdout, what to look at on stderr."""

import asyncio
import sys
from collections import deque
from contextlib import aclosing

from moot.app import Session, open_app
from moot.cli import exits
from moot.cli.demos.scenes import Demo, Scene
from moot.cli.transcript import Transcript
from moot.core.commands import Answer, Post
from moot.core.state import State

LONGEST_S = 60.0


async def tell(demo: Demo) -> int:
    async with open_app(demo.team) as app, asyncio.timeout(LONGEST_S):
        await play(await app.session(title="Demo"), demo)
    return exits.OK


async def play(session: Session, demo: Demo) -> None:
    """Print what happens; act each scene when its time has come. Ends when nothing is left to do or to wait for."""
    scenes, transcript, accepted_seq = deque(demo.scenes), Transcript(), 0
    async with aclosing(session.follow()) as batches:
        async for batch in batches:
            for event in batch:
                for line in transcript.lines(event):
                    print(line, flush=True)
            state = transcript.state
            assert state is not None  # noqa: S101 - it has just folded an event
            is_settled = state.is_settled and batch[-1].seq >= accepted_seq
            while scenes and (is_settled or scenes[0].is_cued(batch)):
                scene = scenes.popleft()
                print(f"\n» {scene.caption}", file=sys.stderr, flush=True)
                if scene.acts:
                    accepted_seq = await act(session, state, scene)
                    break
            else:
                if is_settled:
                    return


async def act(session: Session, state: State, scene: Scene) -> int:
    """The seq from which on the scene has been acted."""
    if scene.answer is None:
        return (await session.submit(Post(text=scene.say))).seq
    step = next(iter(state.open_steps.values()))
    return (await session.submit(Answer(step_id=step.step_id, **scene.answer))).seq
