"""Files that are whole or absent."""

import os
import tempfile
from pathlib import Path


def write_whole(file: str | Path, text: str) -> None:
    """Write a text to a file: whole, or not at all, and what stood there before stays until then."""
    path = Path(file)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as part:
        try:
            part.write(text)
            part.close()
            os.chmod(part.name, 0o644)  # A temporary file is its owner's alone.
            os.replace(part.name, path)
        except BaseException:
            os.unlink(part.name)
            raise
