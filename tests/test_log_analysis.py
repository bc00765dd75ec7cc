"""What a log says of its archive: recovered where it is known, and nothing invented where it is not."""

import dataclasses
import json
import random
import re
from datetime import date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from conftest import ROOT, Run, opened, without_scripts
from headrace import ScenarioError, load, logs
from headrace.logs import description, replayed, scenario
from headrace.logs.analysis import concurrency, filters, staging
from headrace.logs.analysis.drives import FEWEST, drives, fewest_varying, held
from headrace.logs.analysis.envelope import envelope, fit
from headrace.logs.analysis.mixture import fitted, truncated_mean
from headrace.logs.analysis.pool import pool_size, stack_distances
from headrace.reports import logs as reports

Json = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return logs.write("llnl-unitree", tmp_path_factory.mktemp("made"), to="unitree", seed=1)


@pytest.fixture(scope="module")
def found(made: list[Path]) -> Json:
    return logs.analyse(logs.read(made))


def test_the_table_of_a_regression_is_that_of_another_program() -> None:
    dice = np.random.default_rng(3)
    size = dice.integers(1000, 10**8, 200)
    taken = 0.76 + size / 4.7e6 + dice.exponential(0.5, 200)
    ours, theirs = fit(pl.DataFrame({"bytes": size, "seconds": taken})), stats.linregress(size, taken)
    assert ours is not None
    assert ours["slope_s_per_byte"]["value"] == pytest.approx(theirs.slope)
    assert ours["slope_s_per_byte"]["error"] == pytest.approx(theirs.stderr)
    assert ours["latency_s"]["value"] == pytest.approx(theirs.intercept)
    assert ours["latency_s"]["error"] == pytest.approx(theirs.intercept_stderr)
    assert ours["multiple_r"] == pytest.approx(theirs.rvalue)
    assert ours["slope_s_per_byte"]["p"] == pytest.approx(theirs.pvalue)
    assert ours["ss_regression"] + ours["ss_residual"] == pytest.approx(ours["ss_total"])
    assert ours["f"] == pytest.approx(ours["slope_s_per_byte"]["t"] ** 2)


def test_the_papers_tables_follow_from_its_sums_of_squares() -> None:
    """Table 4.1: sums of squares, degrees of freedom and coefficients give its F, R2 and intervals."""
    from headrace.logs.analysis.envelope import _coefficient, _table

    table = _table(76.80653322, 849.1673832, 164)
    assert table["r2"] == pytest.approx(0.909550773, rel=1e-6)
    assert table["adjusted_r2"] == pytest.approx(0.908999254, rel=1e-6)
    assert table["f"] == pytest.approx(1649.172, rel=1e-6)
    assert table["p"] == pytest.approx(1.73533e-87, rel=1e-4)
    latency = _coefficient(0.756034485, 0.058893727, 164)
    assert (latency["from"], latency["to"]) == pytest.approx((0.639746718, 0.8723222), rel=1e-6)
    assert latency["p"] == pytest.approx(1.48e-26, rel=1e-2)


def test_latency_and_rate_are_recovered_from_a_synthetic_log(found: Json) -> None:
    """T004-1: the description has 0.76 s, 0.2 s and 4.7 MB/s; judged against the published intervals."""
    puts, gets = found["fits"]["put"], found["fits"]["get"]
    assert 0.64 <= puts["latency_s"]["value"] <= 0.87
    assert 4.4e6 <= puts["rate_bytes_per_s"]["value"] <= 4.9e6
    assert 0.13 <= gets["latency_s"]["value"] <= 0.28
    assert 4.6e6 <= gets["rate_bytes_per_s"]["value"] <= 5.1e6
    assert (puts["stratum"], gets["stratum"]) == (100, 25)
    assert puts["observations"] == 244


def test_the_intervals_of_the_fit_are_too_narrow_and_those_of_transfers_alone_are_not(tmp_path: Path) -> None:
    """What is printed below every fit, on fewer seeds."""
    inside: dict[str, int] = {"fastest": 0, "alone": 0}
    for seed in range(1, 9):
        log = logs.read(logs.write("llnl-unitree", tmp_path / str(seed), to="transfers", seed=seed))
        puts = logs.analyse(log)["fits"]["put"]
        for name, line in (("fastest", puts), ("alone", puts["alone"])):
            rate = line["rate_bytes_per_s"]
            inside[name] += rate["from"] <= 4.7e6 <= rate["to"]
    assert inside["fastest"] == 0
    assert inside["alone"] >= 6


