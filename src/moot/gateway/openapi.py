"""The OpenAPI document, made from the operations and the types they take and give."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from moot import __version__
from moot.gateway.documents import Frame, SessionId
from moot.gateway.guard import is_public
from moot.gateway.operations import Operation

_PATH_PARAMETER = re.compile(r"\{(\w+)\}")
_ERRORS = {"4XX": "Refused: the frame says why", "5XX": "Not possible now: the frame says whether to try again"}


def describe(operations: Iterable[Operation]) -> dict[str, Any]:
    documented = [each for each in operations if each.in_schema]
    used = [kind for each in documented for kind in (each.takes, each.gives) if kind is not None]
    schemas, components = msgspec.json.schema_components([*used, Frame], ref_template="#/components/schemas/{name}")
    refs = {repr(kind): schema for kind, schema in zip([*used, Frame], schemas, strict=True)}
    paths: dict[str, Any] = {}
    for each in documented:
        paths.setdefault(each.path, {})[each.method.lower()] = _describe(each, refs)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Moot", "version": __version__, "description": "Sessions of people and AI agents."},
        "security": [{"bearer": []}, {"query": []}, {"cookie": []}],
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": _SECURITY},
    }


_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "query": {"type": "apiKey", "in": "query", "name": "token"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "moot_token"},
}


def _describe(operation: Operation, refs: dict[str, Any]) -> dict[str, Any]:
    given = {} if operation.gives is None else {operation.media_type: {"schema": refs[repr(operation.gives)]}}
    failed = {"content": {"application/json": {"schema": refs[repr(Frame)]}}}
    described: dict[str, Any] = {
        "operationId": operation.handler.__name__,
        "summary": operation.summary,
        "parameters": _parameters(operation),
        "responses": {
            str(operation.status): {"description": operation.summary, **({"content": given} if given else {})},
            **{status: {"description": text, **failed} for status, text in _ERRORS.items()},
        },
    }
    if operation.takes is not None:
        schema = refs[repr(operation.takes)]
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    if is_public(operation.path):
        described["security"] = []
    return described


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": msgspec.json.schema(SessionId)}
        for name in _PATH_PARAMETER.findall(operation.path)
    ]
    others = [
        {"name": each.name, "in": each.place, "description": each.text, "schema": msgspec.json.schema(each.type)}
        for each in operation.parameters
    ]
    return in_path + others
