"""Logs of archives: read into one table, merged, analysed, converted, and made from a description."""

from pathlib import Path
from typing import Any

from headrace.logs.analysis import analyse
from headrace.logs.conversion import convert
from headrace.logs.reading import Log, Odd, read
from headrace.logs.synthesise import operations
from headrace.logs.table import COLUMNS
from headrace.logs.writing import KINDS as SYNTHETIC
from headrace.logs.writing import write
from headrace.report import Report
from headrace.reports import logs as reports
from headrace.shown import written

__all__ = ["COLUMNS", "SYNTHETIC", "Log", "Odd", "analyse", "convert", "operations", "read", "report", "write"]


def report(found: dict[str, Any], file: str | Path | None = None, title: str = "log") -> Report:
    """Return the report of what `analyse` found; with `file`, write it as one HTML page: whole, or not at all."""
    return written(reports.report(found, title), file)
