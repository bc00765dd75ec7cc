"""Work on all processors."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")

# Set in threads of a pool whose results nobody waits for any more.
_own = threading.local()


def each(of: Callable[..., Result], *arguments: Iterable[Any]) -> Iterator[Result]:
    """Give what a function returns for each set of arguments, in order, found on all processors.

    An error, and Ctrl-C, drop what has not begun, and end the runs that are watched by `watch`.
    """
    dropped = threading.Event()
    with ThreadPoolExecutor(os.cpu_count(), initializer=_belong, initargs=(dropped,)) as pool:
        try:
            yield from pool.map(of, *arguments)
        except BaseException:
            dropped.set()
            pool.shutdown(cancel_futures=True)
            raise


def _belong(dropped: threading.Event) -> None:
    _own.dropped = dropped


def watch(*_: object) -> None:
    """End a run of `each` that nobody waits for any more; elsewhere do nothing. It is the `watch` of such a run."""
    dropped: threading.Event | None = getattr(_own, "dropped", None)
    if dropped is not None and dropped.is_set():
        raise KeyboardInterrupt
