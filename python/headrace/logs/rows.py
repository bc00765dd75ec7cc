"""The rows of a log in files of bounded size, so that a log of any length takes little memory."""

import errno
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import polars as pl

from headrace.files import as_parquet, whole
from headrace.logs import table

BATCH = 200_000  # Rows of a batch, about: many enough for the cost of a batch, few enough for memory.
PREFIX = "headrace-log-"
SAMPLED = 1024  # Rows between two keys that are remembered of a part.

# What rows can be ordered by.
KEYS: dict[str, pl.Expr] = {
    "time": pl.col("time"),
    "asked": pl.coalesce("requested", "time"),
    "ended": table.after(pl.col("time"), pl.coalesce("total_s", "seconds").fill_null(0)),
}


@dataclass(frozen=True)
class Part:
    """A file with some of the rows, and for each key a sorted sample of it with both ends."""

    file: Path
    keys: dict[str, pl.Series]

    def meets(self, key: str, low: datetime | None, high: datetime | None) -> bool:
        """Return true if the part may have rows from `low` to before `high`."""
        of = self.keys[key]
        return bool((high is None or of[0] < high) and (low is None or of[-1] >= low))

    def between(self, key: str, low: datetime | None, high: datetime | None, columns: Sequence[str]) -> pl.DataFrame:
        """Return the rows from `low` to before `high`."""
        wanted = {*columns, "time", *KEYS[key].meta.root_names()}
        frame = pl.read_parquet(self.file, columns=[name for name in table.SCHEMA.names() if name in wanted])
        if low is not None:
            frame = frame.filter(KEYS[key] >= low)
        return frame if high is None else frame.filter(KEYS[key] < high)


class Rows:
    """Rows of the table, in a temporary folder that goes when they do. `TMPDIR` says where."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.parts: list[Part] = []
        self.height = 0
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def add(self, frame: pl.DataFrame) -> None:
        """Add rows behind those that are there."""
        if frame.is_empty():
            return
        file = self.folder / f"{len(self.parts):06}.parquet"
        file.write_bytes(as_parquet(frame))
        keys = frame.select(expression.sort().alias(name) for name, expression in KEYS.items())
        keys = pl.concat([keys.gather_every(SAMPLED), keys.tail(1)], rechunk=True)  # No slice, which keeps the whole.
        self.parts.append(Part(file, {one.name: one for one in keys}))
        self.height += frame.height

    def scan(self) -> pl.LazyFrame:
        """Return the rows, in the order in which they were added."""
        return pl.scan_parquet([part.file for part in self.parts]) if self.parts else table.empty().lazy()

    def in_order(self, key: str = "time", columns: Sequence[str] = table.SCHEMA.names()) -> Iterator[pl.DataFrame]:
        """Yield these columns of all rows in batches, sorted by a key; of equal rows, the first added comes first."""
        cuts = self._cuts(key)
        for low, high in zip([None, *cuts], [*cuts, None], strict=True):
            batch = self.between(key, low, high, columns)
            if not batch.is_empty():
                yield batch

    def between(
        self, key: str, low: datetime | None, high: datetime | None, columns: Sequence[str] = table.SCHEMA.names()
    ) -> pl.DataFrame:
        """Return these columns of the rows from `low` to before `high`, sorted by the key, and by time."""
        parts = [part.between(key, low, high, columns) for part in self.parts if part.meets(key, low, high)]
        found = pl.concat(parts) if parts else table.empty()
        return found.sort(KEYS[key], "time", maintain_order=True).select(columns)

    def _cuts(self, key: str) -> list[datetime]:
        """Return keys with about as many rows between them as a batch has."""
        sampled = [part.keys[key] for part in self.parts]
        if not sampled:
            return []
        return pl.concat(sampled).sort().gather_every(BATCH // SAMPLED, BATCH // SAMPLED).unique().sort().to_list()


def write_parquet(batches: Iterable[pl.DataFrame], to: str | Path) -> None:
    """Write batches to one Parquet file: whole, or not at all."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder, whole(to) as part:
        files = []
        for at, batch in enumerate(batches):
            files.append(Path(folder) / f"{at:06}.parquet")
            files[-1].write_bytes(as_parquet(batch))
        try:
            pl.scan_parquet(files).sink_parquet(part, maintain_order=True)
        except pl.exceptions.ComputeError as error:  # Of a full disk, for one.
            raise OSError(errno.ENOSPC if "No space" in str(error) else errno.EIO, str(error), str(to)) from None
