"""The error for options that parse but are not valid: exit 2."""

from moot.core.errors import MootError


class UsageError(MootError):
    """An option has an invalid value, or two options contradict each other."""
