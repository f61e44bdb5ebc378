"""The site that `make docs-site` builds, and the files for containers."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs import stage_site
from tests.docs.blocks import ROOT

ZENSICAL = ROOT / ".venv" / "site" / "bin" / "zensical"


def list_pages(nav: list[Any]) -> list[str]:
    """The pages of a navigation; a folder stands for everything in it."""
    pages: list[str] = []
    for entry in nav:
        match entry:
            case str():
                pages.append(entry)
            case dict():
                for value in entry.values():
                    pages += list_pages(value) if isinstance(value, list) else [value]
    return pages


def test_every_page_is_on_the_site() -> None:
    """The navigation names every page of docs/, and no other."""
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    named = set(list_pages(nav))
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if page not in named and f"{Path(page).parent}/" not in named} == set()
    assert {page for page in named if page not in pages and not page.endswith("/")} == set()


def test_links_that_leave_the_site_become_text() -> None:
    """A link to a file that is not on the site keeps its words."""
    text = "[README](../README.md#x), [plan](plan.md#states), [site](https://example.org)"
    assert (
        stage_site.cut_links(text, ROOT / "docs" / "chat.md")
        == "README, [plan](plan.md#states), [site](https://example.org)"
    )


def test_the_image_copies_what_it_is_given() -> None:
    """Every file that the Dockerfile copies exists and is not ignored."""
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[0] == "!"}
    assert names == kept
    assert all((ROOT / name).exists() for name in names)


def test_compose_publishes_on_this_machine_alone() -> None:
    """The port is not open to the network, and the owner's token must be given."""
    service = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["moot"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert ":?" in service["environment"]["MOOT_TOKEN"]


@pytest.mark.slow
@pytest.mark.skipif(not ZENSICAL.exists(), reason="`make docs-site` has not installed Zensical yet")
def test_the_site_is_built_without_a_warning() -> None:
    """Every link and every anchor leads somewhere, those of Chinese headings too."""
    stage_site.main()
    command = [str(ZENSICAL), "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'id="作为系统服务"' in (ROOT / "build/site/how-to/behind-a-proxy.zh.html").read_text(encoding="utf-8")
