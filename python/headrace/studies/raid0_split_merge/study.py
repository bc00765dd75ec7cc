"""Runs the split-merge study: see README.md for what it finds."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from headrace.study import Claim, Judged, Obtained, Run, Study, verdict

Json = dict[str, Any]

Wanted = list[tuple[Claim, Callable[[Run], Obtained]]]

BLOCK_KIB = 128
PAPER = "Lebrecht, Dingle and Knottenbelt"


def obtain(study: Study) -> Iterator[Judged]:
    """Run every case and judge its claims."""
    yield split_rule(study)
    yield from single_disks(study)
    yield from unstable_loads(study)
    yield from arrays(study)
    yield from few_blocks(study)
    yield from coupling(study)
    yield erlang(study)
    yield from future_work(study)


def load(blocks: int, op: str, rate_per_ms: float) -> dict[str, object]:
    """Return the changes that set the size, operation and rate of a scenario's users."""
    return {
        "workload.users.size": f"{blocks * BLOCK_KIB} KiB",
        "workload.users.op": op,
        "workload.users.arrivals.poisson": f"{rate_per_ms} /ms",
    }


def array(disks: int, queueing: str = "split_merge") -> dict[str, object]:
    """Return the changes that set the number of disks of the array."""
    return {"system.tds.disks": disks, "system.tds.queueing": queueing}


def slowest_part(run: Run) -> Obtained:
    """Return the mean time of the slowest part: how long the array is held for a request."""
    # Independent services: a thousandth is far beyond their standard error at these lengths.
    mean = run.component("tds")["service_ms"]
    return Obtained(mean, mean / 1000)


def split_rule(study: Study) -> Judged:
    """T003-1: the example under Eq. 1."""
    study.tell("the split rule")
    run = study.simulate("array.yaml", array(3) | load(7, "read", 0.001), requests=1000, replications=1, small=1000)
    disks = [run.component(f"tds/spindle[{disk}]") for disk in range(3)]
    blocks = [disk["bytes_per_visit"] / (BLOCK_KIB * 1024) for disk in disks]
    claim = Claim("T003-1", "seven blocks on three disks are split", [3, 2, 2], f"{PAPER}, below Eq. 1")
    return verdict(claim, Obtained(blocks))


def single_disks(study: Study) -> Iterator[Judged]:
    """A4b: one disk at the paper's loads, by recursion."""
    table, tolerance = study.document["single_disk"], study.document["tolerance"]
    for case in table["cases"]:
        op, blocks, rate = case["op"], case["blocks"], case["rate"]
        study.tell(f"one disk, {op} of {blocks} blocks at {rate} /ms")
        run = study.simulate("disk.yaml", load(blocks, op, rate), requests=case.get("requests", 2_000_000))
        text = f"mean response, ms: one disk, {op} of {blocks} blocks, {rate} /ms"
        percent = tolerance["mean_percent"]
        mean = Claim(f"disk-{op}-{blocks}-{rate}", text, case["mean"], table["source"], percent=percent, kind="theory")
        claims: Wanted = [(mean, Run.mean)]
        if blocks == 20 and op == "read":
            text = "utilisation: one disk, read of 20 blocks, 0.01 /ms"
            claims.append(
                (Claim("X003-2-rho", text, 0.544, "0.01 /ms × 54.389 ms", within=0.001, kind="theory"), _utilisation)
            )
        yield from study.decide(claims, run)


def _utilisation(run: Run) -> Obtained:
    return Obtained(run.component("spindle")["utilisation"], 0.0003)


def unstable_loads(study: Study) -> Iterator[Judged]:
    """X003-2: the paper calls k ≥ 20 unstable at both rates; at 0.01 /ms it is not."""
    source = f"{PAPER}, Comparing with Measurements"
    for blocks, rate, published in ((20, 0.02, "unstable"), (40, 0.02, "unstable"), (20, 0.01, "stable")):
        refused = study.refusal("disk.yaml", load(blocks, "read", rate))
        obtained = "unstable" if "is overloaded" in refused else "stable"
        text = f"one disk, read of {blocks} blocks, {rate} /ms is {published}"
        if rate == 0.01:
            text += " by Table 1, though the text says that requests come faster than they are served"
        kind = "arithmetic" if published == "stable" else "published"
        yield verdict(Claim(f"X003-2-{blocks}-{rate}", text, published, source, kind=kind), Obtained(obtained))


