//! What theory says of a scenario, and where it cannot: each component says how it serves a load, this puts that into the formula
//! whose assumptions hold.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use headrace_analytic::{Distribution, Mg1, Mmc, fork_join};
use headrace_storage::{Model, ServiceKind};
use headrace_units::{Nanos, PerSecond};
use headrace_work::{NodeId, Op};
use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{Path, Problem};
use crate::plan::{Plan, StreamPlan};

/// Quantiles that results carry, and what theory says of them.
pub const SHARES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// The prediction of theory for one stream.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StreamTheory {
    /// Name of the stream.
    pub stream: String,
    /// Formula; `none` if none applies.
    pub model: String,
    /// True if all assumptions of the formula hold.
    pub exact: bool,
    /// Assumption that fails, and what is known about the error; of several, one after the other with semicolons.
    pub fails: Option<String>,
    /// Predicted utilisation of the bottleneck.
    #[schemars(range(min = 0, max = 1))]
    pub utilisation: Option<f64>,
    /// Predicted mean service time.
    pub service_ms: Option<f64>,
    /// Predicted mean response time.
    pub mean_ms: Option<f64>,
    /// Predicted standard deviation of the response time.
    pub sd_ms: Option<f64>,
    /// Predicted quantiles of the response time; none where more than 100 streams share a component.
    #[schemars(extend("x-unit" = "list of [share, ms]"))]
    pub quantiles_ms: Vec<(f64, f64)>,
    /// Predicted CDF, at the times of the simulated one.
    #[schemars(extend("x-unit" = "list of [ms, share]"))]
    pub cdf: Vec<(f64, f64)>,
}

impl StreamTheory {
    fn none(stream: &StreamPlan, fails: String) -> Self {
        Self {
            stream: stream.name.clone(),
            model: "none".to_owned(),
            exact: false,
            fails: Some(fails),
            utilisation: None,
            service_ms: None,
            mean_ms: None,
            sd_ms: None,
            quantiles_ms: Vec::new(),
            cdf: Vec::new(),
        }
    }
}

/// Requests a millisecond; `None` for a stream whose rate the system or a trace sets.
fn rate_per_ms(stream: &StreamPlan) -> Option<f64> {
    stream.spec.arrivals.mean_rate().map(|rate| rate * 1e-3)
}

/// The components that streams go to, and how they share what they use.
struct Targets<'p> {
    plan: &'p Plan,
    /// The streams to each.
    streams: BTreeMap<NodeId, Vec<&'p StreamPlan>>,
    /// The number of them that reach each component of the graph.
    reaching: Vec<u32>,
}

impl<'p> Targets<'p> {
    fn of(plan: &'p Plan) -> Self {
        let mut streams: BTreeMap<NodeId, Vec<&StreamPlan>> = BTreeMap::new();
        for stream in &plan.streams {
            streams.entry(stream.target).or_default().push(stream);
        }
        let mut reaching = vec![0; plan.graph.nodes.len()];
        for id in streams.keys().flat_map(|target| plan.graph.reached(*target)) {
            reaching[id.index()] += 1;
        }
        Self { plan, streams, reaching }
    }

    /// A formula for a component takes its own streams for all its load.
    ///
    /// # Errors
    /// Other streams reach it, or what it uses, on another way.
    fn is_alone(&self, target: NodeId) -> Result<(), String> {
        let graph = &self.plan.graph;
        match graph.reached(target).into_iter().find(|id| self.reaching[id.index()] > 1) {
            Some(id) => {
                let (path, name) = (graph.view(id).name(), graph.view(target).name());
                Err(format!(
                    "all load of `{path}` comes with the streams to `{name}`: other streams reach it too"
                ))
            }
            None => Ok(()),
        }
    }

    /// Returns the service of a component for each of its streams.
    fn models(&self, target: NodeId) -> Result<Vec<(&'p StreamPlan, Model)>, String> {
        self.is_alone(target)?;
        let view = self.plan.graph.view(target);
        self.streams[&target].iter().map(|stream| Ok((*stream, view.model(&stream.load())?))).collect()
    }
}

