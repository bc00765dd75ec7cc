//! A dispatcher: the requests of a stream to alike components go to one of them each.
//!
//! Lowering makes one for each stream that goes to the components of several copies, or comes from several servers. Each request goes to one of
//! them, chosen at random with equal probability, so a Poisson process stays one at each of them (random splitting). Its capacity is that of the
//! smallest: an address is one of the component that is chosen. Accelerators, which have a server of their own, go past it: see
//! [`Dispatcher::of_servers`].

use headrace_kernel::{RngStream, WorkerPool};
use headrace_work::{Block, Breakdown, Op, Request};

use crate::core::component::{Component, Plan, Theory};
use crate::core::context::{Edge, NodeContext};
use crate::core::graph::View;
use crate::core::theory::{Demand, Features, Load, Model};
use crate::core::work::Serve;

/// A dispatcher to all nodes that it uses.
#[derive(Clone, Copy, Debug)]
pub struct DispatcherPlan {
    /// True if each node that it uses is the route from another server.
    pub one_for_each_server: bool,
}

impl DispatcherPlan {
    /// One of the alike components, which stands for all, and the share of the requests that it gets.
    fn one(view: View) -> Result<(View, f64), String> {
        let first = view.uses().next().ok_or_else(|| format!("`{}` has components", view.name()))?;
        Ok((first, 1.0 / view.uses().count() as f64))
    }
}

impl Theory for DispatcherPlan {
    fn features(&self) -> Features {
        Features {
            addressed: false,
            spreads: true,
            discards: true,
            flushes_at_once: true,
            ..Features::default()
        }
    }

    fn model(&self, view: View, load: &Load) -> Result<Model, String> {
        let (one, part) = Self::one(view)?;
        let of_all = |text: String| text.replace(one.name(), view.name());
        Ok(match one.model(load).map_err(of_all)? {
            Model::Single { distribution, share, formula, mild } => {
                Model::Single { distribution, share: share * part, formula, mild }
            }
            Model::Several { mean_ms, servers, share } => {
                Model::Several { mean_ms, servers, share: share * part }
            }
            Model::Forked { distribution, branches, share, work_ms, kind } => {
                Model::Forked { distribution, branches, share: share * part, work_ms: work_ms * part, kind }
            }
            Model::Busy { work_ms, fails } => Model::Busy { work_ms: work_ms * part, fails: of_all(fails) },
        })
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let (_, part) = Self::one(view)?;
        let all: Vec<_> = view.uses().map(|used| used.demands(load)).collect::<Result<_, _>>()?;
        Ok(all.into_iter().flatten().map(|demand| demand.times(part, 1.0)).collect())
    }

    fn scales(&self, view: View, load: &Load) -> bool {
        view.uses().all(|used| used.scales(load))
    }

    /// That of the first component, which all have.
    fn note(&self, view: View, load: &Load) -> Option<String> {
        let (one, _) = Self::one(view).ok()?;
        Some(one.note(load)?.replace(one.name(), view.name()))
    }
}

/// A dispatcher in a simulation.
pub struct Dispatcher<'m> {
    plan: &'m DispatcherPlan,
    to: &'m [Edge<'m>],
    choices: RngStream,
    /// Flushes, each of one component by its number.
    flushes: WorkerPool<'m, (usize, Request<Block>), Breakdown>,
}

impl Plan for DispatcherPlan {
    type Component<'m> = Dispatcher<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Dispatcher<'m> {
        let (sim, to) = (context.shared.sim, context.uses());
        let flushes = WorkerPool::new(sim, move |(number, request): (usize, Request<Block>)| async move {
            let mut breakdown = Breakdown::from(sim.now());
            to[number].serve(&request, &mut breakdown).await;
            breakdown
        });
        Dispatcher { plan: self, to, choices: context.stream("choices"), flushes }
    }
}

impl<'m> Dispatcher<'m> {
    /// Returns the way from each server, where each has one.
    pub fn of_servers(&self) -> Option<&'m [Edge<'m>]> {
        self.plan.one_for_each_server.then_some(self.to)
    }

    /// Has every component make stable what it has acknowledged.
    async fn flush(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let each = (0..self.to.len()).map(|number| (number, request.child(number as u64, request.work)));
        if let Some(last) = self.flushes.all(each).await {
            breakdown.follow(&last);
        }
    }
}

impl<'m> Serve<'m, Block> for Dispatcher<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        if request.work.op == Op::Flush {
            return self.flush(request, breakdown).await;
        }
        let chosen = self.choices.of(request.key).below(self.to.len() as u64);
        // Boxed, since a component can use others that are boxed too, and a future cannot contain itself.
        Box::pin(self.to[chosen as usize].serve(request, breakdown)).await;
    }
}

impl<'m> Component<'m> for Dispatcher<'m> {}
