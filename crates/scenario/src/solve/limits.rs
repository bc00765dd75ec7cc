//! What limits a system: the component with the largest demand, then the next.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use headrace_work::NodeId;

use super::network::{DepthLimit, QueueNetwork, ServiceQueue};
use super::{StationLimit, open};

/// A station that can be used up: the servers of a queue, or the places of a queue depth.
#[derive(Clone, Copy)]
enum UsedUp<'n> {
    Servers(&'n ServiceQueue),
    Places(&'n DepthLimit),
}

impl UsedUp<'_> {
    fn node(self) -> NodeId {
        match self {
            Self::Servers(queue) => queue.node,
            Self::Places(places) => places.node,
        }
    }

    /// Number of servers or places.
    fn many(self) -> u32 {
        match self {
            Self::Servers(queue) => queue.servers,
            Self::Places(places) => places.many,
        }
    }

    /// Time for which a request of a stream uses them.
    fn work_ms(self, stream: usize) -> f64 {
        match self {
            Self::Servers(queue) => queue.work_ms(stream),
            Self::Places(places) => places.held_ms[stream],
        }
    }

    fn name(self, network: &QueueNetwork) -> String {
        match self {
            Self::Servers(queue) => network.name(queue),
            Self::Places(places) => network.plan.graph.group(places.node).to_owned(),
        }
    }

    /// Returns the number in use at these rates of the streams, in requests per second.
    fn busy(self, network: &QueueNetwork, rates: &[f64]) -> f64 {
        match self {
            Self::Servers(queue) => open::busy(network, queue, rates),
            Self::Places(places) => {
                let held = rates.iter().zip(&places.held_ms).map(|(rate, held_ms)| rate * 1e-3 * held_ms);
                held.sum()
            }
        }
    }
}

fn used<'n>(network: &'n QueueNetwork) -> impl Iterator<Item = UsedUp<'n>> {
    network.queues.iter().map(UsedUp::Servers).chain(network.places.iter().map(UsedUp::Places))
}

/// The groups of queues, and queue depths, by how soon they saturate at this mix of streams, the first first.
pub fn of(network: &QueueNetwork, mix: &[f64]) -> Vec<StationLimit> {
    let mut limits: Vec<StationLimit> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for used in used(network) {
        let found = limit(network, used, mix);
        match known.entry(found.component.clone()) {
            Entry::Occupied(at) => {
                let known = &mut limits[*at.get()];
                let count = known.count + 1;
                if found.saturates_at_per_s < known.saturates_at_per_s {
                    *known = found;
                }
                known.count = count;
            }
            Entry::Vacant(at) => {
                at.insert(limits.len());
                limits.push(found);
            }
        }
    }
    limits.sort_by(|a, b| a.saturates_at_per_s.total_cmp(&b.saturates_at_per_s));
    limits
}

fn limit(network: &QueueNetwork, used: UsedUp, mix: &[f64]) -> StationLimit {
    let demand_ms: f64 = mix.iter().enumerate().map(|(stream, share)| share * used.work_ms(stream)).sum();
    StationLimit {
        component: used.name(network),
        kind: network.plan.graph.view(used.node()).kind(),
        count: 1,
        servers: used.many(),
        demand_ms,
        saturates_at_per_s: 1e3 * f64::from(used.many()) / demand_ms,
    }
}

/// The utilisation of the busiest of each group at these rates of the streams, in requests per second. At most 1: an approximation
/// may come out slightly above.
pub fn utilisation(network: &QueueNetwork, limits: &[StationLimit], rates: &[f64]) -> Vec<f64> {
    let mut busiest: BTreeMap<String, f64> = BTreeMap::new();
    for used in used(network) {
        let busy = used.busy(network, rates) / f64::from(used.many());
        let most = busiest.entry(used.name(network)).or_default();
        *most = most.max(busy);
    }
    let of = |limit: &StationLimit| busiest.get(&limit.component).map_or(0.0, |busy| busy.min(1.0));
    limits.iter().map(of).collect()
}
