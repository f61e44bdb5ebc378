"""Agent type `cli`: a member played by a command-line agent.

A preset's program may stay between turns (`LiveMember`); otherwise each turn has a process of its own (`CliMember`).
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from moot.agents.agent_type import AgentType, Seat
from moot.agents.answer_shapes import SHAPES
from moot.agents.cli.failures import read_failure
from moot.agents.cli.lines import JsonLines
from moot.agents.cli.memory import Conversation
from moot.agents.cli.presets import Preset, find_preset
from moot.agents.cli.text import TextReader
from moot.agents.context import NO_PROMPTS, build_context
from moot.agents.environment import pick_environment
from moot.agents.live.link import Setup
from moot.agents.live.live_member import SIGN_S, LiveMember, LiveProtocol, LiveSeat
from moot.agents.output_limits import Censor, OutputLimiter, PartialOutput, censor_error
from moot.agents.permits import Permissions
from moot.agents.prices import add_cost
from moot.agents.process import Bounds, Child, Ended, Program, start
from moot.agents.run_environment import RunEnvironment
from moot.agents.sandbox import Sandbox
from moot.agents.starts import list_tools, name_servers
from moot.config.agent_specs import (
    AllowRules,
    EnvAllowList,
    Folder,
    McpServer,
    MoreArguments,
    check_servers,
)
from moot.config.phrase import Phrase
from moot.config.problem import Problem
from moot.config.quantities import Command, Text
from moot.config.trust import Start
from moot.core import limits
from moot.core.errors import AgentError
from moot.core.flows.turns import Job, TurnInput
from moot.core.session.attachments import HandedFile
from moot.core.session.team import Language
from moot.core.session.usage import Usage
from moot.core.text import is_blank
from moot.core.texts import render
from moot.extensions import PRESETS
from moot.runtime.ports import Delta, Output, Result, Step

TEXT_BYTES = 2 * limits.OUTPUT_CHARS
EVENT_BYTES = 64 * 1_048_576  # JSON lines contain much besides the text
PLAIN_TEXT = "text"  # the `output` of a program whose whole output is its answer


class CliAgent(AgentType, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="cli"):
    """A command-line agent: a known one (`preset`), or any `command` and the way its `output` is read."""

    preset: Annotated[Text | None, Meta(description="Claude Code, Codex, Gemini CLI, Qwen Code or opencode")] = None
    model: Annotated[Text | None, Meta(description="of a preset; default: its own")] = None
    permissions: Annotated[
        Permissions | None,
        Meta(description="what it may do; ask: people say yes or no each time; default: read, of a command edit"),
    ] = None
    allow: AllowRules = ()
    effort: Annotated[Text | None, Meta(description="of a preset's model: low, medium, high…; default: its own")] = None
    mode: Annotated[Text | None, Meta(description="of a preset, in its own words, such as plan")] = None
    args: MoreArguments = ()
    mcp: Annotated[tuple[McpServer, ...], Meta(description="servers of tools that a preset is given")] = ()
    lifetime: Annotated[
        Literal["session", "turn"] | None,
        Meta(description="of a preset. session: its program stays between turns; turn: one for each turn"),
    ] = None
    command: Annotated[
        Command | None, Meta(description="any other program, as a list: what it is told comes by stdin")
    ] = None
    output: Annotated[
        Text | None,
        Meta(description="how the output of a command is read; default: text, all of it is the answer"),
    ] = None
    cwd: Folder = None
    env: EnvAllowList = ()

    def starts(self, member: str) -> tuple[Start, ...]:
        return (
            Start(member=member, argv=self.list_command(), folder=self.cwd or "", names=self.env),
            *list_tools(member, (), self.mcp),
        )

    def name_model(self) -> tuple[str, str]:
        preset = self.find_preset()
        return preset.provider if preset else "", self.model or ""

    @property
    def may_edit(self) -> bool:
        return self.command is not None or self.permissions in ("ask", "edit", "all")

    def make(self, seat: Seat) -> "CliMember | LiveMember":
        preset = self.find_preset()
        if preset is None or preset.live is None or not preset.live.is_possible or self.lifetime == "turn":
            return CliMember(self, seat.instructions, seat.run_environment, prompts=seat.prompts)
        return make_live_member(self, preset, preset.live, seat)

    def find_preset(self) -> Preset | None:
        return find_preset(self.preset) if self.preset else None

    def find_reader(self) -> Preset | None:
        """Return the preset whose reader is used; None for plain text."""
        if self.preset:
            return self.find_preset()
        return find_preset(self.output) if self.output and self.output != PLAIN_TEXT else None

    def list_command(
        self, resume: str | None = None, files: Sequence[HandedFile] = (), shaped: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """Return the command of the team file or of the preset.

        `resume` is the id of a conversation, `shaped` what tells a preset the form of its answer.
        """
        preset = self.find_preset()
        if preset is None:
            return (*(self.command or ()), *self.args)
        argv = preset.argv(self.model, self.permissions or "read", resume)
        return (*argv, *preset.attach(files), *shaped, *self.args)

    @classmethod
    def check(cls, entry: Mapping[str, object]) -> Iterator[Problem]:
        has_preset, has_command = entry.get("preset") is not None, entry.get("command") is not None
        if has_preset and has_command:
            yield Problem(path=("command",), text=Phrase("team.agent.cli_both"))
        elif not has_preset and not has_command:
            yield Problem(text=Phrase("team.agent.cli_none"))
        elif has_preset and entry.get("output") is not None:
            yield Problem(path=("output",), text=Phrase("team.agent.cli_output"))
        elif has_preset and entry.get("lifetime") == "turn":
            yield from _refuse(entry, ("effort", "mode", "mcp", "allow"), "team.agent.cli_turn")
        elif has_command:
            of_presets = ("model", "effort", "mode", "args", "mcp", "allow", "lifetime")
            yield from _refuse(entry, of_presets, "team.agent.cli_preset")
            if entry.get("permissions") not in (None, "read", "edit"):
                yield Problem(path=("permissions",), text=Phrase("team.agent.cli_unasked"))
        yield from check_servers(entry)

    @classmethod
    def choices(cls) -> dict[str, list[str]]:
        presets = PRESETS.names()
        return {"preset": sorted(presets), "output": sorted([PLAIN_TEXT, *presets])}


def _refuse(entry: Mapping[str, object], keys: Sequence[str], code: str) -> Iterator[Problem]:
    """Report each of these settings that the team file gives."""
    for key in keys:
        if entry.get(key) is not None:
            yield Problem(path=(key,), text=Phrase(code, field=key))


def make_live_member(spec: CliAgent, preset: Preset, protocol: LiveProtocol, seat: Seat) -> LiveMember:
    """Return the member that a preset plays over a program that stays between its turns."""
    servers = [name for server in spec.mcp for name in (*server.env, *filter(None, [server.key]))]
    setup = Setup(
        permissions=spec.permissions or "read",
        model=spec.model,
        effort=spec.effort,
        mode=spec.mode,
        args=spec.args,
        allow=spec.allow,
        servers=name_servers(spec.mcp),
    )
    return LiveMember(
        protocol,
        LiveSeat(
            name=preset.name,
            setup=setup,
            environment=pick_environment(
                (*spec.env, *preset.names, *servers), fixed={**preset.environment, **protocol.environment}
            ),
            run_environment=seat.run_environment,
            program=(preset.name,),
            clock=seat.clock,
            cwd=spec.cwd,
            instructions=seat.instructions,
            prompts=seat.prompts,
        ),
    )


class CliMember:
    """`prompts`: the team's own templates, by phase."""

    def __init__(
        self,
        spec: CliAgent,
        instructions: str,
        run_environment: RunEnvironment,
        bounds: Bounds | None = None,
        prompts: Mapping[str, str] = NO_PROMPTS,
    ) -> None:
        self._spec = spec
        self._instructions = instructions
        self._prompts = prompts
        self._run_environment = run_environment
        self._bounds = bounds or Bounds(output_bytes=EVENT_BYTES if spec.find_reader() else TEXT_BYTES)
        preset = spec.find_preset()
        names = (*spec.env, *(preset.names if preset else ()))
        self._environment = pick_environment(names, fixed=preset.environment if preset else None)

    async def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        """Play a turn. If the CLI no longer knows the conversation, start a new one, once."""
        known = self._find_conversation(turn)
        try:
            async with aclosing(self._play(turn, known)) as outputs:
                async for output in outputs:
                    yield output
                return
        except AgentError as error:
            if known is None or error.error_type != "lost":
                raise
        self._run_environment.conversations.forget(turn.session_id, turn.member.id)
        async with aclosing(self._play(turn, None)) as outputs:
            async for output in outputs:
                yield output

    def _find_conversation(self, turn: TurnInput) -> Conversation | None:
        """Return the conversation to resume. Tasks of a plan have none, because they may run at the same time."""
        if self._spec.preset is None or not turn.is_conversation:
            return None
        return self._run_environment.conversations.find(turn.session_id, turn.member.id, (self._spec.preset,))

    async def _play(self, turn: TurnInput, known: Conversation | None) -> AsyncGenerator[Output, None]:
        turn, sandbox = await asyncio.to_thread(self._hand_out, turn)
        context = build_context(turn, self._instructions, prompts=self._prompts, is_resumed=known is not None)
        with _shape_answer(self._spec.find_preset(), turn.job) as shaped:
            argv = self._spec.list_command(known.session_id if known else None, context.files, shaped)
            program = self._make_program(turn, argv, sandbox, context.text)
            async with aclosing(self._run(turn, known, program)) as outputs:
                async for output in outputs:
                    yield output

    def _make_program(self, turn: TurnInput, argv: tuple[str, ...], sandbox: Sandbox, text: str) -> Program:
        return Program(
            argv=argv,
            environment=self._environment,
            folder=self._run_environment.at(turn).place(self._spec.cwd),
            sandbox=sandbox,
            stdin=text.encode(errors="replace"),
        )

    async def _run(self, turn: TurnInput, known: Conversation | None, program: Program) -> AsyncGenerator[Output, None]:
        reading = _Reading(self._spec, known.spent if known else Usage())
        censor = Censor(os.environ, program.folder)
        try:
            async with start(program, self._bounds, self._run_environment.book) as child:
                async with aclosing(_listen(child, reading, turn.language)) as outputs:
                    async for output in outputs:
                        for safe in censor.admit(output):
                            yield safe
                result = await self._finish(child, reading, is_resumed=known is not None)
            result = replace(result, usage=await add_cost(result.usage, self._spec.model))
        except AgentError as error:
            error.usage = await add_cost(error.usage, self._spec.model)
            raise
        finally:
            self._keep(turn, reading)
        for safe in censor.admit(result):
            yield safe

    def _hand_out(self, turn: TurnInput) -> tuple[TurnInput, Sandbox]:
        """Write the attached files where the program sees them."""
        environment, handouts = self._run_environment.at(turn), self._run_environment.handouts
        if not turn.attachments:
            return turn, environment.sandbox
        return handouts.place(turn), environment.showing(handouts.find_folder(turn.session_id))

    def _keep(self, turn: TurnInput, reading: "_Reading") -> None:
        """Remember the conversation, also that of a turn that failed or was cancelled. It survives another model."""
        if turn.is_conversation and self._spec.preset:
            conversations, program = self._run_environment.conversations, (self._spec.preset,)
            conversations.keep(turn.session_id, turn.member.id, program, reading.session_id, reading.spent)

    async def _finish(self, child: Child, reading: "_Reading", *, is_resumed: bool) -> Result:
        ended = await child.ended()
        try:
            return reading.finish(ended)
        except AgentError as error:
            if is_resumed and _is_lost(f"{error} {ended.stderr}"):
                raise AgentError("lost", str(error)) from None
            raise censor_error(error, os.environ) from None


