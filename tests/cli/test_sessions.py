"""`moot sessions`: what was said, kept for good."""

import json
import os
import sqlite3
from pathlib import Path

import pytest

from tests.cli.command import CHAT, MOOT, Moot, check_chain, names, texts
from tests.cli.keyboard import Keyboard


def flip_a_byte(data: Path, session_id: str, seq: int) -> None:
    """Alter one letter of a stored event, the way a bad disk would."""
    connection = sqlite3.connect(data / "moot.db")
    query = "SELECT a.id, a.seq, data FROM appends a JOIN sessions s ON s.key = session WHERE s.id = ? AND seq <= ?"
    row, first, stored = connection.execute(query + " ORDER BY seq DESC LIMIT 1", (session_id, seq)).fetchone()
    lines = stored.split(b"\n")
    lines[seq - first] = lines[seq - first].replace(b'"seq"', b'"sEq"', 1)
    connection.execute("UPDATE appends SET data = ? WHERE id = ?", (b"\n".join(lines), row))
    connection.commit()
    connection.close()


def test_list(moot: Moot) -> None:
    """The last active first; --json has id, seq, hash, times, team, title and what it waits for."""
    for arguments in ((), ("--json",)):
        empty = moot("sessions", "list", *arguments)
        assert (empty.code, empty.out) == (0, "")
        assert empty.err == f"no sessions in {moot.data} yet; `moot chat` starts one\n"
    first, _ = moot.talk("alice: one")
    second, frames = moot.talk("zoe: [NEXT: zoe] two")
    said = moot("sessions", "list", "--json")
    assert [each["session_id"] for each in said.objects] == [second, first]
    listed = said.objects[0]
    assert (listed["seq"], listed["hash"]) == (frames[-1]["seq"], frames[-1]["hash"])
    assert (listed["created_at"], listed["updated_at"]) == (frames[0]["timestamp"], frames[-1]["timestamp"])
    assert (listed["team"], listed["flow"], listed["title"]) == ("chat-five", "chat", "two")
    assert (listed["status"], listed["waiting_for"], listed["busy"]) == ("paused", "zoe", False)
    assert listed["needs"] == "your_turn"
    plain = moot("sessions", "list").lines
    assert [line.split()[0] for line in plain] == [second, first]
    moot("run", CHAT, "--session", first, "--say", "alice: again")
    assert [each["session_id"] for each in moot("sessions", "list", "--json").objects] == [first, second]


def test_rename(moot: Moot) -> None:
    """Another title for everybody, also of a session that is over; nothing of it is run."""
    session_id, frames = moot.talk("alice: [NEXT: Bob] hello")
    assert moot("sessions", "rename", session_id[:7], "The Harbour") == (0, "", "")
    (listed,) = moot("sessions", "list", "--json").objects
    assert (listed["title"], listed["seq"], listed["status"]) == ("The Harbour", len(frames) + 2, "paused")
    assert listed["last"] == {"by": "Carol", "text": texts(frames)[-1]}
    assert moot("sessions", "verify", session_id).code == 0
    moot("run", CHAT, "--session", session_id, "--say", "alice: bye [DONE]")
    assert moot("sessions", "rename", session_id, "Bygones").code == 0
    assert moot("sessions", "list").lines[0].endswith("  Bygones")
    assert "✎ The session is now called: Bygones" in moot("sessions", "show", session_id).lines
    assert "<h1>Bygones</h1>" in moot("sessions", "export", session_id, "--html").out
    assert moot("sessions", "export", session_id, "--format", "md").lines[0] == "# Bygones"


def test_a_title_that_is_none(moot: Moot) -> None:
    """Exit 1 with a sentence; 4 where there is no such session."""
    session_id, _ = moot.talk("alice: hello")
    for title, why in (("", "cannot be empty"), ("x" * 201, "the limit is 200"), ("a\nb", "one line of plain text")):
        said = moot("sessions", "rename", session_id, title)
        assert (said.code, said.out) == (1, "")
        assert why in said.err
    assert moot("sessions", "rename", "s_nowhere", "x").code == 4
    assert moot("sessions", "rename", session_id).code == 2


