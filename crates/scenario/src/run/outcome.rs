//! What one replication found, its warm-up left out, and whether it kept the laws that every run must keep.

use std::sync::Arc;

use headrace_stats::{Histogram, Interval, Pairs, Series, Tally};
use headrace_storage::{Arena, Event, Meter, Portion};
use headrace_units::Nanos;
use headrace_work::NodeId;

use super::cut::{Candidates, Cut};
use super::options::End;
use super::points::{self, RunSegment};
use super::replication::Replication;
use crate::checks::{self, Evidence};
use crate::operation::Operation;
use crate::record::{
    HealthPhase, Legs, Mark, MeterReading, Record, SlowSample, StepTotals, StreamRecord, Totals,
};

/// Outcome of one replication.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it ended.
    pub end: End,
    /// The stream whose requests take no time, where time stood still.
    pub still: Option<usize>,
    /// The simulated time it took, warm-up included.
    pub ended_at: Nanos,
    /// The simulated time left out at the beginning.
    pub warm_up: Nanos,
    /// False where no warm-up could be found: too short a run, or no steady state.
    pub steady: bool,
    /// True if a stream had too few answers to find its warm-up.
    pub too_short: bool,
    /// Of each stream.
    pub streams: Vec<StreamOutcome>,
    /// Of each component.
    pub components: Vec<ComponentOutcome>,
    /// Who still waits for what, where nothing more can happen.
    pub waiting: Arc<[String]>,
    /// Notes of components on the run.
    pub remarks: Arc<[(NodeId, String)]>,
    /// Over time: one point for each segment.
    pub series: Arc<[RunSegment]>,
    /// Number of events; 0 in a recursion.
    pub events: u64,
    /// Outcomes of streams before and after each fault; empty if nothing fails.
    pub phases: Arc<[PhaseOutcome]>,
    /// Laws that were broken, in words. Any one of them means that the results are wrong.
    pub broken: Arc<[String]>,
}

impl Outcome {
    /// Returns each segment of the run with its beginning.
    pub fn segments(&self) -> impl Iterator<Item = (Nanos, &RunSegment)> {
        let ends = self.series.iter().map(|segment| segment.time);
        std::iter::once(Nanos::ZERO).chain(ends).zip(self.series.iter())
    }

    /// Checks that the replication kept every law that all must keep.
    ///
    /// # Errors
    /// It broke one: the program is wrong, and so would be its results.
    pub fn lawful(&self) -> Result<(), String> {
        self.broken.first().map_or(Ok(()), |broken| {
            Err(format!("this is a defect of headrace, please report it with the scenario: {broken}"))
        })
    }
}

/// Outcome of one stream, after the warm-up.
#[derive(Clone, Debug)]
pub struct StreamOutcome {
    /// Requests made, warm-up included.
    pub born: u64,
    /// When the last of them was made.
    pub last_born: Nanos,
    /// Requests answered, warm-up included.
    pub answered: u64,
    /// Requests in flight at the end.
    pub in_flight: u64,
    /// Requests dropped, warm-up included.
    pub dropped: u64,
    /// Requests whose host gave up, warm-up included.
    pub expired: u64,
    /// Those of them that the system still held at the end.
    pub abandoned: u64,
    /// Requests that nothing could answer, warm-up included.
    pub failed: u64,
    /// The time for which the source was blocked, warm-up included.
    pub blocked: Nanos,
    /// Bytes of requests answered.
    pub bytes: u64,
    /// Response times of all requests.
    pub all: SeriesOutcome,
    /// Of each operation, where there are several.
    pub by_op: Vec<(Operation, SeriesOutcome)>,
    /// Waiting, service and blocked time along the path, by group of components, in ns of all requests together.
    pub legs: Legs,
    /// Of training.
    pub steps: StepTotals,
    /// Measured and simulated responses of all requests, of reads and of writes, for a trace that has them.
    pub measured: Option<Box<[Pairs; 3]>>,
}

impl StreamOutcome {
    /// Requests answered, dropped, expired or failed.
    pub fn finished(&self) -> u64 {
        self.answered + self.dropped + self.expired + self.failed
    }

    /// Returns true if at least a tenth of the requests were in flight at the end: where they come by themselves, a backlog.
    pub fn is_behind(&self) -> bool {
        self.in_flight * 10 > self.born
    }

    /// Returns the response times of an operation, or of all requests; none where operations are not told apart.
    pub fn series(&self, operation: Option<Operation>) -> Option<&SeriesOutcome> {
        let Some(operation) = operation else { return Some(&self.all) };
        self.by_op.iter().find(|(own, _)| *own == operation).map(|(_, series)| series)
    }
}

/// Response times, after the warm-up.
#[derive(Clone, Debug)]
pub struct SeriesOutcome {
    /// Count, sum, spread.
    pub tally: Tally,
    /// Quantiles.
    pub distribution: Histogram,
    /// The interval of the mean by batch means, in nanoseconds.
    pub interval: Option<Interval>,
    /// The means of the quarters of what is kept, in nanoseconds; none where it is too short to have them.
    pub quarters: Option<[f64; 4]>,
    /// The part left out, as a share of the part kept.
    pub left_out: f64,
    /// The slowest requests.
    pub slowest: SlowSample,
}

