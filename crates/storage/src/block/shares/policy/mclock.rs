//! mClock: who is next among clients with reservations, weights and limits (Gulati, Merchant and Varman, "mClock: handling throughput
//! variability for hypervisor IO scheduling", OSDI 2010).
//!
//! Each request has three tags: when its client's reservation is due, when its limit permits it, and its place by weight. A reservation that is
//! due goes first; else the smallest place of those that their limits permit. What weight serves does not count as reserved.

use std::collections::{BTreeMap, VecDeque};

use headrace_kernel::Draws;

use super::{Entitlement, Policy, Waiting};

/// Times in ns at which reservation and limit permit a request, and its place by weight.
#[derive(Clone, Copy, Debug, Default)]
struct Tags {
    reserved: f64,
    limited: f64,
    weighted: f64,
}

#[derive(Debug)]
struct Client {
    entitled: Entitlement,
    waiting: VecDeque<Waiting>,
    /// The tags of its last request that went on.
    last: Tags,
    /// The time that its limit takes for all that went on, in ns, and when a server that works at the limit would be done.
    limited_ns: f64,
    done_ns: f64,
}

/// Clients, and what they wait for.
#[derive(Debug, Default)]
pub struct MClock {
    clients: BTreeMap<u32, Client>,
    /// The place by weight of the request that went on last: a client that was idle begins there.
    place: f64,
}

impl Client {
    /// The tags of the first that waits.
    fn tags(&self) -> Option<Tags> {
        let Waiting { cost, came_ns, .. } = *self.waiting.front()?;
        let after = |last: f64, rate: f64| (last + cost * 1e9 / rate).max(came_ns);
        let reserved = after(self.last.reserved, self.entitled.reservation);
        Some(Tags {
            reserved: if self.entitled.reservation > 0.0 { reserved } else { f64::INFINITY },
            limited: after(self.last.limited, self.entitled.limit),
            weighted: self.last.weighted + cost / self.entitled.weight,
        })
    }
}

impl Policy for MClock {
    fn come(&mut self, client: u32, entitled: &Entitlement, request: Waiting) {
        // Before its first request, a client has been idle for long.
        let idle = || Tags { reserved: f64::NEG_INFINITY, limited: f64::NEG_INFINITY, weighted: 0.0 };
        let new = || Client {
            entitled: *entitled,
            waiting: VecDeque::new(),
            last: idle(),
            limited_ns: 0.0,
            done_ns: 0.0,
        };
        let client = self.clients.entry(client).or_insert_with(new);
        if client.waiting.is_empty() {
            client.last.weighted = client.last.weighted.max(self.place);
        }
        client.waiting.push_back(request);
    }

    fn next(&mut self, now_ns: f64, _: &mut Draws) -> Option<u64> {
        let heads = self.clients.values_mut().filter_map(|client| Some((client.tags()?, client)));
        let mut heads: Vec<(Tags, &mut Client)> = heads.collect();
        let least = |heads: &[(Tags, &mut Client)], due: fn(&Tags) -> f64, by: fn(&Tags) -> f64| {
            let may = heads.iter().enumerate().filter(|(_, (tags, _))| due(tags) <= now_ns);
            may.min_by(|(_, (a, _)), (_, (b, _))| by(a).total_cmp(&by(b))).map(|(at, _)| at)
        };
        let reserved = least(&heads, |tags| tags.reserved, |tags| tags.reserved);
        let at = reserved.or_else(|| least(&heads, |tags| tags.limited, |tags| tags.weighted))?;
        let (tags, client) = heads.swap_remove(at);
        let went = client.waiting.pop_front()?;
        let work_ns = went.cost * 1e9 / client.entitled.limit;
        client.limited_ns += work_ns;
        client.done_ns = client.done_ns.max(now_ns) + work_ns;
        let is_reserved = reserved.is_some();
        client.last =
            Tags { reserved: if is_reserved { tags.reserved } else { client.last.reserved }, ..tags };
        if !is_reserved {
            self.place = self.place.max(tags.weighted);
        }
        Some(went.ticket)
    }

    fn busy_ns(&self, client: u32, now_ns: f64) -> f64 {
        self.clients.get(&client).map_or(0.0, |of| of.limited_ns - (of.done_ns - now_ns).max(0.0))
    }

