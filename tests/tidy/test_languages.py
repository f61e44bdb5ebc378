"""Adding a language takes its files and one word in languages.py, so no other code names a language."""

import ast
import re

from moot.core.session.team import DEFAULT_LANGUAGE, LANGUAGES
from tests.tidy.sources import PACKAGE, ROOT, list_python_files, parse, place

# The list itself, and the rules, which understand the languages that they have a lexicon for.
MAY_NAME = ("src/moot/languages.py", "src/moot/runtime/understanding/rules/")


def test_python_names_no_language() -> None:
    """No comparison with "zh", no default "en", no pair of texts: languages come from LANGUAGES."""
    found = [
        f"{place(path)}:{node.lineno} {node.value!r}"
        for path in list_python_files(PACKAGE)
        if not place(path).startswith(MAY_NAME)
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Constant) and node.value in LANGUAGES
    ]
    assert found == []


def test_scripts_name_no_language() -> None:
    """The page learns its languages from the server."""
    names = re.compile(rf"""["'`](?:{"|".join(LANGUAGES)})["'`]""")
    folder = ROOT / "web" / "js"
    scripts = [*sorted(path for path in folder.rglob("*.[jt]s") if not path.name.endswith("generated.d.ts"))]
    assert len(scripts) > 30
    assert [place(path) for path in scripts if names.search(path.read_text(encoding="utf-8"))] == []


def test_every_language_has_its_files() -> None:
    """Beside its texts a language has the built-in prompts that another one has, and a template for each flow."""
    prompts, templates = PACKAGE / "prompts", PACKAGE / "teams" / "templates"
    translated = {path.name.split(".")[0] for path in prompts.glob("*.*.md")}
    assert {path.name for path in (PACKAGE / "texts").iterdir()} == {f"{language}.json" for language in LANGUAGES}
    for language in set(LANGUAGES) - {DEFAULT_LANGUAGE}:  # the prompts of that one have no suffix
        assert {f"{name}.{language}.md" for name in translated} <= {path.name for path in prompts.iterdir()}
    flows = {path.name.split(".")[0] for path in templates.iterdir()}
    assert {path.name for path in templates.iterdir()} == {
        f"{flow}.{language}.yaml" for flow in flows for language in LANGUAGES
    }
