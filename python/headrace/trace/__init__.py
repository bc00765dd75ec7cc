"""Traces of requests: what they are like, in another format, or made from requests of your own."""

from headrace.trace.files import Watch, convert, info, report
from headrace.trace.own import COLUMNS, Requests, write

__all__ = ["COLUMNS", "Requests", "Watch", "convert", "info", "report", "write"]
