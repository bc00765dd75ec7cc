"""Runs the study of Ceph's recovery and erasure-coded writes: see README.md for what it finds."""

from collections.abc import Iterator
from typing import Any

from headrace.studies.ceph_recovery import profiles, scale
from headrace.study import Claim, Judged, Obtained, Study, verdict

Json = dict[str, Any]

# What the system of each way to write is called in a scenario.
WAYS: dict[str, dict[str, object]] = {
    "whole_stripe": {"system.pool.erasure.access": "whole_stripes"},
    "partial": {"system.pool.erasure.small_writes": "reconstruct"},
    "delta": {"system.pool.erasure.small_writes": "modify"},
}


# Groups of the pool that recovers, and objects of each.
GROUPS, GROUP, SMALL_GROUP = 1024, 64, 4


def obtain(study: Study) -> Iterator[Judged]:
    """Run every case and judge its claims."""
    for case in study.document["accesses"]["cases"]:
        for size in case["sizes"]:
            yield from accesses(study, case, size)
    yield from profiles.judged(study)
    yield from scale.judged(study)
    for name in ("small", "large"):
        yield faster(study, name)


def accesses(study: Study, case: Json, size: str) -> Iterator[Judged]:
    """Judge the accesses of writes of a size, each way; and that the cheaper of two is taken."""
    study.tell(f"{case['data']} + 2, {size}")
    for way, changes in WAYS.items():
        # Tentacle's authors say of the way before only that it reads and writes the stripe.
        kind = "arithmetic" if way == "whole_stripe" else "published"
        yield counted(study, case, size, (way, case[way], kind), changes)
    cheaper = min(case["delta"], case["partial"], key=sum)
    yield counted(study, case, size, ("cheaper", cheaper, "published"), {})


def counted(
    study: Study, case: Json, size: str, claimed: tuple[str, list[int], str], changes: dict[str, object]
) -> Judged:
    """Judge the accesses of one way to write."""
    way, published, kind = claimed
    own = {"system.pool.erasure.data": case["data"], "workload.clients.size": size}
    pool = study.simulate("pool.yaml", own | changes, requests=2000, replications=1, small=200).component("pool")
    found = [pool["meters"][f"{what}_per_request"] for what in ("reads", "writes")]
    text = f"reads and writes of drives, {case['data']} + 2, {size}, {way.replace('_', ' ')}"
    name = f"I4-{case['data']}-{size.removesuffix(' KiB')}-{way}"
    return verdict(Claim(name, text, published, study.document["accesses"]["source"], kind=kind), Obtained(found))


def faster(study: Study, name: str) -> Judged:
    """Judge how many times as long recovery takes where its items cost a constant."""
    claims = study.document["cost"]
    size = claims[name]
    kib, each = size["object_kib"], SMALL_GROUP if study.small else GROUP
    took = {}
    for way, fields in claims["ways"].items():
        study.tell(f"objects of {kib} KiB, cost {way.replace('_', ' ')}")
        own = {"system.pool.object": f"{kib} KiB", "system.pool.size": f"{each * GROUPS * kib} KiB"}
        run = study.simulate(
            "cost.yaml", own | fields, requests=profiles.UNLIMITED, replications=1, small=profiles.UNLIMITED
        )
        took[way] = run.component("pool")["meters"]["rebuild_s"]
    factor = took["constant"] / took["by_size"]
    claim = Claim.read(size, id=f"I3-{name}", text=f"factor of recovery times, {name} objects", source=claims["source"])
    return verdict(claim, Obtained(factor))