def test_a_constant_latency_is_recovered_exactly_from_transfers_that_met_no_other(tmp_path: Path) -> None:
    known = description.load("llnl-unitree")
    assert known.transfers is not None
    steady = dataclasses.replace(known, transfers=dataclasses.replace(known.transfers, jitter=0.0))
    alone = logs.analyse(logs.read(logs.write(steady, tmp_path, to="transfers")))["fits"]["put"]["alone"]
    assert alone["latency_s"]["value"] == pytest.approx(0.76, abs=1e-4)
    assert alone["rate_bytes_per_s"]["value"] == pytest.approx(4.7e6, rel=1e-4)


def test_the_fastest_of_each_stratum_is_taken() -> None:
    frame = pl.DataFrame({"bytes": [5, 1, 2, 3, 4, 6, 7], "seconds": [9.0, 3.0, 1.0, 2.0, 5.0, 4.0, 8.0]})
    assert envelope(frame, 3).rows() == [(2, 1.0), (6, 4.0)]  # The seventh is less than half a stratum.
    assert envelope(frame, 2).rows() == [(2, 1.0), (3, 2.0), (6, 4.0), (7, 8.0)]


@pytest.mark.parametrize("sizes", [[], [1], [1, 2], [7, 7, 7, 7]])
def test_no_line_goes_through_too_few_points(sizes: list[int]) -> None:
    frame = pl.DataFrame({"bytes": sizes, "seconds": [float(at) for at in range(len(sizes))]})
    assert fit(frame) is None


def test_a_line_without_errors_and_one_that_falls_have_no_infinite_numbers() -> None:
    exact = fit(pl.DataFrame({"bytes": [0, 10, 20], "seconds": [1.0, 2.0, 3.0]}))
    assert exact is not None
    assert exact["rate_bytes_per_s"]["value"] == pytest.approx(10)
    falling = fit(pl.DataFrame({"bytes": [0, 10, 20], "seconds": [3.0, 2.0, 0.0]}))
    assert falling is not None
    assert falling["rate_bytes_per_s"] is None
    json.dumps([exact, falling], allow_nan=False)


def transfers(rows: list[tuple[float, float]]) -> pl.DataFrame:
    begin = datetime(2024, 1, 1)
    frame = pl.DataFrame(
        {"time": [begin + timedelta(seconds=at) for at, _ in rows], "seconds": [taken for _, taken in rows]}
    )
    return frame.sort("time")


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), min_size=1, max_size=30), st.integers(1, 30))
@settings(max_examples=100, deadline=None)
def test_concurrency_is_what_counting_finds(rows: list[tuple[int, int]], batch: int) -> None:
    rows = sorted(rows)
    frame = transfers([(float(at), float(taken)) for at, taken in rows])
    sweep = concurrency.Sweep(frame.lazy())
    for part in frame.iter_slices(batch):
        sweep.add(part)
    told = sweep.found()
    instants = range(71)
    levels = [sum(at <= instant < at + taken for at, taken in rows) for instant in instants]
    if told is None:
        assert max(levels) == 0
        assert len({at for at, _ in rows}) == 1
        return
    assert told["most"] == max(levels)
    first, last = min(at for at, _ in rows), max(at + taken for at, taken in rows)
    assert told["mean"] == pytest.approx(sum(taken for _, taken in rows) / (last - first))
    assert sum(share for _, share in told["share_of_time"]) == pytest.approx(1)
    assert sum(at * share for at, share in told["share_of_time"]) == pytest.approx(told["mean"])
    assert max(most for _, most in told["over_time"]) == max(levels)
    begun = [sum(one <= at < one + lasting for one, lasting in rows) for at, _ in rows]
    assert (told["operations"], told["began_at_most"]) == (len(rows), begun.count(told["most"]))
    free = pl.concat(concurrency.alone(frame.iter_slices(batch)))["alone"]
    for (at, taken), is_alone in zip(rows, free, strict=True):
        others = list(rows)
        others.remove((at, taken))
        met = any(one < at + taken and at < one + lasting for one, lasting in others if lasting and taken)
        assert not met or not is_alone
    assert free.to_list() == pl.concat(concurrency.alone([frame]))["alone"].to_list()


