"""Work on all processors."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def each(of: Callable[..., Result], *arguments: Iterable[Any]) -> Iterator[Result]:
    """Give what a function returns for each set of arguments, in order, found on all processors.

    An error, and Ctrl-C, drop what has not begun.
    """
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            yield from pool.map(of, *arguments)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
