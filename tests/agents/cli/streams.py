"""Recorded output of real CLIs (tests/data/agents), and reading it in pieces."""

from collections.abc import Iterable
from pathlib import Path

from moot.agents.cli.claude import ClaudeReader
from moot.agents.cli.codex import CodexReader
from moot.agents.cli.dialect import Dialect
from moot.agents.cli.gemini import GeminiReader
from moot.agents.cli.lines import JsonLines
from moot.agents.output_limits import PartialOutput
from moot.core.errors import AgentError
from moot.runtime.ports import Delta, Output, Result, Step, Thinking

FOLDER = Path(__file__).parents[2] / "data" / "agents"
STREAMS = sorted(path.stem for path in FOLDER.glob("*.jsonl") if not path.stem.startswith(("acp_", "codex_appserver_")))
READERS: dict[str, type[Dialect]] = {"claude": ClaudeReader, "codex": CodexReader, "gemini": GeminiReader}


def load(name: str) -> bytes:
    """What the CLI printed; lines that begin with `>>> ` are what was sent to it."""
    lines = (FOLDER / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(b">>> "))


def reader_for(name: str) -> Dialect:
    return READERS[name.split("_")[0]]()


def read(chunks: Iterable[bytes], reader: Dialect) -> list[PartialOutput]:
    lines = JsonLines()
    told: list[PartialOutput] = []
    for chunk in chunks:
        for event in lines.feed(chunk):
            told += reader.read(event)
    for event in lines.close():
        told += reader.read(event)
    return told


def read_stream(name: str) -> tuple[list[PartialOutput], Result | AgentError | None, str | None]:
    """Everything a recorded turn tells: steps and pieces, its end, the conversation's id."""
    reader = reader_for(name)
    told = read([load(name)], reader)
    return told, end_of(reader), reader.session_id


def end_of(reader: Dialect) -> Result | AgentError | None:
    try:
        return reader.result()
    except AgentError as error:
        return error


def steps(told: Iterable[PartialOutput]) -> list[str]:
    """`thought …`, `action …`, `observation …`"""
    lines = []
    for each in told:
        if isinstance(each, Step):
            kinds = {"thought": each.thought, "action": each.action, "observation": each.observation}
            lines += [f"{kind} {said}" for kind, said in kinds.items() if said is not None]
    return lines


def thinking(told: Iterable[Output]) -> str:
    return "".join(each.text for each in told if isinstance(each, Thinking))


def pieces(told: Iterable[PartialOutput]) -> str:
    return "".join(each.text for each in told if isinstance(each, Delta))
