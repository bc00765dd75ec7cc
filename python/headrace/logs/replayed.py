"""The file operations that a simulation replays: a CSV file with a line for each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from headrace.files import whole
from headrace.logs import naming
from headrace.logs.rows import KEYS, Rows

# `bytes` is what is moved, at least 1;
# `staged` is 1 where a file was read from tape, 0 where it was on disk, and empty where the log does not say;
# `measured_s` is the response time; `drive_s` is for how long a session uses a drive.
COLUMNS = ("time_s", "op", "user", "host", "file", "bytes", "staged", "measured_s", "drive_s")
# Only where they are known: the size of a file where gets move less, and where on tape it lies.
FURTHER = ("file_bytes", "cartridge", "position_bytes")
READS = ("get", "stage")
REPLAYED = ("get", "put", "stage", "delete", "cancel", "session")


# Of a log such as CTA's, whose drives tell what they did.
UNPUT = (
    "puts that are not in the log, but their way to tape: put when they were written there, so that waiting is missing"
)
UNQUEUED = (
    "sessions whose request is not in the log: asked for when they began, so that what they had waited for a drive is "
    "missing"
)
UNASKED = "stages whose request is not in the log: asked for when they were read, so that waiting is missing"
REREAD = (
    "of those on tape, files that the log put, got or staged before: a replay finds them in the pool unless that "
    "purges them, so give the pool the `volume` of the real one"
)
IS_SESSION, IS_GET = pl.col("op") == "session", pl.col("op") == "get"
IS_PURGE = pl.col("op").eq("purge") & pl.col("outcome").eq("done")
IS_MIGRATION = pl.col("op").eq("migrate") & pl.col("outcome").eq("done")
KEPT = pl.col("op").is_in(REPLAYED) & (pl.col("outcome") == "done")
ON_TAPE = pl.col("op").is_in(["get", "stage"])
SIZE = pl.coalesce("file_bytes", "bytes")
# A put, or what comes from tape, is the whole file.
MOVED = pl.when(IS_GET).then("bytes").otherwise(SIZE).fill_null(1).clip(1)
OF_FILE = pl.when(IS_GET).then(SIZE.clip(1))


@dataclass(frozen=True)
class Operations:
    """The operations of a log's rows, which are read again each time."""

    rows: Rows
    sessions_alone: bool = False
    """True if the sessions of cartridges are replayed, and not the files that they read and write."""

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield the operations, sorted by when they were asked for; `time_s` counts from the first."""
        columns = [*COLUMNS, *FURTHER[: self.has_parts], *(FURTHER[1:] if self.has_places else ())]
        for batch in map(self._placed, self._named()):
            since = (KEYS["asked"] - pl.lit(self.first, pl.Datetime("us"))).dt.total_microseconds() / 1e6
            yield batch.with_columns(
                time_s=since,
                op=pl.col("op").replace("migrate", "put"),
                bytes=MOVED,
                file_bytes=OF_FILE,
                staged=from_tape(),
                # The way to tape of what was put is not the put's own time.
                measured_s=pl.when(~IS_SESSION & (pl.col("op") != "migrate")).then(_response()),
                drive_s=pl.when(IS_SESSION).then("seconds"),
            ).select(columns)

    def _named(self) -> Iterator[pl.DataFrame]:
        kept = (batch.filter(self.kept) for batch in self.rows.in_order("asked"))
        if not self._kept(pl.col("file").is_null().any()):
            return kept
        narrow = ["time", "requested", "op", "bytes", "outcome"]
        puts = naming.latest_puts(batch.filter(self.kept) for batch in self.rows.in_order("asked", narrow))
        return naming.names(kept, puts)

    def _kept(self, *what: pl.Expr) -> Any:
        """Return something of all operations."""
        row = (
            self.rows.scan()
            .filter(self.kept)
            .select(*(one.alias(str(at)) for at, one in enumerate(what)))
            .collect()
            .row(0)
        )
        return row if len(what) > 1 else row[0]

    @cached_property
    def has_files(self) -> bool:
        """True if there are operations on files: sessions of cartridges are then what mounts them, and not replayed."""
        migrations_alone = not self._has(KEPT & IS_SESSION) and self._has(IS_MIGRATION)
        return not self.sessions_alone and (self._has(KEPT & ~IS_SESSION) or migrations_alone)

    @property
    def is_of_sessions(self) -> bool:
        """True if only sessions of cartridges have times: files without them tell no latency and rate."""
        timed = pl.col("op").is_in(["get", "put"]) & pl.col("seconds").is_not_null()
        return self._has(KEPT & IS_SESSION) and not self._has(KEPT & timed)

    def _has(self, what: pl.Expr) -> bool:
        return bool(self.rows.scan().select(what.any()).collect().item())

    @cached_property
    def kept(self) -> pl.Expr:
        """True of the rows that are replayed."""
        kept = KEPT & ~IS_SESSION if self.has_files else KEPT & IS_SESSION
        return kept | IS_MIGRATION if self.puts_migrations else kept

    @cached_property
    def puts_migrations(self) -> bool:
        """True if what is replayed as a put is a way to tape, since the log has no puts."""
        return self.has_files and not self._has(KEPT & pl.col("op").eq("put")) and self._has(IS_MIGRATION)

    @cached_property
    def first(self) -> Any:
        """When the first was asked for; `None` without any."""
        return self._kept(KEYS["asked"].min())

    @cached_property
    def has_parts(self) -> bool:
        """True if some gets move a part of their file."""
        return bool(self._kept((IS_GET & (MOVED != OF_FILE)).any()))

    @cached_property
    def places(self) -> pl.DataFrame:
        """Where the files of inventories lie: one begins behind those before it on its cartridge."""
        stored = self.rows.scan().filter(pl.col("op") == "stored").sort("cartridge", "position")
        begin = (pl.col("bytes").cum_sum() - pl.col("bytes")).over("cartridge")
        return stored.select("cartridge", "position", "file", position_bytes=begin).collect()

    @cached_property
    def has_places(self) -> bool:
        """True if some reads name their cartridge, or an inventory has files."""
        return not self.places.is_empty() or bool(self._kept((ON_TAPE & pl.col("cartridge").is_not_null()).any()))

    def _placed(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Add where on tape the files of reads lie: by cartridge and number, or by the name that an inventory has."""
        by_number = self.places.drop("file").unique(["cartridge", "position"], keep="first")
        by_name = self.places.select("file", on="cartridge", begin="position_bytes").unique("file", keep="first")
        placed = batch.rename({"position_bytes": "logged"}).join(
            by_number, on=["cartridge", "position"], how="left", maintain_order="left"
        )
        placed = placed.join(by_name, on="file", how="left", maintain_order="left")
        cartridge = pl.coalesce("cartridge", "on")
        begin = pl.coalesce("logged", "position_bytes", pl.when(cartridge == pl.col("on")).then("begin"))
        return placed.with_columns(
            cartridge=pl.when(ON_TAPE).then(cartridge), position_bytes=pl.when(ON_TAPE).then(begin)
        )

    @cached_property
    def ops(self) -> set[str]:
        """The kinds of operations."""
        return set(self._kept(pl.col("op").unique().implode()))

    @cached_property
    def height(self) -> int:
        """The number of operations."""
        return int(self._kept(pl.len()))

    @cached_property
    def file_bytes(self) -> int:
        """The bytes of all files, each as often as it is used."""
        return int(self._kept(pl.coalesce(OF_FILE, MOVED).sum()))

    @cached_property
    def left_out(self) -> dict[str, int]:
        """The number of lines that were left out or changed, by reason."""
        known = pl.col("op").is_in(REPLAYED)
        rules = {
            "failed": pl.col("outcome") == "failed",
            "purge of a copy: the archive purges by itself": IS_PURGE,
            "migration to tape: the archive migrates by itself what is put": IS_MIGRATION & ~self.kept,
            "no operation on a file": (pl.col("outcome") == "other")
            | (pl.col("outcome").eq("done") & ~known & ~IS_PURGE & ~IS_MIGRATION),
            "session of a cartridge: files are replayed": KEPT & IS_SESSION & self.has_files,
            "file without times: sessions of cartridges are replayed": KEPT & ~IS_SESSION & self.sessions_alone,
            "size 0 or unknown: written as 1 byte": KEPT & (pl.col("bytes").fill_null(0) < 1) & ~IS_SESSION,
        }
        counts = self.rows.scan().select(rule.fill_null(False).sum().alias(name) for name, rule in rules.items())
        return dict(counts.collect().row(0, named=True))

    @cached_property
    def locations(self) -> dict[str, int]:
        """The number of reads whose file was on tape, and of those for which the log does not say."""
        reads = pl.col("op").is_in(["get", "stage"])
        taken = pl.col("seconds").is_null() & pl.col("total_s").is_null()
        waits = (pl.col("op") == "stage") & pl.col("requested").is_null() & taken
        on_tape, unknown, unasked, unqueued, unput = self._kept(
            (reads & from_tape()).sum(),
            (reads & from_tape().is_null()).sum(),
            waits.sum(),
            (IS_SESSION & pl.col("requested").is_null()).sum(),
            IS_MIGRATION.sum(),
        )
        return {
            "gets and stages of files on tape": on_tape,
            "gets of files whose location the log does not give: `unseen` of the scenario decides": unknown,
            UNASKED: unasked,
            UNQUEUED: unqueued,
            UNPUT: unput,
            REREAD: self._in_pool_before,
        }

    @property
    def _in_pool_before(self) -> int:
        """The number of reads from tape whose file an earlier operation of the log brought to the pool."""
        kept, named = self.rows.scan().filter(self.kept), pl.col("file").is_not_null()
        first = kept.filter(named & pl.col("op").is_in(["put", *READS])).group_by("file").agg(first=KEYS["asked"].min())
        reads = kept.filter(named & pl.col("op").is_in(READS) & from_tape()).select("file", at=KEYS["asked"])
        return int(
            reads.join(first, on="file").filter(pl.col("first") < pl.col("at")).select(pl.len()).collect().item()
        )

    @cached_property
    def reads_tape(self) -> bool:
        """True if a file comes from tape by the log."""
        return self._has(self.kept & pl.col("op").is_in(READS) & from_tape())


