//! Mechanics of a drive.

use headrace_units::{Fraction, Nanos, Shift};
use headrace_work::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::disk::layout::LayoutSpec;

/// Mechanical parameters beyond a data sheet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MechanicsSpec {
    /// Source of these values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Head switch within a cylinder. Default: the seek time to the next cylinder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_switch: Option<Nanos>,
    /// Additional settle time of a seek or head switch before a write. Negative in some DiskSim files; no
    /// move takes less than zero time. Default: the difference of `seek_write` and `seek_read` to the next
    /// cylinder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_settle: Option<Shift>,
    /// Share of writes that lose a revolution because the head has not settled when their sector arrives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_retries: Option<Fraction>,
    /// Share of reads that lose a revolution, because the head has not settled when their sector arrives or the sector must be read
    /// again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_retries: Option<Fraction>,
    /// If true, access to a track starts at whichever of its sectors comes first (zero-latency access).
    #[serde(default)]
    pub zero_latency: bool,
    /// Zero-latency access for writes. Default: as `zero_latency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zero_latency_writes: Option<bool>,
    /// Additional time of inward seeks over `seek`: the force of air and cable on the arm helps one direction
    /// only.
    #[serde(default)]
    pub inward_more: Nanos,
    /// Additional time of outward seeks over `seek`.
    #[serde(default)]
    pub outward_more: Nanos,
    /// Seek times as (cylinders, time) with increasing distances, interpolated and extrapolated linearly.
    /// Default: the curve of `seek_read`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seek: Vec<(u32, Nanos)>,
    /// Layout of sectors. Default: sixteen zones, as many surfaces as the capacity needs, and skews just
    /// large enough to switch tracks and settle for a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutSpec>,
}

impl MechanicsSpec {
    /// Returns the field and the error of invalid mechanics; `None` if they are valid.
    pub fn problem(&self) -> Option<Invalid> {
        if self.seek.windows(2).any(|pair| pair[0].0 >= pair[1].0)
            || self.seek.first().is_some_and(|(d, _)| *d == 0)
        {
            return Some(Invalid::new("seek", "the distances of `seek` are to begin at 1 or more and rise"));
        }
        Some(self.layout.as_ref()?.problem()?.within("layout"))
    }
}

/// The mechanics of a drive, complete: what the specification gives, and what follows from its data sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanics {
    /// From one surface to another of the same cylinder.
    pub head_switch: Nanos,
    /// Additional time of a move before a write.
    pub write_settle: Shift,
    /// Share of writes that lose a revolution.
    pub write_retries: f64,
    /// Share of reads that lose a revolution.
    pub read_retries: f64,
    /// True if a track is read from whichever sector comes first.
    pub zero_latency_reads: bool,
    /// True if a track is written from whichever sector comes first.
    pub zero_latency_writes: bool,
    /// By how much longer a seek inwards takes.
    pub inward_more: Nanos,
    /// Additional time of outward seeks over `seek`.
    pub outward_more: Nanos,
    /// Seek times as points; none where those of the data sheet hold.
    pub seek: Vec<(u32, Nanos)>,
    /// Layout of sectors.
    pub layout: LayoutSpec,
}
