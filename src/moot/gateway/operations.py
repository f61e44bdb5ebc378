"""The operations of the HTTP interface: a route with what the OpenAPI document says about it."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from moot.core.session.team import LANGUAGES

COMMANDS = "a user.* frame"  # `takes` of an operation whose body is any command for a session

Handler = Callable[[Request], Awaitable[Response]]


class Parameter(Struct, frozen=True):
    """A parameter in the query or, by `place`, in the headers."""

    name: str
    text: str
    type: Any = str
    place: str = "query"


class Operation(Struct, frozen=True, kw_only=True):
    """One route. `takes` and `gives` are the types of its bodies (or COMMANDS); `media_type` is the response's."""

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


LANGUAGE = Parameter("lang", f"{' or '.join(LANGUAGES)}: the language of texts for people")
AFTER = Parameter("after", "a seq: only events behind it", int)
