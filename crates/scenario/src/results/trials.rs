//! Headroom that utilisation can only estimate, found by short simulations at several times the load.

use std::collections::BTreeSet;

use headrace_units::Nanos;
use headrace_work::NodeId;
use headrace_workload::{ArrivalSpec, VaryingSpec};
use schemars::JsonSchema;
use serde::Serialize;

use super::components::{self, Bottleneck, ComponentResults, FARTHEST_ESTIMATE};
use super::{filling, steadiness};
use crate::plan::{Plan, Split, StreamPlan};
use crate::progress::Progress;
use crate::run::{self, Deadline, End, Options, Outcome, Replications};
use crate::significant::Count;
use crate::spec::WarmUp;

/// Number of requests of a simulation, enough to tell a backlog of a tenth of them from chance. If the rate varies or the simulation cannot
/// tell, it is repeated with [`LONGER`] times as many, at most those of the run.
const REQUESTS: u64 = 5_000;
const LONGER: u64 = 4;

/// Number of requests of the rarest stream, and of visits to the bottleneck and its copies, that a simulation has if it may be as long.
const ENOUGH: f64 = 1_000.0;

/// With fewer visits, a simulation cannot tell whether a component keeps up.
const LEAST_VISITS: f64 = 100.0;

/// Where a cache stands before the bottleneck, a simulation whose requests visit it this many times as often as those of the run says nothing of
/// a load that was too much: the cache was colder.
const MORE_VISITS: f64 = 1.1;

/// Fewer requests that wait are no backlog.
const LEAST_WAITING: f64 = 10.0;

/// Number of times that calm and burst take turns in a simulation, for their share of the time to be about the mean.
const CYCLES: f64 = 20.0;

/// After this many, a backlog is more than one burst leaves.
const FEW_CYCLES: f64 = 3.0;

/// Maximum number of requests of a simulation.
const MOST_REQUESTS: u64 = 160_000;

/// A run of fewer requests keeps its estimate: simulations as short could not tell.
const LEAST_REQUESTS: u64 = 1_000;

/// Number of events that all simulations together may take beyond those of the run: about half a second of real time.
const EVENTS: u64 = 500_000;

/// Maximum number of simulations. Four bisections by ratio narrow 1 to 10 times the load to [`CLOSE`].
const MOST: usize = 8;

/// The search ends when one multiple is kept up with and another, less than this ratio above it, is not.
const CLOSE: f64 = 1.2;

/// Below this ratio of the two multiples, headroom is known within 30 %; above it, the smaller multiple is given as a bound.
const CLOSE_ENOUGH: f64 = 1.7;

/// From this share on, a load that was too much was answered nearly as it came: more was lost of it, or waited for longer.
const NEARLY_ALL: f64 = 0.99;

/// A load is too much as soon as this part of the requests is in flight beyond those that were at the run's end. Drives that order long queues
/// take long.
const BACKLOG: u64 = 5;

/// A load is too much if the share of lost requests exceeds that of the run by more than this.
const MOST_LOST: f64 = 0.01;

/// Short simulations at several times the load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HeadroomTrials {
    /// Number of requests of the longest simulation.
    pub requests: u64,
    /// The largest multiple of the load whose requests were answered as they came, or lost no more often than in the run.
    #[schemars(extend("x-unit" = "ratio"))]
    pub keeps_up: f64,
    /// The smallest multiple of the load at which requests came faster than they were answered; null if none that was tried was too much.
    #[schemars(extend("x-unit" = "ratio"))]
    pub falls_behind: Option<f64>,
    /// The multiple of the load that was answered at `falls_behind`, lost requests included; null if that is null.
    #[schemars(extend("x-unit" = "ratio"))]
    pub sustains: Option<f64>,
}

impl HeadroomTrials {
    /// Records a multiple at which requests are answered as they come, which overrules a shorter simulation that fell behind there.
    fn keep_up(&mut self, times: f64) {
        self.keeps_up = times;
        self.falls_behind = self.falls_behind.filter(|too_much| *too_much > times);
        self.sustains = self.sustains.filter(|_| self.falls_behind.is_some());
    }

    /// Returns what was sustained of a load that was too much, within the multiples on either side of the headroom; their mean, by ratio, where
    /// nearly all was answered, so that something else was too much of it. `None` if they are far apart.
    fn headroom(&self) -> Option<f64> {
        let too_much = self.falls_behind.filter(|too_much| *too_much < self.keeps_up * CLOSE_ENOUGH)?;
        let sustains = self.sustains.filter(|sustains| *sustains < NEARLY_ALL * too_much);
        Some(sustains.map_or((self.keeps_up * too_much).sqrt(), |sustains| {
            sustains.min(too_much).max(self.keeps_up.min(too_much))
        }))
    }

