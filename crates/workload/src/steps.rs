//! Training in steps: accelerators that compute on one batch while reader threads fetch those that follow.

use headrace_kernel::{RngStream, Shuffle};
use headrace_units::Bytes;
use headrace_work::{Block, Invalid, Op, ReadsSample, TimeSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::StreamSpec;

/// Accelerators that train on a data set: `size` of the stream is that of a sample, and each request is a read of one, or a piece of it.
///
/// The terms are those of DLIO, the benchmark of I/O for deep learning (Devarajan et al., CCGrid 2021).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// Number of accelerators. Each trains on its own share of the data set.
    #[schemars(range(min = 1, max = 65536))]
    pub accelerators: u32,
    /// Samples of a batch, on which an accelerator computes in one step. With 0, nothing is read, an epoch is one step, and only
    /// checkpoints load the storage.
    #[schemars(range(max = 1_000_000))]
    pub batch: u32,
    /// Time for which an accelerator computes on a batch.
    pub compute: TimeSpec,
    /// Reader threads of each accelerator. Each reads one sample after another.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4096))]
    pub threads: u32,
    /// What a thread fetches at a time. Threads take turns, and batches are used in order.
    #[serde(default)]
    pub fetch: Fetch,
    /// Batches that are fetched ahead of the one that an accelerator computes on. With 0, nothing is read while it computes.
    #[serde(default = "two")]
    #[schemars(range(max = 1_000_000))]
    pub prefetch: u32,
    /// A sample is read in pieces of this size, one after another. Where a file has several samples, its pieces are read in order, and a sample
    /// that lies in a piece which was read comes with it. Default: each sample in one piece of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Bytes>,
    /// Time for which a thread works on each sample that it has read: on a core of its server, where the stream has one (`from`).
    #[serde(default)]
    pub preprocess: TimeSpec,
    /// Time that an accelerator takes to get a batch that is ready, and for which it waits: the copy from the process that read it.
    #[serde(default)]
    pub hand_over: TimeSpec,
    /// Training is synchronous: no accelerator begins a step before all have ended the one before.
    #[serde(default = "yes")]
    pub barrier: bool,
    /// Samples of the data set, a multiple of `samples_per_file`. Default: as many whole files as there is room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub samples: Option<u64>,
    /// Samples that lie in one file, and are read in its order: files are shuffled, not their samples.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub samples_per_file: u32,
    /// Files come in random order, another in each epoch; else in that of their addresses.
    #[serde(default = "yes")]
    pub shuffle: bool,
    /// Times that the data set is read; the run ends after the last. Default: until the run ends. Nothing is read ahead of an epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub epochs: Option<u32>,
    /// Checkpoints, written by accelerators at once while none computes. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointSpec>,
}

/// What a reader thread fetches at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fetch {
    /// A batch, sample by sample, as workers of PyTorch's `DataLoader` do.
    #[default]
    Batch,
    /// A sample of the batch that all threads fill, as parallel reads of `tf.data` do.
    Sample,
}

/// Periodic checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointSpec {
    /// Steps from one to the next.
    #[schemars(range(min = 1))]
    pub every: u64,
    /// Steps before the first. Default: `every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub first: Option<u64>,
    /// True if these steps are counted from the beginning of each epoch, as DLIO does; else from that of the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub each_epoch: bool,
    /// How many of the accelerators write; the others wait for them. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub writers: Option<u32>,
    /// Bytes that each of them writes, at the end of the addressed range, over its last checkpoint.
    pub size: Bytes,
    /// Bytes that every accelerator writes besides, before these: its shard of the state of the optimiser (ZeRO).
    #[serde(default)]
    pub shard: Bytes,
    /// It is written, and read back, in pieces of this size.
    #[serde(default = "one_mib")]
    pub write: Bytes,
    /// Pieces that each accelerator writes at once.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4096))]
    pub in_flight: u32,
    /// True if each accelerator flushes what it has written (fsync), and its checkpoint ends with that: what a file system's memory or a volatile
    /// cache has taken in is then on the medium.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sync: bool,
    /// Times that the last checkpoint is read back after the last epoch, as for a restart; one from before the run if none was due in it.
    /// Before each, accelerators compute once.
    #[serde(default)]
    pub restores: u64,
    /// Pieces that each accelerator reads back at once.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4096))]
    pub reads_in_flight: u32,
}

