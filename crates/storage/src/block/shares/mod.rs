//! Shares of another component: who of those who ask is next is chosen by a policy of [`policy`].

pub mod policy;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use headrace_analytic::Distribution;
use headrace_kernel::{Draws, Sim, WaitList};
use headrace_stats::Gauge;
use headrace_units::{Bytes, Nanos, PerSecond, PerSecondOrShare};
use headrace_work::{Block, Breakdown, Cause, Invalid, Op, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::component::{Component, Plan, Spec, Theory};
use crate::core::context::{Edge, NodeContext};
use crate::core::graph::{Copies, Lowering, View};
use crate::core::meter::{Activity, add, by_hosts};
use crate::core::theory::{Demand, Features, Load, ServiceKind};
use crate::core::work::{Serve, Work};
use policy::{Entitlement, Policy, PolicySpec, Waiting};

/// Shares of a component among those who ask it. Streams ask through a `share` each; what comes here directly has one share together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharesSpec {
    /// Component of `system` that requests go on to. Give this or `of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Component that requests go on to, a part: copies of these shares, such as the drives of a pool, have one each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Copies>,
    /// Number of requests that are there at once; the others wait here for their turn.
    #[schemars(range(min = 1, max = 65535))]
    pub depth: u32,
    /// Choice of who is next.
    #[serde(default)]
    pub policy: PolicySpec,
    /// Operations per second of the target, of which reservations and limits in per cent are parts. It limits nothing by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<PerSecond>,
    /// A larger request counts as several operations, one for each part of this size. Default: each request is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Bytes>,
    /// Share of work that no host waits for, such as rebuilds. Default: that of those who ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<ShareNumbers>,
    /// Shares of work for one cause each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_cause: Option<CauseShares>,
}

/// Shares of work by its cause. Default of each: `background`; of hosts, an equal share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CauseShares {
    /// Requests of hosts that come without a `share` of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<ShareNumbers>,
    /// Data that leaves write-back caches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destage: Option<ShareNumbers>,
    /// Rebuilds, and recovery of pools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<ShareNumbers>,
    /// Scrubs, and streams of `cause: scrub`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub: Option<ShareNumbers>,
    /// Moves between tiers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migration: Option<ShareNumbers>,
    /// Merges of tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<ShareNumbers>,
}

impl CauseShares {
    /// Returns the share of a cause, if one is given.
    fn of(&self, cause: Cause) -> Option<ShareNumbers> {
        match cause {
            Cause::Host => self.host,
            Cause::Destage => self.destage,
            Cause::Rebuild => self.rebuild,
            Cause::Scrub => self.scrub,
            Cause::Migration => self.migration,
            Cause::Compaction => self.compaction,
            Cause::GarbageCollection | Cause::Maintenance => None,
        }
    }
}

/// A share in operations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShareNumbers {
    /// Operations per second that it gets first, or a part of `capacity`, under `mclock`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<PerSecondOrShare>,
    /// Its part beside the weights of others: of what reservations leave under `mclock`, operations in each turn under `round_robin`, or of the chance to
    /// be next under `wpq`.
    /// Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Operations per second that it gets at most, or a part of `capacity`, under `mclock`. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<PerSecondOrShare>,
    /// Priority, under `priority`. Smaller numbers are more urgent. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Size that each of its reads counts as, in operations of `unit`, as Ceph's `osd_recovery_cost` once was. Default: its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_cost: Option<Bytes>,
    /// Size that each of its writes counts as. Default: its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cost: Option<Bytes>,
}

/// What shares say of those who have one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    policy: PolicySpec,
    capacity: Option<PerSecond>,
    /// Bytes of an operation at most.
    pub(crate) unit: u64,
}

impl Terms {
    /// Returns the error of reservations that add up to more than the capacity, where that is given; `None` if they do not.
    pub(crate) fn exceeded(&self, reserved: f64) -> Option<Invalid> {
        let capacity =
            self.capacity.map(PerSecond::get).filter(|capacity| reserved > capacity * (1.0 + 1e-9))?;
        let message =
            format!("reservations add up to {reserved}/s, and the shares have a `capacity` of {capacity}/s");
        Some(
            Invalid::new("reservation", message)
                .help("reserve less, or raise `capacity` if the target has more"),
        )
    }
}

/// A share whose numbers are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShareTerms {
    pub(crate) entitled: Entitlement,
    /// Sizes that each read and each write counts as; none where that is its own.
    costs: [Option<Bytes>; 2],
}