def test_filters_count_what_each_removed() -> None:
    frame = pl.DataFrame(
        {
            "op": ["put", "put", "get", "stage", "put", "put", "put", "put"],
            "outcome": ["done", "failed", "done", "done", "done", "done", "done", "done"],
            "bytes": [10, 20, 40, None, 80, 160, None, 320],
            "seconds": [0.499, 5.0, 7.0, 60.0, 0.0, 12.0, 3.5, 3.25],
            "staged": [None, None, True, None, None, None, None, None],
            "stage_s": [None, None, 90.0, None, None, None, None, None],
        },
        schema_overrides={"staged": pl.Boolean, "stage_s": pl.Float64},
    )
    kept, told = filters.passed(frame, filters.of_transfers(rounded=True))
    assert {one.rule: (one.removed, one.removed_bytes) for one in told} == {
        "neither get nor put": (1, 0),
        "not done": (1, 20),
        "no size or no time taken": (1, 0),
        "read from tape, and its time may contain that": (0, 0),
        "rounded by FTP: 0.499 s, or whole seconds below 10": (2, 50),
        "0 s taken": (1, 80),
    }
    assert kept["bytes"].to_list() == [160, 320]
    assert told[-1].left == 2
    assert len(filters.of_transfers(rounded=False)) == 5


def test_a_staging_that_failed_is_none(tmp_path: Path) -> None:
    lines = ["00:00:00,recall,f1,4000,100,OK", "00:10:00,recall,f2,4000,0.5,ERROR", "00:20:00,recall,f2,4000,100,OK"]
    (tmp_path / "log.csv").write_text(
        "\n".join(["when,op,file,bytes,secs,rc", *(f"2025-01-01 {line}" for line in lines), ""])
    )
    columns = {"time": "when", "op": "op", "file": "file", "bytes": "bytes", "seconds": "secs", "outcome": "rc"}
    [day] = logs.analyse(logs.read([tmp_path / "log.csv"], columns=columns))["days"]
    assert (day["staged"], day["staged_bytes"], day["failed"]) == (2, 8000, 1)


def test_a_mixture_of_exponential_times_is_recovered() -> None:
    dice = np.random.default_rng(2)
    x = 60 + np.where(dice.random(20_000) < 0.3, dice.exponential(5, 20_000), dice.exponential(200, 20_000))
    found = fitted(x, 60.0, 2)
    assert found.means == pytest.approx([5, 200], rel=0.05)
    assert found.shares == pytest.approx([0.3, 0.7], abs=0.02)
    cut = dice.exponential(21, 100_000)
    assert truncated_mean(cut[cut < 60], 60.0) == pytest.approx(21, rel=0.05)


def papers(dice: np.random.Generator, count: int) -> Any:
    """Draw times by the paper's own rule: Appendix A, section 6."""
    low = 60 - 21 * np.log1p(-dice.random(count) * -np.expm1(-60 / 21))
    return np.floor(np.where(dice.random(count) <= 0.224, low, 120 + dice.exponential(30, count)))


def test_the_papers_form_fits_what_is_drawn_from_it() -> None:
    """T004-7: its share, break and means come back, and so do its exact quantiles."""
    told = staging.staging(papers(np.random.default_rng(5), 5000))
    assert told is not None
    assert told["best"] == staging.PAPERS
    assert told["break_s"] == 120
    below, above = next(law["parts"] for law in told["laws"] if law["law"] == told["best"])
    assert below["share"] == pytest.approx(0.224, abs=0.02)
    assert below["mean_s"] == pytest.approx(21, rel=0.15)
    assert above["mean_s"] == pytest.approx(30, rel=0.05)
    assert "2 branches, 1 exponential above (the paper's form): fits" in told["verdict"]
    published = dict(zip(staging.QUANTILES, [60.90, 64.96, 71.47, 133.19, 181.47, 202.26, 250.55], strict=True))
    assert {share: pytest.approx(value, rel=0.05) for share, value in published.items()} == dict(
        next(law["quantiles_s"] for law in told["laws"] if law["law"] == told["best"])
    )


def test_the_papers_form_does_not_fit_the_published_times(found: Json) -> None:
    """X004-1: times with the published quantiles need more exponential times above the break."""
    told = found["staging"]
    assert told["break_s"] == 120
    assert told["best"] != staging.PAPERS
    assert "(the paper's form): does not fit" in told["verdict"]
    off = {law["law"]: law["distance"] for law in told["laws"]}
    # One log in twenty is rejected by chance, whatever fits: how far off is what tells them apart.
    assert off[told["best"]] < off[staging.PAPERS] / 4


def test_few_or_equal_times_are_not_fitted() -> None:
    assert staging.staging(np.array([60.0] * 100)) is None
    assert staging.staging(np.arange(10.0)) is None
    json.dumps(staging.staging(np.array([60.0] * 60 + [61.0] * 40)), allow_nan=False)


