"""Serves the explorer on this machine alone."""

import contextlib
import logging
import warnings
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import fastapi
import uvicorn
from nicegui import app, ui

from headrace.explore.design import Json
from headrace.loopback import HEADERS, Guard, listening
from headrace.view.explore.tab import Tab

Scope = dict[str, Any]
Served = Callable[[Any, Any, Any], Awaitable[None]]

# Open websockets are waited for no longer than this when the server is stopped.
PATIENCE_S = 1


def serve(file: Path, changes: Json, allowed: Sequence[Path], port: int, ready: Callable[[str], object]) -> None:
    """Serve the explorer of a scenario until Ctrl-C; `ready` hears its address.

    It writes to the folder of the scenario and to `allowed` ones. Raises `OSError` for a taken port.
    """
    listener = listening(port)
    guard = Guard(listener.getsockname()[1])

    @ui.page("/")
    def page() -> None:
        tab = Tab(file, changes, allowed)
        tab.build()
        app.on_shutdown(tab.close)

    mounted = fastapi.FastAPI(openapi_url=None)
    ui.run_with(mounted, mount_path=guard.path.rstrip("/"), title=f"{file.name}: headrace explore", tailwind=False,
                dark=None, reconnect_timeout=30, show_welcome_message=False)  # fmt: skip
    config = uvicorn.Config(
        guarded(mounted, guard), log_level=logging.CRITICAL, timeout_graceful_shutdown=PATIENCE_S, ws_max_size=2**20
    )
    ready(guard.address)
    # Tabs that are open when it stops leave messages unsent, of which asyncio would warn.
    with contextlib.suppress(KeyboardInterrupt), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        uvicorn.Server(config).run(sockets=[listener])


def guarded(served: Served, guard: Guard) -> Served:
    """Return an application that refuses what the guard refuses, websockets too, before the other hears of it."""

    async def answer(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await served(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        why = guard.refusal(scope["path"], headers)
        if why is None:
            await served(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": why})
        else:
            body = [(b"content-type", b"text/plain; charset=utf-8")]
            await send({"type": "http.response.start", "status": 403, "headers": body})
            await send({"type": "http.response.body", "body": f"{why}\n".encode()})

    return answer


def _with_headers(send: Any) -> Any:
    async def sent(message: Scope) -> None:
        if message["type"] == "http.response.start":
            more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = message | {"headers": [*message.get("headers", []), *more]}
        await send(message)

    return sent
