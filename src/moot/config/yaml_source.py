"""Reading a team file's YAML: plain data, the line of every part, and all that is wrong with the writing.

Only nodes are composed, nothing is constructed from tags, and every bound is checked before it could hurt: bytes, then
depth and number on the stream of events, then again while aliases are followed.
"""

import re
from contextlib import suppress
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from moot.config.message_format import describe_value, shorten
from moot.config.phrase import Phrase
from moot.config.problem import Problem
from moot.config.source import TOO_DEEP, TOO_MANY, Source, Unreadable, unreadable
from moot.core import limits
from moot.core.session.team import Path

# what is not c-printable: https://yaml.org/spec/1.1/#id868524
_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STANDARD = "tag:yaml.org,2002:"
_AS_WRITTEN = {"str", "timestamp", "value", "merge"}  # a date is text to us
_WORDS = {"on", "off"}  # truth values in YAML 1.1, text since 1.2, and `sandbox: off` is meant as it is written
_SCALARS = {
    "bool": SafeConstructor.construct_yaml_bool,
    "int": SafeConstructor.construct_yaml_int,
    "float": SafeConstructor.construct_yaml_float,
}
_NUMBER_CHARS = 100  # reading a longer one takes quadratic time (`1:1:1:…` counts in sixties)


def read_yaml(raw: bytes) -> Source:
    """Parse YAML. Never raises: everything that is wrong becomes a problem with its line."""
    if len(raw) > limits.TEAM_FILE_BYTES:
        return unreadable(f"the file is larger than {limits.TEAM_FILE_BYTES} bytes", line=1)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = Phrase("team.not_utf8", value=raw[error.start])
        return unreadable(problem, hint=Phrase("team.not_utf8.hint"), line=raw.count(b"\n", 0, error.start) + 1)
    try:
        _check_bounds(text)
        root = yaml.compose(text, Loader=_Loader)
    except Unreadable as error:
        return Source(problems=[error.problem], is_readable=False)
    except yaml.YAMLError as error:
        return _explain(error, text)
    if root is None:
        return unreadable(Phrase("team.empty"), hint=Phrase("team.empty.hint"), line=1)
    return _follow(root)


def _check_bounds(text: str) -> None:
    """Composing recurses, in C where nothing catches it; events come one by one."""
    depth = count = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1
        count += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > limits.TEAM_FILE_DEPTH:
            raise Unreadable(Problem(text=TOO_DEEP, line=line))
        if count > limits.TEAM_FILE_NODES:
            raise Unreadable(Problem(text=TOO_MANY, line=line))


def _explain(error: yaml.YAMLError, text: str) -> Source:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        if mark and text[mark.index : mark.index + 1] == "\t":
            return unreadable(Phrase("team.no_tabs"), line=mark.line + 1)
        detail = ", ".join(part for part in (error.context, error.problem) if part)
        return unreadable(Phrase("team.no_yaml", value=detail), line=mark.line + 1 if mark else 1)
    match = _NOT_PRINTABLE.search(text)  # PyYAML's own error knows no line
    if match:
        line = text.count("\n", 0, match.start()) + 1
        return unreadable(Phrase("team.no_yaml_character", value=shorten(match[0])), line=line)
    return unreadable(Phrase("team.no_yaml", value=shorten(str(error))), line=1)


def _follow(root: yaml.Node) -> Source:
    reading = _Reading()
    try:
        data = reading.take(root, ())
    except Unreadable as error:
        return Source(problems=[*reading.problems, error.problem], is_readable=False)
    return Source(data=data, lines=reading.lines, problems=reading.problems)


