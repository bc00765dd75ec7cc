//! What theory says of a scenario, and where it cannot: each room gives its law of service, this puts them into the
//! formula whose assumptions hold.

use headrace_analytic::{Law, Mg1, fork_join};
use headrace_storage::{ArraySpec, Blueprint, FirstUnit, Queueing};
use headrace_workload::{ArrivalSpec, Op, common_divisor};
use serde::Serialize;

use crate::document::{Path, Problem};
use crate::plan::{Plan, StreamPlan};

/// Quantiles that results carry, and what theory says of them.
pub const SHARES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// Sizes drawn from more values than this are represented by so many of them.
const KINDS: usize = 64;

/// What theory says of one stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Theory {
    /// The stream.
    pub stream: String,
    /// Which formula; `none` where no formula applies.
    pub model: String,
    /// Whether every assumption of the formula holds.
    pub exact: bool,
    /// The assumption that fails, where one does; with what is known of the error.
    pub fails: Option<String>,
    /// Predicted utilisation of the busiest server.
    pub utilisation: Option<f64>,
    /// Predicted mean service time, in ms.
    pub service_ms: Option<f64>,
    /// Predicted mean response time, in ms.
    pub mean_ms: Option<f64>,
    /// Predicted standard deviation of the response time, in ms.
    pub sd_ms: Option<f64>,
    /// Predicted quantiles of the response time: (share, ms).
    pub quantiles_ms: Vec<(f64, f64)>,
    /// Predicted cdf of the response time at the times of the simulated one: (ms, share).
    pub cdf: Vec<(f64, f64)>,
}

