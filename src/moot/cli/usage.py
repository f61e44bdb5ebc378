"""Options that parse and still make no sense: exit 2."""

from moot.core.errors import MootError


class UsageError(MootError):
    """They do not go together, or one of them cannot be."""
