"""Uses of tools as people see them: what several steps say of one use is one line, and files read in a row are one too.

The same lines stand in the terminal and in exports: `✎ Edited src/app.py +12 −3`, `▶ make test ✗ exit 2 · 4.1 s`,
`◎ Read 3 files`.
"""

from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from moot.core.facts import Fact
from moot.core.session.team import Language
from moot.core.session.tool_lines import tell_tool
from moot.core.session.tool_use import ToolUse
from moot.telling.teller import Told

MOST_CALLS = 1_000  # that may still be told of
_TIMED = ("execute", "fetch", "other")
_LEAST_S = 0.1  # a shorter time is not told


class ToolCall(Struct, frozen=True, kw_only=True):
    """One use of a tool, with all that its steps have said so far.

    `key` names it in its session. `output` is what the tool answered, `diff` what it changed.
    """

    key: str
    member: str
    tool: ToolUse
    began_at: str
    ended_at: str = ""
    output: str = ""
    diff: str = ""

    @property
    def turn(self) -> str:
        return self.key.partition(" ")[0]

    @property
    def seconds(self) -> float | None:
        """How long it took; None if that is not known or of no interest."""
        if not self.ended_at or not self.began_at or self.tool.kind not in _TIMED:
            return None
        took = datetime.fromisoformat(self.ended_at) - datetime.fromisoformat(self.began_at)
        seconds = took / timedelta(seconds=1)
        return seconds if seconds >= _LEAST_S else None


class ToolCalls:
    """Puts together the steps of each use of a tool."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolCall] = {}

    def take(self, fact: Fact, at: str) -> ToolCall | None:
        """Return the call after this step, which was logged at the time `at`; None if it is about no tool."""
        tool = getattr(fact, "tool", None)
        if not isinstance(tool, ToolUse):
            return None
        turn = getattr(fact, "turn_id", None) or getattr(fact, "dispatch_id", "")
        key = f"{turn} {tool.id}"
        call = self._calls.pop(key, None) or ToolCall(
            key=key, member=str(getattr(fact, "member", "")), tool=tool, began_at=at
        )
        call = replace(
            call,
            tool=tool,
            ended_at=at if tool.is_over else "",
            output=getattr(fact, "observation", None) or call.output,
            diff=getattr(fact, "diff", None) or call.diff,
        )
        self._calls[key] = call
        if len(self._calls) > MOST_CALLS:
            del self._calls[next(iter(self._calls))]
        return call


class ToolLines:
    """Collects the uses of tools in the order of a log, and gives each group of them when nothing can join it."""

    def __init__(self) -> None:
        self._calls = ToolCalls()
        self._groups: list[tuple[ToolCall, ...]] = []

    def take(self, fact: Fact, at: str, told: Told) -> list[tuple[ToolCall, ...]]:
        """Take the next fact and what is told of it. Returns the groups that stand before it.

        A message, a landmark and an outcome end what was done before them.
        """
        call = self._calls.take(fact, at)
        if call is None:
            return self.end() if told.member or (told.lines and told.weight != "step") else []
        for number, group in enumerate(self._groups):
            if any(each.key == call.key for each in group):
                self._groups[number] = tuple(call if each.key == call.key else each for each in group)
                return []
        self._groups.append((call,))
        return []

    def end(self) -> list[tuple[ToolCall, ...]]:
        """Return all groups that are left: what was read one after another is one."""
        joined: list[tuple[ToolCall, ...]] = []
        for group in self._groups:
            if joined and may_join(joined[-1][-1], group[0]):
                joined[-1] += group
            else:
                joined.append(group)
        self._groups = []
        return joined


def is_tool_step(fact: Fact) -> bool:
    return isinstance(getattr(fact, "tool", None), ToolUse)


def tell_calls(calls: tuple[ToolCall, ...], language: Language) -> str:
    """Return the line of one call, or of files that were read one after another."""
    first = calls[0]
    if len(calls) > 1:
        paths = tuple(dict.fromkeys(path for call in calls for path in call.tool.paths or (call.tool.title,)))
        return tell_tool(replace(first.tool, paths=paths), language)
    line, seconds = tell_tool(first.tool, language), first.seconds
    return line if seconds is None else f"{line} · {_tell_seconds(seconds)}"


def _tell_seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60}:{int(seconds) % 60:02} min"


def may_join(before: ToolCall, call: ToolCall) -> bool:
    """Whether two calls that follow each other are told in one line: the same member read files in the same turn."""
    return (
        before.turn == call.turn
        and all(each.tool.kind == "read" and each.tool.status == "completed" for each in (before, call))
        and not (before.diff or call.diff)
    )
