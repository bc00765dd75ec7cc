"""Signals that end a program, heard only where nothing can be left behind."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """The signals that end a program while it makes what has to be cleared away: noted, and raised inside `heard` only.

    The first signal raises `KeyboardInterrupt` once; later ones find the program ending.
    """

    def __init__(self) -> None:
        self._came = False
        self._raised = False
        self._listening = False

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Note signals until the block ends, then raise one that came unheard; only the main thread gets any."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self._note) for one in ENDING}
        try:
            yield
        finally:
            for one, was in before.items():
                signal.signal(one, was)
        self._raise_once()

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Raise a signal that came before this block, or as soon as it comes inside."""
        try:
            self._listening = True
            self._raise_once()
            yield
        finally:
            self._listening = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = True
        if self._listening:
            self._raise_once()

    def _raise_once(self) -> None:
        if self._came and not self._raised:
            self._raised = True
            raise KeyboardInterrupt
