//! Exact mean value analysis (Reiser and Lavenberg, JACM 27, 1980), for one class and for several.
//!
//! An arriving request finds the network as it is on average with one client of its class less. Exact in networks of product
//! form: exponential service with the same mean for all classes where requests are served first come, first served, and any
//! law where they are not kept waiting (delays) or share the server.

use super::{Network, Solution, Station};

/// How many populations [`exact`] goes through: the product over the classes of clients + 1.
pub fn populations(network: &Network) -> u64 {
    let each = network.classes().iter().map(|class| u64::from(class.clients) + 1);
    each.fold(1, u64::saturating_mul)
}

/// Throughput, response and queues by recursion over all smaller populations. Takes time and memory in proportion to
/// [`populations`] × (stations + servers of stations with several).
///
/// Of a queue with c servers an arriving request waits for (1 + Q − busy ones that leave room) / c of its service:
/// R = D/c (1 + Q + Σ_{j<c−1} (c − 1 − j) p(j)), with p(j) the probability that it finds j there (Reiser and Lavenberg).
pub fn exact(network: &Network) -> Solution {
    let full = network.clients();
    let strides = strides(&full);
    let mut found: Vec<Found> = Vec::new();
    let mut clients = vec![0; full.len()];
    loop {
        let before = |class: usize| (clients[class] > 0).then(|| &found[found.len() - strides[class]]);
        let waits = |station: usize, class: usize| before(class).map_or(0.0, |found| found.waits[station]);
        let solution = network.step(&clients, waits);
        if clients == full {
            return solution;
        }
        let classes: Vec<Option<&Found>> = (0..full.len()).map(before).collect();
        let here = Found::of(network, &solution, &classes);
        found.push(here);
        next(&mut clients, &full);
    }
}

/// What a request finds that arrives at a population.
struct Found {
    /// Of each station, by how much its own service there is lengthened, in units of that service.
    waits: Vec<f64>,
    /// Of each station with several servers, the probabilities of fewer requests there than servers.
    fewer: Vec<Vec<f64>>,
}

impl Found {
    fn of(network: &Network, solution: &Solution, before: &[Option<&Self>]) -> Self {
        let stations = || network.stations().iter().enumerate();
        let fewer: Vec<Vec<f64>> =
            stations().map(|(at, station)| fewer(at, station, solution, before)).collect();
        let wait = |(at, station): (usize, &Station)| {
            let servers = f64::from(station.servers);
            let room = fewer[at].iter().zip(0..).map(|(p, j)| (servers - 1.0 - f64::from(j)).max(0.0) * p);
            (1.0 + solution.queue(at) + room.sum::<f64>()) / servers - 1.0
        };
        Self { waits: stations().map(wait).collect(), fewer }
    }
}

/// p(j) for j below the number of servers: p(j) = Σ_classes X D p(j − 1 with one of the class less) / j, and p(0) from their balance.
fn fewer(at: usize, station: &Station, solution: &Solution, before: &[Option<&Found>]) -> Vec<f64> {
    if station.servers == 1 || station.delay {
        return Vec::new();
    }
    let work = |class: usize| solution.classes[class].throughput * station.demands[class];
    let one_less = |j: usize| {
        let each = before.iter().enumerate();
        each.filter_map(|(class, found)| Some(work(class) * found.as_ref()?.fewer[at][j - 1])).sum::<f64>()
    };
    let mut found: Vec<f64> = vec![0.0; station.servers as usize];
    for (j, p) in found.iter_mut().enumerate().skip(1) {
        *p = one_less(j) / j as f64;
    }
    let servers = f64::from(station.servers);
    let idle: f64 = found.iter().zip(0..).skip(1).map(|(p, j)| (servers - f64::from(j)) * p).sum();
    let busy: f64 = (0..before.len()).map(work).sum();
    found[0] = (1.0 - (busy + idle) / servers).max(0.0);
    found
}

/// How far back the population with one client of each class less is, in the order of [`next`].
fn strides(full: &[u32]) -> Vec<usize> {
    let smaller = |class: usize| full[..class].iter().map(|clients| *clients as usize + 1).product();
    (0..full.len()).map(smaller).collect()
}

/// The next population: counts up, the first class fastest.
fn next(clients: &mut [u32], full: &[u32]) {
    for (here, most) in clients.iter_mut().zip(full) {
        if *here < *most {
            *here += 1;
            return;
        }
        *here = 0;
    }
}