impl ShareTerms {
    /// Returns the size that a request counts as.
    fn counted(&self, block: Block) -> u64 {
        let [read, write] = self.costs;
        let cost = if block.op == Op::Read { read } else { write };
        cost.map_or(block.bytes, Bytes::get)
    }
}

impl ShareNumbers {
    /// Returns the share, or which field is wrong and why.
    pub(crate) fn under(self, terms: Terms) -> Result<ShareTerms, Invalid> {
        let entitled = self.entitlement(terms)?;
        if let Some(field) = self.given().find(|field| field.ends_with("cost") && terms.unit == u64::MAX) {
            let message = format!("`{field}` counts in operations of `unit`, which the shares do not have");
            return Err(Invalid::new(field, message).help("give the shares a `unit`"));
        }
        Ok(ShareTerms { entitled, costs: [self.read_cost, self.write_cost] })
    }

    /// Returns what it entitles to under a policy.
    fn entitlement(self, Terms { policy, capacity, .. }: Terms) -> Result<Entitlement, Invalid> {
        if let Some(field) = self.given().find(|field| !policy.fields().contains(field)) {
            let fields: Vec<String> = policy.fields().iter().map(|field| format!("`{field}`")).collect();
            let message =
                format!("`policy: {}` goes by {}, not by `{field}`", policy.name(), fields.join(", "));
            return Err(Invalid::new(field, message).help(other_way(field)));
        }
        let equal = Entitlement::EQUAL;
        let reservation = rate_of("reservation", self.reservation, capacity)?.unwrap_or(equal.reservation);
        let limit = rate_of("limit", self.limit, capacity)?.unwrap_or(equal.limit);
        let weight = self.weight.unwrap_or(equal.weight);
        match () {
            () if !(1e-6..=1e6).contains(&weight) => {
                Err(Invalid::new("weight", "`weight` must be from 10⁻⁶ to 10⁶"))
            }
            () if limit < reservation => Err(Invalid::new("limit", "`limit` must be at least `reservation`")),
            () => Ok(Entitlement { reservation, weight, limit, priority: self.priority.unwrap_or_default() }),
        }
    }

    /// The fields that are given.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("reservation", self.reservation.is_some()),
            ("weight", self.weight.is_some()),
            ("limit", self.limit.is_some()),
            ("priority", self.priority.is_some()),
            ("read_cost", self.read_cost.is_some()),
            ("write_cost", self.write_cost.is_some()),
        ];
        all.into_iter().filter_map(|(field, is_given)| is_given.then_some(field))
    }
}

/// Returns the operations per second of a field, where it is given.
fn rate_of(
    field: &str,
    given: Option<PerSecondOrShare>,
    capacity: Option<PerSecond>,
) -> Result<Option<f64>, Invalid> {
    let Some(given) = given else { return Ok(None) };
    let found = given.of(capacity).ok_or_else(|| {
        let message = format!("`{field}` in per cent is a part of `capacity`, which the shares do not have");
        Invalid::new(field, message).help("give the shares a `capacity`, or write a rate such as `1000 /s`")
    });
    found.map(Some)
}

/// What to do instead of giving a field by which a policy does not go.
fn other_way(field: &str) -> &'static str {
    match field {
        "limit" => "put a `limiter` before the share, or choose `policy: mclock` in `shares`",
        "reservation" => "choose `policy: mclock` in `shares`, or remove it",
        "priority" => "choose `policy: priority` in `shares`, or remove it",
        _ => "choose `policy: mclock`, `round_robin` or `wpq` in `shares`, or remove it",
    }
}

impl Spec for SharesSpec {
    type Plan = SharesPlan;

    fn lower(&self, at: &mut Lowering) -> Option<SharesPlan> {
        let target = match (&self.to, &self.of) {
            (Some(to), None) => at.reached("to", to),
            (None, Some(of @ (Copies::Part(_) | Copies::Written(_)))) => {
                at.copies::<Block>("of", of, None).map(|copies| copies[0])
            }
            _ => {
                at.refuse("to", "shares are of one component", Some("give `to: NAME`, or `of:` with a part"))
            }
        }?;
        if self.unit == Some(Bytes(0)) {
            return at.refuse("unit", "`unit` must be at least 1 B", None);
        }
        let only_for =
            [("unit", self.unit.is_some(), "read_cost"), ("capacity", self.capacity.is_some(), "limit")];
        for (field, is_given, needs) in only_for {
            if is_given && !self.policy.fields().contains(&needs) {
                let message = format!("`{field}` has no effect with `policy: {}`", self.policy.name());
                return at.refuse(field, message, Some("remove it, or choose `policy: mclock`"));
            }
        }
        let by_cause = match self.by_cause() {
            Ok(by_cause) => by_cause,
            Err(invalid) => return at.invalid(invalid),
        };
        let plan = SharesPlan { depth: u64::from(self.depth), terms: self.terms(), by_cause };
        at.uses(vec![target]);
        at.holds(at.capacity(target));
        Some(plan)
    }
}

