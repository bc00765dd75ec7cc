//! Traits that every component implements.

use headrace_analytic::Distribution;
use headrace_kernel::Resource;
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, Op, Request};

use crate::core::context::NodeContext;
use crate::core::graph::{Lowering, View};
use crate::core::health::Change;
use crate::core::meter::{Activity, Balance, EventBooks, Meter, Portion};
use crate::core::ranges::Ranges;
use crate::core::redundancy::Redundancy;
use crate::core::theory::{Demand, Features, Load, Model, Phase, QueueOrder, ServiceKind};
use crate::core::work::Serve;

/// Specification of a component: the fields that a user writes.
pub trait Spec {
    /// Plan made of it once names are looked up.
    type Plan: Plan;

    /// Looks up what it names and refuses what cannot work; all errors go to `at`. `None` where there was one. States what the plan
    /// [uses](Lowering::uses) and how many bytes it [holds](Lowering::holds).
    fn lower(&self, at: &mut Lowering) -> Option<Self::Plan>;

    /// Returns the server in which the component stands; `None` if it stands by itself.
    fn host(&self) -> Option<&str> {
        None
    }
}

/// A component fully described: it can be built any number of times.
pub trait Plan: Theory + std::fmt::Debug + Send + Sync {
    /// The component in a simulation.
    type Component<'m>: Component<'m>
    where
        Self: 'm;

    /// Builds it at `context`, which has an edge to each node that it uses.
    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Self::Component<'m>;
}

/// Facts about a component before time runs. Every default is the cautious answer.
pub trait Theory {
    /// Returns its features: by default the cautious ones, or those of a component that only [passes on](Self::passes_on).
    fn features(&self) -> Features {
        let passes_on = self.passes_on().is_some();
        Features {
            stands_before: passes_on.then_some(0),
            flushes_at_once: passes_on,
            fills: passes_on.then_some(0),
            ..Features::default()
        }
    }

    /// Returns the delay after which each request goes on, as it is, to the one component that this one uses; `None` if it does
    /// more, or other. Formulas follow from those of that component.
    fn passes_on(&self) -> Option<Nanos> {
        None
    }

    /// Returns the time for which a request holds a server, where it depends on nothing else; `None` if it does. Formulas follow, for
    /// [this number of servers](Self::servers) and one queue in order of arrival.
    fn time(&self, op: Op, bytes: u64) -> Option<Nanos> {
        _ = (op, bytes);
        None
    }

    /// Returns the number of requests that are served at once, where formulas follow from a [time](Self::time).
    fn servers(&self) -> u32 {
        1
    }

    /// The distribution of the time, in ms, for which one request holds the component and no other may begin.
    ///
    /// # Errors
    /// Requests overlap, or there is no formula: which assumption fails.
    fn service(&self, view: View, op: Op, bytes: u64) -> Result<Distribution, String> {
        match (self.time(op, bytes), self.servers()) {
            (Some(time), 1) => Ok(Distribution::Fixed(time.ms())),
            (Some(_), servers) => Err(format!("one server: `{}` has {servers}", view.path())),
            (None, _) => {
                Err(format!("the service time is known: that of `{}` ({}) is not", view.path(), view.kind()))
            }
        }
    }

    /// How the requests of a load are served, in the terms of a formula: by default one after the other, in the order in which
    /// they come, each for its [service time](Self::service).
    ///
    /// # Errors
    /// No formula applies: which assumption fails.
    fn model(&self, view: View, load: &Load) -> Result<Model, String> {
        match (load.mixed(|op, bytes| self.service(view, op, bytes)), held(self, load)) {
            (Ok(distribution), _) => {
                Ok(Model::Single { distribution, share: 1.0, formula: "M/G/1", mild: None })
            }
            (Err(fails), Some(held)) => {
                Ok(Model::Busy { work_ms: held.mean() / f64::from(self.servers()), fails })
            }
            (Err(fails), None) => Err(fails),
        }
    }

