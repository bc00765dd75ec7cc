//! Exact mean value analysis (Reiser and Lavenberg, JACM 27, 1980), for one class and for several.
//!
//! An arriving request finds the network as it is on average with one client of its class less. Exact in networks of product
//! form: exponential service with the same mean for all classes where requests are served first come, first served, and any
//! distribution where they are not kept waiting (delays) or share the server.

use super::{ClosedNetwork, ServiceCentre, Solution};

/// Returns the number of populations that [`exact`] goes through: the product over the classes of clients + 1.
pub fn populations(network: &ClosedNetwork) -> u64 {
    let each = network.classes().iter().map(|class| u64::from(class.clients) + 1);
    each.fold(1, u64::saturating_mul)
}

/// The steps that [`exact`] takes: populations × (stations + servers of stations with several), and twice as many for each station
/// with several servers.
pub fn steps(network: &ClosedNetwork) -> u64 {
    let kept: u64 = network.stations().iter().map(|station| u64::from(station.servers)).sum();
    let twice = 1_u64.checked_shl(several(network).len() as u32).unwrap_or(u64::MAX);
    populations(network).saturating_mul(kept).saturating_mul(twice)
}

/// Throughput, response and queues by recursion over all smaller populations. Takes time in proportion to [`steps`].
///
/// Of a queue with c servers an arriving request waits for (1 + Q − busy ones that leave room) / c of its service:
/// R = D/c (1 + Q + Σ_{j<c−1} (c − 1 − j) p(j)), with p(j) the probability that it finds j there (Reiser and Lavenberg). The
/// probability that it finds nobody is not what the others leave of 1: that difference has no digits left where the servers are
/// busy, and the recursion magnifies the error by c^c/c!. It is the product of X(n)/X′(n) over the populations, with X′ the throughput
/// of the network without the queue (Reiser, Performance Evaluation 1, 1981), so that is solved first.
pub fn exact(network: &ClosedNetwork) -> Solution {
    let several = several(network);
    let mut cycles = vec![Vec::new(); 1 << several.len()];
    let mut last = None;
    for removed in (0..cycles.len()).rev() {
        let (solution, here) = recursion(network, &several, removed, &cycles);
        cycles[removed] = here;
        last = Some(solution);
    }
    last.expect("no station removed is one of the cases")
}

/// The stations with several servers.
fn several(network: &ClosedNetwork) -> Vec<usize> {
    let has_several = |at: &usize| network.stations()[*at].servers > 1 && !network.stations()[*at].delay;
    (0..network.stations().len()).filter(has_several).collect()
}

/// Solves the network without those of the stations `several` whose bits are set in `removed`. `cycles` has the cycle times of the
/// networks with fewer stations, by population and class; those of this one are given too.
fn recursion(
    network: &ClosedNetwork,
    several: &[usize],
    removed: usize,
    cycles: &[Vec<f64>],
) -> (Solution, Vec<f64>) {
    let left = without(network, several, removed);
    let full = left.clients();
    let strides = strides(&full);
    let (mut found, mut here): (Vec<SeenOnArrival>, Vec<f64>) = Default::default();
    let mut clients = vec![0; full.len()];
    loop {
        let at = found.len();
        let before = |class: usize| (clients[class] > 0).then(|| &found[at - strides[class]]);
        let waits = |station: usize, class: usize| before(class).map_or(0.0, |found| found.waits[station]);
        let solution = left.step(&clients, waits);
        here.extend(
            (0..full.len()).map(|class| left.classes[class].think + solution.classes[class].response),
        );
        if clients == full {
            return (solution, here);
        }
        // Any class that asks will do; at the smallest population nobody does.
        let requests = clients.iter().position(|clients| *clients > 0);
        let idle = |queue: usize| {
            let Some(class) = requests else { return 1.0 };
            let this = at * full.len() + class;
            let (without, with) = (cycles[removed | 1 << queue][this], here[this]);
            let before = found[at - strides[class]].fewer[several[queue]][0];
            if with > 0.0 { before * without / with } else { before }
        };
        let left_in = (0..several.len()).filter(|queue| removed >> queue & 1 == 0);
        let idle: Vec<(usize, f64)> = left_in.map(|queue| (several[queue], idle(queue))).collect();
        let classes: Vec<Option<&SeenOnArrival>> = (0..full.len()).map(before).collect();
        let arriving = SeenOnArrival::of(&left, &solution, &classes, &idle);
        found.push(arriving);
        next(&mut clients, &full);
    }
}

/// The network with nothing asked of the stations whose bits are set.
fn without(network: &ClosedNetwork, several: &[usize], removed: usize) -> ClosedNetwork {
    let mut left = network.clone();
    for (_, at) in several.iter().enumerate().filter(|(bit, _)| removed >> bit & 1 == 1) {
        left.stations[*at] = ServiceCentre::delay(vec![0.0; network.classes().len()]);
    }
    left
}

/// State seen by a request that arrives at a population.
struct SeenOnArrival {
    /// Of each station, by how much its own service there is lengthened, in units of that service.
    waits: Vec<f64>,
    /// Of each station with several servers, the probabilities of fewer requests there than servers.
    fewer: Vec<Vec<f64>>,
}

impl SeenOnArrival {
    /// `idle` has the stations with several servers, and the probability that nobody is there.
    fn of(
        network: &ClosedNetwork,
        solution: &Solution,
        before: &[Option<&Self>],
        idle: &[(usize, f64)],
    ) -> Self {
        let mut all = vec![Vec::new(); network.stations().len()];
        for (at, idle) in idle {
            all[*at] = fewer(*at, &network.stations()[*at], solution, before, *idle);
        }
        let wait = |(at, station): (usize, &ServiceCentre)| {
            let servers = f64::from(station.servers);
            let room = all[at].iter().zip(0..).map(|(p, j)| (servers - 1.0 - f64::from(j)).max(0.0) * p);
            (1.0 + solution.queue(at) + room.sum::<f64>()) / servers - 1.0
        };
        let waits = network.stations().iter().enumerate().map(wait).collect();
        Self { waits, fewer: all }
    }
}

/// p(j) for j below the number of servers: p(j) = Σ_classes X D p(j − 1 with one of the class less) / j.
fn fewer(
    at: usize,
    station: &ServiceCentre,
    solution: &Solution,
    before: &[Option<&SeenOnArrival>],
    idle: f64,
) -> Vec<f64> {
    let work = |class: usize| solution.classes[class].throughput * station.demands[class];
    let one_less = |j: usize| {
        let each = before.iter().enumerate();
        each.filter_map(|(class, found)| Some(work(class) * found.as_ref()?.fewer[at][j - 1])).sum::<f64>()
    };
    let others = (1..station.servers as usize).map(|j| one_less(j) / j as f64);
    std::iter::once(idle).chain(others).collect()
}

/// Returns the distance back to the population with one client of each class less, in the order of [`next`].
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
