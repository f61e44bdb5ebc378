"""A problem of a team file: where it is, what is wrong, and a hint."""

import re

from msgspec import Struct

from moot.config.message_format import shorten, show_name
from moot.core.session.team import Path

_PLAIN_KEY = re.compile(r"[\w-]{1,60}")


class Problem(Struct, frozen=True, kw_only=True):
    """`line` counts from 1 and is None for a team that does not come from a file; `hint` may be empty."""

    path: Path = ()
    text: str
    hint: str = ""
    line: int | None = None

    @property
    def where(self) -> str:
        return format_path(self.path)

    @property
    def sentence(self) -> str:
        return f"{self.text}; {self.hint}" if self.hint else self.text

    def format(self, origin: str, level: str = "") -> str:
        """Return `FILE:LINE: level: path: sentence`, without the parts that are unknown or empty."""
        place = show_name(origin) if self.line is None else f"{show_name(origin)}:{self.line}"
        return ": ".join(part for part in (place, level, self.where, self.sentence) if part)


def format_path(path: Path) -> str:
    """`members[1].agent.type`; a key that is not a plain word is quoted."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{shorten(part)}]"
    return text
