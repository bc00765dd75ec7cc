"""What a log says of its archive: days, filters, concurrency, latency and rate, delays, the tape's times."""

from headrace.logs.analysis.analysis import analyse

__all__ = ["analyse"]
