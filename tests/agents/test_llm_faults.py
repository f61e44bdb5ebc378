"""What goes wrong with a model: which type of error it is, what is kept, and that requests really end."""

import asyncio
import json
import ssl
from typing import Any

import pytest

from moot.agents.llm.model_failures import explain
from moot.agents.llm.models import ModelAddress
from moot.core import limits
from moot.testing import VirtualClock
from tests.agents import functions
from tests.agents.fake_models import Call, Reply, fake_models
from tests.agents.llm_members import APIS, KEY, KEYS, HastyClock, make_member, play
from tests.agents.turns import chat_turn, job_turn
from tests.runtime.apps import run, until

CHAT = chat_turn(("alice", "What is up?"))
TASK = job_turn("solve")
in_every_api = pytest.mark.parametrize("api", APIS)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS.values():
        monkeypatch.setenv(name, KEY)


@in_every_api
@pytest.mark.parametrize(
    ("status", "error_type"),
    [
        (400, "config"),
        (401, "auth"),
        (402, "budget"),
        (403, "auth"),
        (404, "config"),
        (429, "rate_limit"),
        (500, "agent"),
        (503, "agent"),
        (529, "agent"),
    ],
)
@run
async def test_a_status_has_its_type(api: str, status: int, error_type: str) -> None:
    """Only the retryable is retried, so every status has a type; nobody retries behind our back."""
    with fake_models(status) as models:
        played = await play(make_member(models, api), TASK)
    assert (played.error.error_type, len(models.asked)) == (error_type, 1)


@in_every_api
@run
async def test_a_refused_key_is_named_not_shown(api: str) -> None:
    """401 says which variable to look at, never what is in it."""
    with fake_models(401) as models:
        played = await play(make_member(models, api), CHAT)
    assert f"check key {KEYS[api.partition('-')[0]]}" in str(played.error)
    assert len(models.asked) == 1


@run
async def test_a_key_that_is_not_there_is_to_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of one's own that wants a key after all; the variable is named."""
    monkeypatch.delenv("OPENAI_API_KEY")
    with fake_models(401) as models:
        played = await play(make_member(models), TASK)
    assert str(played.error) == "openai:fake-model refused the key (401): set OPENAI_API_KEY"


@in_every_api
@run
async def test_how_long_a_server_wants_to_be_left_alone(api: str) -> None:
    """Retry-After goes with the error to whoever retries a task."""
    with fake_models(Reply(status=429, retry_after="7")) as models:
        played = await play(make_member(models, api), TASK)
    assert played.error.retry_after_s == 7


@run
async def test_in_chat_a_busy_server_is_asked_again() -> None:
    """Nobody else retries in chat. It waits as long as it is told to, says so, and counts what it cost."""
    clock = HastyClock()
    with fake_models(Reply(status=429, retry_after="7"), 500, "All is well.") as models:
        played = await play(make_member(models, clock=clock), CHAT)
    assert (played.result.text, clock.slept_s) == ("All is well.", [7, 2])
    assert played.steps == [
        "openai:fake-model is busy (429); trying again in 7 s",
        "openai:fake-model failed (500): scripted failure; trying again in 2 s",
    ]


@pytest.mark.parametrize(
    ("reply", "asked"),
    [(Reply(status=429, retry_after="61"), 1), (Reply(status=429), 3), (Reply(status=401), 1), (Reply(text=""), 3)],
)
@run
async def test_in_chat_it_ends_after_three_attempts(reply: Reply, asked: int) -> None:
    """Retry-After beyond the cap, and what is terminal, is not waited for."""
    clock = HastyClock()
    with fake_models(reply) as models:
        played = await play(make_member(models, clock=clock), CHAT)
    assert (played.error.error_type != "", len(models.asked)) == (True, asked)


@in_every_api
@run
async def test_a_stream_that_stalls_is_given_up(api: str) -> None:
    """After 60 s of silence in a stream the turn fails; what was said is kept and marked; the line is closed."""
    clock = VirtualClock()
    with fake_models(Reply(text="Once upon a time", stall_after=1)) as models:
        playing = asyncio.create_task(play(make_member(models, api, clock), CHAT))
        await until(models.shown.is_set)
        await asyncio.sleep(0.1)  # for what was sent to arrive
        await clock.advance(59.9)
        assert not playing.done()
        await clock.advance(0.2)
        played = await playing
        assert models.hung_up.wait(5)
    assert (played.error.error_type, str(played.error)) == ("timeout", f"{api}:fake-model said nothing for 60 s")
    assert (played.streamed, played.steps) == ("Once upo", ["[incomplete, broken off] Once upo"])
    assert len(models.asked) == 1  # what was said is not said again


@run
async def test_a_model_may_think_longer_before_its_first_word() -> None:
    """Until the first word another setting holds; meanwhile there is a sign each minute."""
    clock = VirtualClock()
    with fake_models(None) as models:
        playing = asyncio.create_task(play(make_member(models, clock=clock), TASK))
        await until(models.shown.is_set)
        await clock.advance(299)
        assert not playing.done()
        await clock.advance(1)
        played = await playing
    assert played.error.error_type == "timeout"
    assert played.steps == [f"(no sign for {seconds} s; still at work)" for seconds in (60, 120, 180, 240)]


