"""Finds all problems of a team: syntax, types and rules."""

from collections.abc import Iterator

import msgspec

from moot.config.message_format import describe_value
from moot.config.phrase import Phrase, tell
from moot.config.problem import Problem
from moot.config.prompt_rules import check_prompts
from moot.config.source import Source
from moot.config.team_file import TeamFile
from moot.config.team_rules import check_rules
from moot.config.type_check import check, read_type
from moot.config.user_locale import find_locale_language
from moot.core.session.team import Language, as_language


def find_problems(source: Source, language: Language | None = None) -> list[Problem]:
    """Return the problems in the order of their lines, each once, in a language: that of the team by default."""
    language = language or _read_language(source.data)
    located = {_tell(_locate(problem, source), language): None for problem in _find(source)}
    return sorted(located, key=lambda problem: problem.line or 0)


def _read_language(data: object) -> Language:
    """Return the language of the team, as far as it can be read, or that of the person's locale."""
    written = data.get("language") if isinstance(data, dict) else None
    return as_language(written) or find_locale_language()


def _tell(problem: Problem, language: Language) -> Problem:
    return msgspec.structs.replace(problem, text=tell(problem.text, language), hint=tell(problem.hint, language))


def _find(source: Source) -> Iterator[Problem]:
    yield from source.problems
    if not source.is_readable:
        return
    if not isinstance(source.data, dict):
        kind = describe_value(source.data)
        yield Problem(text=Phrase("team.no_mapping", value=kind), hint=Phrase("team.no_mapping.hint"))
        return
    yield from check(source.data, read_type(TeamFile))
    yield from check_rules(source.data)
    yield from check_prompts(source.data, source.folder)


def _locate(problem: Problem, source: Source) -> Problem:
    if problem.line is not None:
        return problem
    return msgspec.structs.replace(problem, line=source.find_line(problem.path))
