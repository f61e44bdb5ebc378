"""Checks a team's own prompts: files must be readable, placeholders known."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from moot.config.message_format import shorten, suggest
from moot.config.phrase import Phrase
from moot.config.problem import Problem
from moot.config.prompts import PHASES, PROMPT_BYTES, read_prompt, read_template
from moot.core.session.team import DEFAULT_LANGUAGE
from moot.core.template import list_placeholders

_MORE = {"understanding": ("schema",)}  # filled for those who name it; the built-in prompt shows an example instead


def check_prompts(data: Mapping[str, object], folder: Path | None) -> Iterator[Problem]:
    prompts = data.get("prompts")
    if not isinstance(prompts, dict):
        return
    for phase, written in prompts.items():
        if phase in PHASES and isinstance(written, str):
            for problem in _check_prompt(phase, written, folder):
                yield Problem(path=("prompts", phase), text=problem.text, hint=problem.hint)
    yield from _check_place(prompts, folder)


def _check_place(prompts: dict[object, object], folder: Path | None) -> Iterator[Problem]:
    """A prompt that replaces `understanding` must keep the placeholder for the routing rules."""
    routing, understanding = prompts.get("routing"), prompts.get("understanding")
    if not isinstance(routing, str) or not isinstance(understanding, str):
        return
    try:
        template = read_prompt(understanding, folder)
    except (ValueError, OSError):
        return  # already reported
    if "routing" not in list_placeholders(template):
        yield Problem(
            path=("prompts", "routing"),
            text=Phrase("team.prompt.unused"),
            hint=Phrase("team.prompt.unused.hint"),
        )


def _check_prompt(phase: str, written: str, folder: Path | None) -> Iterator[Problem]:
    try:
        prompt = read_prompt(written, folder)
    except (ValueError, OSError) as error:  # OSError: a name that no file system takes
        yield Problem(text=Phrase("team.prompt.unreadable", value=shorten(written), detail=str(error)))
        return
    if len(prompt.encode(errors="replace")) > PROMPT_BYTES:
        yield Problem(text=Phrase("team.prompt.large", limit=PROMPT_BYTES))
    if not prompt.strip():
        yield Problem(text=Phrase("team.prompt.empty"), hint=Phrase("team.prompt.empty.hint"))
    known = [*list_placeholders(read_template(phase, DEFAULT_LANGUAGE)), *_MORE.get(phase, ())]
    for name in list_placeholders(prompt):
        if name not in known:
            yield Problem(
                text=Phrase("team.prompt.nothing_fills", value=shorten("{{" + name + "}}")),
                hint=suggest(name, known, Phrase("team.plural.placeholders")),
            )
