//! What a reader must know before trusting results.

use std::collections::{BTreeMap, BTreeSet};

use headrace_stats::{Interval, Method};
use headrace_trace::Replay;
use headrace_units::{Nanos, PerSecond};
use headrace_work::NodeId;
use headrace_workload::PatternSpec;

use super::components::{FARTHEST_ESTIMATE, LITTLE, changes, ends_early, lacks};
use super::response::cuts_off;
use super::steadiness::falls_behind;
use super::{Bottleneck, MOST_STREAMS, StreamResults, filling, trials};
use crate::alike;
use crate::faults::Moment;
use crate::plan::{Plan, StreamPlan};
use crate::run::{End, Outcome, StreamOutcome};
use crate::significant::{Count, Significant};
use crate::spec::{DEFAULT_REQUESTS, WarmUp};

/// Returns the note on replications of a recording.
const SAME_REQUESTS: &str =
    "replications replay the same requests: intervals cover only the randomness within components";

/// Bytes of a sector of a disk.
const SECTOR: u64 = 512;

/// The notes on all replications of a plan.
pub(super) fn of(
    plan: &Plan,
    outcomes: &[Outcome],
    streams: &[StreamResults],
    bottleneck: Option<&Bottleneck>,
) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(endings(plan, outcomes));
    notes.extend(outcomes.first().into_iter().flat_map(|outcome| not_reached(plan, outcome)));
    notes.extend(outcomes.first().into_iter().flat_map(|outcome| untrained(plan, outcome)));
    notes.extend(streams.iter().filter_map(few_steps));
    notes.extend(streams.iter().filter_map(unfinished_checkpoint));
    notes.extend(steadiness(plan, outcomes));
    notes.extend(beginning(plan));
    notes.extend(unsplit(plan));
    notes.extend(untrusted(plan, streams));
    notes.extend(of_few(outcomes.len()));
    notes.extend(known_within(plan));
    notes.extend(limits(bottleneck));
    notes.extend(plan.streams.iter().filter_map(|stream| curve(stream, outcomes)));
    notes.extend(
        bottleneck.and_then(|of| bursts(plan, streams, of).filter(|_| !is_saved_for(plan, outcomes, of))),
    );
    notes.extend(behind(plan, outcomes, bottleneck));
    notes.extend(mixture(plan, outcomes));
    notes.extend(lacking(plan, outcomes, bottleneck));
    notes.extend(filling::note(plan, outcomes));
    notes.extend(of_components(plan));
    notes.extend(of_health(plan, outcomes));
    notes.extend(
        outcomes.first().into_iter().flat_map(|outcome| alike::remarks(&plan.graph, &outcome.remarks)),
    );
    notes.extend(priorities(plan));
    notes.extend(in_step(plan));
    notes.extend(plan.streams.iter().filter_map(within_a_sector));
    notes.extend(unanswered(streams));
    notes.extend(of_traces(plan, outcomes, streams));
    notes.extend(unused_requests(plan));
    notes.extend(of_logs(plan, outcomes.len()));
    notes.dedup();
    notes
}

/// Why replications ended before they were done, and how many were not begun.
fn endings(plan: &Plan, outcomes: &[Outcome]) -> Vec<String> {
    let asked = plan.replications() as usize;
    let early = outcomes.iter().filter_map(|outcome| ending(outcome, plan));
    let missing =
        (outcomes.len() < asked).then(|| format!("{} of {asked} replications were run", outcomes.len()));
    early.chain(missing).collect()
}

/// Returns a note if a replay is longer than the number of requests that the scenario asks for.
fn unused_requests(plan: &Plan) -> Option<String> {
    let asked = plan.run().requests.filter(|asked| *asked != DEFAULT_REQUESTS)?;
    let recorded: u64 = plan.streams.iter().map(StreamPlan::recorded).sum::<Option<u64>>()?;
    (asked < recorded).then(|| {
        let (recorded, asked) = (Count(recorded), Count(asked));
        format!(
            "`run.requests` does not shorten a replay: all {recorded} requests are there; to read the first {asked}, write `first` beside the file"
        )
    })
}

