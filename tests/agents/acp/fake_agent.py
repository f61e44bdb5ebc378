"""An ACP agent in a page, standard library only: what it does is the word on its command line."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]
mode = sys.argv[1]


def send(**message: object) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def update(kind: str, /, **fields: object) -> None:
    params = {"sessionId": "s1", "update": {"sessionUpdate": kind, **fields}}
    send(method="session/update", params=params)


def say(text: str, **fields: object) -> None:
    update("agent_message_chunk", content={"type": "text", "text": text}, **fields)


def read() -> Json:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    found: Json = json.loads(line)
    return found


def ask_permission(number: int = 1) -> str:
    call = {
        "toolCallId": f"c{number}-{os.getpid()}",
        "title": "touch x",
        "kind": "execute",
        "rawInput": {"command": "touch x"},
    }
    kinds = ("allow_always", "allow_once", "reject_once")
    options = [{"optionId": kind[:7], "name": kind.replace("_", " "), "kind": kind} for kind in kinds]
    send(id=900, method="session/request_permission", params={"sessionId": "s1", "toolCall": call, "options": options})
    while (answer := read()).get("id") != 900:
        pass
    return json.dumps(answer["result"]["outcome"], sort_keys=True)


def tell_much(text: str) -> Json:
    say("Warning: odd model\n")
    say("", messageId="m1")
    update("agent_thought_chunk", content={"type": "text", "text": "let me "})
    update("agent_thought_chunk", content={"type": "text", "text": "see"})
    update("tool_call", toolCallId="t1", title="Terminal", kind="execute", status="pending", rawInput={})
    update("tool_call_update", toolCallId="t1", title="ls", rawInput={"command": "ls -l"})
    update("tool_call_update", toolCallId="t1", status="completed", rawOutput="a b")
    update("plan", entries=[{"content": "one", "status": "completed"}, {"content": "two", "status": "pending"}])
    update("something_new", of="the future")
    say(f"told {'hello' in text} ", messageId="m1")
    say(f"key {os.environ.get('MY_API_KEY')}", messageId="m1")
    update("usage_update", used=1, size=2, cost={"amount": 0.5, "currency": "USD"})
    return {"stopReason": "end_turn", "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10}}


def edit(_: str) -> None:
    change = {"type": "diff", "path": "calc.py", "oldText": "a = 1\nb = 2\n", "newText": "a = 1\nb = 3\n"}
    call = {"toolCallId": "e1", "title": "Edit calc.py", "kind": "edit", "content": [change]}
    options = [{"optionId": "yes", "name": "allow", "kind": "allow_once"}]
    send(id=901, method="session/request_permission", params={"sessionId": "s1", "toolCall": call, "options": options})
    while read().get("id") != 901:
        pass
    update("tool_call_update", toolCallId="e1", status="completed", content=[change])
    say("done")


def ask(_: str) -> None:
    say(ask_permission())


def ask_twice(_: str) -> None:
    say(ask_permission(1) + ask_permission(2))


def refuse(_: str) -> Json:
    say("I can't")
    return {"stopReason": "refusal"}


def die(_: str) -> None:
    print("it broke: please run /login", file=sys.stderr)
    os._exit(3)


def flood(_: str) -> None:
    while True:
        say("x" * 100_000)


def complain(_: str) -> None:
    while True:
        print("Reconnecting...", file=sys.stderr, flush=True)
        time.sleep(0.02)


def wait_for_cancel(_: str) -> Json:
    say("begun")
    while read().get("method") != "session/cancel":
        pass
    Path("cancelled").write_text("yes")
    return {"stopReason": "cancelled"}


def remember(text: str) -> None:
    log = Path("memory")
    log.write_text(log.read_text() + "x" if log.exists() else "x")
    say(f"{'first words' in text} {log.read_text()}")


MODES: dict[str, Callable[[str], Json | None]] = {
    "answer": tell_much,
    "ask": ask,
    "edit": edit,
    "ask_twice": ask_twice,
    "refuse": refuse,
    "die": die,
    "flood": flood,
    "slow": wait_for_cancel,
    "silent": lambda _: time.sleep(60),
    "retrying": complain,
    "memory": remember,
    "load": remember,
    "memory_cost": tell_much,
    "quiet": lambda _: None,
    "modes": lambda _: say(Path("mode").read_text() if Path("mode").exists() else "agent"),
}


def prompt(text: str) -> Json:
    return MODES[mode](text) or {"stopReason": "end_turn"}


def offer_settings(request: Json) -> Json:
    """Modes and a setting of effort; what was chosen is in the file `mode`."""
    match request["method"]:
        case "session/set_mode":
            Path("mode").write_text(request["params"]["modeId"])
        case "session/set_config_option":
            Path("mode").write_text(f"{request['params']['configId']} {request['params']['value']}")
    offered = [{"id": name, "name": name} for name in ("agent", "read-only")]
    levels = [{"value": name, "name": name} for name in ("low", "high")]
    effort = {"id": "reasoning", "name": "Effort", "category": "thought_level", "type": "select"}
    return {
        "sessionId": "s1",
        "modes": {"currentModeId": "agent", "availableModes": offered},
        "configOptions": [{**effort, "currentValue": "low", "options": levels}],
    }


def answer(request: Json) -> Json:
    if mode == "modes" and request["method"] not in ("initialize", "session/prompt"):
        return offer_settings(request)
    match request["method"]:
        case "initialize":
            print("some talk before the first message")
            resumes: Json = {"sessionCapabilities": {"resume": {}}} if mode.startswith("memory") else {}
            if mode == "load":  # as qwen does: it offers what it does not have
                resumes = {"sessionCapabilities": {"resume": {}}, "loadSession": True}
            if mode == "show_files":
                resumes = {"promptCapabilities": {"image": True}}
            return {"protocolVersion": 1, "agentCapabilities": {"loadSession": False, **resumes}, "authMethods": []}
        case "session/new":
            return {"sessionId": "s1"}
        case "session/resume":
            say("an old answer, told again")
            return {}
        case "session/prompt" if mode.startswith("show_files"):
            say(json.dumps(request["params"]["prompt"]))
            return {"stopReason": "end_turn"}
        case "session/prompt":
            return prompt(request["params"]["prompt"][0]["text"])
    return {}


while True:
    asked = read()
    if mode == "mute":
        time.sleep(60)
    if mode == "login" and asked.get("method") == "session/new":
        send(id=asked["id"], error={"code": -32000, "message": "Authentication required"})
    elif mode == "abort" and asked.get("method") == "session/prompt":  # as qwen does
        say("", _meta={"usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10}})
        aborted = {"code": -32603, "message": "Internal error", "data": {"details": "Request was aborted."}}
        send(id=asked["id"], error=aborted)
    elif mode == "load" and asked.get("method") == "session/resume":
        send(id=asked["id"], error={"code": -32601, "message": "Method not found"})
    elif mode == "load" and asked.get("method") == "session/load":  # as gemini does: the history comes after the answer
        send(id=asked["id"], result={})
        for number in range(3):
            time.sleep(0.05)
            say(f"old answer {number} [NEXT: carol] ")
    elif "id" in asked and "method" in asked:
        send(id=asked["id"], result=answer(asked))
