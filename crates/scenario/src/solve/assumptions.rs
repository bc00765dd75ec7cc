//! Which assumptions of the formulas fail in a scenario, each said once.

use std::collections::{BTreeMap, BTreeSet};

use headrace_analytic::Distribution;
use headrace_storage::Change;

use super::network::{DepthLimit, QueueNetwork, ServiceQueue};
use super::{closed, network};
use crate::alike::limit;
use crate::plan::StreamPlan;
use crate::theory::{independent, not_poisson};

/// Returns all assumptions that fail, each once, those that fail by little last.
pub fn that_fail(network: &QueueNetwork) -> Vec<String> {
    let demands = || network.streams.iter().flat_map(|(_, demands)| demands);
    let mut fails: Vec<String> = demands().flat_map(|demand| demand.fails.clone()).collect();
    let streams: Vec<&StreamPlan> = network.streams.iter().map(|(stream, _)| *stream).collect();
    fails.extend(
        streams
            .iter()
            .filter(|stream| stream.has_many_kinds())
            .map(|stream| format!("all sizes are considered: `{}` is represented by 64 sizes", stream.name)),
    );
    fails.extend(no_faults(network));
    fails.extend(network.queues.iter().filter_map(|queue| of_queue(network, queue)));
    fails.extend(network.places.iter().filter_map(|places| of_places(network, places)));
    fails.extend((0..streams.len()).flat_map(|stream| of_stream(network, stream)));
    if !network.is_open() && !closed::is_small(network) {
        fails.push(
            "the exact recursion is feasible: linearizer is used instead (usually within 1 %)".to_owned(),
        );
    }
    fails.extend(demands().filter_map(|demand| demand.mild).map(str::to_owned));
    of_groups(&each_once(fails))
}

fn each_once(all: Vec<String>) -> Vec<String> {
    let mut told = BTreeSet::new();
    all.into_iter().filter(|one| told.insert(one.clone())).collect()
}

/// Says what fails at several copies of a component of their group: of `volume/spindle` for `volume/spindle[0]` and the others.
fn of_groups(fails: &[String]) -> Vec<String> {
    let groups: Vec<String> = fails.iter().map(|one| without_numbers(one)).collect();
    let mut members: BTreeMap<&String, u32> = BTreeMap::new();
    groups.iter().for_each(|group| *members.entry(group).or_default() += 1);
    let said = fails.iter().zip(&groups).map(|(one, group)| if members[group] == 1 { one } else { group });
    each_once(said.cloned().collect())
}

/// Returns a text without the numbers of copies: what stands in brackets.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(']') {
        Some((number, rest)) if number.bytes().all(|digit| digit.is_ascii_digit()) => text + rest,
        _ => text + "[" + part,
    })
}

/// Faults are left out: the answer is that of the system before the first.
fn no_faults(network: &QueueNetwork) -> Option<String> {
    let fault = network.plan.faults.first()?;
    let path = network.plan.graph.view(fault.node).path();
    let what = if matches!(fault.change, Change::Slow(_)) { "is slow" } else { "fails" };
    Some(format!(
        "every component works as usual: `{path}` {what} during the run, and the answer is that of the system before"
    ))
}

