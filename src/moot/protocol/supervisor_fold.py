"""How the view follows the supervisor flow: one function a fact."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from moot.protocol import supervisor_view
from moot.protocol.view_parts import View

Frame = dict[str, Any]
Fold = Callable[[View, Frame, Frame], View]


def _begin(view: View, frame: Frame, said: Frame) -> View:  # noqa: ARG001 - one signature for all
    left = view.deferred[1:] if said.get("is_deferred") else view.deferred
    return replace(view, supervision=supervisor_view.begin(said), deferred=left)


def follow_turn(view: View, said: Frame) -> View:
    """A turn of the job is a step of it."""
    if view.supervision is None or not said.get("job"):
        return view
    return replace(view, supervision=supervisor_view.start_turn(view.supervision, said["job"]))


def _on_job(event: str) -> Fold:
    def change(view: View, frame: Frame, said: Frame) -> View:
        if view.supervision is None:
            return view
        changed = supervisor_view.FOLD[event](view.supervision, said, frame["seq"], frame["timestamp"])
        return replace(view, supervision=changed)

    return change


SUPERVISOR: dict[str, Fold] = {
    "supervisor.started": _begin,
    **{event: _on_job(event) for event in supervisor_view.FOLD},
}
