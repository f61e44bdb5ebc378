"""An ACP agent that plays what a real one was recorded to say, standard library only: `recorded_agent.py RECORDING`.

Answers stand where they were given; at a recorded cancel it waits for ours, and leaves a file `cancelled`.
"""

import json
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]
ASKED = 900


def send(**message: object) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def hear(*, method: str = "", request_id: int | None = None) -> Json:
    """The next message that is of this method, or the answer to this request."""
    for line in sys.stdin:
        heard: Json = json.loads(line)
        if heard.get("method") == "session/set_mode":
            send(id=heard["id"], result={})
        if heard.get("method") == method or (request_id is not None and heard.get("id") == request_id):
            return heard
    sys.exit(0)


def main() -> None:
    recording = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    lines = [json.loads(line) for line in recording if line.startswith("{")]
    session_id = next(line["v"]["sessionId"] for line in lines if line["k"] == "session/new ->")
    prompt: int | None = None
    for line in lines:
        match line["k"]:
            case "initialize ->" | "session/new ->":
                method = line["k"].removesuffix(" ->")
                send(id=hear(method=method)["id"], result=line["v"])
                if method == "session/new":
                    prompt = hear(method="session/prompt")["id"]  # what came meanwhile comes now
            case "session/update":
                send(method="session/update", params={"sessionId": session_id, "update": line["v"]})
            case "session/request_permission":
                params = {"sessionId": session_id, **line["v"]}
                send(id=ASKED, method="session/request_permission", params=params)
                hear(request_id=ASKED)
            case "-> session/cancel":
                hear(method="session/cancel")
                Path("cancelled").touch()
            case "session/prompt ->":
                send(id=prompt, result=line["v"])
            case "ext_notification":
                send(method=f"_{line['v']['method']}", params=line["v"]["params"])
    sys.stdin.read()


main()
