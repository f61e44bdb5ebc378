"""`make docs-site`: copies the pages to build/docs, from where the site is built.

Files outside of docs/ are not on the site: a link to one becomes its name.
"""

import re
import shutil
from pathlib import Path

DOCS = Path(__file__).parent
STAGE = DOCS.parent / "build" / "docs"
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#:]+)(#[^)]*)?\)")


def main() -> None:
    shutil.rmtree(STAGE, ignore_errors=True)
    shutil.copytree(DOCS, STAGE, ignore=shutil.ignore_patterns("*.py", "__pycache__", "protocol"))
    for page in STAGE.rglob("*.md"):
        page.write_text(cut_links(page.read_text("utf-8"), DOCS / page.relative_to(STAGE)), "utf-8")


def cut_links(text: str, page: Path) -> str:
    """Replace the links of a page that leave the site by their words."""

    def keep(link: re.Match[str]) -> str:
        target = (page.parent / link[2]).resolve()
        is_on_site = target.is_relative_to(DOCS.resolve()) and target.suffix in (".md", ".png", ".svg")
        return link[0] if is_on_site else link[1]

    return _LINK.sub(keep, text)


if __name__ == "__main__":
    main()
