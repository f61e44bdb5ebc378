"""Somebody who reads a page from top to bottom and does what it says."""

import json
import re
import socket
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import yaml

from docs import draw_machines
from moot.config.loading import list_problems
from moot.core import codec
from moot.protocol.command_table import read_command, read_frame
from tests.docs.blocks import ROOT, Block
from tests.docs.shell import Shell

_ID = re.compile(r"\bs_[0-9a-f]{2,16}\b")
_TOKEN_ID = re.compile(r"\bt_[0-9a-f]{8}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
_PORT = "8765"
_SOMEBODY: dict[str, Any] = {"id": "somebody", "kind": "ai", "agent": {"type": "script"}}
_TEAM: dict[str, Any] = {"moot": 1, "name": "frame", "members": [{"id": "ann", "kind": "human"}, _SOMEBODY]}


class Reader:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._unused: set[str] = set()  # files that were saved and not mentioned since
        self._ids: dict[str, str] = {}  # as the page shows them: as they are here
        self._port = str(_free_port())

    def read(self, block: Block) -> None:
        self._unused = {name for name in self._unused if name.removesuffix(".py") not in block.body}
        if "illustration" in block.marks:
            return
        if name := block.marks.get("file"):
            self._unused.add(name)
            (self._shell.folder / name).write_text(block.body.replace(_PORT, self._port), encoding="utf-8")
            return
        if before := block.marks.get("before"):
            assert self._shell.run(before).code == 0, block.place
        check = self._CHECKS.get(block.language)
        assert check, f"{block.place}: nothing checks {block.language or 'a fence without a language'}; mark it"
        check(self, block)

    def close(self) -> None:
        assert not self._unused, f"nothing uses {self._unused}"

    def _play(self, block: Block) -> None:
        """Every command ends as it should and prints what is shown, no more and no less; `…` stands for anything."""
        expected = int(block.marks.get("exit", "0"))
        for typed, shown in block.commands:
            said = self._shell.run(_ID.sub(self._find_id, typed.replace(_PORT, self._port)))
            told = f"{block.place}: $ {typed}\n{said.text}"
            assert said.code == expected, f"exit {said.code}: {told}"
            assert _pattern(shown.replace(_PORT, self._port)).fullmatch(_blur(said.text)), told
            self._learn_ids(shown, said.text)

    def _find_id(self, prefix: re.Match[str]) -> str:
        return next((here for page, here in self._ids.items() if page.startswith(prefix[0])), prefix[0])

    def _learn_ids(self, shown: str, said: str) -> None:
        on_page = [name for name in dict.fromkeys(_ID.findall(shown)) if name not in self._ids]
        here = [name for name in dict.fromkeys(_ID.findall(said)) if name not in self._ids.values()]
        self._ids.update(zip(on_page, here, strict=False))

    def _run_python(self, block: Block) -> None:
        (self._shell.folder / "block.py").write_text(block.body.replace(_PORT, self._port), encoding="utf-8")
        said = self._shell.run("python block.py")
        assert said.code == 0, f"{block.place}\n{said.text}"

    def _check_yaml(self, block: Block) -> None:
        """A whole team is valid; keys of one are valid in a team; each `agent:` line is, of a member."""
        if source := block.marks.get("part of"):
            whole = yaml.safe_load((ROOT / source).read_text(encoding="utf-8"))
            assert _is_part(yaml.safe_load(block.body), whole), f"{block.place} is no part of {source}"
            return
        file = self._shell.folder / "part.yaml"
        for team in _teams(block.body):
            file.write_text(yaml.safe_dump(team), encoding="utf-8")
            assert list_problems(file) == [], block.place

    def _check_json(self, block: Block) -> None:
        """A frame, as the server sends or reads it."""
        frame = json.loads(block.body)
        if frame["event"].startswith("user."):
            read_command(read_frame(block.body), None)
        else:
            stored = {key: value for key, value in frame.items() if key not in ("show_content", "hash")}
            assert codec.decode(json.dumps(stored).encode(), frame["hash"]).name == frame["event"]

    def _check_diagram(self, block: Block) -> None:
        assert block.body in draw_machines.draw(), f"{block.place}: drawn by hand"

    _CHECKS: ClassVar[dict[str, Callable[["Reader", Block], None]]] = {
        "console": _play,
        "python": _run_python,
        "yaml": _check_yaml,
        "json": _check_json,
        "mermaid": _check_diagram,
    }


def _teams(body: str) -> Iterator[dict[str, Any]]:
    lines = [line for line in body.splitlines() if line.startswith("agent: ")]
    for line in lines:
        yield {**_TEAM, "members": [_TEAM["members"][0], {**_SOMEBODY, **yaml.safe_load(line)}]}
    if not lines:
        yield {**_TEAM, **(yaml.safe_load(body) or {})}


def _is_part(part: Any, whole: Any) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _is_part(value, whole[key]) for key, value in part.items())
    return bool(part == whole)


def _pattern(shown: str) -> re.Pattern[str]:
    pieces = [re.escape(piece) for piece in re.split(r"^…\n|…", _blur(shown), flags=re.MULTILINE)]
    gaps = [r"(?:.*\n)*" if gap == "…\n" else ".*" for gap in re.findall(r"^…\n|…", shown, flags=re.MULTILINE)]
    return re.compile("".join(piece + gap for piece, gap in zip(pieces, [*gaps, ""], strict=True)))


def _blur(text: str) -> str:
    """What differs from run to run: ids of sessions and tokens, and times."""
    return _TIME.sub("TIME", _TOKEN_ID.sub("t_", _ID.sub("s_", text)))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
