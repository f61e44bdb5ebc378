"""A real MCP server on loopback, over streamable HTTP: one tool, which says what it was given."""

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from msgspec import Struct
from starlette.types import Receive, Scope, Send


class McpAddress(Struct):
    url: str
    keys: set[str]  # that callers showed


def look(name: str) -> str:
    """What this server sees."""
    if name == "paper":
        raise ToolError("out of paper")
    return f"sees {name}"


@contextmanager
def serve_mcp() -> Iterator[McpAddress]:
    server = MCPServer("t", log_level="CRITICAL")
    server.add_tool(look)
    inner: Any = server.streamable_http_app()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = McpAddress(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", set())

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            for name, value in scope.get("headers", []):
                if name == b"authorization":
                    address.keys.add(value.decode())
            await inner(scope, receive, send)

        started = uvicorn.Server(uvicorn.Config(app, log_level=logging.CRITICAL, lifespan="on"))
        thread = threading.Thread(target=started.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield address  # what comes before it listens waits at the socket
        finally:
            started.should_exit = True
            thread.join()
