"""Files of this machine that go with what a person types: `/attach FILE [text]`, and `@picture.png` in a message.

`/attach` takes every file that Moot takes. `@path` takes pictures and PDF only: command-line agents read other files by
that name themselves, in the folder that they work in.
"""

import asyncio
import io
import re
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace

from moot.core import limits
from moot.core.errors import MootError
from moot.core.session.attachments import Attachment, FileRef
from moot.core.session.commands import HumanCommand, Post
from moot.core.texts import render
from moot.tui.words import Words

ATTACH = "/attach"
_COMMAND = re.compile(rf"{ATTACH}(?:\s+(?P<rest>.*))?\Z", re.IGNORECASE | re.DOTALL)
_NAMED = re.compile(r"(?:^|(?<=[\s(（]))[@＠]([^\s@＠]+\.(?:png|jpe?g|gif|webp|pdf))\b", re.IGNORECASE)

Attach = Callable[[bytes, str], Awaitable[Attachment]]


async def add_files(command: HumanCommand, attach: Attach, words: Words, folder: Path | None = None) -> HumanCommand:
    """Upload the files that a message names and return it with them; any other command as it is.

    Raises MootError, with a sentence for the person, if a file cannot be read, and Refused if it is not taken.
    """
    if not isinstance(command, Post):
        return command
    paths, text = find_files(command.text, folder or Path(), words)
    refs = []
    for path in paths[: limits.ATTACHMENTS]:
        file = await attach(await asyncio.to_thread(_read, path, words), path.name)
        refs.append(FileRef(sha256=file.sha256, name=file.name))
    return replace(command, text=text, attachments=(*command.attachments, *refs)) if refs else command


def find_files(text: str, folder: Path, words: Words) -> tuple[list[Path], str]:
    """Return the files that a text names, and the text to send."""
    match = _COMMAND.match(text.strip())
    if match is None:
        named = [_place(name, folder) for name in _NAMED.findall(text)]
        return [path for path in dict.fromkeys(named) if path.is_file()], text
    first, rest = _split(match["rest"] or "")
    if not first:
        raise MootError(render("ui.attach.usage", words.language))
    return [_place(first, folder)], rest


def _split(text: str) -> tuple[str, str]:
    """Split the name of a file, which may be in quotes, from what follows it."""
    stream = io.StringIO(text)
    lexer = shlex.shlex(stream, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        name = lexer.get_token() or ""
    except ValueError:  # a quote without its end
        return text.strip(), ""
    return name, text[stream.tell() :].strip()


def _place(name: str, folder: Path) -> Path:
    return folder / Path(name).expanduser()


def _read(path: Path, words: Words) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(limits.FILE_BYTES + 1)
    except OSError as error:
        sentence = render("ui.attach.unreadable", words.language, detail=str(path), reason=error.strerror or "")
        raise MootError(sentence) from None
