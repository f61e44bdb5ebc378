"""Permits for tests: one says yes, one no."""

from moot.agents.permits import PermissionRequest


async def allow(_: PermissionRequest) -> bool:
    return True


async def deny(_: PermissionRequest) -> bool:
    return False
