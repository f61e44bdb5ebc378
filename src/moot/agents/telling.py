"""What a program tells, kept within bounds and without the keys that it was given."""

from collections.abc import Iterable, Iterator, Mapping

from moot.agents.environment import hide_secrets
from moot.core import limits
from moot.core.errors import AgentError
from moot.runtime.ports import Delta, Output, Result, Step, Thinking

Told = Step | Delta | Thinking  # before the result
TEXT_CHARS = 2 * limits.OUTPUT_CHARS  # at the limit a text is cut; at twice that nobody listens any more
STEPS = 500  # of a turn; the rest is not told


class Measure:
    """Counts what one turn tells."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._chars = 0
        self._thought_chars = 0
        self._steps = 0

    def admit(self, outputs: Iterable[Told]) -> Iterator[Told]:
        """Those that are told. AgentError when there is no end to the text."""
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

    def _admit_text(self, piece: Delta, chars: int) -> Iterator[Told]:
        self._chars += chars
        if self._chars > TEXT_CHARS:
            raise AgentError("agent", f"{self._name} said more than {TEXT_CHARS} characters; it was stopped")
        if chars:
            yield piece

    def _admit_step(self, step: Step) -> Iterator[Told]:
        self._steps += 1
        if self._steps <= STEPS:
            yield step
        elif self._steps == STEPS + 1:
            yield Step(observation=f"(more than {STEPS} steps: the rest is not told)")


def censor(output: Output, environment: Mapping[str, str]) -> Output:
    """Without secrets where it is logged; pieces of text are only shown."""
    match output:
        case Result(text=text):
            return Result(text=hide_secrets(text, environment), usage=output.usage)
        case Step():
            told = [output.thought, output.action, output.observation]
            safe = [None if each is None else hide_secrets(each, environment) for each in told]
            return Step(thought=safe[0], action=safe[1], observation=safe[2])
        case Delta() | Thinking():
            return output


def censor_error(error: AgentError, environment: Mapping[str, str]) -> AgentError:
    return AgentError(error.error_type, hide_secrets(str(error), environment), error.retry_after_s, error.usage)
