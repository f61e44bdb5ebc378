"""What plays an AI member: one struct per `type` of the team file's `agent` (surfaces: agent types)."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from moot.config.quantities import Command, Delay, Duration, EnvName, FunctionPath, Text
from moot.core.events import Option
from moot.core.usage import Usage

# Content that a script plays back or a provider takes as it is; whoever receives it checks it.
Json = dict[str, Any]
EnvAllowList = Annotated[tuple[EnvName, ...], Meta(description="names of environment variables it may see")]


class ScriptStep(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something the agent thinks, does or sees on the way."""

    thought: str | None = None
    action: str | None = None
    observation: str | None = None


class ScriptError(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The turn fails with this error type."""

    type: Text
    message: str = ""


class ScriptPlan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A planner's result; its tasks are checked like any plan, not here: a script may play a broken one."""

    summary: str = ""
    tasks: tuple[Json, ...] = ()


class ScriptReview(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A reviewer's result."""

    passed: bool = field(name="pass")
    feedback: str = ""


class ScriptQuestion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question to the human (supervisor: humans)."""

    question: Text
    options: tuple[Option, ...] = ()
    selection: Literal["single", "multiple", "none"] = "single"
    allow_custom_input: bool = False
    key: str | None = None


class ScriptEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One turn, played in this order: nack, delay, steps, then error or hang or the result."""

    nack: str | None = None
    delay_s: Delay = 0.0
    steps: tuple[ScriptStep, ...] = ()
    error: ScriptError | None = None
    hang: bool = False
    text: str | None = None
    plan: ScriptPlan | None = None
    patches: tuple[Json, ...] | None = None
    review: ScriptReview | None = None
    state: Json | None = None
    tool_calls: tuple[Json, ...] | None = None
    ask: ScriptQuestion | None = None
    usage: Usage = Usage()


Reply = str | ScriptEntry


class ScriptAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="script"):
    """Plays entries in order; needs no key and starts no program."""

    replies: tuple[Reply, ...] = ()
    by_task: dict[str, tuple[Reply, ...]] = {}
    when_exhausted: Literal["repeat", "empty", "error"] = "repeat"


class McpServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tools over the Model Context Protocol: a program (`command`, `env`) or an address (`url`, `key`)."""

    command: Command | None = None
    env: EnvAllowList = ()
    url: Annotated[Text | None, Meta(description="streamable HTTP")] = None
    key: Annotated[Text | None, Meta(description="name of the variable that holds the key for the address")] = None


class LlmAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="llm"):
    """A model behind an API. Keys come from the environment only."""

    model: Annotated[Text, Meta(description="provider:name")]
    base_url: Annotated[Text | None, Meta(description="of a server that speaks OpenAI's API, or the provider's")] = None
    key: Annotated[EnvName | None, Meta(description="variable with the key; default: the provider's usual one")] = None
    tools: tuple[FunctionPath, ...] = ()
    mcp: tuple[McpServer, ...] = ()
    settings: Json = {}
    output: Annotated[
        Literal["text", "native", "tool"], Meta(description="how plans and reviews are asked for; text suits any model")
    ] = "text"
    start_timeout_s: Annotated[Duration, Meta(description="until the first word")] = 300.0
    idle_timeout_s: Annotated[Duration, Meta(description="between two pieces of a stream")] = 60.0


class CliAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="cli"):
    """A command-line agent: a known one (`preset`), or any `command` and the way its `output` is read."""

    preset: Literal["claude", "codex", "gemini"] | None = None
    model: Annotated[Text | None, Meta(description="of a preset; default: its own")] = None
    permissions: Annotated[
        Literal["read", "edit", "all"] | None, Meta(description="what a preset may do unasked; default: read")
    ] = None
    command: Command | None = None
    output: Literal["text", "claude", "codex", "gemini"] | None = None
    cwd: Text | None = None
    env: EnvAllowList = ()

    @property
    def dialect(self) -> Literal["text", "claude", "codex", "gemini"]:
        """How its output is read."""
        return self.preset or self.output or "text"


class AcpAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="acp"):
    """Any agent that speaks the Agent Client Protocol over stdio."""

    command: Command
    cwd: Text | None = None
    env: EnvAllowList = ()


class PythonAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="python"):
    """An async function that gets the turn and yields outputs."""

    call: FunctionPath


AgentSpec = ScriptAgent | LlmAgent | CliAgent | AcpAgent | PythonAgent
