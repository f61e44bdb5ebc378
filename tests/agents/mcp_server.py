"""A small MCP server over stdio, standard library only: one tool, which says what the program may see."""

import json
import os
import sys
from typing import Any

TOOL = {
    "name": "look",
    "description": "What this program sees.",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}


def answer(request: dict[str, Any]) -> dict[str, Any] | None:
    match request.get("method"):
        case "initialize":
            version = request["params"]["protocolVersion"]
            return {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "t", "version": "1"},
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            name = request["params"]["arguments"]["name"]
            seen = os.environ.get(name, "nothing") if name != "cwd" else os.getcwd()
            return {"content": [{"type": "text", "text": f"sees {seen}"}]}
        case "ping":
            return {}
        case _:
            return None


def main() -> None:
    with open(sys.argv[1], "a", encoding="utf-8") as started:
        started.write(f"{os.getpid()}\n")
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request)
        known: dict[str, Any] = {"result": result}
        if result is None:
            known = {"error": {"code": -32601, "message": "no such method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **known}), flush=True)


if __name__ == "__main__":
    main()
