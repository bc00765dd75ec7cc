//! A wire: how long messages and data last on it, by the rate of its line, its frames, its length and its credit.

mod preset;

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::graph::Lowering;

pub use preset::Preset;

/// Delay of a metre of cable, in ns: light in glass at two thirds of its speed in a vacuum.
pub(crate) const NS_PER_METRE: f64 = 5.0;

/// Frame format: a protocol, or payload and overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FrameSpec {
    /// The frames of a protocol.
    Of(Protocol),
    /// Frames with this payload and overhead.
    Written(Frame),
}

/// A protocol: payload and overhead of its frames. All frames but the last are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Fibre Channel: 2048 B and 60 B (start 4, header 24, checksum 4, end 4, six idle words; FC-FS). A command has 32 B, a status
    /// 24 B (FCP).
    FibreChannel,
    /// iSCSI or NVMe/TCP over Ethernet: 1460 B and 78 B (preamble 8, header 14, checksum 4, gap 12; IP 20, TCP 20; IEEE 802.3,
    /// RFC 9293). A command and a status have 48 B each (RFC 7143). Headers of iSCSI and NVMe for data, 24 B to 48 B for each of
    /// many KiB, are left out.
    Tcp,
    /// TCP with jumbo frames: 8960 B and 78 B.
    TcpJumbo,
    /// RDMA over Ethernet (RoCE v2) with the largest packets: 4096 B and 82 B (preamble 8, header 14, checksum 4, gap 12; IP 20, UDP 8; base
    /// transport 12, checksum 4; IEEE 802.3, IBA volume 1 annex A17). A command has 64 B, a status 16 B (NVMe over Fabrics).
    Roce,
    /// InfiniBand with the largest packets: 4096 B and 26 B (local route 8, base transport 12, checksums 4 and 2; IBA volume 1). A
    /// command has 64 B, a status 36 B (SRP; estimate).
    Infiniband,
}

/// Payload and overhead of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// Payload of a full frame.
    pub payload: Bytes,
    /// Overhead per frame, including the gap to the next.
    pub overhead: Bytes,
}

impl FrameSpec {
    /// The numbers.
    pub fn frame(self) -> Frame {
        let (payload, overhead) = match self {
            Self::Written(frame) => return frame,
            Self::Of(Protocol::FibreChannel) => (2048, 60),
            Self::Of(Protocol::Tcp) => (1460, 78),
            Self::Of(Protocol::TcpJumbo) => (8960, 78),
            Self::Of(Protocol::Roce) => (4096, 82),
            Self::Of(Protocol::Infiniband) => (4096, 26),
        };
        Frame { payload: Bytes(payload), overhead: Bytes(overhead) }
    }

    /// Bytes of a command and of a status. Frames with a number of bytes of your own choice carry those of Fibre Channel.
    const fn messages(self) -> (u64, u64) {
        match self {
            Self::Of(Protocol::FibreChannel) | Self::Written(_) => (32, 24),
            Self::Of(Protocol::Tcp | Protocol::TcpJumbo) => (48, 48),
            Self::Of(Protocol::Roce) => (64, 16),
            Self::Of(Protocol::Infiniband) => (64, 36),
        }
    }
}

/// Fields of a wire, in whichever component it is a part of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WireFields {
    pub preset: Option<Preset>,
    pub rate: Option<BytesPerSecond>,
    pub frame: Option<FrameSpec>,
    pub metres: u32,
    pub credit: Option<u32>,
}

impl WireFields {
    /// The wire; refused without a rate, or with frames that carry nothing.
    pub fn wire(self, at: &mut Lowering) -> Option<Wire> {
        let Some(rate) = self.rate.or(self.preset.map(Preset::rate)) else {
            let help = "set a `preset`, such as `fc_8g` or `ethernet_10g`, or a `rate`";
            return at.refuse("rate", "a wire needs a rate", Some(help));
        };
        let frame = self.frame.or(self.preset.map(Preset::frame));
        if frame.is_some_and(|frame| frame.frame().payload.0 == 0) {
            return at.refuse("frame.payload", "the payload of a frame must be at least one byte", None);
        }
        Some(Wire { rate, frame, metres: self.metres, credit: self.credit })
    }
}

/// A wire in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wire {
    rate: BytesPerSecond,
    frame: Option<FrameSpec>,
    metres: u32,
    /// Frames that may be sent before the first is acknowledged.
    credit: Option<u32>,
}

