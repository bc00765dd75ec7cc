//! What one replication found, its warm-up left out, and whether it kept the laws that every run must keep.

use headrace_stats::{Distribution, Interval, Pairs, Series, Tally};
use headrace_storage::{Device, Recorded, Site};
use headrace_units::Nanos;

use super::End;
use super::record::{Mark, Record, StreamRecord, Totals};
use crate::plan::Plan;
use crate::spec::WarmUp;

/// What one replication found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it ended.
    pub end: End,
    /// The simulated time it took, warm-up included.
    pub ended_at: Nanos,
    /// The simulated time left out at the beginning.
    pub warm_up: Nanos,
    /// False where no warm-up could be found: too short a run, or no steady state.
    pub steady: bool,
    /// Whether a stream had too few answers to find its warm-up.
    pub too_short: bool,
    /// Of each stream.
    pub streams: Vec<StreamOutcome>,
    /// Of each component.
    pub components: Vec<ComponentOutcome>,
    /// Over time: one point for each segment.
    pub series: Vec<Point>,
    /// How many events happened; none in a recursion.
    pub events: u64,
    /// Laws that were broken, in words. Any one of them means that the results are wrong.
    pub broken: Vec<String>,
}

/// What was found of one stream, after the warm-up.
#[derive(Clone, Debug)]
pub struct StreamOutcome {
    /// Requests made, warm-up included.
    pub born: u64,
    /// Requests answered, warm-up included.
    pub answered: u64,
    /// Requests under way at the end.
    pub in_flight: u64,
    /// Bytes of requests answered.
    pub bytes: u64,
    /// Response times of all requests.
    pub all: SeriesOutcome,
    /// Of reads and of writes, where there are both.
    pub by_op: Option<[SeriesOutcome; 2]>,
    /// Waiting and service along the path, by component, in nanoseconds of all requests together.
    pub legs: Vec<(u128, u128)>,
    /// Measured and simulated responses of all requests, of reads and of writes, for a trace that has them.
    pub measured: Option<Box<[Pairs; 3]>>,
}

/// Response times, after the warm-up.
#[derive(Clone, Debug)]
pub struct SeriesOutcome {
    /// Count, sum, spread.
    pub tally: Tally,
    /// Quantiles.
    pub distribution: Distribution,
    /// The interval of the mean by batch means, in nanoseconds.
    pub interval: Option<Interval>,
}

/// What was found of one component, after the warm-up.
#[derive(Clone, Debug)]
pub struct ComponentOutcome {
    /// Its path.
    pub path: String,
    /// Its kind.
    pub kind: &'static str,
    /// How many servers it has; zero where it has no queue of its own.
    pub servers: u64,
    /// The bytes asked of it.
    pub bytes: u64,
    /// Server-nanoseconds in use.
    pub busy_area: u128,
    /// Request-nanoseconds waited.
    pub queue_area: u128,
    /// Waits of those that were served.
    pub waits: Tally,
    /// Services that ended.
    pub services: Tally,
}

/// One segment of the run.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its end.
    pub time: Nanos,
    /// Requests answered in it, of each stream.
    pub answered: Vec<u64>,
    /// Their mean response in ns, of each stream.
    pub mean_ns: Vec<f64>,
    /// The utilisation of each component in it.
    pub utilisation: Vec<f64>,
}

/// Draws up what a replication found.
pub fn of(plan: &Plan, record: &Record, site: &Site, devices: &[Device], now: Nanos, end: End) -> Outcome {
    let (first, steady) = warm_up(plan, record);
    let traced = plan.streams.iter().any(|stream| stream.trace.is_some());
    let too_short = !traced && record.streams.iter().any(|stream| stream.all.is_short());
    let cut = first.checked_sub(1).map(|segment| &record.marks[segment]);
    let warm_up = cut.map_or(Nanos::ZERO, |mark| mark.time);
    let streams =
        record.streams.iter().enumerate().map(|(i, stream)| stream_outcome(stream, i, first, cut)).collect();
    let all: Vec<&Device> = devices.iter().flat_map(Device::all).collect();
    let components = site.paths().into_iter().zip(&all).enumerate();
    let components: Vec<ComponentOutcome> = components
        .map(|(i, (path, device))| {
            let before = cut.map(|mark| (mark.recorded[i], mark.time));
            component_outcome(path, device.recorded(), before, now)
        })
        .collect();
    let mut broken: Vec<String> = plan
        .streams
        .iter()
        .zip(&record.streams)
        .flat_map(|(plan, stream)| broken_laws(&plan.name, stream, now))
        .collect();
    broken.extend(components.iter().filter_map(|component| overused(component, now - warm_up)));
    broken.extend(lost_bytes(plan, record, devices));
    let series = points(record);
    let events = site.sim.events();
    Outcome { end, ended_at: now, warm_up, steady, too_short, streams, components, series, events, broken }
}

/// The first segment to keep, and whether a warm-up was found. A replayed trace is kept whole: it is held against what
/// was measured, request for request.
fn warm_up(plan: &Plan, record: &Record) -> (usize, bool) {
    if plan.run().warm_up == WarmUp::None || plan.streams.iter().any(|stream| stream.trace.is_some()) {
        return (0, true);
    }
    let found: Option<Vec<usize>> =
        record.streams.iter().map(|stream| stream.all.warm_up_segments()).collect();
    let most = record.streams.iter().map(|stream| stream.all.segments_of_half()).min().unwrap_or(0);
    found.map_or((0, false), |segments| (segments.into_iter().max().unwrap_or(0).min(most), true))
}

