//! Specification of a front.

use headrace_units::{Bytes, BytesPerSecond, Fraction};
use headrace_work::TimeSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::component::Spec;
use crate::core::graph::Lowering;

/// Limits and ports in front of an archive. A transfer first waits until its user and its host are below their limits (blocked), then for a
/// port that accepts files of its size (waiting). It holds both until its data has moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrontSpec {
    /// Maximum number of transfers per user. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub per_user: Option<u32>,
    /// Maximum number of transfers per host. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub per_host: Option<u32>,
    /// Classes of ports; a transfer takes the first free port that accepts the size of its file. Default: no
    /// ports needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortClass>,
    /// Queueing discipline for ports.
    #[serde(default)]
    pub queue: PortQueue,
    /// Delay before the data of a put is sent. The port is held.
    #[serde(default)]
    pub put_latency: TimeSpec,
    /// Delay before the data of a get is sent. The port is held.
    #[serde(default)]
    pub get_latency: TimeSpec,
    /// Maximum rate of one client. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_rate: Option<BytesPerSecond>,
    /// How hosts differ. Default: they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_hosts: Option<BetweenHosts>,
    /// Transfers that stand still, because the host swaps their process out. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// Attempts that fail, and are made again. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
    /// Flow control: a file has one block of this size in flight, which goes over the network and then over the chain, or the other way
    /// for a get. `client_rate` limits it on the network. Default: no such limit; data flows over both at once, as it does within about 3 %
    /// where two or more blocks are in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_in_flight: Option<Bytes>,
}

/// How hosts differ: coefficients of variation between them (the standard deviation over the mean). What a host has is lognormal around the
/// mean that the front has, drawn once for each host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BetweenHosts {
    /// Of `client_rate`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub rate: f64,
    /// Of `put_latency` and `get_latency`, which share one factor.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub latency: f64,
}

/// Transfers that stand still once, before their data moves. Their port is held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// Share of transfers; with `per`, of those of that size.
    pub share: Fraction,
    /// Size of the transfers that `share` is of. Larger ones go on for longer and stand still more often: with *s* bytes, the share is 1 −
    /// (1 − `share`) ^ (*s* / `per`). Default: transfers of all sizes stand still alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<Bytes>,
    /// How long each stands still.
    pub time: TimeSpec,
}

/// Attempts that fail after a part of their data, uniform from none to all of it. Such an attempt holds limits and a port as any other, and
/// leaves nothing in the pool. All time before the last attempt counts as blocked at the front.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failures {
    /// Share of attempts that fail.
    pub share: Fraction,
    /// Time from a failure to the next attempt.
    #[serde(default)]
    pub retry_after: TimeSpec,
    /// Maximum number of attempts; when all of them fail, so does the request.
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 1000))]
    pub attempts: u32,
}

const fn three() -> u32 {
    3
}

/// A class of ports for files of certain sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortClass {
    /// Number of ports.
    #[schemars(range(min = 1, max = 100_000))]
    pub number: u32,
    /// Minimum file size (exclusive).
    #[serde(default)]
    pub above: Bytes,
    /// Maximum file size (inclusive). Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to: Option<Bytes>,
}

/// Queueing discipline for ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortQueue {
    /// The first in the queue whose file fits the port.
    #[default]
    FirstThatFits,
    /// The head of the queue; it blocks those behind it until a port fits.
    HeadBlocks,
    /// One queue for limits and ports: the first transfer within the limits of its user and host whose file
    /// fits a free port. No transfer counts against a limit while it waits for a port. All time in this queue
    /// counts as waiting.
    Joint,
}

impl Stalls {
    /// Share of the transfers of a size that stand still.
    pub(super) fn share_of(&self, bytes: u64) -> f64 {
        let share = self.share.get();
        self.per.map_or(share, |per| 1.0 - libm::pow(1.0 - share, bytes as f64 / per.0 as f64))
    }
}

impl PortClass {
    pub(super) fn takes(&self, bytes: u64) -> bool {
        bytes > self.above.0 && self.up_to.is_none_or(|most| bytes <= most.0)
    }
}

impl Spec for FrontSpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Self> {
        let empty = self.ports.iter().any(|class| class.up_to.is_some_and(|most| most <= class.above));
        if empty {
            return at.refuse("ports", "a class accepts no file: `up_to` must be larger than `above`", None);
        }
        if !self.ports.is_empty()
            && let Some(size) = self.size_without_port()
        {
            let message = format!("no port takes a file of {}", Bytes(size));
            return at.refuse(
                "ports",
                message,
                Some("omit `above` of the smallest class and `up_to` of the largest, and leave no gap"),
            );
        }
        if self.client_rate.is_none() && self.between_hosts.is_some_and(|hosts| hosts.rate > 0.0) {
            let help = Some("give `client_rate`, the mean over hosts");
            return at.refuse("between_hosts.rate", "there is no `client_rate` that could differ", help);
        }
        if self.stalls.as_ref().is_some_and(|stalls| stalls.per == Some(Bytes(0))) {
            return at.refuse(
                "stalls.per",
                "transfers of 0 B move nothing",
                Some("leave it out for all sizes alike"),
            );
        }
        if self.block_in_flight == Some(Bytes(0)) {
            return at.refuse(
                "block_in_flight",
                "a block of 0 B moves nothing",
                Some("leave it out for no limit"),
            );
        }
        self.with_times(at)
    }
}

impl FrontSpec {
    /// The same with all times checked, and their samples read.
    fn with_times(&self, at: &mut Lowering) -> Option<Self> {
        let mut plan = self.clone();
        plan.put_latency = at.time("put_latency", &self.put_latency)?;
        plan.get_latency = at.time("get_latency", &self.get_latency)?;
        if let Some(stalls) = &mut plan.stalls {
            stalls.time = at.time("stalls.time", &stalls.time)?;
        }
        if let Some(failures) = &mut plan.failures {
            failures.retry_after = at.time("failures.retry_after", &failures.retry_after)?;
        }
        Some(plan)
    }

    /// A size that no class takes: only sizes just above a bound need be tried.
    fn size_without_port(&self) -> Option<u64> {
        let bounds = self.ports.iter().flat_map(|class| [Some(class.above), class.up_to]).flatten();
        let mut sizes: Vec<u64> = bounds.map(|bound| bound.0 + 1).chain([1]).collect();
        sizes.sort_unstable();
        sizes.into_iter().find(|size| !self.ports.iter().any(|class| class.takes(*size)))
    }
}
