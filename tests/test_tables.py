"""Tables and bars on a terminal of any width: numbers whole, units beside them, what does not fit named."""

import re
from typing import Any

import altair
import pytest
from rich.console import Console

from conftest import Run
from headrace import quantities
from headrace.charts import style
from headrace.experiment.compare import Comparison, Difference
from headrace.report import Table
from headrace.reports import comparison, components, responses, solution, validation
from headrace.view.pages import page
from headrace.view.terminal import parts
from headrace.view.terminal.report import show_table

COLUMNS = ["disks", "readers: mean, ms", "library/drives-of-row-1: utilisation", "layout"]
ROWS = [["4", "29.55 ± 0.46", "0.6892 ± 0.0041", "left-symmetric rotating"], ["128", "7.983 ± 0.070", "1 ± 0.1", "x"]]
LOAD = "system: {clerk: {type: station, service: {exponential: 8 ms}}}\nworkload: {users: {to: clerk, arrivals: "


def printed(width: int, **how: object) -> str:
    console = Console(width=width)
    with console.capture() as told:
        console.print(parts.table(COLUMNS, ROWS, words=("layout",), **how))  # type: ignore[arg-type]
    return told.get()


@pytest.mark.parametrize("width", [12, 30, 45, 60, 80, 120])
def test_no_number_is_broken_at_any_width(width: int) -> None:
    text = printed(width)
    left_out = re.sub(r"\s+", "", text.partition("left")[2])
    for column, cells in zip(COLUMNS[:3], zip(*ROWS, strict=True), strict=False):
        assert column.replace(" ", "") in left_out or all(cell in text for cell in cells), text
    assert max(map(len, text.splitlines())) <= width


def test_a_table_of_very_many_rows_says_how_many_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(Table(["component", "busy"], [[f"drive[{at}]", "3 %"] for at in range(1200)]))
    text = capsys.readouterr().out
    assert "drive[999]" in text
    assert "drive[1000]" not in text
    assert "and 200 more rows; reports and --json have all" in text


def test_tables_in_a_file_have_all_their_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table([f"column {at}" for at in range(16)], [["1.234"] * 16])
    monkeypatch.setenv("COLUMNS", "80")
    show_table(table)
    assert "left out: column" in " ".join(capsys.readouterr().out.split())
    monkeypatch.delenv("COLUMNS")
    show_table(table)
    assert "column 15" in capsys.readouterr().out


def test_headings_break_at_spaces_and_slashes_before_columns_go() -> None:
    assert "left out" not in printed(60)
    assert re.search(r"library/\s", printed(60))
    assert "rotating" in printed(60)
    assert "left out: layout" in re.sub(r"\s+", " ", printed(42))
    assert "left out: disks" in re.sub(r"\s+", " ", printed(46, least=("disks",)))


def test_a_title_is_as_wide_as_the_terminal_and_its_unit_is_never_alone() -> None:
    console = parts.console(width=30)
    with console.capture() as told:
        console.print(parts.table(["", "x"], [["mean", "1"]], title="response time of s, ms"))
        console.print(parts.table(["", "x"], [["mean", "1"]], title="response time of transactions, ms"))
    assert [line.rstrip() for line in told.get().splitlines()] == [
        "response time of s, ms",
        "      x",
        "mean  1",
        "response time of",
        "transactions, ms",
        "      x",
        "mean  1",
    ]


@pytest.mark.parametrize("width", [10, 12, 20])
def test_a_unit_with_a_slash_is_whole_and_a_path_breaks_at_its_dots(width: int) -> None:
    console = parts.console(width=width)
    with console.capture() as told:
        console.print(parts.table(["workload.users.arrivals.poisson"], [["10 /s"]]))
        console.print(parts.table(["formula, 1/s", "MB/s"], [["1.5", "2"]]))
    lines = [line.strip() for line in told.get().splitlines()]
    assert max(map(len, lines)) <= width
    assert not [line for line in lines if re.search(r"(MB|\b1)/$|^s\b", line)], lines
    assert "".join(lines[: lines.index("10 /s")]) == "workload.users.arrivals.poisson"


