//! Interface of a drive: SATA, SAS or PCI Express.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::Op;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fabric::link::Duplex;
use crate::fabric::sas::{self, SasPreset};
use crate::fabric::wire::{Frame, FrameSpec, WireFields};

/// An interface by its name: its rate after line coding, its frames, and whether reads and writes share the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Interface {
    /// SATA 1.5 Gb/s, 8b/10b: 150 MB/s, half duplex. Of all SATA rates, a read or write and its frames take time of their own.
    #[serde(rename = "sata_1.5g")]
    Sata1,
    /// SATA 3 Gb/s: 300 MB/s.
    #[serde(rename = "sata_3g")]
    Sata3,
    /// SATA 6 Gb/s: 600 MB/s.
    #[serde(rename = "sata_6g")]
    Sata6,
    /// SAS-1, 3 Gbaud, 8b/10b: 300 MB/s per direction. Of all SAS rates, one port of the drive.
    #[serde(rename = "sas_3g")]
    Sas3,
    /// SAS-2, 6 Gbaud: 600 MB/s per direction.
    #[serde(rename = "sas_6g")]
    Sas6,
    /// SAS-3, 12 Gbaud: 1.2 GB/s per direction.
    #[serde(rename = "sas_12g")]
    Sas12,
    /// SAS-4, 22.5 Gbaud, 128b/150b: 2.4 GB/s per direction, sold as 24G.
    #[serde(rename = "sas_22_5g")]
    Sas22,
    /// NVMe, PCI Express 3.0 ×2, 8 GT/s, 128b/130b: 1.97 GB/s per direction. For backplanes and sockets that give a drive two
    /// lanes.
    #[serde(rename = "nvme_gen3_x2")]
    Nvme3Half,
    /// NVMe, PCI Express 4.0 ×2, 16 GT/s: 3.94 GB/s per direction.
    #[serde(rename = "nvme_gen4_x2")]
    Nvme4Half,
    /// NVMe, PCI Express 5.0 ×2, 32 GT/s: 7.88 GB/s per direction.
    #[serde(rename = "nvme_gen5_x2")]
    Nvme5Half,
    /// NVMe, PCI Express 3.0 ×4, 8 GT/s, 128b/130b: 3.94 GB/s per direction.
    #[serde(rename = "nvme_gen3_x4")]
    Nvme3,
    /// NVMe, PCI Express 4.0 ×4, 16 GT/s: 7.88 GB/s per direction.
    #[serde(rename = "nvme_gen4_x4")]
    Nvme4,
    /// NVMe, PCI Express 5.0 ×4, 32 GT/s: 15.75 GB/s per direction.
    #[serde(rename = "nvme_gen5_x4")]
    Nvme5,
}

/// Bytes per second of lanes of PCI Express from generation 3 on, which sends 128 of 130 bits as data.
const fn pcie(lanes: f64, transfers_per_s: f64) -> f64 {
    lanes * transfers_per_s / 8.0 * 128.0 / 130.0
}

/// A packet of PCI Express: 256 B of data, and 26 B of header, sequence number, checksum and framing (PCI Express Base Specification;
/// 256 B is the usual largest payload, a choice of the host).
const PACKET: Frame = Frame { payload: Bytes(256), overhead: Bytes(26) };

/// A frame of SATA: 8 KiB of data at most (Serial ATA specification), and what it takes besides: header, checksum, and to ask and be
/// answered before and after it. The time of 468 B is that of 128 KiB in 16 such frames, and four more for their command, where drives
/// promise 560 MB/s of 600 (data sheet of the Intel S4610, as commonly quoted).
const FRAME: Frame = Frame { payload: Bytes(8192), overhead: Bytes(468) };

/// A frame of the Serial SCSI Protocol. What goes with the data of a command is such frames too: their contents of a few dozen bytes, and the
/// connections that they need on a shared path, are left out.
const SSP: Frame = Frame { payload: Bytes(sas::PAYLOAD), overhead: Bytes(sas::OVERHEAD) };

/// What a port speaks; drives and ports of different ones do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Sata,
    Sas,
    Nvme,
}

impl Interface {
    const fn protocol(self) -> Protocol {
        match self {
            Self::Sata1 | Self::Sata3 | Self::Sata6 => Protocol::Sata,
            Self::Sas3 | Self::Sas6 | Self::Sas12 | Self::Sas22 => Protocol::Sas,
            Self::Nvme3Half | Self::Nvme4Half | Self::Nvme5Half => Protocol::Nvme,
            Self::Nvme3 | Self::Nvme4 | Self::Nvme5 => Protocol::Nvme,
        }
    }

