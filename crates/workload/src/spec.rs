//! What a user writes of a stream of requests.

use headrace_trace::{FileLogSpec, ReplaySpec};
use headrace_units::{Bytes, Fraction, Nanos, PerSecond};
use headrace_work::{SizeSpec, TimeSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::files::Placement;

/// A stream of requests to one component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// The server that the requests come from, by its name in `system`: they find their way to `to` through switches. Default: they are at
    /// `to` at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The component the requests go to, by its name in `system`.
    pub to: String,
    /// When requests come.
    pub arrivals: ArrivalSpec,
    /// Reads, writes, or both. A replayed trace has its own.
    #[serde(default)]
    pub op: OpSpec,
    /// How large each request is. A replayed trace has its own.
    #[serde(default = "four_kib")]
    pub size: SizeSpec,
    /// Which addresses they go to. A replayed trace has its own.
    #[serde(default)]
    pub pattern: PatternSpec,
    /// Addresses are multiples of this. Default: the smallest size that occurs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<Bytes>,
    /// Only this number of bytes at the beginning is addressed. Default: the whole component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footprint: Option<Bytes>,
    /// Only these bytes are addressed, for streams that share a component without touching the same data. `footprint` is short for
    /// a region that begins at 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// Requests go to files of this size: each from its beginning to its end, one after another and around again. A request that
    /// does not fit at the end of a file begins the next. Streams with files of one size to one component have files of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Bytes>,
    /// Number of files. Default: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub files: Option<u32>,
    /// Where the files lie: `contiguous` from the beginning of what is addressed, which is the default, or `spread` over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Maximum number of its requests in flight, for an open stream. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub outstanding: Option<u32>,
    /// What happens to a request that comes while `outstanding` are in flight.
    #[serde(default)]
    pub when_full: WhenFull,
    /// A request not answered within this time is given up by its host and counted as expired; the system still finishes
    /// it. Default: hosts wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Nanos>,
    /// Smaller numbers are more urgent, where a component has priorities.
    #[serde(default)]
    pub priority: u8,
}

impl StreamSpec {
    /// Addresses are multiples of this: what `align` says, else the smallest size that occurs.
    pub fn alignment(&self) -> Bytes {
        self.align.unwrap_or(self.size.bounds().0).max(Bytes(1))
    }

    /// Which bytes are addressed of a component that holds `capacity`: (first, how many). Addresses are aligned from the first on.
    pub fn addressed(&self, capacity: Bytes) -> (Bytes, Bytes) {
        let size = self.footprint.unwrap_or(capacity).min(capacity);
        let region = self.region.unwrap_or(Region { from: Bytes(0), size });
        let end = region.from.0.saturating_add(region.size.0).min(capacity.0);
        (region.from, Bytes(end.saturating_sub(region.from.0)))
    }

    /// How many files it has, where it has any.
    pub fn files(&self) -> u64 {
        u64::from(self.files.unwrap_or(1))
    }

    /// Whether it says anything of which requests are drawn.
    pub fn draws_requests(&self) -> bool {
        let said =
            self.align.is_some() || self.footprint.is_some() || self.region.is_some() || self.file.is_some();
        said || self.op != OpSpec::default()
            || self.size != four_kib()
            || self.pattern != PatternSpec::default()
    }

    /// How many threads its clients belong to; none where they do not share any.
    pub fn threads(&self) -> u32 {
        match self.arrivals {
            ArrivalSpec::Closed { threads, .. } => threads.unwrap_or(0),
            _ => 0,
        }
    }

    /// Whether every address of the component is equally likely.
    pub fn is_everywhere(&self) -> bool {
        let all = self.footprint.is_none() && self.region.is_none() && self.file.is_none();
        all && self.pattern == PatternSpec::Uniform
    }
}

/// A part of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Where it begins. Requests are aligned from there on, so a drive wants a multiple of its sectors (512 B).
    pub from: Bytes,
    /// How much it holds.
    pub size: Bytes,
}

/// What happens to a request that comes while as many as may be are in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// The source is blocked until one is answered, and makes no others in the meantime.
    #[default]
    Wait,
    /// It is dropped, and counted.
    Drop,
}

fn four_kib() -> SizeSpec {
    SizeSpec::Fixed(Bytes(4096))
}

/// Reads, writes, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum OpSpec {
    /// Reads only.
    #[default]
    Read,
    /// Writes only.
    Write,
    /// This share of reads, the rest writes; drawn for each request.
    Reads(Fraction),
}

impl OpSpec {
    /// The share of reads.
    pub fn reads(self) -> f64 {
        match self {
            Self::Read => 1.0,
            Self::Write => 0.0,
            Self::Reads(share) => share.get(),
        }
    }
}

/// When requests come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ArrivalSpec {
    /// At random at this rate, whatever happened before.
    Poisson(PerSecond),
    /// One after each such time.
    Every(Nanos),
    /// In bursts: a Poisson process whose rate switches between two values, each kept for an exponential time
    /// (a Markov-modulated Poisson process of two states).
    Bursty {
        /// The rate between bursts.
        calm: PerSecond,
        /// The rate within a burst.
        burst: PerSecond,
        /// The mean time between bursts.
        calm_for: Nanos,
        /// The mean length of a burst.
        burst_for: Nanos,
    },
    /// Several at once, at random instants.
    Batches {
        /// How many batches come, on average.
        rate: PerSecond,
        /// How many requests come in each.
        size: BatchSize,
    },
    /// From a fixed number of clients, each of which sends its next request when its last is answered and it has thought.
    Closed {
        /// How many clients: the queue depth.
        #[schemars(range(min = 1, max = 1_000_000))]
        depth: u32,
        /// What each waits from an answer to its next request.
        #[serde(default)]
        think: TimeSpec,
        /// Number of threads that the clients belong to, each to one: fio's `numjobs`. A thread does one thing at a time, on one core of
        /// the server that the stream comes `from`. Default: clients do not share threads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 65536))]
        threads: Option<u32>,
    },
    /// From a trace of requests recorded on a real system.
    Replay(Box<ReplaySpec>),
    /// From a log of file operations, to an archive.
    Log(FileLogSpec),
}

/// How many requests come at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BatchSize {
    /// Always this number.
    Fixed(#[schemars(range(min = 1, max = 1_000_000))] u32),
    /// Geometrically distributed: 1, 2, 3 … with this mean.
    Geometric {
        /// The mean; at least one.
        #[schemars(range(min = 1.0, max = 1_000_000.0))]
        geometric: f64,
    },
}

/// Which addresses are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PatternSpec {
    /// Every address equally likely.
    #[default]
    Uniform,
    /// One after another, from the beginning, and around again.
    Sequential,
    /// Some regions more than others: the r-th most popular of `spots` regions of equal size is asked for in proportion
    /// to r^−`skew` (Zipf's law). Popular regions lie scattered.
    HotSpot {
        /// Zipf's exponent; 0 is uniform, 1 the classic law.
        #[serde(default = "one")]
        #[schemars(range(min = 0.0, max = 10.0))]
        skew: f64,
        /// How many regions.
        #[serde(default = "thousand")]
        #[schemars(range(min = 1, max = 1_000_000))]
        spots: u32,
    },
    /// Sequential runs from random places; the number of requests in a run is geometric.
    Runs {
        /// The mean number of requests in a run; at least one.
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
