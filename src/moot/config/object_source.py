"""Reads a team from a Python object instead of a file."""

from collections.abc import Mapping

from moot.config.message_format import describe_value, shorten
from moot.config.phrase import Phrase
from moot.config.problem import Problem
from moot.config.source import TOO_DEEP, TOO_MANY, Source, Unreadable
from moot.core import limits
from moot.core.session.team import Path


def read_object(value: object) -> Source:
    """Copy plain data. Never raises: anything else becomes a problem and is replaced by None."""
    copy = _Copy()
    try:
        data = copy.take(value, ())
    except Unreadable as error:
        return Source(problems=[*copy.problems, error.problem], is_readable=False)
    return Source(data=data, problems=copy.problems)


class _Copy:
    """Copies an object within the limits of a file, which also stop at an object that contains itself."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._count = 0

    def take(self, value: object, path: Path) -> object:
        self._count += 1
        if self._count > limits.TEAM_FILE_NODES:
            raise Unreadable(Problem(text=TOO_MANY))
        if len(path) > limits.TEAM_FILE_DEPTH:
            raise Unreadable(Problem(text=TOO_DEEP))
        match value:
            case None | bool():
                return value
            # a subclass (an enum, say) becomes the plain value
            case str():
                return str.__str__(value)
            case int():
                return int(value)
            case float():
                return float(value)
            case Mapping():
                return self._take_mapping(value, path)
            case list() | tuple():
                return [self.take(item, (*path, position)) for position, item in enumerate(value)]
            case _:
                self.problems.append(
                    Problem(
                        path=path,
                        text=Phrase("team.expected", value=describe_value(value), wanted=Phrase("team.plain_data")),
                    )
                )
                return None

    def _take_mapping(self, value: Mapping[object, object], path: Path) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, item in value.items():
            # a task's id may be a number, which counts as its decimal string (docs/plan.md)
            is_number = isinstance(key, int) and not isinstance(key, bool) and abs(key) < 2**63
            name = str(key) if isinstance(key, str) or is_number else None
            if name is None:
                self.problems.append(Problem(path=path, text=Phrase("team.key_is", value=describe_value(key))))
            elif name in result:
                self.problems.append(Problem(path=(*path, name), text=Phrase("team.duplicate", value=shorten(name))))
            else:
                result[name] = self.take(item, (*path, name))
        return result