@contextmanager
def _shape_answer(preset: Preset | None, job: Job) -> Iterator[tuple[str, ...]]:
    """Yield the arguments that tell a preset the form of its answer; a file that they name is there in the block."""
    shape = SHAPES.get(job)
    if preset is None or shape is None or shape.strict_schema is None:
        yield ()
        return
    with TemporaryDirectory(prefix="moot-answer-") as folder:
        file = Path(folder) / "schema.json"
        file.write_text(json.dumps(shape.strict_schema))
        yield preset.shape(shape, file)


async def _listen(child: Child, reading: "_Reading", language: Language) -> AsyncGenerator[PartialOutput, None]:
    """Yield what a program writes, what it complains of on stderr, and a sign of it while it is silent."""
    told: asyncio.Queue[PartialOutput | None] = asyncio.Queue()

    def put(outputs: Iterable[PartialOutput]) -> None:
        for output in outputs:
            told.put_nowait(output)

    async def read() -> None:
        try:
            async with aclosing(child.chunks()) as chunks:
                async for chunk in chunks:
                    put(reading.feed(chunk))
            put(reading.close())
        finally:
            told.put_nowait(None)

    child.on_stderr = lambda line: put(reading.complain(line))
    task, silent_s = asyncio.create_task(read()), 0.0
    try:
        while True:
            try:
                output = await asyncio.wait_for(told.get(), SIGN_S)
            except TimeoutError:
                silent_s += SIGN_S
                yield Step(observation=render("agent_silent", language, detail=f"{silent_s:g}"))
                continue
            silent_s = 0.0
            if output is None:
                break
            yield output
        await task
    finally:
        child.on_stderr = None
        task.cancel()
        with suppress(asyncio.CancelledError, AgentError):
            await task


