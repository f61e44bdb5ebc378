"""`moot sessions fork` and `import`: copies under a new id, whose chain verifies; a file is a stranger's."""

import asyncio
import json
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from moot.cli.copies import check_export, import_session, open_twice
from moot.config.loading import load_team
from moot.core import codec
from moot.core.codec import Head, chain, stamp
from moot.core.decide import create
from moot.core.errors import LogError
from moot.core.session.commands import CreateSession
from moot.core.session.events import NoticePosted
from moot.runtime.ports import Log, Snapshot
from moot.runtime.stores.memory import MemoryLog
from moot.runtime.stores.store import find_store
from tests.cli.command import Moot, check_chain, names, texts
from tests.cli.test_chat import PLAN

TEAM = str(Path(__file__).parents[1] / "data" / "teams" / "good" / "script.yaml")


def talk(moot: Moot) -> str:
    session_id, _ = moot.talk("[NEXT: bob] quince", "medlar", team=TEAM)
    return session_id


def export(moot: Moot, session_id: str, path: Path) -> list[str]:
    assert moot("sessions", "export", session_id, "--out", str(path)).code == 0
    return path.read_text(encoding="utf-8").splitlines()


def rechain(frames: list[dict[str, Any]]) -> bytes:
    """What somebody writes who knows how hashes are made."""
    lines, previous = [], ""
    for frame in frames:
        stored = {key: value for key, value in frame.items() if key not in ("hash", "show_content", "content")}
        data = json.dumps(stored, separators=(",", ":"), ensure_ascii=False).encode()
        previous = chain(previous, data)
        lines.append(data[:-1] + b',"hash":"%b"}' % previous.encode())
    return b"\n".join(lines) + b"\n"


@pytest.mark.parametrize("at", [1, 3, 8, None])
def test_a_fork_is_the_same_until_there(moot: Moot, at: int | None) -> None:
    """A new id, the same facts until SEQ, a notice that says so, a chain that verifies; it can
    be gone on with, and the source is as it was."""
    source = talk(moot)
    before = moot("sessions", "export", source)
    said = moot("sessions", "fork", source[:6], *([] if at is None else ["--at", str(at)]))
    assert said.code == 0, said.err
    forked = said.out.strip()
    assert forked != source
    copied, exported = moot.frames(forked), moot("sessions", "export", forked)
    check_chain(exported.lines)
    count = at or len(before.objects)
    assert names(copied)[:count] == names(before.objects)[:count]
    assert [frame["timestamp"] for frame in copied[:count]] == [frame["timestamp"] for frame in before.objects[:count]]
    assert copied[count]["metadata"]["code"] == "forked"
    assert copied[count]["metadata"]["detail"] == source
    assert moot("sessions", "verify", forked).code == 0
    ran = moot("run", TEAM, "--session", forked, "--json", "--timeout", "20", "--say", "sorb")
    assert ran.code == 0, ran.err
    assert "sorb" in texts(ran.objects)
    assert moot("sessions", "export", source).out == before.out


def test_there_is_no_fork_of_what_is_not_there(moot: Moot) -> None:
    """4 for an event or a session that does not exist."""
    source = talk(moot)
    assert moot("sessions", "fork", source, "--at", "9999").code == 4
    assert moot("sessions", "fork", source, "--at", "0").code == 4
    assert moot("sessions", "fork", "s_none").code == 4


def test_an_export_comes_back(moot: Moot, tmp_path: Path) -> None:
    """An export is imported under a new id, with the same facts, verified, and over: nothing of it runs."""
    source = talk(moot)
    lines = export(moot, source, tmp_path / "x.jsonl")
    said = moot("sessions", "import", str(tmp_path / "x.jsonl"))
    assert said.code == 0, said.err
    imported = said.out.strip()
    assert imported != source
    copied = moot.frames(imported)
    assert texts(copied) == texts([json.loads(line) for line in lines])
    assert copied[-1]["event"] == "session.completed"
    assert moot("sessions", "verify", imported).code == 0
    assert moot("run", TEAM, "--session", imported, "--say", "hello").code == 1
    assert moot("sessions", "fork", imported, "--at", "5").code == 0


def test_a_plan_with_open_work_is_imported_at_rest(moot: Moot, tmp_path: Path) -> None:
    """What was running or asked in the file is ended by the import; opening it starts nothing."""
    said = moot("run", PLAN, "--json", "--say", "Please prepare the reading night.")
    export(moot, said.objects[0]["session_id"], tmp_path / "x.jsonl")
    imported = moot("sessions", "import", str(tmp_path / "x.jsonl")).out.strip()
    listed = moot("sessions", "list", "--json").objects
    assert [each["busy"] for each in listed if each["session_id"] == imported] == [False]


