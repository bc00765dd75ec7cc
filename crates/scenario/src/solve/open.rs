//! Open networks: requests come at a rate, and each queue is on its own.

use headrace_analytic::fork_join::harmonic;
use headrace_analytic::network::exhaustive::{Classes, Served};
use headrace_analytic::network::open::{Visits, regularity, wait};
use headrace_analytic::network::priority;
use headrace_analytic::{Distribution, Mg1};

use super::network::{Asked, DepthLimit, QueueNetwork, ServiceQueue};
use super::{SolvedPoint, StreamPoint, loads};
use crate::theory::approximation;

/// The answer at this number of requests per second.
pub fn point(network: &QueueNetwork, load: f64) -> SolvedPoint {
    let rates: Vec<f64> = network.rates_at(load).iter().map(|rate| rate * 1e-3).collect();
    let waits: Vec<Vec<Option<f64>>> =
        network.queues.iter().map(|queue| waits(network, queue, &rates)).collect();
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
    let breakdown = sum(&|stream| Some(stream.throughput_per_s? * stream.response_ms?));
    SolvedPoint {
        load,
        own: load == network.load(),
        throughput_per_s,
        response_ms: throughput_per_s.zip(breakdown).map(|(rate, breakdown)| breakdown / rate),
        utilisation: Vec::new(),
        streams,
        asymptotic: None,
        balanced: None,
        bard_schweitzer_per_s: None,
        linearizer_per_s: None,
        simulated: None,
        sets: loads::sets(network, load),
    }
}

/// The number of servers of a queue that are in use at these rates of the streams, in requests per second.
pub fn busy(network: &QueueNetwork, queue: &ServiceQueue, rates: &[f64]) -> f64 {
    let rates: Vec<f64> = rates.iter().map(|rate| rate * 1e-3).collect();
    if let Some(served) = set_up(queue, &rates) {
        return served.busy;
    }
    let held = held(network, queue, &rates).unwrap_or(0.0);
    let visits = |stream: usize| queue.asked[stream].as_ref().map_or(0.0, |asked| asked.visits);
    rates
        .iter()
        .enumerate()
        .map(|(stream, rate)| rate * (queue.work_ms(stream) + visits(stream) * held))
        .sum()
}

/// Returns the additional time, in ms, for which a server of a queue is held while another queue is waited for; `None` if that never ends.
fn held(network: &QueueNetwork, queue: &ServiceQueue, rates: &[f64]) -> Option<f64> {
    let Some((other, times)) = network.held_for(queue) else { return Some(0.0) };
    waits(network, other, rates).first().copied().flatten().map(|wait| wait * times)
}

/// The mean wait of each stream before a queue; `None` for those that starve there.
fn waits(network: &QueueNetwork, queue: &ServiceQueue, rates: &[f64]) -> Vec<Option<f64>> {
    if queue.counted_elsewhere {
        return vec![Some(0.0); rates.len()];
    }
    if queue.is_set_up() {
        return waits_of_classes(queue, rates);
    }
    if queue.has_ranks() {
        return by_rank(queue, rates);
    }
    let (servers, queues) = if queue.apart { (1, f64::from(queue.servers)) } else { (queue.servers, 1.0) };
    let Some(held) = held(network, queue, rates) else { return vec![None; rates.len()] };
    let visits = |(rate, asked): (&f64, &Option<Asked>)| {
        asked.as_ref().map(|asked| longer(visits(rate * asked.visits / queues, &asked.distribution), held))
    };
    let all: Vec<Visits> = rates.iter().zip(&queue.asked).filter_map(visits).collect();
    let regular = if servers == 1 { regular(queue, rates, &together(&all)) } else { 1.0 };
    vec![wait(servers, &all).map(|wait| wait * regular); rates.len()]
}

/// The classes of visits of each stream for which servers of a queue are set up.
fn classes(queue: &ServiceQueue, rates: &[f64]) -> Vec<(usize, Classes)> {
    let of_stream = |(stream, rate): (usize, &f64)| {
        let asked = queue.asked[stream].as_ref();
        let setups = asked.and_then(|asked| Some((asked, asked.setups.as_deref()?)));
        let of_class = |(asked, share, number): (&Asked, f64, f64)| {
            let visits = visits(rate * asked.visits * share, &asked.distribution);
            (stream, Classes { number, visits })
        };
        let all = setups.into_iter().flat_map(|(asked, setups)| {
            setups.classes.iter().map(move |(share, number)| (asked, *share, *number))
        });
        all.map(of_class).collect::<Vec<_>>()
    };
    rates.iter().enumerate().flat_map(of_stream).collect()
}