def from_tape() -> pl.Expr:
    """Return true where a file came from tape: it was staged, or the log has a time for its staging.

    Otherwise what the log says; null where it says nothing.
    """
    return pl.when((pl.col("op") == "stage") | pl.col("stage_s").is_not_null()).then(True).otherwise("staged")


def _response() -> pl.Expr:
    """Return the time from the request to the end: by the log, or of tape and transfer where that is more.

    UniTree's COND has whole seconds, so a short transfer takes 0 s by it.
    """
    moves = pl.col("op").is_in(["get", "put"])
    parts = pl.col("seconds") + pl.when(moves).then("stage_s").otherwise(None).fill_null(0)
    return pl.max_horizontal("total_s", parts)


def write(batches: Iterable[pl.DataFrame], file: str | Path, *, synthetic: bool = False) -> None:
    """Write operations as CSV: whole, or not at all. Synthetic ones have a column that says so.

    A name that a spreadsheet would run is written behind a `'`, wherever it stands, so that it remains one name.
    """
    with whole(file) as part, part.open("wb") as out:
        for at, batch in enumerate(batches):
            missing = [pl.lit(None, pl.Float64).alias(name) for name in COLUMNS if name not in batch.columns]
            marked = [pl.lit(1).alias("synthetic")] if synthetic else []
            columns = [*COLUMNS, *(name for name in FURTHER if name in batch.columns)]
            frame = batch.with_columns(missing).with_columns(pl.col("staged").cast(pl.Int8)).select(*columns, *marked)
            names = [_as_text(name) for name, kind in frame.schema.items() if kind == pl.String]
            frame.with_columns(names).write_csv(out, include_header=at == 0, float_precision=6)


def _as_text(column: str) -> pl.Expr:
    """Return a column of names, a `'` before those that begin as a formula does; what is a number is none."""
    name = pl.col(column)
    is_formula = name.str.contains(r"^[=+\-@\t\r]") & name.cast(pl.Float64, strict=False).is_null()
    return pl.when(is_formula).then(pl.lit("'") + name).otherwise(name).alias(column)
