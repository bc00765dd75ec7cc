"""The arrays of the ALICE study: where writes fall, and that they do not without the rules of the drives' caches."""

import importlib.util
import sys
from types import ModuleType

import pytest

from headrace.study import find


@pytest.fixture(scope="module")
def system() -> ModuleType:
    spec = importlib.util.spec_from_file_location("alice_tds_system", find("alice-tds").folder / "system.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def rate(system: ModuleType, **point: object) -> float:
    """Return what all streams of a point get, in MB/s."""
    return float(sum(system.rates(system.Point(short=True, **point)).values()))


@pytest.mark.parametrize(("streams", "below", "at"), [(1, 512, 2048), (4, 128, 512)])
def test_writes_fall_where_stripe_units_fill_the_disks_caches(
    system: ModuleType, streams: int, below: int, at: int
) -> None:
    before, after = (rate(system, array="infortrend", streams=streams, stripe_kib=kib) for kib in (below, at))
    assert after < 0.9 * before


@pytest.mark.parametrize(("streams", "below", "at"), [(1, 512, 2048), (4, 128, 512)])
def test_without_the_rules_nothing_falls(system: ModuleType, streams: int, below: int, at: int) -> None:
    bare = {"array": "infortrend", "streams": streams, "rules": ()}
    before, after = (rate(system, stripe_kib=kib, **bare) for kib in (below, at))
    assert after > 0.99 * before


def test_a_larger_cache_moves_the_fall(system: ModuleType) -> None:
    larger = {"array": "infortrend", "cache_kib": 8192}
    within, full = (rate(system, stripe_kib=kib, **larger) for kib in (2048, 8192))
    assert full < 0.9 * within
    assert within > 0.99 * rate(system, stripe_kib=512, **larger)


def test_a_switch_that_two_pairs_share_changes_nothing(system: ModuleType) -> None:
    wire = rate(system, array="infortrend", fabric="wire")
    shared = rate(system, array="infortrend", fabric="switch", pairs=2)
    assert shared == pytest.approx(2 * wire, rel=0.01)