/// The utilisation of the busiest server of a target, by all open streams to it; `None` where theory cannot tell. Each stream may have a busiest
/// server of its own: what they ask of different ones is not added up.
fn utilisation(targets: &Targets, target: NodeId) -> Option<f64> {
    let models = targets.models(target).ok()?;
    let transient =
        |stream: &StreamPlan| stream.spec.outstanding.is_some() || stream.spec.arrivals.is_transient();
    if models.iter().any(|(stream, _)| transient(stream)) {
        return None;
    }
    // A stream that waits for its answers adapts: what it adds overwhelms nobody.
    let work = |(stream, model): &(&StreamPlan, Model)| Some(rate_per_ms(stream)? * model.work_ms());
    let alone = models.iter().filter_map(work).fold(0.0, f64::max);
    let of_all = works(targets.plan, &targets.streams[&target]).unwrap_or_default();
    Some(of_all.into_values().fold(alone, f64::max))
}

/// Returns the utilisation of each server that open streams to one target come to; `None` where formulas do not know what they ask of it.
fn works(plan: &Plan, streams: &[&StreamPlan]) -> Option<BTreeMap<NodeId, f64>> {
    let mut works: BTreeMap<NodeId, f64> = BTreeMap::new();
    for (stream, rate) in streams.iter().filter_map(|stream| Some((stream, rate_per_ms(stream)?))) {
        for demand in plan.graph.view(stream.target).demands(&stream.load()).ok()? {
            if let ServiceKind::Queue { servers, .. } = demand.server {
                let work = rate * demand.visits * demand.distribution.mean() / f64::from(servers);
                *works.entry(demand.node).or_default() += work;
            }
        }
    }
    Some(works)
}

/// A problem for each target that its load would overwhelm: an open system at a utilisation of one or more has no
/// steady state, and its mean response time is as long as one cares to wait.
pub fn unstable(plan: &Plan) -> Vec<Problem> {
    let targets = Targets::of(plan);
    let overloaded =
        plan.targets().into_iter().filter_map(|target| Some((target, utilisation(&targets, target)?)));
    overloaded
        .filter(|(_, utilisation)| *utilisation >= 1.0)
        .filter_map(|(target, at)| overload(&targets, target, at))
        .collect()
}

fn overload(targets: &Targets, target: NodeId, utilisation: f64) -> Option<Problem> {
    let (name, streams) = (targets.plan.graph.view(target).name(), &targets.streams[&target]);
    let rate: f64 = streams.iter().filter_map(|stream| rate_per_ms(stream)).sum();
    let stream = streams.iter().find(|stream| rate_per_ms(stream).is_some())?;
    let path = Path::of(&["workload", &stream.name]).key("arrivals");
    let (each, busy) = (Nanos::from_ms(utilisation / rate), utilisation * 100.0);
    let elsewhere = busiest_elsewhere(targets.plan, name, streams);
    let part = elsewhere.as_ref().map_or_else(|| "its busiest part".to_owned(), |other| format!("`{other}`"));
    let message = format!(
        "`{name}` is overloaded: {} × {each} of work for {part} = {busy:.1} % utilisation; it must stay below 100 %",
        PerSecond(rate * 1e3),
    );
    let sustained = PerSecond(rate * 1e3 / utilisation);
    let help = format!(
        "lower the rate below {sustained}, or add capacity to `{}`",
        elsewhere.as_deref().unwrap_or(name)
    );
    Some(Problem { overload: true, ..Problem::at(path, message).help(help) })
}

/// Returns the component with the highest utilisation by open streams to the target `name`, if that is no part of it: a server, a port.
fn busiest_elsewhere(plan: &Plan, name: &str, streams: &[&StreamPlan]) -> Option<String> {
    let (busiest, _) =
        works(plan, streams)?.into_iter().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let group = plan.graph.view(busiest).group_name();
    let is_own = group.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    (!is_own).then(|| group.to_owned())
}

