"""Logs made from a description: sessions of users, bursts, mixed sizes. Same seed, same bytes; marked as synthetic.

Random numbers are uniform draws of PCG64, whose sequence NumPy guarantees, turned into what is needed by inversion.
"""

import heapq
import math
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from headrace.logs.clients import with_clients
from headrace.logs.description import Description, Kind, Sizes, Transfers, load

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DAY_S = 86400.0
PEAK_H = 14.0  # The busiest hour of a day.
BLOCK = 1 << 18  # Operations of which something is drawn at once.
OPS = pl.Enum(["get", "put"])
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
    beginning), `op` (get or put), `user`, `host`, `file`, `bytes` (1 or more), `staged` (if a get needs the tape).
    Raises `ScenarioError` where the description cannot be read.
    """
    described = description if isinstance(description, Description) else load(description)
    whole = jobs(described, seed=seed, seed_of_gets=seed_of_gets).with_columns(pl.col("bytes").clip(1))
    return whole.select("time_s", "op", "user", "host", "file", "bytes", "staged")


def jobs(described: Description, *, seed: int = 1, seed_of_gets: int | None = None) -> pl.DataFrame:
    """Return the operations with all that logs say of them.

    Beyond those of `operations`: `job` (persona), `session`, `number` in it, and where the description says how long
    things take, `stage_s`, `start_s` (of the transfer, after queueing and tape), `measured_s` (the transfer alone).
    """
    return named(drawn(described, seed=seed, seed_of_gets=seed_of_gets), described)


def drawn(described: Description, *, seed: int = 1, seed_of_gets: int | None = None) -> pl.DataFrame:
    """Return the operations as numbers, without names: few bytes each, for a log may be long."""
    seeds = {"put": seed, "get": seed if seed_of_gets is None else seed_of_gets}
    dice = {op: _dice(one, op) for op, one in seeds.items()}
    # No name for what is in between: it would be held.
    frame = _reread(
        described,
        _emptied(
            described,
            _sorted(_scaled(described, [_kind(described, name, dice[of.op]) for name, of in described.kinds.items()])),
            _dice(seed, "empty"),
        ),
    )
    return _timed(described, frame, seed) if described.transfers else frame


def _emptied(described: Description, frame: pl.DataFrame, dice: np.random.Generator) -> pl.DataFrame:
    """Give some puts files of 0 bytes."""
    if not described.empty:
        return frame
    chosen = pl.Series(dice.random(len(frame)) < described.empty) & (frame["op"] == "put")
    return frame.with_columns(bytes=pl.when(chosen).then(0).otherwise("bytes"))


def _sorted(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Return operations by time, in the order of the rows `at`; a column at a time, which is taken from its part."""
    keys = [np.concatenate([part[name].to_physical().to_numpy() for part in parts]) for name in ("z", "kind", "time_s")]
    order = pl.Series(np.lexsort(keys).astype(np.uint32))
    del keys
    columns = {}
    for name in [name for name in parts[0].columns if name != "z"]:
        columns[name] = pl.concat([part.drop_in_place(name) for part in parts]).gather(order)
    return pl.DataFrame(columns).with_row_index("at")


STREAMS = ("put", "get", "times", "empty", "clients")


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
    del gaps
    shared = ndtri(_open(dice.random(len(sessions.files))))
    frame = pl.DataFrame({
        "time_s": sessions.begin[of] + since, "user": sessions.user[of].astype(np.uint32),
        "session": of.astype(np.uint32), "z": shared[of],
    })  # fmt: skip
    del of, since
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
    which = np.minimum(np.searchsorted(shares, dice.random(len(frame))), len(classes) - 1).astype(np.uint8)
    largest, uniform, z = min(kind.largest, described.largest), _open(dice.random(len(frame))), frame["z"].to_numpy()
    size = np.empty(len(frame), dtype=np.int64)
    for first in range(0, len(frame), BLOCK):  # Not all at once: the arithmetic takes several arrays.
        block = slice(first, first + BLOCK)
        for at, one in enumerate(classes):
            chosen, of = which[block] == at, described.sizes[one]
            draw = _measured if of.histogram else _lognormal
            size[block][chosen] = np.rint(
                draw(of, described.between, z[block][chosen], uniform[block][chosen], largest)
            )
    words = sorted(described.sizes)
    places = np.array([words.index(one) for one in classes], dtype=np.uint32)
    return frame.with_columns(
        kind=pl.lit(name, pl.Enum(sorted(described.kinds))), op=pl.lit(kind.op, OPS),
        size_class=pl.Series(words, dtype=pl.Enum(words)).gather(places[which]),
        bytes=pl.Series(size), staged=pl.lit(kind.staged),
    )  # fmt: skip


