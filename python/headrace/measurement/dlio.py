"""DLIO's configurations as scenarios: each option is honoured, or named as ignored with the reason.

Options, defaults and their meaning: https://dlio-benchmark.readthedocs.io/en/latest/config.html and DLIO's own loaders.
"""

import difflib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any

from headrace import _core
from headrace.errors import read_text, refusal
from headrace.measurement import row_groups, stand_in
from headrace.measurement.row_groups import RowGroups
from headrace.measurement.transformer import BITS, Transformer
from headrace.quantities import exact_size

Json = dict[str, Any]
PARTS = ("dataset", "reader", "train", "checkpoint", "workflow")
OR_PARTS = ", ".join(f"`{part}`" for part in PARTS[:-1]) + f" or `{PARTS[-1]}`"
HELP = "give a configuration of DLIO, as `configs/workload` of DLIO and MLPerf Storage have them"
# Number of equally likely sizes that stand for normal ones.
SIZES = 16
# A read of training files: what the kernel reads ahead of PyTorch at most, and of TensorFlow the `transfer_size`.
READ, TRANSFER = 1 << 20, 262_144
# Batches that are read ahead where a configuration does not say.
PREFETCH = 2
# Parallel reads of `tf.data`: for each file that records are taken from, two more are open, each with a thread of its
# own, and of each file two records are read ahead (`ParallelInterleaveDataset`, tensorflow/python/data/ops/readers.py).
FILES_OPEN, RECORDS_AHEAD = 3, 2
FRAMEWORKS = ("tensorflow", "pytorch")
# The loaders that DLIO has.
LOADERS = ("tensorflow", "pytorch", "dali", "native_dali", "synthetic")
# A deviation that is off by more than this share is said.
FAR_OFF = 0.1
# Threads of an accelerator are at most 4096, and TensorFlow may have one for each open file.
MOST_THREADS = 4096 // FILES_OPEN
# Requests that the kernel gives to a device at once when it writes back (`BLK_MAX_REQUEST_COUNT`, block/blk.h), and
# windows that it reads ahead: the present one and the next (mm/readahead.c).
WRITTEN_BACK, WINDOWS = 32, 2
WRITES_BACK = "as the kernel writes back: with direct I/O, set `in_flight`"
# Requests of a run, at least and at most, and the steps of an accelerator that it has between these bounds: enough for
# each batch that is prefetched, so that few steps find theirs from the beginning.
LEAST_REQUESTS, MOST_REQUESTS = 20_000, 1_000_000
STEPS, STEPS_EACH = 200, 25

# Options that say nothing where only checkpoints are written.
OF_TRAINING = ("dataset.", "reader.", "train.")
# The transformer that DLIO takes where nothing is said.
TRANSFORMER = {
    "hidden_size": 2048,
    "ffn_hidden_size": 8192,
    "vocab_size": 32_000,
    "num_attention_heads": 32,
    "num_kv_heads": 8,
}