def test_a_changed_file_is_refused(moot: Moot, tmp_path: Path) -> None:
    """Wrong hashes, holes, a second beginning, other formats: exit 6 or 3, and nothing is kept."""
    lines = export(moot, talk(moot), tmp_path / "x.jsonl")
    count = len(moot("sessions", "list").lines)
    bad = {
        "word": "\n".join(lines).replace("quince", "quinze", 1).encode(),
        "hole": "\n".join([*lines[:3], *lines[4:]]).encode(),
        "tail": "\n".join(lines[2:]).encode(),
        "twice": "\n".join([*lines, *lines]).encode(),
        "pickle": b"\x80\x04\x95\x0b\x00\x00\x00cos\nsystem\n",
        "deep": b"[" * 100_000,
        "empty": b"",
        "array": b"[]\n",
        "none": b'{"event":"x"}\n',
    }
    for name, content in bad.items():
        (tmp_path / "bad").write_bytes(content)
        said = moot("sessions", "import", str(tmp_path / "bad"))
        assert said.code in (3, 6), (name, said)
        assert "Traceback" not in said.err
    assert len(moot("sessions", "list").lines) == count


def test_a_forged_file_is_a_stranger(moot: Moot, tmp_path: Path) -> None:
    """Right hashes prove nothing: teams, members and times are checked, and text is cleaned again."""
    frames = [json.loads(line) for line in export(moot, talk(moot), tmp_path / "x.jsonl")]

    def forge(change: Any) -> int:
        forged = json.loads(json.dumps(frames))
        change(forged)
        (tmp_path / "forged").write_bytes(rechain(forged))
        return moot("sessions", "import", str(tmp_path / "forged")).code

    assert forge(lambda forged: None) == 0
    assert forge(lambda forged: forged[0]["metadata"]["members"].clear()) == 6
    assert forge(lambda forged: forged[1]["metadata"].update(member="nobody")) == 6
    assert forge(lambda forged: forged[1].update(timestamp='x","seq":1,"a":"')) == 6
    assert forge(lambda forged: forged.insert(1, {**forged[0], "seq": 2})) == 6
    escaped = "\x1b[31mred\x07\u202e"
    assert forge(lambda forged: forged[1]["metadata"].update(text=escaped)) == 0
    newest = moot("sessions", "list", "--json").objects[0]["session_id"]
    assert texts(moot.frames(newest))[0] == "red"


def write_export(path: Path, events: int, detail_chars: int) -> None:
    """A valid export of one session with long events."""
    created = create(CreateSession(team=load_team(TEAM).team()))
    team, head = created.state.team, Head()
    with path.open("wb") as file:
        for number in range(events):
            fact = (
                created.facts[0]
                if not number
                else NoticePosted(code="agent_error", who="bob", detail="x" * detail_chars)
            )
            [event] = stamp(team, "s_00000001", head, [fact], "2026-01-01T00:00:00.000Z")
            head = event.head
            file.write(codec.frame(event, "en") + b"\n")


def test_an_import_is_bounded_in_memory_and_leaves_a_snapshot(tmp_path: Path) -> None:
    """The file is read twice, line by line, and never held; the copy opens without folding its whole log."""
    path = tmp_path / "long.jsonl"
    write_export(path, 3_000, 8_000)

    async def import_it() -> tuple[Snapshot | None, Head]:
        async with _opened(tmp_path / "data") as log:
            with open_twice(str(path)) as file:
                checked = check_export(file, lambda: None)
                file.seek(0)
                session_id = await import_session(log, file, checked, lambda: None)
            return await log.load_snapshot(session_id), await log.head(session_id)

    tracemalloc.start()
    try:
        snapshot, head = asyncio.run(import_it())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 24_000_000
    assert peak < path.stat().st_size * 2 / 3  # a batch of a thousand events is a third of this file
    assert snapshot
    assert snapshot.head == head
    assert head.seq == 3_002


def test_half_an_import_does_not_go_on(tmp_path: Path) -> None:
    """A process that dies in the middle leaves a session that no server takes up: it is not listed as busy."""
    path = tmp_path / "long.jsonl"
    write_export(path, 1_500, 10)

    class Dying(MemoryLog):
        appends = 0

        async def append(self, *args: Any, **options: Any) -> None:
            self.appends += 1
            if self.appends == 2:
                raise LogError("the machine stopped")
            await super().append(*args, **options)

    async def import_it() -> None:
        log = Dying()
        with open_twice(str(path)) as file:
            checked = check_export(file, lambda: None)
            file.seek(0)
            with pytest.raises(LogError):
                await import_session(log, file, checked, lambda: None)
        [listing] = await log.sessions()
        assert (listing.head.seq, listing.summary.busy) == (1_000, False)

    asyncio.run(import_it())


@asynccontextmanager
async def _opened(folder: Path) -> AsyncIterator[Log]:
    log = await find_store(folder).open()
    try:
        yield log
    finally:
        await log.close()
