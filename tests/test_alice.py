"""The arrays of the ALICE study: where writes fall, and that they do not without the rules of the drives' caches."""

from typing import Any

import pytest

from headrace.studies.alice_tds import system


def rate(**point: Any) -> float:
    """Return what all streams of a point get, in MB/s."""
    return sum(system.rates(system.Point(short=True, **point)).values())


@pytest.mark.parametrize(("streams", "below", "at"), [(1, 512, 2048), (4, 128, 512)])
def test_writes_fall_where_stripe_units_fill_the_disks_caches(streams: int, below: int, at: int) -> None:
    before, after = (rate(array="infortrend", streams=streams, stripe_kib=kib) for kib in (below, at))
    assert after < 0.9 * before


@pytest.mark.parametrize(("streams", "below", "at"), [(1, 512, 2048), (4, 128, 512)])
def test_without_the_rules_nothing_falls(streams: int, below: int, at: int) -> None:
    bare = {"array": "infortrend", "streams": streams, "rules": ()}
    before, after = (rate(stripe_kib=kib, **bare) for kib in (below, at))
    assert after > 0.99 * before


def test_a_larger_cache_moves_the_fall() -> None:
    larger = {"array": "infortrend", "cache_kib": 8192}
    within, full = (rate(stripe_kib=kib, **larger) for kib in (2048, 8192))
    assert full < 0.9 * within
    assert within > 0.99 * rate(stripe_kib=512, **larger)


def test_a_switch_that_two_pairs_share_changes_nothing() -> None:
    wire = rate(array="infortrend", fabric="wire")
    shared = rate(array="infortrend", fabric="switch", pairs=2)
    assert shared == pytest.approx(2 * wire, rel=0.01)
