//! What a run says of its components, and which of them limits it.

use std::collections::BTreeMap;

use headrace_storage::{Features, Load, Portion};
use headrace_units::Nanos;
use headrace_work::{Cause, NodeId};
use schemars::JsonSchema;
use serde::Serialize;

use super::overload::{self, Overload};
use super::{HeadroomTrials, SATURATED, destaging, filling};
use crate::plan::{Plan, StreamPlan};
use crate::record::MeterReading;
use crate::run::{End, MeterKind, Outcome, StreamOutcome};
use crate::solve;

/// Results of one component.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ComponentResults {
    /// Name, prefixed by those of the components that contain it: `tds/spindle[0]`.
    pub path: String,
    /// Path without the numbers of copies: all copies of a part form one group.
    pub group: String,
    /// Type.
    pub kind: &'static str,
    /// Its place in the scenario: `system.tds`, `parts.spindle`, `system.tds.of`.
    pub written: String,
    /// Index of the component that contains it; null for those in `system`.
    pub within: Option<u32>,
    /// Indices of the components it sends requests to.
    pub uses: Vec<u32>,
    /// Number of servers: the drives of a library, the links of a pool; 0 if it has no queue of its own.
    pub servers: u64,
    /// Share of time in which its servers were busy, for all causes; null if it has no queue of its own. For an array whose
    /// writes waited for parity locks: the share of time in which a write waited for the most contended stripe.
    #[schemars(range(min = 0, max = 1))]
    pub utilisation: Option<f64>,
    /// Share of time in which its servers were held by requests that waited for another component: a drive for its channel.
    /// Not part of `utilisation`; null if none waited.
    #[schemars(range(min = 0, max = 1))]
    pub stalled: Option<f64>,
    /// For a front and a tape library: its busiest group of servers that others cannot replace, if that group is busier than
    /// all servers together.
    pub busiest: Option<BusiestResults>,
    /// All such groups of servers. For a limit per user or host: that of the user or host closest to it. Empty for other
    /// components.
    pub portions: Vec<PortionResults>,
    /// Mean number of servers that had failed and were not in use, such as drives of a library; `utilisation` is that of the
    /// others. Null if none failed.
    pub unavailable: Option<f64>,
    /// Utilisation by cause (`host`, `destage`, `rebuild`, `scrub`, `migration`, `garbage_collection`, `compaction`) if it did background work;
    /// otherwise empty.
    pub utilisation_by_cause: BTreeMap<&'static str, f64>,
    /// Mean number of waiting requests; of a bucket of a limiter the share of the time in which the first in line waited for it.
    pub queue: Option<f64>,
    /// Throughput in bytes.
    pub bytes_per_s: f64,
    /// Number of requests served.
    pub visits: u64,
    /// Mean size of a request.
    #[schemars(extend("x-unit" = "B"))]
    pub bytes_per_visit: Option<f64>,
    /// Mean waiting time.
    pub waiting_ms: f64,
    /// Mean time for which a request held the server. A drive that starts the next command while data of the previous one goes to
    /// the host is held for less than the service time in `path`.
    pub service_ms: f64,
    /// Share of the data written to its cache, after the warm-up, that the cache has not yet passed on; null if nothing was
    /// written to a cache. Above 0.1, the components behind it are less busy than in steady state, and `bottleneck.saturates_at`
    /// is null.
    pub undestaged: Option<f64>,
    /// True if a longer run would find it busier, because work that requests cause is still to come, such as garbage collection.
    pub unsettled: bool,
    /// True if its cache began empty, and holds more than a tenth of the bytes that came: a longer run would find more in it.
    pub cold: bool,
    /// State at the end of the first replication: `failed`, `degraded`, `unavailable` (more disks are out of use than the level
    /// tolerates), `rebuilding`, `copying`, `lost data`; null if it works normally.
    pub state: Option<&'static str>,
    /// Further metrics of this type of component: a count, a ratio or a mean level; null if there was nothing to count. Of a
    /// drive with a cache: `read_hit_ratio`, `cached_writes`, `destages`; of a channel (`fc_loop`, `scsi_bus`, `sas`):
    /// `tenancies`, `command_wait_ms` and `data_wait_ms` (mean waits of a command and of data for it), and of a loop
    /// `access_windows`; of an array with redundancy: `accesses_per_request`, with parity
    /// `full_stripe_writes`, with `hedge` `hedged_reads`, with `evict_slow` `evicted` (members) and `evicted_slowness` (their mean time over the median of their peers'), with a bitmap `bitmap_writes` (of its page), and after a rebuild or a loss
    /// `rebuild_progress` (share of the units to rebuild), `rebuild_s` (duration), `rebuilt_bytes` and `lost_stripes`, with a scrub
    /// `scrub_progress` (share of the stripes; of a pool, of its objects), `scrub_s` (duration) and `scrubbed_bytes` (read from all disks); of a copy: `copy_progress` (share of the chunks), `copy_s` (duration), `copied_bytes` and `copied_on_write_bytes` (of them, those that a write waited for); of an archive: `pool_hit_ratio`, `stages`, `purges`, `purged_files`, `purged_bytes`,
    /// `stored_to_tape`, `to_tape_ms` (mean time that a file was in the pool before it was stored), `cancelled` (recalls); of a readout: `triggers`,
    /// `lost_events`, `lost_share`, `blocked_share` of the time, `blocked_triggers` and `buffered_events` on average; of an event
    /// builder: `built_events`, `lost_events`, `held_events`, `waiting_for_a_builder`, `assembling` (share of the time); of a
    /// recorder: `recorded_events`, `recorded_bytes`, `written_bytes`, `failed_writes`, `blocked_streams` (on average),
    /// `collect_ms` of a write and `write_ms` from then until it is done; of an archive's front: `held_back_by_limits` and
    /// `waiting_for_ports` (requests, on average: times the hours, job-hours lost), `held_back_share`; of its network:
    /// `inward_busy`, `outward_busy`; of its disk pool: `fill`, `waiting_for_space`; of its tape library: `mounts`,
    /// `mounts_per_access`, `locate_ms` (mean time to locate of an access), `most_drives_busy`, `bytes_read`, `bytes_written`, `paths_busy`
    /// (drive groups, on average), `passed_through` (mounts in a drive of another group), `back_hitches` (stops of starved drives),
    /// `relocated` (cartridges moved to other cells), `cleanings`, `within_deadline` (share of requests that had a drive within the time of
    /// their share), once something failed by use `failures`, and once it repacks or verifies cartridges `repack_progress`, `repacked_bytes` (read from old ones), `repack_s`,
    /// `verification_progress`, `verified_bytes` and `verification_s`; of a limiter: `refused` requests, and of each of its buckets `fill`; of a
    /// pool: `reads_per_request` and `writes_per_request` of drives, `fullest_drive` (the share of its room that it fills over the mean), and once it recovers
    /// `recovered_objects` (pieces of objects), `lost_objects`, `rebuild_progress`, `rebuild_s` and `rebuilt_bytes`; of a write-ahead log:
    /// `commits_per_flush`, and `write_amplification` (bytes written to the device, per byte of records); of a log-structured merge tree:
    /// `write_amplification` (per byte put), `stopped` and `slowed_down` (shares of the time in which puts were), `compactions`, and on
    /// average `level0_tables`, `bytes_to_compact`, and, with `fast`, `spilled_bytes` (of tables that had no room there).
    pub meters: BTreeMap<&'static str, Option<f64>>,
}