/// Outcome of one component, after the warm-up.
#[derive(Clone, Debug)]
pub struct ComponentOutcome {
    /// Number of servers; zero if it has no queue of its own.
    pub servers: u64,
    /// Server-ns for which some of them had failed and were not in use.
    pub away: f64,
    /// Its readings after the warm-up.
    pub reading: MeterReading,
    /// Servers of it that stand in for no others.
    pub portions: Vec<Portion>,
    /// In which state it was at the end, where that is not the usual one.
    pub state: Option<&'static str>,
    /// False if a longer run would find it busier.
    pub is_settled: bool,
    /// True if its cache began empty and a longer run would find more in it.
    pub is_cold: bool,
    /// Share of the time for which requests waited for something that servers do not give, such as space.
    pub lacking: f64,
    /// The names of its own meters, and the kind of each.
    pub meters: Vec<(&'static str, MeterKind)>,
}

/// Meaning of the two numbers of a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterKind {
    /// Number of occurrences.
    Count,
    /// The largest number seen, warm-up included.
    Peak,
    /// The first over the second.
    Share,
    /// The first over the time: a mean level.
    Level,
}

impl MeterKind {
    /// Returns what readings of a meter say together, of `seconds` in all; none of a share of nothing.
    pub fn value(self, readings: impl Iterator<Item = [f64; 2]> + Clone, seconds: f64) -> Option<f64> {
        let sum = |which: usize| readings.clone().map(|meter| meter[which]).sum::<f64>();
        match self {
            Self::Count => Some(sum(0)),
            Self::Peak => Some(readings.map(|meter| meter[0]).fold(0.0, f64::max)),
            Self::Share => (sum(1) > 0.0).then(|| sum(0) / sum(1)),
            Self::Level => (seconds > 0.0).then(|| sum(0) * 1e-9 / seconds),
        }
    }
}

/// Returns the names of the meters of a component and what each means.
pub fn meters(arena: Arena, id: NodeId, now: Nanos) -> Vec<(&'static str, MeterKind)> {
    let mut meters = Vec::new();
    arena.component(id).meters(now, &mut |name, meter| meters.push((name, kind(meter))));
    meters
}

/// Outcomes of streams in a time in which the health of no component changed.
#[derive(Clone, Debug)]
pub struct PhaseOutcome {
    /// Its beginning and its end.
    pub span: (Nanos, Nanos),
    /// Changes at its beginning.
    pub after: Vec<(NodeId, Event)>,
    /// Of each stream: response times, their distribution, bytes answered, requests failed.
    pub streams: Vec<(Tally, Histogram, u64, u64)>,
}

/// The phases of a run that ended at `now`.
pub fn phases(record: &mut Record, arena: Arena, now: Nanos) -> Arc<[PhaseOutcome]> {
    let Some(phases) = &mut record.phases else { return Arc::default() };
    let phases = phases.finished(arena);
    let ends = phases.iter().skip(1).map(|next| next.from).chain([now]);
    let outcome = |(phase, end): (&HealthPhase, Nanos)| {
        let streams = phase.streams.iter().map(|of| (of.tally, of.distribution(), of.bytes, of.failed));
        PhaseOutcome { span: (phase.from, end), after: phase.after.clone(), streams: streams.collect() }
    };
    phases.iter().zip(ends).map(outcome).collect()
}

/// Returns what a simulation that goes on has found from its beginning to `now`.
pub fn so_far(of: &Replication, now: Nanos) -> Outcome {
    let phases = phases(&mut of.record.borrow_mut(), of.arena, now);
    let cuts = Candidates { alone: None, shared: vec![Cut::NOTHING] };
    let mut found = at_each(&cuts, &of.record.borrow(), of, now, End::TimeUp, &phases);
    found.shared.remove(0)
}

/// Outcomes of a replication, cut at each of `cuts`.
pub fn at_each(
    cuts: &Candidates<Cut>,
    record: &Record,
    of: &Replication,
    now: Nanos,
    end: End,
    phases: &Arc<[PhaseOutcome]>,
) -> Candidates<Outcome> {
    let series: Arc<[RunSegment]> = points::of(record, of.arena, &of.plan.objectives, now).into();
    let broken: Arc<[String]> = checks::broken(&evidence(record, of, now)).into();
    let said = |id| of.arena.component(id).remarks(now).into_iter().map(move |remark| (id, remark));
    let remarks: Arc<[(NodeId, String)]> = of.arena.ids().flat_map(said).collect::<Vec<_>>().into();
    let waiting = of.arena.ids().flat_map(|id| of.arena.component(id).waiting());
    let waiting: Arc<[String]> = waiting.filter(|_| end == End::Idle).collect::<Vec<_>>().into();
    let outcome = |cut: &Cut| Outcome {
        end,
        still: (end == End::TimeStandsStill).then(|| of.still.stream()),
        ended_at: now,
        warm_up: cut.first.checked_sub(1).map_or(Nanos::ZERO, |segment| record.marks.get(segment).time),
        steady: cut.steady,
        too_short: cut.too_short,
        streams: streams(record, of, cut.first, now),
        components: components(record, of.arena, cut.first, now),
        waiting: Arc::clone(&waiting),
        remarks: Arc::clone(&remarks),
        series: Arc::clone(&series),
        events: of.shared.sim.events(),
        phases: Arc::clone(phases),
        broken: Arc::clone(&broken),
    };
    cuts.map(outcome)
}

