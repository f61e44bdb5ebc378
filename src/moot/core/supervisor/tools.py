"""Tools that an agent calls between its turns (supervisor: state). Who calls them acts again with what they gave.

A call that carries its own `result` (scripts) is answered at once; the others are run by the shell.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from moot.core import text
from moot.core.commands import CompleteTool
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.json_text import find_object
from moot.core.state import Turn
from moot.core.supervisor.events import ToolCall, ToolCompleted, ToolsCalled
from moot.core.supervisor.jobs import active_job, job_of
from moot.core.supervisor.state_update import VALUE_BYTES, as_plain

CALLS = 20  # of one turn; the rest is not made
NAME_CHARS, ERROR_CHARS = 200, 2_000


def read_calls(given: Any, said: str = "") -> Sequence[Any]:
    """As the agent gave them, or, of one that can only write text, from JSON in it."""
    found = (find_object(said, "tool_calls") or {}).get("tool_calls") if given is None else given
    return found[:CALLS] if isinstance(found, (list, tuple)) else ()


def call_tools(draft: Draft, turn: Turn, node: str, given: Sequence[Any]) -> None:
    calls = tuple([_read_call(f"{turn.turn_id}.{number}", each) for number, each in enumerate(given, start=1)])
    draft.add(
        ToolsCalled(
            agent=turn.job,
            node=node,
            member=turn.member,
            turn_id=turn.turn_id,
            round=job_of(draft).tool_round + 1,
            calls=calls,
        )
    )
    for call, each in zip(calls, given, strict=True):
        if not call.name:
            _complete(draft, call.call_id, None, "this is no call: give it a name and args")
        elif "result" in each or "error" in each:
            _complete(draft, call.call_id, each.get("result"), each.get("error"))


def _read_call(call_id: str, given: Any) -> ToolCall:
    if not isinstance(given, Mapping):
        return ToolCall(call_id=call_id, name="")
    args = _read_plain(given.get("args"))
    name, own_id = given.get("name"), given.get("id")
    return ToolCall(
        call_id=call_id,
        name=text.cut(text.clean(name), NAME_CHARS) if isinstance(name, str) else "",
        args=args if isinstance(args, dict) else {},
        id=text.cut(text.clean(own_id), NAME_CHARS) if isinstance(own_id, str) else "",
    )


def _read_plain(value: Any) -> Any:
    try:
        plain = as_plain(value)
    except ValueError:
        return None
    return plain if len(msgspec.json.encode(plain)) <= VALUE_BYTES else None


def complete_tool(draft: Draft, command: CompleteTool) -> None:
    job = active_job(draft.state)
    if job is None or command.call_id not in job.calls:
        raise Refused("stale_turn", detail=command.call_id)
    _complete(draft, command.call_id, command.result, command.error)


def _complete(draft: Draft, call_id: str, result: Any, error: Any) -> None:
    """A result that cannot be stored is an error: the agent learns of it and may try something else."""
    plain = _read_plain(result)
    if plain is None and result is not None:
        error = error or f"the result is no plain data of at most {VALUE_BYTES} bytes"
    said = "" if not error else text.cut(text.clean(str(error)), ERROR_CHARS)
    draft.add(ToolCompleted(call_id=call_id, result=None if said else plain, error=said))
