"""The figures and tables of the report, in its order, from one simulated log."""

import statistics
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import Scenario
from headrace.study import Claim, Judged, Obtained, Study, verdict, whole

if TYPE_CHECKING:
    import polars as pl

Json = dict[str, Any]
Curve = list[tuple[float, float]]

HERE = Path(__file__).parent
DAY_S = 86400.0
MB = 1e6
PORTS = 13
# Number of points of a cloud that are drawn, and all of files above this size, which are one in thirty.
CLOUD = 600
LARGE_MB = 100.0
LOST = "The report's points are lost."
# The lines of Tables 4.1 and 4.2: latency in s, rate in MB/s.
LINES = {"put": (0.756, 4.665), "get": (0.204, 4.828)}
STRATA = {"put": 100, "get": 25}
BLOCKS = {"put": 1000, "get": 200}


def draw(study: Study, write_log: Callable[..., None], clients: Json) -> None:
    """Draw all figures and tables from the log of the study's first pair of seeds.

    `clients` are the changes that give the archive the clients of the real system, for what the report says of it.
    """
    study.tell("figures of one log")
    run, jobs = ran(study, write_log, {})
    _, of_actual = ran(study, write_log, clients)
    moved, really = (some.filter(some["op"] != "stage") for some in (jobs, of_actual))
    times(study, moved)
    at_once(study, moved)
    beside(study, moved)
    envelopes(study, moved)
    residuals(study, moved, really)
    stagings(study, jobs)
    fill(study, run)
    tables(study, jobs, of_actual)


def ran(study: Study, write_log: Callable[..., None], changes: Json) -> "tuple[Json, pl.DataFrame]":
    """Run the log of the first pair of seeds; return the results, and the operations with their times."""
    puts, gets = study.document["limit"]["pairs"][0]
    return simulated(partial(write_log, seed=puts, gets=gets), changes, puts)


