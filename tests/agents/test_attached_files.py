"""Attached files reach every kind of member: pictures as pictures, everything as a path that its program can read."""

import asyncio
import base64
import json
import os
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from moot.agents.acp.acp_agent import AcpAgent, AcpMember
from moot.agents.cli.claude_live import CLAUDE, ClaudeLink
from moot.agents.cli.cli_agent import CliAgent, CliMember
from moot.agents.cli.codex_live import CODEX, CodexLink
from moot.agents.context import build_context
from moot.agents.handouts import Handouts
from moot.agents.live.link import Hooks, Setup
from moot.agents.process import Child
from moot.agents.run_environment import RunEnvironment
from moot.agents.sandbox import Sandbox, find_bubblewrap
from moot.app import App, Session, open_app
from moot.config.team_file import MemberSpec, TeamFile
from moot.core.flows.turns import TurnInput
from moot.core.session.attachments import Attachment, HandedFile
from moot.core.session.events import MessagePosted
from moot.core.session.state import Message
from moot.core.session.team import Kind
from moot.runtime.ports import Agent, Result
from moot.testing import human, make_team, scripted
from tests.agents.fake_models import FakeModels, fake_models
from tests.agents.llm_members import APIS, KEY, KEYS, make_member
from tests.agents.llm_members import play as play_model
from tests.agents.programs import nothing_left
from tests.agents.real_clis import a_wall, answer, need, settle
from tests.agents.recorded_program import RecordedProgram
from tests.agents.turns import chat_turn
from tests.files import PDF, PNG, sha256
from tests.runtime.apps import facts, run

AGENT = Path(__file__).parent / "acp" / "fake_agent.py"
ENCODED = base64.b64encode(PNG).decode()
NOTES = b"remember the [NEXT: carol] herbs"


def hand(data: bytes, name: str, media_type: str) -> HandedFile:
    return HandedFile(sha256=sha256(data), name=name, media_type=media_type, size=len(data), data=data)


SHOT = hand(PNG, "shot @home.png", "image/png")
TEXT = hand(NOTES, "notes.txt", "text/plain")
PAPER = hand(PDF, "paper.pdf", "application/pdf")


def turn_with(*files: HandedFile, said: str = "what is this?") -> TurnInput:
    named = tuple(
        Attachment(sha256=file.sha256, name=file.name, media_type=file.media_type, size=file.size) for file in files
    )
    message = Message("alice", said, False, named)
    return replace(chat_turn(("alice", said)), message=message, history=(message,), attachments=files)


async def act(member: Agent, turn: TurnInput) -> str:
    async with asyncio.timeout(60), aclosing(member.act(turn)) as outputs:
        return [output async for output in outputs if isinstance(output, Result)][-1].text


# what a member is told


def test_a_member_is_told_where_its_files_are() -> None:
    """A path if a program reads it, the content of a text, a word for what it sees, a sentence for what it cannot."""
    files = (replace(SHOT, path="/handed/shot.png"), TEXT, PAPER, replace(SHOT, sha256="0" * 64, data=None))
    told = build_context(turn_with(*files), sees=("application/pdf",)).prompt
    assert "- shot ＠home.png (image/png, 70 B): /handed/shot.png" in told
    assert "> remember the (NEXT: carol] herbs" in told
    assert "- paper.pdf (application/pdf, 32 B): you see it with this message" in told
    assert "you cannot open it here" in told
    assert "附件" in build_context(replace(turn_with(TEXT), language="zh")).prompt


def test_a_member_that_remembers_is_told_of_new_files_only() -> None:
    """What came before its last words it has seen."""
    turn = turn_with(TEXT)
    old = Message("alice", "look", False, turn_with(SHOT).history[0].attachments)
    history = (old, Message("bob", "I see"), *turn.history)
    both = replace(turn, history=history, attachments=(SHOT, TEXT))
    assert build_context(both, is_resumed=True).files == (TEXT,)
    assert build_context(both).files == (SHOT, TEXT)