/// What the theory of networks says of a scenario's own load.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkTheory {
    /// Name of the formulas.
    pub method: String,
    /// The assumptions that fail, one a sentence.
    pub fails: Vec<String>,
    /// Utilisation of the station that saturates first.
    pub utilisation: Option<f64>,
    /// Mean response time of each stream, in ms.
    pub means_ms: Vec<Option<f64>>,
}

/// Returns the prediction of theory for every stream, with its CDF at `times_ms` of each. `network` is asked where no single queue says
/// it: `None` where there is no network of queues.
pub fn predict(
    plan: &Plan,
    times_ms: &[Vec<f64>],
    network: impl Fn() -> Option<NetworkTheory>,
) -> Vec<StreamTheory> {
    let (found, targets) = (OnceCell::new(), Targets::of(plan));
    let mut known = BTreeMap::new();
    let of = |(at, (stream, times)): (usize, (&StreamPlan, &Vec<f64>))| {
        let target = known.entry(stream.target).or_insert_with(|| TargetTheory::of(&targets, stream.target));
        let own = target.as_ref().map(|target| target.of_stream(stream, times)).map_err(String::clone);
        own.or_else(|fails| of_network(stream, at, found.get_or_init(&network)).ok_or(fails))
            .unwrap_or_else(|fails| StreamTheory::none(stream, fails))
    };
    plan.streams.iter().zip(times_ms).enumerate().map(of).collect()
}

/// Returns the mean by the theory of networks.
fn of_network(stream: &StreamPlan, at: usize, network: &Option<NetworkTheory>) -> Option<StreamTheory> {
    let network = network.as_ref()?;
    Some(StreamTheory {
        model: network.method.clone(),
        exact: network.fails.is_empty(),
        fails: (!network.fails.is_empty()).then(|| network.fails.join("; ")),
        utilisation: network.utilisation,
        mean_ms: Some(network.means_ms[at]?),
        ..StreamTheory::none(stream, String::new())
    })
}

/// What theory says of a component and all streams to it.
enum TargetTheory {
    /// One queue for all.
    Queue(Box<SharedQueue>),
    /// One queue with several servers for this number of streams.
    Several(Mmc, usize),
    /// Every request is split over several queues; the streams are alike.
    Forked(StreamTheory),
}

/// The queue of several streams.
struct SharedQueue {
    queue: Mg1,
    /// The service of each stream.
    services: BTreeMap<String, Distribution>,
    formula: &'static str,
    fails: Option<&'static str>,
}

impl TargetTheory {
    fn of(targets: &Targets, target: NodeId) -> Result<Self, String> {
        if targets.plan.has_phases() {
            return Err("components neither fail nor are rebuilt during the run".to_owned());
        }
        if let Some(fails) = targets.streams[&target].iter().find_map(|stream| not_poisson(stream)) {
            return Err(fails);
        }
        let models = targets.models(target)?;
        if let Some(fails) = models.iter().find_map(|(_, model)| busy_only(model)) {
            return Err(fails);
        }
        if models.iter().all(|(_, model)| matches!(model, Model::Single { .. })) {
            let name = || format!("`{}` keeps up with its load", targets.plan.graph.view(target).name());
            return SharedQueue::of(models).map(|queue| Self::Queue(Box::new(queue))).ok_or_else(name);
        }
        if let Some(queue) = several(&models) {
            return Ok(Self::Several(queue, models.len()));
        }
        forked(&models).map(Self::Forked)
    }

    fn of_stream(&self, stream: &StreamPlan, times_ms: &[f64]) -> StreamTheory {
        match self {
            Self::Queue(queue) => queue.of_stream(stream, times_ms),
            Self::Several(queue, streams) => of_several(queue, stream, described(*streams, times_ms)),
            Self::Forked(theory) => StreamTheory { stream: stream.name.clone(), ..theory.clone() },
        }
    }
}

/// Returns the queue of several servers that serve all streams alike; `None` if there is none, or no steady state.
fn several(models: &[(&StreamPlan, Model)]) -> Option<Mmc> {
    let [(_, Model::Several { mean_ms, servers, share }), ..] = models else { return None };
    let is_alike = |model: &Model| matches!(model, Model::Several { mean_ms: its, .. } if its == mean_ms);
    let rates = models.iter().map(|(stream, model)| rate_per_ms(stream).filter(|_| is_alike(model)));
    Mmc::new(rates.sum::<Option<f64>>()? * share, *mean_ms, *servers)
}

