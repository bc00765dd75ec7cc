"""The report of the logs of an archive: what they say, in sentences, charts and tables."""

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from headrace import quantities
from headrace.charts import lines
from headrace.charts.data import Axis, Points
from headrace.logs.analysis.envelope import says_rate
from headrace.quantities import Unit, amount, counted, format_time, number, span, unit
from headrace.report import Chart, Medium, Report, Table, Text, noted

Json = dict[str, Any]
LogRows = tuple[list[str], list[list[str]]]

# Counted on the logs of `llnl-unitree`, seeds 1 to 40, whose rate is 4.7 MB/s.
NARROW = (
    "These intervals are far too narrow: even the fastest transfers of a stratum shared the system with others, larger "
    "ones more so. Of 40 synthetic logs of puts with a known rate, none had it within its interval. The interval of "
    "the line through all transfers that ran alone contained it in 38; that line gives the mean latency, the other "
    "one the lowest. To see the true uncertainty, fit the logs of several weeks one by one."
)


OF_DRIVES = (
    "CTA's tape servers log when a file was read, not when it was asked for: stagings are times of drives, without the "
    "wait for one. A replay asks for each file when it was read, so its recalls are faster than those of users."
)


def report(found: Json, title: str = "log") -> Report:
    """Return the report of what `logs.analyse` found."""
    verdict = [found["staging"]["verdict"]] if found["staging"] else []
    tables = [Table(*rows, title=title, words={rows[0][0], LAW}) for title, rows in shown(found).items()]
    last = [Text(one, on=Medium.TERMINAL) for one in verdict]
    return Report(
        title,
        in_a_sentence(found),
        "analysis of the logs of an archive",
        [*noted(verdict, Medium.PAGE | Medium.NOTEBOOK), *noted(notes(found))],
        blocks=[*charts(found), *tables, *last],
    )


LAW = "share: from + mean, s"


def charts(found: Json) -> list[Chart]:
    """Return the charts that there is something for."""
    drawn = [Chart(lambda: _charts().days(found["days"]), heading="By day")]
    for kind, title in (("transfers", "Transfers at once"), ("sessions", "Drives busy at once")):
        drawn += [_at_once(found[kind], title)] if found[kind] else []
    drawn += [_envelope(op, fit) for op, fit in found["fits"].items()]
    drawn += [_delays(op, blocks) for op, blocks in found["delays"].items() if len(blocks) > 1]
    return drawn + ([_staging(found["staging"])] if found["staging"] else [])


def _charts() -> ModuleType:
    from headrace.charts import logs

    return logs


def _at_once(of: Json, title: str) -> Chart:
    clock = quantities.UNITS[0] if of["span_s"] > 2 * 86400 else quantities.UNITS[1]
    points = {"simulated": [(clock.of(end * 1e3), most) for end, most in of["over_time"]]}
    axis = Axis(f"time, {quantities.WORDS[clock.name]}")
    return Chart(lines(points, axis, Axis("most at once", "counts"), steps=True), heading=title)


def _envelope(op: str, fit: Json) -> Chart:
    return Chart(lambda: _charts().envelope(fit), heading=f"The fastest {op}s, and the line through them")


def _delays(op: str, blocks: list[Json]) -> Chart:
    """Return the mean and the 99th percentile of the delay by size."""
    of = _unit(one["p99_s"] for one in blocks)
    curves: dict[str, Points] = {
        name: [
            (one["mean_bytes"], of.of(one[f"{name}_s"] * 1e3))
            for one in blocks
            if one["mean_bytes"] > 0 and one[f"{name}_s"] > 0
        ]
        for name in ("mean", "p99")
    }
    sizes, delay = Axis("mean size of a block", "bytes", log=10), Axis(f"delay, {of.name}", "apart", log=10)
    return Chart(lines(curves, sizes, delay), heading=f"Delay of {op}s beyond latency and rate")