/// The servers of a component that are busiest, of those that stand in for no others: a class of ports, the drives of a group.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BusiestResults {
    /// Which: `ports[1]` (a class of ports), `drives of groups[0]`, `arms of groups[0]`, `one cartridge`, `reads of shares[0]`,
    /// `streams to tape` (of an archive), `per_user of one user` or `per_host of one host`.
    pub what: String,
    /// Share of time in which they were busy.
    #[schemars(range(min = 0, max = 1))]
    pub utilisation: f64,
}

/// Servers of a component that stand in for no others.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PortionResults {
    /// Name of the servers.
    pub what: String,
    /// Number of servers.
    pub servers: u64,
    /// Share of time in which they were busy, excluding failed servers.
    #[schemars(range(min = 0, max = 1))]
    pub utilisation: f64,
    /// Mean number of requests waiting for them; null if that is not known separately.
    pub queue: Option<f64>,
    /// Mean number of them that had failed and were not in use; null if none failed.
    pub unavailable: Option<f64>,
}

/// The component that limits the system.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bottleneck {
    /// Path.
    pub component: String,
    /// Group.
    pub group: String,
    /// The servers that limit it (as `components[].busiest.what`); `queue depth` if the limit is the number of slots that requests
    /// hold while other components serve them; null if all servers do.
    pub what: Option<String>,
    /// Utilisation of these, for all causes. Of a drive that is busy or stalled for 99.5 % of the time or more, and busy for the greater part of
    /// that, it includes the time stalled.
    #[schemars(range(min = 0, max = 1))]
    pub utilisation: f64,
    /// True if its utilisation was at least 99.5 %, or 98.5 % in the second half of a run in which requests wait for ever longer, and it fell
    /// behind or all streams that reach it are closed.
    pub saturated: bool,
    /// Headroom: the multiple of this load at which it saturates. If it fell behind, the share of the load that was completed.
    /// Null if a closed stream reaches it, because its load depends on response times, if it was never idle but responses did not
    /// grow, because it serves together what waits, if requests arrive faster than they complete although no component is always
    /// busy, if it is a limit that refused more than 0.1 % of the requests, if a longer run would find it busier (`unsettled`, or a
    /// cache fills), if requests waited for space, if a replay ended well before other streams, or if the run ended with requests
    /// that wait forever.
    #[schemars(extend("x-unit" = "ratio"))]
    pub saturates_at: Option<f64>,
    /// True if headroom is at least `saturates_at`, and not known better: for a component whose utilisation is below a tenth and not
    /// proportional to the load, for a disk that mostly writes back, which needs less work per write under more load, and for one that mostly
    /// rebuilds, scrubs or copies.
    pub at_least: bool,
    /// Gain from more requests in flight, if all streams that reach it wait for responses (`closed`, or a trace replayed by think
    /// time); otherwise null.
    pub closed: Option<ClosedLoad>,
    /// Streams that reach it; `saturates_at` assumes that all of them grow in proportion.
    pub streams: Vec<String>,
    /// True if `saturates_at` is an estimate: the utilisation of caches and of drives that reorder is not proportional to the
    /// load. `headrace capacity` finds the load by simulation.
    pub estimate: bool,
    /// Share of the work of the component that rebuilds, scrubs or copies beside requests, and does not grow with their load.
    #[schemars(range(min = 0, max = 1))]
    pub background: f64,
    /// The stream whose load varies with time (bursts, traces, logs): headroom is that of the mean load.
    pub uneven: Option<String>,
    /// The component whose utilisation is not proportional to the load: the bottleneck, or another that the same requests use.
    #[schemars(extend("x-unit" = "path"))]
    pub not_proportional: Option<String>,
    /// This component, one that it is a part of, or one that sends it requests, if a longer run would find that busier: work that its requests
    /// cause is still to come, such as garbage collection or compactions. `saturates_at` is null then.
    #[schemars(extend("x-unit" = "path"))]
    pub unsettled: Option<String>,
    /// True if it was never idle although its open streams had a steady state: it serves together what waits.
    #[serde(skip)]
    pub(super) keeps_up: bool,
    /// True if it was idle now and then while requests were answered much more slowly than they came.
    #[serde(skip)]
    pub(super) held_back: bool,
    /// The short simulations by which an estimate was found; null where utilisation alone is the estimate.
    pub trials: Option<HeadroomTrials>,
    /// True if `limits.wall_time` or an interrupt ended these simulations: another run may find another headroom.
    pub cut_off: bool,
}

