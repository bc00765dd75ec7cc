//! The network that a scenario is: its streams, and the queues that they share.

use std::collections::BTreeSet;
use std::sync::Arc;

use headrace_analytic::Distribution;
use headrace_storage::{Change, Demand, QueueOrder, ServiceKind, Setups};
use headrace_units::{Nanos, counted};
use headrace_work::NodeId;
use headrace_workload::ArrivalSpec;

use super::{messages, refused};
use crate::document::{Path, Problem};
use crate::faults::{Fault, Moment};
use crate::plan::{Plan, StreamPlan};

/// A scenario as a network of queues.
pub struct QueueNetwork<'p> {
    pub plan: &'p Plan,
    /// Demands of one request of each stream.
    pub streams: Vec<(&'p StreamPlan, Vec<Demand>)>,
    /// The queues that requests come to, in the order of the graph.
    pub queues: Vec<ServiceQueue>,
    /// Limits on requests that are on their way at once.
    pub places: Vec<DepthLimit>,
}

/// A limit on requests that are on their way at once: the queue depth of an adapter.
pub struct DepthLimit {
    pub node: NodeId,
    pub many: u32,
    /// Time for which one request of each stream holds a place if nobody waits, in ms; 0 for streams that go another way.
    pub held_ms: Vec<f64>,
}

impl DepthLimit {
    /// Returns true if only this stream takes places here.
    pub fn are_of(&self, stream: usize) -> bool {
        self.held_ms.iter().enumerate().all(|(at, held)| (at == stream) == (*held > 0.0))
    }
}

/// A node with servers and a queue.
pub struct ServiceQueue {
    pub node: NodeId,
    /// Which of several queues of the node; none where it has one.
    pub station: Option<String>,
    /// Another queue of the node that is waited for while a server here is held, and how often.
    pub holds: Option<(String, f64)>,
    pub servers: u32,
    /// True if each server has a queue of its own.
    pub apart: bool,
    /// Demand of one request of each stream; `None` for streams that do not come here.
    pub asked: Vec<Option<Asked>>,
    /// True if waiting here is counted elsewhere: every message is in another port at the same time, for as long at least.
    pub counted_elsewhere: bool,
}

/// Demand of one request at a queue.
pub struct Asked {
    pub visits: f64,
    pub distribution: Distribution,
    /// The number of visits that the request waits for one after another: parallel ones count as one, those after its answer as none.
    pub path_visits: f64,
    /// The part of the work, in ms, that is on the path of the request.
    pub path_ms: f64,
    /// True if parts of the request are at several such queues at once.
    pub is_split: bool,
    /// The squared coefficient of variation of the time between visits.
    pub arrivals_cv2: f64,
    /// The visits of each rank and their distributions; the smallest rank is served first.
    pub ranks: Vec<(u32, f64, Distribution)>,
    /// Work that the queue has done ahead when it is idle, in ms.
    pub ahead_ms: f64,
    /// Where servers are set up for a class of visits: the classes.
    pub setups: Option<Arc<Setups>>,
}

impl Asked {
    /// The work that one request brings.
    pub fn work_ms(&self) -> f64 {
        self.visits * self.distribution.mean()
    }
}

impl ServiceQueue {
    /// The work that one request of a stream brings it.
    pub fn work_ms(&self, stream: usize) -> f64 {
        self.asked[stream].as_ref().map_or(0.0, Asked::work_ms)
    }

    /// Returns the part of the work of a stream, in ms, that is on the path of the request; 0 if the stream does not come here.
    pub fn path_ms(&self, stream: usize) -> f64 {
        self.asked[stream].as_ref().map_or(0.0, |asked| asked.path_ms)
    }

