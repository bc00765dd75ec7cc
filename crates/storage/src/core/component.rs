//! Traits that every component implements.

use headrace_analytic::Distribution;
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, Op, Request};

use crate::core::context::{Edge, NodeContext};
use crate::core::graph::{Lowering, Resolved, View};
use crate::core::health::Change;
use crate::core::meter::{Activity, Balance, EventBooks, Meter, Portion};
use crate::core::theory::{Demand, Features, Load, Model, Phase};
use crate::core::work::Serve;

/// Specification of a component: the fields that a user writes.
pub trait Spec {
    /// Plan made of it once names are looked up.
    type Plan: Plan;

    /// Looks up what it names and refuses what cannot work; all errors go to `at`. `None` where there was one.
    fn lower(&self, at: &mut Lowering) -> Option<Resolved<Self::Plan>>;

    /// Returns the server in which the component stands; `None` if it stands by itself.
    fn host(&self) -> Option<&str> {
        None
    }
}

/// A component fully described: it can be built any number of times.
pub trait Plan: Theory + std::fmt::Debug + Send + Sync {
    /// The room in a simulation.
    type Component<'m>: Component<'m>
    where
        Self: 'm;

    /// Builds it at `context`, with an edge to each node that it uses.
    fn build<'m>(&'m self, context: &'m NodeContext<'m>, uses: &'m [Edge<'m>]) -> Self::Component<'m>;
}

/// Facts about a component before time runs. Every default is the cautious answer.
pub trait Theory {
    /// Returns its features.
    fn features(&self) -> Features {
        Features::default()
    }

    /// The distribution of the time, in ms, for which one request holds the component and no other may begin.
    ///
    /// # Errors
    /// Requests overlap, or there is no formula: which assumption fails.
    fn service(&self, view: View, op: Op, bytes: u64) -> Result<Distribution, String> {
        _ = (op, bytes);
        Err(format!("there is a formula for a {}", view.kind()))
    }

    /// How the requests of a load are served, in the terms of a formula: by default one after the other, in the order in which
    /// they come, each for its [service time](Self::service).
    ///
    /// # Errors
    /// No formula applies: which assumption fails.
    fn model(&self, view: View, load: &Load) -> Result<Model, String> {
        let distribution = load.mixed(|op, bytes| self.service(view, op, bytes))?;
        Ok(Model::Single { distribution, share: 1.0, formula: "M/G/1", mild: None })
    }

    /// Returns the demand of one request of a load on this node and on those it uses, from which a network of queues is made.
    ///
    /// # Errors
    /// It is not known: which assumption fails.
    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        _ = load;
        Err(format!(
            "the demand of a request on a {} is known: `{}` has no formula",
            view.kind(),
            view.path()
        ))
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
        Err(format!("the holding time of a {} is known: `{}` has no formula", view.kind(), view.path()))
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
        _ = (view, load);
        false
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

    /// Returns a note for readers of the results under this load; `None` if there is nothing to say.
    fn note(&self, view: View, load: &Load) -> Option<String> {
        _ = (view, load);
        None
    }
}

/// A component in a simulation: what it notices, and what it measures of itself.
pub trait Component<'m> {
    /// The component behind its `edge`-th edge has just failed, returned or been replaced.
    fn notice(&'m self, edge: usize, change: Change) {
        _ = (edge, change);
    }

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

    /// Its servers and its queue up to `now`; none for a component without a queue of its own.
    fn activity(&self, now: Nanos) -> Option<Activity> {
        _ = now;
        None
    }

    /// Servers of it that stand in for no others; none where any server serves any request. Only of components of archives, whose logs are replayed
    /// without a warm-up.
    fn portions(&self, now: Nanos) -> Vec<Portion> {
        _ = now;
        Vec::new()
    }

    /// In which state it is, where that is not the usual one: `degraded`, `unavailable`, `rebuilding`, `lost data`.
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

    /// Returns remarks for readers of the results on what happened here.
    fn remarks(&self, now: Nanos) -> Vec<String> {
        _ = now;
        Vec::new()
    }
}

/// A component that can serve requests without events, where it [keeps their order](Theory::in_order).
pub trait InOrder<'m>: Serve<'m, Block> {
    /// Serves a request that comes when `breakdown` ends. Requests come in the order of time.
    fn pass(&'m self, request: &Request<Block>, breakdown: &mut Breakdown);

    /// Serves several requests, in the order of time, each with its breakdown.
    #[inline]
    fn pass_all(&'m self, requests: &mut [(Request<Block>, Breakdown)]) {
        requests.iter_mut().for_each(|(request, breakdown)| self.pass(request, breakdown));
    }
}
