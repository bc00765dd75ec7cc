//! A parallel SCSI bus, connection by connection.
//!
//! A device that sends holds the whole bus: it waits until the bus is free, arbitrates, selects the other, and transfers messages,
//! command and status byte by byte and data at the agreed synchronous rate. Of those that arbitrate the one with the highest ID wins,
//! and nothing keeps it from winning again. Disks disconnect after each command, and reconnect when they have data or a status to
//! send, or want the data of a write.

use std::cell::Cell;

use headrace_kernel::Priority;
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::component::Spec;
use crate::core::graph::{Lowering, View};
use crate::fabric::channel::{Arbitration, Channel, LaneProtocol, LaneTurn, Tenancies, Tenancy};
use crate::fabric::path_transfer::Sender::{Controller, Disk};

/// Time from the end of one connection until the winner of the next may select, in ns: bus settle 400, bus free 800, arbitration 2400,
/// bus clear 800, bus settle 400, and two deskews of 45 (SCSI-2; Fujitsu MAN3184 specifications, table 1.15).
const ARBITRATION_NS: f64 = 4890.0;

/// Bytes of identification and tag, which begin every connection; of a 10-byte command and the message of its disconnection; of the
/// messages of a disconnection with data left, which are as many as a status and the message that ends the command (SCSI-2).
const NEXUS: u64 = 3;
const COMMAND: Tenancy = Tenancy { sender: Controller, has_data: false, message: NEXUS + 10 + 1, more: 0 };
const STATUS: Tenancy = Tenancy { sender: Disk, has_data: false, message: NEXUS + 2, more: NEXUS + 2 };
const DATA: Tenancy = Tenancy { has_data: true, ..STATUS };

/// A parallel SCSI bus between arrays and their disks, which name it in `via`. Each array takes one ID for its controller and one per
/// disk, at most 8 on a narrow bus and 16 on a wide one. Controllers have the highest priority, followed by the disks in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScsiBusSpec {
    /// Generation, which sets data rate and width.
    pub preset: ScsiPreset,
    /// Rate of messages, commands and status, which are always transferred asynchronously. Default: 5 MB/s, an
    /// estimate.
    #[serde(default = "five_mb_per_s")]
    pub async_rate: BytesPerSecond,
    /// Response time of the selected device, phase changes included. Default: 2 µs, an estimate.
    #[serde(default = "two_us")]
    pub selection: Nanos,
    /// Maximum amount of data per connection; a disk with more disconnects and arbitrates again. Default: no
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Bytes>,
}

/// Generation of parallel SCSI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScsiPreset {
    /// Synchronous SCSI: 5 MB/s, 8 IDs (SCSI-1).
    Scsi1,
    /// Fast SCSI: 10 MB/s, 8 IDs (SCSI-2).
    Fast,
    /// Fast Wide SCSI: 20 MB/s, 16 IDs (SCSI-2).
    FastWide,
    /// Ultra SCSI: 20 MB/s, 8 IDs (SPI).
    Ultra,
    /// Wide Ultra SCSI: 40 MB/s, 16 IDs (SPI).
    UltraWide,
    /// Ultra2 SCSI: 80 MB/s, 16 IDs (SPI-2).
    Ultra2,
    /// Ultra160 SCSI: 160 MB/s, 16 IDs (SPI-3).
    Ultra160,
    /// Ultra320 SCSI: 320 MB/s, 16 IDs (SPI-4). Its packetized commands and quick arbitration are not modelled.
    Ultra320,
}

const fn five_mb_per_s() -> BytesPerSecond {
    BytesPerSecond(5e6)
}

const fn two_us() -> Nanos {
    Nanos(2000)
}

impl ScsiPreset {
    /// Data rate in MB/s, and the number of IDs.
    const fn rate_and_ids(self) -> (f64, usize) {
        match self {
            Self::Scsi1 => (5.0, 8),
            Self::Fast => (10.0, 8),
            Self::Ultra => (20.0, 8),
            Self::FastWide => (20.0, 16),
            Self::UltraWide => (40.0, 16),
            Self::Ultra2 => (80.0, 16),
            Self::Ultra160 => (160.0, 16),
            Self::Ultra320 => (320.0, 16),
        }
    }
}

impl Spec for ScsiBusSpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Self> {
        if self.burst == Some(Bytes(0)) {
            return at.refuse(
                "burst",
                "a burst carries at least one byte",
                Some("leave it out for no limit"),
            );
        }
        Some(self.clone())
    }
}

/// A bus in a simulation.
pub type ScsiBus<'m> = Tenancies<'m, ScsiBusSpec>;

/// Arbitration that gives the bus to the device with the highest ID.
#[derive(Default)]
pub struct ByIdentity {
    /// The number of IDs given to disks.
    ids: Cell<u32>,
}

impl Arbitration for ByIdentity {
    type Queue = Priority;

    fn queue(&self) -> Priority {
        Priority::default()
    }

    fn attach(&self, first: u32, ports: u32) {
        self.ids.set(first + ports);
    }

    fn key(&self, turn: &LaneTurn) -> u32 {
        match turn.sender {
            Controller => turn.port,
            Disk => self.ids.get() + turn.port,
        }
    }
}

impl Channel for ScsiBusSpec {
    type Access = ByIdentity;

    const PROTOCOL: LaneProtocol =
        LaneProtocol { read: [&[COMMAND], &[DATA]], write: [&[COMMAND, DATA], &[STATUS]] };

    fn access(&self) -> ByIdentity {
        ByIdentity::default()
    }

    fn burst(&self) -> u64 {
        self.burst.map_or(u64::MAX, |burst| burst.0)
    }

    fn room_for(&self) -> Option<usize> {
        Some(self.preset.rate_and_ids().1)
    }

    fn tenancy_ns(&self, _: u32, _: f64, turn: &LaneTurn) -> f64 {
        let (mb_per_s, _) = self.preset.rate_and_ids();
        let messages = turn.message as f64 * 1e9 / self.async_rate.get();
        ARBITRATION_NS + self.selection.0 as f64 + messages + turn.data as f64 * 1e3 / mb_per_s
    }

    fn rank(&self, turn: &LaneTurn) -> u32 {
        u32::from(turn.sender == Disk)
    }

    fn fails(&self, view: View) -> Option<String> {
        Some(format!("all disks wait alike: on `{}` those with the higher ID wait less", view.path()))
    }
}
