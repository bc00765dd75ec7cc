//! What a run says of its components, and which of them limits it.

use std::collections::BTreeMap;

use headrace_storage::{Load, Portion};
use headrace_work::{Cause, NodeId};
use serde::Serialize;

use super::{SATURATED, filling};
use crate::plan::{Plan, StreamPlan};
use crate::run::{End, MeterKind, MeterReading, Outcome};

/// What a run says of one component.
#[derive(Clone, Debug, Serialize)]
pub struct ComponentResults {
    /// Its path.
    pub path: String,
    /// What is alike has one group: its path without the numbers of copies.
    pub group: String,
    /// Its kind.
    pub kind: &'static str,
    /// Where it is written in the scenario: `system.tds`, `parts.spindle`, `system.tds.of`.
    pub written: String,
    /// The component it is a part of, by its number; none for what stands in `system`.
    pub within: Option<u32>,
    /// The components it sends work to, by their numbers.
    pub uses: Vec<u32>,
    /// Number of its servers; zero where it has no queue of its own.
    pub servers: u64,
    /// Share of the time its servers were in use; none where it has no queue of its own.
    pub utilisation: Option<f64>,
    /// That of those of its servers that are busiest and stand in for no others, where that is more.
    pub busiest: Option<BusiestResults>,
    /// Its servers that stand in for no others: a class of ports, the drives of a group, what a limit leaves one user. Of archives.
    pub portions: Vec<PortionResults>,
    /// Mean number of its servers that had failed and were not in use; none where none failed. Utilisation is that of the others.
    pub unavailable: Option<f64>,
    /// The same by cause, where it did more than hosts waited for: `host`, `destage`, `rebuild`, `migration`.
    pub utilisation_by_cause: BTreeMap<&'static str, f64>,
    /// Mean number of requests waiting.
    pub queue: Option<f64>,
    /// Bytes per second that it answered.
    pub bytes_per_s: f64,
    /// Requests that got a server.
    pub visits: u64,
    /// The mean size of what it was asked for, in bytes; none where it has no queue of its own.
    pub bytes_per_visit: Option<f64>,
    /// Their mean wait, in ms.
    pub waiting_ms: f64,
    /// The mean time a server was held, in ms.
    pub service_ms: f64,
    /// The share of what was written to its cache that had not been written on; none where nothing was written to one.
    pub undestaged: Option<f64>,
    /// In which state it was at the end of the run, the first replication's: `failed`, `degraded`, `unavailable`, `rebuilding`,
    /// `lost data`; none where nothing is wrong with it.
    pub state: Option<&'static str>,
    /// Measures of its own kind: counts, ratios, mean levels. None where nothing happened that they measure.
    pub meters: BTreeMap<&'static str, Option<f64>>,
}

/// The servers of a component that are busiest, of those that stand in for no others: a class of ports, the drives of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BusiestResults {
    /// What they are.
    pub what: String,
    /// Share of the time that they were in use.
    pub utilisation: f64,
}

/// Servers of a component that stand in for no others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PortionResults {
    /// What they are.
    pub what: String,
    /// How many they are.
    pub servers: u64,
    /// Share of the time that they were in use, as far as they worked.
    pub utilisation: f64,
    /// Mean number of requests waiting for them; none where that is known of the component alone.
    pub queue: Option<f64>,
    /// Mean number of them that had failed and were not in use; none where none failed.
    pub unavailable: Option<f64>,
}

/// The component that limits the system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bottleneck {
    /// Its path.
    pub component: String,
    /// Its group.
    pub group: String,
    /// Which of its servers, where others of it cannot stand in for them; `queue depth` where they are places that requests hold while
    /// other components serve them.
    pub what: Option<String>,
    /// Their utilisation, by all causes.
    pub utilisation: f64,
    /// Whether it was never idle, and did not keep up with the load where that does not wait.
    pub saturated: bool,
    /// Headroom: the multiple of the load at which it saturates, if nothing else does before; where it is saturated, the share of the offered
    /// load that it sustains. None where a stream waits for answers, requests are too few to tell, or the run ended with requests that
    /// wait for ever.
    pub saturates_at: Option<f64>,
    /// What holds where all that reaches it are clients that wait for answers; none where something else does too.
    pub closed: Option<ClosedLoad>,
    /// The streams whose load that is: those that reach it, all growing together.
    pub streams: Vec<String>,
    /// Whether that is an estimate: its utilisation, or that of another component on the way, need not grow in proportion to the load.
    pub estimate: bool,
    /// The component whose utilisation need not: itself, or the first on the way that may saturate before it. None where none is known.
    pub not_proportional: Option<String>,
}

