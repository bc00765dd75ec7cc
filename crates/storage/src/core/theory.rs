//! The terms in which components tell theory how they serve a load.

use std::sync::Arc;

use headrace_analytic::Distribution;
use headrace_analytic::network::exhaustive::Exhaustive;
use headrace_units::Bytes;
use headrace_work::{NodeId, Op};

/// Features of a component, each by default the cautious answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// The time that a request takes depends on its address.
    pub addressed: bool,
    /// Requests are handed on by address, so that it counts too whether the used components are addressed.
    pub spreads: bool,
    /// The used component, by its place among those used, that this one stands before: it is addressed and discards as that one, and
    /// fails with it.
    pub stands_before: Option<usize>,
    /// Urgent requests are served first.
    pub has_priorities: bool,
    /// Streams of discards can be sent to it.
    pub discards: bool,
    /// A flush is served as any other command, however much was written before: what it acknowledges is stable.
    pub flushes_at_once: bool,
    /// Its servers are places that requests hold while others serve them, such as those of a queue depth.
    pub is_limit: bool,
    /// It limits a rate: it is in use in proportion to the load, and what is saved up, or may wait, lets a short run exceed it.
    pub limits_rate: bool,
    /// What is sent through it is sent in turn, and waits for its turn where no server is busy.
    pub sends_in_turn: bool,
    /// What is written back to it can wait, and takes no more time a write if the load grows: it is gathered, and written in order.
    pub gathers: bool,
    /// Requests that wait together share its work, however many they are: commits that one flush makes stable.
    pub shares_work: bool,
    /// It is a drive: its failure loses the data it holds.
    pub is_drive: bool,
    /// True if it can change during a run without a fault: a disk that failed before is rebuilt, or a slow one evicted.
    pub changes: bool,
    /// Bytes of data that build up in it during a run, such as the size of a cache; 0 if it keeps none, `None` if they depend on more than
    /// its size: files, used flash, credits.
    pub fills: Option<u64>,
    /// Maximum number of ports, where each array on it takes one for itself and one for each of its disks.
    pub most_ports: Option<usize>,
    /// Bytes read and written as a whole; `None` if any byte can be.
    pub sector: Option<Bytes>,
    /// Its times can be longer than usual: it is slow, but has not failed.
    pub can_be_slow: bool,
    /// Pieces that can fail by themselves, by name, and the number of each: drives of a tape library. They have running numbers, in this
    /// order.
    pub pieces: Vec<(&'static str, u32)>,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            addressed: true,
            spreads: false,
            stands_before: None,
            has_priorities: false,
            discards: false,
            flushes_at_once: false,
            is_limit: false,
            limits_rate: false,
            sends_in_turn: false,
            gathers: false,
            shares_work: false,
            is_drive: false,
            changes: false,
            fills: None,
            most_ports: None,
            sector: None,
            can_be_slow: false,
            pieces: Vec::new(),
        }
    }
}

/// A part of the exchange between who asks and who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the request is served: the command, and the data of a write.
    Request,
    /// After it: the data of a read, and the status.
    Answer,
}

impl Phase {
    /// Returns true if the data of such a request goes along.
    #[inline]
    pub fn has_data(self, op: Op) -> bool {
        matches!((self, op), (Self::Request, Op::Write) | (Self::Answer, Op::Read))
    }
}

/// The requests of one stream, as a component sees them.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The stream, for messages.
    pub stream: String,
    /// Every kind of request that occurs: (probability, operation, bytes).
    pub kinds: Vec<(f64, Op, u64)>,
    /// The smallest and the largest request.
    pub sizes: (Bytes, Bytes),
    /// Addresses are multiples of this.
    pub align: Bytes,
    /// True if every address is equally likely.
    pub uniform: bool,
    /// True if its writes are durable.
    pub durable: bool,
    /// True if the requests come from a trace.
    pub traced: bool,
    /// True if each request comes only after the previous one is completed.
    pub alone: bool,
    /// Number of clients of a closed stream; 0 for an open one.
    pub clients: u32,
    /// Number of threads that its clients share; 0 if they share none.
    pub threads: u32,
    /// Sessions of cartridges that a log has, to a tape library alone.
    pub sessions: Option<Sessions>,
}

/// Sessions of cartridges, as a log has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Sessions {
    /// Sessions per second.
    pub per_s: f64,
    /// Times for which sessions use their drives, in s, sorted, with the silo of the cartridge if the log has it.
    pub seconds: Arc<[(f32, Option<u32>)]>,
    /// From the end of a session to the next of the same cartridge, in s, sorted; the first session of a cartridge has none.
    pub gaps: Arc<[(f32, Option<u32>)]>,
    /// Number of sessions of each cartridge, sorted, and its silo if the log has it.
    pub cartridges: Arc<[(u32, Option<u32>)]>,
}

