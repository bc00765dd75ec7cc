//! The answer in a sentence: what a reader should know if they read nothing else.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::Op;

use super::overload::FULL_LATER;
use super::{
    Bottleneck, ClosedLoad, Comparison, MOST_STREAMS, ResponseResults, Results, SATURATED, StepResults,
    StreamResults, evictions, filling, objectives, rebuilds, stretch,
};
use crate::alike;
use crate::operation::Operation;
use crate::significant::{Significant, within};

/// Returns the answer: stream by stream, then the bottleneck.
pub fn in_words(results: &Results) -> String {
    let mut sentences: Vec<String> = results.objectives.iter().map(objectives::in_words).collect();
    sentences.extend(streams(&results.streams));
    let has_answers = results.streams.iter().any(|stream| stream.completed > 0);
    if let Some(bottleneck) = results.bottleneck.as_ref().filter(|_| has_answers) {
        sentences.push(limit(bottleneck, &results.streams));
    }
    sentences.extend(results.busiest_stretch.iter().map(stretch::in_words));
    sentences.extend(evictions::in_words(results));
    sentences.extend(rebuilds::in_words(results));
    let loaded = results.bottleneck.as_ref().filter(|_| has_answers);
    if let Some(told) = loaded.and_then(|bottleneck| overload(bottleneck, &results.streams)) {
        sentences.insert(0, told);
    }
    if let Some(told) = filling::in_words(&results.components) {
        sentences.insert(0, told);
    }
    if !results.complete {
        sentences.insert(0, "INCOMPLETE.".to_owned());
    }
    sentences.join(" ")
}

/// Returns what must be known before any response time, if more is asked for than is sustained.
fn overload(bottleneck: &Bottleneck, streams: &[StreamResults]) -> Option<String> {
    let share = bottleneck.saturates_at.filter(|share| bottleneck.saturated && *share < 1.0)?;
    let kept_up =
        if share < 0.99 { format!("{:.0}", 100.0 * share) } else { format!("{:.1}", 100.0 * share) };
    // Requests that are given up wait no longer than that.
    let is_patient = streams.iter().all(|stream| stream.expired == 0);
    let grows = if is_patient { ", and response times grow for as long as it lasts" } else { "" };
    // What was saved, or still gathers, carried a part of it.
    let most = if bottleneck.unsettled.is_some() { "in the long run at less than" } else { "at" };
    Some(format!(
        "OVERLOADED: requests are answered {most} {kept_up} % of the rate at which they come{grows}."
    ))
}

/// Returns the sentence on the bottleneck and the headroom.
fn limit(bottleneck: &Bottleneck, streams: &[StreamResults]) -> String {
    let what = alike::limit(&bottleneck.group, bottleneck.what.as_deref());
    let later = match () {
        () if bottleneck.held_back => ", idle at times while requests wait",
        () if bottleneck.saturated && bottleneck.utilisation < FULL_LATER => {
            ", and nearly always in the second half"
        }
        () => "",
    };
    let busy = format!("Bottleneck: {what}, {:.0} % busy{later}", bottleneck.utilisation * 100.0);
    let about = match &bottleneck.uneven {
        _ if !bottleneck.estimate || bottleneck.trials.is_some() => "",
        Some(_) => ", by the mean load (estimate)",
        None => " (estimate)",
    };
    // With several streams a factor says nothing without the load that it is a factor of.
    let of = if streams.len() > 1 {
        format!(" the load of {}", listed(&bottleneck.streams))
    } else {
        String::new()
    };
    if let Some(closed) = &bottleneck.closed {
        let train = streams.iter().all(|stream| stream.steps.is_some());
        let more = if train { "more accelerators, or more reads at once," } else { "more in flight" };
        return of_clients(bottleneck, &what, closed, more);
    }
    match bottleneck.saturates_at {
        Some(times) if bottleneck.at_least => format!("{busy}; headroom >{}{of}{about}.", at_least(times)),
        Some(times) if bottleneck.trials.is_some() => format!("{busy}; headroom about {times:.2}×{of}."),
        Some(times) if !bottleneck.saturated => format!("{busy}; headroom {}{of}{about}.", multiple(times)),
        Some(times) => {
            // What a longer run would find busier carries less than it did here.
            let most = if bottleneck.unsettled.is_some() { "below" } else { "at" };
            let of = if streams.len() > 1 { of } else { " this load".to_owned() };
            format!("{busy}: saturated {most} {times:.2}×{of}.")
        }
        None if bottleneck.saturated => format!("{busy}: saturated."),
        None => format!("{busy}."),
    }
}

