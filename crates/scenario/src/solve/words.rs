//! The answer in a few sentences.

use headrace_units::Nanos;

use super::{Solved, SolvedPoint, StationLimit};
use crate::alike;
use crate::significant::{grouped, within};

/// Returns the answer: the response at the scenario's own load, the bottleneck, and the next one.
pub fn answer(solved: &Solved, own: &SolvedPoint) -> String {
    let sentences =
        [at_own_load(solved, own), error(solved, own), limit(solved, own), next(solved), knee(solved)];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A rate as people read it.
fn rate(per_s: f64) -> String {
    let digits = match per_s {
        1000.0.. => 0,
        // Three digits that are not zero.
        _ if per_s > 0.0 && per_s < 1.0 => 2 + libm::ceil(-libm::log10(per_s)) as usize,
        _ => 2,
    };
    let text = format!("{per_s:.digits$}");
    let text = text.strip_suffix(".00").unwrap_or(&text);
    grouped(text)
}

fn at_own_load(solved: &Solved, own: &SolvedPoint) -> Option<String> {
    let load = match solved.open {
        true => format!("{}/s offered", rate(own.load)),
        false => format!("{} client{}", own.load, if own.load == 1.0 { "" } else { "s" }),
    };
    let Some((throughput, response)) = own.throughput_per_s.zip(own.response_ms) else {
        return Some(format!("Overloaded: {load}, more than can be answered."));
    };
    let about = if solved.fails.is_empty() { "" } else { "about " };
    let response = Nanos::from_ms(response);
    Some(match solved.open {
        true => format!("{load}: mean response {about}{response}."),
        false => format!("{load}: {about}{}/s, mean response {about}{response}.", rate(throughput)),
    })
}

/// By how much the response is off where assumptions fail.
fn error(solved: &Solved, own: &SolvedPoint) -> Option<String> {
    if solved.fails.is_empty() || own.response_ms.is_none() {
        return None;
    }
    let Some(measured) = &solved.measured else {
        return Some("Assumptions fail; a short simulation could not measure the error.".to_owned());
    };
    let (response, half) =
        (Nanos::from_ms(measured.response_ms), measured.half_width_ms / measured.response_ms);
    let requests = rate(measured.requests as f64);
    let simulated = format!("a simulation of {requests} requests, {response}{}", within(half));
    if measured.error.abs() <= half {
        return Some(format!("Assumptions fail, but no difference is seen from {simulated}."));
    }
    let side = if measured.error < 0.0 { "below" } else { "above" };
    Some(format!("Assumptions fail: that is {:.1} % {side} {simulated}.", measured.error.abs() * 100.0))
}

fn limit(solved: &Solved, own: &SolvedPoint) -> Option<String> {
    let first = solved.stations.first()?;
    let busy = own.utilisation.first()? * 100.0;
    // With more clients of each stream, they have other shares of the throughput.
    let mix = if !solved.open && own.streams.len() > 1 { " in this mix of streams" } else { "" };
    Some(format!(
        "Sustains at most {}/s{mix}; bottleneck {}, {busy:.0} % busy at this load.",
        rate(solved.sustains_per_s),
        name(first)
    ))
}

/// Returns the bottleneck as results name it: of a route it is the places of a queue depth.
fn name(limit: &StationLimit) -> String {
    alike::limit(&limit.component, is_depth(limit).then_some("queue depth"))
}

fn is_depth(limit: &StationLimit) -> bool {
    limit.kind == "route"
}

/// Where the bottleneck moves when it is made faster.
fn next(solved: &Solved) -> Option<String> {
    let [first, second, ..] = &solved.stations[..] else { return None };
    let times = second.saturates_at_per_s / first.saturates_at_per_s;
    if times < 1.0 + 1e-9 {
        return Some(format!("{} limits as much.", name(second)));
    }
    let were = if is_depth(first) { "had" } else { "were" };
    let more = if is_depth(first) { "the places" } else { "as fast" };
    let times = if times < 100.0 { format!("{times:.2}") } else { rate(times) };
    Some(format!(
        "If it {were} {times}× {more}, {} would be the bottleneck, at {}/s.",
        name(second),
        rate(second.saturates_at_per_s)
    ))
}

fn knee(solved: &Solved) -> Option<String> {
    let knee = solved.knee_clients?;
    let clients = if knee < 1000.0 { format!("{knee:.1}") } else { rate(knee) };
    Some(format!("Beyond {clients} clients, requests mostly queue."))
}
