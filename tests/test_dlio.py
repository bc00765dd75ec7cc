"""Configurations of DLIO become training: every option is honoured, or named as ignored."""

import json
from pathlib import Path

import pytest
import yaml

from conftest import Run
from headrace import Scenario, ScenarioError
from headrace.measurement import dlio

UNET3D = """
model: {name: unet3d, model_size_bytes: 499153191}
framework: pytorch
workflow: {generate_data: False, train: True, checkpoint: True}
dataset:
  {data_folder: data/unet3d/, format: npz, num_files_train: 168, num_samples_per_file: 1, record_length_bytes: 1466006,
   record_length_bytes_stdev: 683418, record_length_bytes_resize: 20971}
reader: {data_loader: pytorch, batch_size: 7, read_threads: 4, prefetch_size: 6, file_shuffle: seed}
train: {epochs: 5, computation_time: 0.0323}
checkpoint: {checkpoint_folder: checkpoints/unet3d, checkpoint_after_epoch: 5, epochs_between_checkpoints: 2}
metric: {au: 0.90}
"""

RESNET50 = """
framework: tensorflow
dataset: {num_files_train: 16, num_samples_per_file: 1251, record_length: 114660.07, format: tfrecord}
train: {computation_time: {mean: 0.224, stdev: 0.1}, epochs: 3}
data_reader: {data_loader: tensorflow, read_threads: 8, computation_threads: 8, batch_size: 400, transfer_size: 1048576}
"""


def made(tmp_path: Path, text: str, accelerators: int = 1) -> dlio.TrainingScenario:
    file = tmp_path / "dlio.yaml"
    file.write_text(text)
    return dlio.scenario(file, accelerators=accelerators)


def steps(found: dlio.TrainingScenario) -> dict[str, object]:
    return dict(found.document["workload"]["training"]["arrivals"]["steps"])


def test_workers_of_pytorch_read_whole_batches(tmp_path: Path) -> None:
    found = made(tmp_path, UNET3D, accelerators=2)
    assert steps(found) == {
        "accelerators": 2,
        "batch": 7,
        "compute": "32.3 ms",
        "threads": 4,
        "fetch": "batch",
        "prefetch": 8,  # A worker has ⌈6/4⌉.
        "read": "1 MiB",
        "preprocess": "0 ms",
        "samples": 168,
        "epochs": 5,
        "checkpoint": {
            **{"every": 24, "first": 60, "writers": 1, "size": "499153191 B"},
            **{"write": "1 MiB", "in_flight": 32},
        },
    }
    sizes = [int(one["size"].removesuffix(" B")) for one in found.document["workload"]["training"]["size"]["mix"]]
    mean = sum(sizes) / len(sizes)
    assert mean == pytest.approx(1466006, rel=1e-3)
    # That of a product of two dimensions, each with half of it, less what sixteen sizes leave out.
    assert (sum((size - mean) ** 2 for size in sizes) / len(sizes)) ** 0.5 == pytest.approx(683418 / 2**0.5, rel=0.06)


def test_parallel_reads_of_tensorflow_fill_a_batch_together(tmp_path: Path) -> None:
    found = steps(made(tmp_path, RESNET50))
    assert (found["fetch"], found["threads"], found["prefetch"]) == ("sample", 8, 10)
    assert (found["samples"], found["samples_per_file"], found["read"]) == (16 * 1251, 1251, "1 MiB")
    assert found["compute"] == {"erlang": {"stages": 5, "mean": "224 ms"}}
    assert found["shuffle"] is False


def test_tensorflow_has_three_files_open_for_each_that_it_reads(tmp_path: Path) -> None:
    cosmoflow = """
framework: tensorflow
dataset: {num_files_train: 5000, num_samples_per_file: 1, record_length: 2828486, format: tfrecord}
train: {computation_time: 0.0035}
reader: {data_loader: tensorflow, read_threads: 4, batch_size: 1}
"""
    found = made(tmp_path, cosmoflow)
    # Twelve files; a batch of the parallel map; and two that are prefetched.
    assert (steps(found)["threads"], steps(found)["prefetch"]) == (12, 12 + 1 + 2)
    assert any("hand_over" in remark for remark in found.remarks)


