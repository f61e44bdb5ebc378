"""The protocol for other programs: JSON Schema of every frame and an AsyncAPI document, made from the types.

Logged frames come from the facts of the core, unlogged ones from `answers`; what clients send is listed here, and a
test holds the list to the one that the server reads.
"""

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from moot.core import limits
from moot.core.commands import QueueAction
from moot.core.events import Fact
from moot.core.team import Language
from moot.protocol.answers import UNLOGGED
from moot.protocol.frames import COMMAND_ID_CHARS, MAX_SEQ, PROTOCOL

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Seq = Annotated[int, Meta(ge=0, le=MAX_SEQ)]

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


class Cancel(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Stop what runs: the turn, or all of a plan. The next message starts anew."""


class CancelPlan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """End the plan."""


class Pause(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What runs comes to its end, then people have the floor."""


class Resume(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Go on; at a limit, with as much again."""


class RetryTurn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Repeat the turn that failed or was cancelled last."""


class End(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """End the session; what runs is killed."""


class CreateSession(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A new session of a team; without `team` of the server's first. Its log is sent from seq 1."""

    team: str | None = None
    title: str = ""


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person types: text with markers, or a slash command. It may also stand in `content` as a string."""

    text: str = ""


class Task(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task of a plan; whole numbers as ids count as their decimal text, other keys are kept."""

    id: Annotated[str, Meta(max_length=limits.NAME_CHARS)] | int
    title: Annotated[str, Meta(max_length=limits.TITLE_CHARS)]
    objective: str = ""
    depends_on: list[str | int] = []
    role: str = ""
    member: str = ""
    deliverable: str = ""


Tasks = Annotated[list[Task], Meta(max_length=limits.TASKS)]


class Response(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to an open step; `approved` is another word for `confirmed`, `tasks` are the plan as it was edited,
    `state` is an agent's output as it was edited; `selected_ids` and `custom_input` answer an agent's question."""

    step_id: str
    confirmed: bool | None = None
    approved: bool | None = None
    choice: str | None = None
    answer: str | None = None
    tasks: Tasks | None = None
    selected_ids: list[str] | None = None
    custom_input: str | None = None
    state: dict[str, Any] | None = None


class SolveTasks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Run these tasks: no planning, no confirmation. A bare list as `content` is `tasks`, a text is `question`."""

    tasks: Tasks
    question: str = ""


class OneTask(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task of the plan that is under way. It may also stand in `content` as a string."""

    task_id: str | int


class RestartedTask(OneTask, frozen=True, kw_only=True, omit_defaults=True):
    """A task that starts again, with `member` in the hands of another."""

    member: str | None = None


class Replan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Plan again; what is finished is kept where it still fits. The feedback may also be the `content`."""

    feedback: str = ""


class Rename(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the session is called from now on, also when it is over. It may also stand in `content` as a string."""

    title: Annotated[str, Meta(min_length=1, max_length=limits.TITLE_CHARS)]


class Queue(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """skip: the head, or `member`; clear: all; move: `member` to position `to`."""

    action: QueueAction
    member: str | None = None
    to: int = 0


class Reconnect(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The whole history, then live."""

    session_id: str


class ReconnectWithState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is missing, then live; `state_checksum` is the hash of the last event that is held."""

    session_id: str
    last_seq: Seq | None = None
    last_event_id: str | None = None
    state_checksum: str | None = None
    signed_state: str | None = None


class RequestState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Answered by agent.state_exported."""

    session_id: str


class Ack(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is held. Monotone, never refused, deletes nothing. A bare integer as `content` is `last_seq`."""

    last_seq: Seq | None = None
    last_event_id: str | None = None


class SetLanguage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Of the texts for people that this connection is sent."""

    language: Language


CLIENT: dict[str, type[Struct]] = {
    "user.create_session": CreateSession,
    "user.message": Message,
    "user.response": Response,
    "user.queue": Queue,
    "user.reconnect": Reconnect,
    "user.reconnect_with_state": ReconnectWithState,
    "user.request_state": RequestState,
    "user.ack": Ack,
    "user.set_language": SetLanguage,
    "user.solve_tasks": SolveTasks,
    "user.cancel_task": OneTask,
    "user.restart_task": RestartedTask,
    "user.replan": Replan,
    "user.rename": Rename,
    "user.cancel": Cancel,
    "user.cancel_plan": CancelPlan,
    "user.pause": Pause,
    "user.resume": Resume,
    "user.retry": RetryTurn,
    "user.end": End,
}
_ENVELOPE_OF_COMMANDS: dict[str, Any] = {
    "session_id": {"type": "string", "pattern": "^[a-z0-9_-]{8,64}$"},
    "command_id": {"type": "string", "minLength": 1, "maxLength": COMMAND_ID_CHARS},
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
            "properties": {"loop_id": {"type": "string"}, "role": {"type": "string"}, "member": {"type": "string"}},
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
    """One definition a frame, named after its event, and one for each type that it holds."""
    facts: tuple[Any, ...] = get_args(Fact)
    answers = [kind for kinds in UNLOGGED.values() for kind in kinds]
    kinds = [*facts, *answers, *CLIENT.values()]
    _, types = msgspec.json.schema_components(dict.fromkeys(kinds), ref_template="#/$defs/{name}")
    frames = {
        **{fact.event: _logged(fact) for fact in facts},
        **{event: _unlogged(event, said) for event, said in UNLOGGED.items()},
        **{event: _command(event, fields, types) for event, fields in CLIENT.items()},
    }
    server = [{"$ref": f"#/$defs/{event}"} for event in frames if event not in CLIENT]
    client = [{"$ref": f"#/$defs/{event}"} for event in CLIENT]
    return {
        "$schema": DIALECT,
        "title": f"Moot event protocol {PROTOCOL}",
        "description": "Frames are JSON text, one a message; with ?batch=1 the server may send an array of frames.",
        "anyOf": [{"$ref": "#/$defs/server_frame"}, {"$ref": "#/$defs/client_frame"}],
        "$defs": {
            "server_frame": {"anyOf": server},
            "client_frame": {"anyOf": client},
            "logged": _ENVELOPE_OF_EVENTS,
            **frames,
            **types,
        },
    }


def _logged(fact: Any) -> dict[str, Any]:
    return {
        **_describe(fact.event, fact),
        "allOf": [{"$ref": "#/$defs/logged"}],
        "properties": {"event": {"const": fact.event}, "metadata": {"$ref": f"#/$defs/{fact.__name__}"}},
    }


def _unlogged(event: str, said: tuple[type[Struct], ...]) -> dict[str, Any]:
    """No seq, no event_id, no hash."""
    refs = [{"$ref": f"#/$defs/{kind.__name__}"} for kind in said]
    return {
        **_describe(event, *said),
        "properties": {
            "event": {"const": event},
            "session_id": {"type": "string"},
            "timestamp": {"type": "string"},
            "content": {"type": "string"},
            "metadata": refs[0] if len(refs) == 1 else {"anyOf": refs},
        },
        "required": ["event", "timestamp", "metadata"],
    }


def _command(event: str, fields: type[Struct], types: dict[str, Any]) -> dict[str, Any]:
    """Fields are shown at top level; each may also stand in `metadata`, or in `content` when that is an object.

    So none but the event is required here: what is missing is told by an error with a sentence.
    """
    own = types[fields.__name__]["properties"]
    return {
        **_describe(event, fields),
        "properties": {"event": {"const": event}, **_ENVELOPE_OF_COMMANDS, **own},
        "required": ["event"],
    }


def _describe(event: str, *kinds: type[Struct]) -> dict[str, Any]:
    words = [
        " ".join(kind.__doc__.split()) for kind in kinds if kind.__doc__ and not kind.__doc__.startswith(kind.__name__)
    ]
    described = {"description": " / ".join(words)} if words else {}
    return {"title": event, **described, "type": "object"}


def asyncapi() -> dict[str, Any]:
    """AsyncAPI 3: one channel, what each side sends on it."""
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
            "receive": _operation("send", [event for event in events if event not in CLIENT]),
            "command": _operation("receive", list(CLIENT)),
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