def _measured(of: Sizes, between: float, z: Floats, uniform: Floats, largest: float) -> Floats:
    """Draw sizes of a histogram within limits: ln(size) is uniform within a bin.

    Sizes of a session are correlated as lognormal ones are, by a Gaussian copula.
    """
    assert of.histogram
    ends, below = of.histogram.bins()
    ends = np.log(np.maximum(ends, 1))
    rank = ndtr(math.sqrt(between) * z + math.sqrt(1 - between) * ndtri(uniform)) if between else uniform
    low, high = np.interp(np.log([max(of.least, 1), largest]), ends, below) if of.least > 1 else (0.0, 1.0)
    high = min(high, float(np.interp(np.log(largest), ends, below)))
    chosen = low + rank * (high - low)
    bin_of = np.clip(np.searchsorted(below, chosen, side="right") - 1, 0, len(ends) - 2)
    share = (chosen - below[bin_of]) / np.maximum(below[bin_of + 1] - below[bin_of], 1e-300)
    drawn = ends[bin_of] + np.clip(share, 0, 1) * (ends[bin_of + 1] - ends[bin_of])
    return np.asarray(np.clip(np.exp(drawn), max(of.least, 1), largest))


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
    chosen = (pl.col("size_class") == described.scaled.sizes) & (pl.col("op") == described.scaled.op)
    for _ in range(20):
        whole = sum(int(one.filter(pl.col("op") == described.scaled.op)["bytes"].sum()) for one in drawn)
        mine = sum(int(one.filter(chosen)["bytes"].sum()) for one in drawn)
        if not mine:
            return drawn
        factor = max(described.scaled.total - (whole - mine), 0) / mine
        size = (pl.col("bytes") * factor).clip(max(of.least, 1), described.largest).round().cast(pl.Int64)
        drawn = [one.with_columns(bytes=pl.when(chosen).then(size).otherwise("bytes")) for one in drawn]
    return drawn


def _reread(described: Description, frame: pl.DataFrame) -> pl.DataFrame:
    """Give some gets one of the files that the user put before, of their class of sizes: `of` is its row."""
    time, size = frame["time_s"].to_numpy(), frame["bytes"].to_numpy().copy()
    owner = frame["user"].to_numpy() * np.uint32(len(described.sizes)) + frame["size_class"].to_physical().to_numpy()
    puts = np.flatnonzero((frame["op"] == "put").to_numpy()).astype(np.uint32)
    puts = puts[np.argsort(owner[puts], kind="stable")]
    # By owner, and within one by time: the rows are by time.
    place = owner[puts].astype(np.int64) * len(frame) + puts
    gets, which = _again(described, frame)
    first_of_owner = owner[gets].astype(np.int64) * len(frame)
    first = np.searchsorted(place, first_of_owner)
    before = np.searchsorted(place, first_of_owner + np.searchsorted(time, time[gets])) - first
    chosen = first + np.floor(which * before).astype(np.int64)
    of = np.zeros(len(frame), dtype=np.uint32)  # Of a get that reads a file again, one more than the row of its put.
    of[gets[before > 0]] = puts[chosen[before > 0]] + 1
    del owner, place, puts
    again = np.flatnonzero(of)
    size[again] = size[of[again] - 1]
    row = pl.Series(of)
    return frame.with_columns(bytes=pl.Series(size), of=pl.when(row > 0).then(row - 1))


def _again(described: Description, frame: pl.DataFrame) -> tuple[NDArray[np.uint32], Floats]:
    """Return the rows of gets that read a file again, and which one of those put before, as a share of these.

    Two sequences that fill the unit interval evenly decide.
    """
    rows, picks = [np.zeros(0, dtype=np.uint32)], [np.zeros(0)]
    for name, kind in described.kinds.items():
        at = np.flatnonzero((frame["kind"] == name).to_numpy()).astype(np.uint32) if kind.reread else rows[0]
        at = at[at.astype(np.float64) * 0.6180339887498949 % 1 < kind.reread]
        rows.append(at)
        picks.append(at.astype(np.float64) * 0.7548776662466927 % 1)
    return np.concatenate(rows), np.concatenate(picks)


def named(frame: pl.DataFrame, described: Description) -> pl.DataFrame:
    """Give users, hosts, files and jobs their names."""
    number = pl.col("at").cast(pl.String).str.zfill(7)
    letter = pl.when(pl.col("op") == "put").then(pl.lit("f")).when("staged").then(pl.lit("t")).otherwise(pl.lit("p"))
    hosts = pl.Series(described.hosts)
    return frame.with_columns(
        op=pl.col("op").cast(pl.String),
        kind=pl.col("kind").cast(pl.String),
        size_class=pl.col("size_class").cast(pl.String),
        host=hosts.gather(frame["user"] % len(hosts)),
        user=(1000 + pl.col("user")).cast(pl.String).str.zfill(6),
        file=pl.coalesce("f" + pl.col("of").cast(pl.String).str.zfill(7), letter + number),
        job=(1000 + pl.col("at") % PERSONAS).cast(pl.String),
        session=(100 + pl.col("session") % 900).cast(pl.String),
        number=(1 + pl.col("at") % 999).cast(pl.String),
    ).with_columns(pl.col(pl.Float32).cast(pl.Float64))


