"""Experiments: points, stores, engines, precision, and the questions asked of them."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Run, real_program, wait_until, without_scripts, written
from headrace import Scenario, ScenarioError, load, sweep
from headrace.experiment import Experiment, Interrupted, Point, Precision, Standing, Table, read, run, stored, varied
from headrace.experiment.capacity import capacity
from headrace.experiment.compare import compare
from headrace.experiment.engines import Dask, Local
from headrace.experiment.optimise import optimise
from headrace.experiment.query import query
from headrace.experiment.sensitivity import sensitivity
from headrace.experiment.stored import everything

CLERK = """\
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {users: {to: clerk, arrivals: {poisson: 50 /s}}}
run: {requests: 20000}
"""
RATE = "workload.users.arrivals.poisson"


@pytest.fixture
def clerk(tmp_path: Path) -> Path:
    return written(tmp_path / "clerk.yaml", CLERK)


def shown(table: Table) -> list[dict[str, object]]:
    """Return all that a table says, to be compared bit for bit."""
    return table.frame.to_dicts()


def test_points_of_every_design(clerk: Path) -> None:
    scenario = load(clerk)
    three = {"from": "10 /s", "to": "30 /s", "points": 3}
    grid = varied(scenario, {RATE: three, "run.seed": [1, 2]})
    assert len(grid.points) == 6
    listed = varied(scenario, {RATE: ["10 /s", "20 /s"], "run.seed": [1, 2]}, design="list")
    assert [dict(point.values) for point in listed.points] == [
        {RATE: "10 /s", "run.seed": 1},
        {RATE: "20 /s", "run.seed": 2},
    ]
    many = varied(
        scenario, {RATE: three, "run.seed": {"from": 1, "to": 1000}}, design={"latin_hypercube": {"points": 20}}
    )
    rates = sorted(float(str(point.values[RATE]).split()[0]) for point in many.points)
    # One in each twentieth of the range.
    assert [int((rate - 10) / 20 * 20) for rate in rates] == list(range(20))
    with pytest.raises(ScenarioError, match="as many values"):
        varied(scenario, {RATE: three, "run.seed": [1, 2]}, design="list")
    with pytest.raises(ScenarioError, match=r"there is no `run\.seed`.* in full, such as"):
        varied(scenario, {RATE: three}, derive={"run.requests": "run.seed * 2"})


def test_an_experiment_is_read_from_a_document(headrace: Run, clerk: Path, tmp_path: Path) -> None:
    file = tmp_path / "rates.yaml"
    file.write_text(
        "experiment:\n"
        "  scenario: clerk.yaml\n"
        f"  vary: {{{RATE}: {{from: 10 /s, to: 90 /s, points: 3, scale: log}}}}\n"
        "  derive: {run.requests: 200 * 10}\n"
        "  replications: 2\n"
    )
    experiment = read(file)
    assert [point.values for point in experiment.points] == [
        {RATE: f"{rate} /s", "run.requests": 2000} for rate in (10, 30, 90)
    ]
    printed = headrace("sweep", file)
    assert printed.returncode == 0, printed.stderr
    assert re.search(r"The mean response of users is [\d.]+ ± [\d.]+ ms at poisson = 10 /s", printed.stdout)
    file.write_text(file.read_text().replace("vary", "very"))
    refused = headrace("sweep", file)
    assert refused.returncode == 2
    assert "did you mean `vary`" in refused.stderr
    assert "rates.yaml:3:3" in refused.stderr


def test_the_same_table_whoever_does_it_and_with_how_many(clerk: Path, tmp_path: Path) -> None:
    experiment = varied(load(clerk), {RATE: ["20 /s", "60 /s", "90 /s"]}, replications=3)
    alone = run(experiment, engine=Local(1))
    assert shown(run(experiment, engine=Local(4))) == shown(alone)
    for shard in range(2):
        run(experiment, store=tmp_path / "shards", shard=(shard, 2))
    assert shown(Table.stored(tmp_path / "shards")) == shown(alone)
    # The first replication of a point is the run itself, and the third the third of three.
    [seen] = [record for record in alone.of(experiment.points[1]) if record["replication"] == 2]
    itself = load(clerk).with_({RATE: "60 /s"}).run(replication=2)
    assert seen["metrics"]["users.mean_ms"] == itself.streams["mean_ms"].item()


def test_a_sweep_that_was_killed_repeats_nothing(clerk: Path, tmp_path: Path) -> None:
    folder, rates = tmp_path / "store", ",".join(f"{rate} /s" for rate in range(10, 110, 5))
    command = [str(Path(sys.executable).with_name("headrace")), "sweep", str(clerk), "--vary", f"{RATE}={rates}"]
    command += ["--set", "run.requests=400000", "--replications", "3", "--store", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    journal = folder / "journal"
    wait_until(lambda: any(file.stat().st_size > 2000 for file in journal.glob("*.jsonl")), process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    [left] = journal.glob("*.jsonl")
    with left.open("a") as file:
        file.write('{"point": "half a li')  # As a full disk, or a kill within a write, would leave it.
    _, before = everything(folder)
    assert 0 < len(before) < 60
    experiment = varied(
        load(clerk).with_({"run.requests": "400000"}),
        {RATE: [f"{rate} /s" for rate in range(10, 110, 5)]},
        replications=3,
    )
    done: list[tuple[str, int]] = []
    resumed = run(
        experiment, store=folder, watch=lambda record, *_: done.append((record["point"], record["replication"]))
    )
    assert len(done) == 60 - len(before)
    assert not {(record["point"], record["replication"]) for record in before} & set(done)
    assert resumed.complete
    assert (folder / "records.parquet").exists()
    assert not list(journal.glob("*.jsonl"))
    assert shown(resumed) == shown(run(experiment))


def test_two_processes_fill_one_store(clerk: Path, tmp_path: Path) -> None:
    folder, rates = tmp_path / "store", ",".join(f"{rate} /s" for rate in range(10, 110, 5))
    command = [str(Path(sys.executable).with_name("headrace")), "sweep", str(clerk), "--vary", f"{RATE}={rates}"]
    command += ["--set", "run.requests=300000", "--replications", "2", "--store", str(folder), "--workers", "1"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert printed[0] == printed[1]
    _, records = everything(folder)
    assert len(records) == 40


def test_another_scenario_finds_no_room_in_a_store(clerk: Path, tmp_path: Path) -> None:
    sweep(clerk, {RATE: ["20 /s"]}, replications=1, store=tmp_path / "store")
    with pytest.raises(ScenarioError, match="records of another scenario"):
        sweep(load(clerk).with_({"run.requests": 100}), {RATE: ["20 /s"]}, store=tmp_path / "store")
    # More points, and more of each, are welcome.
    more = sweep(clerk, {RATE: ["20 /s", "30 /s"]}, replications=2, store=tmp_path / "store")
    assert more.frame["replications"].to_list() == [2, 2]
    # What is asked for is reported, whatever else is there.
    fewer = sweep(clerk, {RATE: ["20 /s"]}, replications=1, store=tmp_path / "store")
    assert fewer.frame["replications"].to_list() == [1]


def test_failing_points_are_told_and_stop_no_other(headrace: Run, clerk: Path) -> None:
    ran = headrace("sweep", clerk, "--vary", f"{RATE}=20 /s,500 /s", "--vary", "system.clerk.servers=1,2", "--json")
    found = json.loads(ran.stdout)
    assert ran.returncode == 3
    assert [bool(point["failed"]) for point in found["points"]] == [False, False, True, True]
    assert "is overloaded" in found["points"][2]["failed"]
    assert "2 of 4 points failed" in found["answer"]
    # A mistake in what varies is no result.
    refused = headrace("sweep", clerk, "--vary", "system.clrk.servers=1,2")
    assert refused.returncode == 2
    assert "did you mean `clerk`" in refused.stderr
    assert headrace("sweep", clerk).returncode == 2
    assert headrace("sweep", clerk, "--vary", "nonsense").returncode == 2
    assert headrace("sweep", clerk, "--vary", f"{RATE}=1 /s", "--array-index", "3/2").returncode == 2


def test_replications_go_on_until_it_is_precise(clerk: Path) -> None:
    found = sweep(clerk, {RATE: ["20 /s", "110 /s"]}, replications=3, precision=Precision(0.02, budget=12))
    easy, hard = found.frame.iter_rows(named=True)
    assert easy["replications"] < 12
    assert easy["precise"]
    assert easy["users.mean_ms ±"] <= 0.02 * easy["users.mean_ms"]
    assert hard["replications"] == 12
    assert not hard["precise"]
    assert "1 point did not reach ±2.00% within 12 replications" in found.answer


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a real scheduler and three real workers."""
    tools = Path(sys.executable).parent
    told = tmp_path / "scheduler.json"
    scheduler = subprocess.Popen(
        [tools / "dask", "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", told],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until(lambda: told.exists() and told.read_text().endswith("}"), scheduler)
    address = json.loads(told.read_text())["address"]
    workers = [
        subprocess.Popen(
            [tools / "dask", "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=tmp_path,
        )
        for _ in range(3)
    ]
    yield address, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def test_a_cluster_gives_the_same_table_though_a_worker_dies(
    clerk: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, workers = cluster
    experiment = varied(
        load(clerk).with_({"run.requests": 200_000}),
        {RATE: [f"{rate} /s" for rate in range(10, 110, 5)]},
        replications=3,
    )
    engine = Dask(address, workers=3)
    wait_until(lambda: len(engine.client.scheduler_info()["workers"]) == 3, workers[0])
    seen = 0

    def watch(*_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == 10:
            workers[0].send_signal(signal.SIGKILL)

    found = run(experiment, engine=engine, watch=watch)
    assert workers[0].wait() == -signal.SIGKILL
    assert len(engine.client.scheduler_info()["workers"]) == 2
    engine.close()
    assert seen == 60
    assert shown(found) == shown(run(experiment))


CERTIFIED = {"CA_FILE": "cert.pem", "CLIENT__CERT": "cert.pem", "CLIENT__KEY": "key.pem"}


def certified(folder: Path) -> dict[str, str]:
    """Make a key and its certificate; return the variables by which dask's clients know them."""
    openssl = [real_program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    made = ["-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=headrace"]
    subprocess.run([*openssl, *made], check=True, capture_output=True, cwd=folder)
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(folder / file) for name, file in CERTIFIED.items()}


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Start a real scheduler and a real worker that speak TLS alone; give its address and a client's variables."""
    variables = certified(tmp_path)
    dask, told = Path(sys.executable).with_name("dask"), tmp_path / "scheduler.json"
    tls = ["--no-dashboard", "--tls-ca-file", "cert.pem", "--tls-cert", "cert.pem", "--tls-key", "key.pem"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    command = [str(dask), "scheduler", "--protocol", "tls", "--port", "0", "--scheduler-file", str(told), *tls]
    scheduler = subprocess.Popen(command, **quiet)
    wait_until(lambda: told.exists() and told.read_text().endswith("}"), scheduler)
    address = json.loads(told.read_text())["address"]
    worker = subprocess.Popen([dask, "worker", address, "--nthreads", "1", "--no-nanny", *tls], **quiet)
    yield address, variables
    for process in (worker, scheduler):
        process.kill()
        process.wait()


def test_a_cluster_is_asked_over_tls(
    headrace: Run, clerk: Path, secured: tuple[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, variables = secured
    sweep = ["sweep", clerk, "--vary", f"{RATE}=10 /s,20 /s", "--json"]
    over = [*sweep, "--engine", "dask", "--scheduler"]
    assert address.startswith("tls://")
    assert "there are no certificates for TLS" in refused(headrace(*over, address))
    assert "no scheduler answers" in refused(headrace(*over, address.replace("tls://", "tcp://")))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    ran = headrace(*over, address)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == json.loads(headrace(*sweep).stdout)
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TLS__CA_FILE", "nowhere.pem")
    assert "the certificates for TLS cannot be read" in refused(headrace(*over, address))


def refused(ran: subprocess.CompletedProcess[str]) -> str:
    """Return the message of a command that was refused."""
    assert ran.returncode == 2, ran.stderr
    assert "Traceback" not in ran.stderr
    return ran.stdout + ran.stderr


@pytest.mark.parametrize(("digits", "said"), [(400, "beyond 1.8e308"), (5000, "`inf` is neither a number")])
def test_a_range_that_ends_beyond_all_numbers_is_refused(headrace: Run, clerk: Path, digits: int, said: str) -> None:
    assert said in refused(headrace("sweep", clerk, "--vary", f"run.seed=1..{'1' * digits}/3"))


def test_a_cluster_that_is_not_there_is_said(headrace: Run, clerk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    ran = headrace("sweep", clerk, "--vary", f"{RATE}=1 /s", "--engine", "dask")
    assert ran.returncode == 2
    assert "name its address" in ran.stderr
    ran = headrace("sweep", clerk, "--vary", f"{RATE}=1 /s", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert ran.returncode == 2
    assert "no scheduler answers" in ran.stderr
    assert "Traceback" not in ran.stderr
    ran = headrace("sweep", clerk, "--vary", f"{RATE}=1 /s", "--engine", "dask", "--jobs", "slrm")
    assert "there are slurm, htcondor" in ran.stderr


SBATCH = """\
#!/bin/sh
# Stands in for Slurm: a job is a process of this machine. The script is removed as soon as it is handed in.
script=$(cat "$1")
setsid sh -c "$script" > /dev/null 2>&1 &
echo "Submitted batch job $!"
"""


def test_workers_are_started_as_jobs(clerk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [
        str(Path(sys.executable).with_name("headrace")),
        "sweep",
        str(clerk),
        "--vary",
        f"{RATE}=20 /s,40 /s",
        "--json",
    ]
    command += ["--engine", "dask", "--jobs", "slurm", "--workers", "2"]
    for name, text in {"sbatch": SBATCH, "scancel": '#!/bin/sh\nkill -- "-$1"\n'}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    unsaid = subprocess.run(command, capture_output=True, text=True, check=False)
    assert unsaid.returncode == 2
    assert "under `jobqueue.slurm`: cores, memory" in json.loads(unsaid.stdout)["problems"][0]["help"]
    monkeypatch.setenv("DASK_JOBQUEUE__SLURM__CORES", "1")
    monkeypatch.setenv("DASK_JOBQUEUE__SLURM__MEMORY", "1GB")
    by_jobs = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(by_jobs.stdout)["points"] == shown(sweep(clerk, {RATE: ["20 /s", "40 /s"]}))


def test_a_comparison_does_not_overclaim(headrace: Run, clerk: Path) -> None:
    same = compare(clerk, clerk, replications=4)
    assert all(one.difference == 0 and not one.shown for one in same.differences)
    assert "users: no difference shown" in same.answer
    # One percent less service: M/M/1 at ρ = 0.4 answers 1.66 % sooner. Unpaired runs of this length would not tell.
    found = compare(clerk, load(clerk).with_({"system.clerk.service.exponential": "7.92 ms"}), replications=8)
    [mean] = [one for one in found.differences if one.metric == "users.mean_ms"]
    assert mean.shown
    percent, half = mean.percent or (0.0, 0.0)
    assert percent == pytest.approx(-1.658, abs=2 * half)
    assert half < 0.1
    ran = headrace("compare", clerk, "--with", "system.clerk.service.exponential=7.92 ms", "--replications", 8)
    assert "faster for users than A (clerk)" in " ".join(ran.stdout.split())
    assert headrace("compare", clerk).returncode == 2


def test_the_capacity_of_a_queue_is_what_theory_says(headrace: Run, clerk: Path) -> None:
    # M/M/1 with 8 ms: the mean is 40 ms at 100 a second.
    found = capacity(load(clerk).with_({"run.requests": 100_000}), RATE, "mean(users) > 40 ms", within=0.03)
    assert found.meets
    assert found.fails
    assert found.meets.number < 100 < found.fails.number
    assert found.fails.number / found.meets.number < 1.1
    assert found.meets.busiest
    assert found.meets.busiest[0] == "clerk"
    ran = headrace("capacity", clerk, "--increase", RATE, "--until", "p99(reads) > 1 ms", "--json")
    assert ran.returncode == 3
    assert "No value" in json.loads(ran.stdout)["answer"]
    for until, says in {
        "p99(reads)": "needs a bound",
        "p98(reads) > 1 ms": "there is no `p98`",
        "p99(reads) > 1 KiB": "`1 KiB` is not a time",
        "p99(reads) > 50": "write a time such as `20 ms`",
        "p99 > 50 ms": "write `p99(NAME) > 50 ms`",
        "price < 300": "write `price(system) < 300`",
        "latency(reads) > 50 ms": "times are mean, sd, p50",
        "fast enough": "`fast enough` is not understood",
        "p99(nobody) > 1 ms": "no run has `p99` of `nobody`",
    }.items():
        refused = headrace("capacity", clerk, "--increase", RATE, "--until", until)
        assert refused.returncode == 2
        assert says in refused.stderr
    assert (
        "is not a number or quantity"
        in headrace("capacity", clerk, "--increase", "system.clerk", "--until", "mean(users) > 1 s").stderr
    )


def test_measures_of_components_are_metrics_and_objectives(headrace: Run, tmp_path: Path) -> None:
    file = tmp_path / "drive.yaml"
    file.write_text(
        "system: {drive: {type: disk, device: seagate-st32171w, positioning: mechanical}}\n"
        "workload: {users: {to: drive, arrivals: {closed: {depth: 1}}, pattern: {runs: {length: 4}}}}\n"
        "run: {requests: 2000}\n"
    )
    length = "workload.users.pattern.runs.length"
    table = sweep(file, {length: [1, 16]}, replications=2)
    never, often = table.frame["drive.read_hit_ratio"]
    assert never < 0.02
    assert often > 0.8
    until = ("--increase", length, "--until", "read_hit_ratio(drive) > 0.5", "--within", "20%", "--json")
    found = json.loads(headrace("capacity", file, *until).stdout)
    assert 1.5 < found["fails"]["number"] < found["meets"]["number"] < 3.5
    refused = headrace("capacity", file, "--increase", length, "--until", "read_hit_rate(drive) > 0.5")
    assert refused.returncode == 2
    assert "read_hit_ratio(drive)" in " ".join(refused.stderr.split())


def test_a_capacity_in_whole_numbers_ends_with_neighbours(clerk: Path) -> None:
    closed = load(clerk).with_({"workload.users.arrivals": {"closed": {"depth": 1}}})
    # Eight milliseconds each, one after the other: with n of them the mean is 8 n.
    found = capacity(closed, "workload.users.arrivals.closed.depth", "mean(users) > 60 ms")
    assert found.meets
    assert found.fails
    assert (found.meets.number, found.fails.number) == (7, 8)


def test_the_best_design_is_found_within_constraints(headrace: Run, clerk: Path, tmp_path: Path) -> None:
    busy = load(clerk).with_({RATE: "400 /s", "run.requests": 4000})
    vary = {"system.clerk.servers": {"from": 1, "to": 16}}
    found = optimise(busy, vary, minimise=["utilisation(clerk)"], trials=25, replications=2)
    assert found.front[0].point.values == {"system.clerk.servers": 16}
    # The fewest servers that answer within 10 ms on average: with 3.2 of them busy, five.
    best = optimise(busy, vary, maximise=["utilisation(clerk)"], subject_to=["mean(users) < 10 ms"], trials=25)
    assert best.front[0].point.values == {"system.clerk.servers": 5}
    both = optimise(busy, vary, minimise=["mean(users)"], maximise=["utilisation(clerk)"], trials=30, replications=2)
    assert len(both.front) > 2
    assert not any(trial.passed for trial in both.front)
    ran = headrace(
        "optimise", clerk, "--vary", "system.clerk.servers=1..4/4", "--minimise", "mean(users)", "--maximise",
        "utilisation(clerk)", "--trials", 8, "--report", tmp_path / "front.html",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "<svg" in (tmp_path / "front.html").read_text()
    assert headrace("optimise", clerk, "--vary", "system.clerk.servers=1,2").returncode == 2


def test_what_matters_is_told_from_what_does_not(headrace: Run, clerk: Path) -> None:
    vary = {
        "system.clerk.service.exponential": {"from": "2 ms", "to": "12 ms"},
        "workload.users.size": {"from": "4 KiB", "to": "64 KiB"},
    }
    for method in ("morris", "sobol"):
        found = sensitivity(load(clerk).with_({"run.requests": 2000}), vary, "mean(users)", method=method, samples=16)
        service, size = found.effects
        assert service.effect[0] > 2 * service.effect[1] > 0
        assert size.effect[0] == pytest.approx(0, abs=1e-9)
        assert "no effect shown" in found.answer
    ran = headrace(
        "sensitivity", clerk, "--metric", "mean(users)", "--vary", "system.clerk.servers=1..4/2", "--method", "x"
    )
    assert ran.returncode == 2
    assert "there are morris and sobol" in ran.stderr


def test_a_store_is_listed_asked_and_drawn(headrace: Run, clerk: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    arguments = ["sweep", clerk, "--vary", f"{RATE}=10 /s..90 /s/3", "--vary", "run.seed=1,2", "--store", folder]
    swept = headrace(*arguments, "--replications", 2)
    assert swept.returncode == 0, swept.stderr
    assert headrace("results", folder).stdout == swept.stdout
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["resolved"]["run"]["seed"] == 1
    assert manifest["resolved"]["workload"]["users"]["op"] == "read"
    asked = headrace(
        "results", folder, "--sql", 'select max("users.mean_ms") as worst, count(*) as n from points', "--json"
    )
    [row] = json.loads(asked.stdout)
    assert row["n"] == 6
    assert row["worst"] > 20
    assert "the tables are `records` and `points`" in headrace("results", folder, "--sql", "select nothing").stderr
    assert headrace("results", tmp_path).returncode == 2
    page = tmp_path / "page.html"
    drawn = headrace("report", folder, "-o", page, "--runs")
    assert drawn.returncode == 0, drawn.stderr
    text = without_scripts(page)
    assert text.count("<svg") == 4
    assert not re.search(r"(src|href)=.https?:", text)
    links = re.findall(r'href="(page-runs/[^"]+)"', text)
    assert len(links) == 6
    assert all("<svg" in (tmp_path / link).read_text() for link in links)


def test_a_notebook_shows_the_answer(clerk: Path) -> None:
    found = sweep(clerk, {RATE: ["20 /s", "80 /s"]}, replications=2)
    assert "The mean response of users is lowest" in found._repr_html_()
    assert found.frame.columns[0] == RATE


def test_a_hundred_thousand_records_are_asked_in_no_time(tmp_path: Path) -> None:
    import polars

    scenario = Scenario(CLERK)
    experiment = Experiment(scenario, (Point({RATE: "1 /s"}),), places=(RATE,))
    run(experiment, store=tmp_path)
    one = polars.read_parquet(tmp_path / "records.parquet").head(1)
    many = one.select(polars.all().repeat_by(100_000).explode()).with_columns(
        polars.int_range(100_000).alias("replication").cast(polars.Int64)
    )
    many.write_parquet(tmp_path / "records.parquet")
    digest = hashlib.sha256((tmp_path / "records.parquet").read_bytes()).hexdigest()
    stored.write_manifest(tmp_path, stored.manifest(tmp_path) | {"records": [digest]})
    columns, rows = query(tmp_path, 'select runs, "users.mean_ms" from points')
    assert columns == ["runs", "users.mean_ms"]
    assert rows[0][0] == 100_000
    assert os.path.getsize(tmp_path / "records.parquet") < 10_000_000


def test_a_store_keeps_values_as_they_were_told(clerk: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    mixed = sweep(clerk, {"workload.users.op": ["{reads: 50 %}", "read"], "system.clerk.servers": [1, 2]}, store=store)
    half = sweep(clerk, {"workload.users.op.reads": [0.5, 1]}, replications=1, store=tmp_path / "reads")
    in_any_order = sorted(shown(Table.stored(store)), key=str), sorted(shown(mixed), key=str)
    assert {str(row["workload.users.op"]) for row in in_any_order[0]} == {"{reads: 50 %}", "read"}
    assert [row["users.mean_ms"] for row in in_any_order[0]] == [row["users.mean_ms"] for row in in_any_order[1]]
    assert Table.stored(tmp_path / "reads").frame["users.mean_ms"].to_list() == half.frame["users.mean_ms"].to_list()


def test_a_store_knows_when_a_device_beside_the_scenario_changed(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "devices").mkdir()
    numbers = json.dumps({**json.loads(json.dumps(_numbers())), "name": "mine"})
    (tmp_path / "devices" / "mine.yaml").write_text(numbers)
    scenario = tmp_path / "mine-disk.yaml"
    scenario.write_text(
        "system: {spindle: {type: disk, positioning: addressed, device: mine}}\n"
        "workload: {users: {to: spindle, arrivals: {poisson: 20 /s}}}\nrun: {requests: 1000}\n"
    )
    arguments = ["sweep", scenario, "--vary", "workload.users.size=4 KiB,8 KiB", "--store", tmp_path / "store"]
    assert headrace(*arguments).returncode == 0
    (tmp_path / "devices" / "mine.yaml").write_text(numbers.replace("120 /s", "250 /s"))
    refused = headrace(*arguments)
    assert refused.returncode == 2
    assert "other devices or traces beside the scenario" in refused.stderr


def _numbers() -> dict[str, object]:
    from headrace import devices

    return devices.numbers("seagate-st3500630ns")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda store: (store / "manifest.json").write_text("{"), "is damaged"),
        (lambda store: (store / "manifest.json").write_text("{}"), "is damaged"),
        (lambda store: (store / "manifest.json").unlink(), "no manifest"),
        (lambda store: (store / "records.parquet").write_bytes(b"PAR1"), "is damaged"),
        (lambda store: (store / "journal" / "host-1-a.jsonl").write_text("garbage\n"), "has an invalid record"),
    ],
)
def test_a_damaged_store_is_said_in_words(
    headrace: Run, clerk: Path, tmp_path: Path, damage: object, says: str
) -> None:
    store = tmp_path / "store"
    arguments = ["sweep", clerk, "--vary", f"{RATE}=10 /s,20 /s", "--set", "run.requests=100", "--store", store]
    assert headrace(*arguments).returncode == 0
    assert callable(damage)
    damage(store)
    ran = headrace(*arguments)
    assert ran.returncode == 2
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr
    listed = headrace("results", store)
    assert listed.returncode == 2
    assert "Traceback" not in listed.stderr


def test_what_has_no_place_to_go_is_said_before_anything_runs(headrace: Run, clerk: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    vary = ["--vary", f"{RATE}=10 /s,20 /s"]
    foreign = headrace("sweep", clerk, *vary, "--store", tmp_path)
    assert "is no store: it has clerk.yaml" in " ".join(foreign.stderr.split())
    assert sorted(file.name for file in tmp_path.iterdir()) == ["clerk.yaml", "file"]
    assert "cannot hold a store" in headrace("sweep", clerk, *vary, "--store", tmp_path / "file").stderr
    ran = headrace("sweep", clerk, *vary, "--report", tmp_path / "none" / "page.html")
    assert ran.returncode == 2
    assert "there is no folder" in " ".join(ran.stderr.split())


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (f"{RATE}=10 /s..20 /s/1", "2 to 1,000,000 points"),
        (f"{RATE}=10 /s..20 /s", "is an invalid range"),
        (f"{RATE}=10 /s,", "an empty value"),
        ("workload.users.size=0 KiB..1 MiB/3 log", "no equal ratios"),
        ("run.replications=1,2", "cannot vary"),
        ("run.seed=1..1000000000/1000000000", "2 to 1,000,000 points"),
        ("workload.users.size=64 KiB..1 s/4", "of different kinds"),
    ],
)
def test_errors_in_what_varies_are_told(headrace: Run, clerk: Path, values: str, says: str) -> None:
    for command in (["sweep"], ["optimise", "--minimise", "mean(users)"], ["sensitivity", "--metric", "mean(users)"]):
        ran = headrace(command[0], clerk, *command[1:], "--vary", values)
        if "replications" in values and command != ["sweep"]:
            continue
        assert ran.returncode == 2, (command, ran.stdout)
        assert says in " ".join(re.sub("[│╭╮╰╯─]", " ", ran.stderr).split())
        assert "Traceback" not in ran.stderr


def test_plain_numbers_bound_what_is_counted(headrace: Run, clerk: Path, tmp_path: Path) -> None:
    ran = headrace(
        "optimise", clerk, "--vary", "system.clerk.servers=1,2,3", "--minimise", "queue(clerk)", "--subject-to",
        "requests_per_s(users) > 40", "--set", "run.requests=2000",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "servers = 3" in ran.stdout
    assert "All 3 designs tried" in ran.stdout
    impossible = headrace(
        "optimise", clerk, "--vary", "system.clerk.servers=1,0", "--minimise", "mean(users)", "--subject-to",
        "mean(users) < 1 ms", "--json",
    )  # fmt: skip
    assert impossible.returncode == 3
    answer = json.loads(impossible.stdout)["answer"]
    assert "No design meets the constraints: 1 of 1 violate `mean(users) < 1 ms`. Closest: servers = 1" in answer
    assert "1 cannot be run" in answer
    page = tmp_path / "page.html"
    assert headrace("sweep", clerk, "--vary", "system.clerk.servers=1,2", "--report", page).returncode == 0
    assert without_scripts(page).count("<svg") == 4


def interrupted_at(at: int) -> Callable[..., None]:
    """Give a watch that has someone press Ctrl-C as soon as that many runs are done."""
    seen = 0

    def watch(*_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == at:
            os.kill(os.getpid(), signal.SIGINT)

    return watch


def test_ctrl_c_keeps_what_a_sweep_has_found(clerk: Path) -> None:
    with pytest.raises(Interrupted) as stopped:
        sweep(clerk, {RATE: ["20 /s", "80 /s", "100 /s"]}, replications=3, watch=interrupted_at(4))
    found = stopped.value.found
    assert not found.complete
    # The signal is seen a run or two later.
    assert 4 <= sum(found.frame["replications"]) < 9
    assert "not run" in found.answer or "fewer runs" in found.answer


def test_ctrl_c_keeps_what_a_search_has_found(clerk: Path) -> None:
    rates = {RATE: ["20 /s", "60 /s", "100 /s"]}
    with pytest.raises(Interrupted) as stopped:
        optimise(clerk, rates, minimise=["mean(users)"], replications=3, watch=interrupted_at(8))
    assert len(stopped.value.found.trials) == 2
    assert "2 of 3 designs tried" in stopped.value.found.answer
    with pytest.raises(Interrupted) as stopped:
        capacity(clerk, RATE, "mean(users) > 1 s", watch=interrupted_at(8))
    bracket = stopped.value.found
    assert (bracket.meets.value, bracket.fails) == ("50 /s", None)
    assert "interrupted" in bracket.answer
    with pytest.raises(Interrupted) as stopped:
        sensitivity(clerk, rates | {"run.requests": [10000, 20000]}, "mean(users)", watch=interrupted_at(2))
    assert stopped.value.found is None


def test_ctrl_c_keeps_the_pairs_that_are_whole(clerk: Path) -> None:
    faster = load(clerk).with_({"system.clerk.service.exponential": "4 ms"})
    with pytest.raises(Interrupted) as stopped:
        compare(clerk, faster, replications=12, watch=interrupted_at(20))
    assert 8 <= stopped.value.found.replications < 12
    assert "faster for users" in stopped.value.found.answer
    with pytest.raises(Interrupted) as stopped:
        compare(clerk, faster, replications=12, watch=interrupted_at(6))
    assert stopped.value.found is None


def test_progress_tells_what_runs(clerk: Path) -> None:
    told: list[Standing] = []
    sweep(
        clerk,
        {RATE: ["20 /s", "80 /s"]},
        replications=4,
        engine=Local(2),
        watch=lambda _, standing: told.append(standing),
    )
    assert [(one.done, one.wanted) for one in told] == [(done, 8) for done in range(1, 9)]
    assert all(one.running <= 2 for one in told)
    assert told[0].running == 2
    assert told[-1].running == 0


def test_an_interrupted_sweep_says_what_is_kept(clerk: Path, tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("headrace")), "sweep", str(clerk), "--store", str(tmp_path / "store")]
    command += ["--vary", f"{RATE}=10 /s..100 /s/50", "--set", "run.requests=1000000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journals = tmp_path / "store" / "journal"
    wait_until(lambda: any(file.stat().st_size for file in journals.glob("*.jsonl")), process)
    process.send_signal(signal.SIGINT)
    table, said = process.communicate()
    assert process.returncode == 130
    assert "points were not run" in " ".join(table.split())
    assert "the same command resumes there" in said
    assert everything(tmp_path / "store")[1]


def test_a_capacity_that_cannot_be_told_is_not_told(clerk: Path) -> None:
    closed = load(clerk).with_({"workload.users.arrivals": {"closed": {"depth": 1}}, "run.requests": 2000})
    # One at a time takes 8 ms on average, neither more nor less.
    found = capacity(closed, "workload.users.arrivals.closed.depth", "mean(users) > 8 ms", replications=3, budget=6)
    assert found.meets is None
    assert "ndecided" in found.answer
    narrow = capacity(load(clerk).with_({"run.requests": 2000}), RATE, "mean(users) > 20 ms", within=1e-7, budget=5)
    assert narrow.meets
    assert narrow.fails
    assert narrow.meets.number < narrow.fails.number


FILLING = """
parts: {spindle: {type: disk, positioning: addressed, device: seagate-st3500630ns}}
system:
  raid: {type: controller, cache: {size: 64 MiB, writes: back}}
  volume: {type: array, level: raid0, of: spindle, disks: 2, stripe_unit: 64 KiB, controllers: [raid]}
workload: {users: {to: volume, arrivals: {poisson: 50 /s}, op: {reads: 50 %}, size: 4 KiB}}
run: {requests: 2000}
"""


def test_what_a_cache_still_holds_counts_where_nothing_has_time_for_it(tmp_path: Path) -> None:
    text = FILLING.replace("64 MiB", "1 MiB").replace("2000", "6000")
    rates = {"workload.users.arrivals.poisson": ["100 /s", "170 /s"]}
    swept = sweep(load(written(tmp_path / "filling.yaml", text)), rates, replications=2)
    shares = [swept.mean(point, "volume.undestaged") for point in swept.experiment.points]
    assert all(share and share[0] < 0.02 for share in shares)
    assert [swept.unsettled(point) for point in swept.experiment.points] == [None, "volume"]


CLOSED = """
parts:
  drive:
    type: ssd
    overwritten: 1
    device:
      like: micron-7450-pro-1920gb
      capacity: 600 MB
      flash: {block_pages: 8, erase: 38 us, over_provisioning: 7 %}
      buffer: {size: 16 MiB}
system: {drives: {type: array, level: raid0, of: drive, disks: 1, stripe_unit: 64 KiB}}
workload: {users: {to: drives, arrivals: {closed: {depth: 256}}, op: write}}
run: {requests: 60000}
"""


def test_clients_that_wait_keep_a_drive_busy_all_the_time(tmp_path: Path) -> None:
    """Their rate is what it writes: its buffer, full from the first request that counts on, hides nothing."""
    scenario = load(written(tmp_path / "closed.yaml", CLOSED))
    swept = sweep(scenario, {"workload.users.arrivals.closed.depth": ["256"]}, replications=2)
    [point] = swept.experiment.points
    assert swept.mean(point, "drives/drive.undestaged") == (0, 0)
    assert swept.mean(point, "drives/drive.utilisation") == (1, 0)
    assert swept.unsettled(point) is None


def test_decisions_on_runs_that_only_fill_a_cache_say_so(tmp_path: Path) -> None:
    scenario = load(written(tmp_path / "filling.yaml", FILLING))
    swept = sweep(scenario, {"workload.users.arrivals.poisson": ["20 /s", "40 /s"]}, replications=2)
    assert [swept.unsettled(point) for point in swept.experiment.points] == ["volume", "volume"]
    assert any("2 points a component was not yet in steady state" in note for note in swept.notes)
    found = capacity(scenario, "workload.users.arrivals.poisson", "mean(users) > 20 ms", replications=2, budget=4)
    assert not any(probe.unsettled for probe in found.probes if probe.meets)
    assert re.search(r"volume was not yet in steady state at \d+ values from .*/s: lengthen the run", found.answer), (
        found.answer
    )
    compared = compare(scenario, scenario.with_({"parts.spindle.device": "seagate-st32171w"}), replications=2)
    assert "in A and B a component was not yet in steady state: longer runs may be slower" in compared.answer
    rates = {"workload.users.arrivals.poisson": ["20 /s", "40 /s"]}
    best = optimise(scenario, rates, minimise=["mean(users)"], replications=2)
    assert "volume was not yet in steady state: longer runs may be slower." in best.answer
    effects = sensitivity(scenario, rates, "mean(users)", samples=2)
    assert "In 2 of them a component was not yet in steady state: longer runs may show other effects." in effects.answer


def test_a_drive_that_collects_no_garbage_yet_is_not_in_steady_state(tmp_path: Path) -> None:
    text = """
system: {drive: {type: ssd, device: micron-7450-pro-1920gb, overwritten: 0}}
workload: {users: {to: drive, arrivals: {poisson: 50000 /s}, size: 4 KiB, op: write}}
run: {requests: 10000}
"""
    fresh = load(written(tmp_path / "fresh.yaml", text))
    swept = sweep(fresh, {"system.drive.overwritten": [0, 1], RATE: ["100 /s", "50000 /s"]}, replications=2)
    found = {tuple(point.values.values()): swept.unsettled(point) for point in swept.experiment.points}
    # A drive that is hardly busy has time for it.
    assert found == {(0, "100 /s"): None, (0, "50000 /s"): "drive", (1, "100 /s"): None, (1, "50000 /s"): None}
    compared = compare(fresh, fresh.with_({"system.drive.overwritten": 1}), replications=2)
    assert "in A a component was not yet in steady state: longer runs may be slower" in compared.answer


def test_checkpoints_that_end_by_themselves_are_judged_as_they_are(tmp_path: Path) -> None:
    """A fresh drive does not collect garbage during them, and need not."""
    steps = "{accelerators: 4, batch: 0, compute: 1 s, epochs: 2, checkpoint: {every: 1, size: 40 MB, in_flight: 8}}"
    text = f"""
parts: {{drive: {{type: ssd, device: micron-7450-pro-1920gb}}}}
system: {{disks: {{type: array, level: raid0, of: drive, disks: 2, stripe_unit: 1 MiB}}}}
workload: {{training: {{to: disks, size: 1 MiB, arrivals: {{steps: {steps}}}}}}}
run: {{requests: 1000, warm_up: none}}
"""
    scenario = load(written(tmp_path / "s.yaml", text))
    found = capacity(scenario, "system.disks.disks", "checkpoint(training) < 50 ms", most=8, replications=2)
    assert [probe.unsettled for probe in found.probes if probe.unsettled] == []
    assert "undecided" not in found.answer


def test_extremes_of_many_equal_points_show_no_difference(clerk: Path) -> None:
    found = sweep(load(clerk).with_({"run.requests": 500}), {"run.seed": list(range(1, 31))}, replications=5)
    assert "that difference is not significant" in found.answer


def test_points_of_one_run_each_are_not_said_to_be_equal(clerk: Path) -> None:
    quick = load(clerk).with_({"run.requests": 500})
    found = sweep(quick, {"run.seed": [1, 2, 3]}, replications=1)
    assert found.answer.endswith("With one run each, it was not tested whether they differ."), found.answer
    by_load = sweep(quick, {RATE: ["20 /s", "40 /s"], "run.seed": [1, 2]}, replications=1)
    assert by_load.answer.endswith("With one run each, it was not tested whether they differ."), by_load.answer
    assert "not shown to differ" not in by_load.answer


def test_the_job_array_of_the_guide_runs_every_point(tmp_path: Path) -> None:
    """Slurm's variables are set as `sbatch` sets them; a `headrace` that comes first in the path makes runs short."""
    guide = (ROOT / "docs" / "guides" / "cluster.md").read_text()
    found = re.search(r"```sh\n(#!/bin/bash\n.*?)```", guide, re.DOTALL)
    assert found
    (tmp_path / "sweep.sbatch").write_text(found[1])
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    program = Path(sys.executable).with_name("headrace")
    short = tmp_path / "bin" / "headrace"
    short.parent.mkdir()
    short.write_text(f'#!/bin/bash\nexec {program} "$@" --set run.requests=300 --replications 1\n')
    short.chmod(0o755)
    for task in (0, 15):
        slurm = {"SLURM_SUBMIT_DIR": str(tmp_path), "SLURM_ARRAY_TASK_ID": str(task), "SLURM_CPUS_PER_TASK": "4"}
        path = {"PATH": f"{short.parent}:{os.environ['PATH']}"}
        ran = subprocess.run(
            ["bash", tmp_path / "sweep.sbatch"],
            env=os.environ | slurm | path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
    assert len(list(Table.stored(tmp_path / "kept").experiment.points)) == 2


def test_points_that_failed_stand_in_the_heat_map(tmp_path: Path) -> None:
    clerk = "system: {clerk: {type: station, service: {exponential: 8 ms}}}\n"
    scenario = Scenario(
        f"{clerk}workload: {{users: {{to: clerk, arrivals: {{poisson: 50 /s}}}}}}\nrun: {{requests: 500}}"
    )
    loads = {"workload.users.arrivals.poisson": ["50 /s", "500 /s"], "system.clerk.servers": [1, 2]}
    found = sweep(scenario, loads, replications=2)
    assert len(found.failed) == 2
    found.report(tmp_path / "page.html")
    page = without_scripts(tmp_path / "page.html")
    assert page.count(">failed</text>") == 2 * page.count("<svg")
    assert "only 2 replications; 5 would make them about 7 times narrower" in page


def test_a_metric_that_no_run_has_is_refused(headrace: Run, clerk: Path) -> None:
    swept = ("sweep", clerk, "--vary", f"{RATE}=20 /s,50 /s", "--replications", 1, "--metrics")
    for metric, said in (("p99(usres)", "did you mean `users`?"), ("mounts(clerk)", "no run has `mounts` of `clerk`")):
        ran = headrace(*swept, metric)
        assert (ran.returncode, ran.stdout) == (2, ""), ran.stdout
        assert said in " ".join(ran.stderr.split())
        assert "Traceback" not in ran.stderr
    overloaded = headrace("sweep", clerk, "--vary", f"{RATE}=500 /s", "--replications", 1, "--metrics", "p99(users)")
    assert (overloaded.returncode, "1 of 1 points failed" in overloaded.stdout) == (3, True), overloaded.stderr


def test_what_varies_is_a_mapping(clerk: Path) -> None:
    text: Any = "a=1,2"
    for ask in (
        lambda: sweep(clerk, text),
        lambda: optimise(clerk, text, minimise=["mean(users)"]),
        lambda: sensitivity(clerk, text, "mean(users)"),
    ):
        with pytest.raises(ScenarioError, match=re.escape('`{"system.tds.disks": [4, 8]}`')):
            ask()


REBUILT = """
parts: {drive: {type: station, service: 1 ms, capacity: 64 MiB}}
system: {volume: {type: array, level: raid1, of: drive, disks: 2, spares: 1, rebuild: {rate: 1 MB/s}}}
workload: {users: {to: volume, arrivals: {poisson: 50 /s}, size: 4 KiB}}
faults: [{component: 'volume/drive[1]', fails: 1 s}]
run: {time: 20 s, requests: 1000000}
"""


def test_a_rebuild_that_did_not_end_has_no_time(tmp_path: Path) -> None:
    scenario = load(written(tmp_path / "rebuilt.yaml", REBUILT))
    swept = sweep(scenario, {"system.volume.rebuild.rate": ["1 MB/s", "10 MB/s"]}, replications=2)
    slow, fast = swept.experiment.points
    assert swept.mean(slow, "volume.rebuild_s") is None
    done, took = swept.mean(slow, "volume.rebuild_progress"), swept.mean(fast, "volume.rebuild_s")
    assert done is not None
    assert done[0] == pytest.approx(19 / 67.1, rel=0.1)
    assert took is not None
    assert took[0] == pytest.approx(6.7, rel=0.1)
