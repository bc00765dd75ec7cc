"""The report: one page that needs no network, in a real browser where there is one."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Run, opened, without_scripts
from headrace import Results, Scenario, ScenarioError, load, sweep
from headrace.charts import interactive, style
from headrace.charts.data import Axis
from headrace.charts.style import ALONE
from headrace.quantities import unbroken
from headrace.report import Table

EXAMPLE = ROOT / "examples" / "raid0-split-merge.yaml"


@pytest.fixture(scope="module")
def results() -> Results:
    return load(EXAMPLE).with_({"run.requests": 50_000}).run()


@pytest.fixture(scope="module")
def page(results: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    results.report(file)
    return file


def test_the_answer_is_on_top_and_everything_is_in_the_page(page: Path, results: Results) -> None:
    text = without_scripts(page)
    assert text.index(unbroken(results.answer.split(",")[0])) < text.index("<svg")
    assert text.count("<svg") == 6, "the system across and, for narrow pages, down; a cdf, and three series"
    assert "M/G/1 of the slowest part (split-merge), whose assumptions hold" in text
    assert "spindle × 3" in text
    assert re.search(r"<td>\d\.\d\d×</td>", text)
    assert "&#34;seed&#34;: 1" in text
    assert len(text) < 1_500_000


def test_the_page_needs_no_network_and_no_script(page: Path) -> None:
    text = without_scripts(page)
    assert set(re.findall(r"https?://[^\"\s]+", text)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "@import" not in text
    assert "src=" not in text


def test_pictures_follow_the_colours_of_the_page(page: Path) -> None:
    text = without_scripts(page)
    assert not any(placeholder in text for placeholder in style.VARIABLES)
    assert "var(--theory)" in text
    assert "prefers-color-scheme: dark" in text


def test_both_drawings_of_the_system_are_hatched(tmp_path: Path) -> None:
    found = load(ROOT / "examples" / "solid-state-drive.yaml").with_({"run.requests": 2000}).run()
    found.report(tmp_path / "report.html")
    drawings = re.findall(r"<svg.*?</svg>", without_scripts(tmp_path / "report.html"), re.DOTALL)
    of_each = [
        (re.findall(r'pattern id="([^"]+)"', one), re.findall(r"url\(#(hatched[^)]*)\)", one)) for one in drawings
    ]
    across, down = [(defined, used) for defined, used in of_each if used]
    assert all(set(used) == set(defined) for defined, used in (across, down))
    assert across[0] != down[0], "one that is hidden hides its pattern"


def test_copies_are_one_row_one_box_and_one_curve(tmp_path: Path) -> None:
    def shown(copies: int) -> tuple[Results, str]:
        changes = {"system.node.copies": copies, "run.requests": 2000}
        found = load(ROOT / "python" / "headrace" / "starts" / "servers.yaml").with_(changes).run()
        found.report(tmp_path / f"{copies}.html")
        return found, without_scripts(tmp_path / f"{copies}.html")

    (few, small), (many, large) = shown(10), shown(20)
    rows = [[len(block.rows) for block in found.report().blocks if isinstance(block, Table)] for found in (few, many)]
    assert rows[0] == rows[1]
    assert small.count("<svg") == large.count("<svg")
    boxes = ("node/volume × 20", "node/cpu × 20", "node/drive × 160")
    assert all(large.count(f">{box}<") == 2 for box in boxes), "across, and down"
    assert large.count("(fullest of 160) over time</h2>") == 1
    assert "all node/volume" not in large, "nobody wrote the dispatcher"


def test_many_streams_are_rows_of_one_table_and_few_curves(tmp_path: Path) -> None:
    def found(streams: int) -> Results:
        workload = {
            f"s{at}": {"to": "d", "arrivals": {"poisson": f"{(at + 1) * 100 / streams**2} /s"}} for at in range(streams)
        }
        system = {"d": {"type": "station", "service": "5 ms"}}
        scenario = {"system": system, "workload": workload, "run": {"requests": 4000}}
        return Scenario(json.dumps(scenario), str(tmp_path / "many.yaml")).run()

    few, many = found(30), found(300)
    assert len(few.report().blocks) == len(many.report().blocks)
    tables = [block for block in many.report().blocks if isinstance(block, Table) and block.title == "response times"]
    (table,) = tables
    assert len(table.rows) == sum(stream["response"]["count"] > 0 for stream in many.data["streams"])
    assert many.report().title == "300 streams"
    many.report(tmp_path / "many.html")
    page = (tmp_path / "many.html").read_text()
    assert sum(f">s{at}<" in page for at in range(300)) >= len(table.rows)


def test_names_are_text_and_not_markup(tmp_path: Path) -> None:
    scenario = load(EXAMPLE).with_({"run.requests": 500})
    data = scenario.run().data
    data["notes"] = ["<b>bold</b>"]
    Results(data).report(tmp_path / "report.html")
    assert "&lt;b&gt;bold" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing/report.html", "there is no folder"),
        ("report.txt", "does not end in .html"),
        ("a.html", "is a folder"),
    ],
)
@pytest.mark.parametrize("command", [["run", str(EXAMPLE)], ["solve", str(EXAMPLE)], ["devices", "hp-c3323a"]])
def test_a_report_that_cannot_be_written_is_told_before_anything_runs(
    headrace: Run, tmp_path: Path, command: list[str], name: str, why: str
) -> None:
    (tmp_path / "a.html").mkdir()
    ran = headrace(*command, "--report", tmp_path / name)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert why in " ".join(ran.stderr.replace("│", "").split())
    assert list(tmp_path.iterdir()) == [tmp_path / "a.html"]


def test_charts_can_be_changed_and_saved(results: Results, tmp_path: Path) -> None:
    charts = results.charts()
    assert set(charts) == {"response_series", "p99_series", "utilisation_series", "response_cdf_readers"}
    archive = load(ROOT / "examples" / "archive.yaml").run().charts()
    assert {"fill_series_pool", "drives_series_library"} < set(archive)
    for name, drawn in charts.items():
        wide = drawn.properties(width=600, title="Readers")
        wide.save(tmp_path / f"{name}.png")
        assert b"PNG" in (tmp_path / f"{name}.png").read_bytes()[:8]
        assert (wide.to_dict()["title"], wide.to_dict()["config"]["background"]) == ("Readers", "#ffffff")
        assert not any(colour in wide.to_json() for colour in ALONE), "a placeholder is left"


def test_a_metric_of_a_sweep_is_a_chart() -> None:
    scenario = load(EXAMPLE).with_({"run.requests": 2000})
    place = "workload.readers.arrivals.poisson"
    table = sweep(scenario, {place: ["5 /s", "10 /s"]}, replications=2)
    drawn = table.chart("readers.mean_ms").properties(width=600).to_dict()
    assert (drawn["width"], len(next(iter(drawn["datasets"].values())))) == (600, 2)
    assert table.chart("mean(readers)").to_dict()["datasets"] == table.chart("readers.mean_ms").to_dict()["datasets"]
    of_three = {place: ["5 /s", "10 /s"], "run.seed": [1, 2], "system.tds.stripe_unit": ["64 KiB", "128 KiB"]}
    small = sweep(scenario, of_three).chart("readers.mean_ms").properties(title="Small multiples").to_dict()
    assert (small["title"], small["columns"]) == ("Small multiples", 2)
    with pytest.raises(ScenarioError, match=r"no run has `readers.mean`\n.*did you mean `readers.mean_ms`"):
        table.chart("readers.mean")
    with pytest.raises(ScenarioError, match="nothing varies"):
        sweep(scenario, {}, replications=2).chart("readers.mean_ms")
    with pytest.raises(ScenarioError, match="there is no run to draw"):
        sweep(scenario, {place: ["500 /s"]}).chart("readers.mean_ms")


@pytest.mark.parametrize("width", [420, 1400])
def test_a_browser_shows_and_prints_it(browser: Any, page: Path, width: int) -> None:
    tab, wrong = opened(browser, page, width)
    assert "the slowest part (split-merge), whose assumptions hold" in tab.content()
    tab.locator("figure.chart.live").nth(3).wait_for()
    assert len(tab.screenshot()) > 20_000
    assert tab.pdf().startswith(b"%PDF")
    assert wrong == []
    tab.close()


# Elements that are wider than what holds them.
RUNNING_OVER = """() => [...document.querySelectorAll(".panel, .tile, body")]
    .filter((of) => of.scrollWidth > of.clientWidth + 1).map((of) => of.innerText)"""


@pytest.mark.parametrize("width", [420, 1400])
def test_a_chart_shows_values_and_is_saved_without_a_network(browser: Any, page: Path, width: int) -> None:
    asked = list[str]()
    tab = browser.new_page(viewport={"width": width, "height": 1200})
    tab.on("request", lambda request: asked.append(request.url.partition(":")[0]))
    tab.goto(page.as_uri())
    chart = tab.locator("figure.chart.live").first
    chart.wait_for()
    assert tab.evaluate(RUNNING_OVER) == []
    chart.locator(".mark-symbol path").nth(60).hover(force=True)
    told = tab.locator("#vg-tooltip-element").inner_text()
    assert re.search(r"(simulated|theory)\s+response time, ms\s+[\d.]+\s+share of requests\s+[\d.]+%", told)
    chart.locator("summary").click()
    with tab.expect_download() as saved:
        chart.get_by_text("Save as PNG").click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    assert set(asked) <= {"file", "data", "blob"}
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_have_the_colours_of_the_page(browser: Any, page: Path, scheme: str) -> None:
    tab, _ = opened(browser, page, 1400)
    tab.emulate_media(color_scheme=scheme)
    chart = tab.locator("figure.chart.live").first
    chart.wait_for()
    colour = {"light": "#2563eb", "dark": "#7aa5ff"}[scheme]
    chart.locator(f'.mark-line path[stroke="{colour}"]').wait_for()
    tab.emulate_media(media="print")
    assert chart.locator("> svg").is_visible()
    assert not chart.locator("> div").is_visible()
    tab.close()


def test_a_table_is_csv_in_the_page(browser: Any, page: Path, results: Results) -> None:
    tab, _ = opened(browser, page, 1400)
    with tab.expect_download() as saved:
        tab.locator('a[download="response-time-of-readers-ms.csv"]').click()
    rows = list(csv.reader(saved.value.path().read_text().splitlines()))
    assert rows[0] == ["", "simulated", "± simulated", "theory", "off by"]
    mean = results.streams["mean_ms"][0]
    assert [rows[1][0], float(rows[1][1])] == ["mean", pytest.approx(mean, rel=0.001)]
    tab.close()


DECISIONS = {
    "compare": ["--with", "system.tds.disks=4", "--replications", "2"],
    "capacity": [
        "--increase",
        "workload.readers.arrivals.poisson",
        "--until",
        "mean(readers) < 30 ms",
        "--budget",
        "5",
    ],
    "sensitivity": ["--metric", "mean(readers)", "--vary", "system.tds.disks=2..4/3", "--samples", "2"],
}


@pytest.mark.parametrize("command", DECISIONS)
def test_decisions_have_a_page_with_a_picture_and_how_it_was_made(headrace: Run, tmp_path: Path, command: str) -> None:
    page = tmp_path / "page.html"
    asked = [*DECISIONS[command], "--set", "run.requests=2000", "--report", page]
    ran = headrace(command, EXAMPLE, *asked)
    assert ran.returncode in (0, 3), ran.stderr
    text = without_scripts(page)
    assert text.count("<svg") == 1
    assert f"<code>headrace {command} " in text
    assert "split-merge" in text.partition("<pre>")[2], "the scenario to run it again"


def test_a_page_is_not_written_over_what_it_was_made_from(headrace: Run, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(EXAMPLE.read_text())
    ran = headrace("compare", mine, *DECISIONS["compare"], "--report", mine)
    assert ran.returncode == 2
    assert mine.read_text() == EXAMPLE.read_text()


def test_the_page_of_an_archive_shows_its_pool_its_purges_and_its_drives(tmp_path: Path) -> None:
    found = load(ROOT / "examples" / "archive.yaml").run()
    purges = sum(times for point in found.data["series"] for times in point["marked"].values())
    meters = next(part["meters"] for part in found.data["components"] if part["path"] == "archive")
    # The last requests make no whole segment: what happened among them is not in the series.
    assert 0 < purges <= (meters["purges"] or 0)
    found.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    for title in (
        "Level of pool over time, and purges of each 12 h",
        "Drives of library in use, mean of each segment",
        "by operation, s",
    ):
        assert title in text
    assert text.count(">recall</th>") == 1


def test_curves_and_points_have_one_legend() -> None:
    drawn = style.lines({"a": [(1, 2), (2, 3)], "b": [(1, 1)]}, Axis("x"), Axis("y"), points={"published": [(1, 2)]})
    layers = interactive._spec(drawn)["layer"]
    channels = [one for layer in layers for name, one in layer["encoding"].items() if name in COLOURED]
    assert len(channels) == 4
    # Vega draws a legend for each domain.
    assert {tuple(one["scale"]["domain"]) for one in channels} == {("a", "b", "published")}


COLOURED = ("color", "shape", "strokeDash")