def _staging(of: Json) -> Chart:
    """Return the cdf of the tape's times, and those of the laws that are judged."""
    short = {law.replace("exponentials", "exp.").replace("exponential", "exp."): at for law, at in of["cdf"].items()}
    unit = _unit(points[-1][0] for points in short.values())
    curves: dict[str, Points] = {law: [(unit.of(x * 1e3), share) for x, share in at] for law, at in short.items()}
    x, y = Axis(f"staging time, {unit.name}", "apart", log=10), Axis("share of stagings", "percent")
    return Chart(lines(curves, x, y), heading="How long the tape takes")


def in_a_sentence(found: Json) -> str:
    """Return what a log says, in a few sentences."""
    said = [_transfers(found), _sessions(found), _fits(found), _tape(found)]
    told = " ".join(one for one in said if one)
    return told or _whole(found)


def _whole(found: Json) -> str:
    """Return the times from request to completion, where the log has no others."""
    whole = next((one for one in found["durations"] if one["what"] == "request to completion"), None)
    if whole is None:
        return f"{found['lines']:,} lines, none of them a transfer, a staging or a session with a time taken."
    return f"{counted(whole['count'], 'operation')}, from request to completion: {_spread(whole)}."


def _spread(of: Json) -> str:
    return f"mean {of['mean_s']:.0f} s, median {of['p50_s']:.0f} s, p99 {of['p99_s']:,.0f} s"


def _transfers(found: Json) -> str:
    together = found["transfers"]
    if not together:
        return ""
    puts, gets, staged = (sum(day[kind] for day in found["days"]) for kind in ("puts", "gets", "staged"))
    moved = amount(sum(day["bytes"] for day in found["days"]))
    moves = f"{counted(puts, 'put')} and {counted(gets, 'get')}"
    # Where files are staged without being got, that is what the log is of.
    alone = f"{counted(staged, 'staging')}, {moves}" if staged > gets else moves
    return (
        f"{alone} in {span(together['span_s'])}, {moved}; "
        f"{together['mean']:.3g} at once on average, at most {together['most']}."
    )


def _sessions(found: Json) -> str:
    of = found["sessions"]
    if not of:
        return ""
    took = next(one for one in found["durations"] if one["what"] == "session")
    busy = of["mean"] if of["offered"] is None else of["offered"]
    sessions = f"{counted(of['operations'], 'session')} of {counted(of['cartridges'], 'cartridge')}"
    return (
        f"{sessions} in {span(of['span_s'])}: "
        f"{busy:.1f} drives busy on average, at most {of['most']} at once; "
        f"mean {format_time(took['mean_s'] * 1e3)}, median {format_time(took['p50_s'] * 1e3)}."
    )


def _fits(found: Json) -> str:
    told = "; ".join(f"{op}s: {_of_line(found['fits'].get(op))}" for op in ("put", "get") if _has(found, op))
    return f"{told[0].upper()}{told[1:]}." if told else ""


def _has(found: Json, op: str) -> bool:
    return any(one["what"] == op for one in found["durations"])


def _of_line(fit: Json | None) -> str:
    """Return latency and rate, if there is a line that shows them."""
    if fit is None:
        return "too few sizes or transfers for a line of latency and rate"
    rate = fit["rate_bytes_per_s"]
    if rate is None:
        return "larger files take no longer, so that there is no rate"
    if not says_rate(fit):
        return f"size explains only {fit['r2']:.0%} of the fastest times: no latency and no rate are fitted"
    return f"latency {fit['latency_s']['value']:.3g} s, {amount(rate['value'])}/s"


def _tape(found: Json) -> str:
    """Return how much went from and to tape, and how long stagings took."""
    times = {one["what"]: one for one in found["durations"]}
    said = []
    if staged := times.get("staging"):
        moved = _moved(found, "staged_bytes")
        said.append(f"{counted(staged['count'], 'staging')}{moved}: {_spread(staged)}.")
    if migrated := sum(day["migrated"] for day in found["days"]):
        said.append(f"{counted(migrated, 'migration')} to tape{_moved(found, 'migrated_bytes')}.")
    return " ".join(said)


def _moved(found: Json, what: str) -> str:
    """Return the bytes of all days after a comma; nothing where the log has none."""
    total = sum(day[what] for day in found["days"])
    return f", {amount(total)}" if total else ""