impl SharesSpec {
    fn terms(&self) -> Terms {
        Terms { policy: self.policy, capacity: self.capacity, unit: self.unit.map_or(u64::MAX, Bytes::get) }
    }

    /// The share of each cause that has one of its own, in the order of `Cause::ALL`.
    fn by_cause(&self) -> Result<[Option<ShareTerms>; Cause::ALL.len()], Invalid> {
        let mut all = [None; Cause::ALL.len()];
        for cause in Cause::ALL {
            let own = self.by_cause.and_then(|by_cause| by_cause.of(cause));
            let other = self.background.filter(|_| cause != Cause::Host);
            let (numbers, field) = match (own, other) {
                (Some(own), _) => (own, format!("by_cause.{}", cause.name())),
                (None, Some(other)) => (other, "background".to_owned()),
                (None, None) => continue,
            };
            let share = numbers.under(self.terms()).map_err(|invalid| invalid.within(&field))?;
            all[cause as usize] = Some(share);
        }
        Ok(all)
    }
}

impl Terms {
    /// The operations that a request of a size counts as.
    fn operations(&self, bytes: u64) -> f64 {
        bytes.div_ceil(self.unit).max(1) as f64
    }
}

/// Shares whose numbers are known.
#[derive(Clone, Debug)]
pub struct SharesPlan {
    depth: u64,
    pub(crate) terms: Terms,
    /// Of each cause, the share of its own.
    by_cause: [Option<ShareTerms>; Cause::ALL.len()],
}

impl Theory for SharesPlan {
    fn features(&self) -> Features {
        Features { stands_before: Some(0), flushes_at_once: true, is_limit: true, ..Features::default() }
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let all: Vec<_> = view.uses().map(|target| target.demands(load)).collect::<Result<_, _>>()?;
        let mut demands: Vec<Demand> = all.concat();
        let asked = demands.iter().filter(|demand| !matches!(demand.server, ServiceKind::Places(_)));
        let alone: f64 = asked.map(|demand| demand.work_ms() / demand.parallelism).sum();
        let places = ServiceKind::Places(self.depth as u32);
        let fails =
            format!("requests are served in order of arrival: `{}` serves them by shares", view.path());
        let held = Demand::one(view.id(), places, Distribution::Fixed(alone));
        demands.push(Demand { fails: vec![fails], ..held });
        Ok(demands)
    }

    fn note(&self, view: View, load: &Load) -> Option<String> {
        view.uses().find_map(|used| used.note(load))
    }
}

/// Shares in a simulation.
pub struct Shares<'m> {
    context: &'m NodeContext<'m>,
    sim: &'m Sim<'m>,
    plan: &'m SharesPlan,
    target: &'m Edge<'m>,
    policy: RefCell<Box<dyn Policy>>,
    draws: RefCell<Draws>,
    /// Those who wait, by their tickets.
    line: WaitList<'m, u64, ()>,
    /// The tickets of those that are at the target.
    gone: RefCell<BTreeSet<u64>>,
    tickets: Cell<u64>,
    in_flight: RefCell<Gauge>,
    /// When it looks again whether somebody may go on; `MAX` if nobody waits for that.
    looks_at: Cell<Nanos>,
}

/// Who has asked, by its ticket; when it is dropped, its place at the target is free for the next.
struct Asking<'m>(&'m Shares<'m>, u64);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let Self(shares, ticket) = self;
        if !shares.sim.is_over() && shares.gone.borrow_mut().remove(ticket) {
            shares.in_flight.borrow_mut().down(shares.sim.now(), 1);
            shares.go_on(None);
        }
    }
}

impl Plan for SharesPlan {
    type Component<'m> = Shares<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Shares<'m> {
        let uses = context.uses();
        let sim = context.shared.sim;
        Shares {
            context,
            sim,
            plan: self,
            target: &uses[0],
            policy: RefCell::new(self.terms.policy.build()),
            draws: RefCell::new(context.stream("share").draws()),
            line: WaitList::new(sim),
            gone: RefCell::default(),
            tickets: Cell::new(0),
            in_flight: RefCell::default(),
            looks_at: Cell::new(Nanos::MAX),
        }
    }
}