fn of_several(queue: &Mmc, stream: &StreamPlan, (shares, times_ms): (&[f64], &[f64])) -> StreamTheory {
    StreamTheory {
        model: "M/M/c".to_owned(),
        exact: true,
        fails: None,
        utilisation: Some(queue.utilisation()),
        service_ms: Some(queue.service()),
        mean_ms: Some(queue.mean_response()),
        sd_ms: Some(queue.sd_response()),
        quantiles_ms: shares.iter().map(|&p| (p, queue.response_quantile(p))).collect(),
        cdf: times_ms.iter().map(|&t| (t, queue.response_cdf(t))).collect(),
        ..StreamTheory::none(stream, String::new())
    }
}

/// Why there is no formula for the response time, where only the utilisation is known.
fn busy_only(model: &Model) -> Option<String> {
    match model {
        Model::Busy { fails, .. } => Some(fails.clone()),
        Model::Single { .. } | Model::Several { .. } | Model::Forked { .. } => None,
    }
}

/// Why a stream's arrivals are not Poisson, if they are not.
pub(crate) fn not_poisson(stream: &StreamPlan) -> Option<String> {
    let name = &stream.name;
    let poisson = |how: &str| Some(format!("arrivals are Poisson: those of `{name}` {how}"));
    match () {
        () if stream.spec.outstanding.is_some() => {
            poisson("wait or are dropped while `outstanding` others are in flight")
        }
        () if stream.spec.timeout.is_some() => {
            Some(format!("hosts wait for their answers: those of `{name}` give up"))
        }
        () if stream.is_open() => stream.spec.arrivals.not_poisson().and_then(|how| poisson(&how)),
        () => Some(format!("arrivals do not depend on answers: `{name}` is a closed loop")),
    }
}

const MANY_SIZES: &str = "all sizes are considered: here 64 represent all";

/// Quantiles are left out where more streams than this share a queue: each inverts a transform of the services of all, and those of a
/// hundred take a second.
const MOST_STREAMS: usize = 100;

/// Returns the shares whose quantiles, and the times whose probabilities are given, for this number of streams to a queue.
fn described(streams: usize, times_ms: &[f64]) -> (&[f64], &[f64]) {
    if streams <= MOST_STREAMS { (&SHARES, times_ms) } else { (&[], &[]) }
}

impl SharedQueue {
    /// Returns the queue of all streams to a component; `None` if it has no steady state.
    fn of(models: Vec<(&StreamPlan, Model)>) -> Option<Self> {
        let many_sizes = models.iter().any(|(stream, _)| stream.has_many_kinds()).then_some(MANY_SIZES);
        let (mut services, mut parts) = (BTreeMap::new(), Vec::new());
        let (mut formula, mut mild, mut share) = ("", None, 1.0);
        for (stream, model) in models {
            let Model::Single { distribution, share: its_share, formula: its, mild: its_mild } = model else {
                continue;
            };
            parts.push((rate_per_ms(stream)?, distribution.clone()));
            services.insert(stream.name.clone(), distribution);
            (formula, mild, share) = (its, mild.or(its_mild), its_share);
        }
        let rate: f64 = parts.iter().map(|(rate, _)| rate).sum();
        parts.iter_mut().for_each(|(part, _)| *part /= rate);
        let queue = Mg1::new(rate * share, Distribution::mixed(parts))?;
        Some(Self { queue, services, formula, fails: mild.or(many_sizes) })
    }