/// Clients that wait for answers before they go on, and the component that limits them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClosedLoad {
    /// Number of requests that they have in flight at most.
    pub clients: u64,
    /// The most that more of them could raise throughput, as a multiple: until the component is always busy.
    /// None while a cache is filling.
    pub at_most: Option<f64>,
}

/// Of each component, by its number in the graph.
pub(super) fn all(plan: &Plan, outcomes: &[Outcome], seconds: f64) -> Vec<ComponentResults> {
    plan.graph.ids().map(|id| of(plan, id, outcomes, seconds.max(1e-9))).collect()
}

fn of(plan: &Plan, id: NodeId, outcomes: &[Outcome], time: f64) -> ComponentResults {
    let node = &plan.graph.nodes[id.index()];
    let sum = |of: fn(&MeterReading) -> f64| {
        outcomes.iter().map(|outcome| of(&outcome.components[id.index()].reading)).sum::<f64>()
    };
    let servers = outcomes.first().map_or(0, |outcome| outcome.components[id.index()].servers);
    let away: f64 = outcomes.iter().map(|outcome| outcome.components[id.index()].away).sum();
    let share = |ns: f64| of_time(ns, servers, away, time);
    let portions = portions(id, outcomes, time);
    let utilisation = (servers > 0).then(|| share(sum(MeterReading::busy_in_all)));
    let (visits, bytes) = (sum(|reading| reading.visits), sum(|reading| reading.bytes));
    ComponentResults {
        path: node.path.clone(),
        group: plan.graph.group(id).to_owned(),
        kind: node.plan.kind(),
        written: node.field.join("."),
        within: node.within.map(|within| within.0),
        uses: node.uses.iter().map(|used| used.0).collect(),
        servers,
        utilisation,
        busiest: busiest(&portions, utilisation.unwrap_or(0.0)),
        portions,
        unavailable: (away > 0.0).then(|| away * 1e-9 / time),
        utilisation_by_cause: by_cause(id, outcomes, share),
        queue: (servers > 0).then(|| sum(|reading| reading.queue) * 1e-9 / time),
        bytes_per_s: bytes / time,
        bytes_per_visit: (visits > 0.0).then(|| bytes / visits),
        visits: visits as u64,
        waiting_ms: sum(|reading| reading.waited) * 1e-6 / visits.max(1.0),
        service_ms: sum(|reading| reading.service) * 1e-6 / sum(|reading| reading.served).max(1.0),
        undestaged: filling::undestaged(id, outcomes),
        state: outcomes.first().and_then(|outcome| outcome.components[id.index()].state),
        meters: meters(id, outcomes, time),
    }
}

/// The share of the time that servers were in use, as far as they worked.
fn of_time(busy_ns: f64, servers: u64, away_ns: f64, time_s: f64) -> f64 {
    let working = servers as f64 - away_ns * 1e-9 / time_s;
    if working > 0.0 { busy_ns * 1e-9 / time_s / working } else { 0.0 }
}

/// The servers of a component that stand in for no others.
fn portions(id: NodeId, outcomes: &[Outcome], time: f64) -> Vec<PortionResults> {
    let of = |outcome: &Outcome| outcome.components[id.index()].portions.clone();
    let each: Vec<_> = outcomes.iter().map(of).collect();
    let of = |at: usize| {
        let sum = |of: fn(&Portion) -> u128| each.iter().map(|all| of(&all[at]) as f64).sum::<f64>();
        let (first, away) = (&each[0][at], sum(|portion| portion.away));
        PortionResults {
            what: first.name.clone(),
            servers: first.servers,
            utilisation: of_time(sum(|portion| portion.busy), first.servers, away, time),
            queue: first.queue.map(|_| sum(|portion| portion.queue.unwrap_or(0)) * 1e-9 / time),
            unavailable: (away > 0.0).then(|| away * 1e-9 / time),
        }
    };
    (0..each.first().map_or(0, Vec::len)).map(of).collect()
}