    /// Returns the multiple to try next, at most `most`; `None` if the headroom is known well enough.
    fn next(&self, most: f64) -> Option<f64> {
        match self.falls_behind {
            Some(too_much) if too_much < self.keeps_up * CLOSE => None,
            Some(too_much) => Some((self.keeps_up * too_much).sqrt()),
            None if self.keeps_up >= most => None,
            // Wider steps the further the estimate is exceeded.
            None => Some((self.keeps_up * CLOSE * CLOSE).min(most)),
        }
    }
}

/// Replaces a headroom that is estimated from utilisation by what short simulations of the plan's load find, which together take about as
/// many events as the run took. Leaves the estimate where the load cannot be scaled, or simulations cannot tell: a cache still fills, a rebuild
/// goes on that ended in the run, or a limit ended them.
///
/// # Errors
/// A simulation broke a law: see [`Outcome::lawful`].
pub fn refine(
    plan: &Plan,
    bottleneck: &mut Bottleneck,
    (outcomes, components): (&[Outcome], &[ComponentResults]),
    deadline: &Deadline,
) -> Result<(), String> {
    let Some(estimate) = bottleneck.saturates_at.filter(|_| is_refined(plan, bottleneck)) else {
        return Ok(());
    };
    let longer = if bottleneck.uneven.is_some() { LONGER } else { 1 };
    let requests = (REQUESTS * longer).max(enough(plan, bottleneck, outcomes));
    let mut trials = Trials::new(plan, bottleneck, requests, outcomes);
    let mut allowed = components::allowed(plan, &bottleneck.streams, components);
    if bottleneck.not_proportional.is_none() && bottleneck.uneven.is_some() {
        // The mean load that a server carries is known, however it comes.
        allowed = allowed.min(estimate);
    }
    let found = trials.all(estimate, allowed.min(FARTHEST_ESTIMATE), deadline)?;
    bottleneck.cut_off = deadline.end().is_some();
    // Nothing but the load of the run is kept up with for sure: the estimate says more.
    if let Some(found) = found.filter(|found| found.keeps_up > 1.0 || found.headroom().is_some()) {
        bottleneck.saturates_at = found.headroom().or(Some(found.keeps_up));
        bottleneck.at_least = found.headroom().is_none() && found.keeps_up < allowed;
        bottleneck.trials = Some(found);
    }
    Ok(())
}

/// Returns true if headroom is an estimate that short simulations know better.
fn is_refined(plan: &Plan, bottleneck: &Bottleneck) -> bool {
    bottleneck.estimate
        && !bottleneck.saturated
        && plan.faults.is_empty()
        && plan.requests() >= LEAST_REQUESTS
        && !has_one_course(plan)
}

/// Returns true if the rate of a stream follows a curve that does not repeat: only a run as long is like the run.
fn has_one_course(plan: &Plan) -> bool {
    plan.streams.iter().filter_map(StreamPlan::curve).any(|curve| curve.period.is_none())
}

/// Returns the number of requests of which [`ENOUGH`] are of the rarest stream, and as many come to the bottleneck.
fn enough(plan: &Plan, bottleneck: &Bottleneck, outcomes: &[Outcome]) -> u64 {
    let born = |at: usize| outcomes.iter().map(|outcome| outcome.streams[at].born).sum::<u64>() as f64;
    let all: f64 = (0..plan.streams.len()).map(born).sum();
    let own = plan.streams.iter().enumerate().filter(|(_, stream)| bottleneck.streams.contains(&stream.name));
    let rarest = own.map(|(at, _)| born(at)).fold(f64::INFINITY, f64::min);
    let visits = components::visits(plan, &bottleneck.group, outcomes);
    (ENOUGH * all / rarest.min(visits).max(1.0)) as u64
}

/// A plan whose streams are sent faster.
struct Trials<'p> {
    of: &'p Plan,
    plan: Plan,
    /// The numbers of the streams that are sent faster.
    scaled: Vec<usize>,
    /// Number of requests of each simulation, and of the shortest.
    requests: u64,
    fewest: u64,
    /// Number of events that are left.
    events: u64,
    /// The share of the requests that the run lost.
    lost: f64,
    /// Number of requests in flight at the run's end.
    in_flight: u64,
    /// States of components at the run's end.
    states: States,
    /// Visits to the bottleneck for each request, where a cache stands before it.
    visits: Option<f64>,
    /// Group of the bottleneck.
    group: &'p str,
    /// The share of the requests of the last simulation that were answered as they came.
    sustained: f64,
}

