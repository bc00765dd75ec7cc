"""The wings of the crate of components: which may import which, and no cycle between the modules of its core."""

import re
from collections import defaultdict
from itertools import pairwise

from conftest import ROOT

SOURCE = ROOT / "crates" / "storage" / "src"
MAY_IMPORT = {
    "core": set(),
    "fabric": {"core"},
    "block": {"core", "fabric"},
    "archive": {"core", "fabric", "block"},
    "acquisition": {"core", "fabric", "block"},
}
PATH = re.compile(r"\bcrate::(\w+)(?:::(\w+))?")

Arrow = tuple[tuple[str, str], tuple[str, str]]


def arrows() -> dict[Arrow, str]:
    """Returns every arrow between modules of the wings, each with the line of an import that makes it."""
    found: dict[Arrow, str] = {}
    for file in sorted(SOURCE.rglob("*.rs")):
        wing, *inner = file.relative_to(SOURCE).with_suffix("").parts
        if wing not in MAY_IMPORT:
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            code = line.split("//")[0]
            for target, module in PATH.findall(code):
                if target in MAY_IMPORT:
                    arrow = ((wing, inner[0]), (target, module))
                    found.setdefault(arrow, f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    return found


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Returns a cycle, empty if there is none."""
    done: set[str] = set()

    def walk(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        found = next((way for to in sorted(graph[module]) if (way := walk(to, [*path, module]))), [])
        done.add(module)
        return found

    return next((way for module in sorted(graph) if (way := walk(module, []))), [])


def test_every_file_lies_in_a_wing() -> None:
    outside = {path.name for path in SOURCE.iterdir()} - set(MAY_IMPORT)
    assert outside == {"lib.rs", "kinds.rs", "tests"}


def test_wings_import_only_what_they_stand_on() -> None:
    wrong = [line for ((wing, _), (to, _)), line in arrows().items() if to not in MAY_IMPORT[wing] | {wing}]
    assert not wrong, "\n".join(wrong)


def test_wings_name_no_short_cuts() -> None:
    """What the crate exports for others would hide an arrow: of it, wings use only what the list of kinds declares."""
    declared = {*MAY_IMPORT, "AnyComponent", "AnyPlan", "ComponentSpec", "Of"}
    files = [file for wing in MAY_IMPORT for file in (SOURCE / wing).rglob("*.rs")]
    code = {file: re.sub(r"//.*", "", file.read_text()) for file in files}
    names = {
        (name.strip(), str(file.relative_to(ROOT)))
        for file, text in code.items()
        for several, one in re.findall(r"\bcrate::(?:\{([^}]*)\}|(\w+))", text)
        for name in (several or one).split(",")
    }
    assert not {(name, file) for name, file in names if name.split("::")[0] not in declared}


def test_modules_of_the_core_have_no_cycle() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for ((wing, module), (to_wing, to)), _ in arrows().items():
        if wing == to_wing == "core" and module != to:
            graph[module].add(to)
    found = cycle({module: graph[module] for module in {*graph, *(to for all in graph.values() for to in all)}})
    lines = [arrows()[("core", a), ("core", b)] for a, b in pairwise(found)]
    assert not found, "\n".join([" → ".join(found), *lines])


def test_the_arrows_are_found() -> None:
    known = arrows()
    assert (("block", "array"), ("fabric", "path_transfer")) in known
    assert (("core", "arena"), ("core", "graph")) in known
    assert cycle({"a": {"b"}, "b": {"a"}}) == ["a", "b", "a"]
