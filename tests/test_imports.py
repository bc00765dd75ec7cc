"""Who imports whom: never in a circle, and nothing that takes long before it is used."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from conftest import ROOT

PACKAGE = ROOT / "python" / "headrace"
Graph = dict[str, set[str]]

PICTURES, SQL, FRAMES, NUMBERS = {"altair", "vl_convert", "jinja2"}, {"duckdb"}, {"polars"}, {"numpy", "scipy"}
# Studies lie in a linked folder, and are found by name.
STUDIES = "headrace.studies"
SERVERS = {"nicegui", "fastapi", "uvicorn", "starlette"}
CLERK = """
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {customers: {to: clerk, arrivals: {poisson: 50 /s}}}
run: {requests: 500}
"""


def name_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    name_of(file): ast.parse(file.read_text()) for file in PACKAGE.rglob("*.py*") if file.suffix in (".py", ".pyi")
}


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def within(node: ast.AST, *, types: bool) -> Iterator[ast.AST]:
    """Yield all that a module holds, in functions too; what it holds for types alone only where that is asked."""
    for inner in ast.iter_child_nodes(node):
        if types or not is_for_types(inner):
            yield inner
            yield from within(inner, types=types)


def named(node: ast.AST) -> Iterator[str]:
    """Yield what a statement imports, or a call by name."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("import_module", "__import__"):
        yield str(node.args[0].value) if isinstance(node.args[0], ast.Constant) else STUDIES


def imports(*, types: bool) -> Graph:
    """Return which modules each imports: `from headrace.view import live` is of `live`, not of what it lies in."""
    graph: Graph = {}
    for module, tree in MODULES.items():
        found = {name for node in within(tree, types=types) for name in named(node)} - {STUDIES}
        ours = {name if name in MODULES else name.rpartition(".")[0] for name in found}
        graph[module] = {name for name in ours if name in MODULES}
        graph[module] |= {name.partition(".")[0] for name in found if not name.startswith("headrace")}
    return graph


@pytest.mark.parametrize("types", [False, True], ids=["as it runs", "with what is for types alone"])
def test_nothing_is_imported_in_a_circle(types: bool) -> None:
    graph = imports(types=types)
    assert sum(name in MODULES for targets in graph.values() for name in targets) > 100, "the imports are found"
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_what_functions_import_is_seen() -> None:
    late = ast.parse("def f():\n    from headrace.view import live\nif TYPE_CHECKING:\n    import headrace.view\n")
    found = {types: [name for node in within(late, types=types) for name in named(node)] for types in (False, True)}
    assert found == {False: ["headrace.view.live"], True: ["headrace.view.live", "headrace.view"]}


def test_renderers_know_blocks_and_nothing_that_was_found() -> None:
    graph = imports(types=True)
    renderers = {name for name in graph if name.startswith("headrace.view") and ".explore" not in name}
    shared = ("report", "charts.style", "charts.interactive", "quantities", "errors", "files", "loopback", "_core")
    known = {f"headrace.{name}" for name in shared} | {"headrace"} | renderers
    for renderer in renderers - {"headrace.view.terminal.progress"}:
        assert {name for name in graph[renderer] if name in MODULES} <= known, renderer
    # What is found shows itself through `shown` alone.
    showing = {module for module, targets in graph.items() if targets & renderers} - renderers
    assert {module for module in showing if ".cli" not in module and ".explore" not in module} == {"headrace.shown"}
    drawing = {module for module, targets in imports(types=False).items() if targets & {"altair", "vl_convert"}}
    assert all(module.startswith("headrace.charts") for module in drawing)
    serving = {module for module, targets in graph.items() if targets & SERVERS}
    assert all(module.startswith("headrace.view.explore") for module in serving)


@pytest.mark.parametrize(
    ("arguments", "spared"),
    [
        (["--help"], PICTURES | SQL | FRAMES | NUMBERS),
        (["check"], PICTURES | SQL | FRAMES | NUMBERS),
        (["run"], PICTURES | SQL | FRAMES | NUMBERS),
        (["sweep", "--vary", "system.clerk.servers=1,2", "--replications", "2"], PICTURES | SQL | FRAMES),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_a_command_loads_what_it_uses(tmp_path: Path, arguments: list[str], spared: set[str]) -> None:
    (tmp_path / "clerk.yaml").write_text(CLERK)
    command, *options = arguments
    file = [] if command == "--help" else ["clerk.yaml"]
    tell = "import sys, headrace.cli\ntry: headrace.cli.main()\nfinally: print(*sys.modules, file=sys.stderr)"
    ran = subprocess.run(
        [sys.executable, "-c", tell, command, *file, *options], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in ran.stderr.split()}
    assert "headrace" in loaded
    assert not loaded & (spared | SERVERS)