def test_columns_that_are_left_out_are_named_in_their_order() -> None:
    console = parts.console(width=10)
    with console.capture() as told:
        console.print(parts.table(["", "a", "b", "c"], [["row", "1000000", "2000000", "3000000"]], least=("b",)))
    assert re.sub(r"\s+", " ", told.get()).endswith("left out: a, b, c ")


@pytest.mark.parametrize(("width", "longest"), [(80, 30), (50, 22), (36, 8)])
def test_bars_are_shorter_in_a_narrow_terminal_and_names_whole(width: int, longest: int) -> None:
    console = parts.console(width=width)
    line = parts.Bar(("volume/spindle", "waiting"), 1.0, "11 s")
    with console.capture() as told:
        parts.bars(console, [line, parts.Bar(("v", "service"), 0.5, "5 s")])
    first = told.get().splitlines()[0]
    assert (first.count(parts.BAR), "…" in first) == (longest, False)
    assert first.split()[0] == "volume/spindle"
    assert len(first.rstrip()) <= width


def test_small_shares_have_no_bar_and_small_queues_no_digits() -> None:
    assert [str(parts.bar(share)) for share in (0.0, 0.004, 0.006)] == ["", "", parts.BAR]
    assert [quantities.level(value) for value in (0.0, 7.502e-08, 0.82543)] == ["0", "<0.001", "0.825"]
    found = {"components": [{"path": "library", "group": "library", "kind": "tape_library", "utilisation": 0.1,
                             "meters": {"bytes_read": 39_421_847_690.0, "mounts": 12.0}}]}  # fmt: skip
    assert components.meters(found) == [["library", "bytes read", "39.4 GB"], ["library", "mounts", "12"]]


def test_fitted_times_are_in_one_unit() -> None:
    row = {"parameter": "service", "was": "0.15 ms", "is": "204077 ns", "standard_error": 1700.0, "unit": "ns"}
    assert comparison.parameter_rows({"parameters": [row]})[1] == [["service", "0.1500 ms", "0.2041 ms", "± 0.0017 ms"]]
    row = {"parameter": "cores", "was": 2, "is": 3.5, "standard_error": 0.25, "unit": ""}
    assert comparison.parameter_rows({"parameters": [row]})[1] == [["cores", "2", "3.5", "± 0.25"]]


def test_simulated_is_compared_with_the_formula() -> None:
    point = {"load": 4.0, "own": True, "throughput_per_s": 100.0, "response_ms": 10.0, "utilisation": [],
             "simulated": {"throughput_per_s": 90.0, "response_ms": 12.0, "half_width_ms": 0.5}}  # fmt: skip
    found: Any = {"points": [point], "stations": [], "open": False}
    columns, [row] = solution.against_load(found)
    told = dict(zip(columns, row, strict=True))
    assert (told["formula, ms"], told["simulated, ms"], told["simulated vs formula"]) == (
        "10.0",
        "12.00 ± 0.50",
        "+20.00%",
    )


def test_decisions_have_units_and_say_what_differs(headrace: Run, tmp_path: object) -> None:
    folder = str(tmp_path)
    for name, rate in (("a", 50), ("b", 60)):
        with open(f"{folder}/{name}.yaml", "w") as file:
            file.write(f"{LOAD}{{poisson: {rate} /s}}}}}}\nrun: {{requests: 2000}}\n")
    compared = " ".join(headrace("compare", "a.yaml", "b.yaml", "--replications", "3", cwd=tmp_path).stdout.split())
    assert "the loads differ: arrivals of users" in compared
    assert "all statements together hold with 95 % confidence" in compared
    vary = ["--vary", "system.clerk.servers=1,2"]
    asked = [*vary, "--minimise", "mean(users)", "--subject-to", "p99(users) < 1 ms"]
    none = " ".join(headrace("optimise", "a.yaml", *asked, cwd=tmp_path).stdout.split())
    assert "all 2 violate `p99(users) < 1 ms`. Closest: servers = 2, p99(users) = " in none
    assert "p99(users), ms" in none
    found = " ".join(headrace("optimise", "a.yaml", *vary, "--minimise", "mean(users)", cwd=tmp_path).stdout.split())
    assert re.search(r"mean\(users\) = [\d.]+ ± [\d.]+ ms", found), found
    limit = ["--increase", "workload.users.arrivals.poisson", "--until", "p99(users) > 100 ms"]
    limits = headrace("capacity", "a.yaml", *limit, "--within", "50%", "--report", "c.html", cwd=tmp_path)
    assert re.search(r"poisson\s+goal\s+p99\(users\), ms\s+bottleneck", limits.stdout), limits.stdout
    with open(f"{folder}/c.html") as page:
        text = page.read()
    assert "Goal: p99(users) ≤ 100 ms" in text
    assert "poisson, /s" in text


