"""The OpenAPI document, made from the operations and the types of their bodies."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from moot import __version__
from moot.gateway.documents import Frame, Sha256
from moot.gateway.guard import is_public
from moot.gateway.operations import COMMANDS, Operation
from moot.protocol.command_table import FOR_SESSION, Ack, RequestState, SessionId
from moot.protocol.schema import command_schemas

REST_COMMANDS = {*FOR_SESSION, Ack.event, RequestState.event}  # those that need no connection
_REF = "#/components/schemas/{name}"
_PATH_PARAMETER = re.compile(r"\{(\w+)\}")
_PATH_TYPES: dict[str, Any] = {"sha256": Sha256, "name": str}
_ERRORS = {"4XX": "Refused: the frame says why", "5XX": "Not possible now: the frame says whether to try again"}


def describe(operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the document for these operations."""
    documented = [operation for operation in operations if operation.in_schema]
    bodies = [body for operation in documented for body in (operation.takes, operation.gives)]
    types = [*(body for body in bodies if body not in (None, COMMANDS)), Frame]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    refs = {repr(type_): schema for type_, schema in zip(types, schemas, strict=True)}
    all_commands, command_types = command_schemas(_REF)
    commands = {event: schema for event, schema in all_commands.items() if event in REST_COMMANDS}
    refs[repr(COMMANDS)] = {"anyOf": [{"$ref": _REF.format(name=event)} for event in commands]}
    paths: dict[str, Any] = {}
    for operation in documented:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe(operation, refs)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Moot", "version": __version__, "description": "Sessions of people and AI agents."},
        "security": [{"bearer": []}, {"query": []}, {"cookie": [], "secret": []}],
        "paths": paths,
        "components": {"schemas": {**components, **commands, **command_types}, "securitySchemes": _SECURITY},
    }


_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "query": {"type": "apiKey", "in": "query", "name": "token"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "moot_<id of the server>"},
    "secret": {"type": "apiKey", "in": "header", "name": "Moot-Login"},
}


def _describe(operation: Operation, refs: dict[str, Any]) -> dict[str, Any]:
    content = {} if operation.gives is None else {operation.media_type: {"schema": refs[repr(operation.gives)]}}
    error = {"content": {"application/json": {"schema": refs[repr(Frame)]}}}
    description: dict[str, Any] = {
        "operationId": operation.handler.__name__,
        "summary": operation.summary,
        "parameters": _parameters(operation),
        "responses": {
            str(operation.status): {"description": operation.summary, **({"content": content} if content else {})},
            **{status: {"description": text, **error} for status, text in _ERRORS.items()},
        },
    }
    if operation.takes is not None:
        schema = refs[repr(operation.takes)]
        media_type = "application/octet-stream" if operation.takes is bytes else "application/json"
        description["requestBody"] = {"required": True, "content": {media_type: {"schema": schema}}}
    if is_public(operation.path):
        description["security"] = []
    return description


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": msgspec.json.schema(_PATH_TYPES.get(name, SessionId))}
        for name in _PATH_PARAMETER.findall(operation.path)
    ]
    others = [
        {
            "name": parameter.name,
            "in": parameter.place,
            "description": parameter.text,
            "schema": msgspec.json.schema(parameter.type),
        }
        for parameter in operation.parameters
    ]
    return in_path + others