/// Returns what servers do that are set up for classes of visits; `None` if they are not, or there is no steady state.
fn set_up(queue: &ServiceQueue, rates: &[f64]) -> Option<Served> {
    let servers = queue.asked.iter().flatten().find_map(|asked| asked.setups.as_ref())?.servers;
    let classes: Vec<Classes> = classes(queue, rates).into_iter().map(|(_, class)| class).collect();
    servers.under(&classes)
}

/// Returns the mean wait of each stream's visits, which are of several classes.
fn waits_of_classes(queue: &ServiceQueue, rates: &[f64]) -> Vec<Option<f64>> {
    let Some(served) = set_up(queue, rates) else { return vec![None; rates.len()] };
    let mut sums = vec![(0.0, 0.0); rates.len()];
    for ((stream, class), wait) in classes(queue, rates).iter().zip(&served.waits) {
        let rate = class.number * class.visits.rate;
        let (visits, waited) = sums[*stream];
        sums[*stream] = (visits + rate, waited + rate * wait);
    }
    sums.into_iter().map(|(visits, waited)| Some(waited / visits)).collect()
}

/// The share of the wait that is left where visits come more regularly than at random.
fn regular(queue: &ServiceQueue, rates: &[f64], all: &Visits) -> f64 {
    let of_stream = |(rate, asked): (&f64, &Option<Asked>)| {
        asked.as_ref().map(|asked| (rate * asked.visits, asked.arrivals_cv2))
    };
    let each = || rates.iter().zip(&queue.asked).filter_map(of_stream);
    let visits: f64 = each().map(|(visits, _)| visits).sum();
    let cv2 = each().map(|(visits, cv2)| visits * cv2).sum::<f64>() / visits;
    regularity(cv2, all.square / (all.mean * all.mean) - 1.0, all.rate * all.mean)
}

fn visits(rate: f64, distribution: &Distribution) -> Visits {
    let [mean, square, _] = distribution.moments();
    Visits { rate, mean, square }
}

/// Visits that each take this much longer.
fn longer(Visits { rate, mean, square }: Visits, by: f64) -> Visits {
    Visits { rate, mean: mean + by, square: square + by * (2.0 * mean + by) }
}

/// Visits of one rank wait alike; they are one class with the distribution of all. A stream waits as its visits do on average.
fn by_rank(queue: &ServiceQueue, rates: &[f64]) -> Vec<Option<f64>> {
    let ranks = queue.ranks();
    let of_rank = |rank: &u32| {
        let streams = rates.iter().zip(&queue.asked);
        let here = |(rate, asked): (&f64, &Option<Asked>)| {
            let ranks = asked.iter().flat_map(|asked| &asked.ranks).filter(|(its, ..)| its == rank);
            ranks.map(|(_, many, distribution)| visits(rate * many, distribution)).collect::<Vec<_>>()
        };
        together(&streams.flat_map(here).collect::<Vec<_>>())
    };
    let waits = priority::waits(queue.servers, &ranks.iter().map(of_rank).collect::<Vec<_>>());
    let place = |rank: &u32| ranks.binary_search(rank).expect("it is one of them");
    let of_stream = |asked: &Option<Asked>| {
        let asked = asked.as_ref()?;
        let each = asked.ranks.iter().map(|(rank, many, _)| Some(many * waits[place(rank)]?));
        Some(each.sum::<Option<f64>>()? / asked.visits)
    };
    queue.asked.iter().map(of_stream).collect()
}

fn together(alike: &[Visits]) -> Visits {
    let rate: f64 = alike.iter().map(|visits| visits.rate).sum();
    let mean = |of: fn(&Visits) -> f64| {
        let sum: f64 = alike.iter().map(|visits| visits.rate * of(visits)).sum();
        if rate > 0.0 { sum / rate } else { 0.0 }
    };
    Visits { rate, mean: mean(|visits| visits.mean), square: mean(|visits| visits.square) }
}

