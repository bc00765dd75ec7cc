"""The recipe for a new component in CONTRIBUTING.md, followed to the letter in a copy of the sources."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from conftest import ROOT

NEW_FILE = re.compile(r"<!-- recipe: (\S+) -->\n+```rust\n(.*?)```", re.DOTALL)
INSERTION = re.compile(r'<!-- insert in (\S+) (after|before) "(.*?)" -->\n+```rust\n(.*?)```', re.DOTALL)

TEST = """
use headrace_scenario::{progress::Progress, run::Options, simulate};

const TEXT: &str = "
system: {drive: {type: flash, capacity: 1 TB, read: 80 us, write: 20 us, depth: 1}}
workload: {users: {to: drive, arrivals: {poisson: 5000 /s}, op: {reads: 70 %}}}
run: {requests: 300000}
";

#[test]
fn the_new_component_agrees_with_theory() {
    let results = simulate(TEXT, "flash.yaml", &[], &Options::default(), &Progress::default()).unwrap().results;
    let (found, theory) = (results.streams[0].response.mean_ms, results.theory[0].mean_ms.unwrap());
    assert!(results.theory[0].exact);
    assert!((found / theory - 1.0).abs() < 0.01, "{found} {theory}");
    let (drive, writes) = (&results.components[0], results.streams[0].writes.as_ref().unwrap().count);
    assert_eq!(drive.kind, "flash");
    assert!(drive.meters["writes"].unwrap().max(writes as f64) - writes as f64 <= 1.0);
    assert!(results.bottleneck.unwrap().estimate, "what a room does not say of itself is the cautious answer");
}

#[test]
fn its_mistakes_are_told() {
    for (right, wrong, says) in [
        ("depth: 1", "dept: 1", "did you mean `depth`?"),
        ("read: 80 us", "read: 0 s", "an operation takes some time"),
    ] {
        let (text, options) = (TEXT.replace(right, wrong), Options::default());
        let message = simulate(&text, "flash.yaml", &[], &options, &Progress::default()).unwrap_err().rendered();
        assert!(message.contains(says), "{message}");
    }
}
"""


def test_the_recipe_makes_a_component_that_agrees_with_theory(tmp_path: Path) -> None:
    for part in ("crates", "catalog", "benches", "Cargo.toml", "Cargo.lock", "clippy.toml", "examples"):
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / part)
    recipe = (ROOT / "CONTRIBUTING.md").read_text()
    [(name, content)] = NEW_FILE.findall(recipe)
    (tmp_path / name).write_text(content)
    insertions = INSERTION.findall(recipe)
    assert len(insertions) == 1, "one line"
    for file, where, anchor, lines in insertions:
        text = (tmp_path / file).read_text()
        assert text.count(anchor + "\n") == 1, f"{file} has no single line `{anchor}`"
        inserted = f"{anchor}\n{lines}" if where == "after" else f"{lines}{anchor}\n"
        (tmp_path / file).write_text(text.replace(anchor + "\n", inserted))
    (tmp_path / "crates" / "scenario" / "tests" / "flash.rs").write_text(TEST)
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target")}
    # Its own crates are not optimised; those of others are built already.
    crates = [crate.name for crate in (ROOT / "crates").iterdir()]
    quick = [part for name in crates for part in ("--config", f"profile.dev.package.headrace-{name}.opt-level=0")]
    command = ["cargo", *quick, "test", "--quiet", "-p", "headrace-scenario", "--test", "flash"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 passed" in ran.stdout
