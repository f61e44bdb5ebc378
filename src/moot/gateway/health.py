"""For those who watch the server: is it there, can it work, what has it counted."""

from collections import Counter
from contextlib import suppress

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.requests import Request
from starlette.responses import Response

from moot.core.errors import NotFound
from moot.core.machines.session import Status
from moot.gateway.documents import Health
from moot.gateway.metrics import Metrics
from moot.gateway.replies import Json
from moot.runtime.ports import Log

NO_SESSION = "not-a-session"


class Watch:
    def __init__(self, log: Log, metrics: Metrics) -> None:
        self._log = log
        self._metrics = metrics

    async def is_alive(self, request: Request) -> Response:  # noqa: ARG002 - one signature for all
        return Json(Health())

    async def is_ready(self, request: Request) -> Response:  # noqa: ARG002
        """The log can be read; LogError says that it cannot."""
        with suppress(NotFound):
            await self._log.head(NO_SESSION)
        return Json(Health())

    async def metrics(self, request: Request) -> Response:  # noqa: ARG002
        listings = await self._log.sessions()
        by_status = Counter(listing.summary.status for listing in listings)
        for status in Status:
            self._metrics.sessions.labels(status.value).set(by_status[status])
        self._metrics.events_logged.set(sum(listing.head.seq for listing in listings))
        return Response(self._metrics.render(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