def test_the_log_of_a_real_library_says_what_is_known_of_it(measured_data: Path) -> None:
    found = logs.analyse(logs.read([measured_data / "tape-ecmwf" / "io_events_sample_250k.csv.bz2"]))
    sessions = found["sessions"]
    assert sessions["offered"] == pytest.approx(66.8, abs=0.05)
    assert sessions["per_hour"] == pytest.approx(593, abs=0.5)
    assert (sessions["cartridges"], sessions["most"], sessions["overlapping"]) == (7022, 119, 0)
    assert found["transfers"] is None
    assert found["fits"] == {}
    assert sum(day["sessions"] for day in found["days"]) == 250_000


def fields(value: Any, path: str = "") -> set[str]:
    """Return the paths of all fields, those in lists as `[]`."""
    if isinstance(value, dict):
        inner = {f"{path}.{name}".lstrip(".") for name in value}
        return inner.union(*(fields(one, f"{path}.{name}") for name, one in value.items()))
    return set().union(*(fields(one, f"{path}[]") for one in value)) if isinstance(value, list) else set()


def test_every_field_is_documented_and_no_other(found: Json, measured_data: Path) -> None:
    library = logs.analyse(logs.read([measured_data / "tape-ecmwf" / "io_events_sample_250k.csv.bz2"]))
    odd = {"odd": [{"what": "", "count": 0, "first": "", "note": ""}]}
    names = fields(found) | fields(library) | fields(odd)
    names = {re.sub(r"^(fits|delays)\.(put|get)", r"\1.*", name) for name in names}
    same = ("fits.*.alone.", "staging.cdf.", "rules.", "sessions.share_of_time", "sessions.over_time")
    names = {name for name in names if not name.startswith(same)}
    page = (ROOT / "docs" / "guides" / "logs.md").read_text().partition("## As JSON")[2]
    assert {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")} == names


def test_the_command_prints_writes_and_reports(headrace: Run, made: list[Path], tmp_path: Path) -> None:
    ran = headrace("logs", "analyse", *made, "--report", tmp_path / "page.html", "--fit-up-to", "100 MB")
    assert ran.returncode == 0, ran.stderr
    assert "24,441 puts and 3,061 gets in 14 days, 465 GB" in ran.stdout
    assert "This log is synthetic" in ran.stdout
    assert "far too narrow" in " ".join(ran.stdout.split())
    page = without_scripts(tmp_path / "page.html")
    assert page.count("<svg") == 7
    assert "far too narrow" in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--strata", "7"], "is not PUTS,GETS"),
        (["--blocks", "0,5"], "is not PUTS,GETS"),
        (["--fit-up-to", "much"], "--fit-up-to"),
        (["--break", "soon"], "--break"),
        (["--max-file", "much"], "--max-file"),
    ],
)
def test_an_option_with_a_mistake_is_refused(headrace: Run, made: list[Path], arguments: list[str], said: str) -> None:
    ran = headrace("logs", "analyse", made[0], *arguments, columns=200)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("seed", range(40))
def test_any_log_is_analysed_and_shown(tmp_path: Path, seed: int) -> None:
    """Small and strange logs: few lines, equal sizes, zeros, failures, times that run backwards."""
    dice = random.Random(seed)
    lines = ["time_s,op,user,host,file,bytes,seconds,stage_s,outcome"]
    for _ in range(dice.choice([1, 2, 5, 60, 400])):
        size = dice.choice([0, 1, 4096, dice.randrange(2**40), 2**62])
        taken = dice.choice(["", "0", "0.499", "1", "3.25", str(dice.expovariate(0.1)), "100000"])
        stage = dice.choice(["", "", "60", str(60 + dice.expovariate(0.02))])
        op = dice.choice(["get", "put", "stage", "migrate", "delete", "session"])
        outcome = dice.choice(["done", "done", "done", "failed"])
        lines.append(
            f"{dice.choice([0, 5, dice.random() * 1e6])},{op},u,h,f{size % 7},{size},{taken},{stage},{outcome}"
        )
    (tmp_path / "log.csv").write_text("\n".join(lines))
    named = {name: name for name in ("op", "user", "host", "file", "bytes", "seconds", "stage_s", "outcome")}
    try:
        log = logs.read([tmp_path / "log.csv"], columns=named | {"time": "time_s"})
    except ScenarioError as error:
        pytest.fail(str(error))
    found = logs.analyse(log, strata={"put": dice.choice([1, 5]), "get": 2}, blocks={"put": 3, "get": 3})
    json.dumps(found, allow_nan=False)
    from headrace.view.terminal import report as terminal

    terminal.show(logs.report(found))
    logs.report(found, tmp_path / "page.html")
    assert "<svg" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("width", [420, 1400])
