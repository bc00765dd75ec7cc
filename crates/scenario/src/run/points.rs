//! A run over time: one point for each segment.

use headrace_stats::Tally;
use headrace_storage::{Arena, Meter};
use headrace_units::Nanos;
use headrace_work::NodeId;

use crate::plan::Objective;
use crate::record::Record;

/// One segment of the run.
#[derive(Clone, Debug)]
pub struct RunSegment {
    /// Its end.
    pub time: Nanos,
    /// Requests completed in it, of each stream.
    pub completed: Vec<u64>,
    /// Their mean response in ns, of each stream.
    pub mean_ns: Vec<f64>,
    /// The p99 of their responses, of each stream; zero where none completed.
    pub p99: Vec<Nanos>,
    /// The share that was in time, of each objective; none where no request was answered that it is about.
    pub in_time: Vec<Option<f64>>,
    /// The utilisation of each component in it.
    pub utilisation: Vec<f64>,
    /// Fill of those components that say so ([`Meter::Fill`]), each by its number.
    pub fill: Vec<(NodeId, f64)>,
    /// Number of marked occurrences ([`Meter::Marked`]) in it, if any: component, name and number.
    pub marked: Vec<(NodeId, &'static str, u64)>,
}

/// A meter that is shown over time: of which component, and its place among that one's meters.
struct Shown {
    of: (NodeId, usize),
    name: &'static str,
    is_fill: bool,
}

/// The points of a run that ended at `now`.
pub(super) fn of(record: &Record, arena: Arena, objectives: &[Objective], now: Nanos) -> Vec<RunSegment> {
    let servers = |id| arena.component(id).activity(now).map_or(1, |activity| activity.servers);
    let servers: Vec<f64> = arena.ids().map(|id| servers(id) as f64).collect();
    let shown = shown(arena, now);
    let places: Vec<(NodeId, usize)> = shown.iter().map(|shown| shown.of).collect();
    let mut grown = record.marks.grown_by_segment(&places).into_iter();
    let mut before = Nanos::ZERO;
    let segments = record.marks.times().zip(record.marks.busy_by_segment()).enumerate();
    let points = segments.map(|(segment, (time, busy))| {
        let span = (time - before).0.max(1) as f64;
        before = time;
        let tallies: Vec<Tally> = record.streams.iter().map(|stream| stream.all.tally_of(segment)).collect();
        let (fill, marked) = over_time(&shown, grown.next().unwrap_or_default());
        RunSegment {
            time,
            completed: tallies.iter().map(Tally::count).collect(),
            mean_ns: tallies.iter().map(Tally::mean_ns).collect(),
            p99: record
                .streams
                .iter()
                .map(|stream| stream.all.distribution_of(segment).quantile(0.99))
                .collect(),
            in_time: objectives.iter().map(|objective| in_time(record, objective, segment)).collect(),
            utilisation: busy.iter().zip(&servers).map(|(busy, servers)| busy / (servers * span)).collect(),
            fill,
            marked,
        }
    });
    points.collect()
}

/// Returns the share of the requests of an objective that were in time in a segment.
fn in_time(record: &Record, objective: &Objective, segment: usize) -> Option<f64> {
    let responses = record.streams[objective.stream].series(objective.operation)?.distribution_of(segment);
    (responses.count() > 0).then(|| objective.share_of(&responses))
}

/// Growth of each meter in a segment.
#[expect(clippy::type_complexity, reason = "the two lists of a point")]
fn over_time(
    shown: &[Shown],
    grown: Vec<(usize, [f64; 2])>,
) -> (Vec<(NodeId, f64)>, Vec<(NodeId, &'static str, u64)>) {
    let (mut fill, mut marked) = (Vec::new(), Vec::new());
    for (at, [part, whole]) in grown {
        let Shown { of: (node, _), name, is_fill } = shown[at];
        if is_fill && whole > 0.0 {
            fill.push((node, part / whole));
        } else if !is_fill && part > 0.0 {
            marked.push((node, name, part as u64));
        }
    }
    (fill, marked)
}

/// The meters that are shown over time.
fn shown(arena: Arena, now: Nanos) -> Vec<Shown> {
    let mut found = Vec::new();
    for id in arena.ids() {
        let mut place = 0;
        arena.component(id).meters(now, &mut |name, meter| {
            let is_fill = matches!(meter, Meter::Fill(..));
            if is_fill || matches!(meter, Meter::Marked(_)) {
                found.push(Shown { of: (id, place), name, is_fill });
            }
            place += 1;
        });
    }
    found
}