    fn of_stream(&self, stream: &StreamPlan, times_ms: &[f64]) -> StreamTheory {
        let (queue, own) = (&self.queue, &self.services[&stream.name]);
        let (shares, times_ms) = described(self.services.len(), times_ms);
        StreamTheory {
            model: self.formula.to_owned(),
            exact: self.fails.is_none(),
            fails: self.fails.map(str::to_owned),
            utilisation: Some(queue.utilisation()),
            service_ms: Some(own.mean()),
            mean_ms: Some(queue.mean_wait() + own.mean()),
            sd_ms: (self.services.len() == 1).then(|| queue.sd_response()),
            quantiles_ms: shares.iter().map(|&p| (p, queue.class_quantile(own, p))).collect(),
            cdf: times_ms.iter().map(|&t| (t, queue.class_cdf(own, t))).collect(),
            ..StreamTheory::none(stream, String::new())
        }
    }
}

/// A fork-join array under requests all of one kind: approximated from one disk's queue.
fn forked(models: &[(&StreamPlan, Model)]) -> Result<StreamTheory, String> {
    let mut kinds: Vec<Option<(Op, u64)>> = models.iter().map(|(_, model)| kind(model)).collect();
    kinds.dedup();
    let [(stream, Model::Forked { distribution, branches, share, .. }), ..] = models else {
        return Err("all requests to a fork-join array are of one kind and size".to_owned());
    };
    if kinds.len() > 1 {
        return Err("all requests to a fork-join array are of one kind and size".to_owned());
    }
    let rate: f64 = models.iter().filter_map(|(stream, _)| rate_per_ms(stream)).sum();
    let exponential = distribution.is_exponential();
    let disk = Mg1::new(rate * share, distribution.clone()).ok_or("each disk keeps up with its share")?;
    let (model, mean, fails) = approximation(&disk, *branches, exponential);
    Ok(StreamTheory {
        model: model.to_owned(),
        exact: false,
        fails: Some(fails),
        utilisation: Some(disk.utilisation()),
        service_ms: Some(disk.service().mean()),
        mean_ms: Some(mean),
        ..StreamTheory::none(stream, String::new())
    })
}

/// The one kind of request that a formula for fork-join is for.
fn kind(model: &Model) -> Option<(Op, u64)> {
    match model {
        Model::Forked { kind, .. } => Some(*kind),
        Model::Single { .. } | Model::Several { .. } | Model::Busy { .. } => None,
    }
}

/// The mean response of a request split over several alike disks: which formula, the mean in ms, and what fails of its assumptions.
pub(crate) fn approximation(disk: &Mg1, branches: u32, exponential: bool) -> (&'static str, f64, String) {
    let alike = "all see the same arrivals";
    if exponential && (2..=32).contains(&branches) {
        let factor = fork_join::nelson_tantawi(branches, disk.utilisation());
        let known = error_of(factor, branches, disk.utilisation());
        let fails = format!("queues are independent: {alike} ({known})");
        return ("fork-join after Nelson and Tantawi", disk.mean_response() * factor, fails);
    }
    let mean = fork_join::extreme_value(branches, disk.mean_response(), disk.sd_response());
    let fails = format!(
        "queues are independent and responses of the extreme-value kind: {alike} (error unknown in general)"
    );
    ("fork-join by the extreme-value approximation", mean, fails)
}

/// What is known of the error of an approximation of fork-join, here.
fn error_of(factor: f64, branches: u32, utilisation: f64) -> String {
    let here = format!("{branches} disks at {:.0} % utilisation", utilisation * 100.0);
    match fork_join::measured(branches, utilisation) {
        _ if branches == 2 => "exact for 2 disks".to_owned(),
        Some(measured) => {
            let percent = format!("{:+.1}", (factor / measured - 1.0) * 100.0).replace('-', "−");
            format!("measured error for {here}: {percent} %")
        }
        None => format!("its error for {here} has not been measured"),
    }
}

/// What fails of the assumptions of a request split over several disks, and what is known of the error.
pub(crate) fn independent(branches: u32, exponential: bool) -> &'static str {
    if exponential && (2..=32).contains(&branches) {
        return "queues are independent: all see the same arrivals \
                (exact for 2 disks; measured errors for 3 to 32 disks at 10 to 90 % utilisation: −3.9 to +0.4 %)";
    }
    "queues are independent and responses of the extreme-value kind: all see the same arrivals \
     (error unknown in general)"
}
