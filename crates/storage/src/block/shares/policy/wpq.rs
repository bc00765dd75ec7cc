//! Ceph's weighted priority queue (`WeightedPriorityQueue` of its source code, the scheduler "WPQ" of its OSDs).
//!
//! The next client is drawn among those that wait. Its chance is its weight, less the more its next request costs: up to nine tenths for the
//! dearest request that ever came.

use std::collections::{BTreeMap, VecDeque};

use headrace_kernel::Draws;

use super::{Entitlement, Policy, Waiting};

/// Part of its chance that a client loses when its next request is as dear as any.
const MOST_LESS: f64 = 0.9;

#[derive(Debug)]
struct Client {
    weight: f64,
    waiting: VecDeque<Waiting>,
}

/// Clients that wait, and the cost of the dearest request that ever came.
#[derive(Debug, Default)]
pub struct Wpq {
    clients: BTreeMap<u32, Client>,
    dearest: f64,
}

impl Wpq {
    /// Returns the client that is next; `None` if nobody waits. One that waits alone is not drawn.
    fn drawn(&self, draws: &mut Draws) -> Option<u32> {
        let chance = |client: &Client| {
            let cost = client.waiting.front().map_or(0.0, |request| request.cost);
            client.weight * (1.0 - MOST_LESS * cost / self.dearest)
        };
        let all: f64 = if self.clients.len() > 1 { self.clients.values().map(chance).sum() } else { 0.0 };
        let mut left = if all > 0.0 { all * draws.uniform() } else { 0.0 };
        let drawn = self.clients.iter().find(|(_, client)| {
            left -= chance(client);
            left < 0.0
        });
        // The sum of chances, taken apart again, may leave the last with nothing of its own.
        drawn.or_else(|| self.clients.last_key_value()).map(|(id, _)| *id)
    }
}

impl Policy for Wpq {
    fn come(&mut self, client: u32, entitled: &Entitlement, request: Waiting) {
        self.dearest = self.dearest.max(request.cost);
        let new = || Client { weight: entitled.weight, waiting: VecDeque::new() };
        self.clients.entry(client).or_insert_with(new).waiting.push_back(request);
    }

    fn next(&mut self, _: f64, draws: &mut Draws) -> Option<u64> {
        let id = self.drawn(draws)?;
        let waiting = &mut self.clients.get_mut(&id)?.waiting;
        let request = waiting.pop_front()?;
        if waiting.is_empty() {
            self.clients.remove(&id);
        }
        Some(request.ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_kernel::RngStream;
    use proptest::prelude::*;

    const REQUESTS: u32 = 20_000;

    /// Parts of the requests that go on, of clients of these weights and costs that always ask.
    fn parts(clients: &[(f64, f64)], seed: u64) -> Vec<f64> {
        let (mut policy, mut draws) = (Wpq::default(), RngStream::named(seed, "", "share").draws());
        let mut went = vec![0u32; clients.len()];
        let ask = |policy: &mut Wpq, at: usize| {
            let (weight, cost) = clients[at];
            let entitled = Entitlement { weight, ..Entitlement::EQUAL };
            policy.come(at as u32, &entitled, Waiting { ticket: at as u64, cost, came_ns: 0.0 });
        };
        (0..clients.len()).for_each(|at| (0..2).for_each(|_| ask(&mut policy, at)));
        for _ in 0..REQUESTS {
            let at = policy.next(0.0, &mut draws).expect("they always ask") as usize;
            went[at] += 1;
            ask(&mut policy, at);
        }
        went.into_iter().map(|count| f64::from(count) / f64::from(REQUESTS)).collect()
    }

    proptest! {
        /// Of clients that always ask, each is served by its weight, and by what its requests cost of the dearest.
        #[test]
        fn requests_go_by_weight_and_cost(
            clients in prop::collection::vec((0.5f64..64.0, 1.0f64..100.0), 2..5),
            seed in any::<u64>(),
        ) {
            let dearest = clients.iter().map(|(_, cost)| *cost).fold(0.0, f64::max);
            let chance = |(weight, cost): &(f64, f64)| weight * (1.0 - 0.9 * cost / dearest);
            let all: f64 = clients.iter().map(chance).sum();
            for (client, part) in clients.iter().zip(parts(&clients, seed)) {
                let expected = chance(client) / all;
                let deviation = (expected * (1.0 - expected) / f64::from(REQUESTS)).sqrt();
                prop_assert!((part - expected).abs() <= 6.0 * deviation, "{part} of {expected}");
            }
        }

        /// While anybody waits, somebody goes on; each request goes on once, after those of its client that came before.
        #[test]
        fn it_conserves_work(steps in prop::collection::vec(prop::option::of((0u32..4, 1u32..50)), 1..120)) {
            let (mut policy, mut draws) = (Wpq::default(), RngStream::named(1, "", "share").draws());
            let mut waiting = vec![VecDeque::new(); 4];
            for (ticket, step) in (0..).zip(steps) {
                if let Some((client, cost)) = step {
                    let request = Waiting { ticket, cost: cost.into(), came_ns: 0.0 };
                    policy.come(client, &Entitlement::EQUAL, request);
                    waiting[client as usize].push_back(ticket);
                    continue;
                }
                match policy.next(0.0, &mut draws) {
                    Some(ticket) => {
                        let of = waiting.iter_mut().find(|of| of.front() == Some(&ticket));
                        prop_assert!(of.and_then(VecDeque::pop_front).is_some(), "{ticket} is not first of its client");
                    }
                    None => prop_assert!(waiting.iter().all(VecDeque::is_empty)),
                }
            }
        }
    }
}
