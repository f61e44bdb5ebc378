"""What people decided for the rest of a session about what a member may do."""

from msgspec import Struct

ALLOW_ONCE, ALLOW_SESSION, REJECT_ONCE, REJECT_SESSION = "allow_once", "allow_session", "reject_once", "reject_session"
OPTIONS = (ALLOW_ONCE, ALLOW_SESSION, REJECT_ONCE, REJECT_SESSION)
ALIASES = {"allow": ALLOW_ONCE, "reject": REJECT_ONCE}


class Grant(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`pattern` is a command, or `*` for any use of the tool. `allowed` is false for a no that lasts."""

    tool: str
    pattern: str = "*"
    allowed: bool = True


def show_grant(grant: Grant) -> str:
    """`Bash(make test)`, or the name of the tool if it is about any use."""
    return grant.tool if grant.pattern == "*" else f"{grant.tool}({grant.pattern})"
