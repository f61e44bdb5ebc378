"""People are told by their own command or URL that a session needs them, once for each need."""

import asyncio
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from moot.app import open_app
from moot.cli.notifying import Need, Notifier, NotSent, Waiting, list_needs, send
from moot.cli.user_settings import Notify, read_settings
from moot.core.errors import ConfigError
from moot.core.session.commands import Answer, Post
from tests.cli.command import Moot
from tests.cli.serving import serving

NEED = Need(
    session="s_1", title="Poster; {question}", kind="plan", question="Approve?", link="http://127.0.0.1:1/s/s_1"
)
WRITE = "import json, sys; open(sys.argv[1], 'a').write(json.dumps([sys.argv[2:], json.load(sys.stdin)]) + '\\n')"
ASKING = {
    "flow": "plan",
    "language": "en",
    "members": [
        {"id": "ann", "kind": "human"},
        {"id": "nora", "kind": "ai", "role": "planner", "agent": {"type": "script", "replies": [
            {"plan": {"summary": "One task", "tasks": [{"id": "a", "title": "Write"}]}}]}},
        {"id": "ben", "kind": "ai", "role": "executor", "agent": {"type": "script", "replies": ["done"]}},
    ],
}  # fmt: skip

SLOW = {
    "language": "en",
    "chat": {"default": "bob"},
    "members": [
        {"id": "ann", "kind": "human"},
        {"id": "bob", "kind": "ai", "agent": {"type": "script", "replies": [{"hang": True}]}},
    ],
}


def write_to(file: Path, *more: str) -> tuple[str, ...]:
    return (sys.executable, "-c", WRITE, str(file), *more)