impl Theory {
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

/// The streams that go to one target.
fn sharing(plan: &Plan, target: usize) -> impl Iterator<Item = &StreamPlan> {
    plan.streams.iter().filter(move |stream| stream.target == target)
}

/// The kinds of requests of a stream, of very many the more probable: (probability, op, bytes).
fn kinds(stream: &StreamPlan) -> Vec<(f64, Op, u64)> {
    let all = stream.kinds();
    if all.len() <= KINDS {
        return all;
    }
    let mut some: Vec<(f64, Op, u64)> = Vec::new();
    let (mut below, mut next) = (0.0, all.iter());
    let mut kind = all[0];
    for i in 0..KINDS {
        while below <= (i as f64 + 0.5) / KINDS as f64 {
            let Some(later) = next.next() else { break };
            (below, kind) = (below + later.0, *later);
        }
        match some.last_mut().filter(|last| (last.1, last.2) == (kind.1, kind.2)) {
            Some(last) => last.0 += 1.0 / KINDS as f64,
            None => some.push((1.0 / KINDS as f64, kind.1, kind.2)),
        }
    }
    some
}

/// Requests a millisecond; `None` for a stream whose rate the system or a trace sets.
fn rate_per_ms(stream: &StreamPlan) -> Option<f64> {
    stream.spec.arrivals.mean_rate().map(|rate| rate * 1e-3)
}

/// Whether the requests to a target fall on it as the laws of service assume: on every disk equally often, whole units at a
/// time. The assumption that fails where they do not.
fn falls(plan: &Plan, target: usize) -> Result<(), String> {
    let (name, blueprint) = &plan.targets[target];
    let mut places_matter = blueprint.is_addressed();
    if blueprint.chooses() {
        return Err(format!("requests are served in the order in which they come: `{name}` chooses"));
    }
    if blueprint.has_cache() {
        return Err(format!("every request goes to a platter: `{name}` has a cache"));
    }
    if blueprint.is_nested() {
        return Err(format!("arrays are made of disks: `{name}` is made of arrays"));
    }
    if let Blueprint::Array(spec, _) = blueprint {
        if let Some(stream) = sharing(plan, target).find(|stream| !is_aligned(stream, spec)) {
            let unit = spec.stripe_unit;
            return Err(format!(
                "requests begin where a unit of {unit} does or stay within one: those of `{}` do not",
                stream.name
            ));
        }
        let by_address = spec.queueing == Queueing::ForkJoin && spec.first_unit == FirstUnit::Addressed;
        if let Some(stream) =
            sharing(plan, target).find(|stream| by_address && !reaches_every_disk(stream, spec))
        {
            return Err(format!(
                "requests begin on every disk equally often: those of `{}` skip some",
                stream.name
            ));
        }
        places_matter |= by_address;
    }
    match sharing(plan, target).find(|stream| places_matter && !stream.spec.is_everywhere()) {
        Some(stream) => Err(format!("every address is equally likely: those of `{}` are not", stream.name)),
        None => Ok(()),
    }
}

/// Whether a stream's requests begin at a stripe unit's beginning, or never touch two units.
fn is_aligned(stream: &StreamPlan, spec: &ArraySpec) -> bool {
    let (align, largest) = (stream.spec.alignment(), stream.spec.size.bounds().1);
    let begins = spec.first_unit == FirstUnit::FirstDisk || align.0.is_multiple_of(spec.stripe_unit.0);
    begins || (largest <= align && spec.stripe_unit.0.is_multiple_of(align.0))
}

/// Whether the units at which a stream's requests may begin lie on every disk.
fn reaches_every_disk(stream: &StreamPlan, spec: &ArraySpec) -> bool {
    let units = (stream.spec.alignment().0 / spec.stripe_unit.0).max(1);
    common_divisor(units, u64::from(spec.disks)) == 1
}

/// The utilisation of the busiest server of a target, by all open streams to it; `None` where theory cannot tell.
pub fn utilisation(plan: &Plan, target: usize) -> Option<f64> {
    falls(plan, target).ok()?;
    let mut sum = 0.0;
    for stream in sharing(plan, target) {
        // A stream that waits for its answers adapts: what it adds overwhelms nobody.
        let Some(rate) = rate_per_ms(stream) else { continue };
        for (p, op, bytes) in kinds(stream) {
            sum += rate * p * plan.targets[target].1.work_ms(op, bytes)?;
        }
    }
    Some(sum)
}

/// A problem for each target that its load would overwhelm: an open system at a utilisation of one or more has no
/// steady state, and its mean response time is as long as one cares to wait.
pub fn unstable(plan: &Plan) -> Vec<Problem> {
    let overloaded = (0..plan.targets.len()).filter_map(|target| Some((target, utilisation(plan, target)?)));
    overloaded
        .filter(|(_, utilisation)| *utilisation >= 1.0)
        .flat_map(|(target, utilisation)| {
            let name = &plan.targets[target].0;
            let rate: f64 = sharing(plan, target).filter_map(rate_per_ms).sum();
            let open = sharing(plan, target).filter(|stream| rate_per_ms(stream).is_some());
            open.take(1).map(move |stream| {
                let path = Path::of(&["workload", &stream.name]).key("arrivals");
                let message = format!(
                    "`{name}` cannot keep up: {:.4} requests a second, each {:.2} ms of work for its busiest part, \
                     make a utilisation of {utilisation:.3}; it must stay below 1",
                    rate * 1e3,
                    utilisation / rate
                );
                let bearable = rate * 1e3 / utilisation;
                let help = format!("lower the rate below {bearable:.2} /s, or give `{name}` more to work with");
                Problem { overload: true, ..Problem::at(path, message).help(help) }
            })
        })
        .collect()
}

/// What theory says of every stream, with its cdf at `times_ms` of each.
pub fn predict(plan: &Plan, times_ms: &[Vec<f64>]) -> Vec<Theory> {
    plan.streams.iter().zip(times_ms).map(|(stream, times)| of_stream(plan, stream, times)).collect()
}

fn of_stream(plan: &Plan, stream: &StreamPlan, times_ms: &[f64]) -> Theory {
    if let Some(fails) = sharing(plan, stream.target).find_map(not_poisson) {
        return Theory::none(stream, fails);
    }
    if let Err(fails) = falls(plan, stream.target) {
        return Theory::none(stream, fails);
    }
    let (name, blueprint) = &plan.targets[stream.target];
    let whole = |model| Queue { server: blueprint, share: 1.0, model };
    match blueprint {
        Blueprint::Station(spec) if spec.servers > 1 => {
            Theory::none(stream, format!("one server: `{name}` has {}", spec.servers))
        }
        Blueprint::Array(spec, of) if spec.queueing == Queueing::ForkJoin => {
            let split =
                |stream: &StreamPlan| kinds(stream).iter().any(|kind| spec.stripes().parts_of(kind.2) > 1);
            if sharing(plan, stream.target).any(split) {
                return forked(plan, stream, spec, of);
            }
            let share =
                if spec.first_unit == FirstUnit::Addressed { 1.0 / f64::from(spec.disks) } else { 1.0 };
            let queue = Queue { server: of, share, model: "M/G/1 for each disk with its share" };
            pollaczek_khinchine(plan, stream, &queue, times_ms)
        }
        Blueprint::Array(..) => {
            pollaczek_khinchine(plan, stream, &whole("M/G/1 of the slowest part (split-merge)"), times_ms)
        }
        _ => pollaczek_khinchine(plan, stream, &whole("M/G/1"), times_ms),
    }
}

/// Why a stream's arrivals are not Poisson, if they are not.
fn not_poisson(stream: &StreamPlan) -> Option<String> {
    let name = &stream.name;
    match stream.spec.arrivals {
        ArrivalSpec::Poisson(_) => None,
        ArrivalSpec::Every(_) => Some(format!("arrivals are Poisson: those of `{name}` are regular")),
        ArrivalSpec::Bursty { .. } => Some(format!("arrivals are Poisson: those of `{name}` come in bursts")),
        ArrivalSpec::Batches { .. } => {
            Some(format!("arrivals are Poisson: those of `{name}` come in batches"))
        }
        ArrivalSpec::Replay(_) if stream.is_open() => {
            Some(format!("arrivals are Poisson: those of `{name}` are as recorded"))
        }
        ArrivalSpec::Closed { .. } | ArrivalSpec::Replay(_) => Some(format!(
            "arrivals do not depend on answers: `{name}` waits for an answer before it asks again"
        )),
    }
}

/// The law of service of a stream's requests by `server`; `None` where it serves several at once.
fn law_of(stream: &StreamPlan, server: &Blueprint) -> Option<Law> {
    let laws = kinds(stream).into_iter().map(|(p, op, bytes)| Some((p, server.service_law(op, bytes)?)));
    laws.collect::<Option<Vec<_>>>().map(Law::mixed)
}

const INDEPENDENT: &str = "service times are independent: here one seek begins where the last ended \
                           (the mean is hardly touched: successive seek distances are weakly correlated)";

const FEW_SIZES: &str = "every size is reckoned with: here some of very many stand for all";

/// What a formula for one queue is applied to.
struct Queue<'b> {
    /// What serves, one request at a time.
    server: &'b Blueprint,
    /// The share of all requests that comes to it.
    share: f64,
    /// What the formula is called.
    model: &'static str,
}

