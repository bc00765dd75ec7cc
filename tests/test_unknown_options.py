"""Options that no command has, but which are fields of the scenario."""

from pathlib import Path

import pytest

from conftest import ROOT, Run

EXAMPLE = ROOT / "examples" / "raid0-split-merge.yaml"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["--requests", "1000"], "Did you mean `--set run.requests=1000`?"),
        (["--warm-up=10 s"], "Did you mean `--set run.warm_up=10 s`?"),
        (["--disks", "8"], "Did you mean `--set system.tds.disks=8`?"),
        (["--stripe-unit"], "Did you mean `--set system.tds.stripe_unit=VALUE`?"),
        (["--sed", "7"], "Possible options: --seed"),
        (["--out", "x.html"], "Possible options: --report"),
        (["--jobs", "4"], "Possible options: --threads"),
        (["--colour", "red"], "No such option: --colour"),
    ],
)
def test_a_field_is_what_was_meant(headrace: Run, tmp_path: Path, given: list[str], meant: str) -> None:
    refused = headrace("run", EXAMPLE, *given, cwd=tmp_path)
    assert refused.returncode == 2
    told = " ".join(refused.stderr.replace("│", " ").split())
    assert meant in told
    assert ("Did you mean" in told) == ("Did you mean" in meant)
    assert not list(tmp_path.iterdir())


def test_other_commands_have_another_name_for_what_varies(headrace: Run) -> None:
    refused = headrace("capacity", EXAMPLE, "--vary", "system.tds.disks=4,8")
    assert "Possible options: --increase" in " ".join(refused.stderr.replace("│", " ").split())


def test_a_file_that_cannot_be_read_still_has_the_fields_of_a_run(headrace: Run, tmp_path: Path) -> None:
    refused = headrace("run", "missing.yaml", "--requests", "1000", cwd=tmp_path)
    assert "Did you mean `--set run.requests=1000`?" in refused.stderr


def test_a_comparison_with_set_alone_says_what_is_missing(headrace: Run) -> None:
    refused = headrace("compare", EXAMPLE, "--set", "system.tds.disks=8")
    told = " ".join(refused.stderr.replace("│", " ").split())
    assert (
        "There is no second scenario: name its file, or what differs: `--with PATH=VALUE`. `--set` changes both."
        in told
    )
