"""The one adapter to models, against an endpoint on loopback: what comes back, and what each failure is called."""

import asyncio

import pytest

from moot.agents.llm.model_client import ModelClient
from moot.core.errors import AgentError
from tests.agents.fake_models import Answer, Reply, fake_models

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
KEY = "sk-do-not-tell"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def fail(client: ModelClient) -> AgentError:
    with pytest.raises(AgentError) as failed:
        asyncio.run(client.complete_json("hi", SCHEMA))
    assert KEY not in str(failed.value)
    return failed.value


def test_a_prompt_becomes_a_text() -> None:
    """`base_url` names an OpenAI-compatible endpoint; the key comes from the environment."""
    with fake_models('{"a": 1}') as model:
        said = asyncio.run(ModelClient("openai:small", model.url).complete_json("how many?", SCHEMA)).text
    assert said == '{"a": 1}'
    assert (model.prompts, model.asked[0].model, model.keys) == (["how many?"], "small", [f"Bearer {KEY}"])


def test_an_endpoint_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys come from the environment only; where there is none, a local endpoint still answers."""
    monkeypatch.delenv("OPENAI_API_KEY")
    with fake_models("{}") as model:
        assert asyncio.run(ModelClient("small", model.url).complete_json("hi", SCHEMA)).text == "{}"


@pytest.mark.parametrize(
    ("answer", "error_type", "retry_after_s"),
    [(401, "auth", 0), (403, "auth", 0), (429, "rate_limit", 7), (500, "agent", 0), (404, "config", 0)],
)
def test_what_a_status_is_called(answer: int, error_type: str, retry_after_s: float) -> None:
    """Only the retryable is retried, so every failure has its type; the library itself never retries."""
    with fake_models(Reply(status=answer, retry_after="7" if answer == 429 else None)) as model:
        error = fail(ModelClient("openai:small", model.url))
    assert (error.error_type, error.retry_after_s) == (error_type, retry_after_s)
    assert len(model.asked) == 1
    assert error_type != "auth" or "OPENAI_API_KEY" in str(error)  # the name of the key, never the key


@pytest.mark.parametrize("body", [b"not json", b"{}", b'{"choices": []}', b'{"choices": "many"}'])
def test_nonsense_is_a_failed_turn(body: Answer) -> None:
    """Whatever a server sends, one type of error comes out."""
    with fake_models(body) as model:
        assert fail(ModelClient("openai:small", model.url)).error_type == "agent"


def test_silence_ends() -> None:
    """Every wait has a deadline."""
    with fake_models(None) as model:
        assert fail(ModelClient("openai:small", model.url, timeout_s=0.2)).error_type == "timeout"


def test_nobody_there() -> None:
    """An endpoint that cannot be reached is a network error."""
    with fake_models("") as model:
        pass
    assert fail(ModelClient("openai:small", model.url)).error_type == "network"


def test_no_key_and_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is named: the variable for the key, the extra for the library."""
    monkeypatch.delenv("OPENAI_API_KEY")
    assert "OPENAI_API_KEY" in str(fail(ModelClient("openai:small")))
    unknown = fail(ModelClient("nobody:small"))
    assert (unknown.error_type, "moot[llm]" in str(unknown)) == ("config", True)