def arrays(study: Study) -> Iterator[Judged]:
    """A4b: the arrays, as split-merge and as fork-join; and Q003-4, by how much they differ."""
    excesses = []
    read: dict[str, list[tuple[float, float]]] = {}
    for case in study.document["array"]["cases"]:
        op, disks, blocks = case["op"], case["disks"], case["blocks"]
        study.tell(f"{disks} disks, {op} of {blocks} blocks")
        of_merged, of_forked = array_claims(study, case)
        changes = load(blocks, op, 0.01)
        merged = study.simulate("array.yaml", array(disks) | changes, requests=1_000_000)
        yield from study.decide(of_merged, merged)
        forked = study.simulate("array.yaml", array(disks, "fork_join") | changes, requests=1_000_000)
        yield from study.decide(of_forked, forked)
        excesses.append((merged.mean().value / forked.mean().value - 1) * 100)
        if op == "read":
            for name, mean in (("split-merge", merged.mean()), ("fork-join", forked.mean())):
                read.setdefault(f"{disks} disks, {name}", []).append((blocks, mean.value))
    study.draw("Reads of arrays at 10 requests/s", "blocks of 128 KiB", "mean response, ms", read)
    source = study.document["array"]["source"]
    for which, excess in (("least", min(excesses)), ("most", max(excesses))):
        text = f"split-merge answers later than fork-join, by % ({which} over the table)"
        claim = Claim(f"Q003-4-{which}", text, "1.7 to 4.3", source, between=(1.6, 4.4), kind="expectation")
        yield verdict(claim, Obtained(excess))


def array_claims(study: Study, case: Json) -> tuple[Wanted, Wanted]:
    """Return the claims of one row of the table: those of split-merge, and those of fork-join."""
    source, tolerance = study.document["array"]["source"], study.document["tolerance"]
    where = f"{case['disks']} disks, {case['op']} of {case['blocks']} blocks"
    name = f"array-{case['op']}-{case['disks']}-{case['blocks']}"

    def claim(metric: str, what: str, kind: str) -> Claim:
        text = f"{what}, ms: {where}"
        return Claim(
            f"{name}-{metric}", text, case[metric], source, percent=tolerance[f"{kind}_percent"], kind="theory"
        )

    merged: Wanted = [
        (claim("slowest", "slowest part", "mean"), slowest_part),
        (claim("mean", "mean response", "mean"), Run.mean),
    ]
    for share in (50, 90, 95, 99):
        within = claim(f"p{share}", f"{share} % answered within", "quantile")
        merged.append((within, partial(Run.quantile, share=share / 100)))
    return merged, [(claim("fork_join", "mean response as fork-join", "mean"), Run.mean)]


def few_blocks(study: Study) -> Iterator[Judged]:
    """X003-4: disks without a block contribute nothing, so more disks than blocks change nothing."""
    table, percent = study.document["array"], study.document["tolerance"]["mean_percent"]
    for blocks, disks in ((1, 2), (1, 4), (2, 2), (2, 3), (2, 4)):
        study.tell(f"{disks} disks, {blocks} blocks")
        text = f"mean response, ms: {disks} disks, read of {blocks} blocks"
        claim = Claim(
            f"X003-4-{disks}-{blocks}",
            text,
            table["few_blocks"][f"blocks_{blocks}"],
            table["source"],
            percent=percent,
            kind="theory",
        )
        run = study.simulate("array.yaml", array(disks) | load(blocks, "read", 0.01), requests=1_000_000)
        yield from study.decide([(claim, Run.mean)], run)


