//! A limiter: a limited number of operations and bytes a second goes on to another component, in the order in which they came. Volumes of
//! public clouds are limited like that.
//!
//! Each limit is a token bucket, a part of the limiter; two where bursts have a rate of their own. A request goes on when all buckets have
//! its tokens, and takes them from all at once.

use std::cell::Cell;

use headrace_kernel::Resource;
use headrace_units::{Bytes, BytesPerSecond, Fraction, Nanos, PerSecond};
use headrace_work::{Block, Breakdown, Invalid, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::AnyPlan;
use crate::block::bucket::{Bucket, BucketPlan, Token};
use crate::core::component::{Component, InOrder, Plan, Spec, Theory};
use crate::core::context::{Edge, NodeContext};
use crate::core::device::{Device, DeviceRef, Sourced, not_validated};
use crate::core::graph::{Lowering, View};
use crate::core::meter::{Activity, Meter, add};
use crate::core::theory::{Demand, Features, Load, Model};
use crate::core::work::Serve;

/// Limits of operations and bytes in front of another component. Streams that name one limiter share its limits; a limiter for each, to the
/// same component, limits each by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimiterSpec {
    /// Component that requests go on to.
    pub to: String,
    /// Volume type of a cloud, which sets the limits: its name in the catalogue, or a variation of one. Default: none; `operations` and
    /// `bytes` apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceRef<VolumeNumbers>>,
    /// Limit of operations. Default: that of `device`, or none. Fields that are left out here are those of `device`, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<OperationsLimit>,
    /// Limit of bytes. Default: that of `device`, or none. Fields that are left out here are those of `device`, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<BytesLimit>,
    /// Share of each `burst` that is saved at the start of the run.
    #[serde(default = "all")]
    pub initial: Fraction,
    /// Treatment of requests beyond a limit.
    #[serde(default)]
    pub excess: Excess,
}

/// Treatment of requests beyond a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Excess {
    /// They wait, first come, first served.
    #[default]
    Queue,
    /// They fail at once.
    Refuse,
}

/// A limit of operations per second. A request that needs more operations than are saved waits for the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationsLimit {
    /// Operations per second in the long run.
    pub rate: Sourced<PerSecond>,
    /// Maximum number of unused operations that are saved and may pass later: the credits of a cloud volume. Default: those of a tenth of
    /// a second, as in QEMU, and at least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Sourced<f64>>")]
    pub burst: Option<Sourced<f64>>,
    /// Rate at which saved operations may pass, of which those of a tenth of a second pass at once. Default: at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<Sourced<PerSecond>>,
    /// A larger request counts as several operations, one for each part of this size. Default: each request is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Sourced<Bytes>>,
}

/// A limit of bytes per second. A request larger than what is saved waits for the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BytesLimit {
    /// Bytes per second in the long run.
    pub rate: Sourced<BytesPerSecond>,
    /// Maximum number of unused bytes that are saved and may pass later. Default: those of a tenth of a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Sourced<Bytes>>,
    /// Rate at which saved bytes may pass, of which those of a tenth of a second pass at once. Default: at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<Sourced<BytesPerSecond>>,
}

/// The limits of a volume type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VolumeNumbers {
    /// Cloud, volume type and size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Measurements that it was validated against, with the error; or `not validated`.
    #[serde(default = "not_validated")]
    pub validation: String,
    /// Limit of operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<OperationsLimit>,
    /// Limit of bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<BytesLimit>,
}

const fn all() -> Fraction {
    Fraction(1.0)
}

/// The time whose tokens are saved by default, in seconds: that of QEMU's `throttle.c`.
const SAVED_S: f64 = 0.1;

/// The most tokens that can be saved: beyond it, one more would be lost in rounding.
const MOST: f64 = 1e15;

/// A limit in tokens: what they stand for, how many come in a second, how many are saved, and how many of those pass in a second.
type Limit = (Token, f64, f64, Option<f64>);

/// Returns a limit, completed by that of a device; the only one where the other is missing.
fn completed<T>(own: Option<T>, of: Option<T>, by: fn(T, T) -> T) -> Option<T> {
    match (own, of) {
        (Some(own), Some(of)) => Some(by(own, of)),
        (own, of) => own.or(of),
    }
}

