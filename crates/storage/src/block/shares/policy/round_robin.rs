//! Deficit round robin (Shreedhar and Varghese, "Efficient fair queueing using deficit round robin", SIGCOMM 1995).
//!
//! Clients have turns, one after another. In its turn a client gets its quantum, `weight` operations, and is served until what it has does
//! not cover its next request. It keeps the rest, its deficit, for its next turn, unless nothing of it waits any more.

use std::collections::{BTreeMap, VecDeque};

use headrace_kernel::Draws;

use super::{Entitlement, Policy, Waiting};

#[derive(Debug)]
struct Client {
    quantum: f64,
    /// Operations that it may still have served.
    deficit: f64,
    waiting: VecDeque<Waiting>,
}

impl Client {
    /// The operations of its next request; infinite if none waits.
    fn next_cost(&self) -> f64 {
        self.waiting.front().map_or(f64::INFINITY, |request| request.cost)
    }
}

/// Clients, and whose turn it is.
#[derive(Debug, Default)]
pub struct RoundRobin {
    clients: BTreeMap<u32, Client>,
    /// Whose turn it is.
    current: Option<u32>,
    /// The others that wait, in the order of their turns.
    turns: VecDeque<u32>,
}

impl RoundRobin {
    /// Ends the turn of the current client, and goes on to the turn in which a client can be served: where no quantum covers a request,
    /// over all rounds at once in which nobody can.
    fn next_turn(&mut self) -> Option<()> {
        self.turns.extend(self.current.take());
        let rounds = |id: &u32| {
            let client = &self.clients[id];
            libm::ceil((client.next_cost() - client.deficit) / client.quantum).max(1.0)
        };
        let needed = self.turns.iter().map(rounds).enumerate();
        let (at, rounds) = needed.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        for (n, id) in self.turns.iter().enumerate() {
            let client = self.clients.get_mut(id)?;
            let turns = if n <= at { rounds } else { rounds - 1.0 };
            client.deficit += turns * client.quantum;
        }
        self.turns.rotate_left(at);
        self.current = self.turns.pop_front();
        Some(())
    }
}

impl Policy for RoundRobin {
    fn come(&mut self, client: u32, entitled: &Entitlement, request: Waiting) {
        let new = || Client { quantum: entitled.weight, deficit: 0.0, waiting: VecDeque::new() };
        let of = self.clients.entry(client).or_insert_with(new);
        if of.waiting.is_empty() {
            self.turns.push_back(client);
        }
        of.waiting.push_back(request);
    }