class _Reading:
    """Follows the nodes, through aliases, into data; stops at the bounds, so that a YAML bomb stays small."""

    def __init__(self) -> None:
        self.lines: dict[Path, int] = {(): 1}
        self.problems: list[Problem] = []
        self._scalars = SafeConstructor()
        self._count = 0
        self._open: set[int] = set()  # the nodes we are inside of

    def take(self, node: yaml.Node, path: Path) -> object:
        self._count += 1
        if self._count > limits.TEAM_FILE_NODES:
            raise self._stop(path, Phrase("team.too_many_aliases", value=limits.TEAM_FILE_NODES))
        if len(self._open) > limits.TEAM_FILE_DEPTH:
            raise self._stop(path, Phrase("team.too_deep_aliases", value=limits.TEAM_FILE_DEPTH))
        if isinstance(node, yaml.ScalarNode):
            return node.value if node.value in _WORDS else self._take_scalar(node, path)
        if id(node) in self._open:
            raise self._stop(path, Phrase("team.alias_loop"))
        self._open.add(id(node))
        value = self._take_mapping(node, path) if isinstance(node, yaml.MappingNode) else self._take_list(node, path)
        self._open.remove(id(node))
        return value

    def _take_list(self, node: yaml.Node, path: Path) -> list[object]:
        self._check_tag(node, path, "seq")
        items = []
        for position, item in enumerate(node.value):
            self.lines[*path, position] = _line(item)
            items.append(self.take(item, (*path, position)))
        return items

    def _take_mapping(self, node: yaml.Node, path: Path) -> dict[str, object]:
        self._check_tag(node, path, "map")
        merges = [value for key, value in node.value if key.tag == f"{_STANDARD}merge"]
        merged = self._take_merges(merges, path)
        written: dict[str, object] = {}
        for key_node, value_node in node.value:
            if key_node.tag == f"{_STANDARD}merge":
                continue
            key = self._take_key(key_node, path)
            if key is None:
                continue
            if key in written:
                first = Phrase("team.duplicate_of", value=shorten(key), line=self.lines[*path, key])
                self._report(key_node, (*path, key), first)
                continue
            self.lines[*path, key] = _line(key_node)
            written[key] = self.take(value_node, (*path, key))
        return merged | written

    def _take_merges(self, nodes: list[yaml.Node], path: Path) -> dict[str, object]:
        """`<<: *defaults`, or a list of them: the earlier one counts, what is written beside it counts more."""
        merged: dict[str, object] = {}
        for node in nodes:
            for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
                if isinstance(item, yaml.MappingNode):
                    merged = self._take_another(item, path) | merged
                else:
                    self._report(item, path, Phrase("team.merge"))
        return merged

    def _take_another(self, node: yaml.Node, path: Path) -> dict[str, object]:
        value = self.take(node, path)
        return value if isinstance(value, dict) else {}

    def _take_key(self, node: yaml.Node, path: Path) -> str | None:
        if not isinstance(node, yaml.ScalarNode):
            self._report(node, path, Phrase("team.key_text"))
            return None
        key = self._take_scalar(node, path)
        # a task's id may be a number, which counts as its decimal string (docs/plan.md)
        if isinstance(key, int) and not isinstance(key, bool) and abs(key) < 2**63:
            return str(key)
        if isinstance(key, str):
            return key
        text = Phrase("team.key_reads", value=shorten(node.value), kind=describe_value(key))
        self._report(node, path, text, hint=Phrase("team.quote"))
        return None

    def _take_scalar(self, node: yaml.ScalarNode, path: Path) -> object:
        kind = node.tag.removeprefix(_STANDARD)
        if kind in _AS_WRITTEN:
            return node.value
        if kind == "null":
            return None
        construct = _SCALARS.get(kind)
        if construct is None:
            self._check_tag(node, path, "str")
            return node.value
        if len(node.value) <= _NUMBER_CHARS:
            with suppress(ValueError, KeyError, IndexError, OverflowError):  # `!!int many`
                return construct(self._scalars, node)
        self._report(node, path, Phrase("team.unusable", value=shorten(node.value), kind=kind))
        return node.value

    def _stop(self, path: Path, text: str) -> Unreadable:
        """Report the part of the file that exceeds a limit (a place inside it would be that of the anchor)."""
        return Unreadable(Problem(path=path[:1], text=text, line=self.lines[path[:1]]))

    def _check_tag(self, node: yaml.Node, path: Path, plain: str) -> None:
        if node.tag != f"{_STANDARD}{plain}":
            tag = node.tag.replace(_STANDARD, "!!")
            self._report(
                node, path, Phrase("team.unknown_tag", value=shorten(tag)), hint=Phrase("team.unknown_tag.hint")
            )

    def _report(self, node: yaml.Node, path: Path, text: str, hint: str = "") -> None:
        self.problems.append(Problem(path=path, text=text, hint=hint, line=_line(node)))


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