const fn one() -> u32 {
    1
}

const fn two() -> u32 {
    2
}

const fn yes() -> bool {
    true
}

const fn one_mib() -> Bytes {
    Bytes(1 << 20)
}

impl CheckpointSpec {
    /// Returns true if one is due after this number of steps.
    pub fn is_due(&self, steps: u64) -> bool {
        let first = self.first.unwrap_or(self.every);
        steps.checked_sub(first).is_some_and(|since| since.is_multiple_of(self.every))
    }

    /// Returns the number of pieces that an accelerator writes, or reads back, at once.
    pub fn at_once(&self, op: Op) -> u32 {
        if op == Op::Write { self.in_flight } else { self.reads_in_flight }
    }

    /// Returns the bytes that an accelerator writes.
    pub fn bytes_of(&self, accelerator: u32) -> Bytes {
        let [all, shard] = self.each();
        let is_writer = accelerator < self.writers.unwrap_or(u32::MAX);
        Bytes(if is_writer { all } else { shard })
    }

    /// Returns how many of some accelerators write all that one may, and how many their shard alone.
    fn writers_of(&self, accelerators: u32) -> [u32; 2] {
        let writers = self.writers.unwrap_or(u32::MAX).min(accelerators);
        [writers, accelerators - writers]
    }

    /// Returns the bytes that one who writes all writes, and one who writes its shard alone.
    fn each(&self) -> [u64; 2] {
        [self.shard.0.saturating_add(self.size.0), self.shard.0]
    }
}

/// Samples in a piece at most, and in a file if they are of several sizes. A thread that has read the piece takes them one after another, or goes
/// past them, and nothing else happens meanwhile.
const MOST_SAMPLES: u64 = 100_000;

/// Sizes from which the mean of a sample is taken.
const MOST_SIZES: u64 = 64;

/// What each accelerator writes of a checkpoint begins on a multiple of this, as files do that grow in large extents.
const EXTENT: Bytes = Bytes(1 << 20);

/// Samples lie on multiples of at least this where the stream does not say `align`: the block of most file systems.
const BLOCK: Bytes = Bytes(4096);

/// Parts of a sample, of which its beginning is a multiple: the larger a file, the larger the extents that file systems give it. A sixteenth
/// leaves 6 % of the range empty at most; an estimate, as each file system has its own rules.
const PARTS: u64 = 16;

/// Returns the alignment of samples of at most this size, a power of two; that of a block where the data set does not fit into `room` otherwise.
fn alignment(size: u64, samples: Option<u64>, room: u64) -> u64 {
    let part = 1 << (size / PARTS).clamp(BLOCK.0, EXTENT.0).ilog2();
    let all = samples.map_or(Some(0), |many| many.checked_mul(size.next_multiple_of(part)));
    if all.is_some_and(|all| all <= room) { part } else { BLOCK.0 }
}

/// Returns the last multiple of an extent within `room` bytes from an address, or their end where there is none.
fn last_extents(from: u64, room: u64) -> u64 {
    let at = (from + room) / EXTENT.0 * EXTENT.0;
    if at >= from { at } else { from + room }
}

impl StepSpec {
    /// Returns the number of steps of an epoch in which an accelerator reads `share` samples.
    pub fn epoch(&self, share: u64) -> u64 {
        share.checked_div(u64::from(self.batch)).unwrap_or(1)
    }

    /// Returns the number of threads of all accelerators.
    pub fn all_threads(&self) -> u32 {
        self.accelerators.saturating_mul(self.threads_each())
    }

    /// Returns the number of threads of an accelerator: those that read samples or, if there are more, that transfer a checkpoint.
    pub fn threads_each(&self) -> u32 {
        let readers = if self.batch > 0 { self.threads } else { 1 };
        let at_once =
            self.checkpoint.map_or(1, |checkpoint| checkpoint.in_flight.max(checkpoint.reads_in_flight));
        readers.max(at_once)
    }

    /// Returns the bytes that the checkpoints of all accelerators take up where each has one of two sizes: its own, if it writes all, or that of
    /// its shard.
    fn checkpoints_of(&self, sizes: [u64; 2]) -> Option<u64> {
        let many = self.checkpoint.map_or([0; 2], |checkpoint| checkpoint.writers_of(self.accelerators));
        let [all, shards] = [0, 1].map(|at| sizes[at].checked_mul(u64::from(many[at])));
        all?.checked_add(shards?)
    }

