"""The page's pure modules and types, held by Node's own tools."""

import gzip
import json
import re
import subprocess

from moot.core.texts import TEXTS
from moot.gateway.page import File, Page
from tests.web.node import NODE, ROOT, TSC, WEB, needs_node, needs_tsc


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_node
def test_the_pure_modules_pass_their_tests() -> None:
    """The browser's link and reducer pass the recorded cases of the Python halves."""
    run(NODE or "", "--test", *sorted(str(path) for path in (ROOT / "tests" / "web" / "js").glob("*.test.mjs")))


@needs_node
@needs_tsc
def test_the_types_fit() -> None:
    """TypeScript, and JSDoc where the sources are JavaScript."""
    run(NODE or "", str(TSC), "--project", str(WEB / "tsconfig.json"))


def test_the_first_load_stays_small() -> None:
    """Scripts, styles and texts of the first load are at most 120 kB, gzipped; sources are files of one thing each."""
    files = Page().files
    first = {"index.html", "css/main.css", *_imports(files, "js/main.js")}
    texts = max(len(gzip.compress(files[f"lang/{language}.json"].body)) for language in TEXTS)
    assert sum(len(gzip.compress(files[name].body)) for name in first) + texts <= 120_000
    sources = sorted(path for path in (WEB / "js").rglob("*.[jt]s") if not path.name.endswith(".d.ts"))
    lines = sorted(len(path.read_text(encoding="utf-8").splitlines()) for path in sources)
    assert lines[len(lines) // 2] < 100
    assert lines[-1] < 600


def _imports(files: dict[str, File], name: str) -> set[str]:
    """Return a script and those that it imports at once."""
    found = {name}
    for other in re.findall(rb'(?:from|import)"\./([\w-]+\.js)"', files[name].body):
        found |= _imports(files, f"js/{other.decode()}")
    return found


def test_nothing_on_the_page_can_become_markup() -> None:
    """Text reaches the page only as text."""
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser")
    assert [path.name for path in (WEB / "js").rglob("*.[jt]s") if forbidden.search(path.read_text("utf-8"))] == []


def test_the_page_is_sent_the_texts_of_the_catalogue() -> None:
    """One catalogue: the page gets the texts of the screens and of Moot's own choices, and nothing else."""
    files = Page().files
    for language, texts in TEXTS.items():
        sent = json.loads(files[f"lang/{language}.json"].body)
        assert sent["login.open"] == texts["ui.login.open"]
        assert sent["option.approve"] == texts["option.approve"]
        assert len(sent) == sum(code.startswith(("ui.", "option.")) for code in texts)