def coupling(study: Study) -> Iterator[Judged]:
    """X003-3: seek and transfer from one target place, or each from its own."""
    table = study.document["coupling"]
    for case in table["cases"]:
        for positioning in ("independent", "coupled"):
            # So few requests that none waits: responses are services.
            changes = load(case["blocks"], "read", 1e-6) | {"system.spindle.positioning": positioning}
            run = study.simulate("disk.yaml", changes, requests=2_000_000, replications=1)
            text = f"standard deviation of service, ms: {positioning} places, {case['blocks']} blocks"
            name = f"X003-3-{positioning}-{case['blocks']}"
            claim = Claim(name, text, case[f"{positioning}_sd"], table["source"], percent=0.6, kind="theory")
            yield from study.decide([(claim, spread)], run)


def spread(run: Run) -> Obtained:
    """Return the standard deviation of the response; its own standard error is sd/√2n for laws near the normal."""
    sd = run.response["sd_ms"]
    return Obtained(sd, 2 * sd / (2 * run.response["count"]) ** 0.5)


def erlang(study: Study) -> Judged:
    """Compare a whole simulated cdf with the inverted transform, as the authors did by eye."""
    study.tell("M/E2/1")
    run = study.simulate("erlang.yaml", {}, requests=1_000_000, replications=1, small=1_000_000)
    simulated, theory = run.found["streams"][0]["cdf"], run.found["theory"][0]["cdf"]
    # Between its points, an equal share apart, a cdf can differ by that share more.
    worst = max(abs(ours - theirs) for (_, ours), (_, theirs) in zip(simulated, theory, strict=True))
    text = "largest distance of the cdf of 10⁶ requests from the inverted transform, M/E₂/1 at a load of 0.7"
    return verdict(
        Claim("E2", text, 0.0, f"{PAPER}, The Single Disk Simulator", within=0.005, kind="theory"), Obtained(worst)
    )


def future_work(study: Study) -> Iterator[Judged]:
    """Hold mixed operations, variable sizes and bursts, which the paper leaves as future work, against theory."""
    source = (
        f"the M/G/1 queue with the mixed law of service, of the same run; {PAPER}, Conclusion, names it as future work"
    )
    five = array(3) | load(5, "read", 0.01)
    mixed_sizes = {"mix": [{"size": f"{blocks * BLOCK_KIB} KiB", "weight": 1} for blocks in (1, 5, 10)]}
    cases: list[tuple[str, str, dict[str, object]]] = [
        ("future-mixed", "half reads, half writes", {"workload.users.op": {"reads": "50 %"}}),
        ("future-sizes", "one, five or ten blocks", {"workload.users.size": mixed_sizes}),
    ]
    for name, what, change in cases:
        study.tell(what)
        run = study.simulate("array.yaml", five | change, requests=1_000_000)
        claim = Claim(
            name,
            f"mean response, ms: three disks, {what}",
            run.found["theory"][0]["mean_ms"],
            source,
            percent=0.5,
            kind="theory",
        )
        yield from study.decide([(claim, Run.mean)], run)
    yield bursts(study, five)


def bursts(study: Study, five: dict[str, object]) -> Judged:
    """Bursts of the same mean rate make requests wait longer."""
    study.tell("bursts")
    bursty = {"bursty": {"calm": "5 /s", "burst": "30 /s", "calm_for": "8 s", "burst_for": "2 s"}}
    changes = {path: value for path, value in five.items() if "arrivals" not in path}
    run = study.simulate("array.yaml", changes | {"workload.users.arrivals": bursty}, requests=1_000_000)
    smooth = study.simulate("array.yaml", five, requests=1_000_000)
    text = "bursts of the same mean rate lengthen the mean response, by a factor above one"
    source = f"{PAPER}, Conclusion (future work): `real I/O traffic … exhibits considerable burstiness`"
    claim = Claim("future-bursts", text, "more than 1", source, at_least=1.0, kind="expectation")
    ratio = run.mean().value / smooth.mean().value
    return verdict(claim, Obtained(ratio, ratio * run.mean().half_width / run.mean().value))