/// Returns the number of threads of two loads; 0 if the clients of one share none.
const fn shared_threads(one: u32, other: u32) -> u32 {
    if one == 0 || other == 0 { 0 } else { one.saturating_add(other) }
}

impl Load {
    /// Returns the requests of several streams at one component, as one load; `None` without any.
    pub fn together(loads: &[Self]) -> Option<Self> {
        let (first, share) = (loads.first()?, 1.0 / loads.len() as f64);
        let kinds = loads.iter().flat_map(|load| &load.kinds).map(|(p, op, bytes)| (p * share, *op, *bytes));
        Some(Self {
            kinds: kinds.collect(),
            sizes: loads
                .iter()
                .fold(first.sizes, |(least, most), load| (least.min(load.sizes.0), most.max(load.sizes.1))),
            uniform: loads.iter().all(|load| load.uniform),
            durable: loads.iter().any(|load| load.durable),
            traced: loads.iter().any(|load| load.traced),
            alone: loads.len() == 1 && first.alone,
            clients: loads.iter().map(|load| load.clients).sum(),
            threads: loads.iter().map(|load| load.threads).reduce(shared_threads).unwrap_or(0),
            ..first.clone()
        })
    }

    /// The data that goes along in one phase of its requests: the requests', or none of their bytes.
    #[must_use]
    pub fn data(&self, phase: Phase) -> Self {
        let data = |&(p, op, bytes): &(f64, Op, u64)| (p, op, if phase.has_data(op) { bytes } else { 0 });
        Self { kinds: self.kinds.iter().map(data).collect(), ..self.clone() }
    }

    /// Returns the distribution of a time that depends on the operation and the bytes of a request.
    ///
    /// # Errors
    /// Those of `time`.
    pub fn mixed(
        &self,
        time: impl Fn(Op, u64) -> Result<Distribution, String>,
    ) -> Result<Distribution, String> {
        let parts = self.kinds.iter().map(|(p, op, bytes)| Ok((*p, time(*op, *bytes)?)));
        Ok(Distribution::mixed(parts.collect::<Result<_, String>>()?))
    }

    /// Returns true if some of its requests are writes.
    pub fn writes(&self) -> bool {
        self.kinds.iter().any(|(_, op, _)| *op == Op::Write)
    }

    /// Returns true if some of its requests wait for earlier writes to be stable: flushes, and durable writes.
    pub fn flushes(&self) -> bool {
        self.durable || self.kinds.iter().any(|(_, op, _)| *op == Op::Flush)
    }
}

/// How the requests of a load are served, in the terms of a formula. Times are in ms.
#[derive(Clone, Debug)]
pub enum Model {
    /// One queue with one server.
    Single {
        /// Distribution of the time for which a request holds the server, in ms.
        distribution: Distribution,
        /// The share of the requests that comes to this server.
        share: f64,
        /// Name of the formula.
        formula: &'static str,
        /// An assumption that fails by so little that the formula is still an approximation.
        mild: Option<&'static str>,
    },
    /// One queue with several servers, of exponential service.
    Several {
        /// Mean time for which a request holds a server, in ms.
        mean_ms: f64,
        /// Number of servers.
        servers: u32,
        /// The share of the requests that comes to these servers.
        share: f64,
    },
    /// Each request visits several servers at once and is done with the last.
    Forked {
        /// Distribution of the time for which the largest part holds its server, in ms.
        distribution: Distribution,
        /// Over how many servers a request is spread.
        branches: u32,
        /// The share of the requests that comes to each server.
        share: f64,
        /// The mean work that one request brings the busiest server.
        work_ms: f64,
        /// Operation and size of the requests: the formula is for one kind.
        kind: (Op, u64),
    },
    /// No formula for the response time, but the utilisation is known.
    Busy {
        /// The mean work that one request brings the busiest server, over its number of servers.
        work_ms: f64,
        /// The assumption that fails.
        fails: String,
    },
}

impl Model {
    /// The mean work that one request brings the busiest server, over its number of servers. Times the rate of requests, it
    /// is that server's utilisation.
    pub fn work_ms(&self) -> f64 {
        match self {
            Self::Single { distribution, share, .. } => distribution.mean() * share,
            Self::Several { mean_ms, servers, share } => mean_ms * share / f64::from(*servers),
            Self::Forked { work_ms, .. } | Self::Busy { work_ms, .. } => *work_ms,
        }
    }
}

