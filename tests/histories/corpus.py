"""Histories of real runs, as versions wrote them; every later version replays them.

`python -m tests.histories.corpus` adds the folder of this version, from runs of the simulator: real engines, with
crashes, failing members and people who do anything. A folder that exists is never changed.
"""

import hashlib
import logging
import sys
from pathlib import Path
from typing import Any

import msgspec

from moot import __version__
from moot.core import states
from moot.core.codec import Event, chain, decode, frame
from moot.core.evolve import evolve
from moot.core.session.state import State
from moot.core.view import project

FOLDER = Path(__file__).parents[1] / "data" / "histories"
INDEX = "index.json"
SEEDS = range(400)
OF_EACH_FLOW, EVENTS = 4, range(60, 220)


def read(path: Path) -> list[Event]:
    """Decode a history and check its chain. Raises ValueError if it is not what was written."""
    events, previous = list[Event](), ""
    for line in path.read_bytes().splitlines():
        hash_, _, data = line.partition(b" ")
        previous = chain(previous, data)
        if previous != hash_.decode():
            raise ValueError(f"{path.name}: event {len(events) + 1} does not follow from the one before")
        events.append(decode(data, previous))
    return events


def fold(events: list[Event]) -> State:
    state: State | None = None
    for event in events:
        state = evolve(state, event.fact)
    if state is None:
        raise ValueError("the history is empty")
    return state


def describe(events: list[Event]) -> dict[str, Any]:
    """What later versions must find in a history, in words that stay."""
    state = fold(events)
    view = project(state, "en")
    return {
        "flow": state.team.flow,
        "events": len(events),
        "head": events[-1].hash,
        "status": state.status,
        "waiting_for": state.waiting_for,
        "messages": state.message_count,
        "turns": state.turn_count,
        "open_steps": sorted(state.open_steps),
        "title": view.title,
    }


def check(events: list[Event]) -> None:
    """What must hold of any history: its state survives encoding, and each event can be sent."""
    state = fold(events)
    assert states.decode(states.encode(state)) == state
    for event in events:
        assert hashlib.sha256(frame(event, "zh")).digest()


def write(folder: Path) -> None:
    from sim.world import World  # only for writing

    logging.disable(logging.CRITICAL)
    sys.unraisablehook = lambda _: None
    folder.mkdir(parents=True)
    index: dict[str, dict[str, Any]] = {}
    for seed in SEEDS:
        world = World(seed)
        try:
            world.run()
        except AssertionError as error:
            error.add_note(f"make sim SEED={seed}")
            raise
        assert world.server is not None
        for session_id in world.session_ids:
            events = world.server.log.events_of(session_id)
            flow = fold(events).team.flow
            number = sum(name.startswith(flow) for name in index) + 1
            if len(events) in EVENTS and number <= OF_EACH_FLOW:
                name = f"{flow}-{number}.jsonl"
                lines = [event.hash.encode() + b" " + event.data + b"\n" for event in events]
                (folder / name).write_bytes(b"".join(lines))
                index[name] = describe(events)
        world.abandon()
        if len(index) == 3 * OF_EACH_FLOW:
            break
    (folder / INDEX).write_bytes(msgspec.json.format(msgspec.json.encode(index)) + b"\n")


if __name__ == "__main__":
    target = FOLDER / __version__
    if target.exists():
        sys.exit(f"{target} exists; a history is never changed: raise the version first")
    write(target)
