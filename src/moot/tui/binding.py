"""A binding whose keys can be changed: it goes by the name of its action."""

from textual.binding import Binding

from moot.tui.keys import DEFAULTS


def bind(action: str, does: str, *, priority: bool = False) -> Binding:
    return Binding(",".join(DEFAULTS[action]), does, id=action, show=False, priority=priority)
