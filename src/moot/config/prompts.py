"""The prompt templates of the phases: built-in files, which a team may replace by its own."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from moot.config.quantities import Text
from moot.core.session.team import DEFAULT_LANGUAGE, Language
from moot.core.template import fill

PROMPT_BYTES = 131_072
SUFFIXES = (".md", ".txt")


class Prompts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A phase's own prompt: a file (.md, .txt) beside the team file, or the text itself."""

    understanding: Text | None = None
    routing: Text | None = None
    planning: Text | None = None
    patching: Text | None = None
    executing: Text | None = None
    reviewing: Text | None = None
    aggregating: Text | None = None
    evaluating: Text | None = None
    reviewing_plan: Text | None = None
    reviewing_answer: Text | None = None
    supervisor: Text | None = None
    acting: Text | None = None

    def by_phase(self) -> dict[str, str]:
        """The team's own prompts, by phase."""
        return {phase: prompt for phase, prompt in asdict(self).items() if prompt is not None}


PHASES = Prompts.__struct_fields__


def read_template(name: str, language: Language) -> str:
    """Read a built-in template: `name.md` in the default language, `name.LANGUAGE.md` in others."""
    from importlib import resources  # slow to import, and rarely needed

    file = f"{name}.md" if language == DEFAULT_LANGUAGE else f"{name}.{language}.md"
    return resources.files("moot").joinpath("prompts", file).read_text(encoding="utf-8")


def insert(part: str, template: str, name: str) -> str:
    """Replace `{{name}}` in a template by another template; all other placeholders stay."""
    return fill(template, {name: part.strip()}.get)


def is_file(written: str) -> bool:
    """Whether a prompt is the name of a file: one line that ends like the name of a text file."""
    return "\n" not in written.strip() and written.strip().lower().endswith(SUFFIXES)


def read_prompt(written: str, folder: Path | None) -> str:
    """Return the text of a prompt, read from a file beside the team file if it names one. Raises ValueError."""
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