/// Which training had epochs left when that of another stream ended the run.
fn untrained(plan: &Plan, outcome: &Outcome) -> Vec<String> {
    let trainings = || {
        plan.streams.iter().zip(&outcome.streams).filter_map(|(stream, found)| {
            let steps = stream.spec.steps().filter(|steps| steps.epochs.is_some())?;
            Some((&stream.name, found.steps.trained == u64::from(steps.accelerators)))
        })
    };
    let Some((ended, _)) = trainings().find(|(_, is_trained)| *is_trained) else { return Vec::new() };
    let left = trainings().filter(|(_, is_trained)| !is_trained);
    left.map(|(name, _)| format!("the last epoch of `{ended}` ended the run: `{name}` had epochs left"))
        .collect()
}

/// Says that the rate of a short run leaves out the checkpoint during which it ended.
fn unfinished_checkpoint(stream: &StreamResults) -> Option<String> {
    let steps =
        stream.steps.as_ref().filter(|steps| steps.checkpoint_unfinished && steps.samples_per_s > 0.0)?;
    let (name, written) = (&stream.name, steps.checkpoints);
    Some(format!(
        "{name}: the run ended during a checkpoint, whose time its {:.4} samples/s leave out ({written} ended): in a longer \
         run they are fewer",
        Significant(steps.samples_per_s)
    ))
}

/// That accelerators made so few steps that their utilisation says little of storage.
fn few_steps(stream: &StreamResults) -> Option<String> {
    let steps = stream.steps.as_ref().filter(|steps| steps.au_at_most)?;
    steps.au?;
    Some(format!(
        "{}: {:.0} % of the steps had their batches fetched during the first one, which is not counted: if storage limits \
         the accelerators, their utilisation is lower in a longer run, with more samples in an epoch",
        stream.name,
        steps.prefetched_share * 100.0
    ))
}

fn ending(outcome: &Outcome, plan: &Plan) -> Option<String> {
    let limits = &plan.run().limits;
    Some(match outcome.end {
        End::Done | End::TimeUp => return None,
        End::Idle if outcome.waiting.is_empty() => "the run ended early: no more events".to_owned(),
        End::Idle => {
            format!("the run ended early, as nothing more can happen: {}", outcome.waiting.join("; "))
        }
        End::TimeStandsStill => stands_still(outcome, plan),
        End::TooFar => "the run ended early, after 146 simulated years".to_owned(),
        End::TooManyInFlight => format!(
            "overloaded: more than {} requests were in flight (limits.in_flight); the results cover only the beginning",
            Count(limits.in_flight)
        ),
        End::TooManyParts => format!(
            "overloaded: more than {} parts of requests were in flight (limits.parts); the results cover only the beginning",
            Count(limits.parts)
        ),
        End::TooManyEvents => format!("cut short after {} events (limits.events)", Count(limits.events)),
        End::TooLong => format!("cut short after {} of real time (limits.wall_time)", limits.wall_time),
        End::TraceLost => {
            "cut short because a trace could no longer be read as before the run: did it change?".to_owned()
        }
        End::Cancelled => "interrupted: the results cover the requests completed so far".to_owned(),
    })
}

/// Reports what a run that was not cut short ended before: its time or its requests, where both were given, and faults.
fn not_reached(plan: &Plan, outcome: &Outcome) -> Vec<String> {
    let finished: u64 = outcome.streams.iter().map(StreamOutcome::finished).sum();
    let length = match (outcome.end, plan.run().time, plan.run().requests) {
        (End::Done, Some(time), _) => Some(format!(
            "the run ended after {} requests, at {}, before its `time` of {time}",
            Count(finished),
            outcome.ended_at
        )),
        (End::TimeUp, Some(time), Some(requests)) => Some(format!(
            "the run ended at its `time` of {time}, after {} of its {} requests",
            Count(finished),
            Count(requests)
        )),
        _ => None,
    };
    let reached = |moment: &Moment| match moment {
        Moment::At(time) => *time <= outcome.ended_at,
        Moment::After(moment) => moment.after <= finished,
    };
    let faults = plan.spec.faults.iter().flat_map(|fault| {
        let moments = fault.moments().into_iter().filter(|(_, moment)| !reached(moment));
        moments.map(|(event, moment)| format!("{} {event} {moment}", fault.component))
    });
    let faults: Vec<String> = faults.collect();
    let missed = (!faults.is_empty()).then(|| {
        let (ended_at, faults) = (outcome.ended_at, faults.join(", "));
        let clocks: String = plan.streams.iter().filter_map(of_first_line).collect();
        format!(
            "the run ended at {ended_at}, after {} requests, before these faults: {faults}{clocks}",
            Count(finished)
        )
    });
    length.into_iter().chain(missed).collect()
}

