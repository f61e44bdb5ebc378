"""Plain data (mappings, lists, text, numbers, true/false, nothing) and where each part of it was written."""

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

from msgspec import Struct

from moot.config.problem import Problem
from moot.core import limits
from moot.core.team import Path

TOO_DEEP = f"nested more than {limits.TEAM_FILE_DEPTH} levels deep"
TOO_MANY = f"more than {limits.TEAM_FILE_NODES} values"


class Source(Struct, frozen=True, kw_only=True):
    """`is_readable` is False when there is nothing that the rules of a team could be held against.

    `folder` is where files that it names are looked for; a built-in team names none.
    """

    data: object = None
    lines: Mapping[Path, int] = {}
    problems: Sequence[Problem] = ()
    is_readable: bool = True
    folder: FilePath | None = None

    def find_line(self, path: Path) -> int | None:
        """The line of that part, or of the nearest part around it: a missing key has no line of its own."""
        for length in range(len(path), -1, -1):
            line = self.lines.get(path[:length])
            if line is not None:
                return line
        return None


class Unreadable(Exception):
    """Reading stopped here: going on would cost too much or mean nothing. Never leaves this package."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.text)
        self.problem = problem


def unreadable(text: str, *, hint: str = "", line: int | None = None) -> Source:
    return Source(problems=[Problem(text=text, hint=hint, line=line)], is_readable=False)
