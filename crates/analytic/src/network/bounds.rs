//! Bounds on the throughput of one class of clients, from the sum of its demands and the largest alone.
//!
//! Lazowska, Zahorjan, Graham and Sevcik, *Quantitative System Performance* (1984), tables 5.1 and 5.2; the balanced ones are
//! after Zahorjan, Sevcik, Eager and Galler (CACM 25, 1982).

use super::{ClosedNetwork, ServiceCentre};

/// Bounds of throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// At least this.
    pub from: f64,
    /// At most this.
    pub to: f64,
}

/// The sums that bounds are made of.
struct Sums {
    clients: f64,
    /// Think time, and all delays.
    think: f64,
    /// Service demand of one request at queues.
    total: f64,
    largest: f64,
    queues: f64,
}

impl Sums {
    fn of(network: &ClosedNetwork) -> Option<Self> {
        let [class] = network.classes() else { return None };
        let sum = |delay: bool| {
            let alike = network.stations().iter().filter(move |station| station.delay == delay);
            alike.map(|station| station.alone(0)).sum::<f64>()
        };
        let queues =
            || network.stations().iter().filter(|station| !station.delay && station.demands[0] > 0.0);
        Some(Self {
            clients: f64::from(class.clients),
            think: class.think + sum(true),
            total: sum(false),
            largest: queues().map(|station| station.demands[0]).fold(0.0, f64::max),
            queues: queues().count() as f64,
        })
    }
}

/// N/(Z + N D) ≤ X ≤ min(1/D_max, N/(Z + D)). They hold for any distribution of service. `None` for several classes.
pub fn asymptotic(network: &ClosedNetwork) -> Option<Bounds> {
    let Sums { clients: n, think, total, largest, .. } = Sums::of(network)?;
    Some(Bounds { from: n / (think + n * total), to: (n / (think + total)).min(1.0 / largest) })
}

/// Those of the networks whose demands are all the mean one, or as many as possible the largest:
/// N/(Z + D + (N−1) D_max/(1 + Z/(N D))) ≤ X ≤ min(1/D_max, N/(Z + D + (N−1) D_mean/(1 + Z/D))). They hold where mean value
/// analysis is exact. `None` for several classes, and where requests are at several stations at once.
pub fn balanced(network: &ClosedNetwork) -> Option<Bounds> {
    if network.stations().iter().any(ServiceCentre::is_forked) {
        return None;
    }
    let Sums { clients: n, think, total, largest, queues } = Sums::of(network)?;
    let slowest = (n - 1.0) * largest / (1.0 + think / (n * total));
    let fastest = (n - 1.0) * (total / queues) / (1.0 + think / total);
    Some(Bounds {
        from: n / (think + total + slowest),
        to: (n / (think + total + fastest)).min(1.0 / largest),
    })
}