impl OperationsLimit {
    /// Returns this limit with the fields of another where its own are left out.
    fn completed(self, of: Self) -> Self {
        let Self { rate, burst, peak, unit } = self;
        Self { rate, burst: burst.or(of.burst), peak: peak.or(of.peak), unit: unit.or(of.unit) }
    }

    fn limit(&self) -> Limit {
        let rate = self.rate.get().get();
        let saved = self.burst.as_ref().map_or((rate * SAVED_S).max(1.0), Sourced::get);
        let unit = self.unit.as_ref().map_or(u64::MAX, |unit| unit.get().get());
        (Token::Operation(unit), rate, saved, self.peak.as_ref().map(|peak| peak.get().get()))
    }
}

impl BytesLimit {
    /// Returns this limit with the fields of another where its own are left out.
    fn completed(self, of: Self) -> Self {
        let Self { rate, burst, peak } = self;
        Self { rate, burst: burst.or(of.burst), peak: peak.or(of.peak) }
    }

    fn limit(&self) -> Limit {
        let rate = self.rate.get().get();
        let saved = self.burst.as_ref().map_or(rate * SAVED_S, |burst| burst.get().get() as f64);
        (Token::Byte, rate, saved, self.peak.as_ref().map(|peak| peak.get().get()))
    }
}

/// Returns what is wrong with the limit in `field`; `None` if it is valid.
fn problem(field: &str, (token, rate, saved, peak): Limit) -> Option<Invalid> {
    let wrong =
        |inner: &str, message| Some(Invalid::new(inner, format!("`{inner}` {message}")).within(field));
    match () {
        () if !(0.0..=MOST).contains(&saved) => wrong("burst", "must be from 0 to 10¹⁵"),
        () if token == Token::Operation(0) => wrong("unit", "must be at least 1 B"),
        () if peak.is_some_and(|peak| peak <= rate) => wrong("peak", "must be above `rate`"),
        () => None,
    }
}

impl VolumeNumbers {
    /// The limits, by their fields.
    fn limits(&self) -> impl Iterator<Item = (&'static str, Limit)> {
        let operations = self.operations.iter().map(|limit| ("operations", limit.limit()));
        operations.chain(self.bytes.iter().map(|limit| ("bytes", limit.limit())))
    }
}

impl Device for VolumeNumbers {
    const KIND: &'static str = "limiter";
    const NAME: &'static str = "volume type";
    const FIELDS: &'static [&'static str] = &["operations", "bytes"];

    fn problems(&self) -> Vec<Invalid> {
        self.limits().filter_map(|(field, limit)| problem(field, limit)).collect()
    }

    fn origins(&self) -> Vec<(String, Option<String>)> {
        let (operations, bytes) = (self.operations.iter(), self.bytes.iter());
        let of_operations = operations.flat_map(|limit| {
            let burst = limit.burst.iter().map(|burst| ("operations.burst", burst.origin()));
            let peak = limit.peak.iter().map(|peak| ("operations.peak", peak.origin()));
            let unit = limit.unit.iter().map(|unit| ("operations.unit", unit.origin()));
            [("operations.rate", limit.rate.origin())].into_iter().chain(burst).chain(peak).chain(unit)
        });
        let of_bytes = bytes.flat_map(|limit| {
            let burst = limit.burst.iter().map(|burst| ("bytes.burst", burst.origin()));
            let peak = limit.peak.iter().map(|peak| ("bytes.peak", peak.origin()));
            [("bytes.rate", limit.rate.origin())].into_iter().chain(burst).chain(peak)
        });
        of_operations.chain(of_bytes).map(|(field, origin)| (field.to_owned(), origin)).collect()
    }

    fn title(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn validation(&self) -> &str {
        &self.validation
    }
}