def _is_lost(message: str) -> bool:
    """Whether a message says that the CLI does not know the conversation to resume."""
    return any(
        words in message.lower() for words in ("no conversation found", "no rollout found", "session not found")
    ) or ("resum" in message.lower() and "error" in message.lower())


class _Reading:
    """Reads the output of one turn, with the reader of the CLI or as plain text."""

    def __init__(self, spec: CliAgent, spent: Usage) -> None:
        self._name = spec.preset or Path((spec.command or ("agent",))[0]).name
        reader = spec.find_reader()
        self._plain = None if reader else TextReader()
        self._lines = JsonLines()
        self._dialect = reader.reader(spent) if reader else None
        self._limiter = OutputLimiter(self._name)

    @property
    def session_id(self) -> str | None:
        return self._dialect.session_id if self._dialect else None

    @property
    def spent(self) -> Usage:
        return self._dialect.spent if self._dialect else Usage()

    def feed(self, chunk: bytes) -> Iterator[PartialOutput]:
        if self._plain:
            yield from self._limiter.admit([Delta(self._plain.feed(chunk))])
            return
        for event in self._lines.feed(chunk):
            if self._dialect:
                yield from self._limiter.admit(self._dialect.read(event))

    def complain(self, line: str) -> Iterator[PartialOutput]:
        """Yield what a line of stderr stands for."""
        yield from self._limiter.admit([Step(observation=f"{self._name}: {line}")])

    def close(self) -> Iterator[PartialOutput]:
        if self._plain:
            yield from self._limiter.admit([Delta(self._plain.close())])
            return
        for event in self._lines.close():
            if self._dialect:
                yield from self._limiter.admit(self._dialect.read(event))

    def finish(self, ended: Ended) -> Result:
        """Return the answer, or raise AgentError. The result that the CLI reported wins over its exit code."""
        result = self._dialect.result() if self._dialect else None
        if result is not None and not is_blank(result.text):
            return result
        if self._plain and ended.code == 0 and not is_blank(self._plain.text):
            return Result(text=self._plain.text)
        raise self._explain(ended, is_whole=result is not None)

    def _explain(self, ended: Ended, *, is_whole: bool) -> AgentError:
        reason = ended.stderr or self._lines.noise or (self._plain.text if self._plain else "")
        if ended.code in (137, -9):
            return AgentError("agent", f"{self._name} was killed (exit 137), perhaps for lack of memory")
        if ended.code < 0:
            return AgentError("agent", f"{self._name} was ended by signal {-ended.code}")
        if ended.code:
            return read_failure(self._name, reason[-1_000:] or f"exit code {ended.code}")
        if not is_whole and self._lines.noise:
            return AgentError("bad_agent_output", f"{self._name} wrote what cannot be read: {self._lines.noise[:500]}")
        if ended.stderr:
            return AgentError("agent", f"{self._name} wrote nothing but this to stderr: {ended.stderr[-500:]}")
        return AgentError("agent", f"{self._name} ended without an answer")
