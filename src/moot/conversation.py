"""What a program does in a session: the same methods in this process (`moot.open`) and on a server (`moot.connect`).

`Conversation` builds them on four that both kinds of session have: `view`, `submit`, and the two ways to follow what a
command leads to, with streamed text and without.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from moot.core.codec import Event
from moot.core.errors import AgentError, Refused
from moot.core.facts import Fact
from moot.core.flows.registry import find_flow
from moot.core.session.attachments import Attachment, FileRef
from moot.core.session.commands import Answer, HumanCommand, Post
from moot.core.session.events import NoticePosted, Option, TurnFailed
from moot.core.session.team import Kind
from moot.core.session.typed_answers import read_answer
from moot.core.session.workspace_view import Changes, FileDiff
from moot.core.view import Question, View

UNHEARD = ("unresolved", "nobody_addressed")  # notices that nobody was given what was said


class Piece(Struct, frozen=True, kw_only=True):
    """A piece of text while a member writes it: shown, not logged. `is_thinking`: of a thought, not of the message."""

    turn_id: str
    text: str
    member: str = ""
    is_thinking: bool = False


class Conversation(ABC):
    """A handle on one session."""

    id: str

    def __repr__(self) -> str:
        return f"<session {self.id}>"

    @abstractmethod
    async def view(self) -> View:
        """The session as every interface shows it, as of now."""

    @abstractmethod
    async def submit(self, command: HumanCommand) -> object:
        """Have a command executed; it is durable when this returns. Raises Refused."""

    @abstractmethod
    async def changes(self, *, task: str | None = None, turn: str | None = None, offset: int = 0) -> Changes:
        """List the files that the whole work, one task or one turn changed, a page at a time.

        Raises:
            Refused: nothing was changed; NotFound if the session is on a server.
        """

    @abstractmethod
    async def diff(self, path: str, *, task: str | None = None, turn: str | None = None, offset: int = 0) -> FileDiff:
        """Read the unified diff of one of these files, a page at a time. Raises like `changes`."""

    @abstractmethod
    def history(self, after: int = 0) -> AsyncGenerator[Event, None]:
        """Yield the events behind `after` that are logged now."""

    @abstractmethod
    def _run(self, command: HumanCommand | None) -> AsyncGenerator[Event, None]:
        """Execute a command and yield events until the floor is back with a human."""

    @abstractmethod
    def _run_live(self, command: HumanCommand | None) -> AsyncGenerator[Event | Piece, None]:
        """Like `_run`, with what members write while they write it. The member of a piece is not known yet."""

    @abstractmethod
    async def attach(self, data: bytes, name: str) -> Attachment:
        """Keep a file with the session, for the `attachments` of what is said later. It is durable when this returns.

        Its type is read from its content; `name` is what people read. Raises Refused if it is too large, or of a type
        that nobody could use.
        """

    def say(
        self,
        text: str,
        by: str | None = None,
        *,
        to: str | Sequence[str] = (),
        inputs: Mapping[str, Any] | None = None,
        attachments: Sequence[Attachment] = (),
    ) -> AsyncIterator[Event]:
        """Post a text and yield events until the floor is back with a human. Nothing happens before it is iterated.

        Args:
            by: the human who speaks; the first one by default. A client sends it as `[FROM: by]`.
            to: the member who speaks next, or several, as `[NEXT:]` and mentions name them.
            inputs: values of keys that people give in the supervisor flow.
            attachments: what `attach` returned.

        Raises:
            Refused: the session does not accept it.
        """
        return self._run(_post(text, by, to, inputs, attachments))

    async def ask(
        self,
        text: str,
        *,
        to: str | Sequence[str] = (),
        by: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        attachments: Sequence[Attachment] = (),
    ) -> str:
        """Post a text, wait until the floor is back with a human, and return what an AI said last.

        If people are asked something instead, return the text of that question; `questions` gives it to be answered.
        The arguments are those of `say`.

        Raises:
            Refused: the session does not accept it, or it is addressed to nobody of the team.
            AgentError: nobody answered because a member's turn failed; the message names the member.
        """
        return await self._reply(_post(text, by, to, inputs, attachments))

    async def stream(
        self,
        text: str | None = None,
        *,
        to: str | Sequence[str] = (),
        by: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        attachments: Sequence[Attachment] = (),
    ) -> AsyncIterator[Event | Piece]:
        """Like `say`, and yield what members write while they write it, as `Piece`s between the events.

        Without a text, follow what runs. A piece is never repeated: the message that follows contains all of it.
        """
        command = None if text is None else _post(text, by, to, inputs, attachments)
        members = {turn.turn_id: turn.member for turn in (await self.view()).running}
        early: list[Piece] = []  # that came before the event which says whose turn it is
        async for item in self._run_live(command):
            if isinstance(item, Event):
                members.update(_find_turn(item.fact))
                yield item
                ready, early = early, []
            else:
                ready = [item]
            for piece in ready:
                if piece.turn_id in members:
                    yield replace(piece, member=members[piece.turn_id])
                else:
                    early.append(piece)

    def answer(
        self,
        step_id: str,
        *,
        by: str | None = None,
        confirmed: bool | None = None,
        choice: str | None = None,
        answer: str | None = None,
        tasks: Iterable[Any] | None = None,
        selected_ids: Iterable[str] | None = None,
        custom_input: str | None = None,
        state: dict[str, Any] | None = None,
    ) -> AsyncIterator[Event]:
        """Answer an open question and yield events like `say`. `questions` has methods that need no step id."""
        return self._run(
            Answer(
                step_id=step_id,
                by=by,
                confirmed=confirmed,
                choice=choice,
                answer=answer,
                tasks=None if tasks is None else tuple(tasks),
                selected_ids=None if selected_ids is None else tuple(selected_ids),
                custom_input=custom_input,
                state=state,
            )
        )

    async def questions(self) -> list["OpenQuestion"]:
        """The questions that wait for an answer, oldest first."""
        return [OpenQuestion(question, self) for question in (await self.view()).questions]

    async def settle(self) -> AsyncIterator[Event]:
        """Yield what runs, e.g. after a restart, until the floor is back with a human."""
        async for event in self._run(None):
            yield event

    async def _reply(self, command: HumanCommand) -> str:
        """Execute a command and return what was said last, as `ask` does."""
        view = await self.view()
        tell = find_flow(view.flow).lines.messages
        ais = {member.id for member in view.members if member.kind is Kind.AI}
        reply, failure, unheard = "", None, None
        async with aclosing(self._run(command)) as events:
            async for event in events:
                if isinstance(event.fact, TurnFailed):
                    failure = event.fact
                elif isinstance(event.fact, NoticePosted) and event.fact.code in UNHEARD:
                    unheard = event.fact
                elif say := tell.get(type(event.fact)):
                    message = say(event.fact)
                    if message.member in ais and message.text.strip():
                        reply, failure = message.text.strip(), None
                view = await self.view()
                if view.is_held:
                    break
        view = await self.view()
        if view.questions:
            return view.questions[0].text
        if failure and not reply:
            raise AgentError(failure.error_type, f"{view.name(failure.member)} failed: {failure.message}")
        if unheard and not reply:
            raise Refused(unheard.code, names=unheard.names, available=unheard.available)
        return reply


class OpenQuestion:
    """A question that waits for one answer.

    Its methods answer it, wait until the floor is back with a human, and return what `Conversation.ask` returns. They
    raise Refused if it takes no such answer or is not open any more.
    """

    def __init__(self, question: Question, conversation: Conversation) -> None:
        self._question = question
        self._conversation = conversation

    def __repr__(self) -> str:
        options = ", ".join(option.id for option in self.options)
        return f"<question {self.step_id}: {self.text!r} ({options or 'free text'})>"

    @property
    def step_id(self) -> str:
        return self._question.step_id

    @property
    def kind(self) -> str:
        return self._question.kind

    @property
    def text(self) -> str:
        return self._question.text

    @property
    def options(self) -> tuple[Option, ...]:
        return self._question.options

    @property
    def tasks(self) -> tuple[dict[str, Any], ...]:
        """The tasks of a plan that is to be confirmed; edit a copy and give it to `approve`."""
        return self._question.tasks or ()

    async def approve(self, *, tasks: Iterable[Any] | None = None, by: str | None = None) -> str:
        """Say yes. `tasks` is the edited plan, if the question is about one."""
        return await self._answer(confirmed=True, tasks=None if tasks is None else tuple(tasks), by=by)

    async def reject(self, feedback: str | None = None, *, by: str | None = None) -> str:
        """Say no, and what should be different."""
        return await self._answer(confirmed=False, answer=feedback, by=by)

    async def choose(self, *option_ids: str, by: str | None = None) -> str:
        """Choose an option by its id, or several where the question takes several."""
        if len(option_ids) == 1:
            return await self._answer(choice=option_ids[0], by=by)
        return await self._answer(selected_ids=option_ids, by=by)

    async def answer(self, text: str, *, by: str | None = None) -> str:
        """Answer in words. A text that names an option, in any language, chooses it, as if a person typed it."""
        members = (await self._conversation.view()).members
        return await self._answer(**(read_answer(self._question, text, members) or {"answer": text}), by=by)

    async def _answer(self, **fields: Any) -> str:
        return await self._conversation._reply(Answer(step_id=self.step_id, **fields))


def _post(
    text: str,
    by: str | None,
    to: str | Sequence[str],
    inputs: Mapping[str, Any] | None,
    attachments: Sequence[Attachment],
) -> Post:
    names = (to,) if isinstance(to, str) else tuple(to)
    files = tuple(FileRef(sha256=file.sha256, name=file.name) for file in attachments)
    return Post(text=text, by=by, to=names, inputs=dict(inputs) if inputs else None, attachments=files)


def _find_turn(fact: Fact) -> dict[str, str]:
    """The id of the turn, or of the task's dispatch, that a fact is about, and its member."""
    member = getattr(fact, "member", None)
    turn_id = getattr(fact, "turn_id", None) or getattr(fact, "dispatch_id", None)
    return {turn_id: member} if member and turn_id else {}
