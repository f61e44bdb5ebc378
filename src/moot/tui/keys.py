"""Which key does what. The settings file can give every action other keys; screens ask here what to show. Pure."""

import re
from collections.abc import Iterator, Mapping

Pressed = tuple[str, ...]

DEFAULTS: dict[str, Pressed] = {
    "send": ("enter", "ctrl+j", "alt+enter", "f5"),  # some terminals keep one or another of them
    "newline": ("shift+enter", "ctrl+enter"),
    "pause": ("escape",),
    "quit": ("ctrl+q",),
    "help": ("f1",),
    "timeline": ("f2",),
    "tasks": ("f3",),
    "state": ("f4",),
    "next_pane": ("f6",),
    "previous_pane": ("shift+f6",),
    "question": ("f7",),
    "new_session": ("ctrl+n",),
    "palette": ("ctrl+p",),
    "copy": ("y",),
    "open": ("o",),
    "approve": ("a",),
    "edit": ("e",),
    "reject": ("r",),
}
# where nobody types: letters are free, and the same one may mean something else in the other place
PLACES: tuple[frozenset[str], ...] = (frozenset({"copy", "open"}), frozenset({"approve", "edit", "reject"}))
_ANYWHERE = frozenset(DEFAULTS) - frozenset[str]().union(*PLACES)

_NAMED = (
    "enter|escape|tab|space|backspace|delete|insert|home|end|pageup|pagedown|up|down|left|right"
    "|f(?:[1-9]|1[0-9]|2[0-4])"
)
_KEY = re.compile(rf"(?:(?:ctrl|shift|alt)\+)*(?:{_NAMED}|[a-z0-9])")
_SHORT = {"escape": "esc", "pageup": "pgup", "pagedown": "pgdn"}
_NAMES = {"ctrl": "Ctrl", "shift": "Shift", "alt": "Alt", "escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn"}


class Keys:
    def __init__(self, changed: Mapping[str, Pressed] | None = None) -> None:
        self._keys = {**DEFAULTS, **(changed or {})}

    def __getitem__(self, action: str) -> Pressed:
        return self._keys[action]

    def short(self, action: str) -> str:
        """`^q`, for the line at the bottom."""
        *modifiers, key = self._keys[action][0].split("+")
        return "".join("^" if each == "ctrl" else f"{each}+" for each in modifiers) + _SHORT.get(key, key)

    def long(self, action: str) -> str:
        """`Ctrl+Q`, for sentences."""
        return name_key(self._keys[action][0])

    def every(self, *actions: str) -> str:
        """All keys of some actions, for the help."""
        return "  ".join(name_key(key) for action in actions for key in self._keys[action])

    @property
    def keymap(self) -> dict[str, str]:
        """As Textual takes it: the id of a binding to its keys."""
        return {action: ",".join(pressed) for action, pressed in self._keys.items()}


def name_key(key: str) -> str:
    return "+".join(
        _NAMES.get(part, part if len(part) == 1 and part == key else part.title()) for part in key.split("+")
    )


def find_key_problems(changed: Mapping[str, Pressed]) -> Iterator[tuple[str, str]]:
    """What cannot work, by action: no key at all, one that would swallow what is typed, one that means two things."""
    for action, pressed in changed.items():
        if not pressed:
            yield action, "there is no key; at least one is needed"
        for key in pressed:
            if not _KEY.fullmatch(key):
                yield action, f"{key!r} is no key; keys are written like ctrl+q, alt+enter, f5 or x"
            elif action in _ANYWHERE and len(key.removeprefix("shift+")) == 1:
                yield action, f"{key!r} is typed in messages; add ctrl or alt, or take a function key"
    keys = {**DEFAULTS, **changed}
    for action in changed:
        for other in sorted(_beside(action)):
            for key in keys[action]:
                if key in keys[other] and (other not in changed or action < other):
                    yield action, f"{key!r} is a key of {other!r} too; give one of them another"


def _beside(action: str) -> frozenset[str]:
    """Actions that are pressed in the same place."""
    for place in PLACES:
        if action in place:
            return (place | _ANYWHERE) - {action}
    return frozenset(DEFAULTS) - {action}
