//! Exact mean value analysis (Reiser and Lavenberg, JACM 27, 1980), for one class and for several.
//!
//! An arriving request finds the network as it is on average with one client of its class less. Exact in networks of product
//! form: exponential service with the same mean for all classes where requests are served first come, first served, and any
//! law where they are not kept waiting (delays) or share the server.

use super::{Network, Solution};

/// How many populations [`exact`] goes through: the product over the classes of clients + 1.
pub fn populations(network: &Network) -> u64 {
    let each = network.classes().iter().map(|class| u64::from(class.clients) + 1);
    each.fold(1, u64::saturating_mul)
}

/// Throughput, response and queues by recursion over all smaller populations. Takes time and memory in proportion to
/// [`populations`] × stations.
pub fn exact(network: &Network) -> Solution {
    let full = network.clients();
    let stations = network.stations().len();
    let strides = strides(&full);
    let mut queues: Vec<f64> = Vec::new();
    let mut clients = vec![0; full.len()];
    loop {
        let here = queues.len() / stations.max(1);
        let found = |station: usize, class: usize| match clients[class] {
            0 => 0.0,
            _ => queues[(here - strides[class]) * stations + station],
        };
        let solution = network.step(&clients, found);
        if clients == full {
            return solution;
        }
        queues.extend((0..stations).map(|station| solution.queue(station)));
        next(&mut clients, &full);
    }
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
