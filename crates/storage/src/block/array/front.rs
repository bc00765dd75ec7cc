//! Front of an array, between hosts and layout: its controllers, and its cache.

use std::pin::Pin;

use headrace_work::{Block, Breakdown, Op, Request};

use super::cache::{ArrayCache, CachePlan, Memory};
use super::{Array, ArrayPlan, BackendPath};
use crate::block::controller::Controller;
use crate::core::context::{Edge, NodeContext};
use crate::core::meter::{Balance, Meter};
use crate::core::ranges::Ranges;

/// The controllers and the cache of an array.
pub(super) struct ArrayFront<'m> {
    way: BackendPath<'m>,
    /// All controllers, also one that stands by.
    controllers: &'m [Edge<'m>],
    cache: Option<ArrayCache<'m>>,
}

/// The cache memory of an array's controllers. Each of two has a copy; of that which was described first all is counted.
fn memory_of<'m>(controllers: &'m [Edge<'m>]) -> Option<&'m Memory<'m>> {
    controllers.iter().min_by_key(|edge| edge.to())?.get::<Controller>()?.memory()
}

impl<'m> ArrayFront<'m> {
    /// Builds the front of an array; `None` without controllers or cache.
    pub fn new(
        plan: &'m ArrayPlan,
        context: &'m NodeContext<'m>,
        way: BackendPath<'m>,
        controllers: &'m [Edge<'m>],
    ) -> Option<Box<Self>> {
        let memory = |cache: &CachePlan| memory_of(controllers).filter(|_| cache.shared);
        let capacity = plan.layout.capacity(plan.each).0;
        let cache = plan.cache.as_ref().map(|cache| ArrayCache::new(cache, capacity, context, memory(cache)));
        (cache.is_some() || !controllers.is_empty()).then(|| Box::new(Self { way, controllers, cache }))
    }

    /// Serves a host's request. Boxed, since a bus is a component as the array is, and futures of components contain each other.
    pub fn serve<'s>(
        &'m self,
        array: &'m Array<'m>,
        request: &'s Request<Block>,
        breakdown: &'s mut Breakdown,
    ) -> Pin<Box<dyn Future<Output = ()> + 's>>
    where
        'm: 's,
    {
        Box::pin(self.answer_by_one(array, request, breakdown))
    }

    pub fn has_cache(&self) -> bool {
        self.cache.is_some()
    }

    /// Serves a request by one of the controllers; where that fails meanwhile, again by the other.
    async fn answer_by_one(
        &'m self,
        array: &'m Array<'m>,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) {
        loop {
            let controller = self.way.controller(request);
            let failures = controller.map(Edge::failures);
            self.answer(array, request, breakdown).await;
            if controller.map(Edge::failures) == failures {
                return;
            }
            breakdown.fail();
            if !self.way.controller(request).is_some_and(Edge::is_up) {
                return;
            }
            breakdown.retry();
        }
    }

    async fn answer(&'m self, array: &'m Array<'m>, request: &Request<Block>, breakdown: &mut Breakdown) {
        if let Some(controller) = self.way.controller(request) {
            controller.serve(request, breakdown).await;
        }
        if breakdown.has_failed() {
            return;
        }
        if self.has_cache() && request.work.op != Op::Flush {
            array.counts.count_request();
        }
        match (&self.cache, request.work.op) {
            (Some(cache), Op::Read) => cache.read(array, request, breakdown).await,
            (Some(cache), Op::Write | Op::Discard) => cache.write(array, request, breakdown).await,
            (Some(cache), Op::Flush) => cache.flush(array, request, breakdown).await,
            (None, Op::Flush) => array.flush_disks(request, breakdown).await,
            (None, Op::Read) => {
                array.serve_by_disks(request, breakdown).await;
                self.exchange(request.work.bytes, request, breakdown).await;
            }
            (None, Op::Write | Op::Discard) => {
                self.exchange(request.work.bytes, request, breakdown).await;
                array.serve_by_disks(request, breakdown).await;
            }
        }
    }

    /// Returns which bytes of those written would be lost if power failed now; `on_disks` asks the disks.
    pub fn at_risk(&self, written: &Ranges, on_disks: &dyn Fn(&Ranges) -> Ranges) -> Ranges {
        self.cache.as_ref().map_or_else(|| on_disks(written), |cache| cache.at_risk(written, on_disks))
    }

    /// Power has failed and is back.
    pub fn lose_power(&self) {
        self.cache.iter().for_each(ArrayCache::lose_power);
    }

    /// The most of a host's data that crosses a bus at once; none where all of a request does.
    pub fn piece(&self) -> Option<u64> {
        self.way.piece()
    }

    /// Data of a request crosses the bus to its host, or from it.
    pub async fn exchange(&'m self, bytes: u64, request: &Request<Block>, breakdown: &mut Breakdown) {
        if let Some(controller) = self.way.controller(request).and_then(Edge::get::<Controller>) {
            controller.cross(bytes, request, breakdown).await;
        }
    }

    /// Data that is to be written back is copied to the other controller, if there is one: over the buses of both.
    pub async fn mirror(&'m self, bytes: u64, request: &Request<Block>, breakdown: &mut Breakdown) {
        if self.controllers.len() < 2 {
            return;
        }
        for controller in self.controllers.iter().filter_map(Edge::get::<Controller>) {
            controller.cross(bytes, request, breakdown).await;
        }
    }

    /// A controller computes parity, or data that is lost, from this number of bytes.
    pub async fn compute<W>(&'m self, bytes: u64, request: &Request<W>, breakdown: &mut Breakdown) {
        if let Some(controller) = self.way.controller(request).and_then(Edge::get::<Controller>) {
            controller.parity(bytes, request, breakdown).await;
        }
    }

    /// See [`Component::balance`](crate::Component::balance).
    pub fn balance(&self) -> Option<Balance> {
        self.cache.as_ref().map(ArrayCache::balance)
    }

    /// See [`Component::meters`](crate::Component::meters).
    pub fn meters(&self, now: headrace_units::Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        if let Some(cache) = &self.cache {
            cache.meters(now, put);
        }
    }
}
