//! Where a component stands, and the edges on which work comes to it.

use std::cell::{Cell, RefCell};

use headrace_kernel::{Fluid, Sim, Stream};
use headrace_units::Nanos;
use headrace_work::{Ask, Block, DaqEvent, FileOp, NodeId, Spent};

use crate::Component;
use crate::array::Way;
use crate::controller::Controller;
use crate::crossing::Crossing;
use crate::graph::Graph;
use crate::health::{Change, Event, Happening, Health};
use crate::switch::Switch;
use crate::timeline::Timeline;
use crate::witness::{Fact, Witness};

/// What the components of one simulation share.
pub struct Site<'m> {
    /// The simulation they live in.
    pub sim: &'m Sim<'m>,
    /// The journeys of the first requests, where they are wanted.
    pub timeline: Timeline,
    /// Links that transfers use several of at once, whichever rooms they belong to.
    pub fluid: Fluid<'m>,
    /// Number of threads of all servers.
    pub threads: u32,
    witness: Option<Box<dyn Witness>>,
    seed: u64,
    /// The components that were asked something since this list was last taken.
    touched: RefCell<Vec<NodeId>>,
    happenings: RefCell<Vec<Happening>>,
}

impl<'m> Site<'m> {
    /// An empty site, whose random streams come from `seed`.
    pub fn new(sim: &'m Sim<'m>, seed: u64, timeline: Timeline) -> Self {
        let (touched, happenings) = (RefCell::default(), RefCell::default());
        Self { sim, timeline, fluid: Fluid::new(sim), threads: 0, witness: None, seed, touched, happenings }
    }

    /// Notes what happens to a component.
    pub fn note(&self, node: NodeId, what: Event) {
        self.happenings.borrow_mut().push(Happening { at: self.sim.now(), node, what });
    }

    /// What happened to components, from the `first`-th on, in the order of time.
    pub fn happenings(&self, first: usize) -> Vec<Happening> {
        self.happenings.borrow()[first..].to_vec()
    }

    /// Has `witness` told what happens to files.
    #[must_use]
    pub fn watched_by(self, witness: Box<dyn Witness>) -> Self {
        Self { witness: Some(witness), ..self }
    }

    /// Has streams with this number of threads in all.
    #[must_use]
    pub fn with_threads(self, threads: u32) -> Self {
        Self { threads, ..self }
    }

    /// Tells what happened to a file of the archive `of`.
    #[inline]
    pub(crate) fn tell(&self, of: NodeId, fact: Fact) {
        if let Some(witness) = &self.witness {
            witness.saw(of, fact, self.sim.now());
        }
    }

    /// What the witness found wrong.
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
    pub asks: u64,
    /// Bytes of them.
    pub bytes: u64,
}

impl Flow {
    #[inline]
    fn with(self, bytes: u64) -> Self {
        self.and(Self { asks: 1, bytes })
    }

    #[inline]
    fn and(self, more: Self) -> Self {
        Self { asks: self.asks + more.asks, bytes: self.bytes + more.bytes }
    }

    fn of(requests: &[(Ask<Block>, Spent)]) -> Self {
        requests.iter().fold(Self::default(), |flow, (ask, _)| flow.with(ask.work.bytes))
    }
}

/// One component's place in a simulation, and what came to it.
pub struct Place<'m> {
    /// What it shares with all others.
    pub site: &'m Site<'m>,
    /// Its number in the graph.
    pub id: NodeId,
    /// Its path in the graph.
    pub path: &'m str,
    /// Whether the component works.
    pub health: Health,
    received: Cell<Flow>,
    answered: Cell<Flow>,
    touched: Cell<bool>,
}

impl<'m> Place<'m> {
    /// Places for all components of `graph`.
    pub fn of_all(graph: &'m Graph, site: &'m Site<'m>) -> Vec<Self> {
        graph.ids().map(|id| Self::new(site, id, &graph.nodes[id.index()].path)).collect()
    }

