"""Charts that a browser draws: they show values under the pointer, and save themselves as SVG and PNG."""

import functools
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import altair
import vl_convert
from altair.typing import ChartType

from headrace import address_space
from headrace.charts.style import PANEL, VARIABLES, spec
from headrace.files import write_whole

Json = dict[str, Any]

# What a chart is made of.
PARTS = ("layer", "hconcat", "vconcat", "concat")
# Marks of values. Others are names, intervals and bounds.
OF_VALUES = {"line", "point", "bar"}
# The points of a line, which are seen by the pointer alone.
UNSEEN = {"opacity": 0, "size": 90}
NUMBER, SHARE = ",.4~r", ".1%"


@functools.cache
def library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, of the version that charts are written for.

    Bundling takes two seconds, so the script is kept in the user's cache. Raises `OSError` where `ulimit -v` leaves too
    little address space for bundling.
    """
    version = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    kept = _cache() / f"vega-embed-{version}-{metadata.version('vl-convert-python')}.js"
    if kept.is_file():
        return kept.read_text(encoding="utf-8")
    address_space.check()
    script = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed", vl_version=version))
    with suppress(OSError):  # Without a cache, the next report bundles again.
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, script)
    return script


def _cache() -> Path:
    """Return the folder for what can be made again, as the XDG base directory specification has it."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "headrace"


def specs(charts: Sequence[ChartType]) -> str:
    """Return charts as JSON that may stand in a script of a page; colours are still placeholders."""
    return json.dumps([_spec(chart) for chart in charts], ensure_ascii=False).replace("</", "<\\/")


def variables() -> str:
    """Return as JSON which variable of the page's style each placeholder stands for."""
    return json.dumps({colour: name.removeprefix("var(").removesuffix(")") for colour, name in VARIABLES.items()})


def _spec(chart: ChartType) -> Json:
    found = spec(chart)
    found["config"]["background"] = PANEL  # Files that are saved have a ground of their own.
    for unit in _units(found):
        _tell(unit)
    return found


def _units(of: Json) -> Iterator[Json]:
    """Yield the parts of a chart that have a mark."""
    if "mark" in of:
        yield of
    parts = [part for name in PARTS for part in of.get(name, ())]
    for part in [*parts, *([of["spec"]] if "spec" in of else [])]:
        yield from _units(part)


def _tell(unit: Json) -> None:
    """Show what is under the pointer: the description of a mark, or its values."""
    mark, encoding = unit["mark"], unit.get("encoding", {})
    _one_legend(encoding)
    if "description" in encoding:
        encoding["tooltip"] = encoding["description"]
    elif mark["type"] in OF_VALUES:
        encoding["tooltip"] = [_value(encoding[one]) for one in ("color", "x", "y") if "field" in encoding.get(one, {})]
        if mark["type"] == "line":
            mark["point"] = UNSEEN
            if legend := encoding.get("color", {}).get("legend"):
                legend["symbolType"] = "stroke"


def _one_legend(encoding: Json) -> None:
    """Let the legend of colours show dashes and shapes too: Vega-Lite warns of others that are left out beside it."""
    if encoding.get("color", {}).get("legend") is not None:
        for channel in (encoding[one] for one in ("shape", "strokeDash") if one in encoding):
            channel.pop("legend", None)


def _value(channel: Json) -> Json:
    told = {"field": channel["field"], "type": channel["type"], "title": channel.get("title") or " "}
    if channel["type"] != "quantitative":
        return told
    is_share = str((channel.get("axis") or {}).get("format", "")).endswith("%")
    return told | {"format": SHARE if is_share else NUMBER}
