"""Logs of archives: read into one table, merged, analysed, converted, and made from a description."""

from pathlib import Path
from typing import Any

from headrace import reports
from headrace.logs.analysis import analyse
from headrace.logs.conversion import convert
from headrace.logs.merge import merge
from headrace.logs.reading import Log, Odd, read
from headrace.logs.synthesise import operations
from headrace.logs.table import COLUMNS
from headrace.logs.writing import KINDS as SYNTHETIC
from headrace.logs.writing import write

__all__ = ["COLUMNS", "SYNTHETIC", "Log", "Odd", "analyse", "convert", "merge", "operations", "read", "report", "write"]


def report(found: dict[str, Any], file: str | Path, title: str = "log") -> None:
    """Write what `analyse` found as one HTML page: whole, or not at all."""
    reports.pages().write_log(found, file, title=title)
