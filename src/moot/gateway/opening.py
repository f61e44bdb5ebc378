"""Opening the page in a browser without showing the token to everybody who may list processes."""

import html
import webbrowser
from pathlib import Path

from moot.gateway.private_files import write_private

PAGE = """<!doctype html><meta charset="utf-8"><title>Moot</title>
<meta http-equiv="refresh" content="0; url={url}"><a href="{url}">Open Moot</a>
"""


def open_page(folder: Path, url: str) -> None:
    """The browser is given a private file that leads on to the URL: its own command line is public."""
    path = folder / "open.html"
    write_private(path, PAGE.format(url=html.escape(url)).encode())
    webbrowser.open(path.absolute().as_uri())
