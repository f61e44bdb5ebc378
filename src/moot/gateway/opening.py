"""Opening the page in a browser without putting the token on a command line, which other users can read."""

import html
import webbrowser
from pathlib import Path
from threading import Thread

from moot.config.private_files import write_private

PAGE = """<!doctype html><meta charset="utf-8"><title>Moot</title>
<meta http-equiv="refresh" content="0; url={url}"><a href="{url}">Open Moot</a>
"""


def open_page(folder: Path, url: str) -> Thread:
    """Open a private file in `folder` that redirects the browser to `url`. Return the started thread.

    A thread is needed because `webbrowser.open` may block until the browser exits.
    """
    path = folder / "open.html"
    write_private(path, PAGE.format(url=html.escape(url)).encode())
    thread = Thread(target=webbrowser.open, args=(path.absolute().as_uri(),), daemon=True)
    thread.start()
    return thread