def test_an_option_given_by_a_wrong_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dlio.yaml").write_text(UNET3D)
    with pytest.raises(ScenarioError, match=r"did you mean `dataset\.num_files_train`"):
        dlio.scenario(tmp_path / "dlio.yaml", params=["dataset.num_file_train=5600"])


def test_options_that_say_nothing_here_are_ignored_also_if_they_are_given(tmp_path: Path) -> None:
    (tmp_path / "dlio.yaml").write_text(UNET3D)
    alone = ["workflow.train=false", "checkpoint.num_checkpoints_write=1", "reader.batch_size=4"]
    found = dlio.scenario(tmp_path / "dlio.yaml", params=[*alone, "checkpoint.steps_between_checkpoints=3"])
    said = "\n".join(found.remarks)
    assert "`reader.batch_size` is ignored: nothing is read" in said
    assert "`checkpoint.steps_between_checkpoints` is ignored: checkpoints follow each other" in said
    (tmp_path / "dlio.yaml").write_text(RESNET50)
    assert steps(dlio.scenario(tmp_path / "dlio.yaml", params=["data_reader.batch_size=300"]))["batch"] == 300


def test_each_option_is_honoured_or_named(tmp_path: Path) -> None:
    remarks = "\n".join(made(tmp_path, UNET3D + "storage: {storage_type: s3}\nreader_of: {mine: 1}\n").remarks)
    for option in (
        *("model.name", "workflow.generate_data", "dataset.data_folder", "dataset.record_length_bytes_resize"),
        *("checkpoint.checkpoint_folder", "metric.au", "storage.storage_type"),
    ):
        assert f"`{option}` is ignored: " in remarks
    assert "`reader_of.mine` is ignored: headrace does not know this option" in remarks
    for option in ("read_threads", "checkpoint_after_epoch", "record_length_bytes_stdev", "file_shuffle", "epochs"):
        assert f"{option}` is ignored" not in remarks


@pytest.mark.parametrize("size", [65536, 1000000, 1 << 20, 1234567])
def test_round_sizes_are_read_back(size: int, tmp_path: Path) -> None:
    text = UNET3D.replace("record_length_bytes: 1466006", f"record_length_bytes: {size}")
    for checkpoint in ("499153191", str(size)):
        found = made(tmp_path, text.replace("499153191", checkpoint))
        assert found.document["system"]["storage"]["type"] == "ssd"


def test_steps_are_limited_in_each_epoch(tmp_path: Path) -> None:
    found = steps(made(tmp_path, UNET3D.replace("train: {", "train: {total_training_steps: 10, "), accelerators=2))
    assert (found["samples"], found["epochs"]) == (140, 5)


DLRM = """
framework: pytorch
dataset:
  format: parquet
  num_files_train: 4
  num_samples_per_file: 65536
  record_length_bytes: 700
  parquet:
    row_group_size: 6144
    columns: [{name: a, dtype: float32, read: true}, {name: b, dtype: float64, size: 2, read: false}]
reader: {data_loader: pytorch, batch_size: 16384, read_threads: 4}
train: {computation_time: 0.1}
"""


def test_row_groups_of_parquet_are_read_once(tmp_path: Path) -> None:
    """A batch is 2.7 row groups, so three reads, of a column of 4 of 20 bytes."""
    found = made(tmp_path, DLRM, accelerators=2)
    of = steps(found)
    assert (of["batch"], of["samples"], of["samples_per_file"]) == (3, 16 * 3, 12)
    size = int(found.document["workload"]["training"]["size"].removesuffix(" B"))
    assert size * 3 == pytest.approx(16384 * 700 * 0.2, rel=1e-5)
    assert of["read"] == "840 KiB"
    assert any("of each sample 20.0%, 1 of the columns" in remark for remark in found.remarks)
    whole = made(tmp_path, DLRM.replace("read: false", "read: true").replace("row_group_size: 6144", "x: 1"))
    assert (steps(whole)["batch"], steps(whole)["read"]) == (1, "1 MiB")
    assert whole.document["workload"]["training"]["size"] == f"{16384 * 700} B"


