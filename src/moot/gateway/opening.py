"""Opening the page in a browser without showing the token to everybody who may list processes."""

import html
import webbrowser
from pathlib import Path
from threading import Thread

from moot.gateway.private_files import write_private

PAGE = """<!doctype html><meta charset="utf-8"><title>Moot</title>
<meta http-equiv="refresh" content="0; url={url}"><a href="{url}">Open Moot</a>
"""


def open_page(folder: Path, url: str) -> Thread:
    """The browser is given a private file that leads on to the URL: its own command line is public.

    On a thread: some browsers keep whoever opens them waiting.
    """
    path = folder / "open.html"
    write_private(path, PAGE.format(url=html.escape(url)).encode())
    opening = Thread(target=webbrowser.open, args=(path.absolute().as_uri(),), daemon=True)
    opening.start()
    return opening