    /// Returns the bytes that the checkpoints of all accelerators take up.
    fn checkpoints(&self) -> u64 {
        let each = self.checkpoint.map_or([0; 2], |checkpoint| checkpoint.each());
        self.checkpoints_of(each).unwrap_or(u64::MAX)
    }

    /// Returns the bytes from where one accelerator writes its checkpoint to where the next does, for those that write all and for the others:
    /// whole extents, if there is room for that.
    fn checkpoint_slots(&self, room: u64) -> [u64; 2] {
        let each = self.checkpoint.map_or([0; 2], |checkpoint| checkpoint.each());
        let extents = each.map(|bytes| bytes.checked_next_multiple_of(EXTENT.0).unwrap_or(u64::MAX));
        if self.checkpoints_of(extents).is_some_and(|all| all <= room) { extents } else { each }
    }

    /// Returns the bytes that all accelerators write of a checkpoint.
    pub fn checkpoint_bytes(&self) -> f64 {
        self.checkpoints() as f64
    }

    /// Returns the number of samples that all accelerators read in a step, of `samples` in all.
    ///
    /// # Errors
    /// There are fewer than that: the field and why.
    fn samples_of_a_step(&self, samples: u64) -> Result<u64, Invalid> {
        let step = u64::from(self.accelerators) * u64::from(self.batch);
        if samples >= step {
            return Ok(step);
        }
        let invalid = Invalid::new("batch", format!("a step takes {step} samples, and there are {samples}"));
        Err(invalid.help(match self.samples {
            Some(_) => "give more `samples`, or a smaller `batch`",
            None => "give a smaller `batch`, or address a larger component",
        }))
    }

    /// Returns the size of the pieces in which files of several samples are read; `None` if each sample is read by itself.
    ///
    /// # Errors
    /// Samples are no whole files, or too many of them are in a piece, or in a file where each has to be found by the sizes of those before it:
    /// the field and why.
    fn joined_pieces(&self, spec: &StreamSpec) -> Result<Option<Bytes>, Invalid> {
        let per_file = u64::from(self.samples_per_file);
        if let Some(samples) = self.samples.filter(|samples| !samples.is_multiple_of(per_file)) {
            let why = format!("{samples} are no whole number of files of {per_file} (`samples_per_file`)");
            return Err(Invalid::new("samples", why).help("give a multiple of `samples_per_file`"));
        }
        let Some(piece) = self.read.filter(|_| per_file > 1 && spec.align.is_none()) else { return Ok(None) };
        let sizes = spec.size.support(MOST_SIZES);
        let mean = sizes.iter().map(|(share, bytes)| share * bytes.0 as f64).sum::<f64>();
        if piece.0 as f64 / mean.max(1.0) > MOST_SAMPLES as f64 {
            let size = Bytes(mean as u64);
            let why = format!("a piece of {piece} has more than {MOST_SAMPLES} samples of {size}");
            return Err(Invalid::new("read", why).help("read less at a time"));
        }
        let (least, most) = spec.size.bounds();
        if least != most && per_file > MOST_SAMPLES {
            let why = format!("a file has more than {MOST_SAMPLES} samples of several sizes");
            return Err(Invalid::new("samples_per_file", why).help("give fewer, or samples of one size"));
        }
        Ok(Some(piece))
    }

    /// Returns these steps with the samples of their times read.
    ///
    /// # Errors
    /// The field at fault, and why.
    pub fn checked(&self, read: &ReadsSample) -> Result<Self, Invalid> {
        let time =
            |field, time: &TimeSpec| time.checked(read).map_err(|invalid: Invalid| invalid.within(field));
        Ok(Self {
            compute: time("compute", &self.compute)?,
            preprocess: time("preprocess", &self.preprocess)?,
            hand_over: time("hand_over", &self.hand_over)?,
            ..self.clone()
        })
    }