/// Says which time of its log a stream begins with, if that is not 0 s: times of the run count from there.
fn of_first_line(stream: &StreamPlan) -> Option<String> {
    let begins = stream.log.as_ref()?.first_line().filter(|begins| *begins > Nanos::ZERO)?;
    Some(format!(
        "; the run begins with the first line of {}, at {begins} of its log (`begins`)",
        stream.name
    ))
}

/// Names the stream for which time stands still, and the fields that would give its requests time.
fn stands_still(outcome: &Outcome, plan: &Plan) -> String {
    let stream = &plan.streams[outcome.still.unwrap_or_default()];
    let reached = plan.graph.reached(stream.target);
    let mut groups = BTreeSet::new();
    // Alike components have the same fields.
    let first =
        reached.iter().map(|id| &plan.graph.nodes[id.index()]).filter(|node| groups.insert(node.group));
    let fields = first.flat_map(|node| {
        let name = &plan.graph.groups[node.group as usize];
        node.plan.theory().time_fields().iter().map(move |field| format!("`{field}` of `{name}`"))
    });
    let think = format!("`think` in `workload.{}.arrivals.closed`", stream.name);
    let fields: Vec<String> = fields.chain([think]).collect();
    format!(
        "cut short at {}, where time stands still: requests of `{}` take no time, and its clients send the next at once; set {}",
        outcome.ended_at,
        stream.name,
        fields.join(" or ")
    )
}

/// Says that no steady state was found, or that a run is too short to find one, and the fix.
fn steadiness(plan: &Plan, outcomes: &[Outcome]) -> Vec<String> {
    let drifting = outcomes.iter().filter(|outcome| !outcome.steady).count();
    let drifts = match outcomes.len() {
        _ if drifting == 0 => None,
        1 => Some("response times still drift in the middle of the run, and no warm-up was discarded"),
        _ => Some("the averages of all replications still drift in the second half, the part that was kept"),
    };
    let drifts = drifts.map(|found| format!("no steady state was found: {found}; {}", steadier(plan)));
    let too_short = outcomes.iter().any(|outcome| outcome.too_short);
    let discarded = outcomes.iter().any(|outcome| outcome.warm_up > Nanos::ZERO);
    let short = too_short.then(|| match discarded {
        false => "the run is too short to determine its warm-up, so nothing was discarded".to_owned(),
        true => {
            "a stream has too few completed requests to determine its warm-up: that of the other streams was discarded"
                .to_owned()
        }
    });
    drifts.into_iter().chain(short).collect()
}

/// Returns advice for a run without a steady state. Streams that wait for answers overload nothing.
fn steadier(plan: &Plan) -> &'static str {
    let has_epochs = |stream: &StreamPlan| stream.spec.steps().is_some_and(|steps| steps.epochs.is_some());
    if plan.streams.iter().any(|stream| stream.is_open() || stream.spec.outstanding.is_some()) {
        "run longer, or lower the load: the system may be overloaded"
    } else if plan.streams.iter().any(has_epochs) {
        "train for more `epochs`"
    } else {
        "run longer"
    }
}

/// Whose beginning is kept, and what intervals then cover.
fn beginning(plan: &Plan) -> Option<String> {
    let kept = plan.run().warm_up == WarmUp::None && plan.streams.iter().any(|stream| !stream.is_recorded());
    kept.then(|| {
        "`warm_up: none` keeps the beginning of the run, when the system is empty: means and intervals apply to runs of this \
         length, not to the steady state"
            .to_owned()
    })
}

/// Why a run is not split although its scenario asks for that.
fn unsplit(plan: &Plan) -> Option<String> {
    let several = (plan.run().split && plan.run().replications > 1)
        .then(|| "several replications share processors as they are".to_owned());
    let why = plan.split.refused.clone().or(several)?;
    Some(format!("the run was not split (`run.split`): {why}"))
}