/// The state of each component at the end.
type States = Vec<Option<&'static str>>;

impl<'p> Trials<'p> {
    fn new(of: &'p Plan, bottleneck: &'p Bottleneck, requests: u64, outcomes: &[Outcome]) -> Self {
        let (streams, group) = (&bottleneck.streams, &*bottleneck.group);
        let named = of.streams.iter().enumerate().filter(|(_, stream)| streams.contains(&stream.name));
        let scaled: Vec<usize> = named.map(|(at, _)| at).collect();
        let mut plan = of.clone();
        plan.split = Split::NONE;
        let run = &mut plan.spec.run;
        (run.time, run.replications, run.split, run.warm_up) = (None, 1, false, WarmUp::Auto);
        let events = EVENTS + outcomes.iter().map(|outcome| outcome.events).sum::<u64>();
        let in_flight = outcomes.iter().map(in_flight).max().unwrap_or(0);
        let (lost, states) = (steadiness::lost(outcomes), states(outcomes));
        let visits = is_cached(of, group, &scaled).then(|| visits(of, group, &scaled, outcomes));
        let mut trials = Self {
            of,
            plan,
            scaled,
            requests: 0,
            fewest: 0,
            events,
            lost,
            in_flight,
            states,
            visits,
            group,
            sustained: 1.0,
        };
        trials.take(requests);
        trials.fewest = trials.requests;
        trials
    }

    /// Makes each simulation this long, at most as long as the run. Returns true if that is longer than they were.
    fn take(&mut self, requests: u64) -> bool {
        let requests = requests.min(self.of.requests()).min(MOST_REQUESTS);
        let is_longer = requests > self.requests;
        self.requests = requests;
        let backlog = if self.curve().is_some() { MOST_REQUESTS } else { requests / BACKLOG };
        let run = &mut self.plan.spec.run;
        run.requests = Some(requests);
        run.limits.in_flight = self.of.run().limits.in_flight.min(self.in_flight + backlog);
        is_longer
    }

    /// Returns the length of the longest curve that the rate of a stream follows.
    fn curve(&self) -> Option<Nanos> {
        self.of.streams.iter().filter_map(StreamPlan::curve).map(VaryingSpec::length).max()
    }

    /// Makes a simulation of streams whose rates follow curves last for whole curves: elsewhere, requests that wait may be those of a peak.
    /// Returns false if that is too long.
    fn take_whole_curves(&mut self, times: f64) -> bool {
        let Some(curve) = self.curve().map(Nanos::secs).filter(|curve| *curve > 0.0) else { return true };
        let rates = self.of.streams.iter().enumerate().map(|(at, stream)| {
            let times = if self.scaled.contains(&at) { times } else { 1.0 };
            stream.spec.arrivals.mean_rate().unwrap_or(0.0) * times
        });
        let of_curve = rates.sum::<f64>() * curve;
        let curves = (self.requests as f64 / of_curve).ceil();
        let run = &mut self.plan.spec.run;
        (run.time, run.requests) = (Some(Nanos::from_secs(curves * curve)), None);
        curves * of_curve <= MOST_REQUESTS as f64
    }

    /// Returns what all of them find, the first at `estimate` times the load and none at more than `most`; `None` if they cannot tell.
    fn all(
        &mut self,
        estimate: f64,
        most: f64,
        deadline: &Deadline,
    ) -> Result<Option<HeadroomTrials>, String> {
        let mut found = HeadroomTrials { requests: 0, keeps_up: 1.0, falls_behind: None, sustains: None };
        let mut next = Some(estimate.min(most));
        for _ in 0..MOST {
            let Some(times) = next else { break };
            match self.keeps_up_in_time(times, deadline)? {
                Some(true) => found.keep_up(times),
                Some(false) => {
                    (found.falls_behind, found.sustains) = (Some(times), Some(times * self.sustained));
                }
                None => break,
            }
            next = found.next(most).or_else(|| self.again(&found));
        }
        found.requests = self.requests;
        Ok((found.keeps_up > 1.0 || found.falls_behind.is_some()).then_some(found))
    }

    /// Returns the multiple at which short simulations fell behind, to be tried in a longer one: the backlog may come from a cold cache alone.
    fn again(&mut self, found: &HeadroomTrials) -> Option<f64> {
        let again = found.falls_behind.filter(|_| self.requests == self.fewest)?;
        self.take(self.fewest * LONGER).then_some(again)
    }

