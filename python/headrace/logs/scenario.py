"""A scenario that replays a log: what the log says of its archive, and what it does not, marked as assumed."""

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from headrace.errors import refusal
from headrace.logs.analysis import analyse
from headrace.logs.analysis.concurrency import most_at_once
from headrace.logs.analysis.drives import FEWEST, Drives, drives
from headrace.logs.analysis.envelope import envelope, fit, says_rate
from headrace.logs.analysis.pool import pool_size
from headrace.logs.reading import Log
from headrace.logs.replayed import IS_SESSION, Operations

Json = dict[str, Any]

FREE = 10  # The pool holds this many times what the log moves: nothing has to be purged.
LOAD_S = 60.0  # Of a cartridge, where the log does not say.
DRIVE_RATE = 300e6  # Bytes per second, about that of LTO-7 and LTO-8, where the log does not say.
DRIVES = 2  # Where the log does not say how many were in use.
STRATUM = 25  # Recalls of which the fastest counts, as of gets.
LARGEST = 8  # Of the largest file, a chain of the pool has room for this many.
STEADY = 0.05  # A load that varies less than this, by its cv, is one time.
# Old files fill a pool that purges when the log begins, so that the first purge comes as early as the others.
PURGES = ", purge: {{weight: hours_since_access, high: 99 %, low: 98 %}}, contents: {{share: 98 %, file: {file} B}}"
OLD_FILES = 1000  # How many of these files fill the pool.
OUT_OF_ORDER = (
    "Set `drives`: recalls of this log wait, and not in the order of their requests, so it does not tell how many "
    "drives there were; {} are assumed."
)

# Where no file comes from tape by the log.
UNSEEN = "# Nothing in the log was read from tape, so files older than it lie in the pool (`unseen: disk`)."
# Where no file goes to tape in the log.
NOT_MIGRATED = (
    "# The log does not say when files go to tape, so nothing is stored there: set `migrate` of the archive if it is."
)
# Where size explains little of the fastest times.
GUESSED = "# Size explains so little of the fastest times that latencies and client rate are guesses: set them."


def of(log: Log, operations: Operations, csv: str, file: Path) -> str:
    """Return the scenario as YAML text; `csv` is the file of operations beside it.

    Raises `ScenarioError` where the log has no transfers from which a rate can be found.
    """
    if operations.ops == {"session"}:
        return _of_sessions(log, csv)
    if operations.ops == {"stage"}:
        return _of_recalls(log, operations, csv)
    found = analyse(log)
    lines = [(op, fit) for op, fit in found["fits"].items() if fit["rate_bytes_per_s"]]
    if not lines:
        help_ = (
            "a scenario needs at least three strata of puts or gets with size and time taken; convert to .csv instead"
        )
        raise refusal(file, f"no latency and rate can be found in {', '.join(log.formats)}", help_)
    rate = max(float(fit["rate_bytes_per_s"]["value"]) for _, fit in lines)
    latency = "".join(f"{op}_latency: {max(fit['latency_s']['value'], 0):.3f} s, " for op, fit in lines)
    most, tapes, streams = found["transfers"]["most"], Tapes.of(log), _migrating(log)
    pool = Pool.of(operations, has_migrations=streams > 0)
    migrate = f", migrate: {{every: 1 min, streams: {streams}}}" if streams else ""
    replayed = csv if operations.reads_tape else f"{{file: {csv}, unseen: disk}}"
    transfers = (
        "latencies and client rate (the fastest transfers against size), the number of chains (transfers at once)"
    )
    return "\n".join([
        f"# How long do the operations of {_names(log)} take?",
        "#",
        *_comment(f"From the log: {', '.join([transfers, *pool.said, *tapes.said])}."),
        *_comment(f"Assumed: {', '.join([*pool.assumed, 'cartridges', *tapes.assumed])}."),
        *([GUESSED] * (not all(says_rate(fit) for _, fit in lines))),
        *tapes.notes,
        *([] if operations.reads_tape else [UNSEEN]),
        *([] if streams else [NOT_MIGRATED]),
        "system:",
        f"  front: {{type: front, {latency}client_rate: {rate / 1e6:.3f} MB/s}}",
        f"  disks: {{type: disk_pool, chains: {pool.chains(most)}, volumes: 1, volume: {pool.volume(most)} B, "
        f"rate: {rate / 1e6:.3f} MB/s, allocate: across_chains}}",
        f"  tapes: {{type: tape_library, groups: [{{drives: {tapes.drives + streams}}}], {tapes.fields}}}",
        f"  archive: {{type: archive, front: front, pool: disks, library: tapes{migrate}{pool.fields}}}",
        "workload:",
        f"  users: {{to: archive, arrivals: {{log: {replayed}}}}}",
        "",
    ])  # fmt: skip


