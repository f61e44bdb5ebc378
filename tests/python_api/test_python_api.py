"""What a program does with Moot: teams in code, asking, streaming, answering (docs/python.md)."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import moot
from moot.errors import AgentError, ConfigError, InvalidTeam, Refused
from tests.gateway.server import TOKEN, run, serve

PLAN = {"summary": "Two sides", "tasks": [{"id": "text", "title": "Write"}, {"id": "art", "title": "Draw"}]}


async def echo(turn: moot.Turn) -> str:
    return f"You said: {turn.message.text.strip() if turn.message else ''}"


async def writer(turn: moot.Turn) -> AsyncIterator[str | moot.Step | moot.Thinking]:
    yield moot.Thinking("three parts")
    yield moot.Step(thought="three parts")
    for part in ("one ", "two ", "three"):
        yield part


async def broken(turn: moot.Turn) -> str:
    raise AgentError("auth", "no key")


async def planner(turn: moot.Turn) -> moot.Result:
    return moot.Result(plan=PLAN) if turn.job == "plan" else moot.Result(text="Both sides are ready.")


async def worker(turn: moot.Turn) -> str:
    return f"{turn.task_id} is done"


def chat_team() -> Any:
    return moot.team(
        moot.human("ann"), moot.ai("bob", echo), moot.ai("carol", writer), moot.ai("dora", broken), language="en"
    )


def plan_team() -> Any:
    return moot.team(
        moot.human("ann"),
        moot.ai("pam", planner, role="planner"),
        moot.ai("will", worker, role="executor"),
        flow="plan",
        language="en",
    )


@run
async def test_ask_returns_what_an_ai_said_last() -> None:
    """`ask` posts a text, waits until the floor is back and returns the answer."""
    async with moot.open(chat_team()) as app:
        session = await app.session()
        assert await session.ask("hello", to="bob") == "You said: hello"
        assert await session.ask("hello [NEXT: carol]") == "one two three"


@run
async def test_ask_raises_what_kept_a_member_from_answering() -> None:
    """A failed turn without an answer is an AgentError that names the member."""
    async with moot.open(chat_team()) as app:
        session = await app.session()
        with pytest.raises(AgentError, match="dora failed: no key") as caught:
            await session.ask("hello", to="dora")
        assert caught.value.error_type == "auth"
        assert await session.ask("hello", to="bob") == "You said: hello"


@run
async def test_ask_raises_when_nobody_was_addressed() -> None:
    """A text that no AI was given is no empty answer: the error says to whom it can be given."""
    async with moot.open(chat_team()) as app:
        session = await app.session()
        with pytest.raises(Refused, match=r"Nobody was addressed\. Give it to: bob · carol · dora"):
            await session.ask("hello")


def test_what_is_no_member_is_said() -> None:
    """A name, or a list of members, instead of members."""
    for wrong in ("ann", [moot.human("ann"), moot.ai("bob", echo)]):
        with pytest.raises(TypeError, match=r"a team is made of moot\.human\(…\) and moot\.ai\(…\)"):
            moot.team(wrong, moot.ai("bob", echo))  # type: ignore[arg-type]


@run
async def test_sessions_and_events_can_be_printed() -> None:
    """On one line, without the stored bytes."""
    async with moot.open(chat_team()) as app:
        session = await app.session()
        events = [event async for event in session.say("hello", to="bob")]
    assert repr(session) == f"<session {session.id}>"
    assert repr(events[0]).startswith(f"<event 2 {events[0].timestamp} MessagePosted(member='ann', text='hello'")
    assert "hash" not in repr(events[0])


@run
async def test_a_question_of_a_running_turn_is_answered_inside_the_loop() -> None:
    """The floor is not back while a member waits for an answer, so that the events go on with it."""

    async def asking(turn: moot.Turn, ask: moot.Ask) -> str:
        return f"The answer is {await ask('Delete build/?')}."

    async with moot.open(moot.team(moot.human("ann"), moot.ai("bob", asking), language="en")) as app:
        session, names = await app.session(), []
        async for event in session.say("Clean up"):
            names.append(event.name)
            if event.name == "agent.user_confirm":
                (question,) = await session.questions()
                await session.submit(moot.commands.Answer(step_id=question.step_id, choice="allow"))
        assert names.index("agent.user_confirm") < names.index("turn.completed")
        assert await session.ask("Again") == "bob asks for permission: Delete build/?"


@run
async def test_ask_returns_the_question_that_people_are_asked_instead() -> None:
    """A plan that waits for approval is what `ask` returns; approving it returns the answer."""
    async with moot.open(plan_team()) as app:
        session = await app.session()
        text = await session.ask("A leaflet, please")
        (question,) = await session.questions()
        assert text == question.text
        assert [task["id"] for task in question.tasks] == ["text", "art"]
        assert await question.approve(tasks=question.tasks[:1]) == "Both sides are ready."
        assert await session.questions() == []


@pytest.mark.parametrize(("text", "status"), [("批准", "done"), ("approve", "done"), ("拒绝", "cancelled")])
@run
async def test_an_answer_in_words_is_read_like_one_that_is_typed(text: str, status: str) -> None:
    """`answer` takes labels, numbers and yes or no in every language."""
    async with moot.open(plan_team()) as app:
        session = await app.session()
        await session.ask("A leaflet, please")
        (question,) = await session.questions()
        reply = await question.answer(text)
        assert (reply == "Both sides are ready.") == (status == "done")


@run
async def test_ask_does_not_wait_for_a_turn_that_waits_for_people() -> None:
    """A question in the middle of a turn is returned while the turn is held; its answer lets the turn go on."""

    async def careful(turn: moot.Turn, ask: moot.Ask) -> str:
        return f"{await ask('First?')} {await ask('Second?')}"

    async with moot.open(chat_team(), agents={"bob": careful}) as app:
        session = await app.session()
        assert "First?" in await session.ask("hello", to="bob")
        (first,) = await session.questions()
        assert "Second?" in await first.choose("allow")
        (second,) = await session.questions()
        assert await second.choose("reject") == "allow reject"


@run
async def test_a_question_that_is_closed_refuses_an_answer() -> None:
    """Answering twice is refused, and so is an option that the question does not have."""
    async with moot.open(plan_team()) as app:
        session = await app.session()
        await session.ask("A leaflet, please")
        (question,) = await session.questions()
        with pytest.raises(Refused):
            await question.choose("maybe")
        await question.reject("too short")
        with pytest.raises(Refused):
            await question.approve()


@run
async def test_stream_yields_text_while_it_is_written() -> None:
    """Pieces come between the events, in order, with the member who writes them."""
    async with moot.open(chat_team()) as app:
        session = await app.session()
        items = [item async for item in session.stream("hello", to="carol")]
    pieces = [item for item in items if isinstance(item, moot.Piece)]
    assert [(piece.member, piece.text) for piece in pieces if not piece.is_thinking] == [
        ("carol", "one "),
        ("carol", "two "),
        ("carol", "three"),
    ]
    assert [piece.text for piece in pieces if piece.is_thinking] == ["three parts"]
    names = [item.name for item in items if isinstance(item, moot.Event)]
    assert names[0] == "message.posted"
    assert names[-1] == "session.paused"
    started = next(at for at, item in enumerate(items) if isinstance(item, moot.Event) and item.name == "turn.started")
    completed = next(
        at for at, item in enumerate(items) if isinstance(item, moot.Event) and item.name == "turn.completed"
    )
    assert all(started < items.index(piece) < completed for piece in pieces)


@run
async def test_stream_knows_who_works_on_a_task() -> None:
    """Text of a task that an executor works on names the executor."""

    async def typist(turn: moot.Turn) -> AsyncIterator[str]:
        yield f"{turn.task_id} "
        yield "is done"

    async with moot.open(plan_team(), agents={"will": typist}) as app:
        session = await app.session()
        await session.ask("A leaflet, please")
        (question,) = await session.questions()
        answering = asyncio.create_task(question.approve())
        members = {item.member async for item in session.stream() if isinstance(item, moot.Piece)}
        await answering
    assert members <= {"will", "pam"}


@run
async def test_a_stream_that_is_left_ends_quietly() -> None:
    """Leaving the loop early stops listening; the session goes on."""
    async with moot.open(chat_team()) as app:
        session = await app.session()
        async for item in session.stream("hello", to="carol"):
            if isinstance(item, moot.Piece):
                break
        assert [event.name async for event in session.settle()][-1:] in ([], ["session.paused"])


def test_run_sync_needs_no_event_loop() -> None:
    """One question to a team, in a plain program."""
    assert moot.run_sync(chat_team(), "hello", to="bob") == "You said: hello"


def test_in_a_team_in_code_with_one_ai_it_is_given_what_names_nobody() -> None:
    """Unless `chat` says otherwise."""
    bob = moot.ai("bob", {"type": "script", "replies": ["hi"]})
    assert moot.run_sync(moot.team(moot.human("ann"), bob), "hello") == "hi"
    with pytest.raises(Refused, match="Nobody was addressed"):
        moot.run_sync(moot.team(moot.human("ann"), bob, chat={"default": "ann"}), "hello")


def test_who_asks_somebody_unknown_is_told_who_is_there() -> None:
    """Not an empty answer; a refusal is a sentence."""
    with pytest.raises(moot.errors.Refused, match=r"Cannot resolve \[NEXT:zoe\]. Available members: ann, bob"):
        moot.run_sync(chat_team(), "hello", to="zoe")


@run
async def test_run_sync_says_what_to_use_in_an_event_loop() -> None:
    """Where a loop runs, `session.ask` is the way."""
    with pytest.raises(TypeError, match=r"session\.ask"):
        moot.run_sync(chat_team(), "hello", to="bob")


@pytest.mark.parametrize(
    ("agents", "error", "sentence"),
    [
        ({"bobb": echo}, ConfigError, "agents= names 'bobb'.*did you mean 'bob'"),
        ({"ann": echo}, ConfigError, "agents= names 'ann', which is not an AI member"),
        ({"bob": lambda _turn: "hi"}, TypeError, "member 'bob' cannot be played by a plain function"),
        ({"bob": "claude"}, TypeError, "member 'bob' cannot be played by str"),
    ],
)
@run
async def test_agents_that_cannot_play_are_named(agents: Any, error: type[Exception], sentence: str) -> None:
    """A misspelt member and a function that is not async are errors at the start, with the member's id."""
    with pytest.raises(error, match=sentence):
        async with moot.open(chat_team(), agents=agents):
            pass