/// Demand of one request of a load on one node, for networks of queues. Times are in ms.
#[derive(Clone, Debug)]
pub struct Demand {
    /// The node.
    pub node: NodeId,
    /// How requests are served there.
    pub server: ServiceKind,
    /// The mean number of visits of one request.
    pub visits: f64,
    /// Distribution of the time for which each visit holds a server.
    pub distribution: Distribution,
    /// Number of visits of one request that run in parallel at several such nodes: the request waits for one of them. Infinite where
    /// they come after its answer.
    pub parallelism: f64,
    /// The squared coefficient of variation of the time between visits: 1 where they come at random (Poisson), less where they
    /// come more regularly.
    pub arrivals_cv2: f64,
    /// The assumptions of the formulas that fail here.
    pub fails: Vec<String>,
    /// An assumption that fails by so little that the formula is still an approximation.
    pub mild: Option<&'static str>,
    /// The message that the visit is part of, by its route and its number there: a message is in all its ports at once.
    pub message: Option<(NodeId, u32)>,
    /// Name of one of several queues of the node; `None` if it has one.
    pub station: Option<String>,
    /// Another queue of the node for which it waits while it holds a server here, and how often.
    pub holds: Option<(String, f64)>,
    /// Work that the queue has done ahead when it is idle, in ms: a visit waits for what exceeds it of its response. That of a token bucket;
    /// 0 for servers.
    pub ahead_ms: f64,
    /// Where servers are set up for one class of requests at a time, which they then serve until none waits: cartridges in drives. The
    /// distribution is that of the service alone.
    pub setups: Option<Arc<Setups>>,
}

/// Servers that are set up for a class of requests, and the classes that visits are of. Times are in ms.
#[derive(Clone, Debug)]
pub struct Setups {
    /// The servers.
    pub servers: Exhaustive,
    /// The share of the visits that each of some alike classes has, and the number of these classes, in the mean.
    pub classes: Vec<(f64, f64)>,
}

/// How requests are served at a node.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceKind {
    /// By this number of servers with one queue.
    Queue {
        /// Number of servers.
        servers: u32,
        /// Order of service.
        order: QueueOrder,
    },
    /// Nobody waits.
    Delay,
    /// Nobody waits either, but at most this number of requests is on its way: places that each holds for as long as the distribution says where nobody
    /// queues, and longer otherwise.
    Places(u32),
    /// Parts that go on side by side at several queues wait for the last. The distribution of a visit is then what that adds to the largest
    /// part's time where nobody queues.
    Join {
        /// Number of parts.
        branches: u32,
        /// Distribution of the time for which the largest part holds its server.
        part: Distribution,
    },
    /// Parts that go on side by side, this many, each at a component that is several queues, wait for the last: for the largest of as many waits
    /// where they wait longest.
    LastWait(u32),
}

/// Order of service at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueOrder {
    /// First come, first served.
    FirstCome,
    /// First come, first served, with a queue for each server; a visit comes to any of them with equal probability: dies of a drive.
    Apart,
    /// The most urgent stream.
    Urgent,
    /// The visit of the smallest rank, whatever its stream: this one's. Visits of one request are each on their own.
    Ranked(u32),
}

impl ServiceKind {
    /// One server, first come, first served.
    pub const SINGLE: Self = Self::Queue { servers: 1, order: QueueOrder::FirstCome };
}

impl Demand {
    /// One visit to a node.
    pub fn one(node: NodeId, server: ServiceKind, distribution: Distribution) -> Self {
        Self {
            node,
            server,
            visits: 1.0,
            distribution,
            parallelism: 1.0,
            arrivals_cv2: 1.0,
            fails: Vec::new(),
            mild: None,
            message: None,
            station: None,
            holds: None,
            ahead_ms: 0.0,
            setups: None,
        }
    }

    /// The work that one request brings the node, in ms.
    pub fn work_ms(&self) -> f64 {
        self.visits * self.distribution.mean()
    }

    /// The demand of what is done after the answer: nobody waits for it, but others find the server held.
    #[must_use]
    pub fn after_answer(self) -> Self {
        Self { parallelism: f64::INFINITY, ..self }
    }

    /// The demand where the same request comes `visits` times, `parallelism` of them in parallel.
    pub fn times(self, visits: f64, parallelism: f64) -> Self {
        Self { visits: self.visits * visits, parallelism: self.parallelism * parallelism, ..self }
    }
}