def read(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def settle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    monkeypatch.setenv("MOOT_CONFIG", str(path))


def test_a_need_is_told_once_and_only_if_it_lasts() -> None:
    """What is answered within the debounce is not told; what comes back is a new need only with a new key."""
    waiting = Waiting(3.0)
    assert waiting.take({("s", 1): NEED}, 0.0) == []
    assert waiting.take({("s", 1): NEED}, 2.9) == []
    assert waiting.take({("s", 1): NEED}, 3.0) == [NEED]
    assert waiting.take({("s", 1): NEED}, 9.0) == []
    assert waiting.take({("s", 2): NEED}, 10.0) == []
    assert waiting.take({}, 11.0) == []
    assert waiting.take({("s", 2): NEED}, 13.5) == []  # gone in between: it begins anew


def test_the_needs_of_a_session_follow_its_questions() -> None:
    """A plan to approve is a need of its own; the answered one is none, and the end of the work is the next."""

    async def test() -> None:
        async with open_app(ASKING) as app:
            session = await app.session(title="Poster")
            async for _ in session.say("Please write"):
                pass
            ((key, need),) = list_needs(session.id, await session.state(), None)
            assert (need.kind, need.title) == ("plan", "Poster")
            async for _ in session.answer(str(key[1]), confirmed=True):
                pass
            ((later, need),) = list_needs(session.id, await session.state(), None)
            assert (later != key, need.kind) == (True, "finished")
            untitled = await app.session()
            async for _ in untitled.say("Please write"):
                pass
            ((_, need),) = list_needs(untitled.id, await untitled.state(), None)
            assert need.title == "Please write"

    asyncio.run(test())


def test_who_stopped_the_work_is_not_told_of_it() -> None:
    """A pause that a person asked for needs nobody."""

    async def test() -> None:
        async with open_app(SLOW) as app:
            session = await app.session()
            await session.submit(Post(text="Please write"))
            await session.submit(Post(text="/stop"))
            async for _ in session.settle():
                pass
            assert (await session.state()).pause_reason == "stopped"
            assert list(list_needs(session.id, await session.state(), None)) == []

    asyncio.run(test())


def test_the_command_gets_json_and_its_places_filled(tmp_path: Path) -> None:
    """Each part stays one argument, whatever a title says; JSON comes by standard input; a failure is told."""
    file = tmp_path / "told.jsonl"
    asyncio.run(send(NEED, Notify(command=write_to(file, "{kind}: {title}", "{unknown}"))))
    assert read(file) == [
        [
            ["plan: Poster; {question}", "{unknown}"],
            {
                "session": "s_1",
                "title": "Poster; {question}",
                "kind": "plan",
                "question": "Approve?",
                "link": "http://127.0.0.1:1/s/s_1",
            },
        ]
    ]
    with pytest.raises(NotSent, match="ended with 3"):
        asyncio.run(send(NEED, Notify(command=(sys.executable, "-c", "raise SystemExit(3)"))))
    with pytest.raises(NotSent, match="no-such-program cannot be run"):
        asyncio.run(send(NEED, Notify(command=("no-such-program",))))


def test_a_title_is_no_option_of_the_command(tmp_path: Path) -> None:
    """What people call a session does not change what the command does; options of the settings stay."""
    file = tmp_path / "told.jsonl"
    asyncio.run(send(replace(NEED, title="--icon=x"), Notify(command=write_to(file, "{title}: !", "--text={title}"))))
    [[arguments, _]] = read(file)
    assert arguments == [" --icon=x: !", "--text=--icon=x"]


def test_the_url_is_posted_json() -> None:
    """The same object; another answer than 2xx, or none, is a failure."""
    got: list[Any] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append((self.path, json.loads(self.rfile.read(int(self.headers["content-length"])))))
            self.send_response(204 if self.path == "/hook?x=1" else 500)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        asyncio.run(send(NEED, Notify(url=f"{url}/hook?x=1")))
        with pytest.raises(NotSent, match="answered 500"):
            asyncio.run(send(NEED, Notify(url=url)))
        server.shutdown()
    assert [path for path, _ in got] == ["/hook?x=1", "/"]
    assert set(got[0][1]) == {"session", "title", "kind", "question", "link"}
    with pytest.raises(NotSent, match="cannot be reached"):
        asyncio.run(send(NEED, Notify(url=url)))


def test_a_running_session_calls_the_command_once_per_need(tmp_path: Path) -> None:
    """A plan that waits is told once, however long; its answer brings the next need, told once too."""
    file = tmp_path / "told.jsonl"

    async def told(count: int) -> None:
        async with asyncio.timeout(30):
            while len(read(file)) < count:  # noqa: ASYNC110 - a file tells nobody that it grows
                await asyncio.sleep(0.05)

    async def test() -> None:
        async with open_app(ASKING) as app:
            notify = Notify(command=write_to(file), debounce_s=0)
            task = app.spawn(Notifier(app, notify, lambda session_id: f"http://page/s/{session_id}").run())
            session = await app.session(title="Poster")
            async for _ in session.say("Please write"):
                pass
            await told(1)
            (step_id,) = (await session.state()).open_steps
            await session.submit(Answer(step_id=step_id, confirmed=True))
            await told(2)
            await asyncio.sleep(1.2)  # two more looks: nothing is told twice
            task.cancel()

    asyncio.run(test())
    needs = [need for _, need in read(file)]
    assert [need["kind"] for need in needs] == ["plan", "finished"]
    assert needs[0]["link"] == f"http://page/s/{needs[0]['session']}"


def test_a_server_reads_the_settings(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`moot serve` tells of a floor that waits, with a link to its page."""
    file = tmp_path / "told.jsonl"
    command = json.dumps([*write_to(file)])
    settle(monkeypatch, tmp_path, f"notify: {{command: {command}, debounce_s: 0}}\n")
    with serving(moot.data) as server:
        session_id = server.create()
        server.say(session_id, "[FROM: Alice] hello")
        server.has(session_id, "session.paused")
        for _ in range(400):
            if read(file):
                break
            threading.Event().wait(0.05)
    ((_, need),) = read(file)
    assert (need["session"], need["kind"], need["link"]) == (session_id, "your_turn", f"{server.base}/s/{session_id}")


def test_doctor_sends_a_test(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--notify` sends one notification and checks nothing else; without a setting it says what to write."""
    said = moot("doctor", "--notify")
    assert (said.code, len(said.lines)) == (0, 2)
    assert "notify: [notify-send, Moot," in said.out
    file = tmp_path / "told.jsonl"
    settle(monkeypatch, tmp_path, f"notify: {json.dumps([*write_to(file)])}\n")
    said = moot("doctor", "--notify")
    assert (said.code, said.out) == (0, f"✓ notify: sent to {sys.executable}\n")
    assert [need["session"] for _, need in read(file)] == ["s_test"]
    monkeypatch.setattr("moot.cli.notifying._post", lambda need, url: None)
    settle(monkeypatch, tmp_path, f"notify: {{command: {json.dumps([*write_to(file)])}, url: https://example.org}}\n")
    assert moot("doctor", "--notify").out == f"✓ notify: sent to {sys.executable} and the URL\n"
    settle(monkeypatch, tmp_path, "notify: [no-such-program]\n")
    said = moot("doctor", "--notify", "--json")
    assert (said.code, said.objects[0]["status"]) == (1, "fail")


def test_a_place_behind_a_program_text_is_an_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There a title that anybody can give is no part of the program."""
    settle(monkeypatch, tmp_path, "notify: [sh, -c, 'echo \"$1\" > said; cat > /dev/null', sh, '{title}']")
    monkeypatch.chdir(tmp_path)
    asyncio.run(send(replace(NEED, title="$(touch mine); `touch mine`"), read_settings().notify))
    assert (tmp_path / "said").read_text() == "$(touch mine); `touch mine`\n"
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("notify: ftp://host", "config.yaml:1: notify.url: expected a URL that begins with https://"),
        ("notify: {comand: [x]}", "config.yaml:1: notify.comand: unknown key 'comand'; did you mean 'command'?"),
        ("notify: {command: 'notify-send x'}", "notify.command: found text 'notify-send x'; expected a list"),
        ("notify: {terminal: [bel]}", "did you mean 'bell'?"),
        ("notify: {debounce_s: -1}", "expected at least 0"),
        (
            "notify: [sh, -c, 'notify-send \"{title}\"']",
            "config.yaml:1: notify.command: what stands in {title} would be run",
        ),
        ("notify: [osascript, -e, 'display notification \"{question}\"']", "give it as an argument of its own"),
    ],
)
def test_wrong_settings_are_named(text: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With their line, before anything is started."""
    settle(monkeypatch, tmp_path, text)
    with pytest.raises(ConfigError) as raised:
        read_settings()
    assert problem in str(raised.value)
