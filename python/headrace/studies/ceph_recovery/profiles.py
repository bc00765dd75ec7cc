"""Runs the tests of mClock's profiles: what clients, recovery and snaptrim get of four OSDs."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from headrace.study import Claim, Judged, Obtained, Study, verdict

Json = dict[str, Any]
Rates = Mapping[str, float]

# Simulated time of a run, s.
SECONDS, SMALL_SECONDS = 12.0, 2.5

# Requests of a run are not what ends it.
UNLIMITED = 10**8

# Two groups of an OSD trim at a time, two objects each: `osd_max_trimming_pgs` and `osd_pg_max_concurrent_snap_trims`.
TRIMS = {"to": "snaps", "arrivals": {"closed": {"depth": 16}}, "size": "1 MiB", "align": "1 MiB", "op": "write"}
FAULTS = [{"component": "returned", "fails": "500 ms", "replaced": "600 ms"}]
# What each access to an OSD for background work counts as: Ceph's `osd_recovery_cost` and `osd_snap_trim_cost`.
COSTS = {"rebuild": {"read_cost": "20 MiB", "write_cost": "20 MiB"}, "scrub": {"write_cost": "1 MiB"}}
WPQ = {"policy": "wpq", "capacity": None}
OSDS = ("osd0", "osd1", "osd2", "osd3")

# Background work, and what its rate is called.
TRIMMED, RECOVERED = "trimmed", "recovered"
NAMES = {"clients": "client IOPS", RECOVERED: "objects recovered/s", TRIMMED: "objects trimmed/s"}


def judged(study: Study) -> Iterator[Judged]:
    """Judge what each profile gives to clients and background work, alone and together."""
    claims = study.document["profiles"]
    study.tell("clients alone")
    alone = rates(study, {}, set())
    yield verdict(
        Claim(
            "I1-alone",
            "client IOPS, no background work",
            claims["alone"],
            claims["source"],
            percent=claims["alone_percent"],
            calibrated=True,
        ),
        Obtained(alone["clients"]),
    )
    found: dict[str, dict[str, Rates]] = {"trimming": {}, "recovering": {}}
    for profile, shares in claims["shares"].items():
        study.tell(profile.replace("_", " "))
        for kind, means in both_tests(study, alone, partial(rates, study, shares)).items():
            found[kind][profile] = means
    for kind, measured in claims["measured"].items():
        for name, by_profile in measured.items():
            yield from compared(claims, (kind, name), by_profile, found[kind])
            yield ordered(claims, (kind, name), found[kind])
    yield from under_wpq(study, alone)


def both_tests(study: Study, alone: Rates, of: Callable[[set[str]], Rates]) -> dict[str, Rates]:
    """Return the means over the test with snaptrim alone, and over that with recovery as well."""
    claims = study.document["profiles"]
    at: dict[frozenset[str], Rates] = {frozenset(): alone}
    at |= {frozenset(work): of(work) for work in ({TRIMMED}, {RECOVERED}, {TRIMMED, RECOVERED})}
    beside = {TRIMMED: claims["trims_beside"], RECOVERED: claims["recoveries"]}
    return {
        "trimming": over_a_test(claims, at, {TRIMMED: claims["trims_alone"]}),
        "recovering": over_a_test(claims, at, beside),
    }


def under_wpq(study: Study, alone: Rates) -> Iterator[Judged]:
    """Judge what the scheduler WPQ gives to clients and background work."""
    claims = study.document["wpq"]
    study.tell("WPQ")
    # It has no limits, so an OSD has no capacity.
    others: Json = {f"system.{osd}.{field}": value for osd in OSDS for field, value in WPQ.items()}
    others["system.moving.recovery"] = claims["recovery"]
    found = both_tests(study, alone, partial(rates, study, claims["shares"], others=others))
    for kind, measured in claims["measured"].items():
        for name, published in measured.items():
            words = f"{NAMES[name]}, {kind}, WPQ"
            yield near(claims, (f"I1-wpq-{kind}-{name}", words), published, found[kind][name])


def rates(study: Study, shares: Json, works: set[str], others: Json | None = None) -> Rates:
    """Return what clients and background work get of the OSDs per second while all of this work goes on.

    `others` are further fields of the OSDs and of the recovery, by their place.
    """
    changes: dict[str, object] = {"run.time": f"{SMALL_SECONDS if study.small else SECONDS} s", **(others or {})}
    for osd in OSDS if shares else ():
        changes[f"system.{osd}.by_cause"] = {cause: of | COSTS.get(cause, {}) for cause, of in shares.items()}
    if TRIMMED in works:
        changes["workload.trims"] = TRIMS | {"cause": "scrub"}
    if RECOVERED in works:
        changes["faults"] = FAULTS
    run = study.simulate("profiles.yaml", changes, requests=UNLIMITED, replications=1, small=UNLIMITED)
    last = run.found["phases"][-1]["streams"] if RECOVERED in works else run.found["streams"]
    found = {stream["name"]: stream["requests_per_s"] for stream in last}
    meters = run.component("moving")["meters"]
    recovered = meters["recovered_objects"] / meters["rebuild_s"] if RECOVERED in works else 0.0
    return {"clients": found["clients"], TRIMMED: found.get("trims", 0.0), RECOVERED: recovered}


def over_a_test(claims: Json, at: Mapping[frozenset[str], Rates], work: Mapping[str, int]) -> Rates:
    """Return the mean client IOPS of a whole test, and the rates of its work until each was done."""
    begins, end = claims["begins"], claims["seconds"]
    left, now = {name: float(count) for name, count in work.items()}, begins
    served, ended = begins * at[frozenset()]["clients"], dict.fromkeys(work, end)
    while now < end:
        rate = at[frozenset(left)]
        first = min(left, key=lambda name: left[name] / rate[name], default=None)
        step = min(end - now, left[first] / rate[first]) if first else end - now
        now, served = now + step, served + step * rate["clients"]
        left = {name: count - step * rate[name] for name, count in left.items()}
        if first and now < end:
            del left[first]
            ended[first] = now
    done = {name: (count - left.get(name, 0.0)) / (ended[name] - begins) for name, count in work.items()}
    return {"clients": served / end} | done


def compared(
    claims: Json, what: tuple[str, str], measured: Mapping[str, float], found: Mapping[str, Rates]
) -> Iterator[Judged]:
    """Compare a rate under each profile with what was measured."""
    kind, name = what
    for profile, published in measured.items():
        is_fitted = (kind, profile) == ("recovering", claims["fitted"]) and name in ("clients", RECOVERED)
        words = f"{NAMES[name]}, {kind}, {profile.replace('_', ' ')}"
        told = f"I1-{kind}-{name}-{profile}", words
        yield near(claims, told, published, found[profile][name], calibrated=is_fitted)


def near(claims: Json, told: tuple[str, str], published: float, found: float, *, calibrated: bool = False) -> Judged:
    """Judge a rate, whose claim has this name and these words, within the per cent that the claims allow."""
    claim = Claim(*told, published, claims["source"], percent=claims["percent"], calibrated=calibrated)
    return verdict(claim, Obtained(found))


def ordered(claims: Json, what: tuple[str, str], found: Mapping[str, Rates]) -> Judged:
    """Judge the order of the profiles by a rate."""
    kind, name = what
    published = " > ".join(claims["orders"][kind][name])
    shown = in_order({profile: rates[name] for profile, rates in found.items()}, claims["order_percent"])
    text = f"order of the profiles by {NAMES[name]}, {kind}"
    return verdict(Claim(f"I1-{kind}-{name}-order", text, published, claims["source"]), Obtained(shown))


def in_order(rates: Mapping[str, float], percent: float) -> str:
    """Return the names by their rates, from the largest.

    Names whose rates are within `percent` of the largest among them are joined by `≈`, in alphabetical order.
    """
    names = sorted(rates, key=lambda name: rates[name], reverse=True)
    groups = [[names[0]]]
    for name in names[1:]:
        if rates[groups[-1][0]] > (1 + percent / 100) * rates[name]:
            groups.append([])
        groups[-1].append(name)
    return " > ".join(" ≈ ".join(sorted(group)) for group in groups)