    /// Returns the field that is invalid, and why; `None` if all are valid.
    pub fn problem(&self) -> Option<Invalid> {
        let empty = |field, bytes: Bytes| {
            (bytes.0 == 0).then(|| Invalid::new(field, "a request needs at least one byte"))
        };
        let written =
            |checkpoint: CheckpointSpec| empty("checkpoint", checkpoint.write.min(checkpoint.bytes_of(0)));
        let restores = self.checkpoint.map_or(0, |checkpoint| checkpoint.restores);
        let writers = self.checkpoint.and_then(|checkpoint| checkpoint.writers);
        let too_many = writers.filter(|writers| *writers > self.accelerators).map(|writers| {
            let why = format!("{writers} write, and there are {} accelerators", self.accelerators);
            Invalid::new("checkpoint.writers", why).help("give at most as many as `accelerators`")
        });
        too_many
            .or_else(|| self.read.and_then(|bytes| empty("read", bytes)))
            .or_else(|| self.checkpoint.and_then(written))
            .or_else(|| {
                let idle = self.batch == 0 && self.checkpoint.is_none();
                let why = "with 0 samples nothing is read, and there are no checkpoints";
                idle.then(|| Invalid::new("batch", why).help("give a `checkpoint`, or at least 1 sample"))
            })
            .or_else(|| {
                let why = "it is read back after the last epoch, and there is none";
                let never = restores > 0 && self.epochs.is_none();
                never.then(|| Invalid::new("checkpoint", why).help("give `epochs`, or no `restores`"))
            })
            .or_else(|| {
                let too_many = self.all_threads() > 1_000_000;
                too_many.then(|| {
                    Invalid::new("threads", format!("{} threads in all are too many", self.all_threads()))
                })
            })
    }
}

/// A sample of a file, and where it begins there.
#[derive(Clone, Copy, Debug)]
pub struct SamplePlace {
    file: u64,
    at: u64,
    begins: u64,
}

impl Default for SamplePlace {
    fn default() -> Self {
        // In no file: the first sample begins one.
        Self { file: u64::MAX, at: 0, begins: 0 }
    }
}

/// The data set of a stream: where its samples lie, and in which order they are read.
#[derive(Clone, Debug)]
pub struct DataSet {
    spec: StreamSpec,
    /// Samples that are read in an epoch by each accelerator.
    share: u64,
    /// Files there are, and samples in each.
    files: (u64, u64),
    shuffled: bool,
    /// True if samples are of several sizes.
    varies: bool,
    from: u64,
    /// From one sample's beginning to the next.
    slot: u64,
    /// From one file's beginning to the next.
    file_slot: u64,
    /// The bytes of a piece, where samples lie side by side in files that are read piece by piece.
    piece: Option<u64>,
    /// Where the first checkpoint lies, and from there to the next: of accelerators that write all, and after them of the others.
    checkpoints: u64,
    checkpoint_slots: [u64; 2],
    sizes: RngStream,
    orders: RngStream,
}

impl DataSet {
    /// The data set that `spec` describes, on a component that holds `capacity`; what is drawn comes from streams of this `seed`.
    ///
    /// # Errors
    /// It does not fit there, or is less than one step: the field and why.
    pub fn new(
        spec: &StreamSpec,
        steps: &StepSpec,
        capacity: Bytes,
        (seed, name): (u64, &str),
    ) -> Result<Self, Invalid> {
        let (from, room) = spec.addressed(capacity);
        if steps.checkpoints() > room.0 {
            let needed = Bytes(steps.checkpoints());
            let why = format!("a checkpoint takes {needed}, and there are {room}");
            return Err(Invalid::new("checkpoint", why).help("address a larger component"));
        }
        let (least, most) = spec.size.bounds();
        let per_file = u64::from(steps.samples_per_file);
        let piece = steps.joined_pieces(spec)?;
        let checkpoint_slots = steps.checkpoint_slots(room.0);
        let kept = steps.checkpoints_of(checkpoint_slots).unwrap_or(u64::MAX);
        let checkpoints = last_extents(from.0, room.0.saturating_sub(kept));
        let left = checkpoints - from.0;
        let align = match (piece, spec.align) {
            (Some(_), _) => 1,
            (None, Some(align)) => align.0.max(1),
            // Samples lie side by side in a file, which alone has an extent.
            (None, None) if per_file > 1 => BLOCK.0,
            (None, None) => alignment(most.0, steps.samples, left),
        };
        let slot = most.0.next_multiple_of(align);
        let file = per_file.saturating_mul(slot);
        let file_slot = piece.and_then(|_| file.checked_next_multiple_of(BLOCK.0)).unwrap_or(file);
        let places = left / file_slot.max(1) * per_file;
        let samples = steps.samples.unwrap_or(places) / per_file * per_file;
        if samples > places {
            let files = (samples / per_file).saturating_mul(file_slot);
            let needed = Bytes(files.saturating_add(steps.checkpoints()));
            let invalid = Invalid::new("samples", format!("they need {needed}, and there are {room}"));
            return Err(invalid.help("give fewer, or address a larger component"));
        }
        let step = steps.samples_of_a_step(samples)?;
        let of = |purpose| RngStream::named(seed, name, purpose);
        Ok(Self {
            spec: spec.clone(),
            share: samples.checked_div(step).unwrap_or(0) * u64::from(steps.batch),
            files: (samples / per_file, per_file),
            shuffled: steps.shuffle,
            varies: least != most,
            from: from.0,
            slot,
            file_slot,
            piece: piece.map(Bytes::get),
            checkpoints,
            checkpoint_slots,
            sizes: of("sizes of samples"),
            orders: of("orders of samples"),
        })
    }

