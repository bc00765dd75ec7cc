//! Serial Attached SCSI, connection by connection: the wide port of a controller, the expanders behind it, and a link to each disk.
//!
//! A port that sends opens a connection, which takes one lane of the wide port and the link of the disk, sends the frames of one
//! sequence, and closes it. The connection that has waited longest gets the next free lane. A connection to a slower disk holds its
//! lane at the disk's rate.

use headrace_kernel::Fcfs;
use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::component::Spec;
use crate::core::graph::{Lowering, View};
use crate::fabric::channel::{Arbitration, Channel, FCP, Frames, LaneProtocol, LaneTurn, Tenancies};
use crate::fabric::wire::NS_PER_METRE;

/// Bytes of data in a full frame, and of a frame beside its data: start 4, header 24, checksum 4, end 4 (SPL; Fujitsu MBA3300RC
/// interface manual, tables 1.32 and 1.33).
pub(crate) const PAYLOAD: u64 = 1024;
pub(crate) const OVERHEAD: u64 = 36;

/// Bytes that open a connection, an address frame of 40 and its acceptance, and that close it: two primitives each way (SPL).
const OPEN_AND_CLOSE: f64 = 44.0 + 16.0;

/// Times that something crosses the expanders, while the connection carries no data: the opening, its acceptance, and the closing, to
/// and fro.
const CROSSINGS: f64 = 4.0;

/// A SAS port of an array controller with its expanders and disk links. Arrays name it in `via`; those that name the same one share
/// its lanes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SasSpec {
    /// Generation, which sets the rate of a lane.
    pub preset: SasPreset,
    /// Number of lanes of the wide port, each with one connection at a time. Default: 4.
    #[serde(default = "four")]
    #[schemars(range(min = 1, max = 64))]
    pub lanes: u32,
    /// Generation of the disk links. A connection runs at the slower of the two rates. Default: `preset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_links: Option<SasPreset>,
    /// Number of expanders between the controller and a disk. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 64))]
    pub expanders: u32,
    /// Delay per expander. Default: 0.3 µs, an estimate.
    #[serde(default = "some_dwords")]
    pub expander_delay: Nanos,
    /// Cable length to a disk in metres (5 ns each).
    #[serde(default)]
    #[schemars(range(min = 0, max = 1000))]
    pub metres: u32,
}

/// Generation of SAS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SasPreset {
    /// 3 Gbaud, 8b/10b: 300 MB/s a lane (SAS-1).
    #[serde(rename = "sas_3g")]
    Sas3,
    /// 6 Gbaud, 8b/10b: 600 MB/s a lane (SAS-2).
    #[serde(rename = "sas_6g")]
    Sas6,
    /// 12 Gbaud, 8b/10b: 1200 MB/s a lane (SAS-3).
    #[serde(rename = "sas_12g")]
    Sas12,
    /// 22.5 Gbaud, 128b/150b: 2400 MB/s a lane, sold as 24G (SAS-4).
    #[serde(rename = "sas_22_5g")]
    Sas22,
}

const fn one() -> u32 {
    1
}

const fn four() -> u32 {
    4
}

const fn some_dwords() -> Nanos {
    Nanos(300)
}

impl SasPreset {
    /// Returns the rate of one lane.
    pub(crate) const fn mb_per_s(self) -> f64 {
        match self {
            Self::Sas3 => 300.0,
            Self::Sas6 => 600.0,
            Self::Sas12 => 1200.0,
            Self::Sas22 => 2400.0,
        }
    }
}

impl Spec for SasSpec {
    type Plan = Self;

    fn lower(&self, _: &mut Lowering) -> Option<Self> {
        Some(self.clone())
    }
}

/// A SAS port in a simulation.
pub type Sas<'m> = Tenancies<'m, SasSpec>;

/// Arbitration that gives a free lane to the connection that has waited longest.
pub struct LongestWaiting;

impl Arbitration for LongestWaiting {
    type Queue = Fcfs;

    fn queue(&self) -> Fcfs {
        Fcfs::default()
    }

    fn attach(&self, _: u32, _: u32) {}

    fn key(&self, _: &LaneTurn) {}
}

impl SasSpec {
    fn ns_per_byte(&self) -> f64 {
        let link = self.disk_links.unwrap_or(self.preset);
        1e3 / self.preset.mb_per_s().min(link.mb_per_s())
    }

    /// From the controller to a disk, in ns.
    fn one_way_ns(&self) -> f64 {
        f64::from(self.expanders) * self.expander_delay.0 as f64 + f64::from(self.metres) * NS_PER_METRE
    }
}

impl Channel for SasSpec {
    type Access = LongestWaiting;

    const PROTOCOL: LaneProtocol = FCP;

    fn access(&self) -> LongestWaiting {
        LongestWaiting
    }

    fn lanes(&self) -> u32 {
        self.lanes
    }

    fn tenancy_ns(&self, _: u32, _: f64, turn: &LaneTurn) -> f64 {
        let ns_per_byte = self.ns_per_byte();
        let frames =
            Frames { ns_per_byte, payload: PAYLOAD, overhead: OVERHEAD, credit: u32::MAX, round_ns: 0.0 };
        let managed = CROSSINGS * self.one_way_ns() + OPEN_AND_CLOSE * ns_per_byte;
        managed + frames.ns_for(turn.data, turn.message)
    }

    fn fails(&self, view: View) -> Option<String> {
        (self.lanes > 1).then(|| {
            format!(
                "only lanes are waited for: on `{}` a disk also has one connection at a time",
                view.path()
            )
        })
    }
}
