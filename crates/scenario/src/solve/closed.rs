//! Closed networks: clients that wait for their answers, by mean value analysis.

use headrace_analytic::network::{
    ClosedNetwork, CustomerClass, ServiceCentre, Solution, bard_schweitzer, bounds, linearizer, mva,
};

use super::network::{DepthLimit, QueueNetwork, ServiceQueue};
use super::{Between, SolvedPoint, StreamPoint, assumptions, loads};
use crate::plan::StreamPlan;

/// Maximum number of steps of the exact recursion; beyond it, linearizer is used.
const MOST: u64 = 4_000_000;

/// Approximation of a queue with several servers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Several {
    /// As it is: only the exact recursion knows it.
    Exactly,
    /// As a faster one and a delay.
    AsOne,
}

/// The mean time that clients of a stream think.
fn think_ms(stream: &StreamPlan) -> f64 {
    stream.spec.arrivals.think().map_or(0.0, |think| think.distribution().mean())
}

/// The stations of the network, with these clients of each stream.
fn queues(network: &QueueNetwork, clients: &[u32], several: Several) -> ClosedNetwork {
    let mut stations: Vec<ServiceCentre> =
        network.queues.iter().flat_map(|queue| stations(network, queue, several)).collect();
    let delays = (0..clients.len()).map(|stream| network.delays_ms(stream));
    stations.push(ServiceCentre::delay(delays.collect()));
    let classes = network
        .streams
        .iter()
        .zip(clients)
        .map(|((stream, _), clients)| CustomerClass { clients: *clients, think: think_ms(stream) });
    ClosedNetwork::new(stations, classes.collect())
}

fn stations(network: &QueueNetwork, queue: &ServiceQueue, several: Several) -> Vec<ServiceCentre> {
    let of = |ms: &dyn Fn(usize) -> f64| (0..queue.asked.len()).map(ms).collect::<Vec<f64>>();
    let (demands, paths) = (of(&|stream| queue.work_ms(stream)), of(&|stream| queue.path_ms(stream)));
    if queue.counted_elsewhere || queue.limits_rate() {
        return vec![ServiceCentre::delay(paths)];
    }
    let joins = of(&|stream| match &queue.asked[stream] {
        Some(asked) if queue.splits(stream) => {
            asked.visits * network.join_ms(stream) / network.rounds(stream)
        }
        _ => 0.0,
    });
    if queue.apart {
        let part = |all: &[f64]| all.iter().map(|ms| ms / f64::from(queue.servers)).collect::<Vec<_>>();
        let one = ServiceCentre {
            delay: false,
            servers: 1,
            demands: part(&demands),
            paths: part(&paths),
            joins: part(&joins),
        };
        return vec![one; queue.servers as usize];
    }
    if queue.servers == 1 || (several == Several::Exactly && !queue.is_split()) {
        return vec![ServiceCentre { delay: false, servers: queue.servers, demands, paths, joins }];
    }
    let [fast, delay] = ServiceCentre::several(queue.servers, &demands);
    let [fast_path, delay_path] = ServiceCentre::several(queue.servers, &paths);
    vec![
        ServiceCentre { paths: fast_path.demands, joins, ..fast },
        ServiceCentre { paths: delay_path.demands, ..delay },
    ]
}

fn is_small_with(queues: &ClosedNetwork) -> bool {
    mva::steps(queues) <= MOST
}

/// Returns true if the scenario's own load is solved exactly.
pub fn is_small(network: &QueueNetwork) -> bool {
    let clients = || loads::clients(network, network.load());
    network.is_open() || is_small_with(&queues(network, &clients(), Several::Exactly))
}

/// Returns true if clients of a stream that find no place wait for nothing else: then as many as there are places make the same network.
pub fn waits_for_places_alone(network: &QueueNetwork, stream: usize, places: &DepthLimit) -> bool {
    places.are_of(stream) && think_ms(network.streams[stream].0) == 0.0
}

/// Number of clients of each stream that are on their way at once.
fn on_their_way(network: &QueueNetwork, clients: &[u32]) -> Vec<u32> {
    let with_place = |(stream, clients): (usize, &u32)| {
        let alone = network.places.iter().filter(|places| waits_for_places_alone(network, stream, places));
        alone.map(|places| places.many).fold(*clients, u32::min)
    };
    clients.iter().enumerate().map(with_place).collect()
}

