"""Logs made from a description: sessions of users, bursts, mixed sizes. Same seed, same bytes; marked as synthetic.

Random numbers are uniform draws of PCG64, whose sequence NumPy guarantees, turned into what is needed by inversion.
"""

import heapq
import math
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from headrace.logs.description import Description, Kind, Sizes, Transfers, load

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DAY_S = 86400.0
PEAK_H = 14.0  # The busiest hour of a day.
PERSONAS = 1900  # Fewer than a busy day has jobs, so that some come twice in a day, as they did.


@dataclass(frozen=True)
class Sessions:
    """The sessions of one kind: when each begins, of whom, how many files it has."""

    begin: Floats
    user: Ints
    files: Ints


def operations(
    description: str | Path | Description, *, seed: int = 1, seed_of_gets: int | None = None
) -> pl.DataFrame:
    """Return synthetic operations, sorted by time.

    Puts and gets have random streams of their own: `seed_of_gets`, by default `seed`, varies the gets beside the same
    puts.

    `description` is a `Description`, a file, or the name of one that comes with headrace. Columns: `time_s` (since the
    beginning), `op` (get or put), `user`, `host`, `file`, `bytes`, `staged` (whether a get needs the tape).
    Raises `ScenarioError` where the description cannot be read.
    """
    described = description if isinstance(description, Description) else load(description)
    whole = jobs(described, seed=seed, seed_of_gets=seed_of_gets)
    return whole.select("time_s", "op", "user", "host", "file", "bytes", "staged")


def jobs(described: Description, *, seed: int = 1, seed_of_gets: int | None = None) -> pl.DataFrame:
    """Return the operations with all that logs say of them.

    Beyond those of `operations`: `job` (persona), `session`, `number` in it, and where the description says how long
    things take, `stage_s`, `start_s` (of the transfer, after queueing and tape), `measured_s` (the transfer alone).
    """
    seeds = {"put": seed, "get": seed if seed_of_gets is None else seed_of_gets}
    dice = {op: _dice(one, op) for op, one in seeds.items()}
    drawn = _scaled(described, [_kind(described, name, dice[kind.op]) for name, kind in described.kinds.items()])
    frame = pl.concat(drawn).sort("time_s", "kind", "z", maintain_order=True).with_row_index("at")
    frame = _named(_reread(described, frame), described)
    return _timed(described, frame, _dice(seed, "times")) if described.transfers else frame


STREAMS = ("put", "get", "times")


def _dice(seed: int, stream: str) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([seed, STREAMS.index(stream)]))


def _kind(described: Description, name: str, dice: np.random.Generator) -> pl.DataFrame:
    """Draw the files of a kind with their companions; those that companions will be are left out."""
    kind = described.kinds[name]
    sessions = _sessions(described, kind, kind.files - _lent(described, name), dice)
    own = _files(described, name, sessions, dice)
    frames = [own]
    for other, each in kind.companions.items():
        with_them = _companions(own, each, described.kinds[other], dice)
        frames.append(_sized(described, other, with_them, dice))
    return pl.concat(frames)


def _lent(described: Description, name: str) -> int:
    """Return how many files of a kind come as companions of others."""
    lent = sum(round(kind.files * kind.companions.get(name, 0)) for kind in described.kinds.values())
    return min(lent, described.kinds[name].files - 1)


def _sessions(described: Description, kind: Kind, files: int, dice: np.random.Generator) -> Sessions:
    """Draw sessions until they have the given number of files; the last is cut to fit."""
    mu = np.log(kind.session) - described.burst**2 / 2
    counts = np.zeros(0, dtype=np.int64)
    while counts.sum() < files:
        drawn = np.exp(mu + described.burst * ndtri(_open(dice.random(1 + int(files / kind.session)))))
        counts = np.concatenate([counts, np.clip(np.rint(drawn), 1, kind.session_most).astype(np.int64)])
    counts = counts[: int(np.searchsorted(np.cumsum(counts), files)) + 1]
    counts[-1] -= counts.sum() - files
    weights = np.arange(1, described.users + 1, dtype=np.float64) ** -described.popularity
    user = np.searchsorted(np.cumsum(weights) / weights.sum(), dice.random(len(counts)))
    return Sessions(_begins(described, dice.random(len(counts))), user.astype(np.int64), counts)


