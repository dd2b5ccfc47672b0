"""A model server on loopback that answers as its script says: chat, responses and messages, streaming or whole."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.server_streams import ANTHROPIC, CHAT, RESPONSES

SCRIPTS = {"/v1/chat/completions": CHAT, "/v1/responses": RESPONSES, "/v1/messages": ANTHROPIC}
BROKEN_CALL = {
    "id": "call_c",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Oslo",}'},
}
WHOLE = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-x",
    "choices": [{"index": 0, "finish_reason": "tool_calls",
                 "message": {"role": "assistant", "content": "Looking it up.", "tool_calls": [BROKEN_CALL]}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 30, "total_tokens": 39},
}  # fmt: skip


class Scripted(BaseHTTPRequestHandler):
    """One request."""

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        is_stream = bool(asked.get("stream"))
        self.send_header("content-type", "text/event-stream" if is_stream else "application/json")
        self.end_headers()
        if not is_stream:
            self.wfile.write(json.dumps(WHOLE).encode())
            return
        for item in SCRIPTS[self.path.split("?")[0]]:
            kind = f"event: {item['type']}\n" if "type" in item else ""
            self.wfile.write(f"{kind}data: {json.dumps(item)}\n\n".encode())
        if self.path.startswith("/v1/chat"):
            self.wfile.write(b"data: [DONE]\n\n")


@contextmanager
def scripted_server() -> Iterator[str]:
    """The running server's URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
