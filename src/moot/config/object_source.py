"""A team given as an object instead of a file: the same data, without lines."""

from collections.abc import Mapping

from moot.config.problem import Problem
from moot.config.source import TOO_DEEP, TOO_MANY, Source, Unreadable
from moot.config.wording import describe_value, shorten
from moot.core import limits
from moot.core.team import Path


def read_object(given: object) -> Source:
    """Never raises. What is not plain data becomes a problem, and nothing in its place."""
    copy = _Copy()
    try:
        data = copy.take(given, ())
    except Unreadable as error:
        return Source(problems=[*copy.problems, error.problem], is_readable=False)
    return Source(data=data, problems=copy.problems)


class _Copy:
    """The bounds of a file hold here too; they also end an object that contains itself."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._count = 0

    def take(self, given: object, path: Path) -> object:
        self._count += 1
        if self._count > limits.TEAM_FILE_NODES:
            raise Unreadable(Problem(text=TOO_MANY))
        if len(path) > limits.TEAM_FILE_DEPTH:
            raise Unreadable(Problem(text=TOO_DEEP))
        match given:
            case None | bool():
                return given
            # a subclass (an enum, say) becomes the plain value
            case str():
                return str.__str__(given)
            case int():
                return int(given)
            case float():
                return float(given)
            case Mapping():
                return self._take_mapping(given, path)
            case list() | tuple():
                return [self.take(item, (*path, position)) for position, item in enumerate(given)]
            case _:
                self.problems.append(Problem(path=path, text=f"found {describe_value(given)}; expected plain data"))
                return None

    def _take_mapping(self, given: Mapping[object, object], path: Path) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, value in given.items():
            # a task's id may be a number, which counts as its decimal string (plan: tasks)
            is_number = isinstance(key, int) and not isinstance(key, bool) and abs(key) < 2**63
            name = str(key) if isinstance(key, str) or is_number else None
            if name is None:
                self.problems.append(Problem(path=path, text=f"a key is {describe_value(key)}; expected text"))
            elif name in result:
                self.problems.append(Problem(path=(*path, name), text=f"duplicate key {shorten(name)}"))
            else:
                result[name] = self.take(value, (*path, name))
        return result
