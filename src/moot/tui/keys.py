"""The keys of each action. The settings file can change them; screens ask here which keys to show."""

import re
from collections.abc import Iterator, Mapping

Pressed = tuple[str, ...]

DEFAULTS: dict[str, Pressed] = {
    "send": ("enter", "f5"),
    "newline": ("shift+enter", "alt+enter", "ctrl+j"),  # some terminals intercept one or another of them
    "pause": ("escape",),
    "resume": ("ctrl+r",),
    "quit": ("ctrl+q",),
    "help": ("f1",),
    "timeline": ("f2",),
    "tasks": ("f3",),
    "state": ("f4",),
    "next_pane": ("f6",),
    "previous_pane": ("shift+f6",),
    "question": ("f7",),
    "inbox": ("f8",),
    "changes": ("alt+d",),
    "panes": ("f9",),
    "resize": ("shift+f9",),
    "sessions": ("ctrl+o",),
    "editor": ("ctrl+g",),
    "new_session": ("ctrl+n",),
    "palette": ("ctrl+p",),
    "approve": ("alt+a",),
    "edit": ("alt+e",),
    "reject": ("alt+r",),
    "copy": ("ctrl+y",),
    "open": ("ctrl+l",),
}
# Actions that work only in the conversation. Their keys may mean something else in the composer.
PLACES: tuple[frozenset[str], ...] = (frozenset({"copy", "open"}),)
_ANYWHERE = frozenset(DEFAULTS) - frozenset[str]().union(*PLACES)

_NAMED = (
    "enter|escape|tab|space|backspace|delete|insert|home|end|pageup|pagedown|up|down|left|right"
    "|f(?:[1-9]|1[0-9]|2[0-4])"
)
_KEY = re.compile(rf"(?:(?:ctrl|shift|alt)\+)*(?:{_NAMED}|[a-z0-9])")
_SHORT = {"escape": "esc", "pageup": "pgup", "pagedown": "pgdn"}
_NAMES = {"ctrl": "Ctrl", "shift": "Shift", "alt": "Alt", "escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn"}


class Keys:
    """The keys of every action: the defaults, with the changes of the settings file."""

    def __init__(self, changed: Mapping[str, Pressed] | None = None) -> None:
        self._keys = {**DEFAULTS, **(changed or {})}

    def __getitem__(self, action: str) -> Pressed:
        return self._keys[action]

    def short(self, action: str) -> str:
        """Return the first key as in the bottom line: `^q`."""
        *modifiers, key = self._keys[action][0].split("+")
        return "".join("^" if modifier == "ctrl" else f"{modifier}+" for modifier in modifiers) + _SHORT.get(key, key)

    def long(self, action: str) -> str:
        """Return the first key as in sentences: `Ctrl+Q`."""
        return name_key(self._keys[action][0])

    def every(self, *actions: str) -> str:
        """Return all keys of the actions, for the help screen."""
        return "  ".join(name_key(key) for action in actions for key in self._keys[action])

    @property
    def keymap(self) -> dict[str, str]:
        """The keymap for Textual: binding id to keys."""
        return {action: ",".join(pressed) for action, pressed in self._keys.items()}


def name_key(key: str) -> str:
    return "+".join(
        _NAMES.get(part, part if len(part) == 1 and part == key else part.title()) for part in key.split("+")
    )


def find_key_problems(changed: Mapping[str, Pressed]) -> Iterator[tuple[str, str]]:
    """Yield (action, problem): no key at all, an invalid key, one needed for typing, or one of two actions."""
    for action, pressed in changed.items():
        if not pressed:
            yield action, "there is no key; at least one is needed"
        for key in pressed:
            if not _KEY.fullmatch(key):
                yield action, f"{key!r} is no key; keys are written like ctrl+q, alt+enter, f5 or x"
            elif len(key.removeprefix("shift+")) == 1:
                yield action, f"{key!r} is typed in messages; add ctrl or alt, or take a function key"
    keys = {**DEFAULTS, **changed}
    for action in changed:
        for other in sorted(_conflicting(action)):
            for key in keys[action]:
                if key in keys[other] and (other not in changed or action < other):
                    yield action, f"{key!r} is a key of {other!r} too; give one of them another"


def _conflicting(action: str) -> frozenset[str]:
    """Return the other actions whose keys work in the same place."""
    for place in PLACES:
        if action in place:
            return (place | _ANYWHERE) - {action}
    return frozenset(DEFAULTS) - {action}
