"""Key bindings that the settings file can change. The id of each is the name of its action."""

from textual.binding import Binding

from moot.tui.keys import DEFAULTS


def bind(action: str, handler: str, *, priority: bool = False) -> Binding:
    """Bind the default keys of `action` (see keys.py) to the Textual action `handler`."""
    return Binding(",".join(DEFAULTS[action]), handler, id=action, show=False, priority=priority)
