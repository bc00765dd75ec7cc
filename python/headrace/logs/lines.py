"""A log's lines as frames of bounded size, from plain or compressed files."""

import bz2
import codecs
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

import polars as pl

from headrace.errors import refusal, refuse_endless

CHUNK = 16 << 20
LONGEST = 1 << 20  # No line of a log is longer; what is (a disk image) is no log.
MAGIC: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7z": lzma.open}


def read(file: Path) -> Iterator[pl.DataFrame]:
    """Yield a log's lines as frames with `line` (the first is 1) and `text`; blank lines and `#` comments left out.

    Raises `ScenarioError` where the file cannot be read, or holds no lines of text.
    """
    with _opened(file) as opened:
        first, rest = 1, b""
        while chunk := opened.read(CHUNK):
            chunk = chunk.removeprefix(codecs.BOM_UTF8) if first == 1 and not rest else chunk
            whole, newline, rest = (rest + chunk).rpartition(b"\n")
            if len(rest) > LONGEST:
                raise refusal(file, f"{file} is no log: a line has more than {LONGEST >> 20} MiB", "name a text file")
            if newline:
                yield _frame(whole, first)
                first += whole.count(b"\n") + 1
        if rest:
            yield _frame(rest, first)


def _frame(text: bytes, first: int) -> pl.DataFrame:
    lines = text.decode("utf-8", errors="replace").split("\n")
    frame = pl.DataFrame({"text": lines}, schema={"text": pl.String}).with_row_index("line", first)
    kept = frame.with_columns(pl.col("line").cast(pl.Int64), pl.col("text").str.strip_chars_end("\r\n\t "))
    return kept.filter((pl.col("text") != "") & ~pl.col("text").str.starts_with("#"))


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    if not file.is_fifo():
        refuse_endless(file)
    try:
        with open(file, "rb") as plain:
            start = plain.peek(6)  # A pipe is read once.
            if start.startswith(b"\x28\xb5\x2f\xfd"):
                raise refusal(
                    file, f"{file} is compressed with zstd, which logs are not read from", "run `unzstd` first"
                )
            how: Callable[..., Any] = next(
                (how for magic, how in MAGIC.items() if start.startswith(magic)), nullcontext
            )
            with how(plain) as opened:
                yield opened
    except FileNotFoundError:
        raise refusal(file, f"{file} does not exist", "check the path") from None
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise refusal(file, f"{file} cannot be decompressed: {error}", "the file is cut short or damaged") from None
    except OSError as error:
        why = error.strerror or str(error)
        raise refusal(file, f"{file} cannot be read: {why}", "check the file and its permissions") from None