    fn next(&mut self, _: f64, _: &mut Draws) -> Option<u64> {
        let goes_on = |id: u32| self.clients[&id].next_cost() <= self.clients[&id].deficit;
        if !self.current.is_some_and(goes_on) {
            self.next_turn()?;
        }
        let client = self.clients.get_mut(&self.current?)?;
        let request = client.waiting.pop_front()?;
        // Where a quantum is tiny beside a request, the sum of quanta is not exact.
        client.deficit = (client.deficit - request.cost).max(0.0);
        if client.waiting.is_empty() {
            client.deficit = 0.0;
            self.current = None;
        }
        Some(request.ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::shares::policy::tests::draws;
    use proptest::prelude::*;

    fn of_weight(weight: f64) -> Entitlement {
        Entitlement { weight, ..Entitlement::EQUAL }
    }

    /// What clients of these weights are served, in operations, after each request. They always ask; each request has the next of `costs`.
    fn served(weights: &[f64], costs: &[f64], requests: usize) -> Vec<Vec<f64>> {
        let (mut policy, mut asked) = (RoundRobin::default(), Vec::new());
        let ask = |policy: &mut RoundRobin, client: usize, asked: &mut Vec<(usize, f64)>| {
            let (ticket, cost) = (asked.len(), costs[asked.len() % costs.len()]);
            asked.push((client, cost));
            policy.come(
                client as u32,
                &of_weight(weights[client]),
                Waiting { ticket: ticket as u64, cost, came_ns: 0.0 },
            );
        };
        for client in (0..weights.len()).flat_map(|client| [client; 2]) {
            ask(&mut policy, client, &mut asked);
        }
        let (mut sums, mut all) = (vec![0.0; weights.len()], Vec::new());
        for _ in 0..requests {
            let (client, cost) = asked[policy.next(0.0, &mut draws()).expect("they always ask") as usize];
            sums[client] += cost;
            ask(&mut policy, client, &mut asked);
            all.push(sums.clone());
        }
        all
    }

    proptest! {
        /// At any time, clients that always ask have had equal parts by weight, but for one turn of one of them and what the deficits of
        /// both cannot pay: less than a request each.
        #[test]
        fn parts_differ_by_a_quantum_and_a_request(
            weights in prop::collection::vec(0.1f64..20.0, 2..6),
            costs in prop::collection::vec(1u32..40, 1..7),
        ) {
            let costs: Vec<f64> = costs.into_iter().map(f64::from).collect();
            let largest = costs.iter().copied().fold(0.0, f64::max);
            for sums in served(&weights, &costs, 400) {
                for (a, b) in (0..weights.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                    let (ours, theirs) = (sums[a] / weights[a], sums[b] / weights[b]);
                    let most = 1.0 + largest / weights[a].min(weights[b]);
                    prop_assert!((ours - theirs).abs() <= most + 1e-6, "{ours} {theirs} {most}");
                }
            }
        }

        /// While anybody waits, somebody goes on, and each request goes on once.
        #[test]
        fn it_conserves_work(steps in prop::collection::vec(prop::option::of((0u32..4, 1u32..50)), 1..120)) {
            let (mut policy, mut waiting) = (RoundRobin::default(), std::collections::BTreeSet::new());
            for (ticket, step) in (0..).zip(steps) {
                if let Some((client, cost)) = step {
                    policy.come(client, &of_weight(f64::from(client) + 0.5), Waiting { ticket, cost: cost.into(), came_ns: 0.0 });
                    waiting.insert(ticket);
                } else {
                    let next = policy.next(0.0, &mut draws());
                    prop_assert_eq!(next.is_some(), !waiting.is_empty());
                    prop_assert!(next.is_none_or(|ticket| waiting.remove(&ticket)));
                }
            }
        }
    }

    /// The example of the paper: packets of 200, 750, 200 and so on with a quantum of 500.
    #[test]
    fn a_deficit_pays_for_the_next_turn() {
        let mut policy = RoundRobin::default();
        let mut ticket = 0;
        for (client, costs) in
            [(1, [200.0, 750.0, 20.0]), (2, [500.0, 500.0, 500.0]), (3, [600.0, 100.0, 400.0])]
        {
            for cost in costs {
                policy.come(client, &of_weight(500.0), Waiting { ticket, cost, came_ns: 0.0 });
                ticket += 1;
            }
        }
        let order: Vec<u64> = std::iter::from_fn(|| policy.next(0.0, &mut draws())).collect();
        assert_eq!(order, [0, 3, 1, 2, 4, 6, 7, 5, 8]);
    }

    /// A quantum of a millionth of an operation takes as long to choose by as any other.
    #[test]
    fn rounds_in_which_nobody_is_served_take_no_time() {
        let mut policy = RoundRobin::default();
        for (client, weight) in [(1, 1e-6), (2, 3e-6)] {
            for ticket in 0..4 {
                let request = Waiting { ticket: 4 * u64::from(client) + ticket, cost: 1e12, came_ns: 0.0 };
                policy.come(client, &of_weight(weight), request);
            }
        }
        let order: Vec<u64> =
            std::iter::from_fn(|| policy.next(0.0, &mut draws())).map(|ticket| ticket / 4).collect();
        assert_eq!(order, [2, 2, 2, 1, 2, 1, 1, 1].map(|client: u64| client), "{order:?}");
    }
}
