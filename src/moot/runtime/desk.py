"""What a member can do in the middle of its turn besides writing: the Desk port for workers in this process.

A call waits for an answer at most `CALL_S`. Then the member is told to end its turn; the question stays open, and its
answer starts the member's next turn. All of this is in the log, so that it survives the process.
"""

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from moot.core.errors import Refused
from moot.core.flows.turns import TurnInput
from moot.core.session import inquiries, permissions
from moot.core.session.commands import AskHuman, AskMember, AskPeople, AwaitAnswer, HandOver, ReportBlocked, ShowFile
from moot.core.session.events import Option
from moot.core.session.grants import Grant
from moot.core.session.notices import tell_failure
from moot.core.session.state import Reply
from moot.core.session.tool_use import ToolUse
from moot.core.session.usage import NO_USAGE, Usage
from moot.core.texts import render
from moot.runtime.files import Files
from moot.runtime.ports import Clock, Report

CALL_S = 50.0  # CLIs give a tool a minute by default


class EmptyDesk:
    """The desk of a turn without people to answer: permissions get their default, and other calls are refused."""

    async def __call__(
        self,
        question: str,  # noqa: ARG002
        options: Sequence[Option] = (),  # noqa: ARG002
        *,
        key: str = "",  # noqa: ARG002
        default: str | None = None,
        **_: object,
    ) -> str | None:
        return default

    async def ask_human(self, question: str, options: Sequence[str] = (), to: str = "") -> str:  # noqa: ARG002
        raise Refused("stale_turn", detail="")

    async def ask_member(self, member: str, question: str) -> str:  # noqa: ARG002
        raise Refused("stale_turn", detail="")

    async def hand_over(self, member: str, reason: str = "") -> str:  # noqa: ARG002
        raise Refused("stale_turn", detail="")

    async def report_blocked(self, reason: str) -> str:  # noqa: ARG002
        raise Refused("stale_turn", detail="")

    async def show_file(self, path: str, data: bytes, caption: str = "") -> str:  # noqa: ARG002
        raise Refused("stale_turn", detail="")

    def spend(self, usage: Usage) -> None:
        """Drop it: there is no session to charge."""


class WorkerDesk(Struct, eq=False):
    """The desk of one turn.

    `answers` are the futures of the questions asked here, by their ids; the worker completes them.
    """

    _turn: TurnInput
    _report: Report
    _clock: Clock
    _files: Files
    _answers: dict[str, "asyncio.Future[Reply]"] = {}
    spent: Usage = NO_USAGE  # so far, as the agent noted it

    def answer(self, question_id: str, choice: str | None, answer: str | None) -> None:
        """Deliver an answer. After a crash it may come before the question is asked again."""
        future = self._answer_to(question_id)
        if not future.done():
            future.set_result(Reply(self._turn.turn_id, choice, answer))

    def _answer_to(self, question_id: str) -> "asyncio.Future[Reply]":
        return self._answers.setdefault(question_id, asyncio.get_running_loop().create_future())

    async def __call__(
        self,
        question: str,
        options: Sequence[Option] = (),
        *,
        key: str = "",
        default: str | None = None,
        tool: ToolUse | None = None,
        diff: str | None = None,
        grant: Grant | None = None,
    ) -> str | None:
        """Ask people for a permission. Returns the id of the option that they chose."""
        turn_id, key = self._turn.turn_id, key or question
        answer = self._answer_to(permissions.name_step(turn_id, key))
        await self._report(
            AskHuman(
                turn_id=turn_id,
                key=key,
                question=question,
                options=tuple(options),
                default=default,
                asked=tuple(self._answers),
                tool=tool,
                diff=diff,
                grant=grant,
            )
        )
        return (await asyncio.shield(answer)).choice  # shared by all who ask the same question

    async def ask_human(self, question: str, options: Sequence[str] = (), to: str = "") -> str:
        turn_id = self._turn.turn_id
        question_id = inquiries.name_question(turn_id, question)
        answer = self._answer_to(question_id)
        choices = tuple(Option(id=label, label=label) for label in options)
        asked = tuple(self._answers)
        await self._send(
            AskPeople(turn_id=turn_id, key=question, question=question, options=choices, to=to or None, asked=asked)
        )
        reply = await self._wait(question_id, answer)
        if reply is None:
            return render("tools.asked", self._turn.language)
        text = "\n".join(part for part in (reply.choice, reply.answer) if part)
        return text or render("tools.withdrawn", self._turn.language)

    async def ask_member(self, member: str, question: str) -> str:
        turn_id, key = self._turn.turn_id, f"{member}: {question}"
        question_id = inquiries.name_question(turn_id, key)
        answer = self._answer_to(question_id)
        asked = tuple(self._answers)
        await self._send(AskMember(turn_id=turn_id, key=key, to=member, question=question, asked=asked))
        reply, language = await self._wait(question_id, answer), self._turn.language
        if reply is None:
            return render("tools.asked", language)
        if reply.answer:
            return reply.answer
        reason = tell_failure(reply.choice or "withdrawn", "", language)
        return render("tools.no_answer", language, who=member, detail=reason)

    async def hand_over(self, member: str, reason: str = "") -> str:
        await self._send(HandOver(turn_id=self._turn.turn_id, to=member, reason=reason))
        return render("tools.handed_over", self._turn.language, who=member)

    async def report_blocked(self, reason: str) -> str:
        await self._send(ReportBlocked(turn_id=self._turn.turn_id, reason=reason))
        return render("tools.blocked", self._turn.language)

    async def show_file(self, path: str, data: bytes, caption: str = "") -> str:
        file = await self._files.put(self._turn.session_id, data, path)
        await self._send(ShowFile(turn_id=self._turn.turn_id, path=path, file=file, caption=caption))
        return render("tools.shown", self._turn.language, name=path)

    def spend(self, usage: Usage) -> None:
        self.spent = usage

    async def _send(self, command: AskPeople | AskMember | AwaitAnswer | HandOver | ReportBlocked | ShowFile) -> None:
        refusal = await self._report(command)
        if refusal is not None:
            raise refusal

    async def _wait(self, question_id: str, answer: "asyncio.Future[Reply]") -> Reply | None:
        """Return the answer; None if it does not come in time and will be the member's next message."""
        woken = asyncio.Event()
        answer.add_done_callback(lambda _: woken.set())
        timer = self._clock.call_later(CALL_S, woken.set)
        try:
            await woken.wait()
        finally:
            timer.cancel()
        if answer.done():
            return answer.result()
        try:
            await self._send(AwaitAnswer(turn_id=self._turn.turn_id, question_id=question_id))
        except Refused:
            if not answer.done():  # the turn is over
                raise
            return answer.result()  # it came at this very moment
        return None