PLACES = "where data lies is the scenario's: `to` names a component"
# What stalled single accelerators of MLPerf Storage v1.0, and fits of its study: see studies/mlperf_storage.
LOADER = (
    "loaders hand batches over at once; those of MLPerf Storage took 0.7 to 10 ms for each, by model and host: for "
    "yours, set `hand_over` to compute × (100 % ÷ AU − 100 %) of a single accelerator"
)
PREPARED = "the data set is there before a run"
CONTENT = "what the data contains makes no difference here"
OWN = "headrace has reports of its own"
ALIKE = "records in row groups are all of one length"
ALONE = "checkpoints follow each other where nothing is trained"
# By the beginning of their names. The longest that fits counts.
IGNORED = {
    "model": "it says nothing of reads and writes",
    "dataset.parquet": "how rows are compressed and divided among files makes no difference to what is read",
    "storage.storage_options": "columns and row groups are those of `dataset.parquet`",
    "workflow.generate_data": PREPARED,
    "workflow.evaluation": "only training is simulated",
    "workflow.profiling": OWN,
    "workflow.debug": OWN,
    "dataset.data_folder": PLACES,
    "dataset.num_subfolders_train": "directories take no time here",
    "dataset.num_subfolders_eval": "only training is simulated",
    "dataset.num_files_eval": "only training is simulated",
    "dataset.file_prefix": "files have no names",
    "dataset.compression": "the size of a record is that in its file, and decompression is `preprocess_time`",
    "dataset.enable_chunking": "a sample is read from its first byte to its last",
    "dataset.chunk_size": "a sample is read from its first byte to its last",
    "dataset.hdf5": "a sample is read from its first byte to its last",
    "dataset.keep_files": PREPARED,
    "dataset.generation_buffer_size": PREPARED,
    "dataset.record_length_bytes_stdev": ALIKE,
    "dataset.record_length_stdev": ALIKE,
    "dataset.record_length_std": ALIKE,
    "dataset.record_dims": ALIKE,
    "dataset.record_element_type": ALIKE,
    "checkpoint.checkpoint_after_epoch": ALONE,
    "checkpoint.epochs_between_checkpoints": ALONE,
    "checkpoint.steps_between_checkpoints": ALONE,
    "dataset.record_length_resize": "it is the size in memory, after reading; `preprocess_time` is what it takes",
    "dataset.record_length_bytes_resize": "it is the size in memory, after reading; `preprocess_time` is what it takes",
    "reader.batch_size_eval": "only training is simulated",
    "reader.shuffle_size": "all files are shuffled",
    "reader.seed": "random numbers are headrace's; see `run.seed`",
    "reader.pin_memory": "copies within the host are `hand_over`",
    "reader.dont_use_mmap": "each piece of a file is read once either way",
    "reader.odirect": "nothing is cached by the host either way",
    "reader.file_access": "each sample is read by one thread either way",
    "reader.read_type": "samples are read when they are wanted, not all before",
    "reader.multiprocessing_context": "starting processes takes no time here",
    "reader.data_loader_classname": "a custom loader is simulated as that of the framework",
    "reader.data_loader_sampler": "a custom loader is simulated as that of the framework",
    "reader.reader_classname": "a custom reader is simulated as that of the framework",
    "reader.transformed_record": "it is the size in memory, after reading; `preprocess_time` is what it takes",
    "train.seed": "random numbers are headrace's; see `run.seed`",
    "train.seed_change_epoch": "each epoch has another order",
    "evaluation": "only training is simulated",
    "checkpoint.checkpoint_folder": PLACES,
    "checkpoint.rank_sync": "all wait for the end of a checkpoint, either way",
    "checkpoint.num_checkpoints": "it is of runs without training",
    "checkpoint.time_between_checkpoints": "it is of runs without training",
    "checkpoint.recovery_rank_shift": "nothing is cached by the host, so any accelerator may read any file",
    "checkpoint.mode": "`--accelerators` and `model.parallelism.data` say which part of all write",
    "checkpoint.randomize_tensor": CONTENT,
    "checkpoint.ksm": CONTENT,
    "checkpoint.checkpoint_mechanism_classname": "a custom mechanism is simulated as writing `model_size`",
    "storage": PLACES,
    "output": OWN,
    "profiling": OWN,
    "metric": 'AU is a metric of each run: `headrace capacity … --until "au(training) > 90 %"`',
    "metric.exclude": "AU leaves out the first step of each epoch and after each checkpoint, and no others",
    "hydra": OWN,
}


@dataclass(frozen=True)
class Pipeline:
    """What a configuration of DLIO says of how an accelerator is fed, and the threads and batches that follow."""

    read_threads: int
    batch: int
    # Batches to prefetch, and those of which a step of TensorFlow's parallel map is at work.
    asked: int
    mapped: int
    samples_per_file: int
    is_pytorch: bool

    @property
    def threads(self) -> int:
        """Threads, or processes, that read for an accelerator."""
        alone = not self.is_pytorch and self.samples_per_file == 1
        return max(self.read_threads, 1) * (FILES_OPEN if alone else 1)

    @property
    def prefetch(self) -> int:
        """Batches that are fetched ahead.

        PyTorch's workers have `prefetch_factor` batches each, 2 where nothing is said; without workers the process
        reads by itself. The pipeline of TensorFlow has those of its parallel map besides, and what its reads are ahead.
        """
        if not self.is_pytorch:
            records = self.read_threads * FILES_OPEN * min(self.samples_per_file, RECORDS_AHEAD)
            return self.asked + self.mapped + round(records / self.batch)
        return self.read_threads * (math.ceil(self.asked / self.read_threads) or 2) if self.read_threads else 0


@dataclass
class TrainingScenario:
    """The scenario made of a configuration, and which options it ignores."""

    document: Json
    remarks: list[str] = field(default_factory=list)


def scenario(
    path: Path, *, accelerators: int = 1, device: str | None = None, params: Sequence[str] = ()
) -> TrainingScenario:
    """Return the scenario that a configuration describes, on as many accelerators as DLIO would have processes.

    The data set lies on a drive of the model `device`. `params` replace options of the file, as on the command line of
    MLPerf Storage: `dataset.num_files_train=5600`. Raises `ScenarioError` where the file is no configuration, or one
    that cannot be simulated.
    """
    return _Configuration(path, accelerators, params).scenario(device)


