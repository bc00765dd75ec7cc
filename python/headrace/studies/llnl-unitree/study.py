"""The UniTree archive on synthetic logs: see README.md for what it finds."""

import json
import statistics
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace import Scenario
from headrace.study import Claim, Judged, Obtained, Study, verdict, whole

Json = dict[str, Any]

HERE = Path(__file__).parent
SECONDS_PER_HOUR = 3600.0

# The limits of users whose totals are shown.
LIMITS = (5, 10, 15, 20, 30, 40, 60)


@dataclass(frozen=True)
class Figures:
    """What one run of two weeks gave, by the names that claims have."""

    get_mean_s: float
    get_min_s: float
    put_mean_s: float
    put_min_s: float
    stage_mean_s: float
    stage_median_s: float
    stage_min_s: float
    network_percent: float
    first_purge_day: float
    purges: float
    stages_per_hour: float
    most_drives: float
    user_loss: float
    port_loss: float


def obtain(study: Study) -> Iterator[Judged]:
    """Judge the aggregates over all seeds, then the limit of users on the accepted logs."""
    seeds = range(1, 1 + study.document["small_seeds" if study.small else "seeds"])
    found = []
    for seed in seeds:
        study.tell(f"two weeks, log {seed} of {len(seeds)}")
        found.append(simulated(seed, 10))
    for row in study.document["aggregate"]:
        yield _aggregate(study, row, found)
    yield from user_limit(study)


def _aggregate(study: Study, row: Json, found: list[Figures]) -> Judged:
    tolerance = {name: row[name] for name in ("percent", "within") if name in row}
    between = tuple(row["between"]) if "between" in row else None
    claim = Claim(row["id"], row["text"], row["published"], study.document["source"], between=between, **tolerance)
    return verdict(claim, Obtained(round(statistics.median(getattr(figures, row["figure"]) for figures in found), 3)))


def user_limit(study: Study) -> Iterator[Judged]:
    """T004-6: losses at limit 10 are calibrated by which logs are accepted, those at limit 20 are predicted."""
    rule = study.document["limit"]
    logs = rule["accepted"][:1] if study.small else rule["accepted"]
    at_20 = []
    nets = []
    for seed in logs:
        study.tell(f"limit 20, log {seed}")
        ten, twenty = simulated(seed, 10), simulated(seed, 20)
        at_20.append(twenty)
        nets.append(twenty.user_loss + twenty.port_loss - ten.user_loss - ten.port_loss)
    why = f"{len(logs)} accepted log(s); the rule asks for {rule['least_logs']}"
    for queue in ("user", "port"):
        published, lost = rule["at_20"][queue], [getattr(figures, f"{queue}_loss") for figures in at_20]
        text = f"job-hours lost to the {queue} queue at limit 20, predicted: median over accepted logs"
        if len(logs) < rule["least_logs"]:
            yield verdict(
                Claim(rule["id"], text, published, rule["source"], verdict="not testable"),
                Obtained(_median(lost)),
                why=why,
            )
            continue
        yield verdict(
            Claim(rule["id"], text, published, rule["source"], percent=rule["median_percent"]), Obtained(_median(lost))
        )
        low, high = percentiles(lost, rule["band"])
        text = f"the published {published:g} lies within the band of accepted logs, {low:.0f} to {high:.0f}"
        yield verdict(Claim(rule["id"], text, True, rule["source"]), Obtained(low <= published <= high))
    if len(logs) >= rule["least_logs"]:
        claim = Claim(rule["id"], "net change of lost job-hours from limit 10 to 20 is negative", True, rule["source"])
        yield verdict(claim, Obtained(statistics.median(nets) < 0))


def _median(values: list[float]) -> float | None:
    return round(statistics.median(values), 1) if values else None


def percentiles(values: list[float], wanted: list[float]) -> tuple[float, float]:
    """Return the two percentiles that a band lies between."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return cuts[round(wanted[0]) - 1], cuts[round(wanted[1]) - 1]


def simulated(seed: int, limit: int) -> Figures:
    """Run two weeks of one log with a limit of users."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "jobs.csv"
        write_log(log, seed)
        changes = {"workload.jobs.arrivals.log": str(log), "system.front.per_user": limit, "run.seed": seed}
        scenario = Scenario((HERE / "archive.yaml").read_text(encoding="utf-8"), str(HERE / "archive.yaml"), changes)
        run = whole(scenario.run(requests=Path(folder) / "requests", theory=False))
        return figures(run.data, Path(folder) / "requests")


