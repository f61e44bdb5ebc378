"""Code and diffs as styled lines. The colours are those that the terminal or the theme gives to their names."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from rich.text import Text

COLOURED_CHARS = 20_000  # longer code has no colours: some lexers take too long
COLOURED_LINE_CHARS = 1_000
# By the beginning of the name of a Pygments token; the longest one wins.
STYLES = {
    "Token.Comment": "dim italic",
    "Token.Keyword": "magenta",
    "Token.Keyword.Constant": "yellow",
    "Token.Literal.Number": "yellow",
    "Token.Literal.String": "green",
    "Token.Name.Attribute": "cyan",
    "Token.Name.Builtin": "cyan",
    "Token.Name.Class": "bold cyan",
    "Token.Name.Decorator": "yellow",
    "Token.Name.Function": "blue",
    "Token.Name.Tag": "magenta",
    "Token.Operator.Word": "magenta",
}
DIFF = frozenset({"diff", "patch", "udiff"})
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_HEADS = (
    "diff ",
    "index ",
    "--- ",
    "+++ ",
    "old mode",
    "new mode",
    "similarity ",
    "rename ",
    "new file",
    "deleted file",
)
_NAMES = re.compile(r"[\w+#.-]{1,30}")


def code_lines(code: str, language: str) -> list[Text]:
    """Return the lines of some code, in colour if Pygments knows its language."""
    if language.lower() in DIFF:
        return list(diff_lines(code))
    styled = _colour(code, language.lower()) if len(code) <= COLOURED_CHARS else Text(code)
    return list(styled.split("\n", allow_blank=True))


@lru_cache(maxsize=128)
def _find_lexer(language: str) -> Any:
    """Return the lexer of a language, or None."""
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped] # only when there is code to show
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _colour(code: str, language: str) -> Text:
    lexer = _find_lexer(language) if _NAMES.fullmatch(language) else None
    if lexer is None:
        return Text(code)
    return Text.assemble(*((part, _style(str(kind))) for kind, part in lexer.get_tokens(code)))


def find_lexer_name(path: str) -> str:
    """Return the language of a file by its name; empty if Pygments does not know it."""
    from pygments.lexers import find_lexer_class_for_filename  # only when a diff is shown

    found = find_lexer_class_for_filename(path.rpartition("/")[2][:200])
    return str(found.aliases[0]) if found and found.aliases else ""


@lru_cache(maxsize=20_000)
def colour_line(line: str, language: str, style: str) -> Text:
    """Return one line of code in colour; what the language gives none has `style`."""
    lexer = _find_lexer(language) if language and len(line) <= COLOURED_LINE_CHARS else None
    if lexer is None:
        return Text(line, style)
    tokens = ((part.replace("\n", ""), _style(str(kind)) or style) for kind, part in lexer.get_tokens(line))
    return Text.assemble(*(token for token in tokens if token[0]))


@lru_cache(maxsize=512)
def _style(kind: str) -> str:
    while kind not in STYLES and "." in kind:
        kind = kind.rpartition(".")[0]
    return STYLES.get(kind, "")


def diff_lines(diff: str) -> Iterator[Text]:
    """Yield a unified diff: added lines green, removed ones red, each with the number it has in its file."""
    left_old = left_new = old = new = 0
    for line in diff.rstrip("\n").split("\n"):
        if hunk := _HUNK.match(line):
            old, left_old, new, left_new = (1 if number is None else int(number) for number in hunk.groups())
            yield Text(line, "cyan")
        elif line.startswith("\\") or not (left_old > 0 or left_new > 0):
            yield Text(line, "bold" if line.startswith(_HEADS) else "dim")
        elif line.startswith("+"):
            yield _numbered(new, line, "green")
            new, left_new = new + 1, left_new - 1
        elif line.startswith("-"):
            yield _numbered(old, line, "red")
            old, left_old = old + 1, left_old - 1
        else:
            yield _numbered(new, line or " ", "")
            old, new, left_old, left_new = old + 1, new + 1, left_old - 1, left_new - 1


def _numbered(number: int, line: str, style: str) -> Text:
    return Text.assemble((f"{number:>4} ", "dim"), (line, style))
