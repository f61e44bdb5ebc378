"""What planners and reviewers must answer: a JSON object of a known shape, found in prose or given by the provider.

Here only the shape is checked, and a model that misses it is told what is wrong and asked again. Whether a plan makes
sense is decided where plans are decided.
"""

from typing import Any

import msgspec

from moot.core.intent import PlanPatch
from moot.core.json_text import find_object
from moot.core.turns import Job

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


class Plan(msgspec.Struct, kw_only=True):
    tasks: list[Task]
    summary: str = ""


class LooseTask(msgspec.Struct, kw_only=True):
    """What must be there; the rest is judged by who decides on plans, who forgives more than a schema does."""

    id: str | int
    title: str


class LoosePlan(msgspec.Struct, kw_only=True):
    tasks: list[LooseTask]


class Patches(msgspec.Struct, kw_only=True):
    patches: list[PlanPatch]


class Review(msgspec.Struct, kw_only=True):
    passed: bool = msgspec.field(name="pass")
    feedback: str = ""


class Shape(msgspec.Struct, frozen=True):
    """`key` is what the object is known by in prose, `asked` what models are told, `taken` what they must keep to."""

    key: str
    asked: type
    taken: type
    result: str

    @property
    def schema(self) -> Json:
        """JSON Schema without references: some providers take none."""
        _, components = msgspec.json.schema_components([self.asked], ref_template="{name}")
        schema: Json = _inline(components[self.asked.__name__], components)
        return schema

    def read(self, text: str) -> Json:
        """The object in a text. ValueError is a sentence for the model."""
        found = find_object(text, self.key)
        if found is None:
            raise ValueError(f'no JSON object with "{self.key}" found')
        return self.check(found)

    def check(self, found: Json) -> Json:
        """The object as it was given: what the shape does not know is kept."""
        try:
            msgspec.convert(found, self.taken)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)[:PROBLEM_CHARS]) from None
        return found

    def pick(self, found: Json) -> Any:
        return tuple(found[self.key]) if self.result == "patches" else found


SHAPES: dict[Job, Shape] = {
    "plan": Shape("tasks", Plan, LoosePlan, "plan"),
    "patch": Shape("patches", Patches, Patches, "patches"),
    "review": Shape("pass", Review, Review, "review"),
}


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
