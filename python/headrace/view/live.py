"""The page of an experiment while it runs: the report of what is found so far, which the browser keeps up to date."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from headrace.loopback import HEADERS, Guard, listening
from headrace.report import Report
from headrace.view.pages.page import body, fragment

# A page is written when this number of times what the last one took has gone by, and no sooner than after the seconds.
SELDOM, SOONEST_S = 10, 0.5
# A browser asks again after this if nothing is new. The last page is kept this long for a browser that has opened the
# page, and a moment longer for others.
PATIENCE_S, LINGER_S, OTHERS_S = 20.0, 10.0, 0.5
# Number of requests served at once, each by a thread; further connections are closed, and so are silent ones after this
# many seconds.
MOST, SILENT_S = 32, 30.0
# Digits of a version: no page has more.
DIGITS = 18

Make = Callable[[], Report | None]


class Live:
    """A page that changes: the report of what is found so far, if there is one."""

    def __init__(self, title: str) -> None:
        self.title, self.body, self.doing = title, "", "starting"
        self.version, self.done = 0, False
        self._news = threading.Condition()
        self._next = 0.0
        self._opened, self._told = False, -1

    def offer(self, make: Make, doing: str) -> None:
        """Show how far things are and, unless that was done a moment ago, the report of what is found."""
        began = time.monotonic()
        due = began >= self._next
        self._show(make() if due else None, doing, done=False)
        if due:
            ended = time.monotonic()
            self._next = ended + max(SOONEST_S, SELDOM * (ended - began))

    def finish(self, make: Make, doing: str) -> None:
        """Show the report of what was found in the end."""
        self._show(make(), doing, done=True)

    def _show(self, report: Report | None, doing: str, *, done: bool) -> None:
        shown = None if report is None else body(report, command=self.title)
        with self._news:
            self.body, self.doing, self.done = shown or self.body, doing, done
            self.version += 1
            self._news.notify_all()

    def after(self, version: int) -> dict[str, Any]:
        """Return what is shown, once it is newer than a version."""
        with self._news:
            self._opened = True
            self._news.wait_for(lambda: self.version > version, timeout=PATIENCE_S)
            self._told = self.version
            self._news.notify_all()
            return {"version": self.version, "doing": self.doing, "done": self.done, "body": self.body}

    def linger(self) -> None:
        """Wait until a browser that has opened the page has the last one."""
        with self._news:
            opened = self._opened
            if opened:
                self._news.wait_for(lambda: self._told == self.version, timeout=LINGER_S)
        if opened:
            time.sleep(OTHERS_S)

    def page(self) -> str:
        """Return the page around what is shown."""
        with self._news:
            self._opened = True
        return fragment("live.html", title=self.title)


class Server(ThreadingHTTPServer):
    """A server of a bounded number of requests at once. A request that fails costs one line, not a traceback."""

    daemon_threads = True

    def __init__(self, *how: Any, **named: Any) -> None:
        super().__init__(*how, **named)
        self._room = threading.BoundedSemaphore(MOST)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a request on a thread of its own, if there is room for one."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a request, and make room for another."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report a request that failed; a browser that has gone is none."""
        error = sys.exception()
        if not isinstance(error, (ConnectionError, TimeoutError)):
            print(f"error: the live page could not answer a request: {error!r}", file=sys.stderr)


@contextmanager
def serving(live: Live, ready: Callable[[str], object]) -> Iterator[None]:
    """Serve the page meanwhile, on the loopback alone; `ready` hears its address."""
    listener = listening()
    guard = Guard(listener.getsockname()[1])
    server = Server(listener.getsockname(), _handler(live, guard), bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    ready(guard.address)
    try:
        yield
        live.linger()
    finally:
        server.shutdown()
        server.server_close()


def _version(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) <= DIGITS else 0


def _handler(live: Live, guard: Guard) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = SILENT_S

        def do_GET(self) -> None:
            why = guard.refusal(self.path, {name.lower(): value for name, value in self.headers.items()})
            if why:
                self._answer(403, "text/plain", f"{why}\n")
                return
            asked = urlsplit(self.path)
            name = asked.path.removeprefix(guard.path)
            if name == "next":
                told = live.after(_version(parse_qs(asked.query).get("after", ["0"])[0]))
                self._answer(200, "application/json", json.dumps(told))
            elif name == "":
                self._answer(200, "text/html", live.page())
            else:
                self._answer(404, "text/plain", "there is one page here\n")

        def _answer(self, status: int, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            for header, value in (
                HEADERS | {"Content-Type": f"{kind}; charset=utf-8", "Cache-Control": "no-store"}
            ).items():
                self.send_header(header, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the terminal is the experiment's."""

    return Handler
