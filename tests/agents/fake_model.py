"""An OpenAI-compatible endpoint on loopback that answers from a script; standard library only."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = str | bytes | int | None


class FakeModel:
    """Each request takes the next answer: text, raw body, HTTP status, or None for silence. The last one stays."""

    def __init__(self, url: str, answers: list[Answer]) -> None:
        self.url = url
        self.answers = answers
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.released = threading.Event()

    def take(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @property
    def prompts(self) -> list[str]:
        return [request["messages"][-1]["content"] for request in self.requests]


def _completion(text: str) -> bytes:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    answer = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [choice],
        "usage": usage,
    }
    return json.dumps(answer).encode()


@contextmanager
def fake_model(*answers: Answer) -> Iterator[FakeModel]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            model.requests.append(json.loads(self.rfile.read(size)))
            model.keys.append(self.headers.get("authorization") or "")
            answer = model.take()
            if answer is None:
                model.released.wait(30)
                return
            status = answer if isinstance(answer, int) else 200
            body = answer if isinstance(answer, bytes) else _completion(str(answer))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            if status == 429:
                self.send_header("retry-after", "7")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model = FakeModel(f"http://127.0.0.1:{server.server_port}/v1", list(answers))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
