"""One finding of `moot doctor`, and what reads it."""

from typing import Literal

import msgspec
from msgspec import Struct

Status = Literal["ok", "note", "fail"]
MARKS: dict[Status, str] = {"ok": "✓", "note": "·", "fail": "✗"}


class Check(Struct, frozen=True, kw_only=True):
    """`note`: nothing is wrong, but something could be had."""

    name: str
    status: Status
    says: str
    fix: str = ""

    def format(self, *, as_json: bool) -> str:
        if as_json:
            return msgspec.json.encode(self).decode()
        return f"{MARKS[self.status]} {self.name}: {self.says}" + (f"\n    → {self.fix}" if self.fix else "")
