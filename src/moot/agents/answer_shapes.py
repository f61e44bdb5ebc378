"""The JSON objects that planners and reviewers must answer with.

Only the shape is checked here; a model that misses it is told what is wrong and answers again. Whether a plan makes
sense is decided by the core.
"""

from typing import Any, Literal

import msgspec

from moot.core.flows.turns import Job
from moot.core.intake.intent import PlanPatch
from moot.core.json_text import find_object

Json = dict[str, Any]
PROBLEM_CHARS = 500


class Task(msgspec.Struct, kw_only=True):
    id: str
    title: str
    objective: str = ""
    depends_on: list[str] = []
    role: str = ""
    member: str = ""
    deliverable: str = ""
    files: list[str] = []
    check: str = ""


class Plan(msgspec.Struct, kw_only=True):
    tasks: list[Task]
    summary: str = ""


class LooseTask(msgspec.Struct, kw_only=True):
    """The fields that must be there. The rest is checked by the core, which accepts more than the schema."""

    id: str | int
    title: str


class LoosePlan(msgspec.Struct, kw_only=True):
    tasks: list[LooseTask]


class Patches(msgspec.Struct, kw_only=True):
    patches: list[PlanPatch]


class Review(msgspec.Struct, kw_only=True):
    passed: bool = msgspec.field(name="pass")
    feedback: str = ""


class Evaluation(msgspec.Struct, kw_only=True):
    decision: Literal["replan", "continue", "ask", "abort"]
    reason: str = ""


class Shape(msgspec.Struct, frozen=True):
    """The form of an answer.

    `key` identifies the object in text, `asked` is the schema that models are shown, `taken` the one that is enforced,
    `result` the field of Result that it becomes.
    """

    key: str
    asked: type
    taken: type
    result: str

    @property
    def strict_schema(self) -> Json | None:
        """The schema with all fields required and no others, as some providers want it; None if that cannot be said."""
        return None if self.asked is Patches else _make_strict(self.schema)

    @property
    def schema(self) -> Json:
        """JSON Schema without references, which some providers do not support."""
        _, components = msgspec.json.schema_components([self.asked], ref_template="{name}")
        schema: Json = _inline(components[self.asked.__name__], components)
        return schema

    def read(self, text: str) -> Json:
        """Find the object in a text. Raises ValueError with a sentence for the model."""
        answer = find_object(text, self.key)
        if answer is None:
            raise ValueError(f'no JSON object with "{self.key}" found')
        return self.check(answer)

    def check(self, answer: Json) -> Json:
        """Return the object unchanged, with unknown fields. Raises ValueError if its shape is wrong."""
        try:
            msgspec.convert(answer, self.taken)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)[:PROBLEM_CHARS]) from None
        return answer

    def pick(self, answer: Json) -> Any:
        """Return the value for the field of Result."""
        return tuple(answer[self.key]) if self.result == "patches" else answer


SHAPES: dict[Job, Shape] = {
    "plan": Shape("tasks", Plan, LoosePlan, "plan"),
    "patch": Shape("patches", Patches, Patches, "patches"),
    "evaluate": Shape("decision", Evaluation, Evaluation, "evaluation"),
    **dict.fromkeys(("review", "review_plan", "review_answer"), Shape("pass", Review, Review, "review")),
}


def _make_strict(schema: Any) -> Any:
    match schema:
        case {"type": "object", "properties": properties}:
            fields = {name: _make_strict(each) for name, each in properties.items()}
            rest = {key: value for key, value in schema.items() if key != "default"}
            return {**rest, "properties": fields, "required": list(fields), "additionalProperties": False}
        case dict():
            return {key: _make_strict(value) for key, value in schema.items() if key != "default"}
        case _:
            return schema


def _inline(schema: Any, components: dict[str, Any]) -> Any:
    match schema:
        case {"$ref": str(name)}:
            return _inline(components[name], components)
        case dict():
            return {key: _inline(value, components) for key, value in schema.items()}
        case list():
            return [_inline(value, components) for value in schema]
        case _:
            return schema