fn of_queue(network: &QueueNetwork, queue: &ServiceQueue) -> Option<String> {
    let name = network.name(queue);
    if !network.is_open() && queue.limits_rate() {
        return Some(format!("clients wait for `{name}` only where they would exceed its rate in the mean"));
    }
    let distributions = || queue.asked.iter().flatten().map(|asked| &asked.distribution);
    let exponential = distributions().all(Distribution::is_exponential);
    if network.is_open() {
        let several = queue.servers > 1 && !queue.apart;
        return match () {
            () if several && !(exponential && alike(distributions())) => Some(format!(
                "service of several servers is exponential: that of `{name}` is not (the wait is scaled by (1 + cv²)/2)"
            )),
            () => None,
        };
    }
    match () {
        () if queue.has_ranks() => {
            Some(format!("requests are served in order of arrival: `{name}` has priorities"))
        }
        () if queue.servers > 1 && !queue.apart && queue.is_split() => Some(format!(
            "a station has one server: `{name}` has {} (approximated by a fast server and a delay, \
             after Seidmann; up to 26 % longer than simulated, most where clients equal servers)",
            queue.servers
        )),
        () if !alike(distributions()) => Some(format!(
            "all streams have the same mean service at a queue: those at `{name}` do not (the short ones wait for the long ones, which may \
             be far longer than this says)"
        )),
        () if !exponential => {
            let varies = |law: &Distribution| law.moments()[1] > 2.0 * law.mean() * law.mean();
            let than = match distributions().any(varies) {
                true => "a less regular one waits longer, so throughput is lower",
                false => "a more regular one waits less, so throughput is higher",
            };
            Some(format!("service is exponential: that of `{name}` is not ({than})"))
        }
        () => None,
    }
}

/// Who waits for a place waits for nothing else only where one stream of clients without think time has all places.
fn of_places(network: &QueueNetwork, places: &DepthLimit) -> Option<String> {
    let known = |stream: usize| !network.is_open() && closed::waits_for_places_alone(network, stream, places);
    let group = network.plan.graph.group(places.node);
    (!(0..network.streams.len()).any(known)).then(|| {
        format!(
            "no request waits for a place in the queue: {} has {}, and the limit is for requests that wait nowhere else",
            limit(group, Some("queue depth")),
            places.many
        )
    })
}

fn alike<'l>(mut distributions: impl Iterator<Item = &'l Distribution>) -> bool {
    let first = distributions.next().map_or(0.0, Distribution::mean);
    distributions.all(|distribution| (distribution.mean() / first - 1.0).abs() < 1e-9)
}

fn of_stream(network: &QueueNetwork, stream: usize) -> Vec<String> {
    let (plan, _) = &network.streams[stream];
    let impatient =
        plan.spec.timeout.map(|_| format!("hosts wait for their answers: those of `{}` give up", plan.name));
    let arrivals = || not_poisson(plan).or_else(|| through_several(network, stream));
    let arrivals = if network.is_open() { arrivals() } else { None };
    [join(network, stream, &plan.name), impatient, arrivals].into_iter().flatten().collect()
}

/// Returns the assumption that fails where requests are split, and the error that follows; `None` if all hold.
fn join(network: &QueueNetwork, stream: usize, name: &str) -> Option<String> {
    let (_, branches, part) = network.joins(stream).max_by_key(|(_, branches, _)| *branches)?;
    if network.is_open() {
        return Some(format!("of `{name}`: {}", independent(branches, part.is_exponential())));
    }
    let known = match (part.is_exponential(), branches) {
        _ if network.rounds(stream) > 1.0 + 1e-9 => {
            "its error is known for one split only: these reads come before writes"
        }
        (false, _) => "its error is known for exponential service only",
        (true, 2) => "the response was within 0.3 % of simulation",
        (true, ..=4) => "the response was up to 2 % longer than simulated",
        (true, ..=8) => "the response was up to 4.3 % longer than simulated",
        (true, ..=16) => "the response was up to 6.4 % longer than simulated",
        (true, _) => "its error is unknown for more than 16 parts",
    };
    Some(format!(
        "a request is at one queue at a time: those of `{name}` are split over {branches} (Varki's approximation; {known})"
    ))
}

/// Behind a queue arrivals are Poisson only where its service is exponential.
fn through_several(network: &QueueNetwork, stream: usize) -> Option<String> {
    let asked = || network.queues.iter().filter_map(|queue| queue.asked[stream].as_ref());
    let one_after_another: f64 = asked().map(|asked: &network::Asked| asked.path_visits).sum();
    let exponential = asked().all(|asked| asked.distribution.is_exponential());
    (one_after_another > 1.0 + 1e-9 && !exponential).then(|| {
        let name = &network.streams[stream].0.name;
        format!("arrivals at every queue are Poisson: `{name}` goes through several, and their service is not exponential")
    })
}