def simulated(write: Callable[[Path], None], changes: Json, seed: int) -> "tuple[Json, pl.DataFrame]":
    """Run a log that `write` writes; return the results, and the operations with their times."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "jobs.csv"
        write(log)
        own: Json = {"workload.jobs.arrivals.log": str(log), "run.seed": seed}
        text = (HERE / "archive.yaml").read_text(encoding="utf-8")
        scenario = Scenario(text, str(HERE / "archive.yaml"), own | changes)
        run = {**whole(scenario.run(requests=Path(folder) / "requests", theory=False)).data}
        return run, joined(log, Path(folder) / "requests")


def joined(log: Path, requests: Path) -> "pl.DataFrame":
    """Return the operations of a log with their times in the run, in s.

    Columns beside those of the log: `mb`, `begin`, `end`, `took` (a transfer with its wait for ports, as Appendix A
    counts), `net` (without it, as Appendix B counts), and `whole` (a request with all its waits).
    """
    import polars as pl

    key, since = ["us", "op", "bytes"], pl.col("time_s") - pl.col("time_s").min()
    asked = pl.read_csv(log, schema_overrides={"user": pl.String, "host": pl.String})
    spent = pl.read_parquet(requests / "*.parquet")
    response = pl.col("completed_ns") - pl.col("issued_ns")
    waited = pl.col("front blocked_ns") + pl.col("silos waiting_ns")
    answered = spent.sort("issued_ns").select(
        us=pl.col("issued_ns").cast(pl.Int64) // 1000,
        op=pl.col("op").cast(pl.String),
        bytes=pl.col("bytes").cast(pl.Int64),
        end=pl.col("completed_ns") / 1e9,
        took=(response - waited) / 1e9,
        net=(response - waited - pl.col("front waiting_ns")) / 1e9,
        whole=response / 1e9,
    )
    # A request whose attempts all fail is not answered.
    found = asked.with_columns(us=(since * 1e6).round().cast(pl.Int64)).join(answered, on=key, maintain_order="right")
    if found.height != answered.height:
        raise ValueError("the run answers other operations than the log has")
    return found.with_columns(begin=pl.col("end") - pl.col("took"), mb=pl.col("bytes") / MB)


def cloud(of: "pl.DataFrame", y: str) -> Curve:
    """Return points of a scatter over size in MB: all of large files, and an even choice of the others."""
    rows = of.sort("bytes").select("mb", y)
    small, large = rows.filter(rows["mb"] <= LARGE_MB), rows.filter(rows["mb"] > LARGE_MB)
    chosen = small.gather_every(max(1, small.height // CLOUD))
    return [(float(a), float(b)) for part in (chosen, large) for a, b in part.iter_rows()]


def times(study: Study, moved: "pl.DataFrame") -> None:
    """Draw Figs 2.1 and 2.2: the time of a transfer over the size of its file, and the published lower envelopes."""
    for number, largest in (("2.1", 2000.0), ("2.2", 100.0)):
        within = moved.filter(moved["mb"] <= largest)
        points = {f"{op}s": cloud(within.filter(within["op"] == op), "took") for op in LINES}
        lines = {
            f"line of {op}s": [(0.0, late), (largest, late + largest / rate)] for op, (late, rate) in LINES.items()
        }
        if number == "2.1":
            points["published"] = [(600.0, 250.0), (600.0, 850.0), (600.0, 856.0)]
        title = f"Fig. {number}: file transfer times over file size (0 to {largest:g} MB)"
        said = "With waits for ports. Lines: the published lower envelopes. " + (
            "Points: what the text says of 600 MB." if number == "2.1" else LOST
        )
        study.draw(title, "size, MB", "time, s", lines, points=points, said=said, front=number == "2.1")


def at_once(study: Study, moved: "pl.DataFrame") -> None:
    """Draw Fig. 3.1: how many transfers go on at once, at most in each hour."""
    most: dict[int, int] = {}
    events = sorted([(begin, 1) for begin in moved["begin"].to_list()] + [(end, -1) for end in moved["end"].to_list()])
    now = 0
    for at, step in events:
        now += step
        hour = int(at // 3600)
        most[hour] = max(most.get(hour, 0), now)
    curve = [(hour / 24, float(many)) for hour, many in sorted(most.items())]
    last = curve[-1][0]
    points = {"published": [(0.0, PORTS), (last, PORTS)]}
    said = "Waits for ports included. The report has at most 13, with which 1.3 % of transfers meet."
    title = "Fig. 3.1: concurrent file transfers, at most in each hour"
    study.draw(title, "day", "transfers", {"obtained": curve}, points=points, said=said)


def beside(study: Study, moved: "pl.DataFrame") -> None:
    """Tabulate and draw Table 3.1: what ran beside the slowest transfer of about 600 MB."""
    import polars as pl

    large = moved.filter((pl.col("op") == "put") & pl.col("mb").is_between(540, 660)).sort("took")
    if large.is_empty():
        return
    one = large.tail(1).row(0, named=True)
    others = moved.filter((pl.col("begin") < one["end"]) & (pl.col("end") > one["begin"]) & (pl.col("mb") > 4)).sort(
        "end"
    )
    rows = [
        [_clock(row["begin"]), _clock(row["end"]), row["op"], f"{row['mb']:.0f}", f"{row['took']:.0f}"]
        for row in others.tail(12).iter_rows(named=True)
    ]
    title = f"Table 3.1: what ran beside one transfer of {one['mb']:.0f} MB"
    said = f"Transfers above 4 MB, the last twelve that overlap it. It took {one['took']:.0f} s; published: 856 s."
    study.tabulate(title, ("begin", "end", "operation", "MB", "s"), rows, said=said)


def _clock(at: float) -> str:
    return f"day {at // DAY_S + 1:.0f} {at % DAY_S // 3600:02.0f}:{at % 3600 // 60:02.0f}:{at % 60:02.0f}"


def envelopes(study: Study, moved: "pl.DataFrame") -> None:
    """Draw Fig. 4.1: the fastest transfer of each stratum, and the published lines through the report's."""
    from headrace.logs.analysis.envelope import envelope

    points, lines, largest = {}, {}, 100.0
    for op, (late, rate) in LINES.items():
        rows = moved.filter((moved["op"] == op) & (moved["mb"] <= largest)).rename({"took": "seconds"})
        fastest = envelope(rows, STRATA[op])
        points[f"{op}s"] = [(size / MB, seconds) for size, seconds in fastest.iter_rows()]
        end = max(size for size, _ in points[f"{op}s"])
        lines[f"line of {op}s"] = [(0.0, late), (end, late + end / rate)]
    title = "Fig. 4.1: lower envelope of file transfer times and regression"
    said = f"Lines as published: puts 0.756 s and 4.665 MB/s, gets 0.204 s and 4.828 MB/s. {LOST}"
    study.draw(title, "size, MB", "time, s", lines, points=points, said=said)