/// Those that wait for a place take part of the response, and nothing else.
fn solved(network: &QueueNetwork, clients: &[u32]) -> Solution {
    let inside = on_their_way(network, clients);
    let mut found = without_limit(network, &inside);
    for ((class, clients), inside) in found.classes.iter_mut().zip(clients).zip(&inside) {
        if clients > inside {
            class.response = f64::from(*clients) / class.throughput;
        }
    }
    let most = most_per_ms(network);
    if let [class] = &mut found.classes[..]
        && class.throughput > most
    {
        class.throughput = most;
        class.response = f64::from(clients[0]) / most - think_ms(network.streams[0].0);
    }
    found
}

/// Returns the largest rate that limits allow, in requests per ms: those of the only stream, as there are none with several.
fn most_per_ms(network: &QueueNetwork) -> f64 {
    let limits = network.queues.iter().filter(|queue| queue.limits_rate());
    limits.map(|queue| 1.0 / queue.work_ms(0)).fold(f64::INFINITY, f64::min)
}

fn without_limit(network: &QueueNetwork, clients: &[u32]) -> Solution {
    let exactly = queues(network, clients, Several::Exactly);
    let found = if is_small_with(&exactly) { mva::exact(&exactly) } else { linearizer::solve(&exactly) };
    found.within_bounds(&exactly)
}

/// Throughput of each stream, requests/s.
pub fn throughputs(network: &QueueNetwork, load: f64) -> Vec<f64> {
    let found = solved(network, &loads::clients(network, load));
    found.classes.iter().map(|class| class.throughput * 1e3).collect()
}

/// The number of clients at which a lone request's cycle keeps the busiest station busy: (Z + D) / D_max.
pub fn knee(network: &QueueNetwork) -> f64 {
    let clients = loads::clients(network, network.load());
    let queues = queues(network, &clients, Several::AsOne);
    let mix = network.mix();
    let cycle = |class: usize| {
        let paths = queues.stations().iter().map(|station| station.alone(class)).sum::<f64>();
        queues.classes()[class].think + paths
    };
    let most = network.queues.iter().map(|queue| {
        let work: f64 = mix.iter().enumerate().map(|(stream, share)| share * queue.work_ms(stream)).sum();
        work / f64::from(queue.servers)
    });
    let all: f64 = mix.iter().enumerate().map(|(class, share)| share * cycle(class)).sum();
    all / most.fold(0.0, f64::max)
}

/// The answer with this number of clients.
pub fn point(network: &QueueNetwork, load: f64) -> SolvedPoint {
    let clients = loads::clients(network, load);
    let queues = queues(network, &clients, Several::AsOne);
    let exactly = self::queues(network, &clients, Several::Exactly);
    let found = solved(network, &clients);
    let streams = network.streams.iter().zip(&found.classes).map(|((stream, _), class)| StreamPoint {
        name: stream.name.clone(),
        throughput_per_s: Some(class.throughput * 1e3),
        response_ms: Some(class.response),
    });
    let all = |found: &Solution| found.classes.iter().map(|class| class.throughput * 1e3).sum::<f64>();
    let most = most_per_ms(network) * 1e3;
    let within = |between: Between| Between { from: between.from.min(most), to: between.to.min(most) };
    let breakdown: f64 = found.classes.iter().map(|class| class.throughput * 1e3 * class.response).sum();
    SolvedPoint {
        load: clients.iter().map(|clients| f64::from(*clients)).sum(),
        own: clients == loads::clients(network, network.load()),
        throughput_per_s: Some(all(&found)),
        response_ms: Some(breakdown / all(&found)),
        utilisation: Vec::new(),
        streams: streams.collect(),
        asymptotic: bounds::asymptotic(&queues).map(Between::per_s).map(within),
        balanced: bounds::balanced(&queues)
            .filter(|_| assumptions::that_fail(network).is_empty())
            .map(Between::per_s)
            .map(within),
        bard_schweitzer_per_s: Some(all(&bard_schweitzer::solve(&exactly)).min(most)),
        linearizer_per_s: Some(all(&linearizer::solve(&exactly)).min(most)),
        simulated: None,
        sets: loads::sets(network, load),
    }
}
