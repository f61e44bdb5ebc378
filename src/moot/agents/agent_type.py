"""What an agent type is: the settings of a team file, the member they make, and the programs that member starts.

A new type is a struct of its own with one line in `moot.extensions.AGENTS`, or an entry point of the group
`moot.agents` in another package:

    class EchoAgent(AgentType, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True,
                    tag_field="type", tag="echo"):
        prefix: Annotated[str, Meta(description="said before each message")] = ""

        def starts(self, member):
            return ()  # no program, no key

        def make(self, seat):
            return EchoMember(self.prefix)
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import Struct, field

from moot.agents.run_environment import RunEnvironment
from moot.config.agent_specs import AgentSpec, check_methods
from moot.runtime.ports import Agent, Clock


class Seat(Struct, frozen=True, kw_only=True):
    """What an agent is given besides its settings.

    `instructions` are those of the member, `prompts` the team's own templates by phase.
    """

    clock: Clock
    instructions: str = ""
    prompts: Mapping[str, str] = {}
    run_environment: RunEnvironment = field(default_factory=RunEnvironment)


class AgentType(AgentSpec):
    """The settings of an agent, and how a member is made of them."""

    __slots__ = ()

    is_told_tools: ClassVar[bool] = True  # in its prompt, those that Moot runs for it between turns (supervisor flow)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_methods(cls, AgentType, "make")

    @abstractmethod
    def make(self, seat: Seat) -> Agent:
        """The agent that plays a member. Raises AgentError of type config if that cannot work."""
        raise NotImplementedError
