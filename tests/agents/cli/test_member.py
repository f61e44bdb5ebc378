"""A member played by a CLI: small programs stand in for the CLIs, each with one way to behave or misbehave."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from moot.agents.cli import cli_agent
from moot.agents.cli.cli_agent import CliAgent, CliMember
from moot.agents.cli.memory import Conversations
from moot.agents.process import Bounds
from moot.agents.run_environment import RunEnvironment
from moot.core.errors import AgentError
from moot.core.flows.turns import TurnInput
from moot.core.session.usage import Usage
from moot.runtime.ports import Delta, Output, Result, Step
from tests.agents.programs import nothing_left
from tests.agents.turns import chat_turn, job_turn, task

HELLO = chat_turn(("alice", "hello"))
ID = "3d57e54c-3152-485b-b6dd-cea9331b4f0d"


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    with nothing_left():
        yield


def program(code: str, **fields: Any) -> CliAgent:
    return CliAgent(command=(sys.executable, "-I", "-S", "-c", code), **fields)


def play(spec: CliAgent, turn: TurnInput = HELLO, around: RunEnvironment | None = None, **bounds: Any) -> list[Output]:
    async def act() -> list[Output]:
        member = CliMember(spec, "Be brief.", around or RunEnvironment(), Bounds(**bounds) if bounds else None)
        async with aclosing(member.act(turn)) as outputs:
            return [output async for output in outputs]

    return asyncio.run(act())


def fail(spec: CliAgent, **bounds: Any) -> AgentError:
    with pytest.raises(AgentError) as caught:
        play(spec, **bounds)
    return caught.value


def test_any_program_can_be_a_member() -> None:
    """`output: text`: it reads what it is told from stdin, what it prints is its answer."""
    outputs = play(program("import sys; told = sys.stdin.read(); print('hello' in told, 'Be brief.' in told)"))
    assert outputs == [Delta("True True\n"), Result(text="True True")]


def test_what_a_program_complains_of_is_shown_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of stderr are steps at once, without secrets, and silence is told of: the program ends when both were."""
    monkeypatch.setattr(cli_agent, "SIGN_S", 0.05)
    monkeypatch.setenv("MY_API_KEY", "sk-canary-of-mine")
    code = """
import os, pathlib, sys, time
print("429 for", os.environ["MY_API_KEY"], "trying again in 7 s", file=sys.stderr, flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
print("done")
"""
    member = CliMember(program(code, env=("MY_API_KEY",)), "", RunEnvironment(folder=tmp_path))
    told: list[str] = []

    async def act() -> list[Output]:
        outputs = []
        async with aclosing(member.act(HELLO)) as playing:
            async for output in playing:
                outputs.append(output)
                told.extend([output.observation or ""] if isinstance(output, Step) else [])
                if any("trying again" in each for each in told) and any("no sign" in each for each in told):
                    (tmp_path / "go").touch()
        return outputs

    outputs = asyncio.run(asyncio.wait_for(act(), 60))
    assert any("429 for [MY_API_KEY] trying again in 7 s" in each for each in told)
    assert outputs[-1] == Result(text="done")


@pytest.mark.parametrize(
    ("code", "error_type", "says"),
    [
        ("", "agent", "ended without an answer"),
        ("print('   ')", "agent", "ended without an answer"),
        ("import sys; sys.stderr.write('lost my way')", "agent", "nothing but this to stderr: lost my way"),
        ("import sys; sys.stderr.write('Please run /login'); sys.exit(1)", "auth", "Please run /login"),
        ("import sys; print('boom'); sys.exit(2)", "agent", "boom"),
        ("import sys; sys.exit(7)", "agent", "exit code 7"),
        ("import sys; sys.exit(137)", "agent", "lack of memory"),
        ("import os; os.kill(os.getpid(), 9)", "agent", "lack of memory"),
        ("import os; os.kill(os.getpid(), 11)", "agent", "signal 11"),
    ],
)
def test_bad_ends_are_told(code: str, error_type: str, says: str) -> None:
    """Empty output, only stderr, exit codes and signals are sentences with a type."""
    error = fail(program(code))
    assert (error.error_type, says in str(error)) == (error_type, True)


