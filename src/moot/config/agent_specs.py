"""What plays an AI member: one struct per `type` of the team file's `agent` (surfaces: agent types)."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from moot.config.quantities import Command, Delay, Duration, EnvName, FunctionPath, Text
from moot.core.events import Option
from moot.core.usage import Usage

# Content that a script plays back or a provider takes as it is; whoever receives it checks it.
Json = dict[str, Any]
Folder = Annotated[Text | None, Meta(description="where it starts, from the team file's folder; default: there")]
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

    nack: Annotated[str | None, Meta(description="refuses before the start, with this reason")] = None
    delay_s: Annotated[Delay, Meta(description="waits")] = 0.0
    steps: Annotated[
        tuple[ScriptStep, ...], Meta(description="each is logged: plan.step_completed, solver.progress or turn.step")
    ] = ()
    error: Annotated[ScriptError | None, Meta(description="fails the turn")] = None
    hang: Annotated[bool, Meta(description="never ends, until the timeout")] = False
    text: Annotated[str | None, Meta(description="what is said; the decision of a supervisor")] = None
    plan: Annotated[ScriptPlan | None, Meta(description="the result of a planner")] = None
    patches: Annotated[
        tuple[Json, ...] | None, Meta(description="the result of a planner for a small change: op, task_id, changes")
    ] = None
    review: Annotated[ScriptReview | None, Meta(description="the result of a reviewer")] = None
    state: Annotated[Json | None, Meta(description="supervisor flow: keys that the agent writes")] = None
    tool_calls: Annotated[tuple[Json, ...] | None, Meta(description="supervisor flow: name and args of each")] = None
    ask: Annotated[ScriptQuestion | None, Meta(description="supervisor flow: a question to people")] = None
    usage: Annotated[Usage, Meta(description="recorded as given")] = Usage()


Reply = str | ScriptEntry


class ScriptAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="script"):
    """Plays entries in order; needs no key and starts no program."""

    replies: Annotated[
        tuple[Reply, ...], Meta(description="one a turn; the position is the number of the member's earlier turns")
    ] = ()
    by_task: Annotated[
        dict[str, tuple[Reply, ...]], Meta(description="plan flow: a task's own script, with a position of its own")
    ] = {}
    when_exhausted: Annotated[
        Literal["repeat", "empty", "error"], Meta(description="the last entry again, nothing, or a failed turn")
    ] = "repeat"


class McpServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tools over the Model Context Protocol: a program (`command`, `env`) or an address (`url`, `key`)."""

    command: Annotated[Command | None, Meta(description="a program, as a list")] = None
    env: EnvAllowList = ()
    url: Annotated[Text | None, Meta(description="streamable HTTP")] = None
    key: Annotated[Text | None, Meta(description="name of the variable that holds the key for the address")] = None


class LlmAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="llm"):
    """A model behind an API. Keys come from the environment only."""

    model: Annotated[Text, Meta(description="provider:name; just a name with base_url")]
    base_url: Annotated[Text | None, Meta(description="of a server that speaks OpenAI's API, or the provider's")] = None
    key: Annotated[EnvName | None, Meta(description="variable with the key; default: the provider's usual one")] = None
    tools: Annotated[tuple[FunctionPath, ...], Meta(description="Python functions that it may call")] = ()
    mcp: Annotated[tuple[McpServer, ...], Meta(description="servers of tools")] = ()
    settings: Annotated[Json, Meta(description="for the provider, as they are: temperature, max_tokens…")] = {}
    output: Annotated[
        Literal["text", "native", "tool"], Meta(description="how plans and reviews are asked for; text suits any model")
    ] = "text"
    start_timeout_s: Annotated[Duration, Meta(description="until the first word")] = 300.0
    idle_timeout_s: Annotated[Duration, Meta(description="between two pieces of a stream")] = 60.0


class CliAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="cli"):
    """A command-line agent: a known one (`preset`), or any `command` and the way its `output` is read."""

    preset: Annotated[
        Literal["claude", "codex", "gemini"] | None, Meta(description="Claude Code, Codex or Gemini CLI")
    ] = None
    model: Annotated[Text | None, Meta(description="of a preset; default: its own")] = None
    permissions: Annotated[
        Literal["read", "edit", "all"] | None, Meta(description="what a preset may do unasked; default: read")
    ] = None
    command: Annotated[
        Command | None, Meta(description="any other program, as a list: what it is told comes by stdin")
    ] = None
    output: Annotated[
        Literal["text", "claude", "codex", "gemini"] | None,
        Meta(description="how the output of a command is read; default: text, all of it is the answer"),
    ] = None
    cwd: Folder = None
    env: EnvAllowList = ()

    @property
    def dialect(self) -> Literal["text", "claude", "codex", "gemini"]:
        """How its output is read."""
        return self.preset or self.output or "text"


class AcpAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="acp"):
    """Any agent that speaks the Agent Client Protocol over stdio."""

    command: Annotated[Command, Meta(description="the program, as a list")]
    cwd: Folder = None
    env: EnvAllowList = ()


class PythonAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="python"):
    """An async function that gets the turn and yields outputs."""

    call: Annotated[FunctionPath, Meta(description="package.module:function, installed or in the current folder")]


AgentSpec = ScriptAgent | LlmAgent | CliAgent | AcpAgent | PythonAgent
