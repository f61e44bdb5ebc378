"""Members played by ACP agents: a small one of our own, and what real ones were recorded to tell."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from moot.agents.acp.acp_agent import AcpAgent, AcpMember
from moot.agents.acp.acp_link import is_id, pick
from moot.agents.acp.updates import UpdateReader
from moot.agents.acp.wire import explain_error
from moot.agents.cli.memory import Conversations
from moot.agents.live import live_member
from moot.agents.permits import People, PermissionRequest, Permissions, Permit
from moot.agents.process import Bounds
from moot.agents.run_environment import RunEnvironment
from moot.app import open_app
from moot.core import limits
from moot.core.errors import AgentError
from moot.core.flows.registry import show
from moot.core.flows.turns import TurnInput
from moot.core.session.commands import Answer
from moot.core.session.events import MessagePosted, NoticePosted, PermissionGranted, StepAsked, StepClosed, TurnStepped
from moot.core.session.grants import OPTIONS
from moot.core.session.tool_use import ToolUse
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
        "observation not allowed: touch x",
    ]


def test_permissions_are_asked_of_a_port() -> None:
    """Who answers sees what is wanted and the options; the choice goes back to the agent."""
    asked: list[PermissionRequest] = []

    async def ask(request: PermissionRequest) -> bool:
        asked.append(request)
        return await allow(request)

    assert play(make("ask", permit=ask))[-1] == Result(text='{"optionId": "allow_o", "outcome": "selected"}')
    [request] = asked
    assert (request.key, request.command, request.tool.kind) == ("execute: touch x #1", "touch x", "execute")


DIFF = "--- calc.py\n+++ calc.py\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3"


@run
async def test_people_see_the_change_before_they_allow_it() -> None:
    """The question of an edit has its diff; the step that reports the edit has it too."""
    async with open_app(TRIO, agents={"bob": make("edit")}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await has(app, session, "agent.user_confirm")
        (step,) = await facts(app, session, StepAsked)
        assert show(step, "en") == f"bob asks for permission: edit: calc.py\n{DIFF}"
        await session.submit(Answer(step_id=step.step_id, confirmed=True))
        await saying
        assert (step.diff, step.tool and step.tool.paths) == (DIFF, ("calc.py",))
        assert DIFF in [fact.diff for fact in await facts(app, session, TurnStepped)]


def ask_about(request: PermissionRequest, answer: str, hide: Callable[[str], str] = str) -> tuple[bool, str]:
    """Have people asked who answer so. Return what that allows, and the question."""
    questions: list[str] = []

    async def ask(question: str, *_: object, **__: object) -> str:
        questions.append(question)
        return answer

    people = People(ask, "en", (), (), hide)
    return asyncio.run(people.permit(request)), questions[0]


def test_a_long_change_is_cut_and_says_so() -> None:
    """A question has a limit; a change of thousands of lines is shown as far as it fits, with how much is missing."""
    tool = ToolUse(id="1", kind="edit", title="edit", paths=("a.py",))
    request = PermissionRequest(tool=tool, name="edit", key="k", diff="+line\n" * 5_000)
    is_allowed, question = ask_about(request, "allow_once")
    assert is_allowed
    assert len(question) <= limits.QUESTION_CHARS
    assert "more characters]" in question


def test_people_are_asked_about_what_is_wanted_and_see_no_keys() -> None:
    """The command stands in the question in full, without secrets; a no allows nothing."""
    tool = ToolUse(id="1", kind="execute", title="curl")
    request = PermissionRequest(tool=tool, name="Bash", key="k", command="curl -H sk-1 example.org")
    assert ask_about(request, "reject_once", lambda text: text.replace("sk-1", "[KEY]")) == (
        *(False, "Bash: curl -H [KEY] example.org"),
    )


def test_the_same_questions_have_the_same_names_when_a_turn_runs_again() -> None:
    """An agent that a crash made begin again has other ids for its calls; twice the same in a run are two questions."""
    runs: list[list[str]] = []

    async def ask(request: PermissionRequest) -> bool:
        runs[-1].append(request.key)
        return await allow(request)

    for _ in range(2):
        runs.append([])
        play(make("ask_twice", permit=ask))
    assert runs == [["execute: touch x #1", "execute: touch x #2"]] * 2


@pytest.mark.parametrize(
    ("said", "option", "grants"),
    [
        ({"confirmed": True}, "allow_o", 0),
        ({"choice": "allow"}, "allow_o", 0),
        ({"choice": "allow_session"}, "allow_o", 1),
        ({"confirmed": False}, "reject_", 0),
        ({"choice": "reject_session"}, "reject_", 1),
    ],
)
@run
async def test_permissions_are_asked_of_people(said: dict[str, Any], option: str, grants: int) -> None:
    """In a session the question is a step with four options; what counts for the session is an event, and the agent
    itself is told of this once only."""
    async with open_app(TRIO, agents={"bob": make("ask")}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await has(app, session, "agent.user_confirm")
        (step,) = await facts(app, session, StepAsked)
        assert (step.kind, show(step, "en")) == ("tool", "bob asks for permission: execute: touch x")
        assert [each.id for each in step.options] == list(OPTIONS)
        assert (step.default, step.member) == ("reject_once", "bob")
        await session.submit(Answer(step_id=step.step_id, **said))
        await saying
        last = (await facts(app, session, MessagePosted))[-1]
        assert last.text == f'{{"optionId": "{option}", "outcome": "selected"}}'
        granted = await facts(app, session, PermissionGranted)
        assert [(each.member, each.tool, each.pattern) for each in granted] == [("bob", "execute", "touch x")] * grants
        told = [type(event.fact) for event in await app.log.read(session.id)]
        assert [each for each in told if each in (TurnStepped, StepAsked, StepClosed)] == [
            *(TurnStepped, StepAsked, StepClosed),  # what it is about to do, the question, the answer; nothing twice
        ]


@run
async def test_a_yes_for_the_session_lasts_until_it_is_revoked() -> None:
    """The next turn does not ask for the same command again; after `/permissions revoke 1` it does."""
    async with open_app(TRIO, agents={"bob": make("ask")}) as app:
        session = await app.session()
        saying = asyncio.create_task(say(session, "[NEXT: bob] hello"))
        await has(app, session, "agent.user_confirm")
        (step,) = await facts(app, session, StepAsked)
        await session.submit(Answer(step_id=step.step_id, choice="allow_session"))
        await saying
        await say(session, "[NEXT: bob] again")
        assert len(await facts(app, session, StepAsked)) == 1
        await say(session, "/permissions")
        assert "1. ✓ bob: execute(touch x)" in (await facts(app, session, NoticePosted))[-1].detail
        await say(session, "/permissions revoke 1")
        saying = asyncio.create_task(say(session, "[NEXT: bob] once more"))
        await has(app, session, "agent.user_confirm", 2)
        await session.submit(Answer(step_id=(await facts(app, session, StepAsked))[-1].step_id, confirmed=False))
        await saying


def test_a_person_may_take_their_time() -> None:
    """While a permission waits for its answer the agent's silence is not counted."""

    async def ask(request: PermissionRequest) -> bool:
        await asyncio.sleep(0.8)
        return await allow(request)

    assert isinstance(play(make("ask", permit=ask, idle_s=0.5))[-1], Result)


