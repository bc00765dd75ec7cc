"""Runs the phases at scale: what clients read under two schedulers while servers fail and return."""

from collections.abc import Iterator
from typing import Any

from headrace.studies.ceph_recovery.profiles import UNLIMITED, in_order
from headrace.study import Claim, Judged, Obtained, Study, verdict

Json = dict[str, Any]

# For this time after a failure nothing is recovered yet: a phase of its own, which is none of the published ones.
OUT_AFTER_S = 1.5


def judged(study: Study) -> Iterator[Judged]:
    """Judge which scheduler gives more in each phase, and the order of the phases under each."""
    claims = study.document["scale"]
    names, source, percent = claims["phases"], claims["source"], claims["order_percent"]
    measured = {way: dict(zip(names, rates, strict=True)) for way, rates in claims["measured"].items()}
    found = {way: phases(study, way, names) for way in claims["schedulers"]}
    for phase in names:
        of_phase = [{way: of[phase] for way, of in of_ways.items()} for of_ways in (measured, found)]
        published, obtained = (in_order(rates, percent) for rates in of_phase)
        name = f"I2-{phase.replace(' ', '-')}"
        yield verdict(Claim(name, f"reads of clients, {phase}", published, source), Obtained(obtained))
    for way, rates in found.items():
        claim = Claim(f"I2-order-{way}", f"order of the phases under {way}", in_order(measured[way], percent), source)
        yield verdict(claim, Obtained(in_order(rates, percent)))


def phases(study: Study, way: str, names: list[str]) -> dict[str, float]:
    """Return what clients read per second in each phase under a scheduler."""
    study.tell(f"phases at scale, {way}")
    changes = study.document["scale"]["schedulers"][way]
    run = study.simulate("scale.yaml", changes, requests=UNLIMITED, replications=1, small=UNLIMITED)
    lasting = (phase for phase in run.found["phases"] if phase["to_s"] - phase["from_s"] > OUT_AFTER_S)
    return dict(zip(names, (phase["streams"][0]["requests_per_s"] for phase in lasting), strict=True))