class _Configuration:
    """The options of a file by their paths, of which those that were asked for are honoured."""

    def __init__(self, path: Path, accelerators: int, params: Sequence[str] = ()) -> None:
        import yaml

        self.path, self.accelerators = path, accelerators
        self.options = _options(path)
        if not any(option.startswith(tuple(f"{part}." for part in PARTS)) for option in self.options):
            raise refusal(path, f"{path} has no {OR_PARTS}, so it is no configuration of DLIO", HELP)
        given = set()
        for param in params:
            option, equals, value = param.partition("=")
            if not equals:
                raise refusal(path, f"`{param}` is no option with a value", "write `dataset.num_files_train=5600`")
            # As Hydra has it on DLIO's command line.
            option = option.strip().lstrip("+").removeprefix("workload.")
            given.add(option)
            try:
                self.options[option] = yaml.safe_load(value)
            except yaml.YAMLError:
                raise refusal(path, f"the value in `{param}` is not YAML", "close its brackets and quotes") from None
        # As they are called once aliases are resolved.
        self.given = {option.replace("data_reader.", "reader.") for option in given}
        self.honoured: set[str] = {"framework", "workflow.train", "dataset.format"}
        self.remarks: list[str] = []

    def bad(self, option: str, message: str, help_: str) -> Exception:
        return refusal(self.path, f"{self.path}: `{option}` {message}", help_)

    def get(self, *options: str) -> tuple[str, Any]:
        """Return the first of some names of an option that is there, and its value; None where none is."""
        self.honoured |= set(options)
        found = next((option for option in options if self.options.get(option) is not None), options[0])
        return found, self.options.get(found)

    def number(self, *options: str, default: float, least: float = 0) -> float:
        option, value = self.get(*options)
        if value is None:
            return default
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise self.bad(option, f"is `{value}`, not a number", f"write a number from {least:g} on") from None
        if not least <= number < math.inf:
            raise self.bad(option, f"is {value}", f"write a number from {least:g} on")
        return number

    def count(self, *options: str, default: int, least: int = 0) -> int:
        number = self.number(*options, default=default, least=least)
        if not float(number).is_integer():
            raise self.bad(self.get(*options)[0], f"is {number:g}", "write a whole number")
        return int(number)

    def word(self, option: str, default: str) -> str:
        value = self.get(option)[1]
        return str(default if value is None else value).lower()

    def is_on(self, option: str, default: bool) -> bool:
        return self.word(option, str(default)) in ("true", "yes", "on", "1")

    def time(self, option: str) -> str | Json:
        """Return a time that is constant or has one of DLIO's distributions."""
        value = self.options.get(option)
        if value is None and (of := {key[len(option) + 1 :]: self.options[key] for key in self._below(option)}):
            return self._drawn(option, of)
        mean = self.number(option, default=0.0)
        deviation = self.number(f"{option}_stdev", default=0.0)
        return self._normal(option, mean, deviation)

    def _below(self, option: str) -> list[str]:
        found = [key for key in self.options if key.startswith(f"{option}.")]
        self.honoured |= set(found)
        return found

    def _drawn(self, option: str, of: Json) -> str | Json:
        kind = str(of.get("type", "normal")).lower()
        number = {name: self.number(f"{option}.{name}", default=0.0) for name in of if name != "type"}
        match kind:
            case "normal":
                return self._normal(option, number.get("mean", 0.0), number.get("stdev", 0.0))
            case "uniform":
                return {"uniform": {"from": _time(number.get("min", 0.0)), "to": _time(number.get("max", 0.0))}}
            case "exponential":
                return {"exponential": _time(number.get("scale", 0.0))}
            case "gamma":
                shape, scale = number.get("shape", 1.0), number.get("scale", 0.0)
                return self._erlang(option, shape * scale, shape)
        mean = number.get("lam", number.get("mean", 0.0))
        self.remarks.append(f"`{option}`: of a `{kind}` distribution only the mean is taken")
        return _time(mean)

    def _normal(self, option: str, mean: float, deviation: float) -> str | Json:
        return self._erlang(option, mean, (mean / deviation) ** 2) if deviation > 0 else _time(mean)

    def _erlang(self, option: str, mean: float, shape: float) -> str | Json:
        """Return the distribution of whole stages whose mean is that given, and its deviation nearly."""
        stages = min(max(round(shape), 1), 1000)
        told = f"`{option}` is drawn as the sum of {stages} exponential stages with its mean"
        if abs(math.sqrt(shape / stages) - 1) > FAR_OFF:
            deviations = (_time(mean / math.sqrt(of)) for of in (stages, shape))
            told += ", and a deviation of {}, not {}".format(*deviations)
        self.remarks.append(told)
        return {"erlang": {"stages": stages, "mean": _time(mean)}}

    def scenario(self, device: str | None) -> TrainingScenario:
        self._aliases()
        if not self.is_on("workflow.train", default=True):
            return self._of(self._checkpoints_alone(), size="1 MiB", device=device)
        loader = self.word("reader.data_loader", "tensorflow")
        if loader not in LOADERS:
            self.remarks.append(
                f"`reader.data_loader`: `{loader}` is simulated as TensorFlow's; known are {', '.join(LOADERS)}"
            )
        framework = self.word("framework", "tensorflow")
        if framework not in FRAMEWORKS:
            self.remarks.append(
                f"`framework`: `{framework}` is unknown to DLIO; reads are those of `reader.data_loader`, {loader}"
            )
        if "synthetic" in (loader, self.word("dataset.format", "tfrecord")):
            raise self.bad("reader.data_loader", "is synthetic: nothing is read", "name a loader that reads files")
        groups = self._row_groups()
        steps = self._steps(groups, is_pytorch="pytorch" in loader or "dali" in loader)
        return self._of(
            steps, size=self._size_of_reads(groups, steps["batch"]) if groups else self._size(), device=device
        )

    def _of(self, steps: Json, *, size: str | Json, device: str | None) -> TrainingScenario:
        stream = {"to": "storage", "size": size, "arrivals": {"steps": steps}}
        system = {"storage": self._storage(stream, device)}
        self._name_ignored(trains=steps["batch"] > 0)
        document = {"system": system, "workload": {"training": stream}, "run": self._run(stream)}
        return TrainingScenario(document, self.remarks)

    def _run(self, stream: Json) -> Json:
        """Return the length of a run: of checkpoints alone, until the last is read back, if that is not too long."""
        steps = stream["arrivals"]["steps"]
        run: Json = {"seed": 1, "requests": MOST_REQUESTS}
        if steps["batch"]:
            return run | {"requests": self._enough(stream)}
        checkpoint = steps["checkpoint"]
        pieces = self._pieces(checkpoint)
        times = steps["epochs"] + checkpoint.get("restores", 0)
        if (needed := pieces * times) > MOST_REQUESTS:
            checkpoint["restores"], steps["epochs"] = min(checkpoint.get("restores", 0), 1), 1
            self.remarks.append(
                f"{times} checkpoints written and read back are {needed:,} requests; one of each is simulated, and all "
                "are alike: for more, set `epochs`, `restores` and `run.requests`"
            )
            needed = pieces * (1 + checkpoint["restores"])
        # The run ends by itself when the last is read back, which is after its last request.
        return run | {"requests": needed + 1, "warm_up": "none"}

    def _checkpoints_alone(self) -> Json:
        """Return steps that read nothing: writing checkpoints, and then reading them back."""
        if not self.is_on("workflow.checkpoint", default=False):
            told = "set `workflow.train` or `workflow.checkpoint`; headrace needs no data to be generated"
            raise self.bad("workflow.train", "is false: nothing is read, and no checkpoints are written", told)
        writes = int(self.number("checkpoint.num_checkpoints_write", default=-1, least=-1))
        reads = int(self.number("checkpoint.num_checkpoints_read", default=-1, least=-1))
        if writes <= 0 and reads <= 0:
            told = "MLPerf Storage sets it on its command line: `--param checkpoint.num_checkpoints_write=10`"
            raise self.bad("checkpoint.num_checkpoints_write", "and `num_checkpoints_read` are missing", told)
        if writes <= 0:
            self.remarks.append("a checkpoint is written before any is read")
        pause = max(self.number("checkpoint.time_between_checkpoints", default=-1, least=-1), 0.0)
        checkpoint = {"every": 1, **self._written(), "write": _size(READ), "in_flight": WRITTEN_BACK}
        checkpoint |= {"restores": reads, "reads_in_flight": WINDOWS} if reads > 0 else {}
        self.remarks.append(
            f"each writer has {WRITTEN_BACK} writes of {_size(READ)} in flight, {WRITES_BACK}; each accelerator has "
            f"{WINDOWS} reads, as it reads ahead: with direct I/O, set `reads_in_flight` too"
        )
        steps: Json = {"accelerators": self.accelerators, "batch": 0, "compute": _time(pause)}
        return steps | {"epochs": max(writes, 1), "checkpoint": checkpoint}

    def _aliases(self) -> None:
        for key in [key for key in self.options if key.startswith("data_reader.")]:
            self.options[f"reader.{key.removeprefix('data_reader.')}"] = self.options.pop(key)

    def _row_groups(self) -> RowGroups | None:
        """Return the row groups of a data set in parquet."""
        if self.word("dataset.format", "tfrecord") != "parquet":
            return None
        columns = self.get("dataset.parquet.columns")[1]
        if isinstance(columns, list) and not all(isinstance(one, dict) for one in columns):
            help_ = "write each as `{name: f0, dtype: float32, size: 1}`"
            raise self.bad("dataset.parquet.columns", f"is {columns!r}"[:80], help_)
        rows = self.count("dataset.parquet.row_group_size", default=row_groups.ROWS, least=1)
        per_file = self.count("dataset.num_samples_per_file", default=1, least=1)
        groups = row_groups.of(min(rows, per_file), columns if isinstance(columns, list) else [])
        self.honoured.add("dataset.parquet.read_mode")
        each = self._batch() / groups.reads(self._batch())
        self.remarks.append(
            f"a row group of {groups.rows:,} samples is read once, by one thread, for the batches that need it"
            + (f"; of each sample {groups.share:.1%}, {groups.columns} of the columns" if groups.columns else "")
            + f"; what the scenario calls a sample is what is read for {each:,.0f} of them"
        )
        return groups

    def _size_of_reads(self, groups: RowGroups, reads: int) -> str:
        """Return the bytes that one of the `reads` of a batch has."""
        return _size(self._batch() / reads * self._record() * groups.share)

    def _batch(self) -> int:
        return self.count("reader.batch_size", default=1, least=1)

    def _record(self) -> float:
        return self.number("dataset.record_length_bytes", "dataset.record_length", default=65_536, least=1)

    def _steps(self, groups: RowGroups | None, *, is_pytorch: bool) -> Json:
        batch = self._batch()
        reads = groups.reads(batch) if groups else batch
        threads = self.count("reader.read_threads", default=1)
        if threads > MOST_THREADS:
            raise self.bad("reader.read_threads", f"is {threads}", f"write at most {MOST_THREADS}")
        per_file = self.count("dataset.num_samples_per_file", default=1, least=1)
        files = self.count("dataset.num_files_train", default=8, least=1)
        samples, epochs = files * per_file, self.count("train.epochs", default=1, least=1)
        if samples < batch * self.accelerators:
            told = (
                f"is {files}: {samples} samples, and a step of {self.accelerators} accelerators takes "
                f"{batch * self.accelerators}"
            )
            help_ = "MLPerf Storage sets it on its command line: `--param dataset.num_files_train=N`"
            raise self.bad("dataset.num_files_train", told, help_)
        steps: Json = {
            "accelerators": self.accelerators,
            "batch": reads,
            "compute": self.time("train.computation_time"),
        }
        if not any(_is_within(option, "train.computation_time") for option in self.options):
            self.remarks.append("`train.computation_time` is missing: as with DLIO, computing takes no time")
        pipeline = self._pipeline(threads, batch, per_file, is_pytorch=is_pytorch)
        steps |= {"threads": pipeline.threads, "fetch": "batch" if is_pytorch else "sample"}
        steps |= {"prefetch": pipeline.prefetch, "read": self._read(is_pytorch=is_pytorch)}
        steps |= {"preprocess": self.time("reader.preprocess_time")}
        self.remarks.append(LOADER)
        if groups:
            steps |= {"preprocess": "0 ms", "read": _size(max(min(READ, groups.chunk(self._record())), 512))}
            if self.options.get("reader.preprocess_time"):
                self.remarks.append("`reader.preprocess_time` is left out: it is that of a sample, not of a row group")
        limit = int(self.number("train.total_training_steps", default=-1, least=-1))
        if limit > 0:
            # DLIO begins to count in each epoch.
            samples = min(samples, limit * batch * self.accelerators)
        in_order = min(per_file, samples)
        if is_pytorch and not groups and per_file > 1 and self._is_shuffled("sample"):
            in_order = 1
            self.remarks.append("`reader.sample_shuffle`: samples are read one by one from anywhere in all files")
        if groups:
            # What is read stands for the samples of a batch.
            samples, in_order = samples // batch * reads, max(in_order // batch * reads, 1)
        samples = -(-samples // in_order) * in_order
        if limit > 0 and samples // (reads * self.accelerators) > limit:
            self.remarks.append(f"an epoch ends with a file: it has {samples // (reads * self.accelerators)} steps")
        steps |= {"samples": samples, "epochs": epochs}
        steps |= {"samples_per_file": in_order} if in_order > 1 else {}
        orders = [self._is_shuffled(of) for of in ("file", "sample")]
        steps |= {} if any(orders) else {"shuffle": False}
        return steps | self._checkpoint(samples // (reads * self.accelerators))

    def _is_shuffled(self, of: str) -> bool:
        """Return true if `file`s or `sample`s are; YAML reads a bare `off` as false."""
        return self.word(f"reader.{of}_shuffle", "off") not in {"off", "false"}

    def _pipeline(self, threads: int, batch: int, per_file: int, *, is_pytorch: bool) -> Pipeline:
        asked = self.count("reader.prefetch_size", default=PREFETCH)
        mapped = self.count("reader.computation_threads", default=1, least=1)
        return Pipeline(threads, batch, asked, mapped, per_file, is_pytorch)

    def _read(self, *, is_pytorch: bool) -> str:
        option, asked = self.get("reader.transfer_size")
        size = int(self.number("reader.transfer_size", default=TRANSFER, least=512))
        if is_pytorch and asked is not None:
            self.remarks.append(
                f"`{option}` is ignored: PyTorch's readers do not have it; the kernel reads ahead {_size(READ)}"
            )
        return _size(READ if is_pytorch else size)

    def _size(self) -> str | Json:
        """Return the size of a record. DLIO draws both its dimensions, so its deviation is 1/√2 of that asked for."""
        dims = self.get("dataset.record_dims")[1]
        mean = self._record()
        names = ("record_length_bytes_stdev", "record_length_stdev", "record_length_std")
        deviation = self.number(*(f"dataset.{name}" for name in names), default=0.0) / math.sqrt(2)
        element = self.word("dataset.record_element_type", "uint8")
        if dims:
            if deviation:
                self.remarks.append(
                    "`record_length_bytes_stdev` is ignored: `record_dims` says how long each record is"
                )
            return _size(
                math.prod(self._whole_numbers("dataset.record_dims"))
                * int("".join(filter(str.isdigit, element)) or 8)
                // 8
            )
        if not deviation:
            return _size(mean)
        law = NormalDist(mean, deviation)
        sizes = (max(law.inv_cdf((at + 0.5) / SIZES), 1.0) for at in range(SIZES))
        return {"mix": [{"size": _size(size), "weight": 1} for size in sizes]}

    def _checkpoint(self, epoch: int) -> Json:
        """Return the checkpoints, by the number of steps or epochs between them."""
        after = self.count("checkpoint.checkpoint_after_epoch", default=1, least=1)
        epochs = self.count("checkpoint.epochs_between_checkpoints", default=1, least=1)
        every = int(self.number("checkpoint.steps_between_checkpoints", default=-1, least=-1))
        written = self._written()
        if not self.is_on("workflow.checkpoint", default=False):
            return {}
        # DLIO counts steps in each epoch, and epochs from the first.
        when = {"every": every, "each_epoch": True}
        if every > epoch:
            self.remarks.append(f"an epoch has {epoch} steps: as with DLIO, no checkpoint is written after {every}")
        if every <= 0:
            when = {"every": max(epochs * epoch, 1), "first": after * epoch}
        self.remarks.append(f"each writer has {WRITTEN_BACK} writes of {_size(READ)} in flight, {WRITES_BACK}")
        return {"checkpoint": {**when, **written, "write": _size(READ), "in_flight": WRITTEN_BACK}}

    def _written(self) -> Json:
        """Return which accelerators write how much of a checkpoint, and whether they flush it."""
        sync = {"sync": True} if self.is_on("checkpoint.fsync", default=False) else {}
        return self._shares() | sync

    def _shares(self) -> Json:
        """Return which accelerators write how much of a checkpoint."""
        names = ("checkpoint.model_size", "checkpoint.model_size_bytes", "model.model_size_bytes", "model.model_size")
        size = round(self.number(*names, default=10_240, least=1)) + self._state()
        kind = self.word("checkpoint.type", "rank_zero")
        if model := self._transformer():
            return self._sharded(model, size)
        return {**({"writers": 1} if kind == "rank_zero" else {}), "size": _size(size)}

    def _sharded(self, model: Transformer, size: int) -> Json:
        """Return which accelerators write how much of a transformer; those of other copies may write shards alone."""
        if self.get("checkpoint.mode")[1] == "subset" and not self.get("model.parallelism.data")[1]:
            told = "set `model.parallelism.data`: all accelerators of the model ÷ (tensor × pipeline)"
            raise self.bad("checkpoint.mode", "is `subset`, and nothing says of how many accelerators", told)
        of_all = max(self.accelerators // model.model_parallel, 1)
        copies = self.count("model.parallelism.data", default=of_all, least=1)
        if self.accelerators > model.model_parallel * copies:
            of_what = "tensor × pipeline × data" if self.get("model.parallelism.data")[1] else "tensor × pipeline"
            message = f"gives {model.model_parallel * copies} accelerators a part of the model, not {self.accelerators}"
            raise self.bad("model.parallelism", message, f"give a multiple of {of_what} as `--accelerators`")
        each, shard, writers = model.written(copies)
        self.remarks.append(
            f"a checkpoint has {model.parameters:,} parameters, on {model.model_parallel * copies} accelerators "
            f"at ZeRO stage {model.zero_stage}"
        )
        if model.pipeline > 1:
            self.remarks.append("stages of the pipeline are taken as equal; the first and the last are larger")
        if self.accelerators < model.model_parallel * copies:
            self.remarks.append(f"{self.accelerators} of them write their part of it")
        of = {"writers": min(writers, self.accelerators)} if writers else {}
        return of | {"size": _size(each + size)} | ({"shard": _size(shard)} if shard else {})

    def _transformer(self) -> Transformer | None:
        """Return the model, if it has layers of a transformer. Defaults are DLIO's."""
        self.honoured.add("model.type")
        layers = int(self.number("model.num_layers", default=-1, least=-1))
        of = {
            name: self.count(f"model.transformer.{name}", default=value, least=1) for name, value in TRANSFORMER.items()
        }
        parallel = {
            name: self.count(f"model.parallelism.{name}", default=1, least=1) for name in ("tensor", "pipeline")
        }
        stage = int(self.number("model.parallelism.zero_stage", default=0))
        if layers <= 0 or self.get("checkpoint.layer_parameters")[1]:
            return None
        return Transformer(
            layers=layers,
            hidden=of["hidden_size"],
            feed_forward=of["ffn_hidden_size"],
            vocabulary=of["vocab_size"],
            heads=of["num_attention_heads"],
            kv_heads=of["num_kv_heads"],
            zero_stage=stage,
            model_bytes=self._width("model.model_datatype", "fp16"),
            optimizer_bytes=self._width("model.optimizer_datatype", "fp32"),
            **parallel,
        )

    def _width(self, option: str, default: str) -> float:
        """Return the bytes of a number."""
        name = self.word(option, default)
        if name not in BITS:
            raise self.bad(option, f"is `{name}`", f"write one of {', '.join(f'`{one}`' for one in BITS)}")
        return BITS[name] / 8

    def _state(self) -> int:
        """Return the bytes of a checkpoint besides the model.

        DLIO writes three tensors of each optimiser group, and all layers.
        """
        groups = self._sum("checkpoint.optimization_groups")
        layers = self._sum("checkpoint.layer_parameters") * self.count("checkpoint.num_layers", default=1)
        if groups or layers:
            self.remarks.append(
                f"a checkpoint has {exact_size(3 * groups)} of optimiser groups (three tensors each) and "
                f"{exact_size(layers)} of layers, with a byte for each element, as DLIO writes them"
            )
        return 3 * groups + layers

    def _sum(self, option: str) -> int:
        return sum(self._whole_numbers(option)) if isinstance(self.get(option)[1], list) else 0

    def _whole_numbers(self, option: str) -> list[int]:
        """Return the whole numbers in a list; a single one counts as a list of one."""
        value = self.get(option)[1]
        numbers = value if isinstance(value, list) else [value]
        if not all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in numbers):
            raise self.bad(option, f"is {value!r}", "give whole numbers above 0: `[224, 224]`")
        return numbers

    def _storage(self, stream: Json, device: str | None) -> Json:
        """Return the drive that holds the data set, enlarged where it would not fit."""
        component, remarks = stand_in.storage(device, self._needed(stream))
        self.remarks += remarks
        return component

    def _enough(self, stream: Json) -> int:
        """Return the requests by which each accelerator has made enough steps for its utilisation, and checkpoints."""
        steps = stream["arrivals"]["steps"]
        pieces = -(-self._largest(stream) // _bytes(steps["read"]))
        of_all = steps["epochs"] * (steps["samples"] // (steps["batch"] * self.accelerators))
        each = min(max(STEPS, STEPS_EACH * steps["prefetch"]), of_all)
        wanted = each * steps["batch"] * pieces * self.accelerators
        if checkpoint := steps.get("checkpoint"):
            wanted += max(each // checkpoint["every"], 1) * self._pieces(checkpoint)
        if wanted > MOST_REQUESTS:
            needs = f"{each} steps of each accelerator, with their checkpoints, need {wanted:,}"
            self.remarks.append(f"`run.requests` is {MOST_REQUESTS:,}; {needs}")
        return int(min(max(wanted, LEAST_REQUESTS), MOST_REQUESTS))

    def _largest(self, stream: Json) -> int:
        """Return the bytes of the largest sample."""
        size = stream["size"]
        sizes = [share["size"] for share in size["mix"]] if isinstance(size, dict) else [size]
        return max(_bytes(text) for text in sizes)

    def _needed(self, stream: Json) -> int:
        steps = stream["arrivals"]["steps"]
        needed: int = steps.get("samples", 0) * (-(-self._largest(stream) // 4096) * 4096)
        size, shard, writers = self._of_writers(steps.get("checkpoint", {}))
        return needed + writers * size + self.accelerators * shard

    def _of_writers(self, checkpoint: Json) -> tuple[int, int, int]:
        """Return what each writer writes, the shard that all accelerators write besides, and the number of writers."""
        size, shard = (_bytes(checkpoint.get(of, "0 B")) for of in ("size", "shard"))
        return size, shard, checkpoint.get("writers", self.accelerators)

    def _pieces(self, checkpoint: Json) -> int:
        """Return the number of requests that all accelerators make for a checkpoint, flushes included."""
        size, shard, writers = self._of_writers(checkpoint)
        piece = _bytes(checkpoint.get("write", "0 B"))
        flushes = (self.accelerators if shard else writers) if checkpoint.get("sync") else 0
        return flushes + writers * -(-(size + shard) // piece) + (self.accelerators - writers) * -(-shard // piece)

    def _name_ignored(self, *, trains: bool) -> None:
        for option in self.options:
            if option in self.honoured:
                continue
            known = max((name for name in IGNORED if _is_within(option, name)), key=len, default=None)
            if not trains and option.startswith(OF_TRAINING):
                why = "nothing is read"
            elif known is None and option in self.given:
                meant = difflib.get_close_matches(option, [*self.honoured, *IGNORED], n=1, cutoff=0)
                raise self.bad(option, "is no option of DLIO that headrace knows", f"did you mean `{meant[0]}`?")
            else:
                why = IGNORED[known] if known else "headrace does not know this option"
            if option == "metric.au":
                goal = self.number("metric.au", default=0.9)
                why = why.replace("90 %", f"{100 * goal:g} %")
            self.remarks.append(f"`{option}` is ignored: {why}")


def _options(path: Path, within: tuple[Path, ...] = ()) -> Json:
    """Return the options of a file by their paths, with those of the files that its `defaults` name, as Hydra does."""
    import yaml

    try:
        document = yaml.safe_load(read_text(path, HELP))
    except yaml.YAMLError as error:
        raise refusal(path, f"{path} is not YAML: {str(error).splitlines()[0]}", HELP) from None
    if not isinstance(document, dict):
        raise refusal(path, f"{path} has no {OR_PARTS}, so it is no configuration of DLIO", HELP)
    if isinstance(document.get("workload"), dict):
        # What stands beside it is Hydra's own, but for options that were meant to stand within. Groups are DLIO's own.
        beside = {key: value for key, value in document.items() if key not in ("workload", "defaults")}
        document = beside | document["workload"]
    names = document.pop("defaults", None) or []
    if not isinstance(names, list):
        raise refusal(
            path, f"{path}: `defaults` is {str(names)[:60]}, not a list", "write `defaults: [unet3d, _self_]`"
        )
    names = names if "_self_" in names else [*names, "_self_"]
    options: Json = {}
    for name in names:
        options |= dict(_flat("", document)) if name == "_self_" else _default(path, name, (*within, path))
    return options


def _default(path: Path, name: object, within: tuple[Path, ...]) -> Json:
    """Return the options of a file that another has among its `defaults`."""
    if not isinstance(name, str):
        help_ = "write the options of the file that is meant into this one"
        raise refusal(path, f"{path}: `defaults` has {str(name)[:60]}, not the name of a file beside it", help_)
    file = path.parent / f"{name.rsplit('/', 1)[-1].removesuffix('.yaml')}.yaml"
    if file in within:
        raise refusal(path, f"{path}: `defaults` leads back to {file}", "remove it from the `defaults` of one of them")
    if not file.exists():
        help_ = "put that file beside this one, or write its options into this one"
        raise refusal(path, f"{path}: `defaults` names `{name}`, and there is no {file}", help_)
    return _options(file, within)


def _is_within(option: str, name: str) -> bool:
    return option == name or option.startswith((f"{name}.", f"{name}_"))


def _flat(path: str, node: Json) -> Iterator[tuple[str, Any]]:
    for key, inner in node.items():
        here = f"{path}.{key}" if path else str(key)
        if isinstance(inner, dict) and inner:
            yield from _flat(here, inner)
        else:
            yield here, inner


def _size(size: float) -> str:
    return exact_size(round(size))


def _bytes(text: str) -> int:
    return round(_core.quantity("size", text))


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.9g} ms"