@dataclass(frozen=True)
class Pool:
    """What a log says of its disk pool."""

    bytes: int
    largest: int
    """The largest file, where the pool cannot hold all."""
    fields: str
    """The fields of the archive that say what the pool purges; empty where it holds everything."""
    said: list[str]
    assumed: list[str]

    @staticmethod
    def of(operations: Operations, *, has_migrations: bool) -> "Pool":
        """Return the pool in which files were found again; one that holds everything where the log does not tell.

        Files that were put and do not go to tape cannot be purged: they stay in a pool that holds everything.
        """
        found = pool_size(operations) if has_migrations or not operations.ops & {"put"} else None
        if found is None:
            return Pool(FREE * operations.file_bytes, 0, "", [], ["a pool that holds everything and delays nothing"])
        how = (
            f"{found.agreeing:.0%} of the reads of files used before agree with one that purges the least recently used"
        )
        purges = PURGES.format(file=max(found.bytes // OLD_FILES, 1))
        said = [f"the size of the pool ({how})"]
        return Pool(found.bytes, found.largest, purges, said, ["a pool that delays nothing"])

    def chains(self, most: int) -> int:
        """Return the number of its chains, at most `most`: each has room for several of the largest file."""
        return max(min(most, self.bytes // max(LARGEST * self.largest, 1)), 1)

    def volume(self, most: int) -> int:
        """Return the bytes of one of its chains."""
        return max(self.bytes // self.chains(most), 1)


@dataclass(frozen=True)
class Tapes:
    """What a log says of its tape library."""

    drives: int
    rate: float
    """Of a drive, in B/s."""
    load: str
    """Time of a load: one time, or its law."""
    unload: float
    """In s."""
    said: list[str]
    """What the log says of these, in words, and how."""
    assumed: list[str]
    notes: list[str]
    """Lines of a comment."""

    @property
    def fields(self) -> str:
        """The fields of the library but its drives."""
        unload = f", unload: {self.unload:.3f} s" if self.unload else ""
        return f"drive_rate: {self.rate / 1e6:.3f} MB/s, cartridge: 1 TB, load: {self.load}{unload}"

    @staticmethod
    def of(log: Log) -> "Tapes":
        """Return what the recalls of a log say, whose cartridges are not known."""
        found, least = drives(log), _least_staging(log)
        line = None if found is None or found.held is None else fit(envelope(found.held, STRATUM))
        fitted = line["rate_bytes_per_s"] if line and says_rate(line) else None
        rate = fitted["value"] if fitted else DRIVE_RATE
        load = _load(found, rate)
        said = {
            f"the number of drives ({found.how if found else ''})": found is not None and found.count is not None,
            "the rate of drives (the fastest recalls against size)": fitted is not None,
            "the time of a load (what a drive works for a recall beyond that rate)": load is not None,
            "the time of a load (the fastest recall)": load is None and least is not None,
            "the time of an unload (by how much recalls that waited hold a drive longer)": bool(
                found and found.after_s
            ),
        }
        names = ["the number of drives", "the rate of drives", "the time of a load"]
        told = [what for what, is_said in said.items() if is_said]
        return Tapes(
            (found.count if found else None) or DRIVES,
            rate,
            load or f"{LOAD_S if least is None else least:.3f} s",
            found.after_s if found else 0.0,
            told,
            [name for name in names if not any(what.startswith(name) for what in told)],
            _comment(OUT_OF_ORDER.format(DRIVES)) if found is not None and found.count is None else [],
        )


def _load(found: Drives | None, rate: float) -> str | None:
    """Return the law of the time for which recalls hold a drive beyond their transfer; none where that is not known."""
    if found is None or found.held is None or found.held.height < FEWEST:
        return None
    beyond = found.held.select((pl.col("seconds") - pl.col("bytes") / rate).clip(0)).to_series()
    mean, spread = float(beyond.mean()), float(beyond.std())  # type: ignore[arg-type]
    if mean <= 0:
        return None
    steady = spread < STEADY * mean
    return f"{mean:.3f} s" if steady else f"{{lognormal: {{mean: {mean:.3f} s, cv: {spread / mean:.3f}}}}}"


def _migrating(log: Log) -> int:
    """Return how many files went to tape at once at most; 0 if the log has none that did."""
    is_one = (pl.col("op") == "migrate") & pl.col("outcome").eq("done") & pl.col("seconds").is_not_null()
    there = log.rows.scan().select(is_one.any()).collect().item()
    return most_at_once(log.rows, "time", pl.col("seconds"), is_one) if there else 0


IS_TIMED_SESSION = IS_SESSION & pl.col("outcome").eq("done") & pl.col("seconds").is_not_null()


def _of_sessions(log: Log, csv: str) -> str:
    has_mounts, names = log.rows.scan().select(
        (IS_TIMED_SESSION & pl.col("mount_s").is_not_null()).any(),
        names=pl.col("drive").filter(IS_TIMED_SESSION).drop_nulls().n_unique(),
    ).collect().row(0)  # fmt: skip
    most = most_at_once(log.rows, "time", pl.col("seconds"), IS_TIMED_SESSION)
    contain = "mounts, loading and positioning" if has_mounts else "loading and positioning"
    robots = "" if has_mounts else "what robots take, and "
    return "\n".join([
        f"# How long do the sessions of {_names(log)} wait for a drive?",
        "#",
        *_comment(
            "From the log: the sessions, and as many drives as had one at once. The log's seconds contain "
            f"{contain}. When a session was asked for is not in it, so what it had waited is missing. Assumed: {robots}"
            "that cartridges stay in their drives until these are needed."
        ),
        "system:",
        "  tapes:",
        "    type: tape_library",
        f"    groups: [{{drives: {min(most, names or most)}{'' if has_mounts else ', arms: 2'}}}]",
        "    cartridge: 1 TB",
        *([] if has_mounts else ["    move: 11 s"]),
        "    hold: 30 min",
        "    recall: by_cartridge",
        "workload:",
        f"  sessions: {{to: tapes, arrivals: {{log: {{file: {csv}, timing: gaps}}}}}}",
        "",
    ])  # fmt: skip


def _of_recalls(log: Log, operations: Operations, csv: str) -> str:
    """Return the scenario of a log of recalls alone: no client gets what they bring."""
    tapes, pool = Tapes.of(log), Pool.of(operations, has_migrations=False)
    return "\n".join([
        f"# How long do the recalls of {_names(log)} take?",
        "#",
        *_comment(f"From the log: {', '.join(['the recalls', *pool.said, *tapes.said])}."),
        *_comment(f"Assumed: {', '.join(['cartridges without a name', *pool.assumed, *tapes.assumed])}."),
        *tapes.notes,
        "system:",
        f"  disks: {{type: disk_pool, chains: 1, volumes: 1, volume: {pool.volume(1)} B, rate: 10 GB/s}}",
        f"  tapes: {{type: tape_library, groups: [{{drives: {tapes.drives}}}], {tapes.fields}}}",
        f"  archive: {{type: archive, pool: disks, library: tapes{pool.fields}}}",
        "workload:",
        f"  users: {{to: archive, arrivals: {{log: {csv}}}}}",
        "",
    ])  # fmt: skip


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, 100, initial_indent="# ", subsequent_indent="# ")


def _names(log: Log) -> str:
    first, *rest = [Path(name).name for name in log.formats]
    return f"{first} and {len(rest)} more logs" if rest else first


def _least_staging(log: Log) -> float | None:
    """Return the least time above 0 that the tape took, s; none where the log has no such staging."""
    taken = pl.col("stage_s")
    least: float | None = log.rows.scan().select(taken.filter(taken > 0).min()).collect().item()
    return least
