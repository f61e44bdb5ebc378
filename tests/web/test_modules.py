"""The page's pure modules and types, held by Node's own tools."""

import gzip
import json
import re
import subprocess

from moot.core.texts import TEXTS
from moot.gateway.page import Page, without_comments
from tests.web.node import NODE, ROOT, TSC, needs_node, needs_tsc

WEB = ROOT / "src" / "moot" / "web"


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_node
def test_the_pure_modules_pass_their_tests() -> None:
    """The browser's link and reducer pass the recorded cases of the Python halves."""
    run(NODE or "", "--test", *sorted(str(path) for path in (ROOT / "tests" / "web" / "js").glob("*.test.mjs")))


@needs_tsc
def test_the_types_fit() -> None:
    """`tsc --checkJs` over the JSDoc in web/."""
    run(str(TSC), "--project", str(ROOT / "tests" / "web" / "tsconfig.json"))


def test_the_page_names_its_files() -> None:
    """Everything is asked for at once, not module by module; a file that is not named would wait."""
    page = (WEB / "index.html").read_text(encoding="utf-8")
    named = set(re.findall(r'(?:src|href)="/static/([^"]+)"', page))
    files = {path.relative_to(WEB).as_posix() for kind in ("js", "css") for path in (WEB / kind).rglob(f"*.{kind}")}
    assert named == files


def test_the_scripts_stay_small() -> None:
    """Browsers get at most 60 kB of JavaScript, gzipped, in files of one thing each."""
    sent = [file.body for name, file in sorted(Page().files.items()) if name.endswith(".js")]
    assert len(gzip.compress(b"".join(sent))) <= 60_000
    files = sorted((WEB / "js").rglob("*.js"))
    assert len(sent) == len(files)
    lines = sorted(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    assert lines[len(lines) // 2] < 100
    assert lines[-1] < 400


def test_comments_stay_with_the_source() -> None:
    """A browser gets the code, on the same lines; what only looks like a comment is code."""
    script = b'/** One.\n * Two. */\nconst a = "// no";\n  // three\nconst b = /** @type {any} */ (a); // four\n'
    assert without_comments(script) == b'\n\nconst a = "// no";\n\nconst b = /** @type {any} */ (a); // four\n'
    assert not [name for name in Page().files if name.endswith(".ts")]


def test_nothing_on_the_page_can_become_markup() -> None:
    """Text reaches the page only as text."""
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser")
    assert [path.name for path in (WEB / "js").rglob("*.js") if forbidden.search(path.read_text("utf-8"))] == []


def test_the_page_is_sent_the_texts_of_the_catalogue() -> None:
    """One catalogue: the page gets the texts of the screens and of Moot's own choices, and nothing else."""
    files = Page().files
    for language, texts in TEXTS.items():
        sent = json.loads(files[f"lang/{language}.json"].body)
        assert sent["login.open"] == texts["ui.login.open"]
        assert sent["option.approve"] == texts["option.approve"]
        assert len(sent) == sum(code.startswith(("ui.", "option.")) for code in texts)