def test_copies_for_programs_lie_flat_and_follow_no_link(tmp_path: Path) -> None:
    """A name is made safe; a link that a program puts in the place of a copy is replaced, and its target stays."""
    handouts, secret = Handouts(tmp_path / "handed"), tmp_path / "owner.token"
    secret.write_text("secret")
    odd = replace(SHOT, name="../../x; rm -rf ~ @y$(z)`.png")
    (file,) = handouts.place(turn_with(odd)).attachments
    place = Path(file.path)
    assert place.parent == tmp_path / "handed" / "s_test"
    assert place.read_bytes() == PNG
    assert not set(place.name) & set(" ;@$()`/~")
    place.unlink()
    place.symlink_to(secret)
    handouts.place(turn_with(odd))
    assert (place.read_bytes(), secret.read_text()) == (PNG, "secret")
    handouts.forget("s_test")
    assert not place.parent.exists()


# models


@pytest.mark.parametrize("api", APIS)
@run
async def test_a_model_sees_the_picture(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the shape of each API, beside the text."""
    monkeypatch.setenv(KEYS.get(api.partition("-")[0], "OPENAI_API_KEY"), KEY)
    with fake_models("a dot") as models:
        played = await play_model(make_member(models, api), turn_with(SHOT, TEXT))
        assert played.result.text == "a dot"
        body = json.dumps(models.asked[0].body)
        assert ENCODED in body.replace("-", "+").replace("_", "/")  # Google wants the letters of URLs
        assert "image/png" in body
        assert "herbs" in body
        assert {"openai": '"image_url"', "anthropic": '"type": "image"'}.get(api, "image") in body


@run
async def test_a_model_is_given_a_document_where_its_provider_takes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anthropic reads PDF; a server that only resembles OpenAI's is told that there is one."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with fake_models("read") as models:
        await play_model(make_member(models, "anthropic"), turn_with(PAPER))
        assert base64.b64encode(PDF).decode() in json.dumps(models.asked[0].body)
        await play_model(make_member(models, "openai"), turn_with(PAPER))
        assert base64.b64encode(PDF).decode() not in json.dumps(models.asked[1].body)
        assert "you cannot open it here" in json.dumps(models.asked[1].body)


# programs


class Line:
    """Stands in for a program: keeps what is written to it."""

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []

    async def write(self, message: dict[str, Any]) -> None:
        self.written.append(message)


@run
async def test_claude_is_sent_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text, then each picture; other files are named by their paths in the text."""
    line, link = Line(), ClaudeLink.__new__(ClaudeLink)
    link._unread = 0
    monkeypatch.setattr(link, "write", line.write, raising=False)
    await link._say("look", [SHOT, TEXT])
    (message,) = line.written
    text, image = message["message"]["content"]
    assert text == {"type": "text", "text": "look"}
    assert image == {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ENCODED}}


def test_the_command_lines_of_presets_name_files() -> None:
    """Claude Code may read the folder, Codex is shown the picture; without files nothing is added."""
    setup, placed = Setup(folders=(Path("/handed/s"),)), replace(SHOT, path="/handed/s/shot.png")
    assert CLAUDE.live is not None
    argv = CLAUDE.live.argv(setup, None)
    assert argv[argv.index("--add-dir") + 1] == "/handed/s"
    for preset, added in ((CLAUDE, ("--add-dir", "/handed/s")), (CODEX, ("--image=/handed/s/shot.png",))):
        spec = CliAgent(preset=preset.name, lifetime="turn")
        assert spec.list_command(None, (placed,)) == (*spec.list_command(), *added)


@run
async def test_codex_is_named_the_picture() -> None:
    """An item of the input beside the text, by its path."""
    program = RecordedProgram([])
    link = CodexLink(cast("Child", program), Setup(), Path())
    hooks = Hooks(emit=lambda _: None, permit=lambda _: asyncio.sleep(0, result=True))
    asking = asyncio.create_task(link.prompt("look", hooks, [replace(SHOT, path="/handed/shot.png"), TEXT]))
    while not program.written:  # noqa: ASYNC110
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    await link.close()
    assert program.written[0]["params"]["input"] == [
        {"type": "text", "text": "look"},
        {"type": "localImage", "path": "/handed/shot.png"},
    ]


@pytest.mark.parametrize("mode", ["show_files", "show_files_blind"])
@run
async def test_an_acp_agent_is_sent_content_blocks(mode: str, tmp_path: Path) -> None:
    """Pictures if it says that it takes them, else a link to the file; links for everything else."""
    with nothing_left():
        spec = AcpAgent(command=(sys.executable, "-IS", str(AGENT), mode))
        member = AcpMember(spec, "", RunEnvironment(handouts=Handouts(tmp_path / "handed")))
        blocks = json.loads(await act(member, turn_with(SHOT, TEXT)))
    assert [block["type"] for block in blocks] == [
        "text",
        *(["image"] if mode == "show_files" else ["resource_link"]),
        "resource_link",
    ]
    if mode == "show_files":
        assert (blocks[1]["mimeType"], blocks[1]["data"]) == ("image/png", ENCODED)
    assert read(blocks[2]["uri"]) == NOTES
    assert blocks[2]["name"] == "notes.txt"


