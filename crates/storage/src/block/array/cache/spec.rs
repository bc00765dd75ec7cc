//! Specification of an array's cache.

use headrace_units::{Bytes, Fraction, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::array::layout::ArrayLayout;
use crate::core::graph::Lowering;
use crate::core::replacement::ReplacementSpec;

/// A cache between hosts and disks: of one array, or of all arrays of a controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayCacheSpec {
    /// Capacity: dirty data and lines for reads.
    pub size: Bytes,
    /// Time at which a write completes.
    #[serde(default)]
    pub writes: WritePolicy,
    /// Line size. A read miss fetches whole lines; the data of a stripe is a multiple of it. Default: 16 KiB, or the largest smaller power of
    /// two that fits. An estimate: an EMC CLARiiON has pages of 2 to 16 KiB, 8 by default, and a Hitachi Universal Storage Platform segments of
    /// 16 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Bytes>,
    /// Replacement policy: the line that gives way.
    #[serde(default)]
    pub replacement: ReplacementSpec,
    /// Read-ahead per sequential stream, in whole stripes. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<Bytes>,
    /// Number of stripes destaged in parallel, and of stripes read ahead in parallel. Default, an estimate: 8 are destaged while the cache is
    /// filled up to `destage.high`, then more in proportion, and 4 for each disk (8 to 1024) where it is full or a write waits for space.
    /// Read-ahead is bounded by `read_ahead` alone, and neighbouring stripes are one command to a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub stripes_at_once: Option<u32>,
    /// Amount of one stream moved before it switches to another, in both directions; larger runs need fewer
    /// seeks. Default: 8 MiB, an estimate.
    #[serde(default = "mib_8")]
    pub run: Bytes,
    /// Rules of destaging partial stripes. Full stripes are destaged at once.
    #[serde(default)]
    pub destage: DestageSpec,
    /// True if its contents are lost with power: a flush then waits until all that it covers is on the disks, and a write that must be
    /// durable, too. Default: batteries or flash keep them, and a flush is answered at once.
    #[serde(default)]
    pub volatile: bool,
}

/// Time at which a write to an array with a cache completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WritePolicy {
    /// When the data is on the disks.
    #[default]
    Through,
    /// When the data is in the cache (in both, with two controllers).
    Back,
}

/// Rules of destaging partial stripes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DestageSpec {
    /// Destaging starts at this share of the cache. Default: 80 %, an estimate.
    pub high: Fraction,
    /// Destaging stops at this share. Default: 60 %, an estimate.
    pub low: Fraction,
    /// Everything is destaged after this time without requests. Default: 1 s, an estimate.
    pub idle: Nanos,
    /// Read-ahead during destaging, as a share of the bytes destaged: 0 % stops it, so that writers keep their
    /// rate and readers starve. Default: unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead_share: Option<Fraction>,
}

impl Default for DestageSpec {
    fn default() -> Self {
        Self { high: Fraction(0.8), low: Fraction(0.6), idle: Nanos(1_000_000_000), read_ahead_share: None }
    }
}

const fn mib_8() -> Bytes {
    Bytes(8 << 20)
}

/// A cache whose numbers are checked.
#[derive(Clone, Debug)]
pub struct CachePlan {
    /// Bytes that it holds at most.
    pub size: u64,
    /// True if it lies in the memory of the array's controllers, which their other arrays share.
    pub shared: bool,
    pub(super) replacement: ReplacementSpec,
    pub(super) back: bool,
    pub(super) line: u64,
    pub(super) stripe: u64,
    pub(super) read_ahead: u64,
    /// Stripes moved in parallel, if the user bounds them.
    pub(super) at_once: Option<u32>,
    /// Stripes destaged in parallel where the cache is full and `at_once` says nothing else.
    pub(super) most_destaged: u32,
    pub(super) run: u64,
    pub(super) high: u64,
    pub(super) low: u64,
    pub(super) idle: Nanos,
    pub(super) read_ahead_share: Option<Fraction>,
    pub(super) volatile: bool,
}

impl CachePlan {
    /// Note on read-ahead that the cache of the array `path` cannot hold.
    pub(in crate::block::array) fn note(&self, path: &str) -> Option<String> {
        let (asked, most) = (self.read_ahead, self.size);
        (asked > most)
            .then(|| format!("`read_ahead` of `{path}` is {}: its cache holds {}", Bytes(asked), Bytes(most)))
    }
}

impl ArrayCacheSpec {
    /// Checks it, for an array of this layout.
    pub(in crate::block::array) fn plan(
        &self,
        at: &mut Lowering,
        layout: &ArrayLayout,
        shared: bool,
    ) -> Option<CachePlan> {
        let stripe = layout.stripe_bytes();
        // What is wrong with a shared cache is said of the array that it does not fit.
        let field = |field: &'static str| if shared { "controllers" } else { field };
        let line = self.line.map_or_else(|| largest_line(stripe), |line| line.0);
        if line == 0 || !stripe.is_multiple_of(line) {
            let message = format!(
                "the data of a stripe, {}, is no multiple of a line of {}",
                Bytes(stripe),
                Bytes(line)
            );
            return at.refuse(
                field("cache.line"),
                message,
                Some("give a size that divides it, or leave `line` out"),
            );
        }
        if self.size.0 < 4 * line {
            let message = format!("a cache of {} holds fewer than four lines of {}", self.size, Bytes(line));
            return at.refuse(field("cache.size"), message, Some("give it more, or a smaller `line`"));
        }
        let share = |share: Fraction| (self.size.0 as f64 * share.get()) as u64;
        let DestageSpec { high, low, idle, read_ahead_share } = self.destage;
        if low.get() > high.get() || high.get() <= 0.0 {
            let message = "`low` is at most `high`, and `high` above 0 %";
            return at.refuse(field("cache.destage.low"), message, None);
        }
        Some(CachePlan {
            size: self.size.0,
            shared,
            replacement: self.replacement,
            back: self.writes == WritePolicy::Back,
            line,
            stripe,
            read_ahead: self.read_ahead.map_or(0, |ahead| ahead.0),
            at_once: self.stripes_at_once,
            most_destaged: most_destaged(layout.disks()),
            run: self.run.0,
            high: share(high),
            low: share(low),
            idle,
            read_ahead_share,
            volatile: self.volatile,
        })
    }
}

/// Stripes destaged in parallel while the cache has room: an estimate.
pub(super) const LEAST_DESTAGED: u32 = 8;

/// Stripes destaged in parallel for each disk where the cache is full: an estimate. Small writes touch two or three disks of a stripe, so that
/// each disk has about ten commands to choose from; with fewer, disks behind a cache would do less than under hosts with deep queues.
const DESTAGED_FOR_EACH: u64 = 4;

/// The most, of any number of disks: that of `stripes_at_once`.
const MOST_DESTAGED: u32 = 1024;

/// Returns the number of stripes destaged in parallel where the cache is full.
fn most_destaged(disks: u64) -> u32 {
    (DESTAGED_FOR_EACH * disks).clamp(LEAST_DESTAGED.into(), MOST_DESTAGED.into()) as u32
}

/// The largest power of two up to 16 KiB that divides the data of a stripe.
fn largest_line(stripe: u64) -> u64 {
    1 << stripe.trailing_zeros().min(14)
}