def test_the_trash(moot: Moot) -> None:
    """What the page removed is listed, comes back as it was, or goes for good."""
    session_id, frames = moot.talk("alice: hello")
    database = sqlite3.connect(moot.data / "moot.db", isolation_level=None)
    trash = "UPDATE sessions SET removed_at = '2026-01-01T00:00:00.000Z'"
    database.execute(trash)
    assert moot("sessions", "list").out == ""
    assert moot("sessions", "show", session_id).code == 4
    (listed,) = moot("sessions", "list", "--removed", "--json").objects
    assert (listed["session_id"], listed["removed_at"]) == (session_id, "2026-01-01T00:00:00.000Z")
    assert moot("sessions", "restore", session_id[:7]).code == 0
    assert moot.frames(session_id) == frames
    assert moot("sessions", "restore", session_id).code == 4
    database.execute(trash)
    database.close()
    assert moot("sessions", "rm", session_id[:7], "--forever", "--yes").code == 0
    assert moot("sessions", "list", "--removed").out == ""


def test_show(moot: Moot) -> None:
    """The conversation as it was printed, and what it cost; with --json state, seq and hash. A prefix is enough."""
    printed = moot("run", CHAT, "--say", "alice: [NEXT: Bob] hello")
    session_id = printed.err.split()[-1]
    plain = moot("sessions", "show", session_id[:7])
    assert (plain.code, plain.out.startswith(printed.out), plain.err) == (0, True, "")
    (shown,) = moot("sessions", "show", session_id, "--json").objects
    (listed,) = moot("sessions", "list", "--json").objects
    assert list(shown) == ["session_id", "seq", "hash", "state"]
    assert [shown[key] for key in ("session_id", "seq", "hash")] == [listed[k] for k in ("session_id", "seq", "hash")]
    assert (shown["state"]["status"], shown["state"]["waiting_for"]) == ("paused", "alice")


def test_export_jsonl(moot: Moot, tmp_path: Path) -> None:
    """Byte for byte the frames that `run --json` printed, to stdout or to a file."""
    run = moot("run", CHAT, "--json", "--say", "alice: [NEXT: Zoe, Bob] hello 你好", "/lang zh", "/queue")
    session_id = run.objects[0]["session_id"]
    assert moot("sessions", "export", session_id) == (0, run.out, "")
    out = tmp_path / "out.jsonl"
    assert moot("sessions", "export", session_id, "--format", "jsonl", "--out", str(out)) == (0, "", "")
    assert out.read_text(encoding="utf-8") == run.out
    check_chain(run.lines)


def test_export_md(moot: Moot) -> None:
    """A heading a speaker, the text as it was said, notices quoted, the end told."""
    session_id, _ = moot.talk("alice: [NEXT: Bob] hello", "zoe: bye [DONE]")
    said = moot("sessions", "export", session_id, "--format", "md")
    assert said.code == 0
    assert said.lines[0] == "# hello"
    headings = [line.split(" · ")[0] for line in said.lines if line.startswith("### ")]
    assert headings == ["### Alice", "### Bob", "### Carol", "### Zoe"]
    assert "> ⚠️ 'Dora' is not in this team, skipped" in said.lines
    assert said.lines[-1].startswith("*■")


def test_export_html(moot: Moot) -> None:
    """One file that opens without a server: no script, nothing from elsewhere, what was said as text."""
    session_id, _ = moot.talk("alice: [NEXT: Bob] <script>alert(1)</script> & <img src=x>")
    said = moot("sessions", "export", session_id, "--html")
    assert said.code == 0
    assert said == moot("sessions", "export", session_id, "--format", "html")
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;img src=x&gt;" in said.out
    assert not any(tag in said.out for tag in ("<script", "<img", "<link", "http://", "https://"))
    assert "<b>Carol</b>" in said.out


