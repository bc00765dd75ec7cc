"""Analysis of an archive's log: days, filters, concurrency, latency and rate, delays, tape times."""

from headrace.logs.analysis.analysis import analyse

__all__ = ["analyse"]
