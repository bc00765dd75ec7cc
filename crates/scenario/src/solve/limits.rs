//! What limits a system: the component with the largest demand, then the next.

use super::network::{Network, Queue};
use super::{Limit, open};

/// The groups of queues by how soon they saturate at this mix of streams, the first first.
pub fn of(network: &Network, mix: &[f64]) -> Vec<Limit> {
    let mut limits: Vec<Limit> = Vec::new();
    for queue in &network.queues {
        let found = limit(network, queue, mix);
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

fn limit(network: &Network, queue: &Queue, mix: &[f64]) -> Limit {
    let view = network.plan.graph.view(queue.node);
    let demand_ms: f64 = mix.iter().enumerate().map(|(stream, share)| share * queue.work_ms(stream)).sum();
    Limit {
        component: network.name(queue),
        kind: view.kind(),
        count: 1,
        servers: queue.servers,
        demand_ms,
        saturates_at_per_s: 1e3 * f64::from(queue.servers) / demand_ms,
    }
}

/// The utilisation of the busiest of each group at these rates of the streams, in requests per second. At most 1: an approximation
/// may come out slightly above.
pub fn utilisation(network: &Network, limits: &[Limit], rates: &[f64]) -> Vec<f64> {
    let of = |limit: &Limit| {
        let alike = network.queues.iter().filter(|queue| network.name(queue) == limit.component);
        let busy = alike.map(|queue| open::busy(network, queue, rates) / f64::from(queue.servers));
        busy.fold(0.0, f64::max).min(1.0)
    };
    limits.iter().map(of).collect()
}
