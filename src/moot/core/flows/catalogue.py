"""What a flow is, and which ones there are. A new flow is a module with these functions and a line in FLOWS."""

from typing import Protocol

from moot.core.commands import CompleteTurn, FailTurn
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.flows import chat
from moot.core.markers import Markers
from moot.core.state import Turn
from moot.core.team import Flow, Member


class Rules(Protocol):
    """Each function adds facts to the draft; each path ends in a running turn, a named human, or the end."""

    def receive(self, draft: Draft, speaker: Member, raw: str, markers: Markers) -> None: ...
    def complete_turn(self, draft: Draft, turn: Turn, command: CompleteTurn) -> None: ...
    def fail_turn(self, draft: Draft, turn: Turn, command: FailTurn) -> None: ...
    def retry_turn(self, draft: Draft, turn: Turn) -> None: ...
    def give_floor(self, draft: Draft) -> None: ...


FLOWS: dict[Flow, Rules] = {Flow.CHAT: chat}


def rules_of(flow: Flow) -> Rules:
    if flow not in FLOWS:
        raise Refused("flow_unavailable", detail=flow)
    return FLOWS[flow]
