"""The server: WebSocket, SSE and REST in front of the runtime."""