# What the text says of residuals: size in MB, s.
RESIDUALS = {"published": [(10.0, 15.0), (179.0, 60.8)], "published 99th": [(10.0, 100.0), (179.0, 484.6)]}


def residuals(study: Study, moved: "pl.DataFrame", really: "pl.DataFrame") -> None:
    """Draw Figs 5.1 to 5.5: how much longer transfers take than latency and rate say."""
    import polars as pl

    late, of_actual = _late(moved), _late(really)
    for number, op, largest in (("5.1", "put", 4000.0), ("5.2", "put", 100.0)):
        _scatter(study, number, op, late[op].filter(pl.col("mb") <= largest))
    _blocks(study, "5.3", "put", (late["put"], of_actual["put"]), RESIDUALS)
    _scatter(study, "5.4", "get", late["get"])
    _blocks(study, "5.5", "get", (late["get"], of_actual["get"]), {})


def _late(moved: "pl.DataFrame") -> "dict[str, pl.DataFrame]":
    """Return puts and gets with `late`, by how much they exceed latency and rate, without the report's outliers."""
    import polars as pl

    late = {
        op: moved.filter((pl.col("op") == op) & (pl.col("mb") <= 4000)).with_columns(
            late=pl.col("took") - latency - pl.col("mb") / rate
        )
        for op, (latency, rate) in LINES.items()
    }
    return {op: rows.filter(~((pl.col("mb") < 1000) & (pl.col("took") > 1000))) for op, rows in late.items()}


def _scatter(study: Study, number: str, op: str, late: "pl.DataFrame") -> None:
    title = f"Fig. {number}: residual times of {'writes' if op == 'put' else 'reads'} over file size"
    study.draw(title, "size, MB", "residual, s", {}, points={f"{op}s": cloud(late, "late")}, said=LOST)


def _blocks(
    study: Study, number: str, op: str, late: "tuple[pl.DataFrame, pl.DataFrame]", published: dict[str, Curve]
) -> None:
    """Draw mean and 99th percentile of the residuals of blocks of neighbours in size: modelled, and as in reality."""
    curves: dict[str, Curve] = {}
    for rows, whose in zip(late, ("", ", real clients"), strict=True):
        curves |= {f"{name}{whose}": curve for name, curve in _of_blocks(rows, BLOCKS[op]).items()}
    title = f"Fig. {number}: mean and 99th percentile of blocks of {BLOCKS[op]} {'writes' if op == 'put' else 'reads'}"
    said = "Points: what the text says of 10 and 179 MB, of the real system." if published else LOST
    study.draw(title, "mean size of a block, MB", "residual, s", curves, points=published, said=said, log=10)


