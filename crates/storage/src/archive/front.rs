//! The front of an archive: how many transfers a user, a host and the ports allow at once.

mod clients;
mod limit;
mod spec;

use std::cell::{Cell, RefCell};

use headrace_kernel::WaitList;
use headrace_stats::{Gauge, Tally};
use headrace_units::Nanos;
use headrace_work::{Breakdown, FileOp, Request};

use crate::core::component::{Component, Plan, Theory};
use crate::core::context::NodeContext;
use crate::core::meter::{Activity, Meter, Portion, by_hosts, waits};

use clients::Clients;
use limit::TransferLimit;

pub use spec::{BetweenHosts, Failures, FrontSpec, PortClass, PortQueue, Stalls};

impl Theory for FrontSpec {}

/// User, host and transfer of a request.
#[derive(Clone, Copy)]
struct Client {
    user: u64,
    host: u64,
    bytes: u64,
}

/// A front in a simulation.
pub struct Front<'m> {
    context: &'m NodeContext<'m>,
    spec: &'m FrontSpec,
    /// What clients do, and hosts allow.
    pub(crate) clients: Clients<'m>,
    users: TransferLimit,
    hosts: TransferLimit,
    /// The class of each port, and whether it is held.
    ports: RefCell<Vec<(usize, bool)>>,
    /// Held ports of each class, and waiting transfers that it accepts.
    classes: RefCell<Vec<[Gauge; 2]>>,
    limited: Box<WaitList<'m, Client, ()>>,
    queue: Box<WaitList<'m, Client, Option<usize>>>,
    admitted: Cell<u64>,
    held_back: Cell<u64>,
    busy: RefCell<Gauge>,
    waits: RefCell<Tally>,
    services: RefCell<Tally>,
}

/// Leave to transfer: a place of its user and host, and a port. Dropped, it is there for the next.
pub(crate) struct Leave<'m> {
    front: &'m Front<'m>,
    client: Client,
    port: Option<usize>,
    since: Nanos,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        if !self.front.context.shared.sim.is_over() {
            self.front.release(self);
        }
    }
}

impl Plan for FrontSpec {
    type Component<'m> = Front<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Front<'m> {
        let all = self.ports.iter().enumerate();
        let ports = all.flat_map(|(at, class)| (0..class.number).map(move |_| (at, false)));
        Front {
            context,
            spec: self,
            clients: Clients::of(self, context),
            users: TransferLimit::of(self.per_user),
            hosts: TransferLimit::of(self.per_host),
            ports: RefCell::new(ports.collect()),
            classes: RefCell::new(vec![[Gauge::default(); 2]; self.ports.len()]),
            limited: Box::new(WaitList::new(context.shared.sim)),
            queue: Box::new(WaitList::new(context.shared.sim)),
            admitted: Cell::new(0),
            held_back: Cell::new(0),
            busy: RefCell::default(),
            waits: RefCell::default(),
            services: RefCell::default(),
        }
    }
}

