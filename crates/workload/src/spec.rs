//! Description of a stream of requests in a scenario.

use headrace_trace::{FileLogSpec, ReplaySpec};
use headrace_units::{Bytes, Fraction, Nanos, PerSecond};
use headrace_work::{Cause, Op, SizeSpec, TimeSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::files::Placement;
use crate::steps::StepSpec;
use crate::varying::VaryingSpec;

/// A stream of requests to one component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// Server that sends the requests, by its name in `system`; they reach `to` through switches. Of several copies (`node/cpu`), any
    /// sends each request, or, if `to` is in the same copies, the one whose own component it goes to. Default: requests arrive at `to` directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Target component, by its name in `system`. Of several copies of a group (`node/volume`), each request goes to one, chosen at
    /// random with equal probability, at an address of that one; a flush goes to all.
    pub to: String,
    /// Arrival process, such as `{poisson: 100 /s}` or `{closed: {depth: 8}}`.
    pub arrivals: ArrivalSpec,
    /// Reads, writes, both, or discards. A replayed trace has its own.
    #[serde(default)]
    pub op: OpSpec,
    /// Request size. A replayed trace has its own.
    #[serde(default = "four_kib")]
    pub size: SizeSpec,
    /// Size of its writes, where it also reads. Default: `size`, as of its reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_size: Option<SizeSpec>,
    /// Address pattern. A replayed trace has its own.
    #[serde(default)]
    pub pattern: PatternSpec,
    /// Alignment of addresses. Default: the smallest request size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<Bytes>,
    /// Number of bytes addressed, from the start of the component. Default: the whole component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footprint: Option<Bytes>,
    /// Range of addresses, for streams that share a component but not data. `footprint` is short for a region
    /// that starts at 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// Requests go to files of this size, each accessed sequentially, one file after another, repeatedly. A
    /// request that does not fit at the end of a file goes to the start of the next. Streams with files of
    /// the same size on one component use separate files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Bytes>,
    /// Number of files. Default: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub files: Option<u32>,
    /// Placement of the files: `contiguous` from the start of the addressed range (default), or `spread` over
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Maximum number of its requests in flight, for an open stream. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub outstanding: Option<u32>,
    /// What happens to a request that arrives while `outstanding` are in flight.
    #[serde(default)]
    pub when_full: WhenFull,
    /// A request not answered within this time counts as expired; the system still finishes it, while a closed
    /// client goes on to its next request. Default: hosts wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Nanos>,
    /// Priority, for components with priorities. Smaller numbers are more urgent.
    #[serde(default)]
    pub priority: u8,
    /// Reason for its requests, by which `shares` and `utilisation_by_cause` tell background work from that of hosts: `scrub` for a job that
    /// reads or trims what no host waits for.
    #[serde(default, skip_serializing_if = "is_host")]
    pub cause: Cause,
    /// Number of its writes after which its next request is a flush, answered when all writes acknowledged before it are stable: fio's
    /// `fsync` and `fdatasync`. With one client, 1 flushes after each write. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub flush_every: Option<u32>,
    /// If true, its writes are answered when they, and all writes acknowledged before, are stable: fio's `sync` (`O_DSYNC`; a flush and
    /// force unit access).
    #[serde(default)]
    pub durable: bool,
}

/// Returns true for the cause that is the default.
fn is_host(cause: &Cause) -> bool {
    *cause == Cause::Host
}

impl StreamSpec {
    /// Addresses are multiples of this: what `align` says, else the smallest size that occurs.
    pub fn alignment(&self) -> Bytes {
        self.align.unwrap_or(self.sizes().0).max(Bytes(1))
    }

    /// Returns the law of the sizes of an operation.
    pub fn size_of(&self, op: Op) -> &SizeSpec {
        self.write_size.as_ref().filter(|_| op == Op::Write).unwrap_or(&self.size)
    }

    /// Returns the smallest and the largest size that occur.
    pub fn sizes(&self) -> (Bytes, Bytes) {
        let (own, of_writes) = (self.size.bounds(), self.size_of(Op::Write).bounds());
        (own.0.min(of_writes.0), own.1.max(of_writes.1))
    }

    /// Which bytes are addressed of a component that holds `capacity`: (first, how many). Addresses are aligned from the first on.
    pub fn addressed(&self, capacity: Bytes) -> (Bytes, Bytes) {
        let size = self.footprint.unwrap_or(capacity).min(capacity);
        let region = self.region.unwrap_or(Region { from: Bytes(0), size });
        let end = region.from.0.saturating_add(region.size.0).min(capacity.0);
        (region.from, Bytes(end.saturating_sub(region.from.0)))
    }

    /// Returns the number of files; 1 without `files`.
    pub fn files(&self) -> u64 {
        u64::from(self.files.unwrap_or(1))
    }

    /// Returns the share of its requests that are flushes.
    pub fn flushes(&self) -> f64 {
        let writes = if self.op == OpSpec::Discard { 0.0 } else { 1.0 - self.op.reads() };
        self.flush_every.map_or(0.0, |every| writes / (f64::from(every) + writes))
    }

    /// Returns true if the stream says which requests are drawn.
    pub fn draws_requests(&self) -> bool {
        let said =
            self.align.is_some() || self.footprint.is_some() || self.region.is_some() || self.file.is_some();
        let stable = self.flush_every.is_some() || self.durable;
        said || stable
            || self.op != OpSpec::default()
            || self.size != four_kib()
            || self.write_size.is_some()
            || self.pattern != PatternSpec::default()
    }