/// The busiest of them, where they are busier than `least`.
fn busiest(portions: &[PortionResults], least: f64) -> Option<BusiestResults> {
    let busier = portions.iter().filter(|found| found.utilisation > least * 1.000_001);
    let most = busier.max_by(|a, b| a.utilisation.total_cmp(&b.utilisation))?;
    Some(BusiestResults { what: most.what.clone(), utilisation: most.utilisation })
}

/// The utilisation by each cause, where there is another than hosts.
fn by_cause(id: NodeId, outcomes: &[Outcome], share: impl Fn(f64) -> f64) -> BTreeMap<&'static str, f64> {
    let busy = |cause: usize| {
        outcomes.iter().map(|outcome| outcome.components[id.index()].reading.busy[cause]).sum::<f64>()
    };
    let all = Cause::ALL.iter().enumerate().map(|(at, cause)| (cause.name(), busy(at)));
    let used: Vec<(&'static str, f64)> = all.filter(|(_, busy)| *busy > 0.0).collect();
    let alone = used.iter().all(|(name, _)| *name == Cause::Host.name());
    if alone { BTreeMap::new() } else { used.into_iter().map(|(name, busy)| (name, share(busy))).collect() }
}

fn meters(id: NodeId, outcomes: &[Outcome], time: f64) -> BTreeMap<&'static str, Option<f64>> {
    let Some(first) = outcomes.first() else { return BTreeMap::new() };
    let names = first.components[id.index()].meters.iter().enumerate();
    let value = |at: usize, kind: MeterKind| {
        let read = |outcome: &Outcome| outcome.components[id.index()].reading.meters.get(at).copied();
        let each = || outcomes.iter().map(|outcome| read(outcome).unwrap_or_default());
        let sum = |which: usize| each().map(|meter| meter[which]).sum::<f64>();
        match kind {
            MeterKind::Count => Some(sum(0)),
            MeterKind::Peak => Some(each().map(|meter| meter[0]).fold(0.0, f64::max)),
            MeterKind::Share => (sum(1) > 0.0).then(|| sum(0) / sum(1)),
            MeterKind::Level => Some(sum(0) * 1e-9 / time),
        }
    };
    names.map(|(at, (name, kind))| (*name, value(at, *kind))).collect()
}

/// The busiest component, and how far it is from saturation.
pub(super) fn bottleneck(
    plan: &Plan,
    outcomes: &[Outcome],
    components: &[ComponentResults],
) -> Option<Bottleneck> {
    let (id, busiest) = limiting(plan, components)?;
    let utilisation = Some(busiest.most_busy()).filter(|utilisation| *utilisation > 0.0)?;
    // What streams elsewhere do is no matter of this component's.
    let open = reaching(plan, id).all(|(_, stream)| stream.is_open());
    let kept_up = kept_up(plan, id, outcomes);
    let never_idle = utilisation >= SATURATED;
    // A short burst keeps a server busy too; only a load that is not kept up with overloads it.
    let saturated = never_idle && (!open || kept_up.is_some_and(|share| share < 0.99));
    let filling = filling::cache(plan, outcomes).is_some();
    let headroom = match () {
        () if never_idle => kept_up.filter(|_| saturated),
        () if falls_behind(plan, outcomes) || filling => None,
        () => Some(1.0 / utilisation),
    };
    let at_most = (!filling).then(|| 1.0 / utilisation.min(1.0));
    let not_proportional = not_proportional(plan, id);
    let is_stuck = outcomes.iter().any(|outcome| outcome.end == End::Idle);
    Some(Bottleneck {
        component: busiest.path.clone(),
        group: busiest.group.clone(),
        what: match &busiest.busiest {
            _ if is_limit(plan, id) => Some("queue depth".to_owned()),
            busiest => busiest.as_ref().map(|busiest| busiest.what.clone()),
        },
        utilisation,
        saturated,
        saturates_at: headroom.filter(|_| open && !is_stuck),
        closed: clients(plan, id).map(|clients| ClosedLoad { clients, at_most }),
        streams: reaching(plan, id).map(|(_, stream)| stream.name.clone()).collect(),
        estimate: is_limit(plan, id) || not_proportional.is_some(),
        not_proportional: not_proportional.map(|id| plan.graph.nodes[id.index()].path.clone()),
    })
}

