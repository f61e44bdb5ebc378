"""Moot: sessions in which people and AI agents work together.

import moot
async with moot.open("team.yaml") as app:
    session = await app.session()
    async for event in session.say("[NEXT: bob] hello"):
        ...
"""

from typing import TYPE_CHECKING, Any

__all__ = ["agent", "connect", "open"]
__version__ = "0.1.0"

if TYPE_CHECKING:
    from moot.agents.python import agent
    from moot.app import open_app as open  # noqa: A004 - `moot.open` is the public name
    from moot.client.client import connect

_HOMES = {
    "open": ("moot.app", "open_app"),
    "agent": ("moot.agents.python", "agent"),
    "connect": ("moot.client.client", "connect"),
}


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is asked for: `moot --help` needs none of it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'moot' has no attribute {name!r}; it has {', '.join(__all__)}")
    import importlib

    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(module), attribute)