def write_log(file: Path, seed: int) -> None:
    """Write a synthetic log.

    Each get that needs the tape is preceded by a `stage` of its file, whose response is then the staging alone.
    """
    import polars as pl  # noqa: PLC0415 - they take longer to load than `headrace --help` may

    from headrace.logs.synthesise import operations  # noqa: PLC0415

    asked = operations("llnl-unitree", seed=seed).with_row_index("at")
    staged = asked.filter(pl.col("staged")).with_columns(op=pl.lit("stage"))
    both = pl.concat([staged, asked]).sort("time_s", "at", maintain_order=True)
    both.with_columns(pl.col("staged").cast(pl.Int8)).drop("at").write_csv(file, float_precision=6)


def figures(run: Json, requests: Path) -> Figures:
    """Take the figures from what a run says and from its requests."""
    import polars as pl  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    spent = pl.read_parquet(requests / "*.parquet")
    # A get waits for its stage at the tape, and both wait for limits and ports: the rest is the transfer.
    queued = pl.col("front blocked_ns") + pl.col("front waiting_ns")
    response = (pl.col("answered_ns") - pl.col("born_ns")).alias("s")
    moved = spent.with_columns(s=(response - queued - pl.col("silos waiting_ns")) / 1e9, whole=response / 1e9)
    get, put = (moved.filter(pl.col("op") == op)["s"] for op in ("get", "put"))
    stage = moved.filter(pl.col("op") == "stage")["whole"]
    meters = {part["path"]: part["meters"] for part in run["components"]}
    hours = run["simulated_s"] / SECONDS_PER_HOUR
    return Figures(
        get_mean_s=_number(get.mean()), get_min_s=_number(get.min()),
        put_mean_s=_number(put.mean()), put_min_s=_number(put.min()),
        stage_mean_s=_number(stage.mean()), stage_median_s=_number(stage.median()), stage_min_s=_number(stage.min()),
        network_percent=100 * meters["fddi"]["inward_busy"],
        first_purge_day=first_purge_day(run),
        purges=meters["archive"]["purges"], stages_per_hour=meters["archive"]["stages"] / hours,
        most_drives=meters["silos"]["most_drives_busy"],
        user_loss=hours * meters["front"]["held_back_by_limits"],
        port_loss=hours * meters["front"]["waiting_for_ports"],
    )  # fmt: skip


def _number(found: object) -> float:
    """Return what polars found of a column; a log without such operations is no log of the archive."""
    if not isinstance(found, int | float):
        raise TypeError(f"no number: {found!r}")
    return float(found)


def first_purge_day(run: Json) -> float:
    """Read the day of the first purge off the remark that names it."""
    said = [note for note in run["notes"] if "purge(s) of the pool, the first after " in note]
    return float(said[0].split("the first after ")[1].split()[0]) if said else float("inf")


def is_accepted(found: Figures, document: Json) -> bool:
    """Tell whether a log meets the aggregates and the losses at limit 10."""
    rule = document["limit"]
    means = [row for row in document["aggregate"] if row["figure"] in ("get_mean_s", "put_mean_s", "stage_mean_s")]
    near = all(abs(getattr(found, row["figure"]) / row["published"] - 1) <= rule["mean_percent"] / 100 for row in means)
    lost = {"user": found.user_loss, "port": found.port_loss}
    like = all(abs(lost[name] / value - 1) <= rule["loss_percent"] / 100 for name, value in rule["at_10"].items())
    low, high = rule["day"]
    return near and like and found.purges == rule["purges"] and low <= found.first_purge_day <= high


def search(first: int, last: int) -> None:
    """Print what the logs of some seeds give at limit 10, one line of JSON each, and whether they are accepted."""
    document = tomllib.loads((HERE / "claims.toml").read_text(encoding="utf-8"))
    for seed in range(first, last + 1):
        found = simulated(seed, 10)
        line = {"seed": seed, "accepted": is_accepted(found, document)} | vars(found)
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    search(int(sys.argv[1]), int(sys.argv[2]))