    /// Returns the name of what it speaks.
    pub const fn speaks(self) -> &'static str {
        match self.protocol() {
            Protocol::Sata => "SATA",
            Protocol::Sas => "SAS",
            Protocol::Nvme => "NVMe",
        }
    }

    fn rate(self) -> BytesPerSecond {
        BytesPerSecond(match self {
            Self::Sata1 => 150e6,
            Self::Sata3 => 300e6,
            Self::Sata6 => 600e6,
            Self::Sas3 => SasPreset::Sas3.mb_per_s() * 1e6,
            Self::Sas6 => SasPreset::Sas6.mb_per_s() * 1e6,
            Self::Sas12 => SasPreset::Sas12.mb_per_s() * 1e6,
            Self::Sas22 => SasPreset::Sas22.mb_per_s() * 1e6,
            Self::Nvme3Half => pcie(2.0, 8e9),
            Self::Nvme4Half => pcie(2.0, 16e9),
            Self::Nvme5Half => pcie(2.0, 32e9),
            Self::Nvme3 => pcie(4.0, 8e9),
            Self::Nvme4 => pcie(4.0, 16e9),
            Self::Nvme5 => pcie(4.0, 32e9),
        })
    }

    /// The interface on which a port and the drive in it agree: the slower. A SATA drive in a SAS port works as in a SATA port of at most 6 Gb/s
    /// (directly attached, or by the Serial ATA Tunneled Protocol). None where a drive does not fit.
    pub fn with(self, drive: Self) -> Option<Self> {
        let port = match (self.protocol(), drive.protocol()) {
            (Protocol::Sas, Protocol::Sata) => self.as_sata(),
            _ => self,
        };
        let slower = if drive.rate().get() < port.rate().get() { drive } else { port };
        (port.protocol() == drive.protocol()).then_some(slower)
    }

    /// Returns what a SAS port speaks to a SATA drive: no SATA is faster than 6 Gb/s.
    const fn as_sata(self) -> Self {
        match self {
            Self::Sas3 => Self::Sata3,
            _ => Self::Sata6,
        }
    }

    /// Number of commands outstanding that its protocol allows: native command queueing has 32, a SAS port or a queue of NVMe 64 Ki.
    pub const fn tags(self) -> u32 {
        match self.protocol() {
            Protocol::Sata => 32,
            Protocol::Sas | Protocol::Nvme => 65535,
        }
    }

    /// Returns half duplex if reads and writes share the wire.
    pub const fn duplex(self) -> Duplex {
        match self.protocol() {
            Protocol::Sata => Duplex::Half,
            Protocol::Sas | Protocol::Nvme => Duplex::Full,
        }
    }

    const fn frame(self) -> Frame {
        match self.protocol() {
            Protocol::Sata => FRAME,
            Protocol::Sas => SSP,
            Protocol::Nvme => PACKET,
        }
    }

    /// Returns the time to carry data one way.
    pub(crate) fn time_for(self, bytes: u64) -> Nanos {
        let Frame { payload, overhead } = self.frame();
        self.rate().time_for(Bytes(bytes + bytes.div_ceil(payload.0) * overhead.0))
    }

    /// Returns the time of what goes with the data of a command. With SATA's native command queueing that is the command, its receipt, the
    /// set-up of its transfer and its status, each a frame, and before the data of a write one that asks for it. With SAS it is the command and
    /// its response, and for a write that the drive is ready. On PCI Express they are parts of packets, and left out.
    pub(crate) fn command(self, op: Op) -> Nanos {
        let frames = match (self.protocol(), op) {
            (Protocol::Nvme, _) => 0,
            (Protocol::Sas, Op::Read) => 2,
            (Protocol::Sas, _) => 3,
            (Protocol::Sata, Op::Read) => 4,
            (Protocol::Sata, _) => 5,
        };
        self.rate().time_for(Bytes(frames * self.frame().overhead.0))
    }

    pub(crate) fn line(self) -> WireFields {
        let frame = Some(FrameSpec::Written(self.frame()));
        WireFields { rate: Some(self.rate()), frame, ..WireFields::default() }
    }
}
