"""A scenario that replays a log: what the log says of its archive, and what it does not, marked as assumed."""

import textwrap
from pathlib import Path
from typing import Any

import polars as pl

from headrace.errors import refusal
from headrace.logs.analysis import analyse
from headrace.logs.analysis.concurrency import Sweep
from headrace.logs.analysis.envelope import envelope, fit, says_rate
from headrace.logs.reading import Log
from headrace.logs.replayed import IS_SESSION, Operations
from headrace.logs.rows import KEYS

Json = dict[str, Any]

FREE = 10  # The pool holds this many times what the log moves: nothing has to be purged.
LOAD_S = 60.0  # Of a cartridge, where the log has no stagings.
DRIVE_RATE = 300e6  # Bytes per second, about that of LTO-7 and LTO-8, where the log does not say.
DRIVES = 2  # Where the log does not say how many were in use.
STRATUM = 25  # Recalls of which the fastest counts, as of gets.

# What a scenario says of itself, where the log has stagings, and where it has none.
STAGED = (
    "# From the log: latencies and client rate (lower envelope of time against size), the numbers of chains",
    "# (concurrent transfers) and drives (concurrent stagings), and the minimum tape time. Not in a log and thus",
    "# assumed: a pool that holds everything and delays nothing, cartridges, the rate of drives.",
)
UNSTAGED = (
    "# From the log: latencies and client rate (lower envelope of time against size), and the number of chains",
    "# (concurrent transfers). It has no times of stagings. Not in the log and thus assumed: a pool that holds",
    "# everything and delays nothing, cartridges, drives: their number, their rate, the time of a load.",
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
    guesses = [GUESSED] * (not all(says_rate(fit) for _, fit in lines))
    moved, most, drives = operations.file_bytes, found["transfers"]["most"], _most(log, "asked", "stage_s")
    least, streams = _least_staging(log), _migrating(log)
    migrate = f", migrate: {{every: 1 min, streams: {streams}}}" if streams else ""
    replayed = csv if operations.reads_tape else f"{{file: {csv}, unseen: disk}}"
    return "\n".join([
        f"# How long do the operations of {_names(log)} take?",
        "#",
        *(STAGED if least is not None else UNSTAGED),
        *guesses,
        *([] if operations.reads_tape else [UNSEEN]),
        *([] if streams else [NOT_MIGRATED]),
        "system:",
        f"  front: {{type: front, {latency}client_rate: {rate / 1e6:.3f} MB/s}}",
        f"  disks: {{type: disk_pool, chains: {most}, volumes: 1, volume: {_volume(moved, most)} B, "
        f"rate: {rate / 1e6:.3f} MB/s, allocate: across_chains}}",
        f"  tapes: {{type: tape_library, groups: [{{drives: {drives + streams}}}], drive_rate: {rate / 1e6:.3f} MB/s, "
        f"cartridge: 1 TB, load: {LOAD_S if least is None else least:.3f} s}}",
        f"  archive: {{type: archive, front: front, pool: disks, library: tapes{migrate}}}",
        "workload:",
        f"  users: {{to: archive, arrivals: {{log: {replayed}}}}}",
        "",
    ])  # fmt: skip


def _migrating(log: Log) -> int:
    """Return how many files went to tape at once at most; 0 if the log has none that did."""
    is_one = (pl.col("op") == "migrate") & pl.col("outcome").eq("done") & pl.col("seconds").is_not_null()
    there = log.rows.scan().select(is_one.any()).collect().item()
    return _most(log, "time", "seconds", of=is_one) if there else 0


IS_TIMED_SESSION = IS_SESSION & pl.col("outcome").eq("done") & pl.col("seconds").is_not_null()


def _of_sessions(log: Log, csv: str) -> str:
    return "\n".join([
        f"# How long do the sessions of {_names(log)} wait for a drive?",
        "#",
        "# From the log: the sessions, and as many drives as had one at once. The log's seconds contain loading and",
        "# positioning. When a session was asked for is not in it, so what it had waited is missing. Assumed: what",
        "# robots take, and that cartridges stay in their drives until these are needed.",
        "system:",
        "  tapes:",
        "    type: tape_library",
        f"    groups: [{{drives: {_most(log, 'time', 'seconds', of=IS_TIMED_SESSION)}, arms: 2}}]",
        "    cartridge: 1 TB",
        "    move: 11 s",
        "    hold: 30 min",
        "    recall: by_cartridge",
        "workload:",
        f"  sessions: {{to: tapes, arrivals: {{log: {{file: {csv}, timing: gaps}}}}}}",
        "",
    ])  # fmt: skip


def _of_recalls(log: Log, operations: Operations, csv: str) -> str:
    """Return the scenario of a log of recalls alone: no client gets what they bring."""
    is_recall = (pl.col("op") == "stage") & pl.col("outcome").eq("done") & pl.col("stage_s").is_not_null()
    timed = log.rows.scan().filter(is_recall).select("bytes", seconds="stage_s").drop_nulls().collect()
    line, least = fit(envelope(timed, STRATUM)), _least_staging(log)
    rate = line["rate_bytes_per_s"] if line and says_rate(line) else None
    load = max(line["latency_s"]["value"], 0.0) if line and rate else LOAD_S if least is None else least
    drives = DRIVES if least is None else _most(log, "asked", "stage_s")
    said = {
        "the number of drives (recalls from tape at once)": least is not None,
        "the time of a load (the fastest recalls)": least is not None,
        "the rate of drives (the fastest recalls against size)": rate is not None,
    }
    assumed = ["cartridges without a name", "a pool that holds everything and delays nothing"]
    assumed += [what.partition(" (")[0] for what, is_said in said.items() if not is_said]
    return "\n".join([
        f"# How long do the recalls of {_names(log)} take?",
        "#",
        *_comment(f"From the log: {', '.join(['the recalls', *(what for what, is_said in said.items() if is_said)])}."),
        *_comment(f"Assumed: {', '.join(assumed)}."),
        "system:",
        f"  disks: {{type: disk_pool, chains: 1, volumes: 1, volume: {_volume(operations.file_bytes, 1)} B, "
        "rate: 10 GB/s}",
        f"  tapes: {{type: tape_library, groups: [{{drives: {drives}}}], "
        f"drive_rate: {(rate['value'] if rate else DRIVE_RATE) / 1e6:.3f} MB/s, cartridge: 1 TB, load: {load:.3f} s}}",
        "  archive: {type: archive, pool: disks, library: tapes}",
        "workload:",
        f"  users: {{to: archive, arrivals: {{log: {csv}}}}}",
        "",
    ])  # fmt: skip


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, 100, initial_indent="# ", subsequent_indent="# ")


def _names(log: Log) -> str:
    first, *rest = [Path(name).name for name in log.formats]
    return f"{first} and {len(rest)} more logs" if rest else first


def _volume(moved: int, chains: int) -> int:
    return max(FREE * moved // chains, 1)


def _least_staging(log: Log) -> float | None:
    """Return the least time that the tape took, s; none where the log has no stagings."""
    least: float | None = log.rows.scan().select(pl.col("stage_s").min()).collect().item()
    return least


def _most(log: Log, begin: str, seconds: str, *, of: pl.Expr | None = None) -> int:
    """Return how many operations went on at once at most, from `begin`, a key of `KEYS`, for these `seconds`.

    With `of`, only those rows count of which it is true.
    """
    narrow = [KEYS[begin].alias("time"), pl.col(seconds).alias("seconds")]
    lasting = pl.col(seconds).is_not_null() if of is None else of
    sweep = Sweep(log.rows.scan().filter(lasting).select(narrow))
    for batch in log.rows.in_order(begin, ["time", "requested", "op", "outcome", seconds]):
        sweep.add(batch.filter(lasting).select(narrow))
    found = sweep.found()
    return found["most"] if found else 1