impl<'m> Front<'m> {
    /// Waits until a transfer may begin, and for its latency.
    pub(crate) async fn admit(&'m self, request: &Request<FileOp>, breakdown: &mut Breakdown) -> Leave<'m> {
        let FileOp { bytes, user, host, .. } = request.work;
        let (sim, client) = (self.context.shared.sim, Client { user, host, bytes });
        self.admitted.set(self.admitted.get() + 1);
        let is_joint = self.spec.queue == PortQueue::Joint;
        if !is_joint && !self.take_limits(&client) {
            self.held_back.set(self.held_back.get() + 1);
            self.hold_back(client).await;
        }
        breakdown.blocked(self.context.id, sim.now());
        let port = match if is_joint { self.take_both(&client) } else { self.take_port(&client) } {
            Some(port) => port,
            None => self.wait_for_port(client).await,
        };
        let waited = sim.now() - breakdown.until();
        breakdown.waited(self.context.id, sim.now());
        self.waits.borrow_mut().record(waited);
        self.busy.borrow_mut().up(sim.now(), 1);
        let leave = Leave { front: self, client, port, since: sim.now() };
        sim.delay(self.clients.latency(request)).await;
        breakdown.served(self.context.id, sim.now());
        leave
    }

    /// Waits until user and host are below their limits. Where both are at theirs, the user's holds the transfer back.
    async fn hold_back(&'m self, client: Client) {
        let (sim, by_user) = (self.context.shared.sim, !self.users.has_room(client.user));
        let limit = if by_user { &self.users } else { &self.hosts };
        limit.waiting.borrow_mut().up(sim.now(), 1);
        self.limited.wait(client).await;
        limit.waiting.borrow_mut().down(sim.now(), 1);
    }

    async fn wait_for_port(&'m self, client: Client) -> Option<usize> {
        let sim = self.context.shared.sim;
        self.classes_for(&client, |[_, waiting]| waiting.up(sim.now(), 1));
        let port = self.queue.wait(client).await;
        self.classes_for(&client, |[_, waiting]| waiting.down(sim.now(), 1));
        port
    }

    /// Does something to what is known of each class that accepts a transfer.
    fn classes_for(&self, client: &Client, mut act: impl FnMut(&mut [Gauge; 2])) {
        let mut classes = self.classes.borrow_mut();
        let all = self.spec.ports.iter().zip(&mut *classes);
        all.filter(|(class, _)| class.takes(client.bytes)).for_each(|(_, levels)| act(levels));
    }

    fn take_limits(&self, client: &Client) -> bool {
        let has_room = self.users.has_room(client.user) && self.hosts.has_room(client.host);
        if has_room {
            let now = self.context.shared.sim.now();
            self.users.take(client.user, now);
            self.hosts.take(client.host, now);
        }
        has_room
    }

    /// A free port for a transfer, the first in order; `Some(None)` where none are needed.
    fn free_port(&self, client: &Client) -> Option<Option<usize>> {
        let ports = self.ports.borrow();
        if ports.is_empty() {
            return Some(None);
        }
        let takes = |class: usize| self.spec.ports[class].takes(client.bytes);
        ports.iter().position(|(class, held)| !held && takes(*class)).map(Some)
    }

    fn hold(&self, port: Option<usize>) -> Option<usize> {
        if let Some(port) = port {
            let (class, held) = &mut self.ports.borrow_mut()[port];
            *held = true;
            self.classes.borrow_mut()[*class][0].up(self.context.shared.sim.now(), 1);
        }
        port
    }

    /// A port for who comes new.
    fn take_port(&self, client: &Client) -> Option<Option<usize>> {
        let is_behind = self.spec.queue == PortQueue::HeadBlocks && !self.queue.is_empty();
        let port = self.free_port(client).filter(|_| !is_behind)?;
        Some(self.hold(port))
    }

    fn take_both(&self, client: &Client) -> Option<Option<usize>> {
        let port = self.free_port(client)?;
        self.take_limits(client).then(|| self.hold(port))
    }

    fn release(&self, leave: &Leave) {
        let now = self.context.shared.sim.now();
        self.busy.borrow_mut().down(now, 1);
        self.services.borrow_mut().record(now - leave.since);
        self.users.give_back(leave.client.user, now);
        self.hosts.give_back(leave.client.host, now);
        if let Some(port) = leave.port {
            let (class, held) = &mut self.ports.borrow_mut()[port];
            *held = false;
            self.classes.borrow_mut()[*class][0].down(now, 1);
        }
        match self.spec.queue {
            PortQueue::Joint => while self.queue.offer(|client| self.take_both(client)) {},
            PortQueue::HeadBlocks => {
                while self.queue.offer_first(|client| self.free_port(client).map(|port| self.hold(port))) {}
            }
            PortQueue::FirstThatFits => {
                self.queue.offer(|client| self.free_port(client).map(|port| self.hold(port)));
            }
        }
        while self.limited.offer(|client| self.take_limits(client).then_some(())) {}
    }
}

impl<'m> Component<'m> for Front<'m> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let (waits, services, queue) =
            (self.waits.borrow(), self.services.borrow(), self.queue.waits().queue);
        let ports = self.ports.borrow().len() as u64;
        (ports > 0).then(|| Activity {
            servers: ports,
            away: 0,
            busy: by_hosts(self.busy.borrow().area(now)),
            queue: queue.area(now),
            waiting: queue.value() + self.limited.len() as u64,
            visits: waits.count(),
            waited: waits.sum_ns(),
            served: services.count(),
            service: services.sum_ns(),
            ..Activity::default()
        })
    }

    fn portions(&self, now: Nanos) -> Vec<Portion> {
        // In a joint queue nobody knows what a transfer waits for.
        let apart = self.spec.queue != PortQueue::Joint;
        let classes = self.classes.borrow();
        let all = self.spec.ports.iter().zip(&*classes).enumerate();
        let portion = |(at, (class, [held, waiting])): (usize, (&PortClass, &[Gauge; 2]))| Portion {
            name: format!("ports[{at}]"),
            servers: u64::from(class.number),
            busy: held.area(now),
            away: 0,
            queue: apart.then(|| waiting.area(now)),
        };
        let limits = [("per_user of one user", &self.users), ("per_host of one host", &self.hosts)];
        let limits = limits.into_iter().filter_map(|(name, limit)| limit.portion(name, apart, now));
        all.map(portion).chain(limits).collect()
    }

    fn waiting(&self) -> Vec<String> {
        let path = self.context.path;
        let all = [
            waits(self.limited.len() as u64, "transfer", &format!("the limits of `{path}`")),
            waits(self.queue.len() as u64, "transfer", &format!("a port of `{path}`")),
        ];
        all.into_iter().flatten().collect()
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        put("held_back_by_limits", Meter::Area(self.limited.waits().queue.area(now)));
        put("waiting_for_ports", Meter::Area(self.queue.waits().queue.area(now)));
        put("held_back_share", Meter::Share(self.held_back.get(), self.admitted.get()));
        if self.spec.failures.is_some() {
            put("failed_attempts", Meter::Count(self.clients.failed.get()));
        }
    }
}
