//! Open networks: requests come at a rate, and each queue is on its own.

use headrace_analytic::network::open::{Visits, wait, wait_of_several};
use headrace_analytic::network::priority;
use headrace_analytic::{Law, Mg1};

use super::network::{Network, Queue};
use super::{Point, StreamPoint, loads};
use crate::theory::approximation;

/// The answer at this number of requests per second.
pub fn point(network: &Network, load: f64) -> Point {
    let rates: Vec<f64> = network.rates_at(load).iter().map(|rate| rate * 1e-3).collect();
    let waits: Vec<Vec<Option<f64>>> = network.queues.iter().map(|queue| waits(queue, &rates)).collect();
    let streams: Vec<StreamPoint> = (0..rates.len())
        .map(|stream| {
            let response_ms = response(network, stream, &rates, &waits);
            StreamPoint {
                name: network.streams[stream].0.name.clone(),
                throughput_per_s: response_ms.map(|_| rates[stream] * 1e3),
                response_ms,
            }
        })
        .collect();
    let sum = |of: &dyn Fn(&StreamPoint) -> Option<f64>| streams.iter().map(of).sum::<Option<f64>>();
    let throughput_per_s = sum(&|stream| stream.throughput_per_s);
    let spent = sum(&|stream| Some(stream.throughput_per_s? * stream.response_ms?));
    Point {
        load,
        own: load == network.load(),
        throughput_per_s,
        response_ms: throughput_per_s.zip(spent).map(|(rate, spent)| spent / rate),
        utilisation: Vec::new(),
        streams,
        asymptotic: None,
        balanced: None,
        bard_schweitzer_per_s: None,
        linearizer_per_s: None,
        sets: loads::sets(network, load),
    }
}

/// The mean wait of each stream before a queue; `None` for those that starve there.
fn waits(queue: &Queue, rates: &[f64]) -> Vec<Option<f64>> {
    let visits: Vec<Visits> =
        rates.iter().zip(&queue.asked).map(|(rate, asked)| visits(*rate, asked)).collect();
    match queue.servers {
        1 if queue.urgent_first => by_urgency(queue, &visits),
        1 => vec![wait(&visits); rates.len()],
        servers => vec![wait_of_several(servers, &visits); rates.len()],
    }
}

fn visits(rate: f64, asked: &Option<super::network::Asked>) -> Visits {
    let [mean, square, _] = asked.as_ref().map_or([0.0; 3], |asked| asked.law.moments());
    Visits { rate: rate * asked.as_ref().map_or(0.0, |asked| asked.visits), mean, square }
}

/// Streams of one priority wait alike; they are one class with the law of both.
fn by_urgency(queue: &Queue, visits: &[Visits]) -> Vec<Option<f64>> {
    let mut levels = queue.priorities.clone();
    levels.sort_unstable();
    levels.dedup();
    let of = |level: &u8| {
        let alike = visits.iter().zip(&queue.priorities).filter(|(_, priority)| *priority == level);
        together(alike.map(|(visits, _)| visits))
    };
    let waits = priority::waits(&levels.iter().map(of).collect::<Vec<_>>());
    let place = |priority: &u8| levels.binary_search(priority).expect("it is one of them");
    queue.priorities.iter().map(|priority| waits[place(priority)]).collect()
}

fn together<'v>(alike: impl Iterator<Item = &'v Visits> + Clone) -> Visits {
    let rate: f64 = alike.clone().map(|visits| visits.rate).sum();
    let mean = |of: fn(&Visits) -> f64| {
        let sum: f64 = alike.clone().map(|visits| visits.rate * of(visits)).sum();
        if rate > 0.0 { sum / rate } else { 0.0 }
    };
    Visits { rate, mean: mean(|visits| visits.mean), square: mean(|visits| visits.square) }
}

/// The mean response of a stream: its own service and waits along the longest way, delays, and what the join adds.
fn response(network: &Network, stream: usize, rates: &[f64], waits: &[Vec<Option<f64>>]) -> Option<f64> {
    let mut response = network.delays_ms(stream);
    for (queue, waits) in network.queues.iter().zip(waits) {
        let Some(asked) = &queue.asked[stream] else { continue };
        response += asked.path_ms() + asked.visits / asked.beside * waits[stream]?;
    }
    for (times, branches, part) in network.joins(stream) {
        response += times * join(network, stream, rates, branches, part)?;
    }
    Some(response)
}

/// What waiting for the last of several parts adds to the largest part's own response.
fn join(network: &Network, stream: usize, rates: &[f64], branches: u32, part: &Law) -> Option<f64> {
    let mut split = network.queues.iter().filter(|queue| queue.splits(stream));
    let disk = split.next()?;
    let arrivals: Vec<(f64, Law)> = rates
        .iter()
        .zip(&disk.asked)
        .filter_map(|(rate, asked)| asked.as_ref().map(|asked| (rate * asked.visits, asked.law.clone())))
        .collect();
    let all: f64 = arrivals.iter().map(|(rate, _)| rate).sum();
    let law = Law::mixed(arrivals.into_iter().map(|(rate, law)| (rate / all, law)).collect());
    let queue = Mg1::new(all, law)?;
    let (_, mean, _) = approximation(&queue, branches, part.is_exponential());
    Some((mean - queue.mean_response()).max(0.0))
}
