"""The recipe for a new component in CONTRIBUTING.md, followed to the letter in a copy of the sources."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from conftest import ROOT

NEW_FILE = re.compile(r"<!-- recipe: (\S+) -->\n+```rust\n(.*?)```", re.DOTALL)
TRIAL = re.compile(r"<!-- try -->\n+```yaml\n(.*?)```", re.DOTALL)
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
    assert_eq!(results.components[0].kind, "flash");
    assert!(!results.bottleneck.unwrap().estimate, "its utilisation is proportional to the load");
}

#[test]
fn its_number_of_servers_counts() {
    let (text, options) = (TEXT.replace("depth: 1", "depth: 4"), Options::default());
    let results = simulate(&text, "flash.yaml", &[], &options, &Progress::default()).unwrap().results;
    let expected = 5.0 * (0.7 * 0.08 + 0.3 * 0.02) / 4.0;
    let found = results.components[0].utilisation.unwrap();
    assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
}

const FORWARDED: &str = "
TRIAL";

/// The drive alone has a mean by Pollaczek and Khinchine; the delay adds its own.
#[test]
fn a_component_that_forwards_adds_its_time_to_that_of_its_target() {
    let options = Options::default();
    let results = simulate(FORWARDED, "delay.yaml", &[], &options, &Progress::default()).unwrap().results;
    let (mean, second) = (0.7 * 0.08 + 0.3 * 0.02, 0.7 * 0.08 * 0.08 + 0.3 * 0.02 * 0.02);
    let waiting = 5.0 * second / (2.0 * (1.0 - 5.0 * mean));
    let (found, expected) = (results.streams[0].response.mean_ms, 0.2 + mean + waiting);
    assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    let remote = results.components.iter().find(|component| component.kind == "delay").unwrap();
    let (delayed, answered) = (remote.meters["delayed"].unwrap(), results.streams[0].response.count as f64);
    assert!((0.0..=20.0).contains(&(delayed - answered)), "{delayed} {answered}");
}

#[test]
fn a_target_is_refused_that_does_not_serve_blocks() {
    let net = "system:\n  net: {type: network, rate: 1 GB/s}";
    let text = FORWARDED.replace("to: drive", "to: net").replace("system:", net);
    let options = Options::default();
    let message = simulate(&text, "delay.yaml", &[], &options, &Progress::default()).unwrap_err().rendered();
    assert!(message.contains("`net` is a `network`, which serves no blocks"), "{message}");
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
    files = NEW_FILE.findall(recipe)
    for name, content in files:
        (tmp_path / name).write_text(content)
    insertions = INSERTION.findall(recipe)
    assert len(files) == len(insertions) == 2, "a file and a line each"
    for file, where, anchor, lines in insertions:
        text = (tmp_path / file).read_text()
        assert text.count(anchor + "\n") == 1, f"{file} has no single line `{anchor}`"
        inserted = f"{anchor}\n{lines}" if where == "after" else f"{lines}{anchor}\n"
        (tmp_path / file).write_text(text.replace(anchor + "\n", inserted))
    test = TEST.replace("TRIAL", TRIAL.findall(recipe)[0])
    (tmp_path / "crates" / "scenario" / "tests" / "flash.rs").write_text(test)
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target")}
    # Its own crates are not optimised; those of others are built already, as the extension needs them.
    crates = [crate.name for crate in (ROOT / "crates").iterdir()]
    quick = [part for name in crates for part in ("--config", f"profile.dev.package.headrace-{name}.opt-level=0")]
    command = ["cargo", *quick, "test", "--quiet", "-p", "headrace-scenario", "-p", "headrace-py", "--test", "flash"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 passed" in ran.stdout
