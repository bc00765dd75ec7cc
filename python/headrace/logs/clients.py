"""What clients do to the transfers of a synthetic log: slow hosts, stalls, failed attempts, FTP's whole seconds.

It is added once chains have been shared: what it frees or takes there changes nothing for others. A simulation of the
same operations decides that.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri

from headrace.logs.description import BetweenHosts, Description, Failures, Stalls, Transfers

Floats = NDArray[np.float64]
FTP_LOWEST_S = 0.499  # What FTP's daemon logs for every time below one second.


def with_clients(described: Description, frame: pl.DataFrame, dice: np.random.Generator) -> pl.DataFrame:
    """Return operations whose times have what their clients add, with columns for what is on.

    `failed` is the number of failed attempts, each of which lasts `failed_s` and has moved the share `failed_at`;
    `lost` is true where all fail; `by_ftp` says whether the log has whole seconds.
    """
    of = described.transfers
    assert of is not None
    if of.between_hosts != BetweenHosts() or of.client_rate != float("inf"):
        frame = _by_host(of, len(described.hosts), frame, dice)
    if of.stalls:
        frame = _stalled(of.stalls, frame, dice)
    if of.failures:
        frame = _failing(of.failures, frame, dice)
    return _by_ftp(of.whole_seconds, frame, dice) if of.whole_seconds else frame


def _by_host(of: Transfers, hosts: int, frame: pl.DataFrame, dice: np.random.Generator) -> pl.DataFrame:
    """Let transfers take the latency of their host, and as long as its rate says at least."""
    rates, latencies = (_factors(cv, hosts, dice) for cv in (of.between_hosts.rate, of.between_hosts.latency))
    host = frame["user"].to_numpy() % hosts
    latency = np.where((frame["op"] == "put").to_numpy(), of.put_latency, of.get_latency)
    taken = frame["measured_s"].to_numpy() + latency * (latencies[host] - 1)
    alone = latency * latencies[host] + frame["bytes"].to_numpy() / (of.client_rate * rates[host])
    return frame.with_columns(measured_s=pl.Series(np.maximum(taken, alone)))


def _factors(cv: float, hosts: int, dice: np.random.Generator) -> Floats:
    """Draw a lognormal factor with mean one for each host."""
    variance = np.log1p(cv * cv)
    normal = ndtri(np.maximum(dice.random(hosts), 2.0**-54))
    return np.asarray(np.exp(np.sqrt(variance) * normal - variance / 2))


def _stalled(stalls: Stalls, frame: pl.DataFrame, dice: np.random.Generator) -> pl.DataFrame:
    chosen = dice.random(len(frame)) < stalls.share
    still = -stalls.mean * np.log1p(-dice.random(len(frame)))
    return frame.with_columns(measured_s=pl.col("measured_s") + pl.Series(np.where(chosen, still, 0.0)))


def _failing(failures: Failures, frame: pl.DataFrame, dice: np.random.Generator) -> pl.DataFrame:
    """Let transfers begin after their failed attempts, which all end at the same place of the file."""
    uniform = np.maximum(dice.random(len(frame)), 2.0**-54)
    number = np.full(len(frame), failures.attempts)
    if failures.share < 1:
        before = np.floor(np.log(uniform) / np.log(failures.share)) if failures.share else np.zeros(len(frame))
        number = np.minimum(before, failures.attempts).astype(np.int64)
    at = dice.random(len(frame))
    each = at * frame["measured_s"].to_numpy()
    return frame.with_columns(
        start_s=pl.col("start_s") + pl.Series(number * (each + failures.retry_after)),
        failed=pl.Series(number.astype(np.uint8)),
        failed_at=pl.Series(at),
        failed_s=pl.Series(each),
        retry_after_s=pl.lit(failures.retry_after),
        lost=pl.Series(number == failures.attempts),
    )


def _by_ftp(share: float, frame: pl.DataFrame, dice: np.random.Generator) -> pl.DataFrame:
    """Choose the sessions that used FTP."""
    session = frame["session"].to_numpy().astype(np.int64)
    kind = frame["kind"].to_physical().to_numpy().astype(np.int64)
    which = kind * (int(session.max(initial=0)) + 1) + session
    chosen = dice.random(int(which.max(initial=0)) + 1) < share
    return frame.with_columns(by_ftp=pl.Series(chosen[which]))


def logged_seconds(frame: pl.DataFrame) -> pl.Expr:
    """Return the times taken as NFT and FTP log them: milliseconds, or whole seconds."""
    taken = pl.col("measured_s")
    if "by_ftp" not in frame.columns:
        return taken.round(3)
    whole = pl.when(taken < 1).then(FTP_LOWEST_S).otherwise(taken.round())
    return pl.when("by_ftp").then(whole).otherwise(taken.round(3))


def succeeded(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the operations of which one attempt succeeded."""
    return frame.filter(~pl.col("lost")) if "lost" in frame.columns else frame


def attempts_that_failed(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each failed attempt, with its `seconds`, the `bytes` that it moved and its begin, `time`."""
    if "failed" not in frame.columns:
        return frame.clear()
    each = frame.filter(pl.col("failed") > 0).with_columns(attempt=pl.int_ranges(1, pl.col("failed") + 1))
    gap = pl.col("failed_s") + pl.col("retry_after_s")
    # The attempt before the transfer is the first of them.
    before = pl.duration(microseconds=(pl.col("attempt") * gap * 1e6).cast(pl.Int64))
    return each.explode("attempt").with_columns(
        time=pl.col("time") - before,
        seconds=pl.col("failed_s").round(3),
        bytes=(pl.col("bytes") * pl.col("failed_at")).round().cast(pl.Int64),
    )