    /// Its training, where it is that.
    pub fn steps(&self) -> Option<&StepSpec> {
        match &self.arrivals {
            ArrivalSpec::Steps(steps) => Some(steps),
            _ => None,
        }
    }

    /// Returns the number of threads that its clients share; 0 if they share none.
    pub fn threads(&self) -> u32 {
        match self.arrivals {
            ArrivalSpec::Closed { threads, .. } => threads.unwrap_or(0),
            ArrivalSpec::Steps(ref steps) if self.from.is_some() => steps.all_threads(),
            _ => 0,
        }
    }

    /// Returns true if every address of the component is equally likely.
    pub fn is_everywhere(&self) -> bool {
        let all = self.footprint.is_none() && self.region.is_none() && self.file.is_none();
        all && self.pattern == PatternSpec::Uniform
    }
}

/// A range of addresses of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Start address. Alignment counts from here, so use a multiple of the drive's sector size (512 B).
    pub from: Bytes,
    /// Length.
    pub size: Bytes,
}

/// What happens to a request that arrives at the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// The source is blocked until a request is answered.
    #[default]
    Wait,
    /// It is dropped and counted.
    Drop,
}

fn four_kib() -> SizeSpec {
    SizeSpec::Fixed(Bytes(4096))
}

/// Reads, writes, both, or discards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum OpSpec {
    /// Reads only.
    #[default]
    Read,
    /// Writes only.
    Write,
    /// Share of reads; the rest are writes. Drawn for each request.
    Reads(Fraction),
    /// Discards only (TRIM): the target forgets the data. Only solid-state drives discard.
    Discard,
}

impl OpSpec {
    /// The share of reads.
    pub fn reads(self) -> f64 {
        match self {
            Self::Read => 1.0,
            Self::Write | Self::Discard => 0.0,
            Self::Reads(share) => share.get(),
        }
    }

    /// Returns the operation of requests that are not reads.
    pub fn otherwise(self) -> Op {
        if self == Self::Discard { Op::Discard } else { Op::Write }
    }
}

/// Arrival process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ArrivalSpec {
    /// Poisson process with this rate.
    Poisson(PerSecond),
    /// Periodic with this interval.
    Every(Nanos),
    /// Bursts: a Poisson process whose rate alternates between two values for exponential times (two-state
    /// Markov-modulated Poisson process).
    Bursty {
        /// Rate between bursts.
        calm: PerSecond,
        /// Rate within a burst.
        burst: PerSecond,
        /// Mean time between bursts.
        calm_for: Nanos,
        /// Mean length of a burst.
        burst_for: Nanos,
    },
    /// Batches at random instants (Poisson).
    Batches {
        /// Rate of batches.
        rate: PerSecond,
        /// Requests per batch.
        size: BatchSize,
    },
    /// Independent times between requests, with this distribution (renewal process).
    Renewal(TimeSpec),
    /// Poisson process whose rate varies with time.
    Varying(VaryingSpec),
    /// Closed loop: a fixed number of clients, each of which sends its next request a think time after the
    /// answer to the last.
    Closed {
        /// Number of clients, which is the queue depth.
        #[schemars(range(min = 1, max = 1_000_000))]
        depth: u32,
        /// Think time from an answer to the client's next request.
        #[serde(default)]
        think: TimeSpec,
        /// Number of threads that the clients belong to, each to one: fio's `numjobs`. A thread does one thing at a time, on one core of
        /// the server that the stream comes `from`. Default: clients do not share threads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 65536))]
        threads: Option<u32>,
    },
    /// Training in steps: accelerators compute on a batch of samples while reader threads fetch the next ones.
    Steps(Box<StepSpec>),
    /// From a trace of requests recorded on a real system.
    Replay(Box<ReplaySpec>),
    /// From a log of file operations, to an archive.
    Log(FileLogSpec),
}

/// Requests per batch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BatchSize {
    /// Constant.
    Fixed(#[schemars(range(min = 1, max = 1_000_000))] u32),
    /// Geometric with this mean: 1, 2, 3, …
    Geometric {
        /// Mean, at least 1.
        #[schemars(range(min = 1.0, max = 1_000_000.0))]
        geometric: f64,
    },
}

/// Address pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PatternSpec {
    /// Uniform over all addresses.
    #[default]
    Uniform,
    /// Sequential from the start, repeatedly.
    Sequential,
    /// Skewed by Zipf's law: the r-th most popular of `spots` equal regions has a frequency proportional to
    /// r^−`skew`. Popular regions are scattered.
    HotSpot {
        /// Zipf's exponent; 0 is uniform, 1 the classic law.
        #[serde(default = "one")]
        #[schemars(range(min = 0.0, max = 10.0))]
        skew: f64,
        /// Number of regions.
        #[serde(default = "thousand")]
        #[schemars(range(min = 1, max = 1_000_000))]
        spots: u32,
    },
    /// Sequential runs from random positions, with a geometric number of requests.
    Runs {
        /// Mean number of requests per run, at least 1.
        #[schemars(range(min = 1.0, max = 1e9))]
        length: f64,
    },
}

const fn one() -> f64 {
    1.0
}

const fn thousand() -> u32 {
    1000
}