/// Clients that wait for answers before they go on, and the component that limits them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClosedLoad {
    /// Maximum number of requests that they have in flight.
    pub clients: u64,
    /// Maximum factor by which more requests in flight can raise throughput, when the component is always busy; `null` where the component
    /// may need less time per request when more are waiting, while a cache is filling, and for events, which are sent in turn.
    #[schemars(extend("x-unit" = "ratio"))]
    pub at_most: Option<f64>,
    /// That factor, if the component takes as long for each request as it does now.
    #[serde(skip)]
    pub(super) by_idle_time: Option<f64>,
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
        stalled: Some(share(sum(|reading| reading.stalled))).filter(|share| *share > 0.0),
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
        unsettled: filling::is_unsettled(id, outcomes),
        cold: outcomes.iter().any(|outcome| outcome.components[id.index()].is_cold),
        state: outcomes.first().and_then(|outcome| outcome.components[id.index()].state),
        meters: meters(id, outcomes, time),
    }
}

/// The share of the time that servers were in use, as far as they worked. Rounding makes it no more than all of it.
fn of_time(busy_ns: f64, servers: u64, away_ns: f64, time_s: f64) -> f64 {
    let working = servers as f64 - away_ns * 1e-9 / time_s;
    let share = if working > 0.0 { busy_ns * 1e-9 / time_s / working } else { 0.0 };
    if (1.0..1.0 + 1e-12).contains(&share) { 1.0 } else { share }
}

