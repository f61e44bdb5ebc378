"""Agent type `acp`: a member played by an agent that speaks the Agent Client Protocol over stdio, one process per turn.

The library is an optional extra (`pip install moot[acp]`) and is imported when such a member has its first turn.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta, Struct

from moot.agents.acp.permits import Permit, PermitOption, PermitRequest, ask_people, deny
from moot.agents.acp.updates import UpdateReader, describe_change, describe_tool
from moot.agents.acp.wire import OurSide, Pipe, explain_error
from moot.agents.agent_type import AgentType, Seat
from moot.agents.cli.dialect import shorten, word
from moot.agents.cli.failures import read_failure
from moot.agents.cli.lines import Json
from moot.agents.cli.memory import Conversation
from moot.agents.context import NO_PROMPTS, Context, build_context
from moot.agents.environment import hide_secrets, pick_environment
from moot.agents.output_limits import Censor, OutputLimiter, PartialOutput, censor_error
from moot.agents.process import Bounds, Child, Program, start
from moot.agents.run_environment import RunEnvironment
from moot.config.agent_specs import EnvAllowList, Extra, Folder
from moot.config.quantities import Command
from moot.config.trust import Start
from moot.core.errors import AgentError
from moot.core.flows.turns import TurnInput
from moot.core.session.usage import Usage
from moot.core.text import clean, is_blank
from moot.runtime.ports import Ask, Output, Result, Step

if TYPE_CHECKING:
    from acp.client.connection import ClientSideConnection

START_S = 120.0  # some agents install packages at their first start
CANCEL_S = 2.0
QUIET_S = 0.25  # without an update, after which a replayed history is complete
REPLAY_S = 30.0
EVENT_BYTES = 64 * 1_048_576
_ID = re.compile(r"[\w.:-]{1,200}")


class AcpAgent(AgentType, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag="acp"):
    """Any agent that speaks the Agent Client Protocol over stdio."""

    command: Annotated[Command, Meta(description="the program, as a list")]
    cwd: Folder = None
    env: EnvAllowList = ()

    extra: ClassVar[Extra] = Extra("acp", "acp")

    def starts(self, member: str) -> tuple[Start, ...]:
        return (Start(member=member, argv=self.command, folder=self.cwd or "", names=self.env),)

    def make(self, seat: Seat) -> "AcpMember":
        return AcpMember(self, seat.instructions, seat.run_environment, prompts=seat.prompts)


class AcpMember:
    """Plays turns. `permit` answers permission requests; without it people are asked, if the turn offers a way to."""

    def __init__(
        self,
        spec: AcpAgent,
        instructions: str,
        run_environment: RunEnvironment,
        permit: Permit | None = None,
        bounds: Bounds | None = None,
        prompts: Mapping[str, str] = NO_PROMPTS,
    ) -> None:
        self._spec = spec
        self._build = partial(build_context, instructions=instructions, prompts=prompts)
        self._run_environment = run_environment
        self._permit = permit
        self._bounds = bounds or Bounds(output_bytes=EVENT_BYTES)
        self._environment = pick_environment(spec.env)
        self._hide = partial(hide_secrets, environment=self._environment)

    def act(self, turn: TurnInput) -> AsyncGenerator[Output, None]:
        return self._act(turn, self._permit or deny, asks_people=False)

    def act_asking(self, turn: TurnInput, ask: Ask) -> AsyncGenerator[Output, None]:
        return self._act(turn, self._permit or ask_people(ask, self._hide), asks_people=self._permit is None)

    async def _act(self, turn: TurnInput, permit: Permit, *, asks_people: bool) -> AsyncGenerator[Output, None]:
        await asyncio.to_thread(_check_library)  # it takes a moment to load, which other sessions should not wait for
        program = Program(
            argv=self._spec.command,
            environment=self._environment,
            folder=self._run_environment.place(self._spec.cwd),
            sandbox=self._run_environment.sandbox,
            talks=True,
        )
        async with start(program, self._bounds, self._run_environment.book) as child:
            talk = _Talk(child, self._spec, turn, permit, asks_people=asks_people)
            censor = Censor(self._environment)
            try:
                known = self._find_conversation(turn)
                task = asyncio.create_task(talk.run(self._build, known))
                try:
                    while output := await talk.outputs.get():
                        for safe in censor.admit(output):
                            yield safe
                        talk.outputs.task_done()
                    result = await self._finish(task, talk, child)
                finally:
                    await talk.close(task)
            finally:
                self._keep(turn, talk)
        for safe in censor.admit(result):
            yield safe

    async def _finish(self, task: "asyncio.Task[Result]", talk: "_Talk", child: Child) -> Result:
        try:
            return await task
        except AgentError as error:
            failure = error
        except Exception as error:  # the library's, or what a broken agent provokes in it
            failure = await self._explain(error, talk, child)
        raise censor_error(failure, self._environment) from None

    async def _explain(self, error: Exception, talk: "_Talk", child: Child) -> AgentError:
        name = Path(self._spec.command[0]).name
        if talk.pipe.failure:
            return talk.pipe.failure
        if isinstance(error, ConnectionError | BrokenPipeError):
            ended = await child.ended()
            reason = ended.stderr or talk.pipe.noise or f"exit code {ended.code}"
            return read_failure(name, f"it ended in the middle of a turn: {reason[-1_000:]}")
        if getattr(error, "code", None) == -32000:
            return AgentError("auth", f"{name} wants a login: {explain_error(name, error)}")
        return read_failure(name, explain_error(name, error))

    def _find_conversation(self, turn: TurnInput) -> Conversation | None:
        if turn.job != "chat":
            return None
        return self._run_environment.conversations.find(turn.session_id, turn.member.id, self._spec.command, is_id)

    def _keep(self, turn: TurnInput, talk: "_Talk") -> None:
        """Remember the conversation, also that of a turn that failed or was cancelled."""
        if turn.job == "chat" and talk.was_prompted:
            conversations = self._run_environment.conversations
            conversations.keep(turn.session_id, turn.member.id, self._spec.command, talk.conversation, Usage(), is_id)


def is_id(text: str | None) -> bool:
    """Whether a text may be the id of a session. It is sent as JSON and never becomes part of a command line."""
    return bool(text and _ID.fullmatch(text))


def _check_library() -> None:
    try:
        import acp.schema  # noqa: F401
    except ImportError:
        raise AgentError("config", "no library for ACP agents: install moot[acp]") from None


class _Talk:
    """One turn over one connection. None in `outputs` marks the end."""

    def __init__(self, child: Child, spec: AcpAgent, turn: TurnInput, permit: Permit, *, asks_people: bool) -> None:
        self.outputs: asyncio.Queue[PartialOutput | None] = asyncio.Queue()
        self.pipe = Pipe(child, self._receive_update)
        self._child = child
        self.conversation: str | None = None
        self.was_prompted = False
        self._turn = turn
        self._permit = permit
        self._asks_people = asks_people
        self._reader = UpdateReader()
        self._is_replaying = False
        self._has_replayed = True  # an update came since it was looked at last
        self._questions: dict[str, list[str]] = {}  # what was asked → the calls that it was asked for
        self._asking = 0  # permissions that wait for an answer
        self._folder = str((child.folder or Path()).absolute())
        self._name = Path(spec.command[0]).name
        self._limiter = OutputLimiter(self._name)
        self._connection = self._connect()

    def _connect(self) -> "ClientSideConnection":
        import acp

        return acp.connect_to_agent(OurSide(self._ask), self.pipe)  # type: ignore[arg-type]

    async def run(self, build: Callable[..., Context], known: Conversation | None) -> Result:
        try:
            async with asyncio.timeout(START_S):
                is_resumed = await self._open(known)
            response = await self._prompt(build(self._turn, is_resumed=is_resumed).text)
            self._emit(*self._reader.end_thought())
            return self._read_end(response)
        except TimeoutError:
            raise AgentError("timeout", f"{self._name} did not start a session in {START_S:g} s") from None
        finally:
            self.outputs.put_nowait(None)

    async def _open(self, known: Conversation | None) -> bool:
        """Open a session: the known one if the agent can resume it, else a new one. Return whether it was resumed."""
        import acp
        from acp.schema import ClientCapabilities, Implementation

        about = Implementation(name="moot", title="Moot", version="1")
        answer = await self._connection.initialize(
            protocol_version=acp.PROTOCOL_VERSION, client_capabilities=ClientCapabilities(), client_info=about
        )
        if known and await self._resume(known.session_id, answer.model_dump(by_alias=True, mode="json")):
            self.conversation = known.session_id
            return True
        made = await self._connection.new_session(cwd=self._folder, mcp_servers=[])
        self.conversation = made.session_id
        return False

    async def _resume(self, session_id: str, answer: Json) -> bool:
        """Resume a session, or load it if resuming is not offered or refused. Return whether one of them worked."""
        import acp

        capabilities: Any = answer.get("agentCapabilities") or {}
        self._is_replaying = True
        try:
            if (capabilities.get("sessionCapabilities") or {}).get("resume") is not None:
                with suppress(acp.RequestError):  # some agents offer it and do not have it
                    await self._connection.resume_session(session_id=session_id, cwd=self._folder, mcp_servers=[])
                    return True
            if not capabilities.get("loadSession"):
                return False
            await self._connection.load_session(session_id=session_id, cwd=self._folder, mcp_servers=[])
            await self._skip_history()
        except acp.RequestError:
            return False  # the agent no longer knows it
        finally:
            self._is_replaying = False
        return True

    async def _skip_history(self) -> None:
        """Wait until no more updates arrive: some agents send the history after they have answered the request."""
        async with asyncio.timeout(REPLAY_S):
            while self._has_replayed:
                self._has_replayed = False
                await asyncio.sleep(QUIET_S)

    async def _prompt(self, text: str) -> Json:
        import acp

        assert self.conversation is not None  # noqa: S101 - opened before
        self.was_prompted = True
        response = await self._connection.prompt(session_id=self.conversation, prompt=[acp.text_block(text)])
        return dict(response.model_dump(by_alias=True, mode="json", exclude_none=True))

    def _read_end(self, response: Json) -> Result:
        reason = word(response, "stopReason")
        usage = self._reader.usage(response)
        if reason == "refusal":
            raise AgentError("refused", f"{self._name} refused: {shorten(self._reader.text)[:600]}")
        if reason == "cancelled":
            raise AgentError("agent", f"{self._name} stopped by itself")
        if is_blank(self._reader.text):
            raise AgentError("agent", f"{self._name} ended without an answer ({reason})")
        return Result(text=clean(self._reader.text).strip(), usage=usage)

    def _receive_update(self, update: Json) -> None:
        if self._is_replaying:
            self._has_replayed = True
            return
        self._emit(*self._reader.read(update))

    def _emit(self, *outputs: PartialOutput) -> None:
        try:
            for output in self._limiter.admit(outputs):
                self.outputs.put_nowait(output)
        except AgentError as error:
            self.pipe.failure = error
            raise

    async def _ask(self, call: Json, options: list[Json]) -> str | None:
        self._emit(*self._reader.read_tool(call))
        known = tuple(
            PermitOption(id=word(option, "optionId"), name=clean(word(option, "name")), kind=word(option, "kind"))
            for option in options
        )
        title = describe_tool(call).action or ""
        request = PermitRequest(
            session_id=self._turn.session_id,
            turn_id=self._turn.turn_id,
            member=self._turn.member.id,
            key=self._name_question(word(call, "toolCallId"), title),
            title=title,
            options=known,
            change=describe_change(call),
        )
        self._asking += 1
        self._child.is_waiting_for_us = True
        try:
            await self.outputs.join()  # the step is shown before people are asked about it
            chosen = await self._permit(request)
        finally:
            self._asking -= 1
            self._child.is_waiting_for_us = bool(self._asking)
        picked = next((option for option in known if option.id == chosen), None)
        if not self._asks_people:  # otherwise question and answer are in the log
            answer = picked.name if picked else "no"
            self._emit(Step(observation=shorten(f"asked for permission: {request.title} → {answer}")))
        return picked.id if picked else None

    def _name_question(self, call_id: str, title: str) -> str:
        """Name a question by its title and how often that was asked: a turn that runs again has other call ids."""
        calls = self._questions.setdefault(title, [])
        if call_id not in calls:
            calls.append(call_id)
        return f"{title} #{calls.index(call_id) + 1}"

    async def close(self, task: "asyncio.Task[Result]") -> None:
        """Close the connection. If the turn still runs, the agent is asked to cancel it first."""
        if not task.done() and self.conversation:
            with suppress(Exception):
                await self._connection.cancel(session_id=self.conversation)
                await asyncio.wait({task}, timeout=CANCEL_S)
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task
        with suppress(Exception):
            await self._connection.close()