def notes(found: Json) -> list[str]:
    """Return what a reader must know before using the numbers."""
    told = [f"{counted(count, 'bad line')} passed over: {reason}" for reason, count in found["skipped"].items()]
    told += [
        f"{odd['what']}: {counted(odd['count'], 'line')}, {odd['first']} the first; {odd['note']}"
        for odd in found["odd"]
    ]
    if any("synthetic" in file["name"].rpartition("/")[2] for file in found["files"]):
        told.append("This log is synthetic: it was made from a description, and says nothing of a real system.")
    if any(file["format"] == "cta" for file in found["files"]) and found["staging"]:
        told.append(OF_DRIVES)
    if found["fits"] and found["transfers"]["most"] > 1:
        told.append(NARROW)
    return told


def _field(name: str, form: str) -> Callable[[Json], str]:
    return lambda found: format(found[name], form)


MOST_DAYS = 62  # A longer log is shown by months.


def days(found: Json) -> LogRows:
    """Return each day, or each month of a long log, as columns and rows; columns without a number are left out."""
    of_days = found["days"] if len(found["days"]) <= MOST_DAYS else _months(found["days"])
    taken = _unit(day["mean_s"] for day in of_days)
    mean = f"mean, {taken.name}"
    columns: dict[str, Callable[[Json], str]] = {
        **{name: _field(name, ",") for name in ("puts", "gets", "staged", "migrated", "sessions", "failed")},
        "moved": lambda day: amount(day["bytes"]),
        mean: lambda day: _short(taken, day["mean_s"]),
        "kept": _field("kept", ","),
        "of the bytes": lambda day: f"{day['kept_bytes'] / day['bytes']:.0%}" if day["bytes"] else "—",
    }
    of = {"moved": "bytes", mean: "mean_s", "of the bytes": "bytes"}
    shown = [name for name in columns if any(day[of.get(name, name)] for day in of_days)]
    head = "day" if of_days is found["days"] else "month"
    return [head, *shown], [[day["day"], *(columns[name](day) for name in shown)] for day in of_days]


def _months(days: list[Json]) -> list[Json]:
    """Return the sums of each month; a mean time taken is of days alone."""
    months: dict[str, Json] = {}
    for day in days:
        month = months.setdefault(day["day"][:7], {"day": day["day"][:7], "mean_s": None})
        month |= {name: month.get(name, 0) + day[name] for name in day if name not in ("day", "mean_s")}
    return list(months.values())


SPREAD = ("count", "mean", "sd", "min", "p1", "p5", "p10", "p50", "p90", "p95", "p99", "max")


def durations(found: Json) -> LogRows:
    """Return times taken, a column for each kind of operation: all percentiles fit a narrow terminal."""
    of = _unit(one["p99_s"] for one in found["durations"])
    rows = [[name, *(_spread_of(one, name, of) for one in found["durations"])] for name in SPREAD]
    return [f"taken, {of.name}", *(one["what"] for one in found["durations"])], rows if found["durations"] else []


def users(found: Json) -> LogRows:
    """Return each user, those who moved most first, as columns and rows; columns without a number are left out."""
    of_users = found["users"]
    times = ("response_mean_s", "response_p95_s", "staging_mean_s", "staging_p95_s")
    units = {name: _unit(one[name] for one in of_users) for name in times}
    shown = {
        **{name: _field(name, ",") for name in ("puts", "gets", "staged")},
        "bytes": lambda one: amount(one["bytes"]),
        **{name: _time_of(name, units[name]) for name in times},
    }
    titles = {name: f"{' '.join(name.split('_')[:2])}, {units[name].name}" for name in times} | {"bytes": "moved"}
    shown = {name: write for name, write in shown.items() if any(one[name] for one in of_users)}
    rows = [[_user(one), *(write(one) for write in shown.values())] for one in of_users]
    return ["user", *(titles.get(name, name) for name in shown)], rows


def _user(one: Json) -> str:
    return str(one["user"] or counted(one["users"], "other"))


def _time_of(name: str, of: Unit) -> Callable[[Json], str]:
    return lambda found: _short(of, found[name])


def _spread_of(one: Json, name: str, of: Unit) -> str:
    return f"{one['count']:,}" if name == "count" else _short(of, one[f"{name}_s"])