/// The servers of a component that stand in for no others.
fn portions(id: NodeId, outcomes: &[Outcome], time: f64) -> Vec<PortionResults> {
    let of = |outcome: &Outcome| outcome.components[id.index()].portions.clone();
    let each: Vec<_> = outcomes.iter().map(of).collect();
    let of = |at: usize| {
        let sum = |of: fn(&Portion) -> u128| each.iter().map(|all| of(&all[at]) as f64).sum::<f64>();
        let (first, away) = (&each[0][at], sum(|portion| portion.away));
        let servers = each.iter().map(|all| all[at].servers).max().unwrap_or(0);
        PortionResults {
            what: first.name.clone(),
            servers,
            utilisation: of_time(sum(|portion| portion.busy), servers, away, time),
            queue: first.queue.map(|_| sum(|portion| portion.queue.unwrap_or(0)) * 1e-9 / time),
            unavailable: (away > 0.0).then(|| away * 1e-9 / time),
        }
    };
    (0..each.first().map_or(0, Vec::len)).map(of).filter(|portion| portion.servers > 0).collect()
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
        kind.value(outcomes.iter().map(|outcome| read(outcome).unwrap_or_default()), time)
    };
    names.map(|(at, (name, kind))| (*name, value(at, *kind))).collect()
}

/// The largest headroom that is given where it is an estimate. Of random systems with larger ones half were off by more than 30 %.
pub(super) const FARTHEST_ESTIMATE: f64 = 10.0;

/// The busiest component, and how far it is from saturation.
pub(super) fn bottleneck(
    plan: &Plan,
    outcomes: &[Outcome],
    components: &[ComponentResults],
) -> Option<Bottleneck> {
    let busy = in_the_long_run(plan, outcomes, components);
    let (id, busiest) = limiting(plan, components, &busy)?;
    let utilisation = Some(busy[id.index()]).filter(|utilisation| *utilisation > 0.0)?;
    // What streams elsewhere do is no matter of this component's.
    let open = reaching(plan, id).all(|(_, stream)| stream.is_open());
    let often = utilisation * overload::as_usual(plan, id, outcomes);
    let Overload { is_mixed, is_steady, is_behind, never_idle, saturated, is_held_back, sustains } =
        overload::of(plan, id, &busy, outcomes);
    let unsettled = unsettled(plan, id, outcomes);
    let is_unknown = is_mixed
        || unsettled.is_some()
        || hides_load(plan, outcomes)
        || refuses(plan, id, components, outcomes);
    let by_formula = destaging_headroom(plan, busiest);
    let headroom = match () {
        () if never_idle => sustains,
        () if is_behind || is_unknown => None,
        () => Some(by_formula.unwrap_or(0.0).max(1.0 / often)),
    };
    let in_turn = sends_in_turn(plan, id);
    let not_proportional = not_proportional(plan, id);
    let uneven = uneven(plan, id);
    let background = in_background(plan, busiest, components);
    let estimate =
        is_limit(plan, id) || not_proportional.is_some() || uneven.is_some() || background > LITTLE;
    let is_far = headroom.is_some_and(|times| times > FARTHEST_ESTIMATE);
    // What is sent in turn waits for writes that take longer under more load, however early a disk writes.
    let gathers = by_formula.is_none() && !in_turn && mostly_gathers(plan, id, busiest);
    let at_least = estimate && !never_idle && (is_far || gathers || background > 0.5);
    let is_stuck = outcomes.iter().any(|outcome| outcome.end == End::Idle);
    Some(Bottleneck {
        component: busiest.path.clone(),
        group: busiest.group.clone(),
        what: what(plan, id, busiest),
        utilisation,
        saturated,
        saturates_at: headroom
            .filter(|_| open && !is_stuck)
            .map(|times| if estimate { times.min(FARTHEST_ESTIMATE) } else { times }),
        at_least,
        closed: closed(plan, id, utilisation, !is_unknown && !destaging::limits(plan, components, id)),
        streams: reaching(plan, id).map(|(_, stream)| stream.name.clone()).collect(),
        estimate,
        uneven,
        background,
        not_proportional: not_proportional.map(|id| plan.graph.nodes[id.index()].path.clone()),
        unsettled,
        held_back: is_held_back,
        keeps_up: never_idle && open && is_steady && !is_mixed && !refuses(plan, id, components, outcomes),
        trials: None,
        cut_off: false,
    })
}