impl LimiterSpec {
    /// Returns the limits that it sets itself, or has of its volume type.
    fn agreed(&self, at: &mut Lowering) -> Option<VolumeNumbers> {
        let device = match &self.device {
            Some(device) => Some(at.device("device", device)?),
            None => None,
        };
        let (operations, bytes) = device.map_or((None, None), |device| (device.operations, device.bytes));
        Some(VolumeNumbers {
            name: None,
            validation: not_validated(),
            operations: completed(self.operations.clone(), operations, OperationsLimit::completed),
            bytes: completed(self.bytes.clone(), bytes, BytesLimit::completed),
        })
    }

    /// The buckets of a limit, by name.
    fn buckets(&self, field: &str, (of, rate, saved, peak): Limit) -> Vec<(String, BucketPlan)> {
        let bucket = |rate: f64, size: f64| BucketPlan { of, rate, size, initial: size * self.initial.get() };
        let peak = peak.map(|peak| (format!("{field}_peak"), bucket(peak, peak * SAVED_S)));
        [(field.to_owned(), bucket(rate, saved))].into_iter().chain(peak).collect()
    }
}

impl Spec for LimiterSpec {
    type Plan = LimiterPlan;

    fn lower(&self, at: &mut Lowering) -> Option<LimiterPlan> {
        let target = at.reached("to", &self.to)?;
        let numbers = self.agreed(at)?;
        let limits: Vec<(&str, Limit)> = numbers.limits().collect();
        if limits.is_empty() {
            return at.refuse(
                "operations",
                "nothing is limited",
                Some("give `operations`, `bytes` or `device`"),
            );
        }
        for (field, limit) in &limits {
            if let Some(invalid) = problem(field, *limit) {
                return at.invalid(invalid);
            }
        }
        let buckets = limits.into_iter().flat_map(|(field, limit)| self.buckets(field, limit));
        let buckets: Vec<_> =
            buckets.map(|(name, plan)| at.part(&name, AnyPlan::Bucket(plan.into()))).collect();
        let uses = [vec![target], buckets].concat();
        at.uses(uses);
        at.holds(at.capacity(target));
        Some(LimiterPlan { excess: self.excess })
    }
}

/// A limiter whose buckets are known. It uses its target, then the buckets.
#[derive(Clone, Debug)]
pub struct LimiterPlan {
    excess: Excess,
}

impl LimiterPlan {
    /// Says which bucket can never have the tokens of the largest request, where nobody waits for them.
    fn refuses_all(&self, view: View, load: &Load) -> Option<String> {
        let most = |bucket: &BucketPlan| {
            load.kinds.iter().map(|(_, op, bytes)| bucket.tokens(*op, *bytes)).fold(0.0, f64::max)
        };
        let short = |bucket: View| bucket.plan().is_some_and(|plan: &BucketPlan| most(plan) > plan.size);
        let bucket = view.uses().skip(1).find(|bucket| self.excess == Excess::Refuse && short(*bucket))?;
        Some(format!(
            "{}: some requests need more than the `burst` of `{}`, so all of these are refused",
            load.stream,
            bucket.path()
        ))
    }
}

impl Theory for LimiterPlan {
    fn features(&self) -> Features {
        Features { stands_before: Some(0), flushes_at_once: true, ..Features::default() }
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        if self.excess == Excess::Refuse {
            return Err(format!(
                "every request is served: `{}` refuses those beyond its limits",
                view.path()
            ));
        }
        let mut all: Vec<Vec<Demand>> =
            view.uses().map(|used| used.demands(load)).collect::<Result<_, _>>()?;
        if all.iter().skip(1).filter(|bucket| !bucket.is_empty()).count() > 1 {
            let in_turn =
                "a request waits for one limit after another: it waits for all of a limiter at once";
            all[1..].iter_mut().flatten().for_each(|demand| demand.mild = Some(in_turn));
        }
        Ok(all.concat())
    }

    fn model(&self, view: View, load: &Load) -> Result<Model, String> {
        // What has no formula without its limits has none with them.
        view.uses().next().map_or(Ok(()), |target| target.model(load).map(drop))?;
        Err(format!("requests wait in one queue: those through `{}` wait for its limits too", view.path()))
    }

    fn in_order(&self, view: View, load: &Load) -> Result<(), String> {
        if self.excess == Excess::Refuse {
            return Err(format!("`{}` may refuse requests", view.path()));
        }
        view.uses().next().map_or(Ok(()), |target| target.in_order(load))
    }

