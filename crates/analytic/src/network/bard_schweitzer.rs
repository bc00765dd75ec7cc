//! Bard's and Schweitzer's approximate mean value analysis (both 1979): a queue grows in proportion to its class.
//!
//! With one client of class c less, Q_{k,c} is taken for (N_c − 1)/N_c of what it is, and the other classes' for the same.
//! Time and memory do not depend on how many clients there are. It is off by a few per cent where queues matter.

use super::{ClosedNetwork, Solution, several};

/// The largest change of a queue at which the iteration ends, as a share of all clients.
const CLOSE: f64 = 1e-10;
const STEPS: usize = 100_000;

/// Throughput, response and queues, approximately.
pub fn solve(network: &ClosedNetwork) -> Solution {
    let clients = network.clients();
    fixed_point(network, &clients, |_, _, _| 0.0)
}

/// The fixed point where with one client of class c less the share of class j's clients that is at station k is larger by
/// `change(k, j, c)`.
pub(super) fn fixed_point(
    network: &ClosedNetwork,
    clients: &[u32],
    change: impl Fn(usize, usize, usize) -> f64,
) -> Solution {
    let all: f64 = clients.iter().map(|clients| f64::from(*clients)).sum();
    let stations = 0..network.stations().len();
    let added = |station: usize, class: usize| {
        let left = |other: usize| f64::from(clients[other]) - f64::from(u8::from(other == class));
        let others = (0..clients.len()).filter(|other| left(*other) > 0.0);
        others.map(|other| left(other) * change(station, other, class)).sum::<f64>()
    };
    // What the changes add does not depend on the queues, so it is summed once (de Souza e Silva and Muntz, Computers & Mathematics
    // with Applications 20, 1990): a step costs as many operations as there are classes, not pairs of them.
    let added: Vec<Vec<f64>> = (0..clients.len())
        .map(|class| stations.clone().map(|station| added(station, class)).collect())
        .collect();
    let mut solution = network.step(clients, |_, _| 0.0);
    for _ in 0..STEPS {
        let queues: Vec<f64> = stations.clone().map(|station| solution.queue(station)).collect();
        let found = |station: usize, class: usize| {
            let own = solution.classes[class].queues[station] / f64::from(clients[class].max(1));
            let found = (queues[station] - own + added[class][station]).max(0.0);
            several::wait(network.stations()[station].servers, all - 1.0, found)
        };
        let next = network.step(clients, found);
        let moved = apart(&solution, &next);
        solution = next;
        if moved <= CLOSE * all {
            break;
        }
    }
    solution
}

/// The largest difference of a queue.
fn apart(a: &Solution, b: &Solution) -> f64 {
    let pairs = a.classes.iter().zip(&b.classes).flat_map(|(a, b)| a.queues.iter().zip(&b.queues));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