/// The clients whose requests come to a component; none where requests of others come there too.
fn clients(plan: &Plan, id: NodeId) -> Option<u64> {
    reaching(plan, id).map(|(_, stream)| stream.clients()).sum()
}

/// A component whose utilisation need not grow in proportion to the load: this one, or another on the way of its streams.
fn not_proportional(plan: &Plan, id: NodeId) -> Option<NodeId> {
    let loads: Vec<(NodeId, Load)> =
        reaching(plan, id).map(|(_, stream)| (stream.target, stream.load())).collect();
    if loads.iter().any(|(_, load)| !plan.graph.view(id).scales(load)) {
        return Some(id);
    }
    let varies = |(target, load): &(NodeId, Load)| {
        plan.graph.reached(*target).into_iter().find(|other| !plan.graph.view(*other).scales(load))
    };
    loads.iter().find_map(varies)
}

fn is_limit(plan: &Plan, id: NodeId) -> bool {
    plan.graph.view(id).features().is_limit
}

/// The component that is in use for most of the time. The places of a queue depth are all taken too where what serves their requests is
/// never idle, or has as many clients: they count while it has time left and somebody waits for one.
fn limiting<'c>(plan: &Plan, components: &'c [ComponentResults]) -> Option<(NodeId, &'c ComponentResults)> {
    let by = |(_, component): &(NodeId, &ComponentResults)| component.most_busy();
    let most = |of_limits: bool| {
        let all = components.iter().enumerate().map(|(at, component)| (NodeId(at as u32), component));
        let measured =
            all.filter(|(_, component)| component.utilisation.is_some() || component.busiest.is_some());
        let chosen = measured.filter(|(id, _)| is_limit(plan, *id) == of_limits);
        chosen.max_by(|a, b| by(a).total_cmp(&by(b)))
    };
    let server = most(false);
    let left = server.filter(|server| by(server) < SATURATED);
    let holds_back = |limit: &(NodeId, &ComponentResults)| {
        let open = reaching(plan, limit.0).all(|(_, stream)| stream.is_open());
        (open || limit.1.queue > Some(0.0)) && left.is_some_and(|server| by(limit) > by(&server))
    };
    let limit = most(true).filter(holds_back);
    limit.or(server)
}

/// Whether requests of an open stream are answered more slowly than they come, and the longer the more so.
pub(super) fn falls_behind(plan: &Plan, outcomes: &[Outcome]) -> bool {
    let drifts = outcomes.iter().any(|outcome| !outcome.steady);
    let mut open = plan.streams.iter().enumerate().filter(|(_, stream)| stream.is_open());
    let behind = |at| sustained(std::iter::once(at), outcomes).is_some_and(|share| share < 0.99);
    drifts && open.any(|(at, _)| behind(at))
}

impl ComponentResults {
    /// The utilisation of its busiest servers.
    fn most_busy(&self) -> f64 {
        self.busiest.as_ref().map_or(self.utilisation, |busiest| Some(busiest.utilisation)).unwrap_or(0.0)
    }
}

/// The streams whose requests come to a component, with their numbers.
fn reaching(plan: &Plan, id: NodeId) -> impl Iterator<Item = (usize, &StreamPlan)> {
    plan.streams.iter().enumerate().filter(move |(_, stream)| plan.graph.reaches(stream.target, id))
}

/// The share of the offered load that was sustained, of the streams that reach a component.
fn kept_up(plan: &Plan, id: NodeId, outcomes: &[Outcome]) -> Option<f64> {
    sustained(reaching(plan, id).map(|(at, _)| at), outcomes)
}

/// The share of the offered load of streams that was sustained: the rate of answers over the rate of requests up to the last one
/// made. None where all were made at once.
fn sustained(streams: impl Iterator<Item = usize>, outcomes: &[Outcome]) -> Option<f64> {
    let (mut offered, mut sustained) = (0.0, 0.0);
    for at in streams {
        for outcome in outcomes {
            let of = &outcome.streams[at];
            if of.last_born.0 == 0 || outcome.ended_at.0 == 0 {
                return None;
            }
            offered += of.born as f64 / of.last_born.secs();
            sustained +=
                (of.answered + of.expired + of.failed - of.abandoned) as f64 / outcome.ended_at.secs();
        }
    }
    (offered > 0.0).then(|| sustained / offered)
}
