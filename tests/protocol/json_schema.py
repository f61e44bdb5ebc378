"""As much of JSON Schema as our own documents use, to check frames against them."""

import re
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
KNOWN = {
    *("$ref", "$schema", "$defs", "title", "description", "default", "format", "type", "const", "enum", "anyOf"),
    *("allOf", "properties", "required", "items", "minimum", "maximum", "pattern", "minLength", "maxLength"),
    *("additionalProperties",),
}


def problems(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$") -> list[str]:
    """Where the value does not fit; nothing when it does."""
    assert schema.keys() <= KNOWN, schema.keys() - KNOWN
    if "$ref" in schema:
        return problems(value, resolve(schema["$ref"], root), root, at)
    found = [each for part in schema.get("allOf", ()) for each in problems(value, part, root, at)]
    if "anyOf" in schema and all(problems(value, part, root, at) for part in schema["anyOf"]):
        found.append(f"{at}: fits none of them")
    if not fits_type(value, schema.get("type")):
        return [*found, f"{at}: {value!r} is no {schema['type']}"]
    if "const" in schema and value != schema["const"]:
        found.append(f"{at}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r} is none of {schema['enum']}")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        found.append(f"{at}: {value!r} is not like {schema['pattern']}")
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        found.append(f"{at}: {value} is out of bounds")
    return found + parts_of(value, schema, root, at)


def parts_of(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str) -> list[str]:
    if isinstance(value, list):
        items = schema.get("items", {})
        return [each for number, item in enumerate(value) for each in problems(item, items, root, f"{at}[{number}]")]
    if not isinstance(value, dict):
        return []
    missing = [f"{at}: {name} is missing" for name in schema.get("required", ()) if name not in value]
    own = schema.get("properties", {})
    return missing + [
        each for name in own.keys() & value.keys() for each in problems(value[name], own[name], root, f"{at}.{name}")
    ]


def fits_type(value: Any, wanted: str | None) -> bool:
    if wanted is None:
        return True
    return isinstance(value, TYPES[wanted]) and not (isinstance(value, bool) and wanted in ("integer", "number"))


def resolve(ref: str, root: dict[str, Any]) -> dict[str, Any]:
    """`#/a/b` in the document."""
    found: Any = root
    for part in ref.removeprefix("#/").split("/"):
        found = found[part]
    assert isinstance(found, dict)
    return found


def refs_of(document: Any) -> set[str]:
    if isinstance(document, list):
        return {ref for each in document for ref in refs_of(each)}
    if not isinstance(document, dict):
        return set()
    own = {document["$ref"]} if isinstance(document.get("$ref"), str) else set()
    return own | {ref for value in document.values() for ref in refs_of(value)}