def _unit(seconds: Iterable[float | None]) -> Unit:
    return unit(time * 1e3 for time in seconds if time is not None)


def _short(of: Unit, seconds: float | None) -> str:
    """Write a time in three digits, and a whole number from 100 on."""
    if seconds is None:
        return "—"
    value = of.of(seconds * 1e3)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def drives(found: Json) -> LogRows:
    """Return what sessions of cartridges say of drives as columns and rows."""
    of = found["sessions"]
    if not of:
        return [], []
    rate = "—" if of["per_hour"] is None else f"{of['per_hour']:.1f}"
    rows = [
        ["sessions an hour", rate],
        [
            "drives busy: time in sessions, over the time in which they begin",
            "—" if of["offered"] is None else f"{of['offered']:.1f}",
        ],
        ["drives busy at most", f"{of['most']:,}"],
        ["sessions that overlap one of the same cartridge", f"{of['overlapping']:,}"],
        ["sessions of 30 s or less", f"{of['short']:,}"],
        ["of these, within 400 s of the cartridge's session before", f"{of['short_after_another']:,}"],
    ]
    again = [
        [f"sessions within {limit:,} s of the cartridge's session before", f"{count:,}"]
        for limit, count in of["again_within"]
    ]
    return ["drives and cartridges", ""], rows + again


def filters(found: Json) -> LogRows:
    """Return what each filter removed as columns and rows."""
    rows = [
        [
            one["rule"],
            f"{one['removed']:,}",
            amount(one["removed_bytes"]),
            f"{one['left']:,}",
            amount(one["left_bytes"]),
        ]
        for one in [*found["filters"], *found["outliers"]]
    ]
    return ["filter", "removed", "bytes", "left", "bytes left"], rows


def rules(found: Json) -> LogRows:
    """Return what each rule of merging COND and STAT did as columns and rows."""
    return ["rule", "count"], [[rule, f"{count:,}"] for rule, count in found["rules"].items()]


def regressions(found: Json) -> LogRows:
    """Return the full table of each regression as columns and rows, that of transfers that met no other beside it."""
    columns, fits = [""], []
    for op, fit in found["fits"].items():
        columns.append(f"{op}s")
        fits.append(fit)
        if fit["alone"]:
            columns.append(f"{op}s, alone")
            fits.append(fit["alone"])
    lines: dict[str, Callable[[Json], str]] = {
        "latency, s": lambda fit: number(fit["latency_s"]["value"], DIGITS),
        "95 % interval": lambda fit: _interval(fit["latency_s"], 1),
        "rate, MB/s": lambda fit: _interval(fit["rate_bytes_per_s"], 1e-6, ends=False),
        "95 % interval ": lambda fit: _interval(fit["rate_bytes_per_s"], 1e-6),
        "multiple R": _field("multiple_r", ".3f"),
        "R²": _field("r2", ".3f"),
        "adjusted R²": _field("adjusted_r2", ".3f"),
        "standard error, s": _field("s", ".3g"),
        "observations": _field("observations", ","),
        "degrees of freedom": lambda fit: f"{fit['df_regression']}, {fit['df_residual']}",
        "sum of squares: regression": lambda fit: number(fit["ss_regression"]),
        "sum of squares: residual": lambda fit: number(fit["ss_residual"]),
        "F": lambda fit: _number(fit["f"]),
        "significance of F": lambda fit: _p(fit["p"]),
        "latency: standard error, s": lambda fit: number(fit["latency_s"]["error"]),
        "latency: t": lambda fit: _number(fit["latency_s"]["t"]),
        "latency: p": lambda fit: _p(fit["latency_s"]["p"]),
        "slope, s/MB": lambda fit: number(fit["slope_s_per_byte"]["value"] * 1e6, DIGITS),
        "slope: standard error, s/MB": lambda fit: number(fit["slope_s_per_byte"]["error"] * 1e6),
        "slope: t": lambda fit: _number(fit["slope_s_per_byte"]["t"]),
        "slope: p": lambda fit: _p(fit["slope_s_per_byte"]["p"]),
    }
    return columns, [[name, *(write(fit) for fit in fits)] for name, write in lines.items()]


