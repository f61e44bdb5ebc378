"""Views on the wire: the JSON merge patch (RFC 7386) from one view to the next.

In a merge patch null means "remove this member". A document therefore has no members that are null, also none in
objects that other people wrote (a task, what the agents of a supervisor share): null and absent mean the same. Arrays
are replaced as a whole, and keep theirs.
"""

from typing import Any

import msgspec

from moot.core.view import View

Document = dict[str, Any]


def to_document(view: View) -> Document:
    """Return a view as JSON that merge patches can describe."""
    document: Document = _without_nulls(msgspec.to_builtins(view))
    return document


def to_view(document: Document) -> View:
    """Read a view from a document. Raises msgspec.ValidationError if this version cannot read it."""
    return msgspec.convert(document, View)


def _without_nulls(value: Any) -> Any:
    if type(value) is not dict:
        return value
    return {name: _without_nulls(member) for name, member in value.items() if member is not None}


def diff(before: Document, after: Document) -> Document:
    """Return the patch from `before` to `after`; empty if they are equal."""
    patch: Document = dict.fromkeys(name for name in before if name not in after)
    for name, value in after.items():
        known = before.get(name)
        if type(value) is dict and type(known) is dict:
            if changed := diff(known, value):
                patch[name] = changed
        elif known is not value and (type(known) is not type(value) or known != value):
            patch[name] = value
    return patch


def merge(target: Any, patch: Any) -> Any:
    """Return the document after a patch; neither argument is changed."""
    if type(patch) is not dict:
        return patch
    merged = dict(target) if type(target) is dict else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged
