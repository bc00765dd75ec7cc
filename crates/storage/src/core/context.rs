//! Context of a component in a simulation, and the edges on which work reaches it.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};

use headrace_kernel::{Fluid, RngStream, Sim};
use headrace_work::{Block, Breakdown, NodeId, Request};

use crate::core::health::{Change, Event, Health, HealthEvent};
use crate::core::timeline::Timeline;
use crate::core::witness::Witness;
use crate::core::work::{Serve, Work};
use crate::{AnyComponent, Of};

/// Number of parts of one request between two looks at the limits.
const PARTS_BETWEEN_LOOKS: u64 = 4096;

/// The threads of a stream, which run on the cores of servers.
#[derive(Clone, Debug)]
pub struct StreamThreads {
    /// The stream, by its name.
    pub stream: String,
    /// How many there are.
    pub number: u32,
}

/// State shared by the components of one simulation.
pub struct SimContext<'m> {
    /// The simulation they live in.
    pub sim: &'m Sim<'m>,
    /// The journeys of the first requests, where they are wanted.
    pub timeline: Timeline,
    /// Links that transfers use several of at once, whichever components they belong to.
    pub fluid: Fluid<'m>,
    /// The threads of streams, in the order of their numbers.
    pub threads: Vec<StreamThreads>,
    witness: Option<Box<dyn Witness>>,
    /// Returns true once the run must end.
    interrupts: Option<&'m dyn Fn() -> bool>,
    /// Maximum number of processes, beyond which requests are not divided into parts.
    most_processes: u64,
    is_crowded: Cell<bool>,
    seed: u64,
    /// The components that were asked something since this list was last taken.
    touched: RefCell<Vec<NodeId>>,
    health_events: RefCell<Vec<HealthEvent>>,
}

impl<'m> SimContext<'m> {
    /// Creates the state of a simulation, whose random streams come from `seed`.
    pub fn new(sim: &'m Sim<'m>, seed: u64, timeline: Timeline) -> Self {
        let (touched, health_events) = (RefCell::default(), RefCell::default());
        Self {
            sim,
            timeline,
            fluid: Fluid::new(sim),
            threads: Vec::new(),
            witness: None,
            interrupts: None,
            most_processes: u64::MAX,
            is_crowded: Cell::new(false),
            seed,
            touched,
            health_events,
        }
    }

    /// Notes what happens to a component.
    pub fn note(&self, node: NodeId, what: Event) {
        self.health_events.borrow_mut().push(HealthEvent { at: self.sim.now(), node, what });
    }

    /// Returns the events of components' health, from the `first`-th on, in order of time.
    pub fn health_events(&self, first: usize) -> Vec<HealthEvent> {
        self.health_events.borrow()[first..].to_vec()
    }

    /// Returns true if something happened to the health of a component.
    #[inline]
    pub(crate) fn has_health_events(&self) -> bool {
        !self.health_events.borrow().is_empty()
    }

    /// Reports facts to `witness`.
    #[must_use]
    pub fn watched_by(self, witness: Box<dyn Witness>) -> Self {
        Self { witness: Some(witness), ..self }
    }

    /// Limits computations: `interrupts` is called in long ones, and at most this number of processes exists at once.
    #[must_use]
    pub fn limited_by(self, interrupts: &'m dyn Fn() -> bool, most_processes: u64) -> Self {
        Self { interrupts: Some(interrupts), most_processes, ..self }
    }

    /// Returns true once the run must end: a computation that takes long then ends early, and nothing that depends on it happens.
    pub fn is_interrupted(&self) -> bool {
        let must_end = self.interrupts.is_some_and(|interrupts| interrupts());
        if must_end {
            self.sim.stop();
        }
        must_end
    }

    /// Returns true if the run ended because it had too many processes.
    pub fn is_crowded(&self) -> bool {
        self.is_crowded.get()
    }

    /// Ends the run if a request divides into more parts than may be in flight. The request then never continues.
    #[inline]
    pub(crate) async fn divides(&self, parts: u64) {
        if self.sim.processes() as u64 + parts > self.most_processes {
            self.is_crowded.set(true);
            self.sim.stop();
            std::future::pending().await
        }
    }

    /// Lets the run check its limits now and then in a loop over parts that may take no time; `part` counts them.
    #[inline]
    pub(crate) async fn breathe(&self, part: u64) {
        if part % PARTS_BETWEEN_LOOKS == PARTS_BETWEEN_LOOKS - 1 {
            self.sim.settled().await;
        }
    }

    /// The random stream that components share for `purpose`.
    pub(crate) fn stream(&self, purpose: &str) -> RngStream {
        RngStream::named(self.seed, "", purpose)
    }

    /// Sets the threads of streams.
    #[must_use]
    pub fn with_threads(self, threads: Vec<StreamThreads>) -> Self {
        Self { threads, ..self }
    }

    /// Informs the witness of a fact that concerns the component `of`.
    #[inline]
    pub(crate) fn tell<F: Any>(&self, of: NodeId, fact: &F) {
        if let Some(witness) = &self.witness {
            witness.saw(of, fact, self.sim.now());
        }
    }

    /// Returns the violations that the witness found, in words.
    pub fn broken(&self) -> Vec<String> {
        self.witness.as_ref().map_or_else(Vec::new, |witness| witness.broken())
    }

    /// Takes the list of components that were asked something since it was last taken.
    pub fn take_touched(&self) -> Vec<NodeId> {
        self.touched.take()
    }
}

/// Work that went along an edge, or came to a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Pieces of work.
    pub requests: u64,
    /// Bytes of them.
    pub bytes: u64,
}

impl Flow {
    #[inline]
    fn with(self, bytes: u64) -> Self {
        self.and(Self { requests: 1, bytes })
    }

    #[inline]
    fn and(self, more: Self) -> Self {
        Self { requests: self.requests + more.requests, bytes: self.bytes + more.bytes }
    }

    fn of(requests: &[(Request<Block>, Breakdown)]) -> Self {
        requests.iter().fold(Self::default(), |flow, (request, _)| flow.with(request.work.bytes))
    }
}

/// One component's place in a simulation, and what came to it.
pub struct NodeContext<'m> {
    /// State shared with all other components.
    pub shared: &'m SimContext<'m>,
    /// Its number in the graph.
    pub id: NodeId,
    /// Its path in the graph.
    pub path: &'m str,
    /// Health of the component.
    pub health: Health,
    uses: OnceCell<Box<[Edge<'m>]>>,
    received: Cell<Flow>,
    answered: Cell<Flow>,
    touched: Cell<bool>,
}

impl<'m> NodeContext<'m> {
    /// The context of one component.
    pub(crate) fn new(shared: &'m SimContext<'m>, id: NodeId, path: &'m str) -> Self {
        let (received, answered, touched) = (Cell::default(), Cell::default(), Cell::new(false));
        let (health, uses) = (Health::default(), OnceCell::new());
        Self { shared, id, path, health, uses, received, answered, touched }
    }

    /// Returns the edges to the nodes that it [uses](crate::core::graph::Lowering::uses), in that order.
    pub fn uses(&self) -> &[Edge<'m>] {
        self.uses.get().map_or(&[], |edges| &**edges)
    }

    /// Gives it the edges to the nodes that it uses, once.
    pub(crate) fn connect(&self, edges: Box<[Edge<'m>]>) {
        assert!(self.uses.set(edges).is_ok(), "a node is built once");
    }

    /// The random stream of the component here for `purpose`.
    pub fn stream(&self, purpose: &str) -> RngStream {
        RngStream::named(self.shared.seed, self.path, purpose)
    }

    /// Returns the work received, completed or not.
    pub fn received(&self) -> Flow {
        self.received.get()
    }

    /// Returns the work completed.
    pub fn answered(&self) -> Flow {
        self.answered.get()
    }

    /// Clears the mark of being touched: the next request lists the component again.
    pub fn untouch(&self) {
        self.touched.set(false);
    }

    /// A request comes: it is received if the component works. Gives how often that has failed so far.
    #[inline]
    pub(crate) fn admit(&self, bytes: u64) -> Option<u32> {
        let failures = self.health.is_up().then(|| self.health.failures())?;
        self.receive(bytes);
        Some(failures)
    }

    #[inline]
    pub(crate) fn receive(&self, bytes: u64) {
        self.receive_all(Flow { requests: 1, bytes });
    }

    #[inline]
    fn receive_all(&self, flow: Flow) {
        self.received.set(self.received.get().and(flow));
        if !self.touched.get() {
            self.touch();
        }
    }

    #[cold]
    fn touch(&self) {
        self.touched.set(true);
        self.shared.touched.borrow_mut().push(self.id);
    }

    /// Work ends that came when the component had failed so often: it is done, unless the component failed since.
    #[inline]
    fn end<W>(
        &self,
        failures: u32,
        (request, done): (&Request<W>, Block),
        breakdown: &mut Breakdown,
        before: usize,
    ) {
        if self.health.failures() != failures {
            breakdown.fail();
        }
        if !breakdown.has_failed() {
            self.answer(request, done, breakdown, before);
        }
    }

    /// Work is done whose breakdown had `before` legs when it came; `done` is the data that is counted.
    #[inline]
    fn answer<W>(&self, request: &Request<W>, done: Block, breakdown: &Breakdown, before: usize) {
        self.answered.set(self.answered.get().with(done.bytes));
        if self.shared.timeline.is_wanted() {
            self.shared.timeline.visited(self.id, &request.with(done), breakdown, before);
        }
    }
}

/// The way from whoever asks to a component.
pub struct Edge<'m> {
    to: &'m AnyComponent<'m>,
    context: &'m NodeContext<'m>,
    sent: Cell<Flow>,
}

