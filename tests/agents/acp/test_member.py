"""Members played by ACP agents: a small one of our own, and what real ones were recorded to tell."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from moot.agents.acp import acp_agent as acp_member
from moot.agents.acp.acp_agent import AcpAgent, AcpMember
from moot.agents.acp.permits import Permit, PermitOption, PermitRequest, ask_people, deny
from moot.agents.acp.updates import UpdateReader
from moot.agents.cli.memory import Conversations
from moot.agents.process import Bounds
from moot.agents.run_environment import RunEnvironment
from moot.app import open_app
from moot.core import limits
from moot.core.errors import AgentError
from moot.core.flows.registry import show
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import Answer
from moot.core.session.events import MessagePosted, Option, StepAsked, StepClosed, TurnStepped
from moot.core.session.usage import Usage
from moot.runtime.ports import Delta, Output, Result, Step, Thinking
from tests.agents.acp.permits import allow
from tests.agents.cli.streams import pieces, steps
from tests.agents.programs import nothing_left
from tests.agents.turns import chat_turn
from tests.runtime.apps import TRIO, facts, has, run, say

AGENT = Path(__file__).with_name("fake_agent.py")
HELLO = chat_turn(("alice", "hello"))


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    with nothing_left():
        yield


def make(mode: str, around: RunEnvironment | None = None, permit: Permit | None = None, **bounds: Any) -> AcpMember:
    spec = AcpAgent(command=(sys.executable, "-IS", str(AGENT), mode), env=("MY_API_KEY",))
    return AcpMember(spec, "Be brief.", around or RunEnvironment(), permit, Bounds(**bounds) if bounds else None)


def play(member: AcpMember, turn: TurnInput = HELLO) -> list[Output]:
    async def act() -> list[Output]:
        async with aclosing(member.act(turn)) as outputs:
            return [output async for output in outputs]

    return asyncio.run(asyncio.wait_for(act(), 60))


def fail(member: AcpMember) -> AgentError:
    with pytest.raises(AgentError) as caught:
        play(member)
    return caught.value


def told(outputs: list[Output]) -> list[str]:
    return steps(output for output in outputs if isinstance(output, Step))


def test_an_agent_s_turn_is_steps_pieces_and_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thoughts, tools and plans are logged, the answer is the last message; warnings before it are not part of it."""
    monkeypatch.setenv("MY_API_KEY", "sk-canary-0123456789")
    outputs = play(make("answer"))
    assert told(outputs) == [
        "thought let me see",
        "thought Warning: odd model",
        "action execute: ls -l",
        "observation a b",
        "thought ☑ one\n☐ two",
    ]
    assert "".join(each.text for each in outputs if isinstance(each, Thinking)) == "let me see"
    usage = Usage(input_tokens=7, output_tokens=3, cost_usd=0.5)
    assert outputs[-1] == Result(text="told True key [MY_API_KEY]", usage=usage)


def test_permissions_are_denied_by_default() -> None:
    """An agent does nothing that it has to ask for; that it asked is logged."""
    outputs = play(make("ask"))
    assert outputs[-1] == Result(text='{"optionId": "reject_", "outcome": "selected"}')
    assert told(outputs) == [
        "action execute: touch x",
        "observation asked for permission: execute: touch x → reject once",
    ]


def test_permissions_are_asked_of_a_port() -> None:
    """Who answers sees what is wanted and the options; the choice goes back to the agent."""
    asked: list[PermitRequest] = []

    async def ask(request: PermitRequest) -> str | None:
        asked.append(request)
        return await allow(request)

    assert play(make("ask", permit=ask))[-1] == Result(text='{"optionId": "allow_o", "outcome": "selected"}')
    [request] = asked
    assert (request.turn_id, request.member, request.key, request.title) == (
        *("t1", "bob", "execute: touch x #1", "execute: touch x"),
    )
    assert [option.kind for option in request.options] == ["allow_always", "allow_once", "reject_once"]


DIFF = "--- calc.py\n+++ calc.py\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3"


