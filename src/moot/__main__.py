"""`python -m moot` is the command `moot`."""

import sys

from moot.cli.main import main

sys.exit(main())
