//! What stands between hosts and the layout of an array: its controllers, and its cache.

use std::pin::Pin;

use headrace_work::{Ask, Block, Op, Spent};

use super::cache::{Cache, CachePlan, Memory};
use super::{Array, ArrayPlan, Way};
use crate::meter::{Balance, Meter};
use crate::place::{Edge, Place};

/// The controllers and the cache of an array.
pub(super) struct Front<'m> {
    way: Way<'m>,
    /// All controllers, also one that stands by.
    controllers: &'m [Edge<'m>],
    cache: Option<Cache<'m>>,
}

/// The cache memory of an array's controllers. Each of two has a copy; of that which was described first all is counted.
fn memory_of<'m>(controllers: &'m [Edge<'m>]) -> Option<&'m Memory<'m>> {
    controllers.iter().min_by_key(|edge| edge.to())?.controller()?.memory()
}

impl<'m> Front<'m> {
    /// What stands before an array; none where nothing does.
    pub fn new(
        plan: &'m ArrayPlan,
        place: &'m Place<'m>,
        way: Way<'m>,
        controllers: &'m [Edge<'m>],
    ) -> Option<Box<Self>> {
        let memory = |cache: &CachePlan| memory_of(controllers).filter(|_| cache.shared);
        let cache = plan.cache.as_ref().map(|cache| Cache::new(cache, place, memory(cache)));
        (cache.is_some() || !controllers.is_empty()).then(|| Box::new(Self { way, controllers, cache }))
    }

    /// Serves a host's request. Boxed, since a bus is a component as the array is, and futures of components contain each other.
    pub fn serve<'s>(
        &'m self,
        array: &'m Array<'m>,
        ask: &'s Ask<Block>,
        spent: &'s mut Spent,
    ) -> Pin<Box<dyn Future<Output = ()> + 's>>
    where
        'm: 's,
    {
        Box::pin(self.answer_by_one(array, ask, spent))
    }

    /// Serves a request by one of the controllers; where that fails meanwhile, again by the other.
    async fn answer_by_one(&'m self, array: &'m Array<'m>, ask: &Ask<Block>, spent: &mut Spent) {
        loop {
            let controller = self.way.controller(ask);
            let failures = controller.map(Edge::failures);
            self.answer(array, ask, spent).await;
            if controller.map(Edge::failures) == failures {
                return;
            }
            spent.fail();
            if !self.way.controller(ask).is_some_and(Edge::is_up) {
                return;
            }
            spent.retry();
        }
    }

    async fn answer(&'m self, array: &'m Array<'m>, ask: &Ask<Block>, spent: &mut Spent) {
        if let Some(controller) = self.way.controller(ask) {
            controller.serve(ask, spent).await;
        }
        if spent.has_failed() {
            return;
        }
        match (&self.cache, ask.work.op) {
            (Some(cache), Op::Read) => cache.read(array, ask, spent).await,
            (Some(cache), Op::Write | Op::Discard) => cache.write(array, ask, spent).await,
            (None, Op::Read) => {
                array.serve_by_disks(ask, spent).await;
                self.exchange(ask.work.bytes, ask, spent).await;
            }
            (None, Op::Write | Op::Discard) => {
                self.exchange(ask.work.bytes, ask, spent).await;
                array.serve_by_disks(ask, spent).await;
            }
        }
    }

    /// The most of a host's data that crosses a bus at once; none where all of a request does.
    pub fn piece(&self) -> Option<u64> {
        self.way.piece()
    }

    /// Data of a request crosses the bus to its host, or from it.
    pub async fn exchange(&'m self, bytes: u64, ask: &Ask<Block>, spent: &mut Spent) {
        if let Some(controller) = self.way.controller(ask).and_then(Edge::controller) {
            controller.cross(bytes, ask, spent).await;
        }
    }

    /// Data that is to be written back is copied to the other controller, if there is one: over the buses of both.
    pub async fn mirror(&'m self, bytes: u64, ask: &Ask<Block>, spent: &mut Spent) {
        if self.controllers.len() < 2 {
            return;
        }
        for controller in self.controllers.iter().filter_map(Edge::controller) {
            controller.cross(bytes, ask, spent).await;
        }
    }

    /// A controller computes parity, or data that is lost, from this number of bytes.
    pub async fn compute<W>(&'m self, bytes: u64, ask: &Ask<W>, spent: &mut Spent) {
        if let Some(controller) = self.way.controller(ask).and_then(Edge::controller) {
            controller.parity(bytes, ask, spent).await;
        }
    }

    /// See [`Metered::balance`](crate::Metered::balance).
    pub fn balance(&self) -> Option<Balance> {
        self.cache.as_ref().map(Cache::balance)
    }

    /// See [`Metered::meters`](crate::Metered::meters).
    pub fn meters(&self, now: headrace_units::Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        if let Some(cache) = &self.cache {
            cache.meters(now, put);
        }
    }
}
