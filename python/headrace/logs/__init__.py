"""Logs of archives: read into one table, merged, analysed, converted, and made from a description."""

from headrace.logs.conversion import convert
from headrace.logs.merge import merge
from headrace.logs.reading import Log, Odd, read
from headrace.logs.synthesise import operations
from headrace.logs.table import COLUMNS
from headrace.logs.writing import KINDS as SYNTHETIC
from headrace.logs.writing import write

__all__ = ["COLUMNS", "SYNTHETIC", "Log", "Odd", "convert", "merge", "operations", "read", "write"]
