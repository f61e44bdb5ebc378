"""The prompts of the phases: plain text that lies beside the code, and a team's own in its place."""

import re
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from moot.config.quantities import Text
from moot.core.team import Language

PROMPT_BYTES = 131_072
SUFFIXES = (".md", ".txt")
_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")


class Prompts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A phase's own prompt: a file (.md, .txt) beside the team file, or the text itself."""

    understanding: Text | None = None
    routing: Text | None = None
    planning: Text | None = None
    patching: Text | None = None
    executing: Text | None = None
    reviewing: Text | None = None
    aggregating: Text | None = None
    supervisor: Text | None = None
    acting: Text | None = None

    def given(self) -> dict[str, str]:
        """By phase, those that stand for the built-in ones."""
        return {phase: prompt for phase, prompt in asdict(self).items() if prompt is not None}


PHASES = Prompts.__struct_fields__


def read_template(name: str, language: Language) -> str:
    """English is `name.md`, any other language `name.LANGUAGE.md`."""
    from importlib import resources  # slow to import, and rarely needed

    file = f"{name}.md" if language == "en" else f"{name}.{language}.md"
    return resources.files("moot").joinpath("prompts", file).read_text(encoding="utf-8")


def list_placeholders(template: str) -> tuple[str, ...]:
    """Each once, as they come."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(template)))


def insert(part: str, template: str, name: str) -> str:
    """A template with another one in place of `{{name}}`; what that one leaves open stays open."""
    return _PLACEHOLDER.sub(lambda found: part.strip() if found[1] == name else found[0], template)


def is_file(written: str) -> bool:
    """One line that ends like a text file is the name of one; anything else is the prompt itself."""
    return "\n" not in written.strip() and written.strip().lower().endswith(SUFFIXES)


def read_prompt(written: str, folder: Path | None) -> str:
    """The prompt, from a file beside the team file or as it stands there. ValueError says what is wrong."""
    if not is_file(written):
        return written
    if folder is None:
        raise ValueError("a built-in team has no files beside it; write the prompt itself")
    place = folder.resolve()
    path = (place / written.strip()).resolve()
    if not path.is_relative_to(place):
        raise ValueError("the file must lie beside the team file or below it")
    try:
        with path.open("rb") as file:
            raw = file.read(PROMPT_BYTES + 1)
    except OSError as error:
        raise ValueError(f"cannot read the file: {error.strerror}") from None
    if len(raw) > PROMPT_BYTES:
        raise ValueError(f"the file is larger than {PROMPT_BYTES} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("the file is not valid UTF-8") from None
