"""The built-in templates: plain text that lies beside the code."""

from moot.core.team import Language


def read_template(name: str, language: Language) -> str:
    """English is `name.md`, any other language `name.LANGUAGE.md`."""
    from importlib import resources  # slow to import, and rarely needed

    file = f"{name}.md" if language == "en" else f"{name}.{language}.md"
    return resources.files("moot").joinpath("prompts", file).read_text(encoding="utf-8")