def test_a_browser_shows_the_page(browser: Any, found: Json, tmp_path: Path, width: int) -> None:
    logs.report(found, tmp_path / "page.html", title="archive")
    tab, wrong = opened(browser, tmp_path / "page.html", width)
    tab.locator("figure.chart.live").nth(6).wait_for()
    assert wrong == []
    tab.close()


def test_days_are_those_of_the_log(found: Json) -> None:
    assert [day["day"] for day in found["days"]] == [str(date(1998, 5, 1) + timedelta(days=at)) for at in range(14)]
    assert sum(day["puts"] for day in found["days"]) == 24441
    assert sum(day["staged"] for day in found["days"]) == 999


def test_on_80_columns_no_percentile_is_left_out(headrace: Run, made: list[Path]) -> None:
    ran = headrace("logs", "analyse", *made, columns=80)
    assert ran.returncode == 0, ran.stderr
    assert "left out:" not in ran.stdout
    shown = {line.split()[0] for line in ran.stdout.splitlines() if line.strip()}
    assert {"min", "p1", "p5", "p10", "p50", "p90", "p95", "p99", "max"} <= shown
    assert max(map(len, ran.stdout.splitlines())) <= 80


def test_a_long_log_is_shown_by_months_and_a_choice_of_blocks(found: Json) -> None:
    day, block = found["days"][0], found["delays"]["put"][0]
    many = [day | {"day": str(date(2024, 1, 1) + timedelta(days=at))} for at in range(100)]
    blocks = [block | {"mean_bytes": float(at)} for at in range(1000)]
    tables = reports.shown(found | {"days": many, "delays": {"put": blocks}})
    columns, rows = tables["by month"]
    assert columns[0] == "month"
    assert [row[0] for row in rows] == ["2024-01", "2024-02", "2024-03", "2024-04"]
    assert rows[0][1] == f"{31 * day['puts']:,}"
    _, shown = tables["delay of puts beyond that, by size (40 of 1,000 blocks)"]
    assert (len(shown), shown[0][0], shown[-1][0]) == (40, "0 B", "999 B")


def test_transfers_that_met_no_other_have_no_narrow_intervals(tmp_path: Path) -> None:
    rows = "".join(
        f"2024-03-{1 + at // 20:02}T{at % 20:02}:00:00Z,{10**9 * (at + 1)},{2 + 10 * (at + 1)}\n" for at in range(200)
    )
    file = tmp_path / "alone.csv"
    file.write_text("when,size,took\n" + rows)
    found = logs.analyse(logs.read([file], columns={"time": "when", "bytes": "size", "seconds": "took"}))
    assert found["transfers"]["most"] == 1
    assert found["fits"]
    assert reports.NARROW not in reports.notes(found)
    logs.convert(logs.read([file], columns={"time": "when", "bytes": "size", "seconds": "took"}), tmp_path / "c.yaml")
    text = (tmp_path / "c.yaml").read_text()
    assert "the number of drives, the rate of drives, the time of a load" in " ".join(text.replace("#", " ").split())
    # Nothing in the log was on tape, so that no file older than it is.
    assert "unseen: disk" in text


def test_drives_are_those_that_had_a_session_at_once(tmp_path: Path) -> None:
    """Three sessions of a drive, one after another, each with a file that is written meanwhile."""
    rows = "".join(f"{at * 100},session,V{at},1000,90\n{at * 100 + 10},migrate,f{at},1000,50\n" for at in range(3))
    (tmp_path / "one.csv").write_text("time_s,op,file,bytes,seconds\n" + rows)
    named = {"time": "time_s", "op": "op", "file": "file", "bytes": "bytes", "seconds": "seconds"}
    log = logs.read([tmp_path / "one.csv"], columns=named)
    text = scenario.of(log, replayed.Operations(log.rows, sessions_alone=True), "ops.csv", tmp_path / "one.yaml")
    assert "{drives: 1, arms: 2}" in text