/// The streams whose interval cannot be trusted, and why; of many their number.
fn untrusted(plan: &Plan, streams: &[StreamResults]) -> Vec<String> {
    let method = |stream: &StreamResults| {
        stream.response.interval.as_ref().filter(|interval| !interval.trusted).map(|interval| interval.method)
    };
    let of_one = |(own, stream): (&StreamPlan, &StreamResults)| {
        let is_cut_off = cuts_off(stream.in_flight, stream.response.count) && !own.is_recorded();
        Some((stream.name.clone(), method(stream)?, own.is_recorded(), is_cut_off))
    };
    let all: Vec<(String, Method, bool, bool)> =
        plan.streams.iter().zip(streams).filter_map(of_one).collect();
    let note = |whose: &str, method: Method, is_recorded: bool, is_cut_off: bool| {
        let why = match method {
            _ if is_cut_off => {
                "many requests were in flight at its end, and most of these are slow; run longer"
            }
            // A recording has no more requests than it has.
            Method::BatchMeans if is_recorded => "successive batches are still correlated, or too few",
            Method::BatchMeans => {
                "successive batches are still correlated, or too few; run longer or use replications"
            }
            Method::Replications => {
                "each replication is too short to outweigh its empty start; make them longer"
            }
        };
        format!("{whose}: the interval cannot be trusted: {why}")
    };
    match &all[..] {
        many @ [(_, method, ..), ..] if many.len() > MOST_STREAMS => {
            let are_recorded = many.iter().all(|(.., is_recorded, _)| *is_recorded);
            let are_cut_off = many.iter().all(|(.., is_cut_off)| *is_cut_off);
            vec![note(&format!("{} streams", many.len()), *method, are_recorded, are_cut_off)]
        }
        few => few.iter().map(|(name, method, recorded, cut)| note(name, *method, *recorded, *cut)).collect(),
    }
}

/// That results are of the values that are written, where some are known only within bounds.
fn known_within(plan: &Plan) -> Option<String> {
    let fields: Vec<String> = plan.spec.uncertain.keys().map(|path| format!("`{path}`")).collect();
    let (first, more) = fields.split_first()?;
    let more =
        if more.is_empty() { String::new() } else { format!(" and {} more", Count(more.len() as u64)) };
    Some(format!(
        "results are of the values as written: their intervals do not cover the bounds that `uncertain` has for {first}{more}"
    ))
}

/// That intervals are wide because replications are few, and what more would do; none where there are enough, or only one.
pub fn of_few(replications: usize) -> Option<String> {
    (2..=FEW).contains(&replications).then(|| {
        let narrower = Interval::half_width_of(replications) / Interval::half_width_of(ENOUGH);
        format!(
            "intervals are wide because they come from only {replications} replications; {ENOUGH} would make them about \
             {narrower:.0} times narrower"
        )
    })
}

/// Replications that are few, at most; and the number from which on intervals are little wider than they have to be.
const FEW: usize = 3;
const ENOUGH: usize = 5;

/// Returns the note on headroom.
fn limits(bottleneck: Option<&Bottleneck>) -> Option<String> {
    let of = bottleneck?;
    match (of.saturated, of.saturates_at) {
        (true, Some(_)) => Some(format!(
            "{} is overloaded: response times grow with run length and are not steady-state",
            alike::limit(&of.component, of.what.as_deref())
        )),
        (false, Some(_)) if of.estimate => {
            let why = why_estimated(of);
            let known = match &of.trials {
                Some(found) => {
                    format!("headroom is measured, since {why}: {}", trials::in_words(found, of.at_least))
                }
                None => {
                    format!("headroom is an estimate: {why}; `headrace capacity` finds the sustainable load")
                }
            };
            Some(known + if of.cut_off { CUT_OFF } else { "" })
        }
        (false, None) if of.closed.is_none() && of.unsettled.is_some() => {
            let busier = alike::limit(of.unsettled.as_ref()?, None);
            Some(format!("no headroom is given, since a longer run would find {busier} busier"))
        }
        (false, None) if of.keeps_up => Some(format!(
            "no headroom is given, since {} is never idle and yet keeps up: it serves together what waits, or background work fills its idle \
             time; `headrace capacity` finds the sustainable load",
            alike::limit(&of.component, of.what.as_deref())
        )),
        _ => None,
    }
}

/// What a note on headroom ends with if a limit ended the simulations.
const CUT_OFF: &str = "; `limits.wall_time` or an interrupt ended the simulations that measure it, and another run may find more or less";