def _of_blocks(late: "pl.DataFrame", number: int) -> dict[str, Curve]:
    rows = late.sort("bytes").select("mb", "late")
    mean, most = [], []
    for start in range(0, rows.height - number + 1, number):
        block = rows.slice(start, number)
        sizes, delays = block["mb"].to_numpy(), block["late"].to_numpy()
        mean.append((float(sizes.mean()), float(delays.mean())))
        most.append((float(sizes.mean()), float(block["late"].quantile(0.99) or 0.0)))
    return {"mean": mean, "99th": most}


# Percentiles of Table 7, in s.
PERCENTS = (1, 5, 10, 50, 90, 95, 99)
TABLE_7 = {
    "actual": (61.0, 66.0, 74.0, 138.0, 281.0, 444.0, 1586.0),
    "report's model": (60.0, 60.006, 60.019, 70.715, 183.555, 282.448, 526.05),
}


def stagings(study: Study, jobs: "pl.DataFrame") -> None:
    """Draw Figs 6.1 and 6.2: staging times in order, and beside the percentiles of Table 7."""
    staged = sorted(jobs.filter(jobs["op"] == "stage")["whole"].to_list())
    ranked = [(float(rank), time) for rank, time in enumerate(staged, 1)]
    said = f"The staging times of the model, {len(staged)} in order; the report's are lost."
    study.draw("Fig. 6.1: file stage times", "rank", "s", {"obtained": ranked}, said=said, log_y=10)
    curve = [(time, 100 * rank / len(staged)) for rank, time in ranked]
    points = {name: list(zip(values, PERCENTS, strict=True)) for name, values in TABLE_7.items()}
    title = "Fig. 6.2 and Table 7: distribution of staging times"
    said = "Points: the percentiles of Table 7."
    study.draw(title, "staging time, s", "% of stagings", {"obtained": curve}, points=points, said=said, log=10)


def fill(study: Study, run: Json) -> None:
    """Draw Fig. 2 of Appendix B: how full the disk pool is."""
    curve = [(stretch["time_s"] / DAY_S, 100 * stretch["fill"]["disks"]) for stretch in run["series"]]
    points = {"published": [(9.0, 80.0)]}
    said = "Point: on day 9 the pool reaches its high water mark of 80 %."
    title = "App. B, Fig. 2: disk fill for the duration of the run"
    study.draw(title, "day", "fill, %", {"obtained": curve}, points=points, said=said)


# Mean, standard deviation, minimum, maximum and number of Tables 4 and 6, of the real system and of the report's model.
TABLE_4 = {
    "get": {"actual": (4.10, 14.97, 0.08, 308.70, 3061), "report's model": (2.96, 10.21, 0.20, 259.19, 3061)},
    "put": {"actual": (11.22, 40.70, 0.37, 1403.83, 24441), "report's model": (8.92, 33.66, 0.76, 711.99, 24441)},
    "stage": {"actual": (196.2, 260.28, 61.0, 3187.0, 999), "report's model": (110.2, 90.87, 60.0, 833.29, 1003)},
}
STATISTICS = ("mean", "sd", "minimum", "maximum", "N")