    /// The ranks of all visits, the first to be served first.
    pub fn ranks(&self) -> Vec<u32> {
        let all = self.asked.iter().flatten().flat_map(|asked| &asked.ranks);
        let mut ranks: Vec<u32> = all.map(|(rank, ..)| *rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// Returns true if it limits a rate and saves up for more: clients wait for it only where they would ask for more than that rate.
    pub fn limits_rate(&self) -> bool {
        self.asked.iter().flatten().any(|asked| asked.ahead_ms > 0.0)
    }

    /// Returns true if its servers are set up for a class of visits at a time.
    pub fn is_set_up(&self) -> bool {
        self.asked.iter().flatten().any(|asked| asked.setups.is_some())
    }

    /// Returns true if some visits are served before others.
    pub fn has_ranks(&self) -> bool {
        self.ranks().len() > 1
    }

    /// Returns true if parts of requests of any stream are here and elsewhere at the same time.
    pub fn is_split(&self) -> bool {
        (0..self.asked.len()).any(|stream| self.splits(stream))
    }

    /// Returns true if parts of one request of a stream are here and at other queues at the same time.
    pub fn splits(&self, stream: usize) -> bool {
        self.asked[stream].as_ref().is_some_and(|asked| asked.is_split)
    }
}

impl<'p> QueueNetwork<'p> {
    pub fn of(plan: &'p Plan) -> Result<Self, Vec<Problem>> {
        of_one_kind(plan)?;
        works_at_first(plan)?;
        let asked = plan.streams.iter().map(|stream| {
            let demands = plan.graph.view(stream.target).demands(&stream.load());
            demands.map(|demands| (stream, demands)).map_err(|fails| refused(&stream.name, &fails))
        });
        let (streams, problems): (Vec<_>, Vec<_>) = asked.partition(Result::is_ok);
        if !problems.is_empty() {
            return Err(problems.into_iter().filter_map(Result::err).collect());
        }
        let streams: Vec<_> = streams.into_iter().flatten().collect();
        limits_one_alone(plan, &streams)?;
        is_solved_soon(&streams)?;
        let ordered: Vec<_> = streams.iter().map(|(stream, demands)| (*stream, by_node(demands))).collect();
        let queues = plan.graph.ids().flat_map(|node| queues(node, &ordered)).collect();
        let places = plan.graph.ids().filter_map(|node| places(node, &ordered)).collect();
        Ok(Self { plan, streams, queues, places })
    }

    /// The name of a queue: that of its components, and which of several of one it is.
    pub fn name(&self, queue: &ServiceQueue) -> String {
        let group = self.plan.graph.group(queue.node);
        queue.station.as_ref().map_or_else(|| group.to_owned(), |station| format!("{group}: {station}"))
    }

    /// The queue that is waited for while a server of this one is held, and how often.
    pub fn held_for(&self, queue: &ServiceQueue) -> Option<(&ServiceQueue, f64)> {
        let (station, times) = queue.holds.as_ref()?;
        let is_it = |other: &&ServiceQueue| other.station.as_ref() == Some(station);
        // Queues lie in the order of their nodes.
        let first = self.queues.partition_point(|other| other.node < queue.node);
        let mut beside = self.queues[first..].iter().take_while(|other| other.node == queue.node);
        Some((beside.find(is_it)?, *times))
    }

    pub fn is_open(&self) -> bool {
        self.streams[0].0.is_open()
    }

    /// The load of the scenario itself: requests per second, or clients.
    pub fn load(&self) -> f64 {
        self.shares().iter().sum()
    }

    /// The rate or the clients of each stream.
    pub fn shares(&self) -> Vec<f64> {
        let own = |(stream, _): &(&StreamPlan, _)| {
            let arrivals = &stream.spec.arrivals;
            let own = arrivals.clients().map(f64::from).or(arrivals.mean_rate());
            own.or(stream.sessions().map(|log| log.per_s)).unwrap_or(0.0)
        };
        self.streams.iter().map(own).collect()
    }

    /// The requests per second that come at a load, by stream.
    pub fn rates_at(&self, load: f64) -> Vec<f64> {
        let shares = self.shares();
        let own: f64 = shares.iter().sum();
        shares.iter().map(|share| share / own * load).collect()
    }

    /// The share of each stream in all requests, at the scenario's own load.
    pub fn mix(&self) -> Vec<f64> {
        let rates = match self.is_open() {
            true => self.shares(),
            false => super::closed::throughputs(self, self.load()),
        };
        let all: f64 = rates.iter().sum();
        rates.iter().map(|rate| rate / all).collect()
    }

    /// Returns the time that a request of a stream spends at delays, in ms.
    pub fn delays_ms(&self, stream: usize) -> f64 {
        let delays = self.streams[stream].1.iter().filter(|demand| demand.server == ServiceKind::Delay);
        delays.map(|demand| demand.work_ms() / demand.parallelism).sum()
    }

    /// Returns the time that waiting for the last part adds to a request of a stream, excluding queueing, in ms.
    pub fn join_ms(&self, stream: usize) -> f64 {
        let joins = self.streams[stream].1.iter();
        let is_join =
            |server: &ServiceKind| matches!(server, ServiceKind::Join { .. } | ServiceKind::LastWait(_));
        let joins = joins.filter(|demand| is_join(&demand.server));
        joins.map(|demand| demand.work_ms() / demand.parallelism).sum()
    }

    /// Returns the number of times that a request of a stream is split: a small write to a RAID 5 reads in parallel, then writes in
    /// parallel.
    pub fn rounds(&self, stream: usize) -> f64 {
        let split = self.queues.iter().filter(|queue| queue.splits(stream));
        let asked = split.filter_map(|queue| queue.asked[stream].as_ref());
        asked.map(|asked| asked.path_visits).sum()
    }

    /// The joins of a stream: how often, over how many parts, and the distribution of the largest.
    pub fn joins(&self, stream: usize) -> impl Iterator<Item = (f64, u32, &Distribution)> {
        self.streams[stream].1.iter().filter_map(|demand| match &demand.server {
            ServiceKind::Join { branches, part } => {
                Some((demand.visits / demand.parallelism, *branches, part))
            }
            _ => None,
        })
    }

    /// The waits of a stream for the last of several parts, each at a component that is several queues: how often, and of how many.
    pub fn last_waits(&self, stream: usize) -> impl Iterator<Item = (f64, u32)> {
        self.streams[stream].1.iter().filter_map(|demand| match demand.server {
            ServiceKind::LastWait(many) => Some((demand.visits / demand.parallelism, many)),
            _ => None,
        })
    }

    /// Returns true if requests of any stream are split, and wait for the last of their parts.
    pub fn has_joins(&self) -> bool {
        (0..self.streams.len()).any(|stream| self.joins(stream).next().is_some())
    }

    pub fn method(&self) -> String {
        let many = self.queues.iter().any(|queue| queue.servers > 1 && !queue.apart);
        let is_set_up = self.queues.iter().any(ServiceQueue::is_set_up);
        match (self.is_open(), super::closed::is_small(self)) {
            (true, _) if is_set_up => "open network: M/G/1 with set-ups for each class, and M/G/c with few customers for the servers".to_owned(),
            (true, _) if many => "open network: Pollaczek-Khinchine and Erlang C at each queue".to_owned(),
            (true, _) => "open network: Pollaczek-Khinchine at each queue".to_owned(),
            (false, true) => "closed network: exact mean value analysis".to_owned(),
            (false, false) => "closed network: linearizer".to_owned(),
        }
    }
}

/// Refuses a limit of a rate where there are several closed streams: what one of them may not ask for, others do.
fn limits_one_alone(plan: &Plan, streams: &[(&StreamPlan, Vec<Demand>)]) -> Result<(), Vec<Problem>> {
    let limited = |(stream, demands): &(&StreamPlan, Vec<Demand>)| {
        let demand = demands.iter().find(|demand| demand.ahead_ms > 0.0 && !stream.is_open())?;
        let path = plan.graph.view(demand.node).path();
        let why = format!(
            "clients behind a limit that saves up have the system to themselves: those behind `{path}` share it with {}",
            counted(streams.len() as u64 - 1, "other stream")
        );
        Some(refused(&stream.name, &why))
    };
    let found = if streams.len() > 1 { streams.iter().find_map(limited) } else { None };
    found.map_or(Ok(()), |problem| Err(vec![problem]))
}

/// The most that the largest network may cost, in steps: about a tenth of a second for each load.
const MOST_STEPS: f64 = 2e7;

/// A stream has a wait of its own at each component. With clients, each wait also depends on those of the streams in pairs.
fn is_solved_soon(streams: &[(&StreamPlan, Vec<Demand>)]) -> Result<(), Vec<Problem>> {
    let nodes: BTreeSet<NodeId> =
        streams.iter().flat_map(|(_, demands)| demands).map(|demand| demand.node).collect();
    let (many, at) = (streams.len() as f64, nodes.len() as f64);
    let each = if streams.iter().any(|(stream, _)| stream.is_open()) { 100.0 } else { many * many };
    if many * at * each <= MOST_STEPS {
        return Ok(());
    }
    let fails = format!(
        "streams and components are few enough to solve for each pair: there are {} and {}",
        streams.len(),
        nodes.len()
    );
    let help = "join streams that are alike to one, or simulate it: `headrace run`";
    Err(vec![refused(&streams[0].0.name, &fails).help(help)])
}

/// Returns the demands of a stream in the order of their nodes; those at one node as they were.
fn by_node(demands: &[Demand]) -> Vec<Demand> {
    let mut ordered = demands.to_vec();
    ordered.sort_by_key(|demand| demand.node);
    ordered
}

/// Returns the demands at a node, of those that lie in the order of their nodes.
pub fn at_node(node: NodeId, demands: &[Demand]) -> &[Demand] {
    let first = demands.partition_point(|demand| demand.node < node);
    let many = demands[first..].partition_point(|demand| demand.node == node);
    &demands[first..first + many]
}

/// The places of a node that limits how many requests are on their way.
fn places(node: NodeId, streams: &[(&StreamPlan, Vec<Demand>)]) -> Option<DepthLimit> {
    let of = |demand: &Demand| match demand.server {
        ServiceKind::Places(many) => Some((many, demand.work_ms())),
        _ => None,
    };
    let (many, _) = streams.iter().flat_map(|(_, demands)| at_node(node, demands)).find_map(of)?;
    let held = |(_, demands): &(_, Vec<Demand>)| {
        at_node(node, demands).iter().filter_map(of).map(|(_, ms)| ms).sum()
    };
    Some(DepthLimit { node, many, held_ms: streams.iter().map(held).collect() })
}

/// The queues of a node that requests come to.
fn queues(node: NodeId, streams: &[(&StreamPlan, Vec<Demand>)]) -> Vec<ServiceQueue> {
    let mut stations: Vec<Option<&str>> = Vec::new();
    for demand in streams.iter().flat_map(|(_, demands)| at_node(node, demands)) {
        let (is_queue, station) =
            (matches!(demand.server, ServiceKind::Queue { .. }), demand.station.as_deref());
        if is_queue && !stations.contains(&station) {
            stations.push(station);
        }
    }
    stations.into_iter().filter_map(|station| queue((node, station), streams)).collect()
}

/// Returns a queue with the demands of all streams; `None` if nothing comes to it.
fn queue(at: (NodeId, Option<&str>), streams: &[(&StreamPlan, Vec<Demand>)]) -> Option<ServiceQueue> {
    let (servers, order, first) = streams.iter().flat_map(|(_, demands)| demands_on(at, demands)).next()?;
    let asked = streams.iter().map(|(stream, demands)| asked(at, stream.spec.priority, demands)).collect();
    Some(ServiceQueue {
        node: at.0,
        station: at.1.map(str::to_owned),
        holds: first.holds.clone(),
        servers,
        apart: order == QueueOrder::Apart,
        asked,
        counted_elsewhere: messages::are_elsewhere(at.0, streams),
    })
}

fn demands_on<'d>(
    (node, station): (NodeId, Option<&'d str>),
    demands: &'d [Demand],
) -> impl Iterator<Item = (u32, QueueOrder, &'d Demand)> {
    at_node(node, demands).iter().filter_map(move |demand| match demand.server {
        ServiceKind::Queue { servers, order } if demand.station.as_deref() == station => {
            Some((servers, order, demand))
        }
        _ => None,
    })
}

/// Returns the sum of all demands of one request of a stream of this priority at a queue.
fn asked(at: (NodeId, Option<&str>), priority: u8, demands: &[Demand]) -> Option<Asked> {
    let here: Vec<(QueueOrder, &Demand)> =
        demands_on(at, demands).map(|(_, order, demand)| (order, demand)).collect();
    let sum = |of: fn(&Demand) -> f64| here.iter().map(|(_, demand)| of(demand)).sum::<f64>();
    let visits = sum(|demand| demand.visits);
    if visits == 0.0 {
        return None;
    }
    let distribution = Distribution::mixed(
        here.iter().map(|(_, demand)| (demand.visits / visits, demand.distribution.clone())).collect(),
    );
    let arrivals_cv2 = sum(|demand| demand.visits * demand.arrivals_cv2) / visits;
    let rank = |order: QueueOrder| match order {
        QueueOrder::FirstCome | QueueOrder::Apart => 0,
        QueueOrder::Urgent => u32::from(priority),
        QueueOrder::Ranked(rank) => rank,
    };
    let ranks = here
        .iter()
        .map(|(order, demand)| (rank(*order), demand.visits, demand.distribution.clone()))
        .collect();
    let ahead_ms = here.iter().map(|(_, demand)| demand.ahead_ms).fold(0.0, f64::max);
    Some(Asked {
        visits,
        distribution,
        path_visits: sum(|demand| demand.visits / demand.parallelism),
        path_ms: sum(|demand| demand.work_ms() / demand.parallelism),
        is_split: here.iter().any(|(_, demand)| demand.parallelism > 1.0 && demand.parallelism.is_finite()),
        arrivals_cv2,
        ranks,
        ahead_ms,
        setups: here.iter().find_map(|(_, demand)| demand.setups.clone()),
    })
}

/// Every component works when the run begins: formulas know the system before its first fault alone.
fn works_at_first(plan: &Plan) -> Result<(), Vec<Problem>> {
    let at_once = |fault: &Fault| match fault.when {
        Moment::At(time) => time == Nanos::ZERO,
        Moment::After(spec) => spec.after == 0,
    };
    let down = |fault: &&Fault| matches!(fault.change, Change::Fails | Change::Slow(101..)) && at_once(fault);
    let Some(fault) = plan.faults.iter().find(down) else { return Ok(()) };
    let path = plan.graph.view(fault.node).path();
    let message = format!(
        "no formula for this scenario; the assumption that fails: `{path}` works as usual when the run begins"
    );
    let help =
        "give the fault a later time and the system before it is solved, or simulate it: `headrace run`";
    Err(vec![Problem::at(Path::of(&["faults"]), message).help(help)])
}

/// Why an archive has no formula: the files of a session follow each other within seconds, and wait although the drives are seldom in use.
const BURSTS: &str = "operations come one by one at random; those of a log come in bursts, and which of them are recalled \
                      follows from what was purged";
const ARCHIVE: &str = "simulate it: `headrace run` names the bottleneck and its headroom, `headrace capacity --increase` or `headrace \
                       sweep --vary` with a field of the library, the pool or the front say how many are needed, and `speed: 2` in the \
                       log doubles the load";

/// Why there is no formula for a rate that varies.
const VARIES: &str = "requests come at one rate: this one varies with time";

/// Returns the fix for a stream whose rate varies.
fn one_rate(stream: &StreamPlan) -> String {
    let most = stream.curve().map_or(0.0, |curve| curve.bounds().1);
    format!(
        "solve it at one rate, such as the largest: `--set 'workload.{}.arrivals={{poisson: {most} /s}}'`; or simulate it: `headrace run`",
        stream.name
    )
}

/// Streams are all open, or all closed; and of a kind that has a mean rate or a number of clients.
fn of_one_kind(plan: &Plan) -> Result<(), Vec<Problem>> {
    let closed = |stream: &&StreamPlan| stream.spec.arrivals.think().is_some();
    let odd = |stream: &StreamPlan| match &stream.spec.arrivals {
        _ if stream.spec.outstanding.is_some() => Some("no request waits outside: `outstanding` limits them"),
        ArrivalSpec::Log(_) if stream.sessions().is_some() => None,
        ArrivalSpec::Steps(_) => {
            Some("clients think and ask by themselves: these are reader threads that wait for accelerators")
        }
        ArrivalSpec::Replay(_) => Some("arrivals follow a distribution: those of a trace are as recorded"),
        ArrivalSpec::Varying(_) => Some(VARIES),
        ArrivalSpec::Log(_) => Some(BURSTS),
        _ => None,
    };
    let problem = |stream: &StreamPlan| {
        let fails = odd(stream)?;
        let problem = refused(&stream.name, fails);
        Some(match fails {
            BURSTS => problem.help(ARCHIVE),
            VARIES => problem.help(one_rate(stream)),
            _ => problem,
        })
    };
    let problems: Vec<Problem> = plan.streams.iter().filter_map(problem).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let of_clients = plan.streams.iter().find(closed);
    let of_rate = plan.streams.iter().find(|stream| !closed(stream));
    match (of_clients, of_rate) {
        (Some(closed), Some(open)) => {
            let message = format!(
                "open and closed streams together have no formula here: `{}` has clients that wait, `{}` a rate",
                closed.name, open.name
            );
            let help = "solve them one at a time, or simulate both: `headrace run`";
            Err(vec![Problem::at(Path::of(&["workload"]), message).help(help)])
        }
        _ => Ok(()),
    }
}