def test_replay(moot: Moot) -> None:
    """Event by event, as text with seq or as frames; --at stops there and shows the state of that moment."""
    session_id, frames = moot.talk("alice: [NEXT: Bob] hello")
    assert moot("sessions", "replay", session_id, "--json").out == moot("sessions", "export", session_id).out
    plain = moot("sessions", "replay", session_id)
    assert plain.code == 0
    assert plain.lines[0].startswith("#1 ")
    assert plain.lines[-1].startswith(f"#{len(frames)} ")
    started = next(frame for frame in frames if frame["event"] == "turn.started")
    said = moot("sessions", "replay", session_id, "--json", "--at", str(started["seq"]))
    assert names(said.objects[:-1]) == names(frames[: started["seq"]])
    assert [turn["member"] for turn in said.objects[-1]["running"]] == ["bob"]
    plain = moot("sessions", "replay", session_id, "--at", str(started["seq"]))
    assert plain.lines[-1] == "Status: active · waiting for: - · AI turns in a row: 1"


@pytest.mark.parametrize("seq", ["0", "-1", "999"])
@pytest.mark.parametrize("action", ["replay", "fork"])
def test_there_is_no_such_event(moot: Moot, action: str, seq: str) -> None:
    """A seq that the session does not have is told, with those that it has; exit 4, nothing is printed or made."""
    session_id, frames = moot.talk("alice: hello")
    said = moot("sessions", action, session_id, "--at", seq)
    assert (said.code, said.out) == (4, "")
    assert said.err == f"moot: session {session_id} has events 1 to {len(frames)}; there is no {seq}\n"
    assert len(moot("sessions", "list").lines) == 1


def test_replay_keeps_the_pace_when_asked(moot: Moot) -> None:
    """--speed plays at so many times the real pace."""
    session_id, _ = moot.talk("alice: hello")
    assert moot("sessions", "replay", session_id, "--speed", "1000").out == moot("sessions", "replay", session_id).out


def test_verify(moot: Moot) -> None:
    """All sessions or one: each with its seq and hash, exit 0."""
    ids = [moot.talk("alice: hello")[0] for _ in range(2)]
    said = moot("sessions", "verify", "--json")
    assert said.code == 0
    assert sorted(each["session_id"] for each in said.objects) == sorted(ids)
    listed = {each["session_id"]: each for each in moot("sessions", "list", "--json").objects}
    for each in said.objects:
        assert each["ok"] is True
        assert [each[key] for key in ("seq", "hash")] == [listed[each["session_id"]][k] for k in ("seq", "hash")]
    (one,) = moot("sessions", "verify", ids[0]).lines
    assert one == f"{ids[0]}: ok, {listed[ids[0]]['seq']} events"


@pytest.mark.parametrize("seq", [1, 2, 3, 7])
def test_verify_finds_a_flipped_byte(seq: int, moot: Moot) -> None:
    """Exit 6 names the seq of the damaged event; other sessions are ok and can be used; what is before it is shown."""
    damaged, frames = moot.talk("alice: [NEXT: Bob] hello")
    sound, _ = moot.talk("alice: hello")
    flip_a_byte(moot.data, damaged, seq)
    said = moot("sessions", "verify", "--json")
    assert said.code == 6
    reports = {each["session_id"]: each for each in said.objects}
    assert reports[sound]["ok"] is True
    assert (reports[damaged]["ok"], reports[damaged]["damaged_at"]) == (False, seq)
    assert reports[damaged].get("seq", 0) == seq - 1
    assert f"damaged at seq {seq}" in moot("sessions", "verify", damaged).out
    assert moot("sessions", "verify", sound).code == 0
    assert moot("run", CHAT, "--session", sound, "--say", "alice: still here").code == 0
    replayed = moot("sessions", "replay", damaged, "--json")
    assert replayed.code == 6
    assert names(replayed.objects) == names(frames[: seq - 1])
    refused = moot("run", CHAT, "--session", damaged, "--say", "alice: hello?")
    assert (refused.code, refused.out) == (6, "")
    assert f"seq {seq}" in refused.err


def test_rm_moves_to_the_trash(moot: Moot) -> None:
    """A removed session is in the trash as it was and can be restored; the others stay."""
    first, frames = moot.talk("alice: one")
    second, _ = moot.talk("alice: two")
    said = moot("sessions", "rm", first)
    assert (said.code, said.out) == (0, "")
    assert said.err == f"moved {first} to the trash; `moot sessions restore {first}` brings it back\n"
    assert moot("sessions", "show", first).code == 4
    assert [each["session_id"] for each in moot("sessions", "list", "--removed", "--json").objects] == [first]
    assert "already" in moot("sessions", "rm", first).err
    assert texts(moot.frames(second)) == ["two"]
    assert moot("sessions", "restore", first).code == 0
    assert moot.frames(first) == frames


