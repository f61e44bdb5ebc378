"""A real HTTP endpoint on loopback that speaks the APIs of models, and plays what a test tells it to; standard library.

One port: `…/chat/completions`, `…/responses`, `…/messages`, `…/models/NAME:streamGenerateContent` and their like.
"""

import gzip
import json
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.agents.fake_dialects import Asked, Call, Dialect, Frame, OpenAiChat, OpenAiResponses, Reply
from tests.agents.fake_more_dialects import Anthropic, Gemini

__all__ = ["Answer", "Asked", "Call", "FakeModels", "Reply", "fake_models"]

Played = str | bytes | int | None | Reply
Answer = Played | Callable[[Asked], Played]
_POLL_S = 0.01


class FakeModels:
    """Each request takes the next answer; the last one stays. A function answers by what is asked.

    text = says it · int = HTTP status · bytes = a raw body · None = silence · Reply = all of it.
    """

    def __init__(self, root: str, answers: list[Answer]) -> None:
        self.root = root  # for Anthropic and Gemini
        self.url = f"{root}/v1"  # for OpenAI
        self.answers = answers
        self.asked: list[Asked] = []
        self.shown = threading.Event()  # a stream has come to the place where it stalls
        self.hung_up = threading.Event()  # a client closed its connection before the reply was over
        self.released = threading.Event()
        self._lock = threading.Lock()

    def take(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        played = answer(asked) if callable(answer) else answer
        match played:
            case str():
                return Reply(text=played)
            case bytes():
                return Reply(body=played)
            case int():
                return Reply(status=played)
            case None:
                return Reply(silence=True)
            case Reply():
                return played

    @property
    def prompts(self) -> list[str]:
        return [each.prompt for each in self.asked]

    @property
    def keys(self) -> list[str]:
        return [each.key for each in self.asked]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    models: FakeModels

    def do_GET(self) -> None:
        known = {"id": "fake-model", "object": "model", "created": 0, "owned_by": "fake"}
        named = {"name": "models/fake-model", "supportedGenerationMethods": ["generateContent"]}
        self._send(json.dumps({"object": "list", "data": [known], "models": [named]}).encode())

    def do_HEAD(self) -> None:
        self._send(b"")

    def do_POST(self) -> None:
        body = self._read()
        path = self.path.split("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            self._send(b'{"input_tokens": 42, "totalTokens": 42}')
            return
        dialect = _find_dialect(path)
        if dialect is None:
            self._send(b"{}")
            return
        asked = dialect.read(body, path, self._key())
        reply = self.models.take(asked)
        with suppress(BrokenPipeError, ConnectionResetError):
            self._play(dialect, asked, reply)

    def _read(self) -> dict[str, Any]:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        found = json.loads(data or b"{}")
        return found if isinstance(found, dict) else {}

    def _key(self) -> str:
        names = ("x-api-key", "x-goog-api-key", "authorization")
        return next((self.headers[name] for name in names if self.headers.get(name)), "")

    def _play(self, dialect: Dialect, asked: Asked, reply: Reply) -> None:
        if reply.silence:
            self._wait()
        elif reply.status != 200:
            message = "Incorrect API key provided" if reply.status == 401 else "scripted failure"
            error = {"type": "fake_error", "message": message, "code": reply.status}
            self._send(json.dumps({"error": error}).encode(), reply.status, reply.retry_after)
        elif reply.body is not None:
            self._send(reply.body)
        elif asked.is_streamed:
            self._stream(dialect.stream(reply, asked.model), reply)
        else:
            self._send(json.dumps(dialect.whole(reply, asked.model)).encode())

    def _send(self, body: bytes, status: int = 200, retry_after: str | None = None) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if retry_after is not None:
            self.send_header("retry-after", retry_after)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, frames: Iterator[Frame], reply: Reply) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        texts = 0
        for frame in frames:
            if frame.is_text or frame.is_end:
                if reply.stall_after == texts:
                    self._wait()
                    return
                if reply.break_after == texts:
                    self.close_connection = True  # without the last chunk: it broke
                    return
            if frame.is_end and reply.is_unfinished:
                break
            self._write_chunk(frame.encode())
            texts += frame.is_text
        self.wfile.write(b"0\r\n\r\n")

    def _write_chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _wait(self) -> None:
        """Say nothing until the test ends or the client goes away."""
        self.close_connection = True
        self.models.shown.set()
        while not self.models.released.is_set():
            if select.select([self.connection], [], [], _POLL_S)[0] and not self._peek():
                self.models.hung_up.set()
                return

    def _peek(self) -> bytes:
        try:
            return bytes(self.connection.recv(1, socket.MSG_PEEK))
        except ConnectionResetError:
            return b""

    def log_message(self, *_: object) -> None:
        pass


def _find_dialect(path: str) -> Dialect | None:
    if path.endswith("/chat/completions"):
        return OpenAiChat()
    if path.endswith("/responses"):
        return OpenAiResponses()
    if path.endswith("/messages"):
        return Anthropic()
    return Gemini() if path.endswith((":generateContent", ":streamGenerateContent")) else None


@contextmanager
def fake_models(*answers: Answer) -> Iterator[FakeModels]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    models = FakeModels(f"http://127.0.0.1:{server.server_port}", list(answers))
    server.RequestHandlerClass = type("Handler", (_Handler,), {"models": models})
    thread = threading.Thread(target=server.serve_forever, args=(_POLL_S,), daemon=True)
    thread.start()
    try:
        yield models
    finally:
        models.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