LLAMA_8B = """
model:
  name: llama_8b
  type: transformer
  num_layers: 32
  model_datatype: fp16
  optimizer_datatype: fp32
  parallelism: {pipeline: 1, tensor: 1, zero_stage: 3}
  transformer: {vocab_size: 128256, hidden_size: 4096, ffn_hidden_size: 14336, num_attention_heads: 32, num_kv_heads: 8}
framework: pytorch
workflow: {generate_data: False, train: False, checkpoint: True}
checkpoint: {checkpoint_folder: checkpoints/llama_8b, time_between_checkpoints: 5, num_checkpoints_write: 10,
  num_checkpoints_read: 10, fsync: True}
"""


def written(found: dlio.TrainingScenario) -> float:
    of = steps(found)
    checkpoint, accelerators = of["checkpoint"], of["accelerators"]
    assert isinstance(checkpoint, dict)
    assert isinstance(accelerators, int)
    size, shard = (float(str(checkpoint.get(part, "0 B")).removesuffix(" B")) for part in ("size", "shard"))
    return size * int(checkpoint.get("writers", accelerators)) + shard * accelerators


@pytest.mark.parametrize(
    ("model", "accelerators", "gib"),
    [
        ({}, 8, 105),
        ({"layers": 80, "hidden": 8192, "ffn": 28672, "heads": 128, "tensor": 8}, 64, 912),
        (
            {"layers": 126, "hidden": 16384, "ffn": 53248, "heads": 128, "tensor": 8, "pipeline": 32, "stage": 1},
            512,
            5290,
        ),
    ],
)
def test_checkpoints_of_llama_have_the_sizes_that_mlperf_storage_publishes(
    tmp_path: Path, model: dict[str, int], accelerators: int, gib: float
) -> None:
    """The sizes are those of the rules of MLPerf Storage v2.0, in GiB."""
    of = {"layers": 32, "hidden": 4096, "ffn": 14336, "heads": 32, "tensor": 1, "pipeline": 1, "stage": 3} | model
    text = LLAMA_8B.replace("num_layers: 32", f"num_layers: {of['layers']}").replace(
        "zero_stage: 3", f"zero_stage: {of['stage']}"
    )
    text = text.replace("{pipeline: 1, tensor: 1", f"{{pipeline: {of['pipeline']}, tensor: {of['tensor']}")
    text = text.replace(": 4096", f": {of['hidden']}").replace(": 14336", f": {of['ffn']}")
    text = text.replace("num_attention_heads: 32", f"num_attention_heads: {of['heads']}")
    assert written(made(tmp_path, text, accelerators)) / 2**30 == pytest.approx(gib, rel=0.005)


def test_a_part_of_the_accelerators_writes_its_part(tmp_path: Path) -> None:
    whole = made(tmp_path, LLAMA_8B, 8)
    assert any("8,030,261,248 parameters, on 8 accelerators at ZeRO stage 3" in remark for remark in whole.remarks)
    file = tmp_path / "dlio.yaml"
    part = dlio.scenario(file, accelerators=2, params=["checkpoint.mode=subset", "model.parallelism.data=8"])
    assert written(part) == written(whole) / 4
    assert any("2 of them write their part of it" in remark for remark in part.remarks)


def test_a_part_needs_to_know_the_whole(tmp_path: Path) -> None:
    made(tmp_path, LLAMA_8B, 8)
    with pytest.raises(ScenarioError, match="is `subset`, and nothing says of how many accelerators"):
        dlio.scenario(tmp_path / "dlio.yaml", accelerators=2, params=["checkpoint.mode=subset"])


def test_a_checkpoint_ends_with_its_flush_where_dlio_does(tmp_path: Path) -> None:
    def flushes(text: str) -> bool:
        steps = made(tmp_path, text, 8).document["workload"]["training"]["arrivals"]["steps"]
        return "sync" in steps["checkpoint"]

    assert flushes(LLAMA_8B)
    assert not flushes(LLAMA_8B.replace("fsync: True", "fsync: False"))


def test_accelerators_without_a_part_of_the_model_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="gives 8 accelerators a part of the model, not 12"):
        made(tmp_path, LLAMA_8B.replace("tensor: 1", "tensor: 8"), 12)