def _timed(described: Description, frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Add how long the tape and the transfer take."""
    assert described.transfers is not None
    of, dice = described.transfers, _dice(seed, "times")
    staged = np.flatnonzero(frame["staged"].to_numpy())
    which, uniform = dice.random(len(frame))[staged], dice.random(len(frame))[staged]
    tape = _staging(described, which, uniform)
    latency = np.where((frame["op"] == "put").to_numpy(), of.put_latency, of.get_latency)
    for first in range(0, len(latency), BLOCK):
        block = latency[first : first + BLOCK]
        np.subtract(block, of.jitter * np.log1p(-dice.random(len(block))), out=block)
    ready = frame["time_s"].to_numpy().copy()
    ready[staged] += tape
    start, end = share_out(ready, frame["user"].to_numpy(), latency, frame["bytes"].to_numpy(), of)
    end -= start
    stage = np.full(len(frame), np.nan, dtype=np.float32)  # Whole seconds.
    stage[staged] = tape
    timed = frame.with_columns(
        stage_s=pl.Series(stage, nan_to_null=True), start_s=pl.Series(start), measured_s=pl.Series(end)
    )
    return with_clients(described, timed, _dice(seed, "clients"))


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

    __slots__ = ("finish", "going", "had", "now", "rate", "shared")

    def __init__(self, rate: float, shared: float) -> None:
        self.rate, self.shared = rate, shared
        self.now, self.had = 0.0, 0.0
        self.going: list[tuple[float, int]] = []  # (what the clock says at its end, which)
        self.finish = math.inf  # When the next of them ends.

    def add(self, now: float, size: float, which: int) -> None:
        """Let a transfer begin."""
        if self.going:
            self.had += min(self.rate, self.shared / len(self.going)) * (now - self.now)
        self.now = now
        heapq.heappush(self.going, (self.had + size, which))
        self._expect()

    def end(self, now: float) -> int:
        """End the next of them: return which."""
        self.now = now
        self.had, which = heapq.heappop(self.going)
        self._expect()
        return which

    def _expect(self) -> None:
        going, self.finish = self.going, math.inf
        if going:
            self.finish = self.now + (going[0][0] - self.had) / min(self.rate, self.shared / len(going))


def share_out(ready: Floats, user: Ints, latency: Floats, size: Ints, of: Transfers) -> tuple[Floats, Floats]:
    """Return when each transfer starts, and when it ends, in the memory of `ready` and `latency`: a log may be long.

    It waits while its user has `user_limit` of them, takes its latency, and then shares a chain with others. Chains get
    `in_turn` transfers each, one chain after the other.
    """
    # A view gives plain numbers, with which Python counts several times as fast.
    views: Any = [one.data for one in (ready, latency, user, size)]
    start, end, users, sizes = views
    chains = [Chain(of.rate, of.shared) for _ in range(of.chains)]
    active, waiting = defaultdict[int, int](int), defaultdict[int, deque[int]](deque)
    # When a latency ends, with the transfer less their number, or a chain's next transfer, with the chain.
    events = [(math.inf, 0)]

    def admit(which: int, now: float) -> None:
        start[which] = now
        heapq.heappush(events, (now + end[which], which - len(ready)))

    for arrival, arrived in _arrivals(ready):
        while events[0][0] < arrival:
            now, number = heapq.heappop(events)
            if number < 0:
                which = number + len(ready)
                number = which // of.in_turn % of.chains
                chains[number].add(now, sizes[which], which)
            elif chains[number].finish == now:
                which = chains[number].end(now)
                end[which] = now
                owner = users[which]
                if waiting[owner]:
                    admit(waiting[owner].popleft(), now)
                else:
                    active[owner] -= 1
            else:
                continue  # The chain has got another transfer since.
            if chains[number].going:
                heapq.heappush(events, (chains[number].finish, number))
        if arrived < 0:
            break
        owner = users[arrived]
        if active[owner] < of.user_limit:
            active[owner] += 1
            admit(arrived, arrival)
        else:
            waiting[owner].append(arrived)
    return ready, latency


def _arrivals(ready: Floats) -> Iterator[tuple[float, int]]:
    """Yield when each transfer is ready, in this order, with its number; and at last one that never is."""
    order = np.argsort(ready, kind="stable").astype(np.uint32)
    for first in range(0, len(order), BLOCK):
        some = order[first : first + BLOCK]
        yield from zip(ready[some].tolist(), some.tolist(), strict=True)
    yield math.inf, -1
