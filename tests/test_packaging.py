"""Descriptions of the package for others: each says what pyproject.toml and Cargo.toml say."""

import json
import re
import tomllib
from typing import Any

import jsonschema
import pytest
import yaml

import headrace
from conftest import ROOT

# Names of packages that conda-forge has under another.
IN_CONDA = {"duckdb": "python-duckdb"}


def project() -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"])


def recipe() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text()))


def test_all_have_one_version_and_one_license() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    metadata = json.loads((ROOT / "codemeta.json").read_text())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {metadata["version"], citation["version"], recipe()["context"]["version"]} == {version}
    assert {citation["license"], recipe()["about"]["license"], metadata["license"].rpartition("/")[2]} == {
        project()["license"]
    }
    assert metadata["keywords"] == project()["keywords"]
    for file in ("buildInstructions", "readme"):
        assert (ROOT / metadata[file]).is_file()


def test_the_conda_recipe_has_the_dependencies_of_the_wheel() -> None:
    wanted = [re.fullmatch(r"([\w-]+)(>=.+)", one) for one in project()["dependencies"]]
    named = {f"{IN_CONDA.get(one[1], one[1])} {one[2]}" for one in wanted if one}
    assert len(named) == len(wanted)
    assert {*recipe()["requirements"]["run"]} == named | {f"python {project()['requires-python']}"}


@pytest.mark.parametrize("kind", ["scenario", "experiment"])
def test_the_schema_store_has_an_entry_for_each_schema_that_validates(kind: str) -> None:
    entries = json.loads((ROOT / "packaging" / "schemastore.json").read_text())["schemas"]
    [entry] = [one for one in entries if one["name"] == f"headrace {kind}"]
    assert set(entry) == {"name", "description", "fileMatch", "url"}
    assert f"`headrace schema {kind}`" in entry["description"]
    jsonschema.Draft202012Validator.check_schema(headrace.schema(kind))


def test_the_container_needs_images_of_debian_alone() -> None:
    images = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert images == ["debian:trixie-slim"] * 2