    fn new(site: &'m Site<'m>, id: NodeId, path: &'m str) -> Self {
        let (received, answered, touched) = (Cell::default(), Cell::default(), Cell::new(false));
        Self { site, id, path, health: Health::default(), received, answered, touched }
    }

    /// The random stream of the component here for `purpose`.
    pub fn stream(&self, purpose: &str) -> Stream {
        Stream::named(self.site.seed, self.path, purpose)
    }

    /// What was asked here, answered or not.
    pub fn received(&self) -> Flow {
        self.received.get()
    }

    /// What was answered here.
    pub fn answered(&self) -> Flow {
        self.answered.get()
    }

    /// Has the next request noted in the list of touched components again.
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
        self.receive_all(Flow { asks: 1, bytes });
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
        self.site.touched.borrow_mut().push(self.id);
    }

    /// A request ends that came when the component had failed so often: it is answered, unless it failed since.
    #[inline]
    pub(crate) fn end(&self, failures: u32, ask: &Ask<Block>, spent: &mut Spent, before: usize) {
        if self.health.failures() != failures {
            spent.fail();
        }
        if !spent.has_failed() {
            self.answer(ask, spent, before);
        }
    }

    /// A request is answered whose account had `before` legs when it came.
    #[inline]
    pub(crate) fn answer(&self, ask: &Ask<Block>, spent: &Spent, before: usize) {
        self.answered.set(self.answered.get().with(ask.work.bytes));
        if self.site.timeline.is_wanted() {
            self.site.timeline.visited(self.id, ask, spent, before);
        }
    }
}

/// The way from whoever asks to a component.
pub struct Edge<'m> {
    to: &'m Component<'m>,
    place: &'m Place<'m>,
    sent: Cell<Flow>,
}

impl<'m> Edge<'m> {
    /// A way to the component `to` at `place` that nothing has gone yet.
    pub fn new(to: &'m Component<'m>, place: &'m Place<'m>) -> Self {
        Self { to, place, sent: Cell::default() }
    }

