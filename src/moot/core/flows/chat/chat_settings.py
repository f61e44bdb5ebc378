"""The settings of the chat flow: the section `chat` of a team file."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Mentions = Literal["humans", "everyone", "off"]


class ChatSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    max_hops: Annotated[
        int, Meta(description="AI turns since a human last spoke; then the session pauses. 0 = off")
    ] = 50
    history: Annotated[int, Meta(description="messages that an AI is given")] = 20
    turn_timeout_s: Annotated[float, Meta(description="of one turn")] = 1800.0
    default: Annotated[
        str, Meta(description="the member who is given what a human says to nobody, when the queue is empty")
    ] = ""
    mentions: Annotated[Mentions, Meta(description="in whose messages `@name` names who is next")] = "humans"