fn pollaczek_khinchine(plan: &Plan, stream: &StreamPlan, of: &Queue, times_ms: &[f64]) -> Theory {
    let laws =
        sharing(plan, stream.target).map(|stream| Some((rate_per_ms(stream)?, law_of(stream, of.server)?)));
    let Some(streams) = laws.collect::<Option<Vec<(f64, Law)>>>() else {
        return Theory::none(stream, format!("one request at a time holds `{}`", stream.spec.to));
    };
    let rate: f64 = streams.iter().map(|(rate, _)| rate).sum();
    let alone = streams.len() == 1;
    let all = Law::mixed(streams.into_iter().map(|(part, law)| (part / rate, law)).collect());
    let own = if alone { Some(all.clone()) } else { law_of(stream, of.server) };
    let (Some(own), Some(queue)) = (own, Mg1::new(rate * of.share, all)) else {
        return Theory::none(stream, format!("`{}` keeps up with its load", stream.spec.to));
    };
    let mean = queue.mean_wait() + own.mean();
    let many_sizes = sharing(plan, stream.target).any(|stream| stream.kinds().len() > KINDS);
    let fails = match of.server.is_addressed() {
        true => Some(INDEPENDENT),
        false => many_sizes.then_some(FEW_SIZES),
    };
    Theory {
        model: of.model.to_owned(),
        exact: fails.is_none(),
        fails: fails.map(str::to_owned),
        utilisation: Some(queue.utilisation()),
        service_ms: Some(own.mean()),
        mean_ms: Some(mean),
        sd_ms: alone.then(|| queue.sd_response()),
        quantiles_ms: SHARES.iter().map(|&p| (p, queue.class_quantile(&own, p))).collect(),
        cdf: times_ms.iter().map(|&t| (t, queue.class_cdf(&own, t))).collect(),
        ..Theory::none(stream, String::new())
    }
}

/// A fork-join array under requests all of one kind: approximated from one disk's queue.
fn forked(plan: &Plan, stream: &StreamPlan, spec: &ArraySpec, of: &Blueprint) -> Theory {
    let mut kinds: Vec<(Op, u64)> =
        sharing(plan, stream.target).flat_map(kinds).map(|(_, op, bytes)| (op, bytes)).collect();
    kinds.dedup();
    let [(op, bytes)] = kinds[..] else {
        return Theory::none(stream, "all requests to a fork-join array are of one kind and size".to_owned());
    };
    let parts = spec.stripes().part_kinds(bytes);
    let (largest, branches) = (parts[0].1, parts.iter().map(|(many, _)| many).sum::<u32>());
    let Some(law) = of.service_law(op, largest) else {
        return Theory::none(
            stream,
            "each disk of a fork-join array serves one request at a time".to_owned(),
        );
    };
    let share = if spec.first_unit == FirstUnit::Addressed {
        f64::from(branches) / f64::from(spec.disks)
    } else {
        1.0
    };
    let rate: f64 = sharing(plan, stream.target).filter_map(rate_per_ms).sum();
    let exponential = law.is_exponential();
    let Some(disk) = Mg1::new(rate * share, law) else {
        return Theory::none(stream, "each disk keeps up with its share".to_owned());
    };
    let (model, mean, fails) = approximation(&disk, branches, exponential);
    Theory {
        model: model.to_owned(),
        exact: false,
        fails: Some(fails.to_owned()),
        utilisation: Some(disk.utilisation()),
        service_ms: Some(disk.service().mean()),
        mean_ms: Some(mean),
        ..Theory::none(stream, String::new())
    }
}

fn approximation(disk: &Mg1, branches: u32, exponential: bool) -> (&'static str, f64, &'static str) {
    if exponential && (2..=32).contains(&branches) {
        let mean = disk.mean_response() * fork_join::nelson_tantawi(branches, disk.utilisation());
        let known = "queues are independent: all see the same arrivals \
                     (exact for 2 disks; else known to be off by −0.3 to −3.2 %)";
        return ("fork-join after Nelson and Tantawi", mean, known);
    }
    let mean = fork_join::extreme_value(branches, disk.mean_response(), disk.sd_response());
    let known = "queues are independent and responses of the extreme-value kind: all see the same arrivals \
                 (its error is not known in general)";
    ("fork-join by the extreme-value approximation", mean, known)
}
