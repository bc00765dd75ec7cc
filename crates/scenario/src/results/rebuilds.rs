//! What a run says of rebuilds, scrubs, copies, repacks and verification: their rate, when they end, what they cost the foreground, and whether they leave their disks idle.

use headrace_storage::block::paced_work::Precedence;
use headrace_storage::{ComponentSpec, Event};
use headrace_units::{BytesPerSecond, Nanos};

use super::phases::PhaseEvent;
use super::{ComponentResults, PhaseResults, PhaseStreamResults, Results};

/// Below this share of the time, disks are idle rather than busy with a rebuild or a scrub.
const IDLE: f64 = 0.5;

/// From this share on, disks have little time left: with more chunks in flight, a rebuild or a scrub takes time from hosts.
const FULL: f64 = 0.75;

/// Work in the background that ends, such as a rebuild of an array, as the meters of its component have it.
struct RebuildResults<'r> {
    array: &'r ComponentResults,
    kind: &'static RebuildKind,
    /// The share that is done, and how long that took, in s.
    progress: f64,
    took_s: f64,
    /// Bytes that are done.
    bytes: f64,
}

/// A kind of work: its name, its word in events, and the meters of its progress, time and bytes.
struct RebuildKind {
    name: &'static str,
    work: &'static str,
    meters: [&'static str; 3],
}

const KINDS: [RebuildKind; 5] = [
    RebuildKind {
        name: "Rebuild",
        work: "rebuild",
        meters: ["rebuild_progress", "rebuild_s", "rebuilt_bytes"],
    },
    RebuildKind { name: "Scrub", work: "scrub", meters: ["scrub_progress", "scrub_s", "scrubbed_bytes"] },
    RebuildKind { name: "Copy", work: "copy", meters: ["copy_progress", "copy_s", "copied_bytes"] },
    RebuildKind { name: "Repack", work: "repack", meters: ["repack_progress", "repack_s", "repacked_bytes"] },
    RebuildKind {
        name: "Verification",
        work: "verification",
        meters: ["verification_progress", "verification_s", "verified_bytes"],
    },
];

/// The components whose data was rebuilt, scrubbed, copied, repacked or verified, or is being.
fn of(results: &Results) -> impl Iterator<Item = RebuildResults<'_>> {
    results.components.iter().flat_map(move |array| {
        KINDS.iter().filter_map(move |kind| {
            let [progress, took_s, bytes] = kind.meters.map(|name| array.meters.get(name).copied().flatten());
            let (progress, took_s) = (progress?, took_s?);
            let bytes = bytes? / results.replications.max(1) as f64;
            let began = took_s > 0.0 && progress > 0.0;
            began.then_some(RebuildResults { array, kind, progress, took_s, bytes })
        })
    })
}

/// A sentence for each rebuild: rate, end, and response times before it and meanwhile.
pub(super) fn in_words(results: &Results) -> Vec<String> {
    of(results)
        .map(|rebuild| [rebuild.said(&results.phases), rebuild.cost(&results.phases)].concat())
        .collect()
}

/// Notes for each rebuild or scrub: that it keeps none of its disks busy, though nothing but the number of chunks in flight limits it; and
/// that it goes on at tracks that are slower.
pub(super) fn notes(results: &Results) -> Vec<String> {
    of(results).flat_map(|rebuild| rebuild.idle(results).into_iter().chain(rebuild.slows(results))).collect()
}