impl<'m> Shares<'m> {
    /// Returns the time for which the limit of a client was in use, in ns.
    pub(crate) fn limit_used(&self, client: u32, now: Nanos) -> u128 {
        self.policy.borrow().busy_ns(client, now.ns()) as u128
    }

    /// Lets those go on whose turn it is, as far as there are places. Returns true if the ticket `own`, which is not in line yet, is one.
    fn go_on(&'m self, own: Option<u64>) -> bool {
        while self.in_flight.borrow().value() < self.plan.depth {
            let next = self.policy.borrow_mut().next(self.sim.now().ns(), &mut self.draws.borrow_mut());
            let Some(ticket) = next else {
                self.look_later();
                return false;
            };
            // A wait that was given up is not in line. Tickets are in order there.
            let goes = next == own || self.line.offer_in_order(|waits| waits.cmp(&ticket), ());
            if goes {
                self.gone.borrow_mut().insert(ticket);
                self.in_flight.borrow_mut().up(self.sim.now(), 1);
            }
            if next == own {
                return true;
            }
        }
        false
    }

    /// Looks again when the next may go on.
    fn look_later(&'m self) {
        let Some(ready) = self.policy.borrow().ready_ns() else { return };
        let at = Nanos::from_ns(libm::ceil(ready)).max(self.sim.now() + Nanos(1));
        if at < self.looks_at.get() {
            self.looks_at.set(at);
            self.sim.spawn(async move {
                self.sim.until(at).await;
                if self.looks_at.get() == at {
                    self.looks_at.set(Nanos::MAX);
                    self.go_on(None);
                }
            });
        }
    }

    /// The share of a cause, with a number that no component has; `None` if it has none of its own.
    fn of_cause(&self, cause: Cause) -> Option<(u32, ShareTerms)> {
        Some((u32::MAX - cause as u32, self.plan.by_cause[cause as usize]?))
    }

    /// Serves a request of a client, by its share.
    async fn serve_for(
        &'m self,
        (client, share): (u32, ShareTerms),
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) {
        let ticket = self.tickets.get();
        add(&self.tickets, 1);
        let cost = self.plan.terms.operations(share.counted(request.work));
        let waiting = Waiting { ticket, cost, came_ns: self.sim.now().ns() };
        self.policy.borrow_mut().come(client, &share.entitled, waiting);
        let asking = Asking(self, ticket);
        if !self.go_on(Some(ticket)) {
            self.line.wait(ticket).await;
        }
        breakdown.waited(self.context.id, self.sim.now());
        Box::pin(self.target.serve(request, breakdown)).await;
        drop(asking);
    }
}

impl<'m> Serve<'m, Block> for Shares<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let equal = ShareTerms { entitled: Entitlement::EQUAL, costs: [None; 2] };
        let own = self.of_cause(request.cause).unwrap_or((self.context.id.0, equal));
        self.serve_for(own, request, breakdown).await;
    }
}

/// A request of who has a share.
#[derive(Clone, Copy, Debug)]
pub struct OfShare {
    /// The request.
    pub(crate) block: Block,
    /// Who asks, by its number in the graph.
    pub(crate) client: u32,
    pub(crate) share: ShareTerms,
}

impl Work<'_> for OfShare {
    type Reply = ();

    fn data(&self) -> Block {
        self.block
    }

    fn failed(_: &Breakdown) {}
}

impl<'m> Serve<'m, OfShare> for Shares<'m> {
    async fn serve(&'m self, request: &Request<OfShare>, breakdown: &mut Breakdown) {
        let OfShare { block, client, share } = request.work;
        let background = self.of_cause(request.cause).filter(|_| request.cause != Cause::Host);
        self.serve_for(background.unwrap_or((client, share)), &request.with(block), breakdown).await;
    }
}

impl<'m> Component<'m> for Shares<'m> {
    /// Places at the target, and those who wait for one.
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let (in_flight, waits) = (*self.in_flight.borrow(), self.line.waits());
        let taken = in_flight.area(now);
        let came = self.tickets.get() - self.line.len() as u64;
        Some(Activity {
            servers: self.plan.depth,
            busy: by_hosts(taken),
            queue: waits.queue.area(now),
            waiting: waits.queue.value(),
            visits: came,
            waited: waits.waits.sum_ns(),
            served: came - in_flight.value(),
            service: taken,
            ..Activity::default()
        })
    }
}
