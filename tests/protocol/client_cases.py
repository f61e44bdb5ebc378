"""Plays the recorded cases of the client: the same file drives the browser's client."""

import json
from pathlib import Path
from typing import Any

import msgspec

from moot.core.codec import Head
from moot.protocol.client import ClientHalf
from moot.protocol.happenings import Denied, Done, Ended, Exported, Happening, Logged, Moved, Passing, Reset, Sever

DATA = Path(__file__).parents[1] / "data"
CASES: list[dict[str, Any]] = json.loads((DATA / "protocol" / "client_cases.json").read_text(encoding="utf-8"))["cases"]
GOLDEN = (DATA / "golden" / "chat-v1.jsonl").read_text(encoding="utf-8").split("\n")[:-1]  # U+2028 is no line end


class Player:
    def __init__(self) -> None:
        self.half = ClientHalf()
        self.now = 0.0

    def play(self, step: dict[str, Any]) -> list[Happening]:
        """Do what a step says."""
        half = self.half
        self.now = step.get("at", self.now)
        match step:
            case {"connect": _}:
                return half.connect(self.now)
            case {"open": _}:
                half.opened(self.now)
            case {"follow": session_id}:
                half.follow(session_id, self.now, Head(*step["head"]) if "head" in step else None)
            case {"send": {"command_id": command_id, "event": event, "fields": fields} as command}:
                half.send(command_id, event, fields, self.now, session_id=command.get("session_id"))
            case {"lost": code, "random": random}:
                return half.lost(self.now, random, code)
            case {"tick": _}:
                return half.tick(self.now)
            case _:
                return [each for text in messages(step) for each in half.receive(text, self.now)]
        return []

    def outcome(self, happened: list[Happening]) -> dict[str, Any]:
        return {
            "sent": [json.loads(text) for text in self.half.to_send(self.now)],
            "events": [describe(each) for each in happened],
            "state": str(self.half.state),
            "cursor": {session_id: each.head.seq for session_id, each in self.half.following.items()},
        }


def messages(step: dict[str, Any]) -> list[str]:
    """The texts that a step receives."""
    match step:
        case {"receive": frame}:
            return [json.dumps(frame, ensure_ascii=False)]
        case {"receive_text": text}:
            return [text]
        case {"golden": [first, last]}:
            frames = [line.replace(*step.get("replace", ("", ""))) for line in GOLDEN[first - 1 : last]]
            return [f"[{','.join(frames)}]"] if step.get("batch") else frames
        case _:
            raise ValueError(f"no such step: {step}")


def describe(happening: Happening) -> dict[str, Any]:
    """As the file writes it; what it leaves open is not compared."""
    match happening:
        case Moved(state=state):
            return {"moved": str(state), **given(happening, "attempt", "retry_in_s", "reason")}
        case Logged(session_id=session_id, seq=seq):
            return {"logged": [session_id, seq]}
        case Done(command_id=command_id):
            return {"done": command_id, **given(happening, "session_id", "seq")}
        case Denied(command_id=command_id):
            return {"denied": command_id, **given(happening, "code", "sentence")}
        case Exported(command_id=command_id, session_id=session_id, head=head):
            return {"exported": command_id, "session_id": session_id, "seq": head.seq}
        case Reset(session_id=session_id, reason=reason):
            return {"reset": session_id, "reason": reason}
        case Ended(session_id=session_id, code=code):
            return {"ended": session_id, "code": code}
        case Passing(frame=frame):
            return {"passing": frame["event"]}
        case Sever():
            return {"sever": True}


def given(happening: msgspec.Struct, *names: str) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(happening, name))}