def test_a_drive_is_enlarged_for_what_its_writers_write(tmp_path: Path) -> None:
    # At stage 0 only the eight that hold the model write; all 64 together would not fit.
    text = LLAMA_8B.replace("tensor: 1", "tensor: 8").replace("zero_stage: 3", "zero_stage: 0")
    (tmp_path / "dlio.yaml").write_text(text)
    found = dlio.scenario(tmp_path / "dlio.yaml", accelerators=64, device="samsung-pm883-480gb")
    assert written(found) < 2e11
    assert not [remark for remark in found.remarks if "does not fit" in remark]


def test_checkpoints_alone_are_written_and_read_back(tmp_path: Path, headrace: Run) -> None:
    small = (
        LLAMA_8B.replace("num_layers: 32", "num_layers: 1").replace(": 128256", ": 1000").replace(": 14336", ": 1000")
    )
    found = made(tmp_path, small.replace("hidden_size: 4096", "hidden_size: 512"), accelerators=2)
    assert not [remark for remark in found.remarks if "num_checkpoints" in remark or "time_between" in remark]
    assert steps(found)["compute"] == "5000 ms"
    scenario = tmp_path / "llama.yaml"
    scenario.write_text(yaml.safe_dump(found.document))
    of = json.loads(headrace("run", str(scenario), "--json").stdout)["streams"][0]["steps"]
    assert (of["checkpoints"], of["restores"], of["au"]) == (10, 10, None)
    assert of["checkpoint_bytes"] == written(found)


def test_options_of_training_are_ignored_where_nothing_is_read(tmp_path: Path) -> None:
    told = made(tmp_path, LLAMA_8B + "dataset: {record_length_bytes: 5}\nreader: {batch_size: 3}\n").remarks
    for option in ("dataset.record_length_bytes", "reader.batch_size"):
        assert f"`{option}` is ignored: nothing is read" in told
    trained = made(tmp_path, UNET3D.replace("checkpoint: {", "checkpoint: {num_checkpoints_write: 3, ")).remarks
    assert "`checkpoint.num_checkpoints_write` is ignored: it is of runs without training" in trained


def test_a_large_checkpoint_is_written_once(tmp_path: Path) -> None:
    found = made(tmp_path, LLAMA_8B, 8)
    checkpoint = steps(found)["checkpoint"]
    assert isinstance(checkpoint, dict)
    assert (steps(found)["epochs"], checkpoint["restores"]) == (1, 1)
    assert found.document["run"]["requests"] > 2 * 8 * int(checkpoint["size"].removesuffix(" B")) // 2**20
    assert any("one of each is simulated" in remark for remark in found.remarks)


def test_what_neither_reads_nor_writes_is_refused_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"`workflow\.train` is false: nothing is read, and no checkpoints"):
        made(tmp_path, "workflow: {generate_data: True, train: False}\n")
    with pytest.raises(ScenarioError, match="`num_checkpoints_read` are missing"):
        made(tmp_path, "workflow: {train: False, checkpoint: True}\n")
    with pytest.raises(ScenarioError, match=r"`model\.model_datatype` is `fp12`"):
        made(tmp_path, LLAMA_8B.replace("fp16", "fp12"))
    with pytest.raises(ScenarioError, match="has no `dataset`, `reader`, `train`, `checkpoint` or `workflow`"):
        made(tmp_path, "system: {}\n")


def test_a_checkpoint_has_optimiser_groups_and_layers(tmp_path: Path) -> None:
    more = "checkpoint: {num_layers: 3, layer_parameters: [100, 20], optimization_groups: [1000, 10], "
    found = steps(made(tmp_path, UNET3D.replace("checkpoint: {checkpoint_folder", f"{more}checkpoint_folder")))
    checkpoint = found["checkpoint"]
    assert isinstance(checkpoint, dict)
    assert checkpoint["size"] == f"{499153191 + 3 * 1010 + 3 * 120} B"


def test_options_are_replaced_and_a_data_set_has_a_step(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "unet3d.yaml").write_text(UNET3D)
    few = ["import", "dlio", "unet3d.yaml", "-o", "load.yaml", "--accelerators", 100]
    refused = headrace(*few, cwd=tmp_path)
    assert (refused.returncode, "--param dataset.num_files_train=N" in refused.stderr) == (2, True)
    assert headrace(*few, "--param", "dataset.num_files_train=7000", cwd=tmp_path).returncode == 0
    assert (
        yaml.safe_load((tmp_path / "load.yaml").read_text())["workload"]["training"]["arrivals"]["steps"]["samples"]
        == 7000
    )
    # 1 PB lies on many drives, since none maps more than 16 TiB.
    large = headrace(*few, "--param", "dataset.num_files_train=7000000", cwd=tmp_path)
    assert "RAID 0 of" in large.stdout
    assert headrace("check", "load.yaml", cwd=tmp_path).returncode == 0


