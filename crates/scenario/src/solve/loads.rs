//! At which loads a scenario is solved, and what each is in its own terms.

use super::network::QueueNetwork;
use crate::document::{Path, Problem};
use crate::plan::StreamPlan;

/// Number of loads between two ends.
const STEPS: u32 = 9;
/// The most clients that a scenario can have.
const MOST_CLIENTS: f64 = 1e6;

/// From 10 to 90 % of what is sustained, and to the scenario's own load where that is sustained too; or from one client to twice as
/// many as the knee has, and at least the scenario's own.
pub fn usual(network: &QueueNetwork, sustains_per_s: f64, knee: Option<f64>) -> (f64, f64) {
    match knee {
        None => {
            let (from, to, own) = (sustains_per_s * 0.1, sustains_per_s * 0.9, network.load());
            (from.min(own), if own < sustains_per_s { to.max(own) } else { to })
        }
        Some(knee) => {
            let to = (2.0 * libm::ceil(knee)).max(network.load()).min(MOST_CLIENTS);
            (network.streams.len() as f64, to.max(network.streams.len() as f64))
        }
    }
}

/// The range that was asked for, if it is one.
pub fn checked(network: &QueueNetwork, (from, to): (f64, f64)) -> Result<(f64, f64), Vec<Problem>> {
    let (least, most, what) = match network.is_open() {
        true => (f64::MIN_POSITIVE, 1e12, "requests per second"),
        false => (network.streams.len() as f64, MOST_CLIENTS, "clients"),
    };
    if least <= from && from <= to && to <= most {
        return Ok((from, to));
    }
    let least = if network.is_open() { "more than 0".to_owned() } else { format!("at least {least}") };
    let message = format!("`--load {from}..{to}` is an invalid range of {what}: {least}, the smaller first");
    Err(vec![Problem::at(Path::of(&["workload"]), message).help("such as `--load 1..32`")])
}

/// The loads in a range, the smallest first, with the scenario's own where it lies within.
pub fn points(network: &QueueNetwork, (from, to): (f64, f64)) -> Vec<f64> {
    let mut loads = match network.is_open() {
        true => between(from, to),
        false => whole(from, to),
    };
    let own = network.load();
    if (from..=to).contains(&own) {
        loads.push(own);
    }
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    loads
}

fn between(from: f64, to: f64) -> Vec<f64> {
    let step = (to - from) / f64::from(STEPS - 1);
    (0..STEPS).map(|at| from + step * f64::from(at)).collect()
}

/// Every number of clients, or of many some at equal ratios.
fn whole(from: f64, to: f64) -> Vec<f64> {
    if to - from < f64::from(STEPS) {
        return (from as u32..=to as u32).map(f64::from).collect();
    }
    let ratio = libm::log(to / from) / f64::from(STEPS - 1);
    (0..STEPS).map(|at| libm::round(from * libm::exp(ratio * f64::from(at)))).collect()
}

/// The clients of each stream at a load, at least one each.
pub fn clients(network: &QueueNetwork, load: f64) -> Vec<u32> {
    let own = network.load();
    let share = |clients: &f64| libm::round(clients / own * load).max(1.0) as u32;
    network.shares().iter().map(share).collect()
}

/// Returns the fields to set in the scenario for a load; `None` if arrivals cannot be scaled.
pub fn sets(network: &QueueNetwork, load: f64) -> Option<Vec<(String, String)>> {
    if load == network.load() {
        return Some(Vec::new());
    }
    let clients = clients(network, load);
    let rates = network.rates_at(load);
    let streams = network.streams.iter().zip(clients.iter().zip(rates));
    streams.map(|((stream, _), (clients, rate))| set(stream, *clients, rate)).collect()
}

fn set(stream: &StreamPlan, clients: u32, rate: f64) -> Option<(String, String)> {
    let arrivals = &stream.spec.arrivals;
    let (field, value) = match arrivals.think() {
        Some(_) => ("closed.depth".to_owned(), clients.to_string()),
        None => arrivals.at_rate(rate)?,
    };
    Some((format!("workload.{}.arrivals.{field}", stream.name), value))
}
