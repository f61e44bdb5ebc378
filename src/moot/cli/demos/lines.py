"""A demo line by line, unattended: the session on stdout, the captions on stderr."""

import asyncio
import sys
from collections import deque
from contextlib import aclosing

from moot.app import Session, open_app
from moot.cli import exits
from moot.core.session.commands import Answer, Post
from moot.core.session.state import State
from moot.core.texts import render
from moot.telling.demos.scenes import Demo, Scene
from moot.telling.teller import Teller

LONGEST_S = 60.0


async def tell(demo: Demo) -> int:
    async with open_app(demo.team) as app, asyncio.timeout(LONGEST_S):
        print(f"{demo.team}: {render('ui.scripted', app.teams[0].language)}", file=sys.stderr)
        await play(await app.session(title="Demo"), demo)
    return exits.OK


async def play(session: Session, demo: Demo) -> None:
    """Print the session and act each scene at its cue. Returns after the last scene, when the session is settled."""
    scenes, teller, accepted_seq = deque(demo.scenes), Teller(), 0
    async with aclosing(session.follow()) as batches:
        async for batch in batches:
            for event in batch:
                told = teller.tell(event.fact)
                for line in told.lines:
                    print(line, flush=True)
            state = told.state
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
    """Act a scene. Return the seq at which its command was accepted."""
    if scene.answer is None:
        return (await session.submit(Post(text=scene.say))).seq
    step = next(iter(state.open_steps.values()))
    return (await session.submit(Answer(step_id=step.step_id, **scene.answer))).seq