def test_rm_forever_needs_a_yes(moot: Moot) -> None:
    """Without a terminal `--forever` deletes only with `--yes`; then nothing is left, in the trash neither."""
    session_id, _ = moot.talk("alice: one")
    refused = moot("sessions", "rm", session_id, "--forever")
    assert (refused.code, refused.out) == (2, "")
    assert "--yes" in refused.err
    assert moot("sessions", "show", session_id).code == 0
    assert moot("sessions", "rm", session_id, "--forever", "--yes").err == f"deleted {session_id} for good\n"
    assert moot("sessions", "list", "--json").out == moot("sessions", "list", "--removed", "--json").out == ""


@pytest.mark.parametrize(("typed", "code", "left"), [("y\r", 0, 0), ("\r", 1, 1), ("nope\r", 1, 1)])
def test_rm_forever_asks_at_a_terminal(moot: Moot, typed: str, code: int, left: int) -> None:
    """Only a yes deletes; the default is no."""
    session_id, _ = moot.talk("alice: one")
    person = Keyboard([*MOOT, "sessions", "rm", session_id, "--forever"], os.environ)
    person.until(f"delete {session_id} for good? [y/N] ")
    person.type(typed)
    assert person.end() == code
    assert len(moot("sessions", "list", "--json").objects) == left


def test_restore_of_a_session_that_was_not_removed(moot: Moot) -> None:
    """Restoring says that a live session is not in the trash, instead of denying that it exists."""
    session_id, _ = moot.talk("alice: one")
    said = moot("sessions", "restore", session_id[:8])
    assert (said.code, said.err) == (
        4,
        f"moot: {session_id} is not in the trash; `moot sessions list --removed` shows what is\n",
    )


@pytest.mark.parametrize("action", ["show", "export", "replay", "verify", "rm"])
def test_an_unknown_session(action: str, moot: Moot) -> None:
    """Exit 4 with a hint, whatever was asked for."""
    moot.talk("alice: hello")
    said = moot("sessions", action, "s_nobody")
    assert (said.code, said.out) == (4, "")
    assert "moot sessions list" in said.err


def test_untrusted_text_reaches_no_terminal(moot: Moot) -> None:
    """Escapes and controls in what people say are gone before they are stored."""
    session_id, _ = moot.talk("alice: \x1b]0;title\x07\x1b[2Jred\u202e \x00<b>")
    for action in (["show", session_id], ["export", session_id], ["export", session_id, "--format", "md"]):
        said = moot("sessions", *action)
        assert not any(ord(each) < 32 and each != "\n" for each in said.out)
        assert "\\u001b" not in said.out
        assert ("&lt;b>" if "md" in action else "<b>") in said.out


def test_json_is_one_object_a_line(moot: Moot) -> None:
    """Every --json of these commands is JSON Lines."""
    session_id, _ = moot.talk("alice: one\ntwo")
    for action in (["list"], ["show", session_id], ["replay", session_id], ["verify"]):
        for line in moot("sessions", *action, "--json").lines:
            assert isinstance(json.loads(line), dict)


def test_what_was_said_is_found(moot: Moot) -> None:
    """Each session with its hits; as JSON too; nothing to search for is a mistake, nothing found is said."""
    first, _ = moot.talk("alice: [NEXT: bob] quince", "alice: 做一张春季海报")
    moot.talk("alice: medlar")
    found = moot("sessions", "search", "春季")
    assert found.code == 0
    head, line = found.out.splitlines()
    assert head.startswith(first)
    assert "做一张春季海报" in line
    hits = [
        json.loads(line)
        for line in moot("sessions", "search", "QUIN", "--json", "--session", first[:8]).out.splitlines()
    ]
    assert [hit["session_id"] for hit in hits] == [first]
    nothing = moot("sessions", "search", "nowhere")
    assert (nothing.code, nothing.out) == (0, "")
    assert "nobody has said" in nothing.err
    assert moot("sessions", "search", "!!").code == 2