@run
async def test_a_tool_may_take_its_time() -> None:
    """It is the model that may not be silent, not its tools."""
    clock = VirtualClock()
    with fake_models(Reply(calls=(Call("linger"),)), "Done.") as models:
        member = make_member(models, clock=clock, tools=("tests.agents.functions:linger",))
        playing = asyncio.create_task(play(member, CHAT))
        await until(functions.lingering.is_set)
        await clock.advance(3_600)
        functions.go_on.set()
        played = await playing
    assert played.result.text == "Done."
    assert "(no sign for 3600 s; still at work)" in played.steps


@in_every_api
@pytest.mark.parametrize("fault", ["break_after", "is_unfinished"])
@run
async def test_a_stream_that_breaks_is_a_network_error(api: str, fault: str) -> None:
    """Dropped in the middle, or ended without an end: the part is kept and marked, and said once."""
    reply = (
        Reply(text="Once upon a time", break_after=1)
        if fault == "break_after"
        else Reply(text="Once", is_unfinished=True)
    )
    with fake_models(reply, "Once upon a time there was a whole answer.") as models:
        played = await play(make_member(models, api), CHAT)
    assert (played.error.error_type, len(models.asked)) == ("network", 1)
    assert played.steps == [f"[incomplete, broken off] {played.streamed}"]


@in_every_api
@run
async def test_stopping_a_turn_stops_the_request(api: str) -> None:
    """Cancelling really ends it: the server sees the connection close."""
    with fake_models(Reply(text="Once upon a time", stall_after=1)) as models:
        playing = asyncio.create_task(play(make_member(models, api), CHAT))
        await until(models.shown.is_set)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        assert models.hung_up.wait(5)


@in_every_api
@pytest.mark.parametrize("text", ["", "I think that"])
@run
async def test_a_refusal_is_terminal(api: str, text: str) -> None:
    """What a provider refuses, it refuses again."""
    with fake_models(Reply(text=text, finish="refusal")) as models:
        played = await play(make_member(models, api), CHAT)
    assert (played.error.error_type, len(models.asked)) == ("refused", 1)


@in_every_api
@run
async def test_silence_is_asked_again_then_fails(api: str) -> None:
    """An empty answer is asked for again at most twice."""
    with fake_models("") as models:
        played = await play(make_member(models, api), TASK)
    assert (played.error.error_type, len(models.asked)) == ("validation", 3)


@in_every_api
@run
async def test_an_answer_that_is_cut_says_so(api: str) -> None:
    """At the token limit the text is kept, and whoever reads it knows."""
    with fake_models(Reply(text="Once upon a", finish="length")) as models:
        played = await play(make_member(models, api), CHAT)
    assert played.result.text == "Once upon a\n\n[the answer ends here at its length limit]"


@run
async def test_an_endless_answer_is_stopped() -> None:
    """Beyond the limit of a turn nothing is read any more."""
    with fake_models(Reply(text="x" * (limits.OUTPUT_CHARS + 10_000), pieces=100)) as models:
        played = await play(make_member(models), CHAT)
    assert limits.OUTPUT_CHARS < len(played.result.text) <= limits.OUTPUT_CHARS + 11_000


@in_every_api
@pytest.mark.parametrize("body", [b"not json", b"{}", b"data: {\n\n", b"\xff\xfe"])
@run
async def test_nonsense_is_a_failed_turn(api: str, body: bytes) -> None:
    """Whatever a server sends, an error with a type comes out."""
    with fake_models(body) as models:
        played = await play(make_member(models, api), TASK)
    assert played.error.error_type in ("agent", "network", "validation")


HEADLESS = {"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "content_index": 0, "delta": "Hi"}


@pytest.mark.parametrize("event", [HEADLESS, {"type": "response.dreamt"}])
@run
async def test_a_stream_without_a_beginning_is_asked_for_once(event: dict[str, Any]) -> None:
    """The library would fetch it eleven times, and say its text as often."""
    body = f"data: {json.dumps({**event, 'sequence_number': 1, 'logprobs': []})}\n\n".encode()
    with fake_models(body) as models:
        played = await play(make_member(models, "openai-responses"), TASK)
    assert (played.error.error_type, len(models.asked)) == ("network", 1)
    assert played.streamed == event.get("delta", "")


@run
async def test_nobody_there() -> None:
    """An endpoint that cannot be reached is a network error."""
    with fake_models("") as models:
        pass
    assert (await play(make_member(models), TASK)).error.error_type == "network"


@run
async def test_tls_trouble_is_a_setting() -> None:
    """A server that speaks no TLS will not learn it by being asked again."""
    with fake_models("hello") as models:
        models.url = models.url.replace("http:", "https:")
        played = await play(make_member(models), TASK)
    assert (played.error.error_type, "TLS" in str(played.error)) == ("config", True)


def test_a_certificate_that_is_not_trusted_is_a_setting() -> None:
    """Who is not trusted now is not trusted later."""
    from pydantic_ai.exceptions import ModelConnectionError

    error = ModelConnectionError("small", "no")
    error.__cause__ = ssl.SSLCertVerificationError("self-signed")
    assert explain(error, ModelAddress(name="openai:small")).error_type == "config"