/// The mean response of a stream: its own service and waits along the longest way, delays, and what the join adds.
fn response(network: &QueueNetwork, stream: usize, rates: &[f64], waits: &[Vec<Option<f64>>]) -> Option<f64> {
    let in_use = |places: &DepthLimit| -> f64 {
        rates.iter().zip(&places.held_ms).map(|(rate, held)| rate * held).sum::<f64>()
            / f64::from(places.many)
    };
    if network.places.iter().any(|places| places.held_ms[stream] > 0.0 && in_use(places) >= 1.0) {
        return None;
    }
    let mut response = network.delays_ms(stream);
    for (queue, waits) in network.queues.iter().zip(waits) {
        let Some(asked) = &queue.asked[stream] else { continue };
        let wait = if asked.ahead_ms > 0.0 { beyond(queue, rates, asked) } else { waits[stream] };
        response += asked.path_ms + asked.path_visits * wait?;
    }
    for (times, branches, part) in network.joins(stream) {
        response += times * join(network, stream, rates, branches, part)?;
    }
    for (times, many) in network.last_waits(stream) {
        response += times * last_wait(network, stream, (rates, waits), many);
    }
    Some(response)
}

/// Returns the mean of what exceeds the work done ahead of a visit's response, in ms; `None` if the queue has no steady state.
fn beyond(queue: &ServiceQueue, rates: &[f64], asked: &Asked) -> Option<f64> {
    Some(one_queue(queue, rates)?.mean_beyond(&asked.distribution, asked.ahead_ms))
}

/// Returns a queue with one server, of several with a queue each one of them, under these rates of the streams, per ms; `None` if it has no
/// steady state.
fn one_queue(queue: &ServiceQueue, rates: &[f64]) -> Option<Mg1> {
    let queues = if queue.apart { f64::from(queue.servers) } else { 1.0 };
    let visits = |(rate, asked): (&f64, &Option<Asked>)| {
        asked.as_ref().map(|asked| (rate * asked.visits / queues, asked.distribution.clone()))
    };
    let arrivals: Vec<(f64, Distribution)> = rates.iter().zip(&queue.asked).filter_map(visits).collect();
    let all: f64 = arrivals.iter().map(|(rate, _)| rate).sum();
    let shares = arrivals.into_iter().map(|(rate, distribution)| (rate / all, distribution));
    Mg1::new(all, Distribution::mixed(shares.collect()))
}

/// Returns what the largest of several independent waits is longer than one, at the queue where parts of a stream wait longest: each part waits with
/// the probability that its server is busy, for an exponential time (as in M/M/1), so that the largest of k waits is H_k times as long.
fn last_wait(
    network: &QueueNetwork,
    stream: usize,
    (rates, waits): (&[f64], &[Vec<Option<f64>>]),
    many: u32,
) -> f64 {
    let all = network.queues.iter().zip(waits).filter(|(queue, _)| queue.splits(stream));
    let longest = all.filter_map(|(queue, waits)| Some((queue, waits[stream]?)));
    let Some((queue, wait)) = longest.max_by(|a, b| a.1.total_cmp(&b.1)) else { return 0.0 };
    let work: f64 = rates.iter().enumerate().map(|(stream, rate)| rate * queue.work_ms(stream)).sum();
    let busy = work / f64::from(queue.servers);
    if busy <= 0.0 || wait <= 0.0 {
        return 0.0;
    }
    let waiting = |k: u32| {
        let ways: f64 = (0..k).map(|at| f64::from(many - at) / f64::from(k - at)).product();
        ways * libm::pow(busy, f64::from(k)) * libm::pow(1.0 - busy, f64::from(many - k))
    };
    let largest: f64 = (1..=many).map(|k| waiting(k) * harmonic(k)).sum();
    wait / busy * largest - wait
}

/// Returns the time that waiting for the last of several parts adds to the response of the largest part.
fn join(
    network: &QueueNetwork,
    stream: usize,
    rates: &[f64],
    branches: u32,
    part: &Distribution,
) -> Option<f64> {
    let mut split = network.queues.iter().filter(|queue| queue.splits(stream));
    let queue = one_queue(split.next()?, rates)?;
    let (_, mean, _) = approximation(&queue, branches, part.is_exponential());
    Some((mean - queue.mean_response()).max(0.0))
}
