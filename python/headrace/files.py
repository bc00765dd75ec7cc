"""Files that are whole or absent."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(file: str | Path) -> Iterator[Path]:
    """Give the name of a file to write, which takes the place of `file` when all went well; else nothing changes.

    What is no plain file (a pipe, `/dev/null`) is written as it is.
    """
    path = Path(file)
    if path.exists() and not path.is_file():
        yield path
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=f".{path.name}")
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o644)  # A temporary file is its owner's alone.
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def write_whole(file: str | Path, text: str) -> None:
    """Write a text to a file: whole, or not at all, and what stood there before stays until then."""
    with whole(file) as part:
        part.write_text(text, encoding="utf-8")
