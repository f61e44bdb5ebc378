"""The form of plans and reviews: Claude Code and Codex are told it by options of their own."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from moot.agents.agent_type import Seat
from moot.agents.answer_shapes import SHAPES
from moot.agents.cli.claude_live import list_arguments
from moot.agents.cli.cli_agent import CliAgent
from moot.agents.live.link import Setup
from moot.agents.live.pool import LinkPool
from moot.agents.run_environment import RunEnvironment
from moot.core.flows.turns import Job
from moot.runtime.clock import SystemClock
from moot.runtime.ports import Result, Step
from tests.agents.fake_models import Asked, Call, FakeModels, Reply, fake_models
from tests.agents.programs import nothing_left
from tests.agents.real_clis import MODEL, a_wall, act, need, settle
from tests.agents.turns import chat_turn, job_turn
from tests.runtime.apps import run

VERDICT = {"pass": True, "feedback": "as it should be"}


def list_objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every object that a schema describes."""
    for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from list_objects(each)
    if isinstance(schema, dict) and "properties" in schema:
        yield schema


@pytest.mark.parametrize("job", [job for job in SHAPES if job != "patch"])
def test_a_strict_schema_requires_every_field_and_no_other(job: Job) -> None:
    """OpenAI refuses a schema with optional fields or defaults."""
    schema = SHAPES[job].strict_schema
    found = list(list_objects(schema))
    assert found
    assert all(each["required"] == list(each["properties"]) for each in found)
    assert all(each["additionalProperties"] is False for each in found)
    assert '"default"' not in json.dumps(schema)


def test_the_changes_of_a_task_have_no_strict_schema() -> None:
    """They are whichever fields change: such an answer is read from the text."""
    assert SHAPES["patch"].strict_schema is None


def test_a_planner_may_say_what_a_task_changes_and_how_it_is_proved() -> None:
    """A model that must keep to the schema could not otherwise."""
    (task,) = [each for each in list_objects(SHAPES["plan"].schema) if "title" in each["properties"]]
    assert {"files", "check", "depends_on", "role"} <= set(task["properties"])


def test_claude_is_told_of_a_shape_when_it_starts() -> None:
    """The schema is an argument of its own; in other turns there is none."""
    told = list_arguments(Setup(shape=SHAPES["review"]), None)
    assert json.loads(told[told.index("--json-schema") + 1]) == SHAPES["review"].schema
    assert "--json-schema" not in list_arguments(Setup(), None)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModels]:
    with nothing_left(), a_wall() as wall, fake_models(judge) as made:
        settle(tmp_path / "home", made, wall, monkeypatch)
        (tmp_path / "tmp").mkdir()
        monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
        yield made
        assert wall.knocks == []


def judge(asked: Asked) -> Reply:
    """Answer in the form that the program asks for, otherwise in prose."""
    if "StructuredOutput" in asked.tools and not asked.results:
        return Reply(calls=(Call("StructuredOutput", VERDICT),))
    if "schema" in asked.body.get("text", {}).get("format", {}):
        return Reply(text=json.dumps(VERDICT))
    return Reply(text="I like it.")


@pytest.mark.parametrize("lifetime", ["session", "turn"])
@pytest.mark.parametrize("name", ["claude", "codex"])
@run
async def test_a_review_has_its_form_and_what_follows_has_none(
    name: str, lifetime: Literal["session", "turn"], models: FakeModels, tmp_path: Path
) -> None:
    """The model must give a verdict as JSON; the next turn, of the same conversation, is free."""
    need(name)
    async with LinkPool(SystemClock()) as pool:
        environment = RunEnvironment(folder=tmp_path, pool=pool)
        spec = CliAgent(preset=name, model=MODEL, lifetime=lifetime)
        member = spec.make(Seat(instructions="", run_environment=environment, clock=SystemClock()))
        outputs = await act(member, job_turn("review"))
        verdict = outputs[-1]
        assert isinstance(verdict, Result)
        assert json.loads(verdict.text) == VERDICT
        assert not [output for output in outputs if isinstance(output, Step) and output.tool]
        free = (await act(member, chat_turn(("alice", "How do you find it?"))))[-1]
        assert isinstance(free, Result)
        assert free.text == "I like it."
        assert lifetime == "turn" or "Write a poster" in str(models.asked[-1].body)
