"""The protocol for other programs: JSON Schema of every frame and an AsyncAPI document, made from the types.

Logged frames come from the facts of the core, unlogged ones from `UNLOGGED`, commands from their table.
"""

from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from moot.core.flows.registry import FACTS
from moot.core.session.team import Language
from moot.protocol.command_table import COMMANDS, CommandId, Row, SessionId
from moot.protocol.frames import PROTOCOL, UNLOGGED

DIALECT = "https://json-schema.org/draft/2020-12/schema"
DEFINITIONS = "#/$defs/{name}"

TIMELINE = (
    "user_input_received",
    "semantic_understanding_started",
    "semantic_understanding_completed",
    "routing_decision_made",
    "phase_transition",
    "user_confirmation_required",
    "task_dispatch_requested",
    "task_dispatch_ack",
    "task_dispatch_nack",
    "task_execution_started",
    "agent_step_completed",
    "task_execution_result",
    "task_review_result",
)


_ENVELOPE_OF_COMMANDS: dict[str, Any] = {
    "session_id": msgspec.json.schema(SessionId),
    "command_id": msgspec.json.schema(CommandId),
    "content": {},
    "metadata": {"type": "object"},
}
_ENVELOPE_OF_EVENTS: dict[str, Any] = {
    "title": "logged",
    "description": "An event of the log: the stored bytes with show_content and hash added at their end.",
    "type": "object",
    "properties": {
        "event": {"type": "string"},
        "session_id": {"type": "string"},
        "seq": {"type": "integer", "minimum": 1},
        "event_id": {"type": "string"},
        "timestamp": {"type": "string", "format": "date-time"},
        "step_id": {"type": "string"},
        "source": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("loop_id", "role", "member", "token")},
            "required": ["loop_id", "role"],
        },
        "timeline": {"enum": list(TIMELINE)},
        "content": {},
        "metadata": {"type": "object"},
        "show_content": {"type": "string"},
        "hash": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    },
    "required": ["event", "session_id", "seq", "event_id", "timestamp", "source", "metadata", "hash"],
}


def frame_schema() -> dict[str, Any]:
    """Return one definition for each frame, named after its event, and one for each type in it."""
    facts: tuple[Any, ...] = FACTS
    answers = [kind for kinds in UNLOGGED.values() for kind in kinds]
    _, types = msgspec.json.schema_components(dict.fromkeys([*facts, *answers]), ref_template=DEFINITIONS)
    commands, command_types = command_schemas(DEFINITIONS)
    frames = {
        **{fact.event: _logged(fact) for fact in facts},
        **{event: _unlogged(event, kinds) for event, kinds in UNLOGGED.items()},
    }
    return {
        "$schema": DIALECT,
        "title": f"Moot event protocol {PROTOCOL}",
        "description": "Frames are JSON text, one a message; with ?batch=1 the server may send an array of frames.",
        "anyOf": [{"$ref": "#/$defs/server_frame"}, {"$ref": "#/$defs/client_frame"}],
        "$defs": {
            "server_frame": {"anyOf": [{"$ref": f"#/$defs/{event}"} for event in frames]},
            "client_frame": {"anyOf": [{"$ref": f"#/$defs/{event}"} for event in commands]},
            "logged": _ENVELOPE_OF_EVENTS,
            **frames,
            **commands,
            **types,
            **command_types,
        },
    }