fn stream_outcome(stream: &StreamRecord, index: usize, first: usize, cut: Option<&Mark>) -> StreamOutcome {
    let before = cut.map_or_else(Totals::default, |mark| mark.totals[index].clone());
    let since = |at: usize, (waiting, service): (u128, u128)| {
        let (waited, served) = before.legs.get(at).copied().unwrap_or_default();
        (waiting - waited, service - served)
    };
    StreamOutcome {
        born: stream.born,
        answered: stream.all.tally().count(),
        in_flight: stream.in_flight.value(),
        bytes: stream.totals.bytes - before.bytes,
        all: series_outcome(&stream.all, first),
        by_op: stream.by_op.as_ref().map(|by_op| [0, 1].map(|op| series_outcome(&by_op[op], first))),
        legs: stream.totals.legs.iter().enumerate().map(|(at, leg)| since(at, *leg)).collect(),
        measured: stream.measured.clone(),
    }
}

fn series_outcome(series: &Series, first: usize) -> SeriesOutcome {
    SeriesOutcome {
        tally: series.tally_from(first),
        distribution: series.distribution_from(first),
        interval: series.interval_from(first),
    }
}

fn component_outcome(
    path: String,
    recorded: Recorded,
    before: Option<(Recorded, Nanos)>,
    now: Nanos,
) -> ComponentOutcome {
    let usage = recorded.usage.unwrap_or_default();
    let (earlier, then) =
        before.map_or_else(Default::default, |(recorded, then)| (recorded.usage.unwrap_or_default(), then));
    ComponentOutcome {
        path,
        kind: recorded.kind,
        servers: if recorded.usage.is_some() { recorded.servers } else { 0 },
        bytes: recorded.bytes - before.map_or(0, |(recorded, _)| recorded.bytes),
        busy_area: usage.busy.area(now) - earlier.busy.area(then),
        queue_area: usage.queue.area(now) - earlier.queue.area(then),
        waits: usage.waits.since(&earlier.waits),
        services: usage.services.since(&earlier.services),
    }
}

/// What must hold of every stream, whatever the model: nothing is lost, and Little's law to the nanosecond.
fn broken_laws(name: &str, stream: &StreamRecord, now: Nanos) -> Vec<String> {
    let mut broken = Vec::new();
    let (answered, in_flight) = (stream.all.tally().count(), stream.in_flight.value());
    if stream.born != answered + in_flight {
        broken.push(format!(
            "{name}: {} requests made, {answered} answered and {in_flight} under way",
            stream.born
        ));
    }
    let time = stream.all.tally().sum_ns();
    let (area, spent) = (stream.in_flight.area(now), time + stream.age_of_those_under_way(now));
    if area != spent {
        broken.push(format!(
            "{name}: Little's law: {area} request-ns in the system, {spent} ns spent by requests"
        ));
    }
    let on_the_way: u128 = stream.totals.legs.iter().map(|(waiting, service)| waiting + service).sum();
    if on_the_way != time {
        broken.push(format!("{name}: responses take {time} ns, and the legs of their paths {on_the_way} ns"));
    }
    broken
}

/// A component in use for more than the time there was.
fn overused(component: &ComponentOutcome, time: Nanos) -> Option<String> {
    let most = u128::from(component.servers) * u128::from(time.0);
    (component.busy_area > most)
        .then(|| format!("{}: in use for {} server-ns of {most}", component.path, component.busy_area))
}

/// Bytes that were asked for and did not arrive: each target sees what its streams ask, and the disks of an array together
/// what the array hands on.
fn lost_bytes(plan: &Plan, record: &Record, devices: &[Device]) -> Vec<String> {
    let mut lost = Vec::new();
    for (target, (device, (name, _))) in devices.iter().zip(&plan.targets).enumerate() {
        let streams = plan.streams.iter().zip(&record.streams).filter(|(stream, _)| stream.target == target);
        let asked: u64 = streams.map(|(_, stream)| stream.born_bytes).sum();
        if asked != device.recorded().bytes {
            lost.push(format!(
                "{name}: its streams asked for {asked} bytes, and it saw {}",
                device.recorded().bytes
            ));
        }
        for array in device.all() {
            let parts: u64 = array.parts().iter().map(|part| part.recorded().bytes).sum();
            if let Some(handed_on) = array.recorded().handed_on.filter(|handed_on| *handed_on != parts) {
                lost.push(format!(
                    "{name}: an array in it handed on {handed_on} bytes, and its disks saw {parts}"
                ));
            }
        }
    }
    lost
}

fn points(record: &Record) -> Vec<Point> {
    (0..record.marks.len()).map(|segment| point(record, segment)).collect()
}

fn point(record: &Record, segment: usize) -> Point {
    let mark = &record.marks[segment];
    let before = segment.checked_sub(1).map(|earlier| &record.marks[earlier]);
    let span = mark.time.0 - before.map_or(0, |mark| mark.time.0);
    let busy = |mark: &Mark, i: usize| mark.recorded[i].usage.map_or(0, |usage| usage.busy.area(mark.time));
    let used = |i: usize| busy(mark, i) - before.map_or(0, |mark| busy(mark, i));
    let share = |i: usize| used(i) as f64 / (mark.recorded[i].servers as f64 * span.max(1) as f64);
    let tallies: Vec<Tally> = record.streams.iter().map(|stream| stream.all.tally_of(segment)).collect();
    Point {
        time: mark.time,
        answered: tallies.iter().map(Tally::count).collect(),
        mean_ns: tallies.iter().map(Tally::mean_ns).collect(),
        utilisation: (0..mark.recorded.len()).map(share).collect(),
    }
}
