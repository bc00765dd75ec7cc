"""Traces as files: what they are like, and in another format."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headrace import _core
from headrace.files import keep_apart, whole
from headrace.report import Report
from headrace.reports import trace as reports
from headrace.shown import written

Json = dict[str, Any]
Watch = Callable[[int, int, list[tuple[str, int]]], object]


def _format(given: str | Mapping[str, object] | None) -> str | None:
    return given if given is None or isinstance(given, str) else json.dumps(given)


def info(
    path: str | Path,
    *,
    format: str | Mapping[str, object] | None = None,
    skip_bad: bool = False,
    watch: Watch | None = None,
) -> Json:
    """Return what a trace is like: arrivals, sizes, places, responses, as docs/results.md describes it.

    `format` is what a scenario may say of it (`"msr"`, `{"csv": {…}}`); by default its first lines tell. Raises
    `ScenarioError` where it cannot be read.
    """
    return dict(json.loads(_core.trace_info(str(path), _format(format), skip_bad, watch)))


def convert(
    path: str | Path,
    to: str | Path,
    *,
    to_format: str = "headrace",
    format: str | Mapping[str, object] | None = None,
    skip_bad: bool = False,
    watch: Watch | None = None,
) -> Json:
    """Write a trace in another format, compressed as the name `to` ends (`.gz`, `.zst`, `.bz2`): whole, or not at all.

    Formats that can be written: `headrace`, `ascii`, `spc`, `msr`, `validate`. Returns how many requests were
    written, and how many bad lines were passed over.
    """
    keep_apart({"--output": to}, [path])
    with whole(to) as part:
        written = _core.trace_convert(str(path), _format(format), skip_bad, str(part), to_format, watch)
    return dict(json.loads(written))


def report(found: Json, file: str | Path | None = None, title: str = "trace") -> Report:
    """Return the report of what `info` found; with `file`, write it as one HTML page: whole, or not at all."""
    return written(reports.report(found, title), file)