def test_a_missing_cli_is_noticed_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In less than a second, with a hint."""
    monkeypatch.setenv("PATH", str(tmp_path))
    began = time.monotonic()
    error = fail(CliAgent(preset="claude"))
    assert time.monotonic() - began < 1
    assert (error.error_type, "no program 'claude' found" in str(error)) == ("config", True)


def test_output_that_cannot_be_read_is_shown() -> None:
    """A CLI that should print events and prints something else fails with what it printed."""
    error = fail(program("print('Welcome!'); print('{\"type\": half')", output="claude"))
    assert error.error_type == "bad_agent_output"
    assert "Welcome!" in str(error)


def test_a_flood_of_text_ends_the_turn() -> None:
    """Text without end kills the program at twice the limit."""
    assert fail(program("while True: print('x' * 10_000)")).error_type == "agent"
    event = json.dumps({"type": "message", "role": "assistant", "content": "y" * 100_000})
    assert "characters" in str(fail(program(f"while True: print({event!r})", output="gemini")))


def test_a_flood_of_steps_is_not_logged() -> None:
    """After 500 steps the rest is not told, and the answer still counts."""
    code = (
        "import json\n"
        "for n in range(2000): print(json.dumps({'type': 'tool_use', 'tool_name': 'x', 'parameters': {'n': n}}))\n"
        "print(json.dumps({'type': 'message', 'role': 'assistant', 'content': 'done'}))\n"
        "print(json.dumps({'type': 'result', 'status': 'success'}))"
    )
    outputs = play(program(code, output="gemini"))
    assert len([each for each in outputs if isinstance(each, Step)]) == 501
    assert outputs[-1] == Result(text="done")


def test_secrets_of_the_environment_are_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that the program was allowed to see is in no answer, step or error."""
    monkeypatch.setenv("MY_API_KEY", "sk-canary-0123456789")
    monkeypatch.setenv("OTHER_KEY", "sk-other-0123456789")
    shows = "import os; print(os.environ.get('MY_API_KEY'), os.environ.get('OTHER_KEY'))"
    assert play(program(shows, env=("MY_API_KEY",)))[-1] == Result(text="[MY_API_KEY] None")
    leaks = "import os, sys; sys.exit('wrong key ' + os.environ['MY_API_KEY'])"
    assert "sk-canary" not in str(fail(program(leaks, env=("MY_API_KEY",))))


def test_the_program_runs_in_its_folder(tmp_path: Path) -> None:
    """`cwd` counts from the team file's folder; without it that folder is it."""
    (tmp_path / "sub").mkdir()
    around = RunEnvironment(folder=tmp_path)
    assert play(program("import os; print(os.getcwd())"), around=around)[-1] == Result(text=str(tmp_path))
    inside = play(program("import os; print(os.getcwd())", cwd="sub"), around=around)[-1]
    assert inside == Result(text=str(tmp_path / "sub"))


@pytest.mark.parametrize(
    ("spec", "argv"),
    [
        (
            CliAgent(preset="claude"),
            "claude -p --output-format stream-json --verbose --include-partial-messages --permission-mode default",
        ),
        (
            CliAgent(preset="claude", model="opus", permissions="edit"),
            "claude -p --output-format stream-json --verbose --include-partial-messages --permission-mode acceptEdits "
            "--model opus",
        ),
        (
            CliAgent(preset="codex", model="gpt", permissions="edit"),
            "codex exec --json --skip-git-repo-check --disable plugins --sandbox workspace-write "
            "-c check_for_update_on_startup=false -c analytics.enabled=false -m gpt -",
        ),
        (CliAgent(preset="gemini", permissions="all"), "gemini -o stream-json --approval-mode yolo"),
        (CliAgent(command=("./run", "a b")), "./run a b"),
    ],
)
def test_presets_are_started_without_a_terminal(spec: CliAgent, argv: str) -> None:
    """Non-interactive, events on stdout, the least permissions unless the team file gives more; no text of anybody."""
    assert " ".join(spec.list_command()) == argv


