"""The command line is called in this process, as in its own tests."""

from tests.cli.conftest import moot

__all__ = ["moot"]