def test_an_imported_scenario_runs(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "unet3d.yaml").write_text(UNET3D)
    said = headrace("import", "dlio", "unet3d.yaml", "-o", "load.yaml", "--accelerators", 2, cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert "load.yaml has the load of unet3d.yaml: training." in said.stdout
    assert yaml.safe_load((tmp_path / "load.yaml").read_text())["system"]["storage"]["type"] == "ssd"
    found = json.loads(headrace("run", "load.yaml", "--json", cwd=tmp_path).stdout)
    assert found["ended"] == "done"
    of = found["streams"][0]["steps"]
    # Steps after the warm-up; the first checkpoint is that after the last epoch.
    assert of["steps"] <= 2 * 12 * 5
    assert of["checkpoints"] == 1


def test_small_samples_are_read_in_order_unless_each_is_shuffled(tmp_path: Path) -> None:
    dlrm = UNET3D.replace("num_samples_per_file: 1,", "num_samples_per_file: 4000,")
    assert steps(made(tmp_path, dlrm))["samples_per_file"] == 4000
    anywhere = made(tmp_path, dlrm.replace("file_shuffle: seed", "file_shuffle: seed, sample_shuffle: random"))
    assert "samples_per_file" not in steps(anywhere)
    assert any("`reader.sample_shuffle`" in remark for remark in anywhere.remarks)


def test_what_is_not_drawn_as_asked_is_said(tmp_path: Path) -> None:
    far = made(
        tmp_path, RESNET50.replace("stdev: 0.1", "stdev: 1.5").replace("data_loader: tensorflow", "data_loader: nosuch")
    )
    assert any("a deviation of 224 ms, not 1500 ms" in remark for remark in far.remarks), far.remarks
    assert any("`nosuch` is simulated as TensorFlow's" in remark for remark in far.remarks)
    jax = made(tmp_path, RESNET50.replace("framework: tensorflow", "framework: jax"))
    assert any("`framework`: `jax` is unknown to DLIO" in remark for remark in jax.remarks)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("train: True", "train: False"), "`checkpoint.num_checkpoints_write` and `num_checkpoints_read` are missing"),
        (("data_loader: pytorch", "data_loader: synthetic"), "is synthetic: nothing is read"),
        (("batch_size: 7", "batch_size: many"), "`reader.batch_size` is `many`, not a number"),
        (("batch_size: 7", "batch_size: 0"), "`reader.batch_size` is 0"),
        (("read_threads: 4", "read_threads: 5000"), "write at most 1365"),
        (("framework:", "framework: ["), "is not YAML"),
        (("batch_size: 7", "batch_size: 32.7"), "`reader.batch_size` is 32.7 = help: write a whole number"),
        (
            ("format: npz,", "format: npz, record_dims: [a, b],"),
            "`dataset.record_dims` is ['a', 'b'] = help: give whole",
        ),
        (("format: npz,", "format: parquet, parquet: {columns: [a]},"), "`dataset.parquet.columns` is ['a']"),
        (
            ("checkpoint_after", "optimization_groups: [x], checkpoint_after"),
            "`checkpoint.optimization_groups` is ['x']",
        ),
    ],
)
def test_what_cannot_be_simulated_is_refused(headrace: Run, tmp_path: Path, change: tuple[str, str], says: str) -> None:
    (tmp_path / "bad.yaml").write_text(UNET3D.replace(*change))
    refused = headrace("import", "dlio", "bad.yaml", "-o", "out.yaml", cwd=tmp_path)
    assert refused.returncode == 2
    assert says in " ".join(refused.stderr.split())
    assert not (tmp_path / "out.yaml").exists()


