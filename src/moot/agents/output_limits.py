"""Limits what an agent's program may output, and removes the secrets that it was given."""

from collections.abc import Iterable, Iterator, Mapping

from moot.agents.environment import hide_secrets
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


def censor(output: Output, environment: Mapping[str, str]) -> Output:
    """Remove secrets from what is logged. Deltas and thoughts pass: they are only shown."""
    match output:
        case Result(text=text):
            return Result(text=hide_secrets(text, environment), usage=output.usage)
        case Step():
            texts = (output.thought, output.action, output.observation)
            thought, action, observation = (text and hide_secrets(text, environment) for text in texts)
            return Step(thought=thought, action=action, observation=observation)
        case Delta() | Thinking():
            return output


def censor_error(error: AgentError, environment: Mapping[str, str]) -> AgentError:
    return AgentError(error.error_type, hide_secrets(str(error), environment), error.retry_after_s, error.usage)