    /// Returns what [`Self::keeps_up`] does, of longer simulations if those so far cannot tell.
    fn keeps_up_in_time(&mut self, times: f64, deadline: &Deadline) -> Result<Option<bool>, String> {
        loop {
            let found = self.keeps_up(times, deadline)?;
            let is_over = self.events == 0 || deadline.end().is_some();
            if found.is_some() || is_over || !self.take(self.requests * LONGER) {
                return Ok(found);
            }
        }
    }

    /// Returns true if requests are answered as they come at `times` the load; `None` if a stream cannot be sent faster or the simulation
    /// cannot tell.
    fn keeps_up(&mut self, times: f64, deadline: &Deadline) -> Result<Option<bool>, String> {
        for &at in &self.scaled {
            let Some(faster) = self.of.streams[at].spec.arrivals.faster(times) else { return Ok(None) };
            self.plan.streams[at].spec.arrivals = faster;
        }
        if !self.take_whole_curves(times) {
            return Ok(None);
        }
        self.plan.spec.run.limits.events = self.of.run().limits.events.min(self.events);
        let Ok(engine) = run::engine(&self.plan) else { return Ok(None) };
        let progress = Progress { cancelled: deadline.cancelled(), ..Progress::default() };
        let mut replications = Replications::default();
        replications.complete(&self.plan, engine, &Options::default(), &deadline.beside(&progress));
        let outcomes = replications.outcomes(&self.plan)?;
        self.events = self.events.saturating_sub(outcomes.iter().map(|outcome| outcome.events).sum());
        self.sustained = steadiness::sustained(self.scaled.iter().copied(), &outcomes).unwrap_or(1.0);
        // A rebuild or a copy that ended in the run and not here makes another system of this one.
        let is_alike = states(&outcomes) == self.states;
        let found = is_alike.then(|| keeps_up(&self.plan, &outcomes, self.lost + MOST_LOST)).flatten();
        Ok(found.filter(|keeps_up| *keeps_up || !self.is_cold(&outcomes)))
    }

    /// Returns true if a cache asked more of the bottleneck than the same load did in the run.
    fn is_cold(&self, outcomes: &[Outcome]) -> bool {
        let now = || visits(&self.plan, self.group, &self.scaled, outcomes);
        self.visits.is_some_and(|before| now() > MORE_VISITS * before)
    }
}

/// Returns the state of each component at the end of the first replication.
fn states(outcomes: &[Outcome]) -> States {
    let components = outcomes.first().into_iter().flat_map(|outcome| &outcome.components);
    components.map(|component| component.state).collect()
}

/// Returns true if requests of some streams come to the components of a group through one that keeps data, such as a cache.
fn is_cached(plan: &Plan, group: &str, streams: &[usize]) -> bool {
    let graph = &plan.graph;
    let targets: BTreeSet<NodeId> = streams.iter().map(|at| plan.streams[*at].target).collect();
    let on_the_way: BTreeSet<NodeId> = targets.into_iter().flat_map(|target| graph.reached(target)).collect();
    let keeps = |id: &NodeId| graph.group(*id) != group && graph.view(*id).features().fills != Some(0);
    let leads_there = |id: NodeId| graph.reached(id).into_iter().any(|behind| graph.group(behind) == group);
    on_the_way.into_iter().filter(keeps).any(leads_there)
}

/// Returns the number of visits to the components of a group for each request of some streams that was answered.
fn visits(plan: &Plan, group: &str, streams: &[usize], outcomes: &[Outcome]) -> f64 {
    let answered = streams.iter().flat_map(|at| outcomes.iter().map(|of| of.streams[*at].all.tally.count()));
    components::visits(plan, group, outcomes) / answered.sum::<u64>().max(1) as f64
}

/// Returns the number of requests in flight at the end.
fn in_flight(outcome: &Outcome) -> u64 {
    outcome.streams.iter().map(|stream| stream.in_flight).sum()
}

fn keeps_up(plan: &Plan, outcomes: &[Outcome], most_lost: f64) -> Option<bool> {
    match outcomes.first()?.end {
        // A burst alone may leave a backlog.
        End::TooManyInFlight | End::TooManyParts => covers(plan, outcomes, FEW_CYCLES).then_some(false),
        End::Done if steadiness::lost(outcomes) > most_lost => Some(false),
        End::Done if filling::hides_work(plan, outcomes) || !covers(plan, outcomes, CYCLES) => None,
        End::Done => falls_behind(plan, outcomes).map(|behind| !behind),
        _ => None,
    }
}