def test_defaults_are_files_beside_it(tmp_path: Path) -> None:
    base = {"dataset": {"num_files_train": 100, "record_length_bytes": 1_000_000}, "reader": {"batch_size": 7}}
    (tmp_path / "unet3d.yaml").write_text(yaml.safe_dump(base | {"train": {"computation_time": 0.3}}))
    own = tmp_path / "own.yaml"
    own.write_text(yaml.safe_dump({"defaults": ["unet3d", "_self_"], "reader": {"batch_size": 4}}))
    found = dlio.scenario(own).document["workload"]["training"]
    steps = found["arrivals"]["steps"]
    assert (found["size"], steps["samples"], steps["batch"], steps["compute"]) == ("1 MB", 100, 4, "300 ms")
    # What is named after it overrides it.
    own.write_text(yaml.safe_dump({"defaults": ["_self_", "unet3d"], "reader": {"batch_size": 4}}))
    assert dlio.scenario(own).document["workload"]["training"]["arrivals"]["steps"]["batch"] == 7
    for defaults, told in (
        (5, "not a list"),
        ("unet3d", "not a list"),
        (["bert"], "there is no"),
        ([{"framework": "x"}], "not the name of a file"),
        (["own"], "back"),
    ):
        own.write_text(yaml.safe_dump({"defaults": defaults}))
        with pytest.raises(ScenarioError, match=told):
            dlio.scenario(own)


def test_options_may_be_spelt_as_on_the_command_line_of_dlio(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(yaml.safe_dump({"hydra": {"run": {}}, "workload": {"dataset": {"num_files_train": 100}}}))
    made = dlio.scenario(file, params=["++workload.reader.batch_size=5"])
    assert made.document["workload"]["training"]["arrivals"]["steps"]["batch"] == 5
    assert any("computing takes no time" in remark for remark in made.remarks)


def test_steps_to_a_checkpoint_are_counted_in_each_epoch(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    document = {
        "dataset": {"num_files_train": 100},
        "workflow": {"checkpoint": True},
        "metric": {"au": 0.7},
        "checkpoint": {"steps_between_checkpoints": 20, "model_size": 10**6},
    }
    file.write_text(yaml.safe_dump(document))
    made = dlio.scenario(file)
    checkpoint = made.document["workload"]["training"]["arrivals"]["steps"]["checkpoint"]
    assert (checkpoint["every"], checkpoint["each_epoch"], checkpoint["in_flight"]) == (20, True, 32)
    assert any("au(training) > 70 %" in remark for remark in made.remarks)


def test_an_epoch_has_whole_files(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    data: dict[str, object] = {"num_files_train": 4, "num_samples_per_file": 1200, "record_length_bytes": 1000}
    more = {"train": {"total_training_steps": 200}, "reader": {"batch_size": 10}}
    file.write_text(yaml.safe_dump({"dataset": data, **more}))
    found = dlio.scenario(file)
    Scenario(yaml.safe_dump(found.document)).check()
    assert steps(found)["samples"] == 2400
    assert "an epoch ends with a file: it has 240 steps" in found.remarks


def test_a_run_is_as_long_as_its_steps_and_checkpoints_need(tmp_path: Path) -> None:
    def of(**more: object) -> tuple[int, list[str]]:
        file = tmp_path / "a.yaml"
        file.write_text(yaml.safe_dump({"dataset": {"num_files_train": 1000, "record_length_bytes": 10**7}} | more))
        made = dlio.scenario(file)
        return made.document["run"]["requests"], made.remarks

    # A sample is 39 reads of 256 KiB; 200 steps of one are fewer than the least. With ten, an epoch has 100.
    assert of()[0] == 20_000
    assert of(reader={"batch_size": 10})[0] == 100 * 10 * 39
    steps: dict[str, dict[str, object]] = {"workflow": {"checkpoint": True}}
    steps["checkpoint"] = {"steps_between_checkpoints": 50, "model_size": 10**10}
    requests, remarks = of(**steps)
    assert requests == 200 * 39 + 4 * 9537
    assert not any("`run.requests`" in remark for remark in remarks)
    steps["checkpoint"]["steps_between_checkpoints"] = 2000
    assert any("as with DLIO, no checkpoint is written after 2000" in remark for remark in of(**steps)[1])
    steps["checkpoint"]["steps_between_checkpoints"] = 1
    assert any("`run.requests` is 1,000,000" in remark for remark in of(**steps)[1])
