"""A stand-in for Claude Code's stream-json both ways: it does what the words of a prompt say.

    python stand_in.py [--resume ID | --session-id ID]

`END` ends it without a word unless it is its first turn, `WORK` holds the turn until another line comes, which it
reads within the turn, or until it is interrupted, `ECHO` is answered with the prompt. Anything else is answered at
once. A file `LOST` beside it makes it forget every conversation.
"""

import itertools
import json
import pathlib
import sys

USAGE = {"input_tokens": 5, "output_tokens": 7}


def tell(**message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def read() -> dict[str, object]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return dict(json.loads(line))


def hear() -> str:
    """Read a line of a person, and repeat it as `--replay-user-messages` asks for. Empty for an interruption."""
    message = read()
    if message["type"] == "control_request":
        tell(type="control_response", response={"subtype": "success", "request_id": message["request_id"]})
        return ""
    tell(**message, isReplay=True)
    return str(message["message"])


def main() -> None:
    how, session_id = sys.argv[-2:]
    if how == "--resume" and pathlib.Path(__file__).with_name("LOST").exists():
        said = f"No conversation found with session ID: {session_id}"
        if pathlib.Path(__file__).with_name("SILENT").exists():
            sys.exit(said)
        read()
        tell(type="result", subtype="error_during_execution", is_error=True, errors=[said])
        sys.exit(1)
    for turn in itertools.count():
        said = hear()
        if "END" in said and turn:
            sys.exit(1)
        tell(type="system", subtype="init", session_id=session_id)
        words = [how]
        if "WORK" in said:
            use = {"type": "tool_use", "id": "call", "name": "Bash", "input": {"command": "work"}}
            tell(type="assistant", message={"content": [use]})
            more = hear()
            if not more:
                tell(type="result", subtype="error_during_execution", is_error=True, usage=USAGE)
                continue
            words.append("steered" if "blue" in more else "?")
        if "ECHO" in said:
            words.append(said)
        tell(type="result", subtype="success", result=" ".join(words), session_id=session_id, usage=USAGE)


main()