def queued(
    servers: int, busy: float, times: np.ndarray[Any, Any], *, in_order: bool = True, after: float = 0.0
) -> list[tuple[float, float]]:
    """Return when each of these was asked for and when it ended: served in order, or at random.

    For a time `after` each, its server takes no other.
    """
    dice, ended, free, waiting, now = np.random.default_rng(7), {}, [0.0] * servers, list[int](), 0.0
    asked = np.cumsum(dice.exponential(times.mean() / servers / busy, len(times)))
    coming = list(range(len(times)))
    while coming or waiting:
        now = max(now, min(free))
        if not waiting:
            now = max(now, asked[coming[0]])
        while coming and asked[coming[0]] <= now:
            waiting.append(coming.pop(0))
        one = waiting.pop(0 if in_order else int(dice.integers(len(waiting))))
        ended[one] = now + times[one]
        free[free.index(min(free))] = ended[one] + after
    return [(float(asked[at]), float(ended[at])) for at in range(len(times))]


def recalls(tmp_path: Path, found: list[tuple[float, float]]) -> logs.Log:
    rows = [f"{begin:.6f},{end:.6f},stage,{1000 + at},f{at}" for at, (begin, end) in enumerate(found)]
    (tmp_path / "recalls.csv").write_text("\n".join(["asked,ended,op,size,name", *rows, ""]))
    columns = {"time": "asked", "end": "ended", "op": "op", "bytes": "size", "file": "name"}
    return logs.read([tmp_path / "recalls.csv"], columns=columns)


@pytest.mark.parametrize("servers", [1, 2, 5, 12])
@pytest.mark.parametrize("busy", [0.6, 0.9])
def test_drives_are_found_behind_recalls_that_wait(tmp_path: Path, servers: int, busy: float) -> None:
    times = np.random.default_rng(servers).lognormal(4.5, 0.6, 2000)
    found = drives(recalls(tmp_path, queued(servers, busy, times)))
    assert found is not None
    assert found.count == servers
    assert found.held is not None
    assert found.held["seconds"].to_numpy() == pytest.approx(times, abs=1e-4)


def test_what_a_drive_does_after_a_recall_is_found(tmp_path: Path) -> None:
    """It shows in the times of those that waited alone."""
    times = np.random.default_rng(3).lognormal(4.5, 0.4, 4000)
    found = drives(recalls(tmp_path, queued(2, 0.6, times, after=40.0)))
    assert found is not None
    assert found.held is not None
    assert found.count == 2
    assert found.after_s == pytest.approx(40, abs=5)
    assert found.held["seconds"].mean() == pytest.approx(times.mean(), rel=0.03)


@given(st.lists(st.tuples(st.integers(1, 6), st.none() | st.integers(1, 9)), max_size=40))
def test_stack_distances_are_those_of_files_used_since(uses: list[tuple[int, int | None]]) -> None:
    found = stack_distances([file for file, _ in uses], [size for _, size in uses])
    for at, (file, size) in enumerate(uses):
        before = [one for one in range(at) if uses[one][0] == file]
        if not before or size is None or uses[before[-1]][1] is None:
            assert found[at] is None
            continue
        between = dict(uses[before[-1] + 1 : at])
        assert found[at] == sum(one for one in between.values() if one is not None) + size


def test_a_log_with_a_pool_makes_a_scenario_that_runs_as_it_did(tmp_path: Path) -> None:
    """Recalls by two drives, of files that a pool of forty has or has not: as many come from tape in the replay."""
    dice, pool, rows, free = random.Random(5), list[int](), [], [0.0, 0.0]
    for at in range(1500):
        file, now = int(dice.expovariate(0.02)), 60.0 * at
        if file not in pool:
            begin = max(now, min(free))
            end = begin + dice.uniform(60, 110)
            free[free.index(min(free))] = end
            rows.append(f"{now},{end},stage,{10**9},f{file}")
        pool = [*(one for one in pool if one != file), file][-40:]
    (tmp_path / "log.csv").write_text("\n".join(["asked,ended,op,size,name", *rows, ""]))
    columns = {"time": "asked", "end": "ended", "op": "op", "bytes": "size", "file": "name"}
    logs.convert(logs.read([tmp_path / "log.csv"], columns=columns), tmp_path / "replay.yaml")
    text = (tmp_path / "replay.yaml").read_text()
    assert "the size of the pool (" in " ".join(text.replace("#", " ").split())
    results = load(tmp_path / "replay.yaml").run()
    [recalls] = [one["operations"]["recall"] for one in results.data["streams"]]
    assert recalls["count"] == pytest.approx(len(rows), rel=0.05)
    [tapes] = [one for one in results.data["components"] if one["path"] == "tapes"]
    assert tapes["utilisation"] == pytest.approx(85 * len(rows) / (60 * 1500) / 2, rel=0.1)


