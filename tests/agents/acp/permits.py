"""A permit for tests in which an agent may do anything."""

from moot.agents.acp.permits import PermitRequest, pick


async def allow(request: PermitRequest) -> str | None:
    """Say yes, for this once."""
    return pick(request.options, ("allow_once",))