fn evidence<'e, 'm>(record: &'e Record, of: &'e Replication<'m>, now: Nanos) -> Evidence<'e, 'm> {
    let streams = of.plan.streams.iter().zip(&record.streams).zip(of.sources);
    Evidence {
        files: of.shared.broken(),
        graph: &of.plan.graph,
        arena: of.arena,
        streams: streams.map(|((plan, stream), source)| (plan.name.as_str(), stream, &source.edge)).collect(),
        callers: of.callers,
        now,
    }
}

fn streams(record: &Record, of: &Replication, first: usize, now: Nanos) -> Vec<StreamOutcome> {
    let cut = first.checked_sub(1).map(|segment| record.marks.get(segment));
    let streams = record.streams.iter().zip(of.sources).enumerate().map(|(i, (stream, source))| {
        StreamOutcome { blocked: source.blocked(now), ..stream_outcome(stream, i, first, cut) }
    });
    streams.collect()
}

fn stream_outcome(stream: &StreamRecord, index: usize, first: usize, cut: Option<&Mark>) -> StreamOutcome {
    let nothing = Totals::default();
    let kept = stream.totals.since(cut.map_or(&nothing, |mark| &mark.totals[index]));
    let warm_up = cut.map_or(Nanos::ZERO, |mark| mark.time);
    let mut slowest = stream.slowest.iter().map(|sample| sample.after(warm_up));
    let mut next = |series| SeriesOutcome {
        slowest: slowest.next().unwrap_or_default(),
        ..series_outcome(series, first)
    };
    StreamOutcome {
        born: stream.born,
        last_born: stream.last_born,
        answered: stream.all.tally().count(),
        in_flight: stream.in_flight.value(),
        dropped: stream.dropped,
        expired: stream.expired,
        abandoned: stream.abandoned,
        failed: stream.failed,
        blocked: Nanos::ZERO,
        bytes: kept.bytes,
        all: next(&stream.all),
        by_op: stream.by_op.iter().map(|(op, series)| (*op, next(series))).collect(),
        legs: kept.legs,
        steps: kept.steps,
        measured: stream.measured.clone(),
    }
}

fn series_outcome(series: &Series, first: usize) -> SeriesOutcome {
    let tally = series.tally_from(first);
    SeriesOutcome {
        tally,
        distribution: series.distribution_from(first),
        interval: series.interval_from(first),
        quarters: series.quarters_from(first),
        left_out: series.count_before(first) as f64 / tally.count().max(1) as f64,
        slowest: SlowSample::default(),
    }
}

fn components(record: &Record, arena: Arena, first: usize, now: Nanos) -> Vec<ComponentOutcome> {
    let before = first.checked_sub(1).map(|segment| record.marks.readings_at(segment));
    let nothing = MeterReading::default();
    let outcome = |id: NodeId| {
        let earlier = before.as_ref().map_or(&nothing, |before| &before[id.index()]);
        let meters = meters(arena, id, now);
        let activity = arena.component(id).activity(now).unwrap_or_default();
        let (servers, away) = (activity.servers, activity.away as f64);
        let last = MeterReading::of(arena, id, now);
        let mut reading = last.since(earlier);
        let peaks = meters.iter().enumerate().filter(|(_, (_, kind))| *kind == MeterKind::Peak);
        peaks.for_each(|(at, _)| reading.meters[at] = last.meters[at]);
        let mut portions = arena.component(id).portions(now);
        portions.iter_mut().zip(&reading.portions).for_each(|(portion, [busy, away, queue])| {
            (portion.busy, portion.away) = (*busy as u128, *away as u128);
            portion.queue = portion.queue.map(|_| *queue as u128);
        });
        let state =
            if arena.context(id).health.is_up() { arena.component(id).state() } else { Some("failed") };
        ComponentOutcome {
            servers,
            away,
            reading,
            portions,
            state,
            is_settled: arena.component(id).is_settled(),
            is_cold: arena.component(id).is_cold(),
            lacking: arena.component(id).lacking(now).secs() / now.secs().max(1e-9),
            meters,
        }
    };
    arena.ids().map(outcome).collect()
}

fn kind(meter: Meter) -> MeterKind {
    match meter {
        Meter::Count(_) | Meter::Marked(_) => MeterKind::Count,
        Meter::Peak(_) => MeterKind::Peak,
        Meter::Share(..) | Meter::Fill(..) => MeterKind::Share,
        Meter::Area(_) => MeterKind::Level,
    }
}
