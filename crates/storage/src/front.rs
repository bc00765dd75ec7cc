//! The front of an archive: how many transfers a user, a host and the ports allow at once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use headrace_kernel::WaitList;
use headrace_stats::{Level, Tally};
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{Ask, FileAct, FileOp, Spent, What};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::Lowering;
use crate::meter::{Activity, Meter, Portion, by_hosts, waits};
use crate::place::{Edge, Place};
use crate::room::{Known, Lowered, Metered, Plan, Room, Spec};

/// Limits and ports in front of an archive. A transfer first waits until its user and its host are below their limits (blocked), then for a
/// port that accepts files of its size (waiting). It holds both until its data has moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrontSpec {
    /// Maximum number of transfers per user. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub per_user: Option<u32>,
    /// Maximum number of transfers per host. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub per_host: Option<u32>,
    /// Classes of ports; a transfer takes the first free port that accepts the size of its file. Default: no
    /// ports needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortClass>,
    /// Queueing discipline for ports.
    #[serde(default)]
    pub queue: PortQueue,
    /// Delay before the data of a put is sent. The port is held.
    #[serde(default)]
    pub put_latency: Nanos,
    /// Delay before the data of a get is sent. The port is held.
    #[serde(default)]
    pub get_latency: Nanos,
    /// Maximum rate of one client. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_rate: Option<BytesPerSecond>,
}

/// A class of ports for files of certain sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortClass {
    /// Number of ports.
    #[schemars(range(min = 1, max = 100_000))]
    pub number: u32,
    /// Minimum file size (exclusive).
    #[serde(default)]
    pub above: Bytes,
    /// Maximum file size (inclusive). Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to: Option<Bytes>,
}

/// Queueing discipline for ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortQueue {
    /// The first in the queue whose file fits the port.
    #[default]
    FirstThatFits,
    /// The head of the queue; it blocks those behind it until a port fits.
    HeadBlocks,
    /// One queue for limits and ports: the first transfer within the limits of its user and host whose file
    /// fits a free port. No transfer counts against a limit while it waits for a port. All time in this queue
    /// counts as waiting.
    Joint,
}

impl PortClass {
    fn takes(&self, bytes: u64) -> bool {
        bytes > self.above.0 && self.up_to.is_none_or(|most| bytes <= most.0)
    }
}

impl Spec for FrontSpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Lowered<Self>> {
        let empty = self.ports.iter().any(|class| class.up_to.is_some_and(|most| most <= class.above));
        if empty {
            return at.refuse("ports", "a class accepts no file: `up_to` must be larger than `above`", None);
        }
        if !self.ports.is_empty()
            && let Some(size) = self.size_without_port()
        {
            let message = format!("no port takes a file of {}", Bytes(size));
            return at.refuse(
                "ports",
                message,
                Some("omit `above` of the smallest class and `up_to` of the largest, and leave no gap"),
            );
        }
        Some(Lowered { plan: self.clone(), uses: Vec::new(), capacity: Bytes(0) })
    }
}

impl FrontSpec {
    /// A size that no class takes: only sizes just above a bound need be tried.
    fn size_without_port(&self) -> Option<u64> {
        let bounds = self.ports.iter().flat_map(|class| [Some(class.above), class.up_to]).flatten();
        let mut sizes: Vec<u64> = bounds.map(|bound| bound.0 + 1).chain([1]).collect();
        sizes.sort_unstable();
        sizes.into_iter().find(|size| !self.ports.iter().any(|class| class.takes(*size)))
    }
}

impl Known for FrontSpec {
    fn serves_blocks(&self) -> bool {
        false
    }
}

/// Who wants to transfer what.
#[derive(Clone, Copy)]
struct Client {
    user: u64,
    host: u64,
    bytes: u64,
}

/// A front in a simulation.
pub struct Front<'m> {
    place: &'m Place<'m>,
    spec: &'m FrontSpec,
    users: RefCell<BTreeMap<u64, u32>>,
    hosts: RefCell<BTreeMap<u64, u32>>,
    /// The class of each port, and whether it is held.
    ports: RefCell<Vec<(usize, bool)>>,
    /// How many ports of each class are held.
    classes: RefCell<Vec<Level>>,
    limited: Box<WaitList<'m, Client, ()>>,
    queue: Box<WaitList<'m, Client, Option<usize>>>,
    admitted: Cell<u64>,
    held_back: Cell<u64>,
    busy: RefCell<Level>,
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
        if !self.front.place.site.sim.is_over() {
            self.front.release(self);
        }
    }
}

impl Plan for FrontSpec {
    type Room<'m> = Front<'m>;