    /// Returns the samples that each accelerator reads in an epoch.
    pub fn share(&self) -> u64 {
        self.share
    }

    /// What an accelerator reads for the `n`-th sample in all, as one read: none of its bytes where an earlier piece has them. The size of a
    /// sample is the same whenever it is read. A reader keeps its place from one sample to the next.
    pub fn sample(&self, accelerator: u32, n: u64, reader: &mut SamplePlace) -> Block {
        let (epoch, place) = (n / self.share, u64::from(accelerator) * self.share + n % self.share);
        let (files, per_file) = self.files;
        let file = place / per_file;
        let file = if self.shuffled { Shuffle::new(files, self.orders.key(epoch)).at(file) } else { file };
        let (file_begins, at) = (self.from + file * self.file_slot, place % per_file);
        if let Some(piece) = self.piece {
            self.go_to(reader, file, at);
            let (begins, bytes) = self.pieces(*reader, piece, n.is_multiple_of(self.share));
            return Block { op: Op::Read, address: file_begins + begins, bytes };
        }
        Block { op: Op::Read, address: file_begins + at * self.slot, bytes: self.size(file, at) }
    }

    /// Returns the bytes of a sample of a file.
    fn size(&self, file: u64, at: u64) -> u64 {
        self.spec.size.draw(&mut self.sizes.of(file * self.files.1 + at)).0
    }

    /// Moves a reader to a sample of a file, past those before it: from where it is, if that is before it.
    fn go_to(&self, reader: &mut SamplePlace, file: u64, at: u64) {
        if !self.varies {
            *reader = SamplePlace { file, at, begins: at * self.slot };
            return;
        }
        if reader.file != file || reader.at > at {
            *reader = SamplePlace { file, at: 0, begins: 0 };
        }
        while reader.at < at {
            reader.begins += self.size(file, reader.at);
            reader.at += 1;
        }
    }

    /// Returns where the pieces begin in their file that a sample is the first to need, and their bytes; the first that an accelerator reads
    /// of an epoch needs all of its own.
    fn pieces(
        &self,
        SamplePlace { file, at, begins }: SamplePlace,
        piece: u64,
        is_first: bool,
    ) -> (u64, u64) {
        let from = if is_first { begins / piece * piece } else { begins.next_multiple_of(piece) };
        let ends = begins + self.size(file, at);
        if from >= ends {
            return (from, 0);
        }
        let to =
            self.within_file(SamplePlace { file, at: at + 1, begins: ends }, ends.next_multiple_of(piece));
        (from, to - from)
    }

    /// Returns an address of a file, or the end of the file if that is before it; `after` is a place before both.
    fn within_file(&self, mut after: SamplePlace, address: u64) -> u64 {
        if !self.varies {
            return address.min(self.files.1 * self.slot);
        }
        while after.at < self.files.1 && after.begins < address {
            after.begins += self.size(after.file, after.at);
            after.at += 1;
        }
        after.begins.min(address)
    }

    /// What an accelerator writes of a checkpoint, or reads back, as one request.
    pub fn checkpoint(&self, accelerator: u32, of: &CheckpointSpec, op: Op) -> Block {
        let [writers, others] = of.writers_of(accelerator).map(u64::from);
        let [all, shard] = self.checkpoint_slots;
        let address = self.checkpoints + writers * all + others * shard;
        Block { op, address, bytes: of.bytes_of(accelerator).0 }
    }
}