/// Returns why utilisation does not say how much more load there can be.
fn why_estimated(of: &Bottleneck) -> String {
    let other = of.not_proportional.as_ref().filter(|varies| **varies != of.component);
    let (own, other) = (alike::limit(&of.component, None), other.map(|path| alike::limit(path, None)));
    match (other, &of.uneven) {
        _ if of.background > LITTLE && of.trials.is_none() => {
            format!("{own} rebuilds, scrubs or copies beside requests, more slowly under more load")
        }
        _ if of.at_least && of.trials.is_none() && of.saturates_at < Some(FARTHEST_ESTIMATE) => {
            format!("{own} mostly writes back, and needs less work per write under more load")
        }
        (Some(varies), _) => {
            format!("the same requests use {varies}, whose utilisation is not proportional to the load")
        }
        (None, Some(stream)) if of.not_proportional.is_none() => {
            format!("the load of {stream} varies with time, and headroom is by its mean")
        }
        _ => format!("the utilisation of {own} is not proportional to the load"),
    }
}

/// Which part of the curve of a stream's rate the results cover.
fn curve(stream: &StreamPlan, outcomes: &[Outcome]) -> Option<String> {
    let (curve, name) = (stream.curve()?, &stream.name);
    let ended_at = outcomes.iter().map(|outcome| outcome.ended_at).min()?;
    let (length, what) = (curve.length(), if curve.period.is_some() { "period" } else { "curve" });
    Some(if ended_at < length {
        format!(
            "{name}: the run ended at {ended_at}, before the {what} of its rate was over, at {length}; increase `run.time`"
        )
    } else {
        format!(
            "{name}: its rate varies with time, so results cover the whole run, and no warm-up is discarded"
        )
    })
}

/// That a stream comes faster at times than the bottleneck sustains beside the others there, or what is left at the largest rate of a curve.
/// Each request of theirs counts as much work.
fn bursts(plan: &Plan, streams: &[StreamResults], of: &Bottleneck) -> Option<String> {
    let times = of.saturates_at.filter(|_| of.uneven.is_some())?;
    let there = || plan.streams.iter().filter(|stream| of.streams.contains(&stream.name));
    let (stream, most) = there().find_map(|stream| {
        Some((stream, stream.spec.arrivals.largest_rate().filter(|_| stream.varies())?))
    })?;
    let found = |stream: &StreamPlan| streams.iter().find(|found| found.name == stream.name);
    let name = &stream.name;
    // Headroom is that of a curve's mean in this run, and of bursts as they come in the long run.
    let (mean, what, is_curve) = match stream.curve() {
        Some(_) => (found(stream)?.requests_per_s, "requests", true),
        None => (stream.spec.arrivals.mean_rate()?, "bursts", false),
    };
    let others = there().filter(|other| other.name != *name).filter_map(found);
    let others: f64 = others.map(|other| other.requests_per_s).sum();
    let sustained = (mean + others) * times - others;
    if is_curve && most <= sustained {
        let (most, left) = (PerSecond(most), (mean + others) * times / (most + others));
        let bound = if of.at_least { "above " } else { "" };
        let about = if others > 0.0 { "about " } else { "" };
        return Some(format!("at the highest rate of {name}, {most}, headroom is {about}{bound}{left:.2}×"));
    }
    let at = if is_curve { "at up to" } else { "at" };
    let beside = if others > 0.0 { " beside the other streams" } else { "" };
    (most > sustained && !of.at_least).then(|| {
        format!(
            "{what} of {name} come {at} {}, more than the {} that {} sustains{beside}: queues grow while they last",
            PerSecond(most),
            PerSecond(sustained.max(0.0)),
            alike::limit(&of.component, None)
        )
    })
}

/// Returns true if the bottleneck is a limit of a component for which no request waited: what was saved before a burst covers it.
fn is_saved_for(plan: &Plan, outcomes: &[Outcome], of: &Bottleneck) -> bool {
    let node = plan.graph.nodes.iter().find(|node| node.path == of.component);
    node.and_then(|node| node.within.filter(|_| node.plan.theory().features().limits_rate)).is_some_and(
        |whole| {
            let waits = |outcome: &Outcome| outcome.components[whole.index()].reading.queue > 0.0;
            !outcomes.iter().any(waits)
        },
    )
}

