"""Plain data (mappings, lists, text, numbers, true/false, nothing) and the line of each part."""

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

from msgspec import Struct

from moot.config.phrase import Phrase
from moot.config.problem import Problem
from moot.core import limits
from moot.core.session.team import Path

TOO_DEEP = Phrase("team.too_deep", value=limits.TEAM_FILE_DEPTH)
TOO_MANY = Phrase("team.too_many", value=limits.TEAM_FILE_NODES)


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
        """Return the line of a part; of the nearest part around it if it has none, as a missing key."""
        for length in range(len(path), -1, -1):
            line = self.lines.get(path[:length])
            if line is not None:
                return line
        return None


class Unreadable(Exception):
    """Stops reading: going on would cost too much or make no sense. Caught within this package."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.text)
        self.problem = problem


def unreadable(text: str, *, hint: str = "", line: int | None = None) -> Source:
    return Source(problems=[Problem(text=text, hint=hint, line=line)], is_readable=False)