/// Returns true if the simulation covers the whole of each curve that the rate of a stream follows, and this many bursts.
fn covers(plan: &Plan, outcomes: &[Outcome], bursts: f64) -> bool {
    let length = |stream: &StreamPlan| match &stream.spec.arrivals {
        ArrivalSpec::Varying(curve) => curve.length(),
        ArrivalSpec::Bursty { calm_for, burst_for, .. } => (*calm_for + *burst_for).scaled(bursts),
        _ => Nanos::ZERO,
    };
    let longest = plan.streams.iter().map(length).max().unwrap_or(Nanos::ZERO);
    outcomes.iter().all(|outcome| outcome.ended_at >= longest)
}

/// Returns true if requests come faster than they are answered; `None` if the simulation cannot tell. A backlog that grows evenly may not show
/// as a drift; it shows in requests in flight at the end, in those that wait for a component that few requests come to, or in one that is
/// never idle. Where rates follow curves, a peak leaves a backlog: there it is the work that counts.
fn falls_behind(plan: &Plan, outcomes: &[Outcome]) -> Option<bool> {
    if plan.streams.iter().any(|stream| stream.curve().is_some()) {
        return Some(plan.graph.ids().any(|id| offered(plan, id, outcomes) >= 1.0));
    }
    let waits = |outcome: &Outcome| {
        let mut streams = plan.streams.iter().zip(&outcome.streams);
        streams.any(|(stream, found)| stream.is_open() && found.is_behind())
    };
    let seconds = outcomes.iter().map(|outcome| (outcome.ended_at - outcome.warm_up).secs()).sum();
    let limit = components::bottleneck(plan, outcomes, &components::all(plan, outcomes, seconds));
    let is_behind = outcomes.iter().any(waits)
        || steadiness::falls_behind(plan, outcomes)
        || limit.as_ref().is_some_and(|found| found.saturated)
        || plan.graph.ids().any(|id| queue_grows(id, outcomes));
    let visits = |of: &Bottleneck| components::visits(plan, &of.group, outcomes);
    let is_known = is_behind || limit.is_none_or(|of| visits(&of) >= LEAST_VISITS);
    is_known.then_some(is_behind)
}

/// Returns true if at least a tenth of the requests that came to a component wait there at the end, and not at the start.
fn queue_grows(id: NodeId, outcomes: &[Outcome]) -> bool {
    let readings = || outcomes.iter().map(|outcome| &outcome.components[id.index()].reading);
    let (waiting, visits) =
        readings().fold((0.0, 0.0), |(waiting, visits), of| (waiting + of.waiting, visits + of.visits));
    waiting >= LEAST_WAITING && waiting * 10.0 > waiting + visits
}

/// Returns the work that came to a component, over what its servers can do in the time: what they did, and what waits at the end. 0 of a
/// limit, which holds requests while others work.
fn offered(plan: &Plan, id: NodeId, outcomes: &[Outcome]) -> f64 {
    if plan.graph.view(id).features().is_limit {
        return 0.0;
    }
    let (mut work, mut all) = (0.0, 0.0);
    for outcome in outcomes {
        let component = &outcome.components[id.index()];
        let of = &component.reading;
        work += of.busy_in_all() + of.waiting * of.service / of.served.max(1.0);
        all += component.servers as f64 * (outcome.ended_at - outcome.warm_up).secs() * 1e9 - component.away;
    }
    if all > 0.0 { work / all } else { 0.0 }
}

/// Returns what was found: `in simulations of up to 5000 requests, the system keeps up with 1.16× the load and not with 1.34×`. Unless more load
/// was not tried for want of time, what was kept up with is all that servers have time for.
pub fn in_words(found: &HeadroomTrials, at_least: bool) -> String {
    let HeadroomTrials { requests, keeps_up, falls_behind, .. } = found;
    let what = match falls_behind {
        Some(times) if *keeps_up == 1.0 => format!("falls behind at {times:.2}× the load"),
        Some(times) => format!("keeps up with {keeps_up:.2}× the load and not with {times:.2}×"),
        None if at_least => format!("keeps up with {keeps_up:.2}× the load"),
        None => format!(
            "keeps up with {keeps_up:.2}× the load, beyond which a component would be busy for more than all of the time"
        ),
    };
    format!("in simulations of up to {} requests, the system {what}", Count(*requests))
}