def test_legs_have_one_unit_and_digits_by_the_longest() -> None:
    path = [
        {"component": "library", "waiting_ms": 24_130.0, "service_ms": 47_370.0, "blocked_ms": 0.0},
        {"component": "pool", "waiting_ms": 425.9, "service_ms": 3256.0, "blocked_ms": 100.0},
        {"component": "front", "waiting_ms": 50.0, "service_ms": 0.0, "blocked_ms": 0.0},
    ]
    legs = responses.legs(path)
    assert [leg[:2] for leg in legs][-2:] == [("pool", "waiting"), ("other", "")]
    assert responses.times_of(legs) == ["47.37 s", "24.13 s", "3.26 s", "0.43 s", "0.15 s"]


def test_a_component_has_one_unit_a_column() -> None:
    def part(path: str, wait: float, held: float) -> dict[str, object]:
        times = {"waiting_ms": wait, "service_ms": held}
        level = {"utilisation": 0.5, "queue": 1.0, "bytes_per_s": 0.0, "servers": 1, "portions": []}
        return {"path": path, "group": path, "kind": "array"} | level | times

    parts = [part("front", 416.1, 0.4) | {"stalled": None, "utilisation_by_cause": {}}, part("library", 53_269.0, 0.02)]
    parts[1] |= {"stalled": None, "utilisation_by_cause": {}}
    columns, rows = components.components({"components": parts})
    assert columns[3:5] == ["mean wait, s", "server held, µs"]
    assert [row[3:5] for row in rows] == [["0.416", "400"], ["53.3", "20.0"]]


def test_a_colour_belongs_to_one_name() -> None:
    names = ["first law", "second law", "third law", "measured", "simulated"]
    drawn: Any = style.colours(names).to_dict()
    told = drawn["scale"]["range"]
    assert len(set(told)) == len(names)
    assert told[3] == style.SERIES["measured"]


def test_no_line_of_a_sentence_ends_between_a_number_and_its_unit() -> None:
    text = "users: 66.06 requests/s (1.082 MB/s), mean 171 ± 12 ms, p99 1.15 s. Bottleneck: disk, 16 % busy."
    for width in range(24, 100):
        console = parts.console(width=width)
        with console.capture() as told:
            console.print(parts.bold(text))
        lines = told.get().splitlines()
        assert " ".join(line.rstrip() for line in lines) == text
        assert not any(re.search(r"(\b\d[\d.]*|±)$", line.rstrip()) for line in lines), lines


def test_a_table_that_does_not_fit_a_telephone_becomes_cards() -> None:
    def drawn(columns: list[str], rows: list[list[str]]) -> str:
        text = '{% from "parts.html" import table %}{{ table(of) }}'
        return page._templates().from_string(text).render(of=Table(columns, rows))

    narrow = drawn(["", "simulated"], [["mean", "30.16 ± 0.19"], ["p99", "108.0"]])
    assert "cards" not in narrow
    assert "data-name" not in narrow
    wide = drawn(COLUMNS, ROWS)
    assert 'class=" cards"' in wide
    # On a card each cell says what it is.
    for column, cell in zip(COLUMNS, ROWS[0], strict=True):
        assert re.search(f'<td[^>]* data-name="{column}">{cell}<', wide), column
    assert re.search(r'<td class="words"[^>]*>left-symmetric', wide)
    assert re.search(r"<td data-name[^>]*>29.55", wide)