def tables(study: Study, jobs: "pl.DataFrame", of_actual: "pl.DataFrame") -> None:
    """Tabulate Tables 2 to 9 of Appendix B: the report's numbers beside those of this log."""
    import polars as pl

    by, really = ({op: some.filter(pl.col("op") == op) for op in ("get", "put", "stage")} for some in (jobs, of_actual))
    hosts = [
        [host, *(_rate(really[op].filter(pl.col("host") == host)) for op in ("put", "get"))]
        for host in jobs["host"].unique().sort()
    ]
    said = "Bytes over time, with the clients of the real system: rates drawn by host. The report's are lost."
    study.tabulate("Table 2: rates by host and direction, MB/s", ("host", "store", "retrieve"), hosts, said=said)
    sizes = [[op, *_statistics(by[op]["bytes"])] for op in ("get", "put")]
    said = "The report's numbers are lost."
    study.tabulate("Table 3: file sizes, bytes", ("operation", *STATISTICS), sizes, said=said)
    both = {op: {"obtained": by[op]["net"], REALLY: really[op]["net"]} for op in ("get", "put")}
    _compared(study, "Table 4: transfer times, s", both)
    percentiles = [
        [f"{op}, {name}", *_percentiles(times)] for op, named in both.items() for name, times in named.items()
    ]
    columns = ("operation", *(f"{share} %" for share in PERCENTS))
    study.tabulate("Table 5: percentiles of transfer times, s", columns, percentiles, said=said)
    _compared(study, "Table 6: tape delays, s", {"stage": {"obtained": by["stage"]["whole"]}})
    rows = [[name, *(f"{value:.5g}" for value in values)] for name, values in TABLE_7.items()]
    rows.append(["obtained", *_percentiles(by["stage"]["whole"])])
    study.tabulate("Table 7: percentiles of tape delays, s", ("", *columns[1:]), rows)
    total = [[op, *_statistics(by[op]["whole"])] for op in ("get", "put")]
    study.tabulate("Table 8: total request times, s", ("operation", *STATISTICS), total, said=said)
    total = [[op, *_percentiles(by[op]["whole"])] for op in ("get", "put")]
    study.tabulate("Table 9: percentiles of total request times, s", columns, total, said=said)


REALLY = "obtained with real clients"


def _compared(study: Study, title: str, obtained: "dict[str, dict[str, pl.Series]]") -> None:
    rows = []
    for op, named in obtained.items():
        rows += [[f"{op}, {name}", *(f"{value:.5g}" for value in values)] for name, values in TABLE_4[op].items()]
        rows += [[f"{op}, {name}", *_statistics(series)] for name, series in named.items()]
    study.tabulate(title, ("operation", *STATISTICS), rows)


def _rate(of: "pl.DataFrame") -> str:
    return f"{_number(of['bytes'].sum()) / _number(of['net'].sum()) / MB:.2f}" if of.height else "—"


def _statistics(of: "pl.Series") -> list[str]:
    return [*(_text(_number(value)) for value in (of.mean(), of.std(), of.min(), of.max())), str(of.len())]


def _text(value: float) -> str:
    return f"{value:,.0f}" if value >= 10_000 else f"{value:.4g}"


def _percentiles(of: "pl.Series") -> list[str]:
    return [f"{_number(of.quantile(share / 100, 'linear')):.5g}" for share in PERCENTS]


def _number(found: object) -> float:
    if not isinstance(found, int | float):
        raise TypeError(f"no number: {found!r}")
    return float(found)


def lost_hours(study: Study, lost: dict[int, list[tuple[float, float]]]) -> Iterator[Judged]:
    """Draw Table 10 and Fig. 3 of Appendix B: job-hours lost over the limit of users, medians of logs; and judge it.

    `lost` has, by limit, what each log loses to users' limits and to ports.
    """
    rule = study.document["sweep"]
    medians = {
        limit: (*(statistics.median(one[at] for one in logs) for at in (0, 1)), statistics.median(map(sum, logs)))
        for limit, logs in lost.items()
    }
    curves = {
        name: [(float(limit), of[at]) for limit, of in medians.items()]
        for at, name in enumerate(("user limit", "ports", "both"))
    }
    points = {"published": [(10, 100), (20, 50), (10, 50), (20, 80), (10, 150), (20, 130)]}
    title = "App. B, Table 10 and Fig. 3: lost productivity over the limit of users"
    said = f"Medians of {len(next(iter(lost.values())))} accepted logs. Points: what is read off for 10 and 20."
    study.draw(title, "transfers a user", "lost, job-hours", curves, points=points, said=said)
    totals = [of[2] for of in medians.values()]
    falls = all(after < before for before, after in pairwise(totals))
    told = ", ".join(f"{limit}: {of[2]:.0f}" for limit, of in medians.items())
    yield verdict(Claim.read(rule, published=True), Obtained(falls), why=f"job-hours by limit: {told}")
