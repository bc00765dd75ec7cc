//! Wires by their names in the trade.

use headrace_units::BytesPerSecond;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FrameSpec, Protocol};

/// A type of wire: its rate after line coding, and its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Preset {
    /// Fibre Channel of 1.0625 Gbaud, 8b/10b: 106.25 MB/s in frames (FC-PI).
    #[serde(rename = "fc_1g")]
    Fc1,
    /// Fibre Channel of 2.125 Gbaud, 8b/10b.
    #[serde(rename = "fc_2g")]
    Fc2,
    /// Fibre Channel of 4.25 Gbaud, 8b/10b.
    #[serde(rename = "fc_4g")]
    Fc4,
    /// Fibre Channel of 8.5 Gbaud, 8b/10b.
    #[serde(rename = "fc_8g")]
    Fc8,
    /// Fibre Channel of 14.025 Gbaud, 64b/66b: 1700 MB/s in frames (FC-PI-5).
    #[serde(rename = "fc_16g")]
    Fc16,
    /// Fibre Channel of 28.05 Gbaud, 64b/66b in effect: 3400 MB/s in frames (FC-PI-6).
    #[serde(rename = "fc_32g")]
    Fc32,
    /// Ethernet of 1 Gb/s, with TCP: iSCSI or NVMe/TCP. Its name is the rate after line coding; for jumbo frames set `frame: tcp_jumbo`.
    #[serde(rename = "ethernet_1g")]
    Ethernet1,
    /// Ethernet of 10 Gb/s, with TCP.
    #[serde(rename = "ethernet_10g")]
    Ethernet10,
    /// Ethernet of 25 Gb/s, with TCP.
    #[serde(rename = "ethernet_25g")]
    Ethernet25,
    /// Ethernet of 40 Gb/s, with TCP.
    #[serde(rename = "ethernet_40g")]
    Ethernet40,
    /// Ethernet of 100 Gb/s, with TCP.
    #[serde(rename = "ethernet_100g")]
    Ethernet100,
    /// Ethernet of 200 Gb/s, with TCP.
    #[serde(rename = "ethernet_200g")]
    Ethernet200,
    /// Ethernet of 400 Gb/s, with TCP.
    #[serde(rename = "ethernet_400g")]
    Ethernet400,
    /// Ethernet of 25 Gb/s, with RDMA (RoCE v2).
    #[serde(rename = "roce_25g")]
    Roce25,
    /// Ethernet of 100 Gb/s, with RDMA (RoCE v2).
    #[serde(rename = "roce_100g")]
    Roce100,
    /// Ethernet of 200 Gb/s, with RDMA (RoCE v2).
    #[serde(rename = "roce_200g")]
    Roce200,
    /// Ethernet of 400 Gb/s, with RDMA (RoCE v2).
    #[serde(rename = "roce_400g")]
    Roce400,
    /// InfiniBand SDR of one lane, 2.5 Gbaud, 8b/10b: 250 MB/s.
    #[serde(rename = "infiniband_sdr_1x")]
    Sdr1x,
    /// InfiniBand SDR of four lanes, 8b/10b: 1 GB/s.
    #[serde(rename = "infiniband_sdr")]
    Sdr,
    /// InfiniBand DDR of four lanes of 5 Gbaud, 8b/10b: 2 GB/s.
    #[serde(rename = "infiniband_ddr")]
    Ddr,
    /// InfiniBand QDR of four lanes of 10 Gbaud, 8b/10b: 4 GB/s.
    #[serde(rename = "infiniband_qdr")]
    Qdr,
    /// InfiniBand FDR of four lanes of 14.0625 Gbaud, 64b/66b: 6.82 GB/s.
    #[serde(rename = "infiniband_fdr")]
    Fdr,
    /// InfiniBand EDR of four lanes of 25.78125 Gbaud, 64b/66b: 12.5 GB/s.
    #[serde(rename = "infiniband_edr")]
    Edr,
    /// InfiniBand HDR of four lanes of 50 Gb/s each after coding and error correction: 25 GB/s.
    #[serde(rename = "infiniband_hdr")]
    Hdr,
    /// InfiniBand NDR of four lanes of 100 Gb/s each after coding and error correction: 50 GB/s.
    #[serde(rename = "infiniband_ndr")]
    Ndr,
}

/// Bytes per second at this rate in Gbaud where each byte is sent as ten bits, and where eight are sent as sixty-six.
const fn by_8b10b(gigabaud: f64) -> f64 {
    gigabaud * 1e9 / 10.0
}

const fn by_64b66b(gigabaud: f64) -> f64 {
    gigabaud * 1e9 * 64.0 / 66.0 / 8.0
}

impl Preset {
    /// The rate at which frames are sent, after line coding.
    pub fn rate(self) -> BytesPerSecond {
        BytesPerSecond(match self {
            Self::Fc1 => by_8b10b(1.0625),
            Self::Fc2 => by_8b10b(2.125),
            Self::Fc4 => by_8b10b(4.25),
            Self::Fc8 => by_8b10b(8.5),
            Self::Fc16 => by_64b66b(14.025),
            Self::Fc32 => by_64b66b(28.05),
            Self::Ethernet1 => 125e6,
            Self::Ethernet10 => 1.25e9,
            Self::Ethernet25 | Self::Roce25 => 3.125e9,
            Self::Ethernet40 => 5e9,
            Self::Ethernet100 | Self::Roce100 => 12.5e9,
            Self::Ethernet200 | Self::Roce200 | Self::Hdr => 25e9,
            Self::Ethernet400 | Self::Roce400 | Self::Ndr => 50e9,
            Self::Sdr1x => by_8b10b(2.5),
            Self::Sdr => by_8b10b(10.0),
            Self::Ddr => by_8b10b(20.0),
            Self::Qdr => by_8b10b(40.0),
            Self::Fdr => by_64b66b(56.25),
            Self::Edr => by_64b66b(103.125),
        })
    }

    /// Its frames.
    pub const fn frame(self) -> FrameSpec {
        FrameSpec::Of(match self {
            Self::Fc1 | Self::Fc2 | Self::Fc4 | Self::Fc8 | Self::Fc16 | Self::Fc32 => Protocol::FibreChannel,
            Self::Sdr1x
            | Self::Sdr
            | Self::Ddr
            | Self::Qdr
            | Self::Fdr
            | Self::Edr
            | Self::Hdr
            | Self::Ndr => Protocol::Infiniband,
            Self::Roce25 | Self::Roce100 | Self::Roce200 | Self::Roce400 => Protocol::Roce,
            Self::Ethernet1
            | Self::Ethernet10
            | Self::Ethernet25
            | Self::Ethernet40
            | Self::Ethernet100
            | Self::Ethernet200
            | Self::Ethernet400 => Protocol::Tcp,
        })
    }

    /// Nominal rate of each preset, in MB/s of data.
    #[cfg(test)]
    pub const NOMINAL: [(Self, f64); 12] = [
        (Self::Fc1, 100.0),
        (Self::Fc2, 200.0),
        (Self::Fc4, 400.0),
        (Self::Fc8, 800.0),
        (Self::Fc16, 1600.0),
        (Self::Fc32, 3200.0),
        (Self::Ethernet10, 1250.0),
        (Self::Qdr, 4000.0),
        (Self::Edr, 12500.0),
        (Self::Ethernet400, 50_000.0),
        (Self::Roce100, 12_500.0),
        (Self::Hdr, 25_000.0),
    ];
}
