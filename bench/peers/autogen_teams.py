"""AutoGen: a swarm whose members hand the floor to each other. Nothing is stored."""

from collections.abc import Callable, Sequence

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import BaseChatMessage, HandoffMessage
from autogen_agentchat.teams import Swarm
from autogen_core import CancellationToken
from workload import ROUNDS, TURNS, Clock, decide, read_decision, read_next, report, speak

Say = Callable[[], tuple[str, str]]  # what a member says, and to whom


class Member(BaseChatAgent):
    def __init__(self, name: str, say: Say) -> None:
        super().__init__(name, "a member")
        self._say = say

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (HandoffMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        text, target = self._say()
        return Response(chat_message=HandoffMessage(content=text, source=self.name, target=target))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Nothing to forget."""


async def turn() -> float:
    clock = Clock(TURNS)

    def say(name: str) -> tuple[str, str]:
        clock.tick()
        text = speak(name)
        return text, read_next(text)

    members = [Member(name, lambda name=name: say(name)) for name in ("bob", "carol")]
    await Swarm(members, termination_condition=MaxMessageTermination(TURNS)).run(task="go")
    return clock.seconds()


async def round_() -> float:
    clock = Clock(ROUNDS)

    def lead() -> tuple[str, str]:
        text = decide(clock.tick())
        return text, read_decision(text)

    members = [
        Member("lead", lead),
        Member("writer", lambda: ("Written.", "lead")),
        Member("noter", lambda: ("Noted.", "lead")),
    ]
    await Swarm(members, termination_condition=MaxMessageTermination(2 * ROUNDS)).run(task="go")
    return clock.seconds()


report("autogen-agentchat", {"turn": turn, "round": round_})
