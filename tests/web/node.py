"""Where the tests find Node and what npm gave them; each is left out with a reason when it is absent.

`.ci/run` installs typescript and axe-core into `~/.cache/moot-web`; MOOT_NODE_MODULES names another folder.
"""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = Path(os.environ.get("MOOT_NODE_MODULES", Path.home() / ".cache" / "moot-web" / "node_modules"))
TSC, AXE = MODULES / ".bin" / "tsc", MODULES / "axe-core" / "axe.min.js"
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
needs_tsc = pytest.mark.skipif(not TSC.exists(), reason=f"typescript is not installed in {MODULES}; .ci/run does it")
needs_axe = pytest.mark.skipif(not AXE.exists(), reason=f"axe-core is not installed in {MODULES}; .ci/run does it")
