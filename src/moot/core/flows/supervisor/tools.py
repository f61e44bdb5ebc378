"""Tools that an agent calls between its turns. The agent acts again with their results.

A call that carries its own `result` (from a script) is completed at once; the shell runs the others.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from moot.core import text
from moot.core.draft import Draft
from moot.core.errors import Refused
from moot.core.flows.supervisor.jobs import active_job, job_of
from moot.core.flows.supervisor.state_update import VALUE_BYTES, as_plain
from moot.core.flows.supervisor.supervisor_events import ToolCompleted, ToolsCalled
from moot.core.json_text import find_object
from moot.core.session.commands import CompleteTool
from moot.core.session.events import ToolCall
from moot.core.session.state import Turn

CALLS = 20  # of one turn; further calls are ignored
NAME_CHARS, ERROR_CHARS = 200, 2_000


def read_calls(documents: Any, message: str = "") -> Sequence[Any]:
    """Return the tool calls of a result. If it has no such field, they are read from JSON in its text."""
    if documents is None:
        documents = (find_object(message, "tool_calls") or {}).get("tool_calls")
    return documents[:CALLS] if isinstance(documents, (list, tuple)) else ()


def call_tools(draft: Draft, turn: Turn, node: str, documents: Sequence[Any]) -> None:
    """Log the calls, and complete those that carry a result or are invalid."""
    calls = tuple(
        [_read_call(f"{turn.turn_id}.{number}", document) for number, document in enumerate(documents, start=1)]
    )
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
    for call, document in zip(calls, documents, strict=True):
        if not call.name:
            _complete(draft, call.call_id, None, "this is no call: give it a name and args")
        elif "result" in document or "error" in document:
            _complete(draft, call.call_id, document.get("result"), document.get("error"))


def _read_call(call_id: str, document: Any) -> ToolCall:
    if not isinstance(document, Mapping):
        return ToolCall(call_id=call_id, name="")
    args = _read_plain(document.get("args"))
    name, own_id = document.get("name"), document.get("id")
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
    """Log the result of a call. One that cannot be stored becomes an error, which the agent sees."""
    plain = _read_plain(result)
    if plain is None and result is not None:
        error = error or f"the result is no plain data of at most {VALUE_BYTES} bytes"
    message = "" if not error else text.cut(text.clean(str(error)), ERROR_CHARS)
    draft.add(ToolCompleted(call_id=call_id, result=None if message else plain, error=message))