/// Requests that pile up though no component is always busy.
fn behind(plan: &Plan, outcomes: &[Outcome], bottleneck: Option<&Bottleneck>) -> Option<String> {
    let hidden =
        bottleneck.filter(|of| !of.saturated || of.held_back).filter(|_| falls_behind(plan, outcomes));
    hidden.map(|of| {
        let none = if of.saturated { "" } else { ", so no headroom is given" };
        format!(
            "requests arrive faster than they complete, although no component is always busy: a limit holds them back (see where \
             their time went){none}"
        )
    })
}

/// A replay that ended long before other streams.
fn mixture(plan: &Plan, outcomes: &[Outcome]) -> Option<String> {
    let (stream, end, last) = ends_early(plan, outcomes)?;
    Some(format!(
        "{}: its replay ended after {end} of {last}: results mix the time with it and the time without it, and no headroom is given; end the \
         run with it (`run.time`)",
        stream.name
    ))
}

/// Requests that waited for space.
fn lacking(plan: &Plan, outcomes: &[Outcome], bottleneck: Option<&Bottleneck>) -> Option<String> {
    let (id, share) = lacks(plan, outcomes)?;
    bottleneck.filter(|of| !of.saturated)?;
    Some(format!(
        "requests waited for space in {} for {:.0} % of the time, which utilisation does not show, so no headroom is given",
        plan.graph.nodes[id.index()].path,
        share * 100.0
    ))
}

/// Returns the notes of components on their streams, those of streams to alike copies once.
pub fn of_components(plan: &Plan) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for stream in &plan.streams {
        let view = plan.graph.view(stream.target);
        let note = view.note(&stream.load()).map(|note| note.replace(view.name(), view.group_name()));
        notes.extend(note.filter(|note| !notes.contains(note)));
    }
    notes
}

/// Returns the notes on components that do not work at the end of the run, and on phases.
fn of_health(plan: &Plan, outcomes: &[Outcome]) -> Vec<String> {
    let Some(outcome) = outcomes.first() else { return Vec::new() };
    let in_state = |state: &str| -> Vec<NodeId> {
        let all = plan.graph.ids().zip(&outcome.components);
        let found = all.filter(|(_, component)| component.state == Some(state)).map(|(id, _)| id);
        // A route fails with what it leads to.
        found.filter(|id| plan.graph.nodes[id.index()].leads_to.is_none()).collect()
    };
    let mut notes = Vec::new();
    if outcome.phases.len() > 1 {
        let headroom = if changes(outcomes) { ", no headroom is given" } else { "" };
        notes.push(format!(
            "health changes during the run: totals mix all `phases`{headroom}, and no warm-up is discarded"
        ));
    }
    for (state, says) in [
        ("failed", "failed at the end of the run"),
        ("degraded", "degraded at the end of the run: fewer further failures lose data than when all works"),
        (
            "unavailable",
            "more is out of use at the end of the run than the redundancy tolerates: requests for some data fail until it returns",
        ),
        ("rebuilding", "not yet rebuilt at the end of the run"),
        (
            "lost data",
            "more has failed than the redundancy tolerates: data is lost, and requests for it fail",
        ),
    ] {
        let found = in_state(state);
        if !found.is_empty() {
            notes.push(format!("{}: {says}", alike::listed(&plan.graph, &found)));
        }
    }
    notes
}

/// Priorities that have no effect.
fn priorities(plan: &Plan) -> Vec<String> {
    let heeded = |stream: &StreamPlan| {
        let reached = plan.graph.reached(stream.target);
        reached.iter().any(|id| plan.graph.view(*id).features().has_priorities)
    };
    let idle = plan.streams.iter().filter(|stream| stream.spec.priority > 0 && !heeded(stream));
    idle.map(|stream| {
        format!("{}: `priority` has no effect: no component on its path has priorities", stream.name)
    })
    .collect()
}

/// Sequential streams to one component that begin at the same address: where anything there reads ahead or caches, one finds what another has
/// read.
fn in_step(plan: &Plan) -> Vec<String> {
    let mut begun: BTreeMap<(NodeId, u64), Vec<&str>> = BTreeMap::new();
    let sequential = plan.streams.iter().filter(|stream| stream.spec.pattern == PatternSpec::Sequential);
    for stream in sequential {
        let from = stream.spec.region.map_or(0, |region| region.from.0);
        begun.entry((stream.target, from)).or_default().push(&stream.name);
    }
    let several = begun.into_values().filter(|names| names.len() > 1);
    several
        .map(|names| {
            format!(
                "{}: each begins at the same address and goes on from there, so one may find in a cache what another has read; give each a \
                 `region` if their data is different",
                names.join(", ")
            )
        })
        .collect()
}