def _open(uniform: Floats) -> Floats:
    """Keep uniform numbers off 0, of which a normal quantile is infinite."""
    return np.maximum(uniform, 2.0**-54, dtype=np.float64)


def _begins(described: Description, uniform: Floats) -> Floats:
    """Return beginnings of sessions whose rate goes up and down with the time of day."""
    end = described.days * DAY_S
    grid = np.linspace(0, end, 1 + max(96, round(96 * described.days)))
    swing, phase = (1 - described.quiet) / (1 + described.quiet), 2 * np.pi * PEAK_H / 24
    turn = 2 * np.pi * grid / DAY_S - phase
    passed = grid + swing * DAY_S / (2 * np.pi) * (np.sin(turn) + np.sin(phase))
    return np.asarray(np.interp(uniform * passed[-1], passed, grid))


def _files(described: Description, name: str, sessions: Sessions, dice: np.random.Generator) -> pl.DataFrame:
    """Draw the files of some sessions: when each is asked for, and how large it is."""
    of = np.repeat(np.arange(len(sessions.files)), sessions.files)
    gaps = -described.gap * np.log1p(-dice.random(len(of)))
    first = np.concatenate([[0], np.cumsum(sessions.files)[:-1]])
    gaps[first] = 0
    since = np.cumsum(gaps)
    since -= np.repeat(since[first], sessions.files)
    shared = ndtri(_open(dice.random(len(sessions.files))))
    frame = pl.DataFrame(
        {"time_s": sessions.begin[of] + since, "user": sessions.user[of], "session": of, "z": shared[of]}
    )
    return _sized(described, name, frame, dice)


