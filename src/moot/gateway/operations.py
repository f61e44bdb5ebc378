"""An operation of the HTTP interface: one route, with what its documentation needs."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

Handler = Callable[[Request], Awaitable[Response]]


class Parameter(Struct, frozen=True):
    """Of the query, or of the headers."""

    name: str
    text: str
    type: Any = str
    place: str = "query"


class Operation(Struct, frozen=True, kw_only=True):
    """`takes` and `gives` are types of `documents`; `media_type` is that of the answer."""

    method: str
    path: str
    summary: str
    handler: Handler
    takes: Any = None
    gives: Any = None
    parameters: tuple[Parameter, ...] = ()
    media_type: str = "application/json"
    status: int = 200
    in_schema: bool = True


LANGUAGE = Parameter("lang", "zh or en: the language of texts for people")
AFTER = Parameter("after", "a seq: only events behind it", int)
