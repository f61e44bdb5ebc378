"""`make docs`: writes docs/protocol from the types, so that what other programs are told is what Moot does."""

import json
from pathlib import Path
from typing import Any

from moot.protocol.schema import asyncapi, frame_schema

FOLDER = Path(__file__).parent / "protocol"


def draw() -> dict[str, str]:
    """File name to text."""
    return {"events.schema.json": _format(frame_schema()), "asyncapi.json": _format(asyncapi())}


def _format(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in draw().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