impl Wire {
    /// Returns the time for which `bytes` of data keep the wire busy.
    #[inline]
    pub fn time_for(&self, bytes: u64) -> Nanos {
        if bytes == 0 {
            return Nanos::ZERO;
        }
        let Some(Frame { payload, overhead }) = self.frame.map(FrameSpec::frame) else {
            return self.rate.time_for(Bytes(bytes));
        };
        let frames = bytes.div_ceil(payload.0);
        let sent = self.rate.time_for(Bytes(bytes.saturating_add(frames.saturating_mul(overhead.0))));
        sent.max(self.by_credit(frames, payload.0 + overhead.0))
    }

    /// Returns the time of the frames if each waits for its credit: it returns with the acknowledgement of an earlier frame, one round
    /// trip after that was sent.
    fn by_credit(&self, frames: u64, bytes: u64) -> Nanos {
        let Some(credit) = self.credit.filter(|credit| frames > u64::from(*credit)) else {
            return Nanos::ZERO;
        };
        let frame = self.rate.time_for(Bytes(bytes));
        let round = frame + self.delay() + self.delay();
        Nanos(frame.0 + (u128::from(round.0) * u128::from(frames - 1) / u128::from(credit)) as u64)
    }

    /// Returns the time of a command before the data of a write, or of a status behind that of a read. Without frames there are no
    /// messages.
    pub fn message(&self, is_command: bool) -> Nanos {
        let Some(frame) = self.frame else { return Nanos::ZERO };
        let (command, status) = frame.messages();
        let bytes = if is_command { command } else { status };
        self.rate.time_for(Bytes(bytes + frame.frame().overhead.0))
    }

    /// Returns the time of the first frame of data, or of a message without data.
    pub fn first_frame(&self, bytes: u64, is_command: bool) -> Nanos {
        let payload = self.frame.map_or(bytes, |frame| frame.frame().payload.0);
        if bytes == 0 { self.message(is_command) } else { self.time_for(bytes.min(payload)) }
    }

    /// Returns the propagation delay.
    pub fn delay(&self) -> Nanos {
        Nanos((f64::from(self.metres) * NS_PER_METRE) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(rate: f64, frame: Option<FrameSpec>) -> Wire {
        Wire { rate: BytesPerSecond(rate), frame, metres: 0, credit: None }
    }

    fn data_rate(wire: Wire) -> f64 {
        (1u64 << 30) as f64 / wire.time_for(1 << 30).secs() / 1e6
    }

    #[track_caller]
    fn is(found: f64, known: f64) {
        assert!((found / known - 1.0).abs() < 0.005, "{found} MB/s, {known}");
    }

    /// Rates of data by published accounts: 103 MB/s of Fibre Channel at 1.0625 Gbaud, 118 MB/s of TCP on a gigabit and 124 MB/s with
    /// jumbo frames, 983 MB/s and more of InfiniBand 4X at 1 GB/s.
    #[test]
    fn frames_leave_data_its_known_share() {
        let of = |protocol, rate| data_rate(wire(rate, Some(FrameSpec::Of(protocol))));
        is(of(Protocol::FibreChannel, 106.25e6), 103.2);
        is(of(Protocol::Tcp, 125e6), 118.6);
        is(of(Protocol::TcpJumbo, 125e6), 123.9);
        is(of(Protocol::Infiniband, 1e9), 993.7);
    }

    /// The name of a generation is the rate of data that it was sold by: 100 MB/s for each Gb/s, 3200 MB/s at 32.
    #[test]
    fn presets_reach_what_their_names_say() {
        for (preset, nominal) in Preset::NOMINAL {
            let found = data_rate(wire(preset.rate().get(), Some(preset.frame())));
            assert!((0.94..1.06).contains(&(found / nominal)), "{preset:?}: {found} MB/s, sold as {nominal}");
        }
    }

    #[test]
    fn the_last_frame_costs_as_much_as_a_full_one() {
        let frame = FrameSpec::Written(Frame { payload: Bytes(1000), overhead: Bytes(100) });
        assert_eq!([1, 1000, 1001].map(|bytes| wire(1e9, Some(frame)).time_for(bytes).0), [101, 1100, 1201]);
        assert_eq!(wire(1e9, None).time_for(1001), Nanos(1001));
    }

    /// 10 km hold 50 µs of frames each way: a gigabit line needs six credits of 20 µs there and back, and with one it stands still
    /// after each frame.
    #[test]
    fn a_long_wire_wants_credit() {
        let of = |credit| {
            let frame = Some(FrameSpec::Of(Protocol::FibreChannel));
            data_rate(Wire { metres: 10_000, credit, ..wire(106.25e6, frame) })
        };
        is(of(Some(8)), of(None));
        is(of(Some(3)), 3.0 * 2048.0 / 119.84);
        is(of(Some(1)), 2048.0 / 119.84);
    }
}
