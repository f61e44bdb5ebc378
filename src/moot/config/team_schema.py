"""The team file's JSON Schema, for editors (`moot schema`)."""

from typing import Any

import msgspec

from moot.config.agent_specs import list_agent_types
from moot.config.quantities import CORE_BOUNDS
from moot.config.team_file import TeamFile

_KEYWORDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum"}


def team_schema() -> dict[str, Any]:
    kinds = list_agent_types()
    references = {name: f"#/$defs/{kind.__name__}" for name, kind in kinds.items()}
    agent = {
        "anyOf": [
            *({"$ref": reference} for reference in references.values()),
            {"type": "string", "description": "short: a preset such as claude, or a model as provider:name"},
        ],
        "discriminator": {"propertyName": "type", "mapping": references},
    }
    (root, *_), definitions = msgspec.json.schema_components(
        [TeamFile, *kinds.values()], schema_hook=lambda _: agent, ref_template="#/$defs/{name}"
    )
    for kind in kinds.values():
        for field, choices in kind.choices().items():
            definitions[kind.__name__]["properties"][field]["anyOf"] = [{"enum": choices}, {"type": "null"}]
    for definition in definitions.values():
        if "properties" in definition:
            definition["additionalProperties"] = False  # validation refuses unknown keys everywhere
    for (cls, field), bounds in CORE_BOUNDS.items():
        definitions[cls.__name__]["properties"][field] |= {_KEYWORDS[name]: bound for name, bound in bounds.items()}
    members = definitions["TeamFile"]["properties"]["members"]
    members["minItems"] = 2
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Moot team file",
        **root,
        "$defs": definitions,
    }