def test_a_team_in_code_is_checked_like_a_file() -> None:
    """Problems of a team are found when it is built."""
    with pytest.raises(InvalidTeam, match="human"):
        moot.team(moot.ai("bob", echo))
    with pytest.raises(TypeError, match="member 'bob' cannot be played by a plain function"):
        moot.team(moot.human("ann"), moot.ai("bob", print))  # type: ignore[arg-type]


@run
async def test_a_team_in_code_may_say_what_a_file_says() -> None:
    """Agents of a team in code may be mappings, as in a team file."""
    team = moot.team(moot.human("ann"), moot.ai("bob", {"type": "script", "replies": ["hi"]}), language="en")
    async with moot.open(team) as app:
        assert await (await app.session()).ask("hello", to="bob") == "hi"


@run
async def test_unknown_teams_are_refused_with_those_there_are() -> None:
    """`moot.open` needs a team, and a session one that is open."""
    with pytest.raises(ConfigError, match="no team to open"):
        async with moot.open():
            pass
    for wrong in (None, 3, [chat_team()], b"team.yaml"):
        with pytest.raises(TypeError, match="a team is a path, the name of a built-in team, or a mapping, not "):
            async with moot.open(wrong):  # type: ignore[arg-type]
                pass
    async with moot.open(chat_team()) as app:
        with pytest.raises(Refused) as caught:
            await app.session(team="zzz")
        assert moot.errors.explain(caught.value, "en") == "There is no team zzz here: use one of team"


@run
async def test_a_session_on_a_server_has_the_same_methods(tmp_path: Path) -> None:
    """`ask`, `stream` and `questions` work over the wire as they do in this process."""
    async with serve(tmp_path, chat_team()) as server, moot.connect(f"http://127.0.0.1:{server.port}", TOKEN) as client:
        session = await client.session()
        assert await session.ask("hello", to="bob") == "You said: hello"
        items = [item async for item in session.stream("hello", to="carol")]
        pieces = [item for item in items if isinstance(item, moot.Piece)]
        assert "".join(piece.text for piece in pieces if not piece.is_thinking) == "one two three"
        assert {piece.member for piece in pieces} == {"carol"}
        assert await session.questions() == []
        with pytest.raises(AgentError, match="dora failed"):
            await session.ask("hello", to="dora")
