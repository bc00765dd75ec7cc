//! What limits a system: the component with the largest demand, then the next.

use super::Limit;
use headrace_work::NodeId;

use super::network::Network;

/// What can be used up: the servers of a queue, or the places of a queue depth.
struct Used<'n> {
    node: NodeId,
    servers: u32,
    work_ms: Box<dyn Fn(usize) -> f64 + 'n>,
}

fn used<'n>(network: &'n Network) -> impl Iterator<Item = Used<'n>> {
    let queues = network.queues.iter().map(|queue| Used {
        node: queue.node,
        servers: queue.servers,
        work_ms: Box::new(|stream| queue.work_ms(stream)),
    });
    let places = network.places.iter().map(|places| Used {
        node: places.node,
        servers: places.many,
        work_ms: Box::new(|stream| places.held_ms[stream]),
    });
    queues.chain(places)
}

/// The groups of queues, and queue depths, by how soon they saturate at this mix of streams, the first first.
pub fn of(network: &Network, mix: &[f64]) -> Vec<Limit> {
    let mut limits: Vec<Limit> = Vec::new();
    for used in used(network) {
        let found = limit(network, &used, mix);
        match limits.iter_mut().find(|known| known.component == found.component) {
            Some(known) => {
                let count = known.count + 1;
                let busiest =
                    if found.saturates_at_per_s < known.saturates_at_per_s { found } else { known.clone() };
                *known = Limit { count, ..busiest };
            }
            None => limits.push(found),
        }
    }
    limits.sort_by(|a, b| a.saturates_at_per_s.total_cmp(&b.saturates_at_per_s));
    limits
}

fn limit(network: &Network, used: &Used, mix: &[f64]) -> Limit {
    let view = network.plan.graph.view(used.node);
    let demand_ms: f64 = mix.iter().enumerate().map(|(stream, share)| share * (used.work_ms)(stream)).sum();
    Limit {
        component: network.plan.graph.group(used.node).to_owned(),
        kind: view.kind(),
        count: 1,
        servers: used.servers,
        demand_ms,
        saturates_at_per_s: 1e3 * f64::from(used.servers) / demand_ms,
    }
}

/// The utilisation of the busiest of each group at these rates of the streams, in requests per second. At most 1: an approximation
/// may come out slightly above.
pub fn utilisation(network: &Network, limits: &[Limit], rates: &[f64]) -> Vec<f64> {
    let of = |limit: &Limit| {
        let alike = used(network).filter(|used| network.plan.graph.group(used.node) == limit.component);
        let busy = alike.map(|used| {
            let work = |(stream, rate): (usize, &f64)| rate * 1e-3 * (used.work_ms)(stream);
            rates.iter().enumerate().map(work).sum::<f64>() / f64::from(used.servers)
        });
        busy.fold(0.0, f64::max).min(1.0)
    };
    limits.iter().map(of).collect()
}
