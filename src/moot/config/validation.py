"""Finds all problems of a team: syntax, types and rules."""

from collections.abc import Iterator

import msgspec

from moot.config.message_format import describe_value
from moot.config.problem import Problem
from moot.config.prompt_rules import check_prompts
from moot.config.source import Source
from moot.config.team_file import TeamFile
from moot.config.team_rules import check_rules
from moot.config.type_check import check, read_type


def find_problems(source: Source) -> list[Problem]:
    """Return the problems in the order of their lines, each once."""
    located = {_locate(problem, source): None for problem in _find(source)}
    return sorted(located, key=lambda problem: problem.line or 0)


def _find(source: Source) -> Iterator[Problem]:
    yield from source.problems
    if not source.is_readable:
        return
    if not isinstance(source.data, dict):
        kind = describe_value(source.data)
        yield Problem(text=f"found {kind}; a team is a mapping", hint="start with moot: 1, name: … and members: …")
        return
    yield from check(source.data, read_type(TeamFile))
    yield from check_rules(source.data)
    yield from check_prompts(source.data, source.folder)


def _locate(problem: Problem, source: Source) -> Problem:
    if problem.line is not None:
        return problem
    return msgspec.structs.replace(problem, line=source.find_line(problem.path))