impl RebuildResults<'_> {
    fn said(&self, phases: &[PhaseResults]) -> String {
        let (path, kind, took) = (&self.array.path, self.kind.name, Nanos::from_secs(self.took_s));
        let rate = BytesPerSecond(self.bytes / self.took_s);
        let left = Nanos::from_secs(self.took_s * (1.0 - self.progress) / self.progress);
        let percent = self.progress * 100.0;
        match self.goes_on(phases).last() {
            _ if self.progress >= 1.0 => format!("{kind} of {path}: {rate}, done in {took}."),
            Some(Some(false)) => format!(
                "{kind} of {path}: {rate}, ended after {took} of work; {percent:.1} % done, the rest is lost or has nowhere to go."
            ),
            // A pool begins where most drives have work for each other, and ends where few have.
            _ if self.array.kind == "pool" && self.kind.work == "rebuild" => format!(
                "{kind} of {path}: {rate}, {percent:.1} % done after {took}; it ends {left} later at the earliest, as the last groups recover \
                 more slowly (`headrace durability` estimates the whole)."
            ),
            _ => format!(
                "{kind} of {path}: {rate}, {percent:.1} % done after {took}; at this rate it ends {left} later."
            ),
        }
    }

    /// Returns whether the work goes on in each phase; `None` until it begins.
    fn goes_on(&self, phases: &[PhaseResults]) -> Vec<Option<bool>> {
        let goes_on = |event: &PhaseEvent| match event.what {
            Event::Begins(work) if work == self.kind.work => Some(true),
            Event::Ends(work) if work == self.kind.work => Some(false),
            _ => None,
        };
        let mut state = None;
        let after = |phase: &PhaseResults| {
            let mut own = phase.events.iter().rev().filter(|event| event.path == self.array.path);
            state = own.find_map(goes_on).or(state);
            state
        };
        phases.iter().map(after).collect()
    }

    /// The mean response of each stream while the work goes on, and before the first fault.
    fn cost(&self, phases: &[PhaseResults]) -> String {
        let goes_on = self.goes_on(phases);
        let during = || {
            phases
                .iter()
                .zip(&goes_on)
                .skip(1)
                .filter(|(_, goes_on)| **goes_on == Some(true))
                .map(|(phase, _)| phase)
        };
        let of_stream = |(at, before): (usize, &PhaseStreamResults)| {
            let all = during()
                .filter_map(|phase| Some((phase.streams[at].mean_ms?, phase.streams[at].completed as f64)));
            let (sum_ms, completed) =
                all.fold((0.0, 0.0), |(sum, many), (mean, of)| (sum + mean * of, many + of));
            let [before_ms, during_ms] =
                [before.mean_ms?, (completed > 0.0).then(|| sum_ms / completed)?].map(Nanos::from_ms);
            Some(format!(" {} meanwhile: mean {during_ms}, {before_ms} {}.", before.name, self.when(phases)))
        };
        let streams = phases.first().map_or(&[][..], |before| &before.streams);
        streams.iter().enumerate().filter_map(of_stream).collect()
    }

    /// Says of when the responses are that those meanwhile are compared with: the time before anything changed, which may end long before the work
    /// begins.
    fn when(&self, phases: &[PhaseResults]) -> &'static str {
        let begins = self.goes_on(phases).iter().position(|goes_on| *goes_on == Some(true));
        let own = |event: &PhaseEvent| matches!(event.what, Event::Begins(work) if work != self.kind.work);
        let others = phases[..begins.unwrap_or(0)].iter().flat_map(|phase| &phase.events).any(own);
        if others { "before any other work began" } else { "before" }
    }

    /// Says that the tracks at which the work began are the fastest. Only mechanical disks keep account of their cache.
    fn slows(&self, results: &Results) -> Option<String> {
        let name = self.kind.name.to_lowercase();
        let ComponentSpec::Array(array) = results.scenario.component(&self.array.written)? else {
            return None;
        };
        let from_outside = name == "rebuild" || array.scrub.is_some_and(|scrub| scrub.position.0 == 0.0);
        let is_limited = !is_unlimited(results, &self.array.written, &name)?;
        let within = format!("{}/", self.array.path);
        let mut parts = results.components.iter().filter(|part| part.path.starts_with(&within));
        let has_tracks = parts.any(|part| part.kind == "disk" && part.meters.contains_key("read_hit_ratio"));
        (from_outside && has_tracks && !is_limited && self.progress < HALF_WAY).then(|| {
            format!(
                "{}: the {name} began at the outer tracks, the fastest: inner ones have about half of their rate on usual disks, \
                 so it ends up to a third later than at this rate",
                self.array.path
            )
        })
    }

    fn idle(&self, results: &Results) -> Option<String> {
        let name = self.kind.name.to_lowercase();
        if !is_unlimited(results, &self.array.written, &name)? {
            return None;
        }
        let share = results.simulated_s / results.replications.max(1) as f64 / self.took_s;
        let uses = || self.array.uses.iter().filter_map(|used| results.components.get(*used as usize));
        let most = |of: &dyn Fn(&ComponentResults) -> Option<f64>| {
            uses().filter_map(of).fold(0.0, |most: f64, busy| most.max(busy))
        };
        let busiest = share * most(&|used| used.utilisation_by_cause.get(name.as_str()).copied());
        let disks_have_time = most(&|used| Some(used.utilisation? + used.stalled.unwrap_or(0.0))) < FULL;
        (busiest > 0.0 && busiest < IDLE && disks_have_time).then(|| {
            format!(
                "{}: the {name} keeps its busiest disk {:.0} % busy: chunks in flight limit it; raise `{name}.in_flight` or `{name}.chunk` \
                 if the real array has more",
                self.array.path,
                busiest * 100.0
            )
        })
    }
}

/// Before this share of the work, little is known of inner tracks. What the note says of usual disks is a rule of thumb: a 24 TB disk of the
/// catalogue has 285 MB/s outside and 132 inside.
const HALF_WAY: f64 = 0.5;

/// Returns true if neither a rate nor a lower priority limits the work of this `name`; `None` where it is not that of an array of `system`.
fn is_unlimited(results: &Results, written: &str, name: &str) -> Option<bool> {
    let ComponentSpec::Array(array) = results.scenario.component(written)? else { return None };
    let (rate, priority) = match name {
        "rebuild" => array.rebuild.map(|spec| (spec.rate, spec.priority)).unwrap_or_default(),
        _ => array.scrub.map(|spec| (spec.rate, spec.priority))?,
    };
    Some(rate.is_none() && priority == Precedence::Equal)
}
