"""The page's pure modules and types, held by Node's own tools."""

import json
import subprocess

from tests.web.node import NODE, ROOT, TSC, needs_node, needs_tsc

WEB = ROOT / "src" / "moot" / "web"


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_node
def test_the_pure_modules_pass_their_tests() -> None:
    """Spec 5: the browser's link and reducer pass the recorded cases of the Python halves."""
    run(NODE or "", "--test", *sorted(str(path) for path in (ROOT / "tests" / "web" / "js").glob("*.test.mjs")))


@needs_tsc
def test_the_types_fit() -> None:
    """House style: `tsc --checkJs` over the JSDoc in web/."""
    run(str(TSC), "--project", str(ROOT / "tests" / "web" / "tsconfig.json"))


def test_both_languages_have_the_same_words() -> None:
    """UX: one JSON per language, keys equal; plural forms are the language's own."""
    words = [json.loads((WEB / "lang" / f"{language}.json").read_text(encoding="utf-8")) for language in ("zh", "en")]
    zh, en = ({key.removesuffix(".one").removesuffix(".other") for key in each} for each in words)
    assert zh == en
    assert all(text.strip() for each in words for text in each.values())