    fn scales(&self, view: View, load: &Load) -> bool {
        self.excess == Excess::Queue && view.uses().all(|used| used.scales(load))
    }

    fn note(&self, view: View, load: &Load) -> Option<String> {
        self.refuses_all(view, load).or_else(|| view.uses().find_map(|used| used.note(load)))
    }
}

/// A limiter in a simulation.
pub struct Limiter<'m> {
    context: &'m NodeContext<'m>,
    excess: Excess,
    /// Held by the first in line.
    line: Resource<'m>,
    target: &'m Edge<'m>,
    buckets: Box<[(&'m Edge<'m>, &'m Bucket<'m>)]>,
    refused: Cell<u64>,
}

impl Plan for LimiterPlan {
    type Component<'m> = Limiter<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Limiter<'m> {
        let uses = context.uses();
        let (target, buckets) = uses.split_first().expect("lowering gives it a target");
        let buckets = buckets.iter().filter_map(|edge| Some((edge, edge.get()?))).collect();
        let line = Resource::fcfs(context.shared.sim, 1);
        Limiter { context, excess: self.excess, line, target, buckets, refused: Cell::new(0) }
    }
}

impl Limiter<'_> {
    /// Returns when a request that is the first in line at `now` goes on.
    fn ready(&self, now: Nanos, request: Block) -> Nanos {
        self.buckets.iter().map(|(_, bucket)| bucket.ready(now, request)).fold(now, Nanos::max)
    }

    /// Puts a request first in line at `now`, and returns when it goes on, and the bucket that has its tokens last, for which it waits.
    fn begin(&self, now: Nanos, request: Block) -> (Nanos, usize) {
        self.buckets.iter().for_each(|(_, bucket)| bucket.begin(now, request));
        let ready = self.buckets.iter().map(|(_, bucket)| bucket.ready(now, request)).zip(0..);
        ready.max_by_key(|(ready, _)| *ready).expect("a limiter has a bucket")
    }

    /// Takes the tokens of a request that goes on at `now`, and was the first in line since `began`.
    fn take(
        &self,
        (began, now, last): (Nanos, Nanos, usize),
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) {
        breakdown.waited(self.context.id, now);
        self.buckets[last].1.is_waited_for(now - began);
        for (edge, bucket) in &self.buckets {
            edge.begin(request.work.bytes);
            bucket.take(now, request.work);
            edge.end(request, breakdown, breakdown.legs().len());
        }
    }
}

impl<'m> Serve<'m, Block> for Limiter<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let sim = self.context.shared.sim;
        if self.excess == Excess::Refuse && self.ready(sim.now(), request.work) > sim.now() {
            add(&self.refused, 1);
            return breakdown.fail();
        }
        let first = self.line.acquire(()).await;
        let began = sim.now();
        let (goes_on, last) = self.begin(began, request.work);
        sim.until(goes_on).await;
        self.take((began, goes_on, last), request, breakdown);
        drop(first);
        // Boxed, since the target may be a limiter too, and a future cannot contain itself.
        Box::pin(self.target.serve(request, breakdown)).await;
    }
}

impl<'m> InOrder<'m> for Limiter<'m> {
    fn pass(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let pass = self.line.pass(breakdown.until(), |now| {
            let (goes_on, last) = self.begin(now, request.work);
            self.take((now, goes_on, last), request, breakdown);
            goes_on
        });
        assert_eq!(pass.end, breakdown.until());
        self.target.pass(request, breakdown);
    }
}

impl<'m> Component<'m> for Limiter<'m> {
    /// The share of time in which somebody waits, and all who do.
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let line = Activity::of(1, &self.line.usage(), now);
        let (first, busy) = (self.line.usage().busy.value(), line.busy_in_all());
        Some(Activity {
            queue: line.queue + busy,
            waiting: line.waiting + first,
            waited: line.waited + line.service,
            service: 0,
            ..line
        })
    }

    fn meters(&self, _: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        if self.excess == Excess::Refuse {
            put("refused", Meter::Count(self.refused.get()));
        }
    }
}
