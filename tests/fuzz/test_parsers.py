"""Whatever is sent, written or imported is read or refused with an error of Moot: nothing else is ever raised.

Frames are made from the table of commands, team files and histories from those in the repository. MOOT_FUZZ_RUNS says
how many are tried of each; a failure names its number.
"""

import io
import json
import os
import random
from typing import Any

import pytest
import yaml

from moot.cli.copies import check_export, import_session
from moot.config.loading import list_problems, load_team
from moot.core.codec import Head, frame
from moot.core.errors import MootError
from moot.core.session.principal import Principal, Role
from moot.protocol.client import ClientHalf
from moot.protocol.command_table import COMMANDS
from moot.protocol.happenings import Sever
from moot.protocol.protocol_errors import ProtocolError
from moot.protocol.server import ServerHalf
from moot.runtime.stores.memory import MemoryLog
from tests.fuzz.garbling import flip, garble, pick
from tests.histories.corpus import read
from tests.histories.test_histories import HISTORIES
from tests.runtime.apps import run
from tests.tidy.sources import ROOT

RUNS = int(os.environ.get("MOOT_FUZZ_RUNS", "400"))
TEAMS = sorted((ROOT / "src" / "moot" / "teams").glob("*.yaml"))
SESSION = "s_12345678"


def draw(number: int) -> random.Random:
    return random.Random(number)  # noqa: S311 - it must be repeatable, not secret


def make_frame(chance: random.Random) -> dict[str, Any]:
    """A frame of a command with values of any type in its fields, wherever fields may stand."""
    row = COMMANDS[chance.choice(sorted(COMMANDS))]
    fields = {field.name: pick(chance) for field in row.fields if chance.random() < 0.8}
    place = chance.choice(["top", "metadata", "content"])
    frame_: dict[str, Any] = {"event": row.event, "session_id": SESSION, "command_id": "c1"}
    frame_ |= fields if place == "top" else {place: fields}
    return frame_ if chance.random() < 0.7 else garble(frame_, chance)


def test_any_frame_is_read_or_refused() -> None:
    """The server's half raises ProtocolError, with a code of the catalogue, and nothing else."""
    outcomes = set()
    for number in range(RUNS):
        chance = draw(number)
        text = json.dumps(make_frame(chance))
        if chance.random() < 0.2:
            text = flip(text.encode(), chance).decode(errors="replace")
        half = ServerHalf(Principal(token_id="t", role=Role.OWNER), None)
        try:
            outcomes.add(type(half.understand(text).request).__name__)
        except ProtocolError as error:
            outcomes.add(error.code if error.explain("en") else "")
        except Exception as error:
            error.add_note(f"frame {number}: {text[:300]}")
            raise
    assert len(outcomes) > 8
    assert "" not in outcomes


@run
async def test_any_message_of_a_server_is_read_or_severs_the_link() -> None:
    """The client's half takes what verifies, ignores what it knows, and asks to close the link for nonsense."""
    events = read(HISTORIES[0])[:30]
    frames = [frame(event, "en") for event in events]
    severed = 0
    for number in range(RUNS):
        chance, half = draw(number), ClientHalf()
        half.follow(events[0].session_id, 0.0)
        half.connect(0.0)
        half.opened(0.0)
        half.receive(b'{"event":"system.connected","metadata":{"connection_id":"c"}}', 0.0)
        for data in chance.sample(frames, 5):
            happened = half.receive(flip(data, chance) if chance.random() < 0.7 else data, 1.0)
            severed += any(isinstance(each, Sever) for each in happened)
        assert (
            half.following.get(events[0].session_id, None) is None or half.following[events[0].session_id].head.seq < 6
        )
    assert severed > RUNS // 10


@pytest.mark.parametrize("path", TEAMS, ids=lambda path: path.stem)
def test_any_team_is_loaded_or_its_problems_are_listed(path: Any) -> None:
    """A mapping that is no team raises ConfigError with what is wrong, whatever is wrong with it."""
    right = yaml.safe_load(path.read_text(encoding="utf-8"))
    refused = 0
    for number in range(RUNS // 4):
        wrong = garble(right, draw(number))
        if not isinstance(wrong, dict):
            continue
        try:
            load_team(wrong)
        except MootError:
            refused += 1
        except Exception as error:
            error.add_note(f"team {path.stem}, number {number}")
            raise
    assert refused > RUNS // 8


def test_any_team_file_is_read_or_refused(tmp_path: Any) -> None:
    """Bytes that are no YAML, no text or no team are told in sentences."""
    path, right = tmp_path / "team.yaml", TEAMS[0].read_bytes()
    for number in range(RUNS // 8):
        path.write_bytes(flip(right, draw(number)))
        try:
            list_problems(path)
        except MootError:
            pass
        except Exception as error:
            error.add_note(f"team file, number {number}")
            raise


@run
async def test_any_export_is_imported_or_refused() -> None:
    """A hostile export ends in Corrupt or ConfigError, or as a session that is complete and verified."""
    frames = [frame(event, "en") for event in read(HISTORIES[0])]
    log, imported, refused = MemoryLog(), 0, 0
    for number in range(RUNS // 8):
        chance = draw(number)
        lines = list(frames)
        for _ in range(chance.choice([0, 1, 1, 2])):
            at = chance.randrange(len(lines))
            lines[at] = flip(lines[at], chance)
        if chance.random() < 0.2:
            del lines[chance.randrange(len(lines))]
        try:
            file = io.BytesIO(b"\n".join(lines))
            checked = check_export(file, lambda: None)
            file.seek(0)
            session_id = await import_session(log, file, checked, lambda: None)
        except MootError:
            refused += 1
            continue
        except Exception as error:
            error.add_note(f"export {number}")
            raise
        imported += 1
        assert await log.head(session_id) != Head()
    assert imported
    assert refused
