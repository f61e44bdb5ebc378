"""Members played by models, in every API: what they are told, what becomes steps and text, what it cost."""

import pytest

from tests.agents.fake_models import Call, Reply, fake_models
from tests.agents.llm_members import APIS, KEY, KEYS, make_member, play
from tests.agents.turns import chat_turn, job_turn
from tests.runtime.apps import run

TURN = chat_turn(("alice", "What is up?"))
ADD = ("tests.agents.functions:add",)
in_every_api = pytest.mark.parametrize("api", APIS)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS.values():
        monkeypatch.setenv(name, KEY)


@in_every_api
@run
async def test_a_model_says_its_message(api: str) -> None:
    """Any provider; what is said streams, the whole of it is the result, tokens are counted."""
    with fake_models(Reply(text="All is well.", pieces=3)) as models:
        played = await play(make_member(models, api), TURN)
    assert (played.result.text, played.streamed) == ("All is well.", "All is well.")
    assert len(played.outputs) > 2
    assert (played.result.usage.input_tokens, played.result.usage.output_tokens) == (100, 20)
    (asked,) = models.asked
    assert "Be brief." in asked.system
    assert "What is up?" in asked.prompt
    assert KEY in asked.key


@pytest.mark.parametrize("api", ["openai", "anthropic", "google"])
@run
async def test_what_a_model_thinks_is_a_step(api: str) -> None:
    """House rules, steps: thinking is no part of the message. It is shown as it comes, and whole as a step."""
    with fake_models(Reply(text="Four.", thinking="two and two")) as models:
        played = await play(make_member(models, api), TURN)
    assert (played.steps, played.result.text, played.streamed) == (["two and two"], "Four.", "Four.")
    assert played.thinking == "two and two"


@in_every_api
@run
async def test_a_tool_is_called_and_its_result_goes_back(api: str) -> None:
    """A function of the team file; its calls and results are steps; all rounds are counted."""
    with fake_models(Reply(text="Let me see.", calls=(Call("add", {"a": 1, "b": 2}),)), "Three.") as models:
        played = await play(make_member(models, api, tools=ADD), TURN)
    assert models.asked[0].tools == ("add",)
    assert "3" in models.asked[1].results[0]
    thought, action, observation = played.steps
    assert (thought, action.startswith("add("), observation) == ("Let me see.", True, "add → 3")
    assert (played.result.text, played.result.usage.input_tokens) == ("Three.", 200)


@run
async def test_a_tool_that_fails_is_told_to_the_model() -> None:
    """Foreign code fails; the turn goes on."""
    with fake_models(Reply(calls=(Call("fail"),)), "It does not work.") as models:
        played = await play(make_member(models, tools=("tests.agents.functions:fail",)), TURN)
    assert "ValueError: out of paper" in models.asked[1].results[0]
    assert played.result.text == "It does not work."


@run
async def test_a_tool_that_is_not_there_fails_the_turn() -> None:
    """What cannot be loaded is said, and nobody is asked."""
    with fake_models("never") as models:
        played = await play(make_member(models, tools=("nowhere.at:all",)), TURN)
    assert (played.error.error_type, models.asked) == ("config", [])


PLAN = '{"summary": "one", "tasks": [{"id": 1, "title": "Collect", "effort": "small"}]}'
PATCHES = '{"patches": [{"op": "remove", "task_id": "a"}]}'


@in_every_api
@run
async def test_planners_and_reviewers_give_structure(api: str) -> None:
    """JSON in prose is read; what the shape does not know is kept."""
    with fake_models(f"Here it is:\n```json\n{PLAN}\n```", PATCHES, '{"pass": false, "feedback": "dull"}') as models:
        member = make_member(models, api)
        plan = (await play(member, job_turn("plan"))).result.plan
        patches = (await play(member, job_turn("patch"))).result.patches
        review = (await play(member, job_turn("review"))).result.review
    assert plan == {"summary": "one", "tasks": [{"id": 1, "title": "Collect", "effort": "small"}]}
    assert patches == ({"op": "remove", "task_id": "a"},)
    assert review == {"pass": False, "feedback": "dull"}


@pytest.mark.parametrize(
    ("api", "output"), [("openai", "native"), ("openai-responses", "native"), ("anthropic", "tool")]
)
@run
async def test_structure_can_be_asked_for_by_schema(api: str, output: str) -> None:
    """The provider's own JSON schema, or a tool that takes the answer."""
    reply = (
        Reply(text=PLAN) if output == "native" else Reply(calls=(Call("plan", {"tasks": [{"id": "a", "title": "A"}]}),))
    )
    with fake_models(reply) as models:
        played = await play(make_member(models, api, output=output), job_turn("plan"))
    assert played.result.plan is not None
    assert "depends_on" in str(models.asked[0].body)


@run
async def test_an_answer_of_the_wrong_shape_is_asked_for_again() -> None:
    """The model is told what is wrong, at most twice; every attempt is counted."""
    with fake_models("I would rather not.", '{"tasks": [{"id": "a"}]}', PLAN) as models:
        played = await play(make_member(models), job_turn("plan"))
    assert played.result.plan is not None
    assert "no JSON object" in models.asked[1].prompt
    assert "title" in models.asked[2].prompt
    assert played.result.usage.output_tokens == 60
    assert played.steps == ["the answer could not be used; asked again"] * 2


@run
async def test_after_two_more_attempts_the_turn_fails() -> None:
    """A human decides then; what it cost is not forgotten."""
    with fake_models("no") as models:
        played = await play(make_member(models), job_turn("review"))
    assert (played.error.error_type, len(models.asked)) == ("validation", 3)
    assert played.error.usage.output_tokens == 60


@run
async def test_a_known_price_is_counted() -> None:
    """Cost where the library knows the model's price, without asking anybody for it."""
    with fake_models(Reply(text="Hi.", input_tokens=1_000_000, output_tokens=0)) as models:
        unknown = await play(make_member(models, "anthropic"), TURN)
        known = await play(make_member(models, "anthropic", name="claude-opus-5"), TURN)
    assert (unknown.result.usage.cost_usd, known.result.usage.cost_usd > 0) == (0, True)
