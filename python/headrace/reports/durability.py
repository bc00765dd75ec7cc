"""The report of durability: the chance of data loss, its causes, and the rebuilds that it depends on."""

from typing import TYPE_CHECKING

from headrace.quantities import amount, counted, span
from headrace.report import Block, Report, Table, noted

if TYPE_CHECKING:
    from headrace.result_types import DurabilityData, Estimate, Rebuild, VolumeDurability


def report(found: "DurabilityData", title: str = "durability") -> Report:
    """Return the report of the chance of data loss."""
    blocks: list[Block] = [_losses(found)]
    for volume in found["volumes"]:
        blocks += [_causes(volume), *([_rebuilds(volume)] if volume["rebuilds"] else [])]
    cycles = sum(volume["cycles"] for volume in found["volumes"])
    done = f"{counted(cycles, 'cycle')} of failures and repairs" if cycles else "exact"
    return Report(title, found["answer"], f"durability, {done}", noted(found["notes"]), blocks=blocks)


def _losses(found: "DurabilityData") -> Table:
    names = [
        "drives",
        "lost at once without loss of data",
        "failures in a year",
        "chance of data loss in a year",
        "95 % interval",
        f"chance in {found['years']:g} years",
        "mean time to data loss, years",
        "by formula, years",
        "expected loss in a year",
    ]
    columns = ["", *(_name(volume) for volume in found["volumes"])]
    values = zip(*map(_chances, found["volumes"]), strict=True)
    return Table(columns, [[name, *row] for name, row in zip(names, values, strict=True)], title="chance of data loss")


def _chances(of: "VolumeDurability") -> list[str]:
    return [
        f"{of['drives']:,}",
        f"{of['tolerates']:,}",
        f"{of['failures_per_year']:.3g}",
        probability(of["chance_in_a_year"]["value"]),
        _interval(of["chance_in_a_year"]),
        probability(of["chance"]["value"]),
        years(of["mean_years"]["value"]),
        years(of["theory"]["mean_years"]) if of["theory"] else "—",
        amount(of["lost_bytes_per_year"]),
    ]


def _name(volume: "VolumeDurability") -> str:
    return volume["component"] + (f" × {volume['count']:,}" if volume["count"] > 1 else "")


def probability(p: float) -> str:
    """Write a probability: three digits of a share in per cent, below a thousandth of one with an exponent.

    >>> probability(0.0123), probability(4.2e-9), probability(0.0)
    ('1.23%', '4.2e-09', '0')
    """
    if p == 0:
        return "0"
    return f"{p:.3g}" if p < 1e-5 else f"{100 * p:.3g}%"


def years(number: float) -> str:
    """Write a number of years with three digits.

    >>> years(12.345), years(123456.0), years(3.2e12)
    ('12.3', '123,000', '3.2e+12')
    """
    if number >= 1e9:
        return f"{number:.3g}"
    return f"{float(f'{number:.3g}'):,.0f}" if number >= 100 else f"{number:.3g}"


def _interval(of: "Estimate") -> str:
    return "—" if of["high"] <= of["low"] else f"{probability(of['low'])} to {probability(of['high'])}"


def _causes(volume: "VolumeDurability") -> Table:
    rows = [[cause["what"], f"{cause['share']:.1%}"] for cause in volume["causes"]]
    columns = ["what loses data", "share of losses"]
    return Table(columns, rows, title=f"losses of {volume['component']}", words=("what loses data",))


def _rebuilds(volume: "VolumeDurability") -> Table:
    columns = ["lost", "waits", "rebuild", "95 %", "simulated", "part of it"]
    rows = [_rebuild(rebuild) for rebuild in volume["rebuilds"]]
    return Table(columns, rows, title=f"rebuilds of {volume['component']}", words=("lost",))


def _rebuild(rebuild: "Rebuild") -> list[str]:
    time = rebuild["rebuild"]
    return [
        counted(rebuild["at_once"], rebuild["lost"]),
        span(rebuild["wait_s"]) if rebuild["wait_s"] else "0",
        span(time["value"]),
        f"{span(time['low'])} to {span(time['high'])}" if time["high"] > time["low"] else "—",
        f"{rebuild['replications']} × {span(rebuild['simulated_s'])}",
        _share(rebuild["simulated_share"]),
    ]


def _share(share: float) -> str:
    """Write a share with two digits, and all of it without an exponent.

    >>> _share(1.0), _share(0.00011)
    ('100%', '0.011%')
    """
    return "100%" if share == 1 else f"{100 * share:.2g}%"
