"""The chance of data loss of a scenario."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.report import Report
from headrace.reports import durability as reports
from headrace.shown import InNotebook, written

if TYPE_CHECKING:
    from pathlib import Path

    import polars

    from headrace.result_types import DurabilityData


@dataclass(frozen=True)
class Durability(InNotebook):
    r"""The chance of data loss of a scenario; `data` holds all of it, as docs/guides/durability.md describes.

    >>> import headrace
    >>> mirror = headrace.Scenario('''
    ... parts: {drive: {type: station, service: 5 ms, capacity: 64 MiB}}
    ... system: {pair: {type: array, level: raid1, of: drive, disks: 2, spares: 1}}
    ... workload: {users: {to: pair, arrivals: {poisson: 10 /s}}}
    ... rates: {drive: 2 %/year}
    ... ''')
    >>> found = mirror.durability()
    >>> chance = found.data["chance_in_a_year"]
    >>> 0 < chance["low"] < chance["value"] < chance["high"] < 1e-9
    True
    """

    data: "DurabilityData"

    @property
    def answer(self) -> str:
        """The summary, in a few sentences."""
        return self.data["answer"]

    @property
    def volumes(self) -> "polars.DataFrame":
        """One row per volume: mean time to data loss in years, chance in a year with its interval, bytes lost."""
        import polars

        rows = [
            {
                "component": volume["component"],
                "count": volume["count"],
                "drives": volume["drives"],
                "tolerates": volume["tolerates"],
                "mean_years": volume["mean_years"]["value"],
                "chance_in_a_year": volume["chance_in_a_year"]["value"],
                "low": volume["chance_in_a_year"]["low"],
                "high": volume["chance_in_a_year"]["high"],
                "lost_bytes_per_year": volume["lost_bytes_per_year"],
            }
            for volume in self.data["volumes"]
        ]
        return polars.DataFrame(rows)

    def __repr__(self) -> str:
        return f"<Durability: {self.answer}>"

    def report(self, file: "str | Path | None" = None, *, title: str = "durability") -> Report:
        """Return the report of the chance of data loss; with `file`, write it as one HTML page, whole or not at all."""
        return written(reports.report(self.data, title), file)