impl<'m> Edge<'m> {
    /// A way to the component `to` at `context` that nothing has gone yet.
    pub fn new(to: &'m AnyComponent<'m>, context: &'m NodeContext<'m>) -> Self {
        Self { to, context, sent: Cell::default() }
    }

    /// Sends work, waits for its reply, and charges the time to `breakdown`, which ends now. Nothing is sent where the component is
    /// down, and an answer from one that failed in between is none: `breakdown` has then [failed](Breakdown::has_failed). The work
    /// counts as received when this is called, not when the future first runs: a run that ends in between has lost nothing.
    #[inline]
    pub fn serve<'s, W: Work<'m>>(
        &self,
        request: &'s Request<W>,
        breakdown: &'s mut Breakdown,
    ) -> impl Future<Output = W::Reply> + use<'m, 's, W>
    where
        AnyComponent<'m>: Serve<'m, W>,
    {
        let (to, context, bytes) = (self.to, self.context, request.work.data().bytes);
        if self.is_up() {
            self.sent.set(self.sent.get().with(bytes));
        }
        let failures = context.admit(bytes);
        let before = breakdown.legs().len();
        async move {
            let Some(failures) = failures else {
                breakdown.fail();
                return W::failed(breakdown);
            };
            let reply = to.serve(request, breakdown).await;
            context.end(failures, (request, request.work.done(&reply)), breakdown, before);
            reply
        }
    }

    /// Passes a request without events; it arrives when `breakdown` ends.
    #[inline]
    pub fn pass(&self, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.sent.set(self.sent.get().with(request.work.bytes));
        let before = breakdown.legs().len();
        self.context.receive(request.work.bytes);
        self.to.pass(request, breakdown);
        self.context.answer(request, request.work, breakdown, before);
    }

    /// Passes several requests without events, in order of time, each with a breakdown that has no legs yet.
    pub fn pass_all(&self, requests: &mut [(Request<Block>, Breakdown)]) {
        let flow = Flow::of(requests);
        self.sent.set(self.sent.get().and(flow));
        self.context.receive_all(flow);
        self.to.pass_all(requests);
        self.context.answered.set(self.context.answered.get().and(flow));
        if self.context.shared.timeline.is_wanted() {
            let visited = |(request, breakdown): &(_, _)| {
                self.context.shared.timeline.visited(self.context.id, request, breakdown, 0)
            };
            requests.iter().for_each(visited);
        }
    }

    /// Takes `ports` ports on the path that it leads to, if that has ports: the number of the first.
    pub fn attach(&self, ports: u32) -> Option<u32> {
        self.to.attach(ports)
    }

    /// Returns true if the target component is up.
    #[inline]
    pub fn is_up(&self) -> bool {
        self.context.health.is_up()
    }

    /// Returns the number of failures of the target component.
    pub fn failures(&self) -> u32 {
        self.context.health.failures()
    }

    /// Changes the health of the component that it leads to before the run begins.
    pub(crate) fn begin_failed(&self) {
        self.context.health.change(Change::Fails);
    }

    /// Returns the component that this edge leads to, if it is of the kind `C`: for those that work together by more than one call.
    #[inline]
    pub fn get<C>(&self) -> Option<&'m C>
    where
        C: Of<AnyComponent<'m>>,
    {
        self.to.get()
    }

    /// Work begins that is done by more than one call: its bytes are sent, and received.
    pub(crate) fn begin(&self, bytes: u64) {
        self.sent.set(self.sent.get().with(bytes));
        self.context.receive(bytes);
    }

    /// That work ends, done unless it failed; the account had `before` legs when it began.
    pub(crate) fn end(&self, request: &Request<Block>, breakdown: &Breakdown, before: usize) {
        if !breakdown.has_failed() {
            self.context.answer(request, request.work, breakdown, before);
        }
    }

    /// The path of the component that it leads to.
    pub(crate) fn path(&self) -> &'m str {
        self.context.path
    }

    /// Returns the target component.
    pub fn to(&self) -> NodeId {
        self.context.id
    }

    /// Returns the work sent along this edge.
    pub fn sent(&self) -> Flow {
        self.sent.get()
    }
}
