import json
from typing import Any

from moot.config.team_schema import team_schema


def test_the_schema_describes_the_team_file() -> None:
    """Editors learn keys, choices and bounds, those of the core's settings too."""
    schema = team_schema()
    definitions = schema["$defs"]
    team = definitions["TeamFile"]
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert schema["title"] == "Moot team file"
    assert schema["$ref"] == "#/$defs/TeamFile"
    assert team["required"] == ["moot", "name", "members"]
    assert set(team["properties"]["flow"]["enum"]) == {"chat", "supervisor", "plan"}
    assert definitions["ChatSettings"]["properties"]["history"] == {
        "type": "integer",
        "description": "messages that an AI is given",
        "default": 20,
        "minimum": 0,
        "maximum": 200,
    }
    assert definitions["ScriptReview"]["required"] == ["pass"]


def test_the_schema_is_closed_and_complete() -> None:
    """It is JSON, every reference leads somewhere, and no object takes unknown keys."""
    schema = json.loads(json.dumps(team_schema()))
    references: set[str] = set()

    def visit(part: Any) -> None:
        if isinstance(part, dict):
            references.update(part[key] for key in ("$ref",) if isinstance(part.get(key), str))
            assert "properties" not in part or part["additionalProperties"] is False
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else []:
            visit(inner)

    visit(schema)
    assert references == {f"#/$defs/{name}" for name in schema["$defs"]}
