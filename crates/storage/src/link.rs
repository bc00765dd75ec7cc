//! A link: one transfer at a time at a rate, and a latency on the way. Whoever names it shares it.

use headrace_analytic::Law;
use headrace_kernel::Resource;
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{Ask, Block, Cause, Op, Spent, What};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::{Lowering, View};
use crate::meter::{Activity, ByCause};
use crate::place::{Edge, Place};
use crate::room::{Known, Lowered, Metered, Plan, Room, Spec};
use crate::theory::{Demand, Load, Server};

/// A link that carries one transfer at a time, first come, first served. It holds no data: arrays send theirs `via` a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Transfer rate. With `frame`, the rate at which frames are sent: after line coding, before the overhead of frames.
    pub rate: BytesPerSecond,
    /// What frames add to data. Default: nothing; `rate` is that of data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<FrameSpec>,
    /// Delay from the last byte sent to the last byte received; the next transfer may begin in the meantime.
    #[serde(default)]
    pub latency: Nanos,
}

/// How data is cut into frames: by a protocol, or by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FrameSpec {
    /// Those of a protocol.
    Of(Protocol),
    /// Those of these numbers.
    Written(Frame),
}

/// A protocol, by what its frames carry and add. All data goes in full frames but for the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Fibre Channel: 2048 B and 60 B (start 4, header 24, checksum 4, end 4, six idle words; FC-FS).
    FibreChannel,
    /// iSCSI or NVMe/TCP over Ethernet: 1460 B and 78 B (preamble 8, header 14, checksum 4, gap 12; IP 20, TCP 20; IEEE 802.3,
    /// RFC 9293). Headers of iSCSI and NVMe, 24 B to 48 B for each of many KiB, are left out.
    Tcp,
    /// The same with jumbo frames: 8960 B and 78 B.
    TcpJumbo,
    /// InfiniBand with the largest packets: 4096 B and 26 B (local route 8, base transport 12, checksums 4 and 2; IBA volume 1).
    Infiniband,
}

/// What a frame carries and what it adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// Data in a full frame.
    pub payload: Bytes,
    /// Bytes of a frame besides, and of the gap to the next.
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
            Self::Of(Protocol::Infiniband) => (4096, 26),
        };
        Frame { payload: Bytes(payload), overhead: Bytes(overhead) }
    }
}

impl LinkSpec {
    /// How long the wire is busy with so many bytes of data.
    #[inline]
    pub fn time_for(&self, bytes: u64) -> Nanos {
        let overhead = self
            .frame
            .map(FrameSpec::frame)
            .map_or(0, |Frame { payload, overhead }| bytes.div_ceil(payload.0).saturating_mul(overhead.0));
        self.rate.time_for(Bytes(bytes.saturating_add(overhead)))
    }
}

impl Spec for LinkSpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Lowered<Self>> {
        if self.frame.is_some_and(|frame| frame.frame().payload.0 == 0) {
            return at.refuse("frame.payload", "a frame carries at least one byte", None);
        }
        Some(Lowered { plan: self.clone(), uses: Vec::new(), capacity: Bytes(0) })
    }
}

impl LinkSpec {
    /// How long transfers of these kinds hold the link, in ms.
    fn law(&self, kinds: &[(f64, Op, u64)]) -> Law {
        let time = |bytes: u64| Law::Fixed(self.time_for(bytes).ms());
        Law::mixed(kinds.iter().map(|(p, _, bytes)| (*p, time(*bytes))).collect())
    }
}

impl Known for LinkSpec {
    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let latency = Demand::one(view.id(), Server::Delay, Law::Fixed(self.latency.ms()));
        Ok(vec![Demand::one(view.id(), Server::SINGLE, self.law(&load.kinds)), latency])
    }

    fn in_order(&self, _: View, _: &Load) -> Result<(), String> {
        Ok(())
    }

    fn scales(&self, _: View) -> bool {
        true
    }
}

/// A link in a simulation.
pub struct Link<'m> {
    place: &'m Place<'m>,
    wire: Resource<'m>,
    by_cause: ByCause,
    spec: &'m LinkSpec,
}

impl Plan for LinkSpec {
    type Room<'m> = Link<'m>;

    fn build<'m>(&'m self, place: &'m Place<'m>, _: &'m [Edge<'m>]) -> Link<'m> {
        Link { wire: Resource::fcfs(place.site.sim, 1), by_cause: ByCause::default(), spec: self, place }
    }
}

impl Link<'_> {
    fn time_for(&self, ask: &Ask<Block>) -> Nanos {
        self.spec.time_for(ask.work.bytes)
    }
}

impl<'m> Link<'m> {
    /// Waits for the wire and holds it.
    async fn carry_for(&'m self, cause: Cause, time: Nanos) {
        if cause == Cause::Host {
            self.wire.serve(time).await;
            return;
        }
        let sim = self.place.site.sim;
        let _held = self.wire.acquire(()).await;
        self.by_cause.during(cause, sim, sim.delay(time)).await;
    }
}

impl Metered for Link<'_> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        Some(self.by_cause.of(Activity::of(1, &self.wire.usage(), now), now))
    }
}

impl<'m> Room<'m> for Link<'m> {
    async fn serve(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let (sim, time) = (self.place.site.sim, self.time_for(ask));
        self.carry_for(ask.cause, time).await;
        spent.charge(self.place.id, What::Waiting, sim.now() - time);
        sim.delay(self.spec.latency).await;
        spent.charge(self.place.id, What::Service, sim.now());
    }

    fn pass(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let pass = self.wire.pass(spent.until(), |start| start + self.time_for(ask));
        spent.charge(self.place.id, What::Waiting, pass.start);
        spent.charge(self.place.id, What::Service, pass.end + self.spec.latency);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(text: &str) -> LinkSpec {
        serde_json::from_str(text).unwrap()
    }

    /// Rates of data by published accounts: 103 MB/s of Fibre Channel at 1.0625 Gbaud, 118 MB/s of TCP on a gigabit and 124 MB/s with
    /// jumbo frames, 983 MB/s and more of InfiniBand 4X at 1 GB/s.
    #[test]
    fn frames_leave_data_its_known_share() {
        let data_rate = |frame: &str, rate: &str| {
            let spec = link(&format!(r#"{{"rate": "{rate}", "frame": "{frame}"}}"#));
            (1u64 << 30) as f64 / spec.time_for(1 << 30).secs() / 1e6
        };
        let is =
            |found: f64, known: f64| assert!((found / known - 1.0).abs() < 0.005, "{found} MB/s, {known}");
        is(data_rate("fibre_channel", "106.25 MB/s"), 103.2);
        is(data_rate("tcp", "1 Gb/s"), 118.6);
        is(data_rate("tcp_jumbo", "1 Gb/s"), 123.9);
        is(data_rate("infiniband", "1 GB/s"), 993.7);
    }

    #[test]
    fn the_last_frame_costs_as_much_as_a_full_one() {
        let spec = link(r#"{"rate": "1 GB/s", "frame": {"payload": "1000 B", "overhead": "100 B"}}"#);
        assert_eq!([1, 1000, 1001].map(|bytes| spec.time_for(bytes).0), [101, 1100, 1201]);
        assert_eq!(link(r#"{"rate": "1 GB/s"}"#).time_for(1001), Nanos(1001));
    }
}
