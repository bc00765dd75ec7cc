"""Cells of a CSV file as numbers, durations, sizes and times, in the forms in which programs write them."""

import polars as pl

LATEST_S = 253402300800.0  # The end of the year 9999.
# No two of these read one text as different times. `01/02/2024` has two meanings, and none here.
FORMS = (
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y/%m/%d %H:%M:%S%.f",
    "%Y%m%dT%H%M%S",
    "%Y%m%d%H%M%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%d.%m.%Y %H:%M:%S%.f",
    "%d.%m.%Y %H:%M",
    "%d/%b/%Y:%H:%M:%S",  # Web servers.
    "%d-%b-%Y %H:%M:%S%.f",
    "%d %b %Y %H:%M:%S%.f",
    "%a, %d %b %Y %H:%M:%S",  # RFC 5322.
    "%b %d %Y %H:%M:%S%.f",
    "%a %b %d %H:%M:%S %Y",  # C's `ctime`.
)
SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0}
LETTERS = {letter: power for power, letter in enumerate("kmgtp", 1)}
BYTES = {"b": 1.0}
BYTES |= {f"{letter}b": 1000.0**power for letter, power in LETTERS.items()}
BYTES |= {f"{letter}ib": 1024.0**power for letter, power in LETTERS.items()}
_WITH_UNIT = r"^([-+.,\d]+(?:e[-+]?\d+)?)\s*([a-zµ]+)$"
_CLOCK = r"^(?:(\d+)(?:-|\s+days?,?\s+))?(?:(\d+):)?(\d+):(\d\d(?:\.\d+)?)$"


def numbers(cells: pl.Series, *, comma: bool = False) -> pl.Series:
    """Return cells as numbers, null where they are none; with `comma`, `1,5` is one and a half."""
    found = cells.cast(pl.Float64, strict=False)
    if comma and found.null_count() > cells.null_count():
        found = found.fill_null(cells.str.replace(r"^(-?\d+),(\d+)$", "$1.$2").cast(pl.Float64, strict=False))
    return found


def sizes(cells: pl.Series, scale: float, *, comma: bool = False) -> pl.Series:
    """Return cells as bytes: numbers times the scale, or numbers with a unit such as `1.5 MB`."""
    return _with_units(cells, scale, BYTES, comma=comma)


def durations(cells: pl.Series, scale: float, *, comma: bool = False) -> pl.Series:
    """Return cells as seconds: numbers times the scale, numbers with a unit, or `0:01:35`, `1 day, 0:01:35`."""
    found = _with_units(cells, scale, SECONDS, comma=comma)
    if found.null_count() == cells.null_count():
        return found
    parts = cells.str.extract_groups(_CLOCK).struct.unnest().select(pl.all().cast(pl.Float64, strict=False))
    days, hours, minutes, seconds = (pl.col(name) for name in parts.columns)
    at_clock = ((days.fill_null(0) * 24 + hours.fill_null(0)) * 60 + minutes) * 60 + seconds
    return found.fill_null(parts.select(at_clock).to_series())


def _with_units(cells: pl.Series, scale: float, units: dict[str, float], *, comma: bool) -> pl.Series:
    found = numbers(cells, comma=comma) * scale
    if found.null_count() == cells.null_count():
        return found
    parts = cells.str.to_lowercase().str.extract_groups(_WITH_UNIT).struct.unnest()
    unit = parts.to_series(1).replace_strict(units, default=None, return_dtype=pl.Float64)
    return found.fill_null(numbers(parts.to_series(0), comma=comma) * unit)


def times(cells: pl.Series, scale: float, form: str | None = None) -> pl.Series:
    """Return cells as times: numbers times the scale, in seconds since 1970 or since the log began, or dates.

    Dates with an offset, such as `+02:00`, are converted to UTC; those with a `Z` or `UTC` are in UTC. `form` is that
    of dates, as of `strptime`; by default those of `FORMS` are tried.
    """
    seconds = numbers(cells) * scale
    sane = seconds.set(~seconds.is_between(-LATEST_S, LATEST_S), None)
    found = (sane * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us"))
    if form is not None:
        return _dates(cells, form)
    text = cells.str.replace_all(r"\s+", " ").str.strip_chars("[]").str.replace(r"( ?UTC| ?GMT|Z)$", "")
    text = text.str.replace(r":(\d\d),(\d{1,9})\b", ":$1.$2")  # Python's `logging`.
    for one in (*FORMS, *(f"{form}{gap}%z" for form in FORMS for gap in ("", " "))):
        if found.null_count() == cells.null_count():
            break
        found = found.fill_null(_dates(text, one))
    return found


def _dates(text: pl.Series, form: str) -> pl.Series:
    try:
        return text.str.to_datetime(form, strict=False, time_unit="us").dt.replace_time_zone(None)
    except pl.exceptions.ComputeError:  # Of a form that has no day, for one.
        return pl.repeat(None, len(text), dtype=pl.Datetime("us"), eager=True)