/// Returns the gain from more requests in flight at a component whose utilisation is that of the long run if it `is_known`; `None` unless all that
/// reach it wait for answers.
fn closed(plan: &Plan, id: NodeId, utilisation: f64, is_known: bool) -> Option<ClosedLoad> {
    let clients = clients(plan, id).filter(|clients| *clients > 0)?;
    let is_told = is_known && !sends_in_turn(plan, id) && !shares_work(plan, id);
    let by_idle_time = is_told.then(|| 1.0 / utilisation.min(1.0));
    // What chooses among requests that wait needs less time for each where there are more.
    let at_most = by_idle_time.filter(|_| not_proportional(plan, id) != Some(id));
    Some(ClosedLoad { clients, at_most, by_idle_time })
}

/// Returns which of its parts a component is named by: places in a queue, or the busiest of several.
fn what(plan: &Plan, id: NodeId, busiest: &ComponentResults) -> Option<String> {
    match &busiest.busiest {
        _ if is_limit(plan, id) => Some("queue depth".to_owned()),
        busiest => busiest.as_ref().map(|busiest| busiest.what.clone()),
    }
}

/// Returns a stream that reaches a component and whose rate varies.
fn uneven(plan: &Plan, id: NodeId) -> Option<String> {
    reaching(plan, id).find(|(_, stream)| stream.varies()).map(|(_, stream)| stream.name.clone())
}

/// Returns true if utilisation does not show what the load asks of components: work is still to come, requests wait for something that servers
/// do not give, or the run is a mean of several states, or a component failed and many requests with it.
fn hides_load(plan: &Plan, outcomes: &[Outcome]) -> bool {
    filling::cache(plan, outcomes).is_some()
        || lacks(plan, outcomes).is_some()
        || changes(outcomes)
        || !plan.faults.is_empty() && fails_often(outcomes)
}

/// Beside a component that has failed, with more failed requests than this share, the others have less to do than is asked.
const MOST_FAILED: f64 = 0.1;

fn fails_often(outcomes: &[Outcome]) -> bool {
    let sum = |of: fn(&StreamOutcome) -> u64| {
        outcomes.iter().flat_map(|outcome| &outcome.streams).map(of).sum::<u64>() as f64
    };
    sum(|stream| stream.failed) > MOST_FAILED * sum(StreamOutcome::finished)
}

/// Returns the number of visits to all components of a group.
pub(super) fn visits(plan: &Plan, group: &str, outcomes: &[Outcome]) -> f64 {
    let of_group = plan.graph.ids().filter(|id| plan.graph.group(*id) == group);
    let visits =
        |id: NodeId| outcomes.iter().map(move |outcome| outcome.components[id.index()].reading.visits);
    of_group.flat_map(visits).sum()
}

/// A run is as good as all of one state if this share of it is.
const MOSTLY: f64 = 0.95;

/// Returns true if something failed, returned or was rebuilt during the run, so that its utilisation is a mean of several states.
pub(super) fn changes(outcomes: &[Outcome]) -> bool {
    let changes = |outcome: &Outcome| {
        let spans = outcome.phases.iter().map(|phase| (phase.span.1 - phase.span.0).secs());
        !outcome.phases.is_empty() && spans.fold(0.0, f64::max) < MOSTLY * outcome.ended_at.secs()
    };
    outcomes.iter().any(changes)
}

/// Streams whose last requests come within this share of each other end together.
const TOGETHER: f64 = 0.9;

/// Returns the first replay that ended well before the last request of another stream, when it did and when that came: what a run finds then mixes
/// the time with it and the time without it.
pub(super) fn ends_early<'p>(plan: &'p Plan, outcomes: &[Outcome]) -> Option<(&'p StreamPlan, Nanos, Nanos)> {
    let outcome = outcomes.first()?;
    let last = outcome.streams.iter().map(|stream| stream.last_born).max()?;
    let is_early = |(stream, found): &(&StreamPlan, &StreamOutcome)| {
        stream.recorded() == Some(found.born) && found.last_born.secs() < TOGETHER * last.secs()
    };
    let (stream, found) = plan.streams.iter().zip(&outcome.streams).find(is_early)?;
    Some((stream, found.last_born, last))
}

