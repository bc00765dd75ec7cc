//! What is known of a drive's mechanics.

use headrace_units::{Fraction, Nanos, Shift};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::disk::layout::LayoutSpec;

/// What is known of the mechanics beyond a data sheet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MechanicsSpec {
    /// Where these numbers were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// From one surface to another of the same cylinder. Default: as long as a seek to the next cylinder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_switch: Option<Nanos>,
    /// How much longer a seek or head switch takes before a write than before a read. Negative where it is shorter, as in some
    /// DiskSim files; no move takes less than no time. Default: by how much `seek_write` is slower to the next cylinder than
    /// `seek_read`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_settle: Option<Shift>,
    /// What share of writes lose a turn, as the head is not steady enough when their sector comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_retries: Option<Fraction>,
    /// Whether a read or write of a track begins at whichever of its sectors comes first, and not at the first.
    #[serde(default)]
    pub zero_latency: bool,
    /// Whether a write does. Default: as `zero_latency`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zero_latency_writes: Option<bool>,
    /// By how much longer a seek inwards takes than `seek` says: what pushes the arm (the air, its cable) helps it one way only.
    #[serde(default)]
    pub inward_more: Nanos,
    /// By how much longer a seek outwards takes.
    #[serde(default)]
    pub outward_more: Nanos,
    /// Seek times: (cylinders, time), distances rising; in between, and beyond the last, on straight lines. Default: the curve of `seek_read`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seek: Vec<(u32, Nanos)>,
    /// Where sectors lie. Default: in sixteen zones, as many surfaces as the capacity takes, and skews just long enough to
    /// switch to the next track and settle for a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutSpec>,
}

impl MechanicsSpec {
    /// What cannot be: (field, what is wrong).
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if self.seek.windows(2).any(|pair| pair[0].0 >= pair[1].0)
            || self.seek.first().is_some_and(|(d, _)| *d == 0)
        {
            return Some((
                "mechanics",
                "the distances of `seek` are to begin at 1 or more and rise".to_owned(),
            ));
        }
        let (zone, problem) = self.layout.as_ref()?.problem()?;
        Some(("mechanics", format!("zone {zone} of the layout: {problem}")))
    }
}

/// The mechanics of a drive, complete: what the specification gives, and what follows from its data sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanics {
    /// From one surface to another of the same cylinder.
    pub head_switch: Nanos,
    /// How much longer a move takes before a write.
    pub write_settle: Shift,
    /// What share of writes lose a turn.
    pub write_retries: f64,
    /// Whether a track is read from whichever sector comes first.
    pub zero_latency_reads: bool,
    /// Whether it is written so.
    pub zero_latency_writes: bool,
    /// By how much longer a seek inwards takes.
    pub inward_more: Nanos,
    /// By how much longer a seek outwards takes.
    pub outward_more: Nanos,
    /// Seek times as points; none where those of the data sheet hold.
    pub seek: Vec<(u32, Nanos)>,
    /// Where sectors lie.
    pub layout: LayoutSpec,
}