    /// Sends `ask`, waits for its answer, and charges the time to `spent`, which ends now. Nothing is sent where the component is
    /// down, and an answer from one that failed in between is none: `spent` has then [failed](Spent::has_failed).
    #[inline]
    pub fn serve<'s>(
        &self,
        ask: &'s Ask<Block>,
        spent: &'s mut Spent,
    ) -> impl Future<Output = ()> + use<'m, 's> {
        if self.is_up() {
            self.sent.set(self.sent.get().with(ask.work.bytes));
        }
        self.to.serve(self.place, ask, spent)
    }

    /// The same without events, for a request that comes when `spent` ends.
    #[inline]
    pub fn pass(&self, ask: &Ask<Block>, spent: &mut Spent) {
        self.sent.set(self.sent.get().with(ask.work.bytes));
        let before = spent.legs().len();
        self.place.receive(ask.work.bytes);
        self.to.answer_in_order(ask, spent);
        self.place.answer(ask, spent, before);
    }

    /// The same for several requests, in the order of time, each with an account that has no legs yet.
    pub fn pass_all(&self, requests: &mut [(Ask<Block>, Spent)]) {
        let flow = Flow::of(requests);
        self.sent.set(self.sent.get().and(flow));
        self.place.receive_all(flow);
        self.to.answer_all_in_order(requests);
        self.place.answered.set(self.place.answered.get().and(flow));
        if self.place.site.timeline.is_wanted() {
            let visited =
                |(ask, spent): &(_, _)| self.place.site.timeline.visited(self.place.id, ask, spent, 0);
            requests.iter().for_each(visited);
        }
    }

    /// Takes `ports` ports on the path that it leads to, if that has ports: the number of the first.
    pub fn attach(&self, ports: u32) -> Option<u32> {
        self.to.attach(ports)
    }

    /// Has the path that it leads to carry one phase of a request, and charges the time to `spent`. Gives when the whole of it has
    /// come; `spent` ends with its head.
    pub fn carry<'s>(
        &self,
        ask: &'s Ask<Crossing>,
        spent: &'s mut Spent,
    ) -> impl Future<Output = Nanos> + use<'m, 's> {
        if self.is_up() {
            self.sent.set(self.sent.get().with(ask.work.data().bytes));
        }
        self.to.carry(self.place, ask, spent)
    }

    /// Whether the component that it leads to works.
    #[inline]
    pub fn is_up(&self) -> bool {
        self.place.health.is_up()
    }

    /// How often the component that it leads to failed.
    pub fn failures(&self) -> u32 {
        self.place.health.failures()
    }

    /// Changes the health of the component that it leads to before the run begins.
    pub(crate) fn begin_failed(&self) {
        self.place.health.change(Change::Fails);
    }

    /// Sends `ask`, whose data crosses `way` to or from disk number `disk` of an array.
    pub fn serve_over<'s>(
        &self,
        ask: &'s Ask<Block>,
        way: Way<'m>,
        disk: usize,
        spent: &'s mut Spent,
    ) -> impl Future<Output = ()> + use<'m, 's> {
        if self.is_up() {
            self.sent.set(self.sent.get().with(ask.work.bytes));
        }
        self.to.serve_over(self.place, ask, way, disk, spent)
    }

    /// The switch that it leads to, if it leads to one.
    pub(crate) fn switch(&self) -> Option<&'m Switch<'m>> {
        match self.to {
            Component::Switch(switch) => Some(switch),
            _ => None,
        }
    }

    /// The controller that it leads to, if it leads to one.
    pub(crate) fn controller(&self) -> Option<&'m Controller<'m>> {
        match self.to {
            Component::Controller(controller) => Some(controller),
            _ => None,
        }
    }

    /// Has the room that it leads to do what is asked of a file, and charges the time to `spent`.
    pub fn handle<'s>(
        &self,
        ask: &'s Ask<FileOp>,
        spent: &'s mut Spent,
    ) -> impl Future<Output = ()> + use<'m, 's> {
        self.sent.set(self.sent.get().with(ask.work.data().bytes));
        self.to.handle(self.place, ask, spent)
    }

    /// Sends an event to the room that it leads to, and charges the time to `spent`.
    pub fn take_event<'s>(
        &self,
        ask: &'s mut Ask<DaqEvent>,
        spent: &'s mut Spent,
    ) -> impl Future<Output = ()> + use<'m, 's> {
        self.sent.set(self.sent.get().with(ask.work.bytes));
        self.to.take_event(self.place, ask, spent)
    }

    /// Tells the room that it leads to of a file that exists when the run begins: see [`Room::begin_with`](crate::Room::begin_with).
    pub fn begin_with(&self, file: &FileOp) {
        self.to.begin_with(file);
    }

    /// The room that it leads to, for rooms that work together by more than one call.
    pub(crate) fn room(&self) -> &'m Component<'m> {
        self.to
    }

    /// Work begins that is done by more than one call: its bytes are sent, and received.
    pub(crate) fn begin(&self, bytes: u64) {
        self.sent.set(self.sent.get().with(bytes));
        self.place.receive(bytes);
    }

    /// That work ends, done unless it failed; the account had `before` legs when it began.
    pub(crate) fn end(&self, ask: &Ask<Block>, spent: &Spent, before: usize) {
        if !spent.has_failed() {
            self.place.answer(ask, spent, before);
        }
    }

    /// The path of the component that it leads to.
    pub(crate) fn path(&self) -> &'m str {
        self.place.path
    }

    /// Where it leads.
    pub fn to(&self) -> NodeId {
        self.place.id
    }

    /// What was sent along it.
    pub fn sent(&self) -> Flow {
        self.sent.get()
    }
}