def test_denying_needs_an_option_to_do_so() -> None:
    """Where an agent offers no way to say no, none is chosen; nothing is allowed for ever if it can be once."""
    always, once = ({"optionId": kind[6], "kind": kind} for kind in ("allow_always", "allow_once"))
    assert pick([always], ("reject_once", "reject_always")) is None
    assert pick([always, once], ("allow_once", "allow_always")) == once["optionId"]


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
    assert "was silent" in str(fail(make("silent", idle_s=0.3)))
    assert "was silent for 0.3 s: " in str(fail(make("retrying", idle_s=0.3)))
    monkeypatch.setattr(live_member, "START_S", 0.3)
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
    conversation = conversations.find(HELLO.session_id, HELLO.member.id, command, is_id)
    assert conversation
    assert conversation.session_id == "s1"


CACHED = {"inputTokens": 600, "outputTokens": 100, "cachedReadTokens": 60_000, "totalTokens": 60_700}
OF_A_REQUEST = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120}
THOUGHT = {"inputTokens": 400, "cachedReadTokens": 600, "thoughtTokens": 30, "totalTokens": 1050}
COUNTED = Usage(input_tokens=1000, output_tokens=50, cached_tokens=600, thinking_tokens=30)


@pytest.mark.parametrize(
    ("updates", "response", "expected"),
    [
        ([], {"usage": CACHED}, Usage(input_tokens=60_600, output_tokens=100, cached_tokens=60_000)),
        ([OF_A_REQUEST, OF_A_REQUEST], {}, Usage(input_tokens=200, output_tokens=40)),
        ([{**THOUGHT, "inputTokens": 1000, "outputTokens": 50}], {}, COUNTED),
        ([], {"usage": {**THOUGHT, "outputTokens": 50}}, COUNTED),
        ([], {"usage": {**THOUGHT, "outputTokens": 20}}, COUNTED),
        (
            [],
            {"_meta": {"quota": {"token_count": {"input_tokens": 5, "output_tokens": 2}}}},
            Usage(input_tokens=5, output_tokens=2),
        ),
    ],
    ids=["claude-agent-acp", "qwen", "qwen that thinks", "codex-acp that thinks", "opencode that thinks", "gemini"],
)
def test_every_token_is_counted(updates: list[Any], response: dict[str, Any], expected: Usage) -> None:
    """Input from a cache is input, thinking is output; usage that is reported for each request is added up."""
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