def _companions(own: pl.DataFrame, each: float, kind: Kind, dice: np.random.Generator) -> pl.DataFrame:
    """Draw files that come with these, at random places of their sessions."""
    count = min(round(len(own) * each), kind.files - 1)
    with_whom = np.repeat(np.arange(len(own)), -(-count // len(own)))[:count]
    chosen = own.select("time_s", "user", "session", "z")[with_whom]
    near = chosen["time_s"].to_numpy() + dice.random(count)
    return chosen.with_columns(time_s=pl.Series(near))


def _sized(described: Description, name: str, frame: pl.DataFrame, dice: np.random.Generator) -> pl.DataFrame:
    """Add sizes: ln(size) varies between sessions and within them, and never leaves its limits."""
    kind = described.kinds[name]
    classes = list(kind.sizes)
    shares = np.cumsum([kind.sizes[one] for one in classes])
    which = np.minimum(np.searchsorted(shares, dice.random(len(frame))), len(classes) - 1)
    largest, uniform, z = min(kind.largest, described.largest), _open(dice.random(len(frame))), frame["z"].to_numpy()
    size = np.empty(len(frame))
    for at, one in enumerate(classes):
        chosen = which == at
        size[chosen] = _lognormal(described.sizes[one], described.between, z[chosen], uniform[chosen], largest)
    return frame.with_columns(
        kind=pl.lit(name), op=pl.lit(kind.op), size_class=pl.Series([classes[at] for at in which], dtype=pl.String),
        bytes=pl.Series(np.rint(size).astype(np.int64)), staged=pl.lit(kind.staged),
    )  # fmt: skip


def _lognormal(of: Sizes, between: float, z: Floats, uniform: Floats, largest: float) -> Floats:
    """Draw lognormal sizes within limits, of sessions with the normal deviates `z`."""
    middle, within = np.log(of.median) + of.ln_sd * np.sqrt(between) * z, of.ln_sd * np.sqrt(1 - between)
    if within == 0:
        return np.asarray(np.clip(np.exp(middle), of.least, largest))
    low = ndtr((np.log(max(of.least, 1)) - middle) / within) if of.least else np.zeros(len(z))
    high = ndtr((np.log(largest) - middle) / within)
    drawn = middle + within * ndtri(_open(low + uniform * (high - low)))
    return np.asarray(np.clip(np.exp(drawn), max(of.least, 1), largest))


def _scaled(described: Description, drawn: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """Scale one class of sizes until the total is as described, or its files are at their limits."""
    if described.scaled is None:
        return drawn
    of = described.sizes[described.scaled.sizes]
    for _ in range(20):
        whole = pl.concat(drawn).filter(pl.col("op") == described.scaled.op)
        mine = int(whole.filter(pl.col("size_class") == described.scaled.sizes)["bytes"].sum())
        if not mine:
            return drawn
        factor = max(described.scaled.total - (int(whole["bytes"].sum()) - mine), 0) / mine
        chosen = (pl.col("size_class") == described.scaled.sizes) & (pl.col("op") == described.scaled.op)
        size = (pl.col("bytes") * factor).clip(max(of.least, 1), described.largest).round().cast(pl.Int64)
        drawn = [one.with_columns(bytes=pl.when(chosen).then(size).otherwise("bytes")) for one in drawn]
    return drawn


def _reread(described: Description, frame: pl.DataFrame) -> pl.DataFrame:
    """Give some gets one of the files that the user put before, of their class of sizes."""
    shares = {name: float(kind.reread) for name, kind in described.kinds.items()}
    share = pl.col("kind").replace_strict(shares, return_dtype=pl.Float64)
    owner, number = ["user", "size_class"], pl.col("at").cast(pl.Float64)
    puts = frame.filter(pl.col("op") == "put").select(*owner, "time_s", pl.col("at").alias("of"), put_bytes="bytes")
    puts = puts.with_columns(rank=pl.int_range(pl.len(), dtype=pl.Int64).over(owner))
    before = frame.join_asof(
        puts.select(*owner, "time_s", "rank"), on="time_s", by=owner, allow_exact_matches=False, check_sortedness=False
    )
    # Two sequences that fill the unit interval evenly decide: whether it is such a get, and of which file.
    which = ((number * 0.7548776662466927) % 1 * (pl.col("rank") + 1)).floor().cast(pl.Int64)
    tries = before.with_columns(rank=pl.when((number * 0.6180339887498949) % 1 < share).then(which))
    found = tries.join(puts.drop("time_s"), on=[*owner, "rank"], how="left", maintain_order="left")
    return found.with_columns(bytes=pl.coalesce("put_bytes", "bytes")).drop("put_bytes", "rank")


def _named(frame: pl.DataFrame, described: Description) -> pl.DataFrame:
    """Give users, hosts, files and jobs their names."""
    number = pl.col("at").cast(pl.String).str.zfill(7)
    letter = pl.when(pl.col("op") == "put").then(pl.lit("f")).when("staged").then(pl.lit("t")).otherwise(pl.lit("p"))
    hosts = pl.Series(described.hosts)
    host = (pl.col("user") % len(described.hosts)).map_elements(lambda at: hosts[at], return_dtype=pl.String)
    return frame.with_columns(
        host=host,
        user=(1000 + pl.col("user")).cast(pl.String).str.zfill(6),
        file=pl.coalesce("f" + pl.col("of").cast(pl.String).str.zfill(7), letter + number),
        job=(1000 + pl.col("at") % PERSONAS).cast(pl.String),
        session=(100 + pl.col("session") % 900).cast(pl.String),
        number=(1 + pl.col("at") % 999).cast(pl.String),
    )


def _timed(described: Description, frame: pl.DataFrame, dice: np.random.Generator) -> pl.DataFrame:
    """Add how long the tape and the transfer take."""
    assert described.transfers is not None
    of = described.transfers
    staged = frame["staged"].to_numpy()
    tape = np.where(staged, _staging(described, dice.random(len(frame)), dice.random(len(frame))), 0.0)
    latency = np.where(frame["op"].to_numpy() == "put", of.put_latency, of.get_latency)
    latency = latency - of.jitter * np.log1p(-dice.random(len(frame)))
    ready = frame["time_s"].to_numpy() + tape
    start, end = share_out(ready, frame["user"].to_list(), latency, frame["bytes"].to_numpy(), of)
    return frame.with_columns(
        stage_s=pl.when("staged").then(pl.Series(tape)), start_s=pl.Series(start), measured_s=pl.Series(end - start)
    )


def _staging(described: Description, which: Floats, uniform: Floats) -> Floats:
    """Draw the times that the tape takes, whole seconds as UniTree logs them."""
    if not described.staging:
        return np.zeros(len(which))
    branch = np.minimum(
        np.searchsorted(np.cumsum([one.share for one in described.staging]), which), len(described.staging) - 1
    )
    begin = np.array([one.from_ for one in described.staging])[branch]
    mean = np.array([one.mean for one in described.staging])[branch]
    most = np.array([one.most for one in described.staging])[branch]
    reach = -np.expm1(-(most - begin) / mean)
    return np.asarray(np.floor(begin - mean * np.log1p(-uniform * reach)))


class Chain:
    """A chain of disks that shares its rate evenly among the transfers that go over it.

    All of them have the same rate, so one clock that counts the bytes that each has had is enough.
    """

    def __init__(self, rate: float, shared: float) -> None:
        self.rate, self.shared = rate, shared
        self.now, self.had = 0.0, 0.0
        self.going: list[tuple[float, int]] = []  # (what the clock says at its end, which)

    def each(self) -> float:
        """Return the rate of each transfer."""
        return min(self.rate, self.shared / len(self.going))

    def finish(self) -> float:
        """Return when the next of them ends."""
        return self.now + (self.going[0][0] - self.had) / self.each() if self.going else math.inf

    def add(self, now: float, size: float, which: int) -> None:
        """Let a transfer begin."""
        self.had += self.each() * (now - self.now) if self.going else 0.0
        self.now = now
        heapq.heappush(self.going, (self.had + size, which))

    def end(self) -> tuple[float, int]:
        """End the next of them: return when, and which."""
        self.now = max(self.now, self.finish())
        self.had, which = heapq.heappop(self.going)
        return self.now, which


def share_out(ready: Floats, user: list[str], latency: Floats, size: Ints, of: Transfers) -> tuple[Floats, Floats]:
    """Return when each transfer starts, and when it ends.

    It waits while its user has `user_limit` of them, takes its latency, and then shares a chain with others. Chains get
    `in_turn` transfers each, one chain after the other.
    """
    start, end = np.full(len(ready), np.nan), np.full(len(ready), np.nan)
    chains = [Chain(of.rate, of.shared) for _ in range(of.chains)]
    events = [(float(at), 0, one) for one, at in enumerate(ready)]
    heapq.heapify(events)
    active, waiting = dict.fromkeys(user, 0), {one: deque[int]() for one in user}

    def admit(one: int, now: float) -> None:
        active[user[one]] += 1
        start[one] = now
        heapq.heappush(events, (now + float(latency[one]), 1, one))

    while True:
        chain = min(chains, key=Chain.finish)
        if events and events[0][0] <= chain.finish():
            now, kind, one = heapq.heappop(events)
            if kind:
                chains[one // of.in_turn % of.chains].add(now, float(size[one]), one)
            elif active[user[one]] < of.user_limit:
                admit(one, now)
            else:
                waiting[user[one]].append(one)
        elif chain.going:
            now, one = chain.end()
            end[one] = now
            active[user[one]] -= 1
            if queue := waiting[user[one]]:
                admit(queue.popleft(), now)
        else:
            return start, end
