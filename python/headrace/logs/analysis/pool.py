"""The disk pool before the tapes: how large it was, by which files that were read again came from tape.

A pool that purges the file least recently used still has one if the files used since, and itself, fit there together:
its stack distance (Mattson et al., IBM Systems Journal 9, 1970), in bytes. So files that came from tape again lie
beyond the size of the pool, and those found there within. The size is the one that fewest of them contradict.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headrace.logs.replayed import READS, Operations, from_tape
from headrace.logs.rows import KEYS

FEWEST, MOST = 30, 100_000  # Fewer reads tell no size; of a longer log, the first operations are looked at.
AGREEING = 0.8  # With fewer reads that agree, files are purged by another rule, or lie elsewhere.


@dataclass(frozen=True)
class PoolSize:
    """The size of a pool, and which share of the reads that tell of it agree."""

    bytes: int
    agreeing: float
    largest: int
    """The largest file."""


def pool_size(operations: Operations) -> PoolSize | None:
    """Return the size of the pool in which a log's files were found again, or not; `None` where it does not tell."""
    files = pl.col("file")
    named = operations.rows.scan().filter(operations.kept & files.is_not_null())
    narrow = {"size": pl.coalesce("file_bytes", "bytes").fill_null(0), "tape": from_tape()}
    reads, gone = pl.col("op").is_in(READS), pl.col("op") == "delete"
    uses = named.filter(pl.col("op") != "cancel").select(
        files.rank("dense"), at=KEYS["asked"], is_read=reads, is_gone=gone, **narrow
    )
    used = uses.sort("at", maintain_order=True).head(MOST).collect()
    sizes = used.select(pl.when("is_gone").then(None).otherwise("size")).to_series()
    distances = stack_distances(used["file"].to_list(), sizes.to_list())
    found = used.with_columns(distance=pl.Series(distances, dtype=pl.Float64)).filter(
        pl.col("is_read") & pl.col("tape").is_not_null() & pl.col("distance").is_not_null()
    )
    if found.height < FEWEST or not found["tape"].any():
        return None
    size, agreeing = _between(found["distance"].to_numpy(), found["tape"].to_numpy())
    largest = int(used["size"].max())  # type: ignore[arg-type]
    return PoolSize(int(size), agreeing, largest) if agreeing >= AGREEING else None


def stack_distances(files: list[int], sizes: list[int | None]) -> list[int | None]:
    """Return for each use of a file the bytes of all files used since its use before, with its own.

    `None` for the first use of a file. A size of `None` deletes the file.
    """
    within, latest, found = _Sums(len(files)), dict[int, tuple[int, int]](), list[int | None]()
    for at, (file, size) in enumerate(zip(files, sizes, strict=True), 1):
        before = latest.pop(file, None)
        found.append(None if before is None or size is None else within.since(before[0]) + size)
        if before is not None:
            within.add(before[0], -before[1])
        if size is not None:
            within.add(at, size)
            latest[file] = at, size
    return found


class _Sums:
    """Numbers at places from 1, and sums of those behind a place: a binary indexed tree (Fenwick 1994)."""

    def __init__(self, places: int) -> None:
        self.tree, self.total = [0] * (places + 1), 0

    def add(self, place: int, number: int) -> None:
        self.total += number
        while place < len(self.tree):
            self.tree[place] += number
            place += place & -place

    def since(self, place: int) -> int:
        """Return the sum of the numbers behind a place."""
        found = self.total
        while place:
            found -= self.tree[place]
            place -= place & -place
        return found


def _between(distances: NDArray[np.float64], tape: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the size that most reads agree with: beyond it those from tape, within it the others; and their share."""
    order = np.argsort(distances, kind="stable")
    distances, tape = distances[order], tape[order]
    # With a pool that ends behind the n-th distance: reads within it from tape, and those beyond it not from tape.
    wrong = np.concatenate([[0], np.cumsum(tape)]) + np.concatenate([np.cumsum(~tape[::-1])[::-1], [0]])
    ends = np.concatenate([[0.0], distances, [np.inf]])
    # No size lies between equal distances.
    wrong = np.where(ends[:-1] < ends[1:], wrong, len(tape) + 1)
    best = np.flatnonzero(wrong == wrong.min())
    middle = best[len(best) // 2]
    size = ends[middle] if np.isinf(ends[middle + 1]) else (ends[middle] + ends[middle + 1]) / 2
    return float(size), float(1 - wrong.min() / len(tape))