def _interval(of: Json | None, scale: float, *, ends: bool = True) -> str:
    if of is None:
        return "—"
    end = "∞" if of["to"] is None else number(of["to"] * scale, DIGITS)
    return f"{number(of['from'] * scale, DIGITS)}–{end}" if ends else number(of["value"] * scale, DIGITS)


# The ends of the narrow intervals of a regression differ in the fourth digit.
DIGITS = 4


def _number(value: float | None) -> str:
    return "∞" if value is None else number(value)


def _p(value: float) -> str:
    """Write a significance; the numbers in full are in `--json`.

    >>> _p(0.0423), _p(1.2e-9)
    ('0.042', '< 0.001')
    """
    return "< 0.001" if value < 0.001 else f"{value:.2g}"


def delays(found: Json, op: str) -> LogRows:
    """Return residual delays by size as columns and rows."""
    headings = {"ideal_s": "ideal", "mean_s": "mean delay", "p99_s": "p99 of delay"}
    blocks = _thinned(found["delays"].get(op, []))
    units = {name: _unit(one[name] for one in blocks) for name in headings}
    rows = [
        [
            amount(one["mean_bytes"]),
            f"{one['transfers']:,}",
            *(_short(of, one[name]) for name, of in units.items()),
        ]
        for one in blocks
    ]
    return ["mean size", "transfers", *(f"{headings[name]}, {of.name}" for name, of in units.items())], rows


MOST_BLOCKS = 40


def _thinned(blocks: list[Json]) -> list[Json]:
    """Return at most `MOST_BLOCKS`, evenly chosen, with the first and the last; `--json` has all."""
    if len(blocks) <= MOST_BLOCKS:
        return blocks
    return [blocks[round(at * (len(blocks) - 1) / (MOST_BLOCKS - 1))] for at in range(MOST_BLOCKS)]


def _of_all(found: Json, op: str) -> str:
    count = len(found["delays"].get(op, []))
    return f" ({MOST_BLOCKS} of {count:,} blocks)" if count > MOST_BLOCKS else ""


def laws(found: Json) -> LogRows:
    """Return the laws fitted to the tape's times as columns and rows, the best one marked."""
    of = found["staging"]
    rows = [
        [
            ("→ " if one["law"] == of["best"] else "") + one["law"],
            "; ".join(
                f"{part['share']:.3f}: {number(part['from_s'])} + {number(part['mean_s'])}" for part in one["parts"]
            ),
            f"{one['bic']:,.0f}",
            f"{one['distance']:.1%}",
            "" if one["by_chance"] is None else f"{one['by_chance']:.1%}",
        ]
        for one in of["laws"]
    ]
    return ["law of the tape's time", LAW, "BIC", "off by", "by chance"], rows


def tape(found: Json) -> LogRows:
    """Return the quantiles of the tape's times, measured and by each law, as columns and rows."""
    of = found["staging"]
    unit = _unit(value for _, value in of["quantiles_s"])
    columns = [f"staging, {unit.name}", *(f"p{share * 100:g}" for share, _ in of["quantiles_s"])]
    rows = [["measured", *(_short(unit, value) for _, value in of["quantiles_s"])]]
    laws = [[one["law"], *(_short(unit, value) for _, value in one["quantiles_s"])] for one in of["laws"]]
    return columns, rows + laws


def shown(found: Json) -> dict[str, LogRows]:
    """Return the tables that there is something for, by their titles."""
    every = {
        "by day" if len(found["days"]) <= MOST_DAYS else "by month": days(found),
        "times taken": durations(found),
        "by user": users(found),
        "sessions": drives(found),
        "COND and STAT merged": rules(found),
        "left out before the fit": filters(found) if found["fits"] else ([], []),
        "time = latency + size / rate, through the fastest of each stratum": regressions(found)
        if found["fits"]
        else ([], []),
        f"delay of puts beyond that, by size{_of_all(found, 'put')}": delays(found, "put"),
        f"delay of gets beyond that, by size{_of_all(found, 'get')}": delays(found, "get"),
        "how long the tape takes": laws(found) if found["staging"] else ([], []),
        "quantiles of that": tape(found) if found["staging"] else ([], []),
    }
    return {title: rows for title, rows in every.items() if rows[1]}
