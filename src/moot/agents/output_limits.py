"""Limits what an agent's program may output, and removes secrets of this process, some of which it was given."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from moot.agents.environment import find_secrets, hide_in_tool, hide_secrets, replace_secrets, split_at_secret
from moot.agents.tool_steps import localize
from moot.core import limits
from moot.core.errors import AgentError
from moot.runtime.ports import Delta, Output, Result, Step, Thinking

PartialOutput = Step | Delta | Thinking  # what comes before the result
TEXT_CHARS = 2 * limits.OUTPUT_CHARS  # beyond OUTPUT_CHARS a text is cut; beyond twice that the program is stopped
STEPS = 500  # per turn; further ones are dropped


class OutputLimiter:
    """Counts the output of one turn."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._chars = 0
        self._thought_chars = 0
        self._steps = 0

    def admit(self, outputs: Iterable[PartialOutput]) -> Iterator[PartialOutput]:
        """Yield the outputs that are within the limits. Raises AgentError if there is too much text."""
        for output in outputs:
            match output:
                case Delta(text=text):
                    yield from self._admit_text(output, len(text))
                case Thinking(text=text):
                    self._thought_chars += len(text)
                    if self._thought_chars <= TEXT_CHARS:
                        yield output
                case Step():
                    yield from self._admit_step(output)

    def _admit_text(self, piece: Delta, chars: int) -> Iterator[PartialOutput]:
        self._chars += chars
        if self._chars > TEXT_CHARS:
            raise AgentError("agent", f"{self._name} said more than {TEXT_CHARS} characters; it was stopped")
        if chars:
            yield piece

    def _admit_step(self, step: Step) -> Iterator[PartialOutput]:
        self._steps += 1
        if self._steps <= STEPS:
            yield step
        elif self._steps == STEPS + 1:
            yield Step(observation=f"(more than {STEPS} steps: the rest is not told)")


class Censor:
    """Removes secrets from the outputs of one turn, also from text that is shown while it is written.

    The end of a piece that may be the beginning of a secret is held back until the next output. Paths in `folder`
    become relative to it.
    """

    def __init__(self, environment: Mapping[str, str], folder: Path | None = None) -> None:
        self._secrets = find_secrets(environment)
        self._folder = folder
        self._held = ""
        self._kind: type[Delta | Thinking] = Delta

    def admit(self, output: Output) -> Iterator[Output]:
        """Yield what was held back if it cannot go on in this output, then the output itself without secrets."""
        if not isinstance(output, self._kind):
            if self._held:
                yield self._kind(self._hide(self._held))
            self._held = ""
        match output:
            case Delta(text=text) | Thinking(text=text):
                self._kind = type(output)
                shown, self._held = split_at_secret(self._held + text, self._secrets)
                if shown:
                    yield self._kind(shown)
            case Step():
                output = localize(output, self._folder)
                texts = (output.thought, output.action, output.observation)
                thought, action, observation = (text and self._hide(text) for text in texts)
                yield replace(
                    output,
                    thought=thought,
                    action=action,
                    observation=observation,
                    tool=output.tool and hide_in_tool(output.tool, self._hide),
                    diff=output.diff and self._hide(output.diff),
                )
            case Result():
                yield self._hide_in_result(output)

    def _hide(self, text: str) -> str:
        return replace_secrets(text, self._secrets)

    def _hide_in_result(self, result: Result) -> Result:
        if not self._secrets:
            return result
        fields = {name: self._hide_deep(getattr(result, name)) for name in result.__struct_fields__ if name != "usage"}
        return Result(usage=result.usage, **fields)

    def _hide_deep(self, value: Any) -> Any:
        match value:
            case str():
                return self._hide(value)
            case dict():
                return {self._hide_deep(key): self._hide_deep(each) for key, each in value.items()}
            case list() | tuple():
                return type(value)(map(self._hide_deep, value))
            case _:
                return value


def censor_error(error: AgentError, environment: Mapping[str, str]) -> AgentError:
    return AgentError(error.error_type, hide_secrets(str(error), environment), error.retry_after_s, error.usage)
