//! Specification of a loop.

use headrace_units::{Bytes, BytesPerSecond};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::component::Spec;
use crate::core::graph::Lowering;

/// A Fibre Channel arbitrated loop between arrays and their disks, which name it in `via`. Each array takes one port for its controller
/// and one per disk, at most 127 in all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FcLoopSpec {
    /// Generation: `1 Gb/s`, `2 Gb/s` or `4 Gb/s`. Line rate (`1.0625 Gb/s`) or data rate (`100 MB/s`) are also accepted.
    pub rate: BytesPerSecond,
    /// Access policy: which port sends next.
    #[serde(default)]
    pub policy: Policy,
    /// Delay in each port, in transmission words of 40 bits. 6 is typical (estimate); FC-AL-2 allows 12.
    #[serde(default = "six")]
    #[schemars(range(min = 0, max = 12))]
    pub per_node_delay: u32,
    /// Length of cable around the loop in metres (5 ns each).
    #[serde(default)]
    #[schemars(range(min = 0, max = 100_000))]
    pub metres: u32,
    /// Payload of a full frame: a multiple of 4 B from 128 B to 2112 B. Default: 2048 B, four sectors, as SCSI
    /// devices send.
    #[serde(default = "four_sectors")]
    pub frame_payload: Bytes,
    /// Buffer-to-buffer credit: frames sent before the first is acknowledged. Default: 4, an estimate that
    /// stalls only loops with long cables.
    #[serde(default = "four")]
    #[schemars(range(min = 1, max = 255))]
    pub credit: u32,
}

/// Access policy of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// A port that has sent waits until every other waiting port has sent (the access window).
    #[default]
    Fairness,
    /// As `fairness`, but array controllers ignore the window for read commands.
    ReadCommandFirst,
    /// As `fairness`, but array controllers, in place of the FL port, always ignore the window.
    FlPortFirst,
    /// As `fairness`, but array controllers ignore the window for all commands.
    CommandsFirst,
}

const fn four() -> u32 {
    4
}

const fn six() -> u32 {
    6
}

const fn four_sectors() -> Bytes {
    Bytes(2048)
}

/// Bits on the wire for each byte, by the code 8b/10b.
const CODED: f64 = 10.0;

/// Line rate of the slowest loop, in bits a second; others are multiples of it (FC-PI).
const BAUD: f64 = 1.0625e9;

impl FcLoopSpec {
    /// The generation, by any of its rates: 1, 2 or 4 Gb/s.
    fn generation(&self) -> Option<f64> {
        let rate = self.rate.get();
        let is = |all: f64| (rate / all - 1.0).abs() < 1e-6;
        [1.0, 2.0, 4.0].into_iter().find(|n| is(n * 125e6) || is(n * BAUD / 8.0) || is(n * 100e6))
    }

    /// Returns the duration of a byte on the wire, in ns.
    pub(super) fn ns_per_byte(&self) -> f64 {
        CODED / (BAUD * self.generation().expect("a loop of another rate is refused")) * 1e9
    }
}

impl Spec for FcLoopSpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Self> {
        if self.generation().is_none() {
            let message = format!("no Fibre Channel loop has a rate of {}", self.rate);
            return at.refuse("rate", message, Some("use `1 Gb/s`, `2 Gb/s` or `4 Gb/s`"));
        }
        let payload = self.frame_payload.0;
        if !payload.is_multiple_of(4) || !(128..=2112).contains(&payload) {
            let message = format!("invalid payload: {}", self.frame_payload);
            return at.refuse("frame_payload", message, Some("use a multiple of 4 B from 128 B to 2112 B"));
        }
        Some(self.clone())
    }
}
