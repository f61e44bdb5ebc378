"""REST: what the work of a session changed in the files of its repository (docs/server.md#changes)."""

from starlette.requests import Request
from starlette.responses import Response

from moot.app import App
from moot.core import limits
from moot.core.session.workspace_view import Changes, FileDiff
from moot.gateway.bodies import read_number
from moot.gateway.bounds import Bounds
from moot.gateway.operations import Operation, Parameter
from moot.gateway.replies import Json
from moot.gateway.rest import SESSION, readable_session
from moot.protocol.command_table import MAX_SEQ
from moot.protocol.protocol_errors import ProtocolError

TURN = Parameter("turn", "the id of a turn: only what it changed")
TASK = Parameter("task", "the id of a task: only what it changed")
OFFSET = Parameter("offset", "`next_offset` of the page before: go on there", int)


class ChangeOperations:
    """Lists changed files and reads their diffs, of the whole work, one task or one turn."""

    def __init__(self, app: App, bounds: Bounds) -> None:
        self._app = app
        self._bounds = bounds

    def list_operations(self) -> list[Operation]:
        return [
            Operation(
                method="GET",
                path=f"{SESSION}/changes",
                summary=f"The files that the work changed, {limits.CHANGED_FILES} on a page",
                handler=self.list_changes,
                gives=Changes,
                parameters=(TURN, TASK, OFFSET),
            ),
            Operation(
                method="GET",
                path=f"{SESSION}/diff",
                summary="The unified diff of one changed file, a page at a time",
                handler=self.read_diff,
                gives=FileDiff,
                parameters=(Parameter("path", "of the file, as `changes` names it"), TURN, TASK, OFFSET),
            ),
        ]

    async def list_changes(self, request: Request) -> Response:
        session_id = await self._find_session(request)
        turn, task, offset = _read_span(request)
        self._bounds.hold(request.scope)  # git takes its time with a large repository
        return Json(await self._app.changes.list_files(session_id, turn=turn, task=task, offset=offset))

    async def read_diff(self, request: Request) -> Response:
        session_id = await self._find_session(request)
        turn, task, offset = _read_span(request)
        path = request.query_params.get("path", "")
        if not path or len(path) > limits.MESSAGE_CHARS:
            raise ProtocolError("bad_field", detail="path")
        self._bounds.hold(request.scope)
        return Json(await self._app.changes.read_diff(session_id, path, turn=turn, task=task, offset=offset))

    async def _find_session(self, request: Request) -> str:
        session_id = readable_session(request)
        await self._app.log.head(session_id)  # raises NotFound
        return session_id


def _read_span(request: Request) -> tuple[str | None, str | None, int]:
    turn, task = request.query_params.get("turn"), request.query_params.get("task")
    if turn is not None and task is not None:
        raise ProtocolError("bad_field", detail="turn, task (name one of them)")
    return turn, task, read_number(request, "offset", 0, "bad_field", MAX_SEQ)