/// Above this share of the time, requests that wait for space are no accident.
const MOST_LACKING: f64 = 0.01;

/// Returns the component whose requests waited for longest for something that servers do not give, and for which share of the time.
pub(super) fn lacks(plan: &Plan, outcomes: &[Outcome]) -> Option<(NodeId, f64)> {
    let share =
        |id: NodeId| outcomes.iter().map(|outcome| outcome.components[id.index()].lacking).sum::<f64>();
    let shares = plan.graph.ids().map(|id| (id, share(id) / outcomes.len().max(1) as f64));
    shares.filter(|(_, share)| *share > MOST_LACKING).max_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// Returns true if a component is busy mostly with what is written back to it, which it gathers: it does so early while there is time, and
/// less a write under more load.
fn mostly_gathers(plan: &Plan, id: NodeId, busiest: &ComponentResults) -> bool {
    let busy = |cause: Cause| busiest.utilisation_by_cause.get(cause.name()).copied().unwrap_or(0.0);
    let all: f64 = busiest.utilisation_by_cause.values().sum();
    plan.graph.view(id).features().gathers && 2.0 * busy(Cause::Destage) > all
}

/// Above this share of the work of a component, what hosts do not ask for counts.
pub(super) const LITTLE: f64 = 0.05;

/// The share of the work of a component that is rebuilding, scrubbing or copying, as fast as hosts let it: it does not grow with their load, so that
/// they have more room than utilisation tells.
fn in_background(plan: &Plan, busiest: &ComponentResults, components: &[ComponentResults]) -> f64 {
    let is_asked_for = |cause: Cause| plan.streams.iter().any(|stream| stream.spec.cause == cause);
    let has_meter = |meter: &str| components.iter().any(|component| component.meters.contains_key(meter));
    let works = [
        (Cause::Rebuild, "rebuild_progress"),
        (Cause::Scrub, "scrub_progress"),
        // What archives migrate is what was put, and grows with that: only a copy has a progress.
        (Cause::Migration, "copy_progress"),
    ];
    let own = works
        .into_iter()
        .filter(|(cause, meter)| !is_asked_for(*cause) && has_meter(meter))
        .map(|(cause, _)| cause);
    let busy = |cause: Cause| busiest.utilisation_by_cause.get(cause.name()).copied().unwrap_or(0.0);
    let all: f64 = busiest.utilisation_by_cause.values().sum();
    if all > 0.0 { own.map(busy).sum::<f64>() / all } else { 0.0 }
}

/// Returns true if something on the way of the streams that reach a component sends in turn: events wait for their turn where no port is busy.
fn sends_in_turn(plan: &Plan, id: NodeId) -> bool {
    any_on_the_way(plan, id, |features| features.sends_in_turn)
}

/// Returns true if requests share work on the way of those streams: the more clients there are, the less each brings.
fn shares_work(plan: &Plan, id: NodeId) -> bool {
    any_on_the_way(plan, id, |features| features.shares_work)
}

fn any_on_the_way(plan: &Plan, id: NodeId, is: fn(&Features) -> bool) -> bool {
    let mut reached = reaching(plan, id).flat_map(|(_, stream)| plan.graph.reached(stream.target));
    reached.any(|id| is(&plan.graph.view(id).features()))
}

/// The headroom by theory of a drive that destages while it is idle: with more load it writes more in one go, so its utilisation says
/// little. None for any other component, and where it does work that formulas leave out, such as garbage collection.
fn destaging_headroom(plan: &Plan, busiest: &ComponentResults) -> Option<f64> {
    let causes = &busiest.utilisation_by_cause;
    let known = |name: &&str| [Cause::Host.name(), Cause::Destage.name()].contains(name);
    (causes.contains_key(Cause::Destage.name()) && causes.keys().all(known)).then_some(())?;
    solve::multiple(plan).filter(|(component, _)| *component == busiest.group).map(|(_, times)| times)
}

/// The clients whose requests come to a component; none where requests of others come there too.
fn clients(plan: &Plan, id: NodeId) -> Option<u64> {
    reaching(plan, id).map(|(_, stream)| stream.clients()).sum()
}

/// Returns a component, if a longer run would find it busier, that this one is, is a part of, or has requests from: its requests are more then.
fn unsettled(plan: &Plan, id: NodeId, outcomes: &[Outcome]) -> Option<String> {
    let path = &plan.graph.nodes[id.index()].path;
    let is_within =
        |whole: &str| path.strip_prefix(whole).is_some_and(|part| part.is_empty() || part.starts_with('/'));
    let mut unsettled = plan.graph.ids().filter(|id| filling::is_unsettled(*id, outcomes));
    unsettled.find_map(|other| {
        let whole = &plan.graph.nodes[other.index()].path;
        let concerns = is_within(whole) || plan.graph.reached(other).contains(&id);
        concerns.then(|| whole.to_string())
    })
}

/// A component whose utilisation need not grow in proportion to the load: this one, or another on the way of its streams.
fn not_proportional(plan: &Plan, id: NodeId) -> Option<NodeId> {
    let loads: Vec<(NodeId, Load)> =
        reaching(plan, id).map(|(_, stream)| (stream.target, stream.load())).collect();
    let at_it: Vec<Load> = loads.iter().map(|(_, load)| load.clone()).collect();
    if at_it.iter().chain(&Load::together(&at_it)).any(|load| !plan.graph.view(id).scales(load)) {
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

/// Returns the largest multiple of the load of `streams` that limits of rates allow in the long run. Behind a cache that writes back, more load
/// may bring less to each request, so that they allow more.
pub(super) fn allowed(plan: &Plan, streams: &[String], components: &[ComponentResults]) -> f64 {
    let all = || plan.graph.ids().zip(components);
    let gathered =
        |id| all().any(|(before, found)| found.undestaged.is_some() && plan.graph.reaches(before, id));
    let scaled = |id| reaching(plan, id).all(|(_, stream)| streams.contains(&stream.name));
    let limits = all().filter(|(id, _)| plan.graph.view(*id).features().limits_rate);
    let limits = limits.filter(|(id, _)| scaled(*id) && !gathered(*id));
    limits.map(|(_, found)| 1.0 / found.most_busy()).fold(f64::INFINITY, f64::min)
}

/// For which share of the time each component is in use. Of members of a group whose numbers of visits differ no more than by chance the busiest
/// says little, the less the more there are and the shorter the run: each counts with the mean of all.
fn in_the_long_run(plan: &Plan, outcomes: &[Outcome], components: &[ComponentResults]) -> Vec<f64> {
    let mut busy: Vec<f64> = components.iter().map(ComponentResults::most_busy).collect();
    let mut groups: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
    for id in plan.graph.ids() {
        groups.entry(plan.graph.group(id)).or_default().push(id);
    }
    for members in groups.values().filter(|members| members.len() > 1) {
        let visits = |id: &NodeId| {
            outcomes.iter().map(|outcome| outcome.components[id.index()].reading.visits).sum::<f64>()
        };
        let counts: Vec<(f64, f64)> = members.iter().map(|id| (visits(id), busy[id.index()])).collect();
        if differ_by_chance(&counts) {
            let mean = members.iter().map(|id| busy[id.index()]).sum::<f64>() / members.len() as f64;
            members.iter().for_each(|id| busy[id.index()] = mean);
        }
    }
    busy
}

/// Deviations within which something is chance.
const CHANCE: f64 = 4.0;

/// Returns true if numbers of visits, and the time that each member is busy, are as they would be of visits that choose among all at random and take
/// equally long on average: χ² is at most some deviations above its mean, and the mean time of a visit at no member far off. That time is taken to
/// deviate by no more than itself.
fn differ_by_chance(members: &[(f64, f64)]) -> bool {
    let (visits, busy) =
        members.iter().fold((0.0, 0.0), |(visits, busy), (more, too)| (visits + more, busy + too));
    let (mean, free) = (visits / members.len() as f64, members.len() as f64 - 1.0);
    let chi2 = members.iter().map(|(count, _)| (count - mean) * (count - mean) / mean).sum::<f64>();
    let is_alike = |(count, time): &(f64, f64)| {
        *count == 0.0 || (time / (count * busy / visits) - 1.0).abs() * count.sqrt() <= CHANCE
    };
    mean > 0.0 && busy > 0.0 && chi2 <= free + CHANCE * (2.0 * free).sqrt() && members.iter().all(is_alike)
}

/// The component that is in use for most of the time; of several that are never idle, the one for which most requests wait, and a part rather
/// than its whole. The places of a queue depth are all taken too where what serves their requests is
/// never idle: they count while it has time left and somebody waits for one, or one more would.
fn limiting<'c>(
    plan: &Plan,
    components: &'c [ComponentResults],
    busy: &[f64],
) -> Option<(NodeId, &'c ComponentResults)> {
    let by = |(id, _): &(NodeId, &ComponentResults)| busy[id.index()];
    let before = |a: &(NodeId, &ComponentResults), b: &(NodeId, &ComponentResults)| {
        let queue = |of: &ComponentResults| {
            let portions = of.portions.iter().filter_map(|portion| portion.queue);
            of.queue.into_iter().chain(portions).fold(0.0, f64::max)
        };
        let never_idle = by(a).min(SATURATED).total_cmp(&by(b).min(SATURATED));
        never_idle.then(queue(a.1).total_cmp(&queue(b.1))).then(by(a).total_cmp(&by(b)))
    };
    let measured = |of_limits: bool| {
        let all = components.iter().enumerate().map(|(at, component)| (NodeId(at as u32), component));
        let measured =
            all.filter(|(_, component)| component.utilisation.is_some() || component.busiest.is_some());
        measured.filter(move |(id, _)| is_limit(plan, *id) == of_limits)
    };
    let most = |of_limits: bool| measured(of_limits).max_by(before);
    let part = |whole: (NodeId, &ComponentResults)| {
        let parts = measured(false).filter(|(_, part)| part.within == Some(whole.0.0));
        parts.filter(|part| by(part) >= SATURATED && part.1.queue > Some(0.0)).max_by(before)
    };
    let server = most(false).map(|whole| part(whole).unwrap_or(whole));
    let left = server.filter(|server| by(server) < SATURATED);
    let holds_back = |limit: &(NodeId, &ComponentResults)| {
        let open = reaching(plan, limit.0).all(|(_, stream)| stream.is_open());
        let is_full = limit.1.queue > Some(0.0) || by(limit) >= SATURATED;
        (open || is_full) && left.is_some_and(|server| by(limit) > by(&server))
    };
    let limit = most(true).filter(holds_back);
    limit.or(server)
}

/// A limit that refuses more than this share of the requests has no headroom: it refuses some at every load, and more of a larger one.
const MOST_REFUSED: f64 = 0.001;

/// Returns true if a component, or the one that it is a part of, is a limit that refuses requests.
fn refuses(plan: &Plan, id: NodeId, components: &[ComponentResults], outcomes: &[Outcome]) -> bool {
    let limit = &components[id.index()];
    let all = std::iter::once(limit).chain(limit.within.map(|whole| &components[whole as usize]));
    let refused: f64 = all.filter_map(|of| of.meters.get("refused").copied().flatten()).sum();
    let born = reaching(plan, id).flat_map(|(at, _)| outcomes.iter().map(move |of| of.streams[at].born));
    refused > MOST_REFUSED * born.sum::<u64>() as f64
}

impl ComponentResults {
    /// The utilisation of its busiest servers. Maintenance yields to requests, so it does not count. A drive that is always in use, and for the
    /// greater part busy, limits what is asked of it also while it stalls: other commands cannot begin.
    fn most_busy(&self) -> f64 {
        let maintenance = self.utilisation_by_cause.get(Cause::Maintenance.name()).copied().unwrap_or(0.0);
        let utilisation = self.utilisation.map(|utilisation| utilisation - maintenance);
        let busy =
            self.busiest.as_ref().map_or(utilisation, |busiest| Some(busiest.utilisation)).unwrap_or(0.0);
        let in_use = busy + self.stalled.filter(|stalled| *stalled < busy).unwrap_or(0.0);
        if in_use >= SATURATED { in_use.min(1.0) } else { busy }
    }
}

/// The streams whose requests come to a component, with their numbers.
pub(super) fn reaching(plan: &Plan, id: NodeId) -> impl Iterator<Item = (usize, &StreamPlan)> {
    plan.streams.iter().enumerate().filter(move |(_, stream)| plan.graph.reaches(stream.target, id))
}
