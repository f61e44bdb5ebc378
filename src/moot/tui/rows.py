"""The rows of the timeline: one for each of the twelve names, start and end in one row, as on the web page. Pure."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

Frame = dict[str, Any]
MOST_ROWS = 1_000

# name → category; what is not here gives no row
CATEGORIES = {
    "user_input_received": "input",
    "semantic_understanding_started": "semantic",
    "semantic_understanding_completed": "semantic",
    "routing_decision_made": "routing",
    "phase_transition": "flow",
    "user_confirmation_required": "steps",
    "task_dispatch_requested": "dispatch",
    "task_dispatch_ack": "dispatch",
    "task_dispatch_nack": "errors",
    "task_execution_started": "steps",
    "agent_step_completed": "steps",
    "task_execution_result": "steps",
    "task_review_result": "steps",
    "supervisor.decided": "routing",
    "supervisor.reviewed": "steps",
    "turn.started": "steps",
    "turn.failed": "errors",
    "turn.cancelled": "errors",
    "error.execution": "errors",
    "error.recovery_started": "errors",
    "error.recovery_failed": "errors",
    "error.recovery_success": "errors",
    "session.completed": "flow",
    "plan.cancelled": "flow",
    "agent.interrupted": "flow",
    "pipeline.completed": "flow",
}
# event → what it begins or ends, where its id stands, how it ends
BEGINS = {
    "understanding.started": ("understanding", "input_id"),
    "task.dispatch_requested": ("dispatch", "dispatch_id"),
    "solver.start": ("run", "dispatch_id"),
    "turn.started": ("turn", "turn_id"),
    "agent.user_confirm": ("step", "step_id"),
}
ENDS = {
    "understanding.completed": ("understanding", "input_id", "ok"),
    "task.dispatch_acked": ("dispatch", "dispatch_id", "ok"),
    "solver.completed": ("run", "dispatch_id", "ok"),
    "task.failed": ("run", "dispatch_id", "failed"),
    "turn.completed": ("turn", "turn_id", "ok"),
    "turn.failed": ("turn", "turn_id", "failed"),
    "turn.cancelled": ("turn", "turn_id", "cancelled"),
    "agent.user_confirm_closed": ("step", "step_id", "ok"),
}


class Row(Struct, frozen=True, kw_only=True, eq=False):
    """`event`, `said` and `shown` are what it is told by (row_text.py)."""

    seq: int
    at: str
    name: str
    category: str
    event: str
    said: Frame
    shown: str = ""
    member: str = ""
    lasts: bool = False  # until its end comes
    ended_at: str = ""
    outcome: str = ""  # ok, failed, cancelled, expired, superseded; empty while it lasts


class Rows:
    """Folds frames; `version` counts the changes."""

    def __init__(self) -> None:
        self.list: list[Row] = []
        self.version = 0
        self._dropped = 0
        self._open: dict[tuple[str, str], int] = {}

    def push(self, frame: Frame) -> None:
        event, said = frame["event"], frame.get("metadata") or {}
        if event in ENDS and self._close(ENDS[event], frame, said):
            return
        name = frame.get("timeline") or event
        category = CATEGORIES.get(name)
        if category is None or frame.get("seq") is None:
            return
        if event in BEGINS:
            kind, field = BEGINS[event]
            key = said.get(field) or (said.get("input") or {}).get(field)
            self._open[kind, str(key)] = self._dropped + len(self.list)
        outcome = "" if category != "errors" else "ok" if event == "error.recovery_success" else "failed"
        member = frame.get("source", {}).get("member") or said.get("member") or ""
        self.list.append(
            Row(
                seq=frame["seq"],
                at=frame["timestamp"],
                name=name,
                category=category,
                event=event,
                said=said,
                shown=frame.get("show_content") or "",
                member=member,
                lasts=event in BEGINS,
                outcome=outcome,
            )
        )
        self._cut()
        self.version += 1

    def _close(self, ends: tuple[str, str, str], frame: Frame, said: Frame) -> bool:
        kind, field, outcome = ends
        at = self._open.pop((kind, str(said.get(field))), None)
        if at is None or at < self._dropped:
            return False
        closed = said.get("outcome")
        row = self.list[at - self._dropped]
        if kind == "understanding":  # its end is what there is to tell
            row = replace(row, event=frame["event"], said=said)
        outcome = closed if closed and closed != "answered" else outcome
        self.list[at - self._dropped] = replace(row, ended_at=frame["timestamp"], outcome=outcome)
        self.version += 1
        return True

    def _cut(self) -> None:
        if len(self.list) > MOST_ROWS:
            del self.list[: MOST_ROWS // 4]
            self._dropped += MOST_ROWS // 4