def test_a_failure_is_told_in_words_and_counted() -> None:
    """What the agent says is wrong, without its JSON, and what it had spent until then."""
    error = fail(make("abort"))
    assert str(error).endswith(" failed: Request was aborted.")
    assert (error.usage.input_tokens, error.usage.output_tokens) == (7, 3)


@pytest.mark.parametrize(("permissions", "mode"), [("ask", "read-only"), ("read", "read-only"), ("all", "agent")])
def test_an_agent_that_has_a_cautious_mode_is_put_into_it(permissions: Permissions, mode: str, tmp_path: Path) -> None:
    """Some agents do as they like unless their mode is another one; `edit` and `all` leave it to them."""
    spec = AcpAgent(command=(sys.executable, "-IS", str(AGENT), "modes"), permissions=permissions)
    outputs = play(AcpMember(spec, "", RunEnvironment(folder=tmp_path)))
    assert outputs[-1] == Result(text=mode)


def test_effort_is_set_where_an_agent_has_a_setting_for_it(tmp_path: Path) -> None:
    """By the category of the setting, whatever the agent calls it; without one the turn fails with what to do."""
    around = RunEnvironment(folder=tmp_path)
    spec = AcpAgent(command=(sys.executable, "-IS", str(AGENT), "modes"), effort="high")
    assert play(AcpMember(spec, "", around))[-1] == Result(text="reasoning high")
    error = fail(AcpMember(replace(spec, command=(sys.executable, "-IS", str(AGENT), "answer")), "", around))
    assert (error.error_type, "no setting for `effort`" in str(error)) == ("config", True)


@pytest.mark.parametrize(
    ("message", "data", "told"),
    [
        ("Internal error: no credit left", {"errorName": "APIError"}, "no credit left"),
        ("Internal error", {"details": "Request was aborted."}, "Request was aborted."),
        ("Internal error", {"code": 7}, '{"code": 7}'),
        ("Internal error", None, "Internal error"),
        ("no such session", {"message": "s1"}, "no such session s1"),
        ("", None, "my-agent"),
    ],
)
def test_an_error_is_told_in_words(message: str, data: object, told: str) -> None:
    """People read what happened; data of the agent's own are shown where there is nothing else."""
    error = RuntimeError(message)
    error.data = data  # type: ignore[attr-defined]
    assert explain_error("my-agent", error) == told