def test_no_size_of_a_pool_tells_equal_distances_apart(tmp_path: Path) -> None:
    """Two files in turn: half of the reads come from tape, and all have the same distance."""
    rows = [f"{at},get,1000,f{at % 2},{int(at > 40)}" for at in range(82)]
    (tmp_path / "log.csv").write_text("\n".join(["time,op,bytes,file,staged", *rows, ""]))
    columns = {name: name for name in ("time", "op", "bytes", "file", "staged")}
    assert pool_size(replayed.Operations(logs.read([tmp_path / "log.csv"], columns=columns).rows)) is None


def test_recalls_that_take_less_the_larger_they_are_tell_no_rate(tmp_path: Path) -> None:
    rows = [f"{1000 * at},{1000 * at + 100 - at // 30},stage,{10**9 * (1 + at // 30)},f{at}" for at in range(90)]
    (tmp_path / "log.csv").write_text("\n".join(["asked,ended,op,size,name", *rows, ""]))
    columns = {"time": "asked", "end": "ended", "op": "op", "bytes": "size", "file": "name"}
    log = logs.read([tmp_path / "log.csv"], columns=columns)
    text = scenario.of(log, replayed.Operations(log.rows), "ops.csv", tmp_path / "one.yaml")
    assert "drive_rate: 300.000 MB/s" in text


@pytest.mark.parametrize("room", [40, 90])
def test_a_pool_is_as_large_as_what_was_found_in_it(tmp_path: Path, room: int) -> None:
    """Files of 1 GB, the popular ones read again and again; the pool has the last `room` that were used."""
    dice, pool, rows = random.Random(4), list[int](), []
    for at in range(3000):
        file = int(dice.expovariate(0.02))
        rows.append(f"{at},get,{10**9},f{file},{int(file not in pool)}")
        pool = [*(one for one in pool if one != file), file][-room:]
    (tmp_path / "log.csv").write_text("\n".join(["time,op,bytes,file,staged", *rows, ""]))
    columns = {name: name for name in ("time", "op", "bytes", "file", "staged")}
    found = pool_size(replayed.Operations(logs.read([tmp_path / "log.csv"], columns=columns).rows))
    assert found is not None
    assert found.bytes == pytest.approx((room + 0.5) * 1e9)
    assert found.agreeing == 1
    # A scenario has such a pool, with each chain as large as several files.
    sized = scenario.Pool(found.bytes, found.largest, "", [], [])
    assert sized.chains(100) * scenario.LARGEST * 10**9 <= found.bytes
    assert sized.chains(100) * sized.volume(100) == pytest.approx(found.bytes, rel=0.01)
    # Files that come from tape at random tell of no such pool.
    rows = [f"{row[:-1]}{dice.randrange(2)}" for row in rows]
    (tmp_path / "log.csv").write_text("\n".join(["time,op,bytes,file,staged", *rows, ""]))
    assert pool_size(replayed.Operations(logs.read([tmp_path / "log.csv"], columns=columns).rows)) is None


def test_drives_are_not_told_where_recalls_wait_in_another_order(tmp_path: Path) -> None:
    times = np.random.default_rng(1).lognormal(4.5, 0.6, 2000)
    log = recalls(tmp_path, queued(3, 0.9, times, in_order=False))
    found = drives(log)
    assert found is not None
    assert found.count is None
    text = scenario.of(log, replayed.Operations(log.rows), "ops.csv", tmp_path / "one.yaml")
    assert "Set `drives`" in text
    assert "{drives: 2}" in text


