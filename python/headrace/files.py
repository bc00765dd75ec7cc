"""Files that are whole or absent, and never written over what was read."""

import fcntl
import glob
import io
import os
import secrets
import stat
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.errors import refusal

if TYPE_CHECKING:
    import polars

PART = ".headrace-"  # What is not whole yet begins so.
STALE_S = 60


class NotKept(UserWarning):
    """Warns that an answer was found, but a file that was asked for could not be written."""


def warn_not_kept(error: OSError, file: str | Path) -> None:
    """Warn that a file could not be written, so that the answer is not lost with it."""
    warnings.warn(f"{file} cannot be written: {error.strerror or error}", NotKept, stacklevel=4)


@contextmanager
def whole(file: str | Path) -> Iterator[Path]:
    """Yield the path of a file to write, which replaces `file` if the block succeeds; otherwise nothing changes.

    The file is on disk before it is replaced, and so is its directory entry afterwards: a power loss leaves the old
    file or the new one. A replaced file keeps its mode, a new one gets that of the umask. A symbolic link stays, and
    the file it points to is replaced. Anything but a plain file (a pipe, `/dev/null`) is written directly.
    """
    path = Path(os.path.realpath(file))
    if path.exists() and not path.is_file():
        yield path
        return
    tidy(path.parent, path.name)
    part = path.parent / f"{PART}{secrets.token_hex(4)}.{path.name}"
    try:
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # So others see that it is being written.
        if path.exists():
            os.fchmod(handle, stat.S_IMODE(path.stat().st_mode))
        yield part
        sync(part)
        os.replace(part, path)
        sync(path.parent)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """Flush a file's data, or the entries of a directory, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_whole(file: str | Path, text: str) -> None:
    """Write a text to a file: whole, or not at all, and what stood there before stays until then."""
    with whole(file) as part:
        part.write_text(text, encoding="utf-8")


def as_parquet(frame: "polars.DataFrame") -> bytes:
    """Return a frame as Parquet, to be written by Python: a full disk is an `OSError` then, as everywhere."""
    made = io.BytesIO()
    frame.write_parquet(made)
    return made.getvalue()


def tidy(folder: Path, name: str = "*") -> None:
    """Remove what processes that were killed left half written of a file, or of all files in a folder."""
    pattern = name if name == "*" else glob.escape(name)
    for left in folder.glob(f"{PART}????????.{pattern}"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > STALE_S and is_free(left):
                left.unlink()


def is_free(file: Path) -> bool:
    """Return true if the process that wrote a file has ended: it held a lock on the file."""
    try:
        with open(file, "rb") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def keep_apart(outputs: Mapping[str, str | Path | None], inputs: Iterable[str | Path]) -> None:
    """Refuse, before anything runs, to write a file over one that is read, or two outputs to one file.

    `outputs` are files by the option that names them. Links, symbolic and hard, are seen through.
    """
    read, taken = [Path(one) for one in inputs], dict[str, Path]()
    for option, named in outputs.items():
        if named is None:
            continue
        to = Path(named)
        if any(_are_one(to, one) for one in read):
            message = f"{option}: {to} is read by this command, and would be overwritten"
            raise refusal(to, message, "name another file to write to")
        if other := next((one for one, path in taken.items() if _are_one(to, path)), None):
            raise refusal(to, f"{other} and {option} both name {to}", "name two files")
        taken[option] = to


def _are_one(a: Path, b: Path) -> bool:
    """Return true if two names are of one file; pipes and devices (`/dev/null`) may be read and written at once."""
    if any("\0" in str(name) for name in (a, b)):  # No system has such a file; whoever reads it says so.
        return False
    if a.exists() and not (a.is_file() or a.is_dir()):
        return False
    try:
        return a.samefile(b)
    except OSError:  # One of them is not there yet.
        return os.path.realpath(a) == os.path.realpath(b)