    fn ready_ns(&self) -> Option<f64> {
        let tags = self.clients.values().filter_map(Client::tags);
        tags.map(|tags| tags.reserved.min(tags.limited)).min_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::shares::policy::tests::draws;
    use proptest::prelude::*;

    /// Requests of a client that wait at any time: enough that none is late for its limit because it came late.
    const WAITING: usize = 50;

    fn asks(ticket: u64, came_ns: f64) -> Waiting {
        Waiting { ticket, cost: 1.0, came_ns }
    }

    /// Numbers served to clients that always ask, by a server of `rate` operations a second, in `seconds`.
    fn served(shares: &[Entitlement], rate: f64, seconds: f64) -> Vec<f64> {
        let (mut clock, mut served) = (MClock::default(), vec![0.0; shares.len()]);
        for (client, share) in shares.iter().enumerate() {
            (0..WAITING).for_each(|_| clock.come(client as u32, share, asks(client as u64, 0.0)));
        }
        let mut now = 0.0;
        while now < seconds * 1e9 {
            match clock.next(now, &mut draws()) {
                Some(client) => {
                    served[client as usize] += 1.0;
                    now += 1e9 / rate;
                    clock.come(client as u32, &shares[client as usize], asks(client, now));
                }
                None => now = clock.ready_ns().unwrap().max(now + 1.0),
            }
        }
        served
    }

    fn share() -> impl Strategy<Value = Entitlement> {
        let limit = prop_oneof![Just(f64::INFINITY), 150.0..600.0];
        let reservation = prop_oneof![Just(0.0), 1.0..150.0];
        (reservation, 0.5f64..8.0, limit).prop_map(|(reservation, weight, limit)| Entitlement {
            reservation,
            weight,
            limit,
            ..Entitlement::EQUAL
        })
    }

    proptest! {
        /// Where reservations do not exceed the server, each client gets its own but for one, and no more than its limit and one. Nothing is
        /// left over while somebody is below its limit.
        #[test]
        fn reservations_and_limits_hold(shares in prop::collection::vec(share(), 1..6)) {
            let (rate, seconds) = (1000.0, 20.0);
            let served = served(&shares, rate, seconds);
            for (share, served) in shares.iter().zip(&served) {
                prop_assert!(*served >= share.reservation * seconds - 2.0, "{served} of {share:?}");
                prop_assert!(*served <= share.limit * seconds + 2.0, "{served} of {share:?}");
            }
            let wanted: f64 = shares.iter().map(|share| share.limit.min(rate)).sum();
            let all: f64 = served.iter().sum();
            prop_assert!(all >= wanted.min(rate) * seconds - 2.0 * shares.len() as f64, "{all} of {wanted}/s");
        }

        /// Between clients without reservations and limits, capacity goes by weight, to one operation of each.
        #[test]
        fn the_rest_goes_by_weight(weights in prop::collection::vec(0.5f64..8.0, 2..6)) {
            let share = |weight: &f64| Entitlement { weight: *weight, ..Entitlement::EQUAL };
            let served = served(&weights.iter().map(share).collect::<Vec<_>>(), 1000.0, 5.0);
            for (a, b) in [(0, 1), (1, weights.len() - 1)] {
                let (ours, theirs) = (served[a] / weights[a], served[b] / weights[b]);
                prop_assert!((ours - theirs).abs() <= 1.0 / weights[a] + 1.0 / weights[b] + 1e-9, "{ours} {theirs}");
            }
        }
    }

    /// A client that was idle has no credit for it: it shares from when it comes.
    #[test]
    fn who_was_idle_is_not_served_alone() {
        let mut clock = MClock::default();
        (0..200).for_each(|_| clock.come(0, &Entitlement::EQUAL, asks(0, 0.0)));
        (0..100).for_each(|at| assert_eq!(clock.next(f64::from(at), &mut draws()), Some(0)));
        (0..50).for_each(|_| clock.come(1, &Entitlement::EQUAL, asks(1, 100.0)));
        let next: Vec<u64> =
            (0..20).map(|at| clock.next(100.0 + f64::from(at), &mut draws()).unwrap()).collect();
        assert_eq!(next.iter().sum::<u64>(), 10, "{next:?}");
    }
}