    /// Returns the demand of one request of a load on this node and on those it uses, from which a network of queues is made.
    ///
    /// # Errors
    /// It is not known: which assumption fails.
    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let at = |server, held| Demand::one(view.id(), server, held);
        if let Some(delay) = self.passes_on() {
            let own = (delay > Nanos::ZERO).then(|| at(ServiceKind::Delay, Distribution::Fixed(delay.ms())));
            let beyond: Vec<_> = view.uses().map(|used| used.demands(load)).collect::<Result<_, _>>()?;
            return Ok(beyond.into_iter().flatten().chain(own).collect());
        }
        let queue = ServiceKind::Queue { servers: self.servers(), order: QueueOrder::FirstCome };
        held(self, load).map(|held| vec![at(queue, held)]).ok_or_else(|| {
            format!("the work of a request is known: that on `{}` ({}) is not", view.path(), view.kind())
        })
    }

    /// Returns the demand on this node and on those it uses for one phase of a request of a load, from the sender's port to the
    /// receiver's or back. Only components with ports know it.
    ///
    /// # Errors
    /// It is not known: which assumption fails.
    fn carries(
        &self,
        view: View,
        load: &Load,
        path_transfer: (Phase, u32, u32),
    ) -> Result<Vec<Demand>, String> {
        _ = (load, path_transfer);
        Err(format!("the holding time is known: that of `{}` ({}) is not", view.path(), view.kind()))
    }

    /// Checks that requests are answered in order of arrival, so that they can be passed through without events.
    ///
    /// # Errors
    /// They may not be: why.
    fn in_order(&self, view: View, load: &Load) -> Result<(), String> {
        _ = load;
        Err(format!("`{}` may answer requests out of order", view.path()))
    }

    /// Fields that give requests a time where they may otherwise take none. The error message of a run in which time stands still
    /// names them.
    fn time_fields(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns true if its utilisation is proportional to this load.
    fn scales(&self, view: View, load: &Load) -> bool {
        let beyond = || view.uses().all(|used| used.scales(load));
        held(self, load).is_some() || (self.passes_on().is_some() && beyond())
    }

    /// Returns the most bytes that cross at once between this component and those it uses; `None` if all of a request do.
    fn piece(&self, view: View) -> Option<u64> {
        _ = view;
        None
    }

    /// The bytes of a full stripe, and the number of disks over which its data lies, of an array without a cache or a controller.
    fn stripe(&self, view: View) -> Option<(Bytes, u64)> {
        _ = view;
        None
    }

    /// Returns which losses of drives its data survives; `None` for a component that does not spread data over drives.
    ///
    /// # Errors
    /// It begins without some of its drives: what to change.
    fn redundancy(&self, view: View) -> Result<Option<Redundancy>, String> {
        _ = view;
        Ok(None)
    }

    /// Returns a note for readers of the results under this load; `None` if there is nothing to say.
    fn note(&self, view: View, load: &Load) -> Option<String> {
        self.passes_on().and_then(|_| view.uses().find_map(|used| used.note(load)))
    }
}

/// Returns the distribution of the time for which requests of a load hold a server, in ms, where they have a [time](Theory::time).
fn held(component: &(impl Theory + ?Sized), load: &Load) -> Option<Distribution> {
    let time = |&(p, op, bytes): &_| Some((p, Distribution::Fixed(component.time(op, bytes)?.ms())));
    Some(Distribution::mixed(load.kinds.iter().map(time).collect::<Option<_>>()?))
}