def test_conversations_are_resumed_by_an_id_only() -> None:
    """The id of a conversation is the only thing that a CLI said and that gets onto a command line."""
    assert CliAgent(preset="claude").list_command(ID)[-2:] == ("--resume", ID)
    assert CliAgent(preset="codex").list_command(ID)[-3:] == ("resume", ID, "-")
    assert CliAgent(preset="gemini").list_command(ID)[-2:] == ("--resume", ID)


FAKE_CLAUDE = """#!{python} -IS
import json, pathlib, sys
lost = pathlib.Path(__file__).with_name("lost")
if "--resume" in sys.argv and lost.exists():
    sys.exit("No conversation found with session ID: " + sys.argv[-1])
print(json.dumps({{"type": "system", "subtype": "init", "session_id": "{id}"}}))
told = sys.stdin.read()
said = f"{{'--resume' in sys.argv}} {{'first words' in told}} {{'newest words' in told}}"
print(json.dumps({{"type": "result", "result": said, "usage": {{"input_tokens": 5, "output_tokens": 7}}}}))
"""


@pytest.fixture
def fake_claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "bin" / "claude"
    file.parent.mkdir()
    file.write_text(FAKE_CLAUDE.format(python=sys.executable, id=ID))
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(file.parent))
    return file


def test_a_conversation_goes_on_after_a_restart(fake_claude: Path, tmp_path: Path) -> None:
    """The CLI remembers its turns; a new process of ours finds the conversation and tells only what is new."""
    turn = chat_turn(("alice", "first words"), ("bob", "mine"), ("alice", "newest words"))
    spec = CliAgent(preset="claude")

    def again(**fields: Any) -> Output:
        return play(spec, turn, RunEnvironment(conversations=Conversations(tmp_path / "kept")), **fields)[-1]

    usage = Usage(input_tokens=5, output_tokens=7)
    assert again() == Result(text="False True True", usage=usage)
    assert again() == Result(text="True False True", usage=usage)
    (fake_claude.parent / "lost").touch()
    assert again() == Result(text="False True True", usage=usage)  # the CLI has lost it: from the beginning, once


def test_another_model_or_permission_goes_on_with_the_conversation(fake_claude: Path, tmp_path: Path) -> None:
    """What an agent may do and which model it has are changed without taking its memory away."""
    turn = chat_turn(("alice", "first words"), ("bob", "mine"), ("alice", "newest words"))
    conversations = Conversations(tmp_path / "kept")
    results = [
        play(spec, turn, RunEnvironment(conversations=conversations))[-1]
        for spec in (CliAgent(preset="claude"), CliAgent(preset="claude", permissions="edit", model="other"))
    ]
    usage = Usage(input_tokens=5, output_tokens=7)
    assert results == [Result(text="False True True", usage=usage), Result(text="True False True", usage=usage)]


@pytest.mark.parametrize(("is_error", "said"), [(False, Result), (True, AgentError)])
def test_a_turn_has_its_price(fake_claude: Path, *, is_error: bool, said: type[Result | AgentError]) -> None:
    """Also one that failed, by the price list: a program that names no cost has a model."""
    pytest.importorskip("genai_prices")
    usage = {"input_tokens": 1_000_000, "output_tokens": 1_000_000}
    end = json.dumps({"type": "result", "is_error": is_error, "result": "so", "usage": usage})
    fake_claude.write_text(f"#!{sys.executable} -IS\nprint({end!r})\n")
    spec = CliAgent(preset="claude", model="claude-sonnet-4-5")
    ended = fail(spec) if is_error else play(spec)[-1]
    assert isinstance(ended, said)
    assert ended.usage.cost_usd > 1


