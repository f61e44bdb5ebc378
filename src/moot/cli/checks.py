"""A finding of `moot doctor`."""

from typing import Literal

import msgspec
from msgspec import Struct

Status = Literal["ok", "note", "fail"]
MARKS: dict[Status, str] = {"ok": "✓", "note": "·", "fail": "✗"}


class Check(Struct, frozen=True, kw_only=True):
    """A finding. `note` is for what is missing but optional; `is_damage` means that stored data cannot be read."""

    name: str
    status: Status
    says: str
    fix: str = ""
    is_damage: bool = False

    def format(self, *, as_json: bool) -> str:
        if as_json:
            return msgspec.json.encode({key: getattr(self, key) for key in ("name", "status", "says", "fix")}).decode()
        return f"{MARKS[self.status]} {self.name}: {self.says}" + (f"\n    → {self.fix}" if self.fix else "")