/// A component in a simulation: what it notices, and what it measures of itself.
pub trait Component<'m> {
    /// The component behind its `edge`-th edge has just failed, returned or been replaced.
    fn notice(&'m self, edge: usize, change: Change) {
        _ = (edge, change);
    }

    /// Begins to rebuild what it lacks without waiting for drives to come back: a rebuild that is too long to simulate is measured in parts. Where
    /// it goes from one end of the drives to the other, it begins at the share `from` of the data; where it goes by objects, only one object of
    /// `every` is lacking.
    fn rebuild_from(&'m self, from: f64, every: u64) {
        _ = (from, every);
    }

    /// Returns which bytes of those `written`, whose writes it has answered, would be lost if power failed now: they are in volatile memory
    /// alone. `ask` asks the component behind an edge about its own addresses. `None` if it cannot tell: then all may be lost that a flush
    /// [would have to wait for](Features::flushes_at_once).
    fn at_risk(&self, written: &Ranges, ask: &dyn Fn(usize, &Ranges) -> Ranges) -> Option<Ranges> {
        _ = (written, ask);
        None
    }

    /// Power has failed and is back: what its volatile memory held is gone.
    fn lose_power(&'m self) {}

    /// Some component of the system, whichever, works again: what failed may be tried once more.
    fn recovered(&'m self) {}

    /// One of its [pieces](Features::pieces), by its running number, fails or returns now.
    fn change_piece(&'m self, piece: u32, change: Change) {
        _ = (piece, change);
    }

    /// Does what it does by itself from the beginning of the run.
    fn begin(&'m self) {}

    /// Takes `ports` neighbouring ports for an array and its disks: the number of the first, or `None` if it has no ports.
    fn attach(&self, ports: u32) -> Option<u32> {
        _ = ports;
        None
    }

    /// Returns its servers, where it has one queue in order of arrival; `None` if it has none, or other queues.
    fn servers(&self) -> Option<&Resource<'m>> {
        None
    }

    /// Returns what its servers did up to `now`; `None` for a component without a queue of its own.
    fn activity(&self, now: Nanos) -> Option<Activity> {
        self.servers().map(|servers| Activity::of(servers.servers(), &servers.usage(), now))
    }

    /// Servers of it that stand in for no others, the same ones in the same order whenever it is asked; none where any server serves any request.
    fn portions(&self, now: Nanos) -> Vec<Portion> {
        _ = now;
        Vec::new()
    }

    /// In which state it is, where that is not the usual one: `degraded`, `unavailable`, `rebuilding`, `copying`, `lost data`.
    fn state(&self) -> Option<&'static str> {
        None
    }

    /// Returns the bytes that its write-back cache took in and holds; `None` without one.
    fn balance(&self) -> Option<Balance> {
        None
    }

    /// The events that came to it and what became of them; none for a component that takes none.
    fn events(&self) -> Option<EventBooks> {
        None
    }

    /// Measures of its own, by name: always the same ones in the same order; those of what may never happen come last, from when it
    /// does. Results carry each by that name.
    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        _ = (now, put);
    }

    /// Returns the requests that wait here, and their reason, in words: what a reader must know if nothing more can happen and requests
    /// are in flight.
    fn waiting(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns false if the run was too short for work that its requests cause later, such as garbage collection: a longer run would find it
    /// busier.
    fn is_settled(&self) -> bool {
        true
    }

    /// Returns true if its cache began empty, and was filled by a good part of what came: a longer run would find more in it.
    fn is_cold(&self) -> bool {
        false
    }

    /// Returns the time for which requests waited for something that servers do not give, such as space: how busy servers are says little of the
    /// load that can be borne then.
    fn lacking(&self, now: Nanos) -> Nanos {
        _ = now;
        Nanos::ZERO
    }

    /// Returns remarks for readers of the results on what happened here.
    fn remarks(&self, now: Nanos) -> Vec<String> {
        _ = now;
        Vec::new()
    }
}

/// A component that can serve requests without events, where it [keeps their order](Theory::in_order).
pub trait InOrder<'m>: Serve<'m, Block> {
    /// Serves a request that comes when `breakdown` ends. Requests come in the order of time. A request of a component that may answer out
    /// of order fails, as at one that is down; [`Theory::in_order`] says so before.
    fn pass(&'m self, request: &Request<Block>, breakdown: &mut Breakdown);

    /// Serves several requests, in the order of time, each with its breakdown.
    #[inline]
    fn pass_all(&'m self, requests: &mut [(Request<Block>, Breakdown)]) {
        requests.iter_mut().for_each(|(request, breakdown)| self.pass(request, breakdown));
    }
}
