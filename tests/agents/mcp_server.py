"""A small MCP server over stdio, standard library only: a tool that says what the program may see, and a shell."""

import json
import os
import subprocess
import sys
from typing import Any

TOOL = {
    "name": "look",
    "description": "What this program sees.",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}

SHELL = {
    "name": "bash",
    "description": "Runs a command.",
    "inputSchema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
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
            return {"tools": [TOOL, SHELL]}
        case "tools/call":
            if request["params"]["name"] == SHELL["name"]:
                command = request["params"]["arguments"]["command"]
                ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
                return {"content": [{"type": "text", "text": ran.stdout}]}
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