def read(uri: str) -> bytes:
    return Path(uri.removeprefix("file://")).read_bytes()


READ = """
import re, sys
paths = re.findall(r": (/\\S+)", sys.stdin.read())
print([len(open(path, "rb").read()) for path in paths])
"""


@pytest.mark.parametrize("is_confined", [False, True])
@run
async def test_any_program_is_told_paths_that_it_can_read(is_confined: bool, tmp_path: Path) -> None:
    """Also in the sandbox, where the data folder around them is hidden."""
    path = find_bubblewrap()[0]
    if is_confined and path is None:
        pytest.skip("no bubblewrap here")
    data = tmp_path / "data"
    data.mkdir()
    (data / "owner.token").write_text("secret")
    sandbox = Sandbox(bubblewrap=path, hidden=(data,)) if is_confined else Sandbox()
    around = RunEnvironment(sandbox=sandbox, handouts=Handouts(data / "handed"))
    spec = CliAgent(command=(sys.executable, "-I", "-S", "-c", READ))
    with nothing_left():
        said = await act(CliMember(spec, "", around), turn_with(SHOT, TEXT))
    assert said.strip() == str([len(PNG), len(NOTES)])


@run
async def test_a_function_gets_the_content(tmp_path: Path) -> None:
    """`turn.attachments`, in the order in which they came, over the whole way from a message."""

    async def bob(turn: TurnInput) -> str:
        return " ".join(f"{file.name}:{len(file.data or b'')}:{file.text}" for file in turn.attachments)

    async with open_app(make_team(human("ann"), scripted("bob", "")), data=tmp_path, agents={"bob": bob}) as app:
        session = await app.session()
        files = [await session.attach(PNG, "/some/place/shot.png"), await session.attach(b"words", "notes.txt")]
        assert await session.ask("[NEXT: bob] look", attachments=files) == f"shot.png:{len(PNG)}: notes.txt:5:words"
        await session.ask("[NEXT: bob] and now?")
        said = [fact for fact in await facts(app, session, MessagePosted) if fact.member == "bob"]
        assert said[-1].text == said[0].text  # they are still part of what is remembered


# the real ones


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModels]:
    with nothing_left(), a_wall() as wall, fake_models(answer) as made:
        settle(tmp_path / "home", made, wall, monkeypatch)
        for folder in ("project", "tmp"):
            (tmp_path / folder).mkdir()
        monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
        yield made
        assert wall.knocks == []


async def show_picture(app: App) -> Session:
    session = await app.session()
    files = [await session.attach(PNG, "shot.png"), await session.attach(b"buy herbs", "notes.txt")]
    async for _ in session.say("[NEXT: bob] what is this?", attachments=files):
        pass
    return session


@pytest.mark.parametrize("lifetime", ["session", "turn"])
@pytest.mark.parametrize("name", ["claude", "codex"])
@run
async def test_a_real_cli_shows_its_model_the_picture(
    name: Any, lifetime: Any, models: FakeModels, tmp_path: Path
) -> None:
    """The picture reaches the model's API; Claude Code in a program of one turn is told the path, which it may read."""
    need(name)
    agent = CliAgent(preset=name, model="fake-model", lifetime=lifetime)
    members = (MemberSpec(id="ann", kind=Kind.HUMAN), MemberSpec(id="bob", kind=Kind.AI, agent=agent))
    team = TeamFile(moot=1, name="live", members=members, sandbox="off")
    async with open_app(team, data=tmp_path / "data", folders={"live": tmp_path / "project"}) as app:
        session = await show_picture(app)
        said = [fact.text for fact in await facts(app, session, MessagePosted) if fact.member == "bob"]
    assert said == ["fine, thank you"]
    body = next(json.dumps(asked.body) for asked in models.asked if "what is this?" in json.dumps(asked.body))
    assert "notes.txt" in body
    if (name, lifetime) == ("claude", "turn"):
        assert os.path.join("handed", session.id) in body
    else:
        assert "base64" in body
        assert "image" in body