def test_there_are_no_more_drives_than_their_names(tmp_path: Path) -> None:
    """Forty recalls that are asked for at once, of which two movers read one each at a time."""
    line = (
        "{at:%H:%M:%S} n1 2492 ann I ENCP  MSG_TYPE=ENCP_XFER  read_from_hsm /pnfs/f{n} -> /dev/null: 104857600 bytes "
        "copied from ST{n} at 10 MB/S (10 MB/S network) mover=m{mover}.mover elapsed={elapsed} {{}}"
    )
    begin = datetime(2024, 3, 1, 12)
    done = [(n, 60 * (n // 2 + 1)) for n in range(40)]
    lines = [line.format(at=begin + timedelta(seconds=s), n=n, mover=n % 2, elapsed=s) for n, s in done]
    (tmp_path / "LOG-2024-03-01").write_text("\n".join([*lines, ""]))
    log = logs.read([tmp_path / "LOG-2024-03-01"])
    found = drives(log)
    assert found is not None
    assert found.count == 2
    assert found.held is not None
    # The drive of a recall reads until all has been sent.
    assert found.held["seconds"].to_list() == pytest.approx([60.0] * 40)
    assert logs.analyse(log)["transfers"]["most"] == 2


def test_few_recalls_have_as_many_drives_as_went_on_at_once(tmp_path: Path) -> None:
    found = drives(recalls(tmp_path, [(10.0 * at, 10.0 * at + 25) for at in range(FEWEST - 1)]))
    assert found is not None
    assert (found.count, found.held) == (3, None)


def test_where_a_log_says_when_drives_began_recalls_wait_for_none(tmp_path: Path) -> None:
    """Three recalls that are asked for at once, and read one after another."""
    rows = "".join(f"0,{60 * at},{60 * at + 60},recall,1000\n" for at in range(3))
    (tmp_path / "begun.csv").write_text("asked,begun,ended,op,size\n" + rows)
    columns = {"requested": "asked", "time": "begun", "end": "ended", "op": "op", "bytes": "size"}
    found = drives(logs.read([tmp_path / "begun.csv"], columns=columns))
    assert found is not None
    assert found.count == 1


@given(st.lists(st.tuples(st.floats(0, 1e4), st.floats(1e-3, 1e3)), min_size=1, max_size=40), st.integers(1, 50))
@settings(deadline=None)
def test_with_as_many_drives_as_recalls_none_waits(found: list[tuple[float, float]], more: int) -> None:
    found = sorted(found)
    begin = np.array([begin for begin, _ in found])
    end = begin + np.array([taken for _, taken in found])
    assert held(begin, end, len(found) + more) == pytest.approx(end - begin)
    times = [held(begin, end, count).sum() for count in range(1, len(found) + 1)]
    assert all(fewer <= more + 1e-6 for fewer, more in pairwise(times))
    assert 1 <= fewest_varying(begin, end, len(found)) <= len(found)


def test_gets_whose_time_may_contain_the_tape_are_not_fitted(tmp_path: Path) -> None:
    dice = random.Random(2)
    sizes = [int(10 ** dice.uniform(8, 10)) for _ in range(400)]
    rows = [
        f"{100 * at},get,{size},{0.2 + size / 200e6 + (dice.expovariate(0.01) if at % 2 else 0)},{at % 2}"
        for at, size in enumerate(sizes)
    ]
    (tmp_path / "log.csv").write_text("\n".join(["time,op,bytes,seconds,staged", *rows, ""]))
    columns = {name: name for name in ("time", "op", "bytes", "seconds", "staged")}
    found = logs.analyse(logs.read([tmp_path / "log.csv"], columns=columns))
    assert found["fits"]["get"]["transfers"] == 200
    assert found["fits"]["get"]["rate_bytes_per_s"]["value"] == pytest.approx(200e6, rel=0.01)
    assert found["fits"]["get"]["latency_s"]["value"] == pytest.approx(0.2, abs=0.1)


def test_each_user_has_a_row_and_the_others_one(tmp_path: Path) -> None:
    def users(rows: str) -> list[Json]:
        (tmp_path / "users.csv").write_text("when,who,what,size,took\n" + rows)
        named = {"time": "when", "user": "who", "op": "what", "bytes": "size", "seconds": "took"}
        found: list[Json] = logs.analyse(logs.read([tmp_path / "users.csv"], columns=named))["users"]
        return found

    def line(at: int, user: str, size: int) -> str:
        return f"2024-03-01T00:{at:02}:00Z,{user},{'put' if at % 2 else 'get'},{size},{at + 1}\n"

    many = users("".join(line(at, f"u{at}" if at else "", 1000 + at) for at in range(25)))
    assert [one["user"] for one in many] == [f"u{at}" for at in range(24, 4, -1)] + [None]
    assert (many[0]["bytes"], many[0]["gets"], many[0]["puts"], many[0]["response_mean_s"]) == (1024, 1, 0, 25.0)
    assert (many[-1]["users"], many[-1]["puts"], many[-1]["gets"]) == (5, 2, 3)
    assert sum(one["users"] for one in many) == 25
    two = users(line(0, "", 5) + line(1, "ann", 7))
    assert [(one["user"], one["users"]) for one in two] == [("ann", 1), ("(not named)", 1)]
    assert users(line(0, "ann", 5) + line(1, "ann", 7)) == []
    rows = reports.users({"users": many})
    assert rows[0][:5] == ["user", "puts", "gets", "moved", "response mean, s"]
    assert rows[1][-1][0] == "5 others"
    one_more = users("".join(line(at, f"u{at}", 1000 + at) for at in range(21)))
    assert reports.users({"users": one_more})[1][-1][0] == "1 other"
