"""How a session stands, as lines: its work, or what `/status` would answer; the queue; what it has cost."""

from moot.cli.lines.board import list_board
from moot.cli.spending import describe_spending
from moot.core.draft import Draft
from moot.core.flows.catalogue import rules_of
from moot.core.notices import show
from moot.core.queue_line import queue_line
from moot.core.state import State


def describe_standing(state: State) -> list[str]:
    status = rules_of(state.team.flow).status(Draft(state))
    how_far = list_board(state) or [show(status, state.language) or status.code]
    queue = queue_line(state)
    return [*how_far, *([queue] if queue else []), *describe_spending(state)]