def test_a_difference_that_is_nothing_is_called_none() -> None:
    def row(a: float, b: float, half: float, *, shown: bool = False) -> list[str]:
        one = Difference("users.requests_per_s", a, b, b - a, half, shown)
        return Comparison("a", "b", 3, [one]).rows()[1][0]

    assert row(99.70, 99.6977, 0.0032) == ["users: requests/s", "no", "99.7", "99.7", "none", "within 0.05 %"]
    assert row(0.0, 0.0, 0.0)[1:] == ["no", "0", "0", "none", "—"]
    # An interval that reaches farther leaves it open, and a difference that is shown is one, however small.
    assert row(100.0, 100.01, 0.2)[1:] == ["not shown", "100", "100", "0.01 ± 0.20", "0.01 ± 0.20 %"]
    assert row(1e6, 1e6 + 100, 10.0, shown=True)[1] == "yes"


def test_utilisation_is_in_percent_and_throughput_in_megabytes() -> None:
    found = Comparison("a", "b", 3, [Difference("disk.utilisation", 0.366, 0.2942, -0.0718, 0.002, True),
                                     Difference("users.bytes_per_s", 6.534e6, 7e6, 466e3, 1e3, True)])  # fmt: skip
    rows = found.rows()[1]
    assert rows[0] == ["disk: utilisation, %", "yes", "36.6", "29.4", "-7.18 ± 0.20", "-19.62 ± 0.55 %"]
    assert rows[1][:5] == ["users: MB/s", "yes", "6.53", "7.00", "0.4660 ± 0.0010"]


def test_times_of_a_validation_have_one_unit_by_their_size() -> None:
    part = {"n": 10, "measured_mean_ms": 0.08, "simulated_mean_ms": 0.09, "mean_error_percent": -0.0001,
            "standard_error_percent": 0.2, "demerit_ms": 0.002, "demerit_percent": 2.5, "per_request_rms_ms": 0.0101,
            "correlation": None, "ks": 0.01}  # fmt: skip
    columns, rows = validation.rows({"overall": part, "reads": None, "writes": None})
    assert columns[2:8] == ["measured, µs", "simulated, µs", "mean error", "demerit, µs", "of mean", "RMS, µs"]
    assert rows == [["overall", "10", "80.0", "90.0", "+0.00% ± 0.40", "2.00", "2.5%", "10.1", "—", "0.010"]]
    worst = {"request": 1, "op": "read", "address": 1024, "bytes": 4096, "way": "platter", "measured_ms": 21_000.0,
             "simulated_ms": 31_000.0, "seek_ms": 9.0, "rotation_ms": 4.0}  # fmt: skip
    columns, [row] = validation.worst_rows({"worst": [worst]})
    assert columns[4:6] + columns[7:] == ["measured, s", "simulated, s", "seek, s", "rotation, s"]
    assert row == ["1", "read", "2", "4", "21.0", "31.0", "platter", "0.00900", "0.00400"]


def test_metrics_of_a_kind_have_the_columns_of_all_its_components() -> None:
    def array(path: str, **meters: float) -> dict[str, object]:
        return {"path": path, "group": path, "kind": "array", "utilisation": 0.1, "meters": meters}

    found = {"components": [array("a", full_stripe_writes=0.5), array("b", full_stripe_writes=1.0, lost_stripes=2)]}
    assert components.metrics_by_kind(found) == [
        (["array", "full stripe writes", "lost stripes"], [["a", "50.0%", ""], ["b", "100.0%", "2"]])
    ]


def test_points_have_tooltips_that_need_no_script() -> None:
    x, y = altair.X("x:Q", title="disks"), altair.Y("y:Q", title="mean, ms")
    points = altair.Chart(altair.InlineData(values=[{"x": 3, "y": 21.749447}])).mark_point().encode(x=x, y=y)
    assert "<title>disks: 3; mean, ms: 21.75</title>" in style.svg(style.styled(points))
