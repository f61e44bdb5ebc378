"""The team file's JSON Schema, for editors (`moot schema`)."""

from typing import Any

import msgspec

from moot.config.quantities import CORE_BOUNDS
from moot.config.team_file import TeamFile

_KEYWORDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum"}


def team_schema() -> dict[str, Any]:
    schema = msgspec.json.schema(TeamFile)
    definitions: dict[str, Any] = schema["$defs"]
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
        **schema,
    }
