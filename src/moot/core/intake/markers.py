"""Parse the routing markers of a message (docs/chat.md).

    [NEXT: a, b!P1]  who speaks next          [DONE]          a human ends the session
    [DROP: a]        out of the queue         [FROM: x]       who speaks
    [TEAM_TASK: …]   the team's shared goal

`[NEXT: self]` names the speaker. Markers in fenced code blocks and in quoted lines (`> …`) are plain text. NEXT, DONE
and DROP are removed from the message; everything else stays as written.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

_LIST = r"[^\[\]\r\n]*+(?:\n(?![ \t]*\n)[^\[\]\r\n]*+)*+"  # may go on in the next line, but not after an empty one
_MARKER = re.compile(
    r"\[(?:"
    rf"NEXT[:：](?P<next>{_LIST})"
    rf"|DROP[:：](?P<drop>{_LIST})"
    r"|(?P<done>DONE)"
    r"|FROM[:：](?P<sender>[^\[\]\r\n]*)"
    r"|TEAM_TASK[:：](?P<team_task>(?:[^\[\]]|\[[^\[\]]*\])*)"
    r")\]",
    re.IGNORECASE | re.ASCII,  # no look-alikes: `ſ` is not an `S`
)
_LOOK_ALIKE = re.compile(
    r"[\[［【]\s*NEXT\s*(?P<colon>[:：]|\b)(?P<names>[^\[\]［］【】\r\n]*)[\]］】]", re.IGNORECASE | re.ASCII
)
_BLOCKED = re.compile(r"[\s*_`#>]*BLOCKED[*_`]*\s*[:：][*_`]*[ \t]*(?P<reason>[^\n]*)")
_PRIORITY = re.compile(r"!(P[123])\Z", re.IGNORECASE)
_DECORATIONS = 4  # how many times `@` and `**` are stripped from a name; bounds the work for hostile text
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_QUOTE = re.compile(r" {0,3}>")


class Priority(StrEnum):
    P1 = "P1"  # to the front of the queue
    P2 = "P2"  # to the tail
    P3 = "P3"  # behind every P2


class Target(Struct, frozen=True, gc=False):
    """One name of a `[NEXT:]` list, without `@`, `**` and the priority."""

    name: str
    priority: Priority = Priority.P2


class Markers(Struct, frozen=True, kw_only=True, gc=False):
    """The markers of a message. `clean` is the text without NEXT, DONE and DROP."""

    clean: str
    signature: str = ""  # the whole [FROM:] marker, which stays in `clean`
    next: tuple[Target, ...] = ()
    drop: tuple[str, ...] = ()
    done: bool = False
    sender: str | None = None
    team_task: str | None = None


DROP_ALL = ("ALL",)


def parse(text: str) -> Markers:
    """Read the markers of a message."""
    if "[" not in text:
        return Markers(clean=text)
    inert = inert_spans(text)
    targets: list[Target] = []
    drop: list[str] = []
    kept: list[str] = []
    done, sender, signature, team_task, copied = False, None, "", None, 0
    for marker in _MARKER.finditer(text):
        start, end = marker.span()
        if inert and is_within(inert, start):
            continue
        kind = marker.lastgroup
        inner = marker[kind or 0]
        match kind:
            case "next":
                targets += _read_targets(inner)
            case "drop":
                drop += [target.name for target in _read_targets(inner)]
            case "done":
                done = True
            case "sender":
                if sender is None:  # the first one counts
                    sender, signature = _undecorate(inner.strip()) or None, marker[0]
                continue
            case _:
                team_task = inner.strip() or team_task  # the last one counts
                continue
        kept.append(text[copied:start])
        copied = end
    kept.append(text[copied:])
    return Markers(
        clean="".join(kept),
        signature=signature,
        next=tuple(targets),
        drop=DROP_ALL if drop and any(name.lower() == "all" for name in drop) else tuple(drop),
        done=done,
        sender=sender,
        team_task=team_task,
    )


def find_blocked(text: str) -> str | None:
    """Return the reason if the first line of a result says that the member could not do it (`BLOCKED: …`)."""
    match = _BLOCKED.match(text)
    return match["reason"].strip() if match else None


def find_look_alike(text: str, is_name: Callable[[str], object]) -> str:
    """Return the right form of the first text that looks like a [NEXT:] marker and is none; empty without one.

    `【NEXT：Bob】`, `［NEXT:Bob］`, `[NEXT :Bob]` and `[ NEXT: Bob]` do; `[NEXT Bob]` does if `is_name("Bob")`.
    """
    for match in _LOOK_ALIKE.finditer(text):
        names = [target.name for target in _read_targets(match["names"])]
        is_meant = names if match["colon"] else any(map(is_name, names))
        if is_meant and not _MARKER.match(text, match.start()) and not is_within(inert_spans(text), match.start()):
            return f"[NEXT: {', '.join(names)}]"
    return ""


def is_within(spans: list[tuple[int, int]], at: int) -> bool:
    """Whether one of these sorted spans contains the position."""
    nearest = bisect_right(spans, at, key=lambda span: span[1])
    return nearest < len(spans) and spans[nearest][0] <= at


def _read_targets(names: str) -> list[Target]:
    """Return the names of a list, without blank ones."""
    parts = names.replace("，", ",").replace("、", ",").split(",")
    return [target for part in parts if (target := _read_target(part.strip())).name]


def _read_target(part: str) -> Target:
    name = _undecorate(part)
    priority = _PRIORITY.search(name) if "!" in name else None
    if not priority:
        return Target(name)
    return Target(_undecorate(name[: priority.start()].rstrip()), Priority(priority[1].upper()))


def _undecorate(name: str) -> str:
    """Return `name` for `@name` and `**name**`."""
    if not name.startswith(("@", "*")):
        return name
    for _ in range(_DECORATIONS):
        bare = name.removeprefix("@").strip()
        if bare.startswith("**") and bare.endswith("**") and len(bare) > 4:
            bare = bare[2:-2].strip()
        if bare == name:
            break
        name = bare
    return name


def inert_spans(text: str) -> list[tuple[int, int]]:
    """Return where markers are plain text: fenced code (an open fence runs to the end) and quoted lines."""
    spans: list[tuple[int, int]] = []
    if "```" not in text and "~~~" not in text and ">" not in text:
        return spans
    fence, start, position = "", 0, 0
    for line in text.splitlines(keepends=True):
        body = line.rstrip("\r\n")
        match = _FENCE.match(body)
        if fence:
            if match and match[1].startswith(fence) and not body[match.end() :].strip():
                spans.append((start, position + len(line)))
                fence = ""
        elif match:
            fence, start = match[1], position
        elif _QUOTE.match(body):
            spans.append((position, position + len(line)))
        position += len(line)
    if fence:
        spans.append((start, position))
    return spans