@run
async def test_people_see_the_change_before_they_allow_it() -> None:
    """The question of an edit has its diff; the step that reports the edit has it too."""
    async with open_app(TRIO, agents={"bob": make("edit")}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await has(app, session, "agent.user_confirm")
        (step,) = await facts(app, session, StepAsked)
        assert show(step, "en") == f"bob asks for permission: edit: Edit calc.py\n{DIFF}"
        await session.submit(Answer(step_id=step.step_id, confirmed=True))
        await saying
        assert DIFF in [fact.observation for fact in await facts(app, session, TurnStepped)]


def test_a_long_change_is_cut_and_says_so() -> None:
    """A question has a limit; a change of a thousand lines is shown as far as it fits, with how much is missing."""
    questions: list[str] = []

    async def ask(question: str, *_: object, **__: object) -> str:
        questions.append(question)
        return "a"

    options = (PermitOption(id="a", name="allow", kind="allow_once"),)
    change = "+line\n" * 1_000
    request = PermitRequest(
        session_id="s", turn_id="t", member="b", key="k", title="edit", options=options, change=change
    )
    assert asyncio.run(ask_people(ask, str)(request)) == "a"  # type: ignore[arg-type]
    assert len(questions[0]) <= limits.QUESTION_CHARS
    assert "more characters]" in questions[0]


def test_people_are_asked_about_what_is_wanted_and_see_no_keys() -> None:
    """Secrets stay out of the log; a no is for this once."""
    asked: list[tuple[str, list[str], str | None]] = []

    async def ask(question: str, options: Sequence[Option] = (), *, key: str = "", default: str | None = None) -> str:
        asked.append((question, [option.label for option in options], default))
        return "a"

    def hide(text: str) -> str:
        return text.replace("sk-1", "[KEY]")

    options = (("odd", "new"), ("r", "reject_once"), ("a", "allow_once"))
    made = tuple(PermitOption(id=name, name=f"{kind} sk-1", kind=kind) for name, kind in options)
    for title in ("curl sk-1", "rm x"):
        request = PermitRequest(session_id="s", turn_id="t1", member="bob", key="1", title=title, options=made)
        assert asyncio.run(ask_people(ask, hide)(request)) == "a"  # type: ignore[arg-type]
    labels = ["allow_once [KEY]", "new [KEY]", "reject_once [KEY]"]
    assert asked == [("curl [KEY]", labels, "r"), ("rm x", labels, "r")]


def test_the_same_questions_have_the_same_names_when_a_turn_runs_again() -> None:
    """An agent that a crash made begin again has other ids for its calls; twice the same in a run are two questions."""
    runs: list[list[str]] = []

    async def ask(request: PermitRequest) -> str | None:
        runs[-1].append(request.key)
        return await allow(request)

    for _ in range(2):
        runs.append([])
        play(make("ask_twice", permit=ask))
    assert runs == [["execute: touch x #1", "execute: touch x #2"]] * 2


@pytest.mark.parametrize(
    ("said", "option"),
    [({"confirmed": True}, "allow_o"), ({"choice": "allow_a"}, "allow_a"), ({"confirmed": False}, "reject_")],
)
@run
async def test_permissions_are_asked_of_people(said: dict[str, Any], option: str) -> None:
    """In a session the question is a step; the answer goes back to the agent, and a plain yes is for this once."""
    async with open_app(TRIO, agents={"bob": make("ask")}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await has(app, session, "agent.user_confirm")
        (step,) = await facts(app, session, StepAsked)
        assert (step.kind, show(step, "en")) == ("tool", "bob asks for permission: execute: touch x")
        assert [each.label for each in step.options] == ["allow once", "allow always", "reject once"]
        assert step.default == "reject_"
        await session.submit(Answer(step_id=step.step_id, **said))
        await saying
        last = (await facts(app, session, MessagePosted))[-1]
        assert last.text == f'{{"optionId": "{option}", "outcome": "selected"}}'
        told = [type(event.fact) for event in await app.log.read(session.id)]
        assert [each for each in told if each in (TurnStepped, StepAsked, StepClosed)] == [
            *(TurnStepped, StepAsked, StepClosed),  # what it is about to do, the question, the answer; nothing twice
        ]


def test_a_person_may_take_their_time() -> None:
    """While a permission waits for its answer the agent's silence is not counted."""

    async def ask(request: PermitRequest) -> str | None:
        await asyncio.sleep(0.8)
        return await allow(request)

    assert isinstance(play(make("ask", permit=ask, idle_s=0.5))[-1], Result)


@pytest.mark.parametrize("choice", [None, "no such option"])
def test_an_answer_that_is_no_option_allows_nothing(choice: str | None) -> None:
    """Only an option that was offered counts."""

    async def ask(_: PermitRequest) -> str | None:
        return choice

    assert play(make("ask", permit=ask))[-1] == Result(text='{"outcome": "cancelled"}')


def test_denying_needs_an_option_to_do_so() -> None:
    """Where an agent offers no way to say no, none is chosen; nothing is allowed for ever by default."""
    always = PermitRequest(
        session_id="s",
        turn_id="t1",
        member="bob",
        key="k",
        title="x",
        options=(PermitOption(id="a", name="always", kind="allow_always"),),
    )
    assert asyncio.run(deny(always)) is None
    assert asyncio.run(allow(always)) is None


@pytest.mark.parametrize(
    ("mode", "error_type", "says"),
    [
        ("refuse", "refused", "I can't"),
        ("login", "auth", "wants a login"),
        ("die", "auth", "please run /login"),
        ("flood", "agent", "said more than"),
        ("quiet", "agent", "without an answer (end_turn)"),
    ],
)
def test_failures_have_their_type(mode: str, error_type: str, says: str) -> None:
    """Refusals, logins, deaths in the middle, floods and silence are sentences."""
    error = fail(make(mode))
    assert (error.error_type, says in str(error)) == (error_type, True), str(error)


def test_an_agent_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting has a bound, and so has silence."""
    assert fail(make("mute", idle_s=0.3)).error_type == "timeout"
    monkeypatch.setattr(acp_member, "START_S", 0.3)
    assert "did not start a session" in str(fail(make("mute")))


def test_a_missing_agent_is_told_at_once() -> None:
    """The same hint as for any program."""
    assert "no program" in str(fail(AcpMember(AcpAgent(command=("no-such-agent",)), "", RunEnvironment())))


def test_a_cancelled_turn_is_cancelled_with_the_agent(tmp_path: Path) -> None:
    """The agent hears `session/cancel` and may put things in order before its program is ended."""

    async def cancel_midway() -> None:
        async with aclosing(make("slow", RunEnvironment(folder=tmp_path)).act(HELLO)) as outputs:
            assert await anext(outputs) == Delta("begun")

    asyncio.run(asyncio.wait_for(cancel_midway(), 30))
    assert (tmp_path / "cancelled").read_text() == "yes"


def test_a_session_is_resumed_where_the_agent_offers_it(tmp_path: Path) -> None:
    """The second turn tells only what is new, and what the agent repeats of the old is not told."""
    turn = chat_turn(("alice", "first words"), ("bob", "mine"), ("alice", "newest words"))
    results = []
    for _ in range(2):
        around = RunEnvironment(folder=tmp_path, conversations=Conversations(tmp_path / "kept"))
        outputs = play(make("memory", around), turn)
        results.append((outputs[-1], pieces(each for each in outputs if isinstance(each, Delta))))
    assert results == [(Result(text="True x"), "True x"), (Result(text="False xx"), "False xx")]


def test_a_replayed_history_is_no_part_of_the_answer(tmp_path: Path) -> None:
    """An agent that offers to resume and refuses is loaded; the history that it repeats is dropped, however late."""
    turn = chat_turn(("alice", "first words"), ("bob", "mine"), ("alice", "newest words"))
    run_environment = RunEnvironment(folder=tmp_path, conversations=Conversations(tmp_path / "kept"))
    assert play(make("load", run_environment), turn)[-1] == Result(text="True x")
    outputs = play(make("load", run_environment), turn)
    assert outputs[-1] == Result(text="False xx")
    assert pieces(output for output in outputs if isinstance(output, Delta)) == "False xx"


def test_a_cancelled_turn_does_not_lose_the_conversation(tmp_path: Path) -> None:
    """The next turn goes on where the cancelled one stopped."""
    conversations = Conversations(tmp_path / "kept")
    member = make("slow", RunEnvironment(folder=tmp_path, conversations=conversations))

    async def cancel_midway() -> None:
        async with aclosing(member.act(HELLO)) as outputs:
            assert await anext(outputs) == Delta("begun")

    asyncio.run(asyncio.wait_for(cancel_midway(), 30))
    command = (sys.executable, "-IS", str(AGENT), "slow")
    conversation = conversations.find(HELLO.session_id, HELLO.member.id, command, acp_member.is_id)
    assert conversation
    assert conversation.session_id == "s1"


CACHED = {"inputTokens": 600, "outputTokens": 100, "cachedReadTokens": 60_000, "totalTokens": 60_700}
OF_A_REQUEST = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120}


@pytest.mark.parametrize(
    ("updates", "response", "expected"),
    [
        ([], {"usage": CACHED}, Usage(input_tokens=60_600, output_tokens=100)),
        ([OF_A_REQUEST, OF_A_REQUEST], {}, Usage(input_tokens=200, output_tokens=40)),
        (
            [],
            {"_meta": {"quota": {"token_count": {"input_tokens": 5, "output_tokens": 2}}}},
            Usage(input_tokens=5, output_tokens=2),
        ),
    ],
    ids=["claude-agent-acp", "qwen", "gemini"],
)
def test_every_token_is_counted(updates: list[Any], response: dict[str, Any], expected: Usage) -> None:
    """Input from a cache is input; usage that is reported for each request is added up."""
    reader = UpdateReader()
    for usage in updates:
        chunk = {"content": {"type": "text", "text": ""}, "_meta": {"usage": usage}}
        list(reader.read({"sessionUpdate": "agent_message_chunk", **chunk}))
    assert reader.usage(response) == expected


def test_the_cost_of_a_resumed_conversation_is_that_of_the_turn(tmp_path: Path) -> None:
    """Each turn is a process whose count begins at nothing: no earlier turn is subtracted."""
    for _ in range(2):
        run_environment = RunEnvironment(folder=tmp_path, conversations=Conversations(tmp_path / "kept"))
        result = play(make("memory_cost", run_environment))[-1]
        assert isinstance(result, Result)
        assert result.usage.cost_usd == 0.5


def test_odd_updates_are_passed_over() -> None:
    """Wrong shapes are no trouble."""
    reader = UpdateReader()
    odd: list[Any] = [None, 1, "x", [], {}, {"text": 5}, [{"content": None}]]
    kinds = ("agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan", "usage_update", "x")
    for kind in kinds:
        for value in odd:
            fields = (
                "content",
                "toolCallId",
                "status",
                "rawInput",
                "rawOutput",
                "entries",
                "cost",
                "title",
                "messageId",
            )
            list(reader.read({"sessionUpdate": kind, **dict.fromkeys(fields, value)}))
    assert reader.usage({"usage": 5, "_meta": {"quota": []}}) == Usage()