def command_schemas(ref_template: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of each command by its event, and the types that they refer to by `ref_template`."""
    shown = [row.documented.get(field.name, field.type) for row in COMMANDS.values() for field in row.fields]
    schemas, types = msgspec.json.schema_components(shown, ref_template=ref_template)
    rest = iter(schemas)
    return {event: _command(row, [next(rest) for _ in row.fields]) for event, row in COMMANDS.items()}, types


def _logged(fact: Any) -> dict[str, Any]:
    return {
        **_describe(fact.event, fact),
        "allOf": [{"$ref": "#/$defs/logged"}],
        "properties": {"event": {"const": fact.event}, "metadata": {"$ref": f"#/$defs/{fact.__name__}"}},
    }


def _unlogged(event: str, kinds: tuple[type[Struct], ...]) -> dict[str, Any]:
    """No seq, no event_id, no hash."""
    refs = [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds]
    return {
        **_describe(event, *kinds),
        "properties": {
            "event": {"const": event},
            "session_id": {"type": "string"},
            "timestamp": {"type": "string"},
            "content": {"type": "string"},
            "metadata": refs[0] if len(refs) == 1 else {"anyOf": refs},
        },
        "required": ["event", "timestamp", "metadata"],
    }


def _command(row: Row, schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Fields are shown at top level; each may also be in `metadata`, or in `content` when that is an object.

    So only the event is required here: the server says in a sentence what is missing.
    """
    own: dict[str, Any] = {}
    for field, schema in zip(row.fields, schemas, strict=True):
        own[field.name] = schema if field.required else {**schema, "default": field.default}
        if field.name in row.also:
            own[row.also[field.name]] = {**own[field.name], "description": f"another name for `{field.name}`"}
    return {
        "title": row.event,
        "description": row.description,
        "type": "object",
        "properties": {"event": {"const": row.event}, **_ENVELOPE_OF_COMMANDS, **own},
        "required": ["event"],
    }


def _describe(event: str, *kinds: type[Struct]) -> dict[str, Any]:
    words = [
        " ".join(kind.__doc__.split()) for kind in kinds if kind.__doc__ and not kind.__doc__.startswith(kind.__name__)
    ]
    described = {"description": " / ".join(words)} if words else {}
    return {"title": event, **described, "type": "object"}


def asyncapi() -> dict[str, Any]:
    """Return the AsyncAPI 3 document: one channel, and what each side sends on it."""
    definitions = frame_schema()["$defs"]
    events = [name for name in definitions if "." in name]
    messages = {
        event: {
            "name": event,
            "title": event,
            "contentType": "application/json",
            "payload": {"$ref": f"#/components/schemas/{event}"},
        }
        for event in events
    }
    schemas = _move_refs({name: schema for name, schema in definitions.items() if not name.endswith("_frame")})
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Moot event protocol",
            "version": str(PROTOCOL),
            "description": "Sessions in which people and AI agents work together: a log of events, and commands.",
        },
        "defaultContentType": "application/json",
        "servers": {
            "local": {
                "host": "127.0.0.1:8765",
                "protocol": "ws",
                "security": [{"$ref": "#/components/securitySchemes/bearer"}],
            }
        },
        "channels": {
            "events": {
                "address": "/ws",
                "bindings": {"ws": {"method": "GET", "query": _query()}},
                "messages": {event: {"$ref": f"#/components/messages/{event}"} for event in events},
            }
        },
        "operations": {
            "receive": _operation("send", [event for event in events if event not in COMMANDS]),
            "command": _operation("receive", list(COMMANDS)),
        },
        "components": {
            "messages": messages,
            "schemas": schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(action: Literal["send", "receive"], events: list[str]) -> dict[str, Any]:
    """In AsyncAPI's words, as the server does it."""
    return {
        "action": action,
        "channel": {"$ref": "#/channels/events"},
        "messages": [{"$ref": f"#/channels/events/messages/{event}"} for event in events],
    }


def _query() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "lang": {"enum": list(get_args(Language))},
            "batch": {"const": "1", "description": "several frames may come in one message, as an array"},
            "token": {"type": "string", "description": "for programs that cannot send a header"},
        },
    }


def _move_refs(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: value.replace("#/$defs/", "#/components/schemas/") if key == "$ref" else _move_refs(value)
            for key, value in schema.items()
        }
    return [_move_refs(each) for each in schema] if isinstance(schema, list) else schema
