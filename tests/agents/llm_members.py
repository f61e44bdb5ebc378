"""Members played by a model on the loopback endpoint, in each of the APIs that it speaks."""

from typing import Any

from msgspec import Struct

from moot.agents.llm.llm_agent import LlmAgent, LlmMember
from moot.core.errors import AgentError
from moot.core.flows.turns import TurnInput
from moot.runtime.clock import SystemClock
from moot.runtime.ports import Clock, Delta, Output, Result, Step, Thinking
from tests.agents.fake_models import FakeModels

APIS = ("openai", "openai-responses", "anthropic", "google")
KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY"}
KEY = "sk-do-not-tell"


def make_member(
    models: FakeModels, api: str = "openai", clock: Clock | None = None, name: str = "fake-model", **fields: Any
) -> LlmMember:
    base_url = models.url if api.startswith("openai") else models.root
    spec = LlmAgent(model=f"{api}:{name}", base_url=base_url, **fields)
    return LlmMember(spec, clock or SystemClock(), "Be brief.")


class HastyClock(SystemClock):
    """Sleeps at once, and remembers for how long."""

    def __init__(self) -> None:
        super().__init__()
        self.slept_s: list[float] = []

    async def sleep(self, delay_s: float) -> None:
        self.slept_s.append(delay_s)


class Played(Struct):
    """A turn that is over, or as far as it came."""

    outputs: list[Output]
    failure: AgentError | None = None

    @property
    def result(self) -> Result:
        assert self.failure is None, self.failure
        last = self.outputs[-1]
        assert isinstance(last, Result)
        return last

    @property
    def error(self) -> AgentError:
        assert self.failure is not None
        assert KEY not in str(self.failure)
        return self.failure

    @property
    def streamed(self) -> str:
        return "".join(each.text for each in self.outputs if isinstance(each, Delta))

    @property
    def thinking(self) -> str:
        return "".join(each.text for each in self.outputs if isinstance(each, Thinking))

    @property
    def steps(self) -> list[str]:
        steps = [each for each in self.outputs if isinstance(each, Step)]
        return [each.thought or each.action or each.observation or "" for each in steps]


async def play(member: LlmMember, turn: TurnInput) -> Played:
    played = Played([])
    try:
        async for output in member.act(turn):
            played.outputs.append(output)
    except AgentError as error:
        played.failure = error
    return played