/// A least multiple of the load: `10×`, `1.04×`.
fn at_least(times: f64) -> String {
    let digits = format!("{times:.2}");
    format!("{}×", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// Multiples beyond this are not told apart.
const MOST_TOLD: f64 = 100.0;

/// A multiple of the load, as tables write it.
fn multiple(times: f64) -> String {
    if times > MOST_TOLD { ">100×".to_owned() } else { format!("{times:.2}×") }
}

/// What limits clients that wait for answers, and what more of them would bring: one component is always the busiest, so that it is
/// busy says little.
fn of_clients(bottleneck: &Bottleneck, what: &str, closed: &ClosedLoad, more: &str) -> String {
    let busy = format!("{what}, {:.0} % busy", bottleneck.utilisation * 100.0);
    let limit = match closed.clients {
        1 => format!("Latency-bound (one request in flight): {busy}"),
        clients => format!("Bottleneck: {busy} with {clients} clients"),
    };
    let about = if bottleneck.estimate { " (estimate)" } else { "" };
    let more = match closed.by_idle_time {
        None => return format!("{limit}."),
        Some(most) if bottleneck.utilisation < SATURATED => {
            format!("{more} could raise throughput{}", by_how_much(bottleneck, closed, most, about))
        }
        Some(_) => match &bottleneck.not_proportional {
            Some(varies) => {
                let own = *varies == bottleneck.component;
                let what = if own { "it".to_owned() } else { alike::limit(varies, None) };
                format!("a deeper queue would mostly add waiting time{}", unless(&what))
            }
            None => "a deeper queue would only add waiting time".to_owned(),
        },
    };
    format!("{limit}; {more}.")
}

/// Returns by how much more requests in flight could raise throughput, if the time without work were used.
fn by_how_much(bottleneck: &Bottleneck, closed: &ClosedLoad, most: f64, about: &str) -> String {
    if closed.at_most.is_none() {
        let or_more = ", or more where it needs less time per request when more are waiting";
        return format!(" {}{}", multiple(most), if most > MOST_TOLD { "" } else { or_more });
    }
    let most = if most > MOST_TOLD { String::new() } else { format!(" {}", multiple(most)) };
    let varies = bottleneck.not_proportional.as_ref();
    let unless = varies.map(|varies| unless(&alike::limit(varies, None))).unwrap_or_default();
    let at_most = if most.is_empty() { "" } else { " at most" };
    format!("{at_most}{most}{about}{unless}")
}

/// Returns what would make more requests in flight worth more than utilisation tells.
fn unless(what: &str) -> String {
    format!(", unless {what} needs less time per request when more are waiting")
}

/// Returns a sentence for each stream, or one for many and one for the slowest of them.
fn streams(all: &[StreamResults]) -> Vec<String> {
    if all.len() <= MOST_STREAMS {
        return all.iter().map(stream).collect();
    }
    let sum = |of: fn(&StreamResults) -> f64| all.iter().map(of).sum::<f64>();
    let (rate, bytes) = (sum(|stream| stream.requests_per_s), sum(|stream| stream.bytes_per_s));
    let together = format!(
        "{} streams: {:.4} requests/s ({}) together.",
        all.len(),
        Significant(rate),
        BytesPerSecond(bytes)
    );
    let slowest = all.iter().max_by(|a, b| a.response.mean_ms.total_cmp(&b.response.mean_ms));
    std::iter::once(together).chain(slowest.map(|it| format!("The slowest is {}", stream(it)))).collect()
}

/// Names in a sentence; of many their number.
fn listed(names: &[String]) -> String {
    match names {
        many if many.len() > MOST_STREAMS => format!("{} streams", many.len()),
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

fn stream(stream: &StreamResults) -> String {
    if stream.response.count == 0 {
        return format!("{}: no request was answered{}.", stream.name, lost(stream));
    }
    let fed = stream.steps.as_ref().and_then(training);
    let checkpoints = stream.steps.as_ref().and_then(checkpoints);
    // Of those that only write checkpoints, these are the answer.
    let (first, then) = if fed.is_none() { (checkpoints, None) } else { (None, checkpoints) };
    let first = first.map_or_else(String::new, |told| format!("checkpoints {told}; "));
    let said = format!(
        "{}: {first}{}, {}{}{}.",
        stream.name,
        throughput(stream),
        times(&stream.response),
        by_operation(stream),
        lost(stream),
    );
    let then = then.map(|told| format!("Checkpoints {told}."));
    let said = fed.into_iter().chain(then).fold(said, |said, sentence| format!("{said} {sentence}"));
    match &stream.measured {
        None => said,
        Some(measured) => format!("{said} {}", against(&measured.all)),
    }
}

/// From this error on, the trace is of another system: how far off the simulation is would say nothing of a model.
const OF_ANOTHER_SYSTEM: f64 = 100.0;

/// Returns how the simulation of a trace compares with the response times in it.
fn against(measured: &Comparison) -> String {
    let (mean, error) = (Nanos::from_ms(measured.measured_mean_ms), measured.mean_error_percent);
    if error >= OF_ANOTHER_SYSTEM {
        return format!("Measured: mean {mean}; simulated, it is {} as long.", multiple(1.0 + error / 100.0));
    }
    format!(
        "Measured: mean {mean}; the simulation is {error:+.1} % off, demerit {:.1} %.",
        measured.demerit_percent
    )
}

/// Returns the response times of a stream's flushes.
fn flushes(stream: &StreamResults) -> Option<&ResponseResults> {
    stream.operations.get(Operation::Block(Op::Flush).name())
}

/// Returns how many requests are answered, and how much data; flushes apart, which have none.
fn throughput(stream: &StreamResults) -> String {
    let flushed = flushes(stream).map_or(0, |response| response.count);
    let share = flushed as f64 / stream.response.count as f64;
    let (flushes, others) = (stream.requests_per_s * share, stream.requests_per_s * (1.0 - share));
    // Sessions of cartridges have a time and no size.
    let bytes = match stream.bytes_per_s > 0.0 {
        true => format!(" ({})", BytesPerSecond(stream.bytes_per_s)),
        false => String::new(),
    };
    let flushes = match flushed {
        0 => String::new(),
        _ => format!(" and {:.4} flushes/s", Significant(flushes)),
    };
    format!("{:.4} requests/s{bytes}{flushes}", Significant(others))
}

/// Returns the mean and the 99th percentile of response times, to the digits that the run supports.
fn times(response: &ResponseResults) -> String {
    let is_trusted = response.interval.as_ref().is_some_and(|interval| interval.trusted);
    let sure = match response.half_width_ms {
        Some(half) if is_trusted && response.mean_ms > 0.0 => within(half / response.mean_ms),
        _ => String::new(),
    };
    // Where the interval cannot be trusted and is not shown, the number of digits says how sure the times are.
    let unsure = response.half_width_ms.map_or(UNKNOWN, |half| half / response.mean_ms);
    let time = |ms: f64| match is_trusted {
        true => Nanos::from_ms(ms).to_string(),
        false => rounded(ms, unsure * ms),
    };
    let late = response.quantiles_ms.iter().find(|quantile| quantile.share == 0.99);
    format!("mean {}{sure}, p99 {}", time(response.mean_ms), time(late.map_or(0.0, |quantile| quantile.ms)))
}

/// Returns the times of reads, of writes and of flushes, if the stream mixes them.
fn by_operation(stream: &StreamResults) -> String {
    let all =
        [("reads", stream.reads.as_ref()), ("writes", stream.writes.as_ref()), ("flushes", flushes(stream))];
    let answered = all.iter().filter_map(|(name, response)| Some((name, (*response)?)));
    answered
        .filter(|(_, response)| response.count > 0)
        .map(|(name, response)| format!("; {name}: {}", times(response)))
        .collect()
}

/// Returns which share of the requests was lost, and how.
fn lost(stream: &StreamResults) -> String {
    let counts = [("dropped", stream.dropped), ("expired", stream.expired), ("failed", stream.failed)];
    let share = |count: u64| Significant(stream.percent_of_ended(count));
    let lost = counts.iter().filter(|(_, count)| *count > 0);
    lost.map(|(how, count)| format!("; {:.2} % of requests {how}", share(*count))).collect()
}

/// Returns the sentence on how well accelerators are fed; nothing of those that read nothing.
fn training(steps: &StepResults) -> Option<String> {
    let rate = Significant(steps.samples_per_s);
    let starts = starts(steps);
    Some(match (steps.au, steps.stall_ms) {
        (Some(au), stall) => format!(
            "Accelerators: {}{:.1} % utilised, {rate:.4} samples/s, {}{starts}.",
            if steps.au_at_most { "at most " } else { "" },
            au * 100.0,
            match Nanos::from_ms(stall.unwrap_or(0.0)) {
                Nanos::ZERO => "no stalls".to_owned(),
                stall => format!("each step stalls for {stall}"),
            }
        ),
        _ if steps.samples_per_s == 0.0 && steps.checkpoints + steps.restores > 0 => return None,
        _ if steps.steps > 0 => format!(
            "Accelerators: {rate:.4} samples/s{starts}. Every step was the first of an epoch or after a checkpoint: no utilisation."
        ),
        _ => format!("Accelerators: {rate:.4} samples/s."),
    })
}

/// Returns how large checkpoints were, and how long they took, if there were any.
fn checkpoints(steps: &StepResults) -> Option<String> {
    let took = |how: &str, ms: f64| {
        let rate = BytesPerSecond(steps.checkpoint_bytes / (ms * 1e-3).max(1e-9));
        format!("{how} in {} ({rate})", Nanos::from_ms(ms))
    };
    let share = match steps.checkpoint_share {
        share if share >= MUCH => format!(", {:.0} % of the time", share * 100.0),
        _ => String::new(),
    };
    let parts = [("written", steps.checkpoint_ms), ("read back", steps.restore_ms)];
    let mut told: Vec<_> = parts.into_iter().filter_map(|(how, ms)| Some(took(how, ms?))).collect();
    if let (Some(written), Some(mean)) = (told.first_mut(), steps.checkpoint_ms) {
        let longest = steps.longest_checkpoint_ms.filter(|longest| *longest > (1.0 + MUCH) * mean);
        written.push_str(&longest.map_or_else(String::new, |ms| format!(", {} at most", Nanos::from_ms(ms))));
        written.push_str(&share);
    }
    let size = Bytes(steps.checkpoint_bytes as u64);
    (!told.is_empty()).then(|| format!("of {size}: {}", told.join(", ")))
}

/// Returns what steps for which nothing is prefetched add, where that is not little: utilisation and stalls leave them out.
fn starts(steps: &StepResults) -> String {
    match steps.start_ms {
        Some(stall_ms) if steps.start_share >= MUCH => format!(
            "; this leaves out the first step of an epoch, or after a checkpoint, which stalls for {}: {:.0} % of the time",
            Nanos::from_ms(stall_ms),
            steps.start_share * 100.0
        ),
        _ => String::new(),
    }
}

/// The share of time from which on first steps are not little.
const MUCH: f64 = 0.1;

/// The share of a mean that it may be off by, where a run was too short for any interval.
const UNKNOWN: f64 = 0.1;

/// A time without the digits that lie below the second of its uncertainty; at least the first digit stays.
fn rounded(ms: f64, uncertainty: f64) -> String {
    if ms <= 0.0 || uncertainty <= 0.0 {
        return Nanos::from_ms(ms).to_string();
    }
    let below = libm::floor(libm::log10(uncertainty)) - 1.0;
    let step = libm::pow(10.0, below.min(libm::floor(libm::log10(ms))));
    let written = Nanos::from_ms(libm::round(ms / step) * step).to_string();
    match written.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_of_more_than_a_hundred_are_not_counted() {
        assert_eq!([1.4512, 100.0, 100.1, 1.2e9].map(multiple), ["1.45×", "100.00×", ">100×", ">100×"]);
    }

    #[test]
    fn digits_end_where_the_uncertainty_begins() {
        let written = rounded;
        assert_eq!(written(76_918.4, 35_724.0), "77 s");
        assert_eq!(written(30.158, 0.19), "30.16 ms");
        assert_eq!(written(30.158, 3.1), "30.2 ms");
        assert_eq!(written(8.007, 0.21), "8.01 ms", "no zero stands for a digit that is not known");
        assert_eq!(written(5.2, 80.0), "5 ms", "wider than itself: one digit");
    }
}