def test_a_cancelled_turn_does_not_lose_the_conversation(fake_claude: Path, tmp_path: Path) -> None:
    """The id that the CLI gave to its conversation is kept as soon as it is known."""
    init = json.dumps({"type": "system", "subtype": "init", "session_id": ID})
    piece = {"type": "stream_event", "event": {"delta": {"type": "text_delta", "text": "begun"}}}
    lines = f"{init}\n{json.dumps(piece)}\n"
    fake_claude.write_text(f"#!{sys.executable} -IS\nimport time\nprint({lines!r}, flush=True)\ntime.sleep(60)\n")
    conversations = Conversations(tmp_path / "kept")

    async def cancel_midway() -> None:
        member = CliMember(CliAgent(preset="claude"), "", RunEnvironment(conversations=conversations))
        async with aclosing(member.act(HELLO)) as outputs:
            assert await anext(outputs) == Delta("begun")

    asyncio.run(cancel_midway())
    conversation = conversations.find(HELLO.session_id, HELLO.member.id, ("claude",))
    assert conversation
    assert conversation.session_id == ID


def test_secrets_are_removed_from_text_while_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that comes in two pieces is shown to nobody; what only begins like it is shown."""
    monkeypatch.setenv("MY_API_KEY", "sk-canary-0123456789")
    code = (
        "import time\n"
        "for piece in ('key sk-can', 'ary-0123456789 and sk-ca', 'ke'):\n"
        "    print(piece, end='', flush=True); time.sleep(0.1)"
    )
    outputs = play(replace(program(code), env=("MY_API_KEY",)), HELLO)
    shown = [output.text for output in outputs if isinstance(output, Delta)]
    assert "".join(shown) == "key [MY_API_KEY] and sk-cake"
    assert outputs[-1] == Result(text="key [MY_API_KEY] and sk-cake")


def test_tasks_of_a_plan_are_conversations_of_their_own(fake_claude: Path, tmp_path: Path) -> None:
    """Tasks may run side by side: they share no conversation, with each other or with the chat."""
    around = RunEnvironment(conversations=Conversations(tmp_path / "kept"))
    play(CliAgent(preset="claude"), HELLO, around)
    solved = play(CliAgent(preset="claude"), job_turn("solve", task=task("t1", "One")), around)[-1]
    assert isinstance(solved, Result)
    assert solved.text.startswith("False")


@pytest.mark.parametrize("written", ["--dangerous", "latest", "../../x", ID.upper(), f"{ID}\n", "", "x" * 36])
def test_what_is_no_id_is_not_kept(written: str, tmp_path: Path) -> None:
    """Whatever a CLI or a file says, only an id gets onto a command line."""
    kept = Conversations(tmp_path)
    kept.keep("s", "bob", ("claude",), written, Usage())
    assert kept.find("s", "bob", ("claude",)) is None
    kept.keep("s", "bob", ("claude",), ID, Usage())
    file = next(tmp_path.iterdir())
    file.write_text(file.read_text().replace(ID, json.dumps(written)[1:-1]))
    assert Conversations(tmp_path).find("s", "bob", ("claude",)) is None


def test_another_program_has_other_conversations(tmp_path: Path) -> None:
    """A team file that names another program starts anew; a broken file counts as none."""
    kept = Conversations(tmp_path)
    kept.keep("s", "bob", ("claude", "--model", "a"), ID, Usage(input_tokens=3))
    found = Conversations(tmp_path).find("s", "bob", ("claude", "--model", "a"))
    assert found
    assert (found.session_id, found.spent) == (ID, Usage(input_tokens=3))
    assert kept.find("s", "bob", ("claude", "--model", "b")) is None
    assert kept.find("s", "carol", ("claude", "--model", "a")) is None
    next(tmp_path.iterdir()).write_text("{")
    assert Conversations(tmp_path).find("s", "bob", ("claude", "--model", "a")) is None


def test_a_cancelled_turn_stops_the_program() -> None:
    """Whoever stops listening stops the program, at once."""

    async def cancel_midway() -> None:
        member = CliMember(program("import time\nprint('up', flush=True)\ntime.sleep(60)"), "", RunEnvironment())
        async with aclosing(member.act(HELLO)) as outputs:
            assert await anext(outputs) == Delta("up\n")

    began = time.monotonic()
    asyncio.run(cancel_midway())
    assert time.monotonic() - began < 5