    fn build<'m>(&'m self, place: &'m Place<'m>, _: &'m [Edge<'m>]) -> Front<'m> {
        let all = self.ports.iter().enumerate();
        let ports = all.flat_map(|(at, class)| (0..class.number).map(move |_| (at, false)));
        Front {
            place,
            spec: self,
            users: RefCell::default(),
            hosts: RefCell::default(),
            ports: RefCell::new(ports.collect()),
            classes: RefCell::new(vec![Level::default(); self.ports.len()]),
            limited: Box::new(WaitList::new(place.site.sim)),
            queue: Box::new(WaitList::new(place.site.sim)),
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
    pub(crate) async fn admit(&'m self, ask: &Ask<FileOp>, spent: &mut Spent) -> Leave<'m> {
        let FileOp { act, bytes, user, host, .. } = ask.work;
        let (sim, client) = (self.place.site.sim, Client { user, host, bytes });
        self.admitted.set(self.admitted.get() + 1);
        let is_joint = self.spec.queue == PortQueue::Joint;
        if !is_joint && !self.take_limits(&client) {
            self.held_back.set(self.held_back.get() + 1);
            self.limited.wait(client).await;
        }
        spent.charge(self.place.id, What::Blocked, sim.now());
        let port = match if is_joint { self.take_both(&client) } else { self.take_port(&client) } {
            Some(port) => port,
            None => self.queue.wait(client).await,
        };
        let waited = sim.now() - spent.until();
        spent.charge(self.place.id, What::Waiting, sim.now());
        self.waits.borrow_mut().record(waited);
        self.busy.borrow_mut().up(sim.now(), 1);
        let leave = Leave { front: self, client, port, since: sim.now() };
        sim.delay(if act == FileAct::Put { self.spec.put_latency } else { self.spec.get_latency }).await;
        spent.charge(self.place.id, What::Service, sim.now());
        leave
    }

    /// The most that a client sends or receives, in bytes a second.
    pub(crate) fn client_rate(&self) -> f64 {
        self.spec.client_rate.map_or(f64::INFINITY, BytesPerSecond::get)
    }

    fn has_room(&self, client: &Client) -> bool {
        let below = |held: &BTreeMap<u64, u32>, who, most: Option<u32>| {
            most.is_none_or(|most| held.get(&who).copied().unwrap_or(0) < most)
        };
        below(&self.users.borrow(), client.user, self.spec.per_user)
            && below(&self.hosts.borrow(), client.host, self.spec.per_host)
    }

    fn take_limits(&self, client: &Client) -> bool {
        let has_room = self.has_room(client);
        if has_room {
            *self.users.borrow_mut().entry(client.user).or_default() += 1;
            *self.hosts.borrow_mut().entry(client.host).or_default() += 1;
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
            self.classes.borrow_mut()[*class].up(self.place.site.sim.now(), 1);
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
        let now = self.place.site.sim.now();
        self.busy.borrow_mut().down(now, 1);
        self.services.borrow_mut().record(now - leave.since);
        give_back(&mut self.users.borrow_mut(), leave.client.user);
        give_back(&mut self.hosts.borrow_mut(), leave.client.host);
        if let Some(port) = leave.port {
            let (class, held) = &mut self.ports.borrow_mut()[port];
            *held = false;
            self.classes.borrow_mut()[*class].down(now, 1);
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

fn give_back(held: &mut BTreeMap<u64, u32>, who: u64) {
    if let Some(number) = held.get_mut(&who) {
        *number -= 1;
        if *number == 0 {
            held.remove(&who);
        }
    }
}

impl<'m> Room<'m> for Front<'m> {}

impl Metered for Front<'_> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let (waits, services, queue) =
            (self.waits.borrow(), self.services.borrow(), self.queue.waits().queue);
        let ports = self.ports.borrow().len() as u64;
        (ports > 0).then(|| Activity {
            servers: ports,
            busy: by_hosts(self.busy.borrow().area(now)),
            queue: queue.area(now),
            waiting: queue.value() + self.limited.len() as u64,
            visits: waits.count(),
            waited: waits.sum_ns(),
            served: services.count(),
            service: services.sum_ns(),
        })
    }

    fn portions(&self, now: Nanos) -> Vec<Portion> {
        let classes = self.classes.borrow();
        let all = self.spec.ports.iter().zip(&*classes).enumerate();
        let portion = |(at, (class, held)): (usize, (&PortClass, &Level))| Portion {
            name: format!("ports[{at}]"),
            servers: u64::from(class.number),
            busy: held.area(now),
        };
        all.map(portion).collect()
    }

    fn waiting(&self) -> Vec<String> {
        let path = self.place.path;
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
    }
}