/// A region that begins within a sector: all requests of whole sectors touch one sector more.
fn within_a_sector(stream: &StreamPlan) -> Option<String> {
    let from = stream.spec.region?.from;
    let before = from.0 % SECTOR;
    (before > 0).then(|| {
        format!(
            "{}: `region` starts {before} B into a disk sector, so each request touches an extra sector; start at {} B",
            stream.name,
            from.0 - before
        )
    })
}

/// Requests that were not answered for reasons of their own, or were held back.
fn unanswered(streams: &[StreamResults]) -> Vec<String> {
    let mut notes = Vec::new();
    for stream in streams {
        let share = |n: u64| stream.percent_of_ended(n);
        if stream.dropped > 0 {
            let (n, share) = (Count(stream.dropped), share(stream.dropped));
            notes.push(format!("{}: {n} requests ({share:.2} %) were dropped at the limit", stream.name));
        }
        if let Some(blocked) = stream.blocked.filter(|blocked| *blocked >= 0.001) {
            let share = blocked * 100.0;
            notes.push(format!(
                "{}: its source was blocked {share:.1} % of the time (`outstanding`)",
                stream.name
            ));
        }
        if stream.failed > 0 {
            let (n, share) = (Count(stream.failed), share(stream.failed));
            notes.push(format!(
                "{}: {n} requests ({share:.2} %) failed; response times are those of the others",
                stream.name
            ));
        }
        if stream.expired > 0 {
            let (n, share) = (Count(stream.expired), share(stream.expired));
            notes.push(format!(
                "{}: {n} requests ({share:.2} %) expired; response times are those of the others",
                stream.name
            ));
        }
    }
    notes
}

/// Returns the notes on replayed logs of file operations.
fn of_logs(plan: &Plan, replications: usize) -> Vec<String> {
    let same = (replications > 1).then(|| SAME_REQUESTS.to_owned());
    let logs = plan.streams.iter().filter_map(|stream| Some((&stream.name, stream.log.as_ref()?)));
    let first: Vec<_> = logs.clone().filter_map(|(name, log)| Some((name, log.first_line()?))).collect();
    let notes = logs.flat_map(|(name, log)| {
        let all = log.notes().into_iter().chain(same.clone());
        all.map(move |note| format!("{name}: {note}"))
    });
    notes.chain(apart(&first)).collect()
}

/// Returns a note if logs begin at different times: if those are of one clock, they are shifted against each other.
fn apart(first: &[(&String, Nanos)]) -> Option<String> {
    let differ = first.windows(2).any(|pair| pair[0].1 != pair[1].1);
    let told: Vec<String> = first.iter().map(|(name, at)| format!("that of {name} at {at}")).collect();
    differ.then(|| {
        let told = told.join(", ");
        format!("logs begin together, with their first lines: {told} of its own clock; for one clock, set the `begins` of each")
    })
}

/// Returns the notes on replayed traces.
fn of_traces(plan: &Plan, outcomes: &[Outcome], streams: &[StreamResults]) -> Vec<String> {
    let whole = outcomes.iter().all(|outcome| outcome.end.is_complete());
    let mut notes = Vec::new();
    for (stream, plan) in streams.iter().zip(&plan.streams) {
        let Some(trace) = &plan.trace else { continue };
        let mut say = |note: String| notes.push(format!("{}: {note}", stream.name));
        Replay::notes(trace).into_iter().for_each(&mut say);
        if plan.spec.draws_requests() {
            say("a trace has its own operations, sizes and addresses; those of the scenario are ignored"
                .to_owned());
        }
        if outcomes.len() > 1 {
            say(SAME_REQUESTS.to_owned());
        }
        let (issued, all) = (stream.issued, trace.survey.requests * outcomes.len() as u64);
        if whole && issued < all {
            say(format!(
                "the run ended after {} of the trace's {} requests were sent",
                Count(issued),
                Count(all)
            ));
        }
    }
    notes
}
