"""Keys that terminals send with Alt and Shift, which Textual reads as other keys.

A terminal sends Alt+Enter as Esc and Enter, which Textual takes for Enter; Alt+1 as Esc and 1, which it takes for the
`¡` of a Mac keyboard. tmux and xterm may send Shift+Enter in a form that it does not know. This module touches a
private table of Textual (textual<9, pyproject.toml).
"""

from enum import Enum
from typing import cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

ALIASES = {"shift+\r": "shift+enter", "ctrl+\r": "ctrl+enter", "alt+\r": "alt+enter"}


class _Key(Enum):
    ALT_ENTER = "alt+enter"
    ALT_1 = "alt+1"
    ALT_2 = "alt+2"
    ALT_3 = "alt+3"
    ALT_4 = "alt+4"
    ALT_5 = "alt+5"
    ALT_6 = "alt+6"
    ALT_7 = "alt+7"
    ALT_8 = "alt+8"
    ALT_9 = "alt+9"


def teach_keys() -> None:
    """Have Textual know these keys. Doing it twice changes nothing."""
    sequences = {"\x1b\r": _Key.ALT_ENTER, **{f"\x1b{key.value[-1]}": key for key in _Key if key.value[-1].isdigit()}}
    known = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    for sequence, key in sequences.items():
        known[sequence] = (key,)


def read_digit(key: str) -> int | None:
    """Return 0 for Alt+1 and so on; None for any other key."""
    is_digit = key.startswith("alt+") and len(key) == len("alt+1") and key[-1] in "123456789"
    return int(key[-1]) - 1 if is_digit else None
