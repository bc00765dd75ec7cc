//! The two ways to run a replication.

use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;

use headrace_kernel::{Pause, Sim, Stream};
use headrace_storage::{Blueprint, Device, FirstUnit, Queueing, Site, Timeline};
use headrace_units::Nanos;
use headrace_workload::trace::{Due, Replay, Start};
use headrace_workload::{ArrivalSpec, Arrivals, Request, Requests, TimeSpec};

use super::log::Log;
use super::outcome::{self, Outcome};
use super::record::Record;
use super::{End, Journeys, Onlooker, seed, wanted};
use crate::plan::{Plan, StreamPlan};
use crate::spec::Engine;

/// Onlooker is told and limits are looked at after so many events, or requests of a recursion.
const STRIDE: u64 = 1 << 14;

/// Simulated time ends here, after 146 years: beyond it instants could no longer be added.
const END_OF_TIME: Nanos = Nanos(1 << 62);

/// Runs one replication.
pub fn replicate(plan: &Plan, engine: Engine, replication: u64, onlooker: &Onlooker) -> Outcome {
    let seed = seed(plan, replication);
    let sim = Sim::new();
    let first = if replication == onlooker.from { onlooker.first } else { 0 };
    let site = Site::new(&sim, seed, Timeline::of_first(first));
    let devices: Vec<Device> =
        plan.targets.iter().map(|(name, blueprint)| blueprint.build(&site, name)).collect();
    let components = site.paths().len();
    let log = onlooker.requests.as_ref().map(|sink| Log::new(replication, components, sink));
    let record = RefCell::new(Record::new(plan, components, wanted(plan), log));
    let replication = Replication {
        plan,
        seed,
        site: &site,
        sim: &sim,
        devices: &devices,
        record: &record,
        end: Cell::new(None),
    };
    let watch = Watch::new(plan, onlooker);
    let (end, now) = match engine {
        Engine::Recursion => replication.by_recursion(watch),
        _ => replication.by_events(watch),
    };
    sim.finish();
    record.borrow_mut().finish();
    if first > 0 {
        let journeys = Journeys { components: site.paths(), requests: site.timeline.journeys() };
        *onlooker.journeys.lock().expect("nobody panicked with it") = journeys;
    }
    outcome::of(plan, &record.borrow(), &site, &devices, now, end)
}

struct Replication<'m> {
    plan: &'m Plan,
    seed: u64,
    site: &'m Site<'m>,
    sim: &'m Sim<'m>,
    devices: &'m [Device<'m>],
    record: &'m RefCell<Record<'m>>,
    end: Cell<Option<End>>,
}

/// Tells the watcher how far the run is, and whether it may go on.
struct Watch<'p> {
    onlooker: &'p Onlooker,
    told: u64,
    began: std::time::Instant,
    longest: std::time::Duration,
}

impl<'p> Watch<'p> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the limit on real time, which ends a run and never changes one"
    )]
    fn new(plan: &Plan, onlooker: &'p Onlooker) -> Self {
        let longest = std::time::Duration::from_nanos(plan.run().limits.wall_time.0);
        Self { onlooker, told: 0, began: std::time::Instant::now(), longest }
    }

    fn look(&mut self, answered: u64, devices: &[Device]) -> Option<End> {
        if self.onlooker.wants_queues.swap(false, Ordering::Relaxed) {
            *self.onlooker.queues.lock().expect("nobody panicked with it") = longest_queues(devices);
        }
        self.onlooker.answered.fetch_add(answered - self.told, Ordering::Relaxed);
        self.told = answered;
        if self.onlooker.cancelled.load(Ordering::Relaxed) {
            return Some(End::Cancelled);
        }
        (self.began.elapsed() > self.longest).then_some(End::TooLong)
    }
}

/// The longest queues, at most three: where, and how many wait.
fn longest_queues(devices: &[Device]) -> Vec<(String, u64)> {
    let all = devices.iter().flat_map(Device::all);
    let waiting = |device: &Device| device.recorded().usage.map_or(0, |usage| usage.queue.value());
    let mut queues: Vec<(&Device, u64)> = all.map(|device| (device, waiting(device))).collect();
    queues.sort_by_key(|(_, waiting)| std::cmp::Reverse(*waiting));
    queues.retain(|(_, waiting)| *waiting > 0);
    queues.iter().take(3).map(|(device, waiting)| (device.path().to_owned(), *waiting)).collect()
}

/// Why the recursion would not give the answer that events give, if it would not.
pub fn why_not_recursion(plan: &Plan) -> Option<String> {
    if plan.run().time.is_some() {
        return Some("a run of a given time ends between requests".to_owned());
    }
    let [stream] = &plan.streams[..] else { return Some("there are several streams".to_owned()) };
    if stream.trace.is_some() {
        return Some(format!("`{}` is replayed from a trace", stream.name));
    }
    if stream.spec.arrivals.mean_rate().is_none() {
        return Some(format!("the stream `{}` waits for its answers", stream.name));
    }
    (!answers_in_order(plan.target(stream), stream))
        .then(|| format!("`{}` may answer a later request first", stream.spec.to))
}

/// Whether requests are answered in the order in which they come: statistics are taken in the order of answers.
fn answers_in_order(blueprint: &Blueprint, stream: &StreamPlan) -> bool {
    match blueprint {
        Blueprint::Disk(..) => !blueprint.chooses(),
        Blueprint::Station(spec) => spec.servers == 1,
        Blueprint::Array(spec, _) if spec.queueing == Queueing::SplitMerge => !blueprint.chooses(),
        Blueprint::Array(spec, of) => {
            let (smallest, largest) = stream.spec.size.bounds();
            let everywhere = smallest.0 >= spec.stripe_unit.0 * u64::from(spec.disks);
            let same_disks = spec.first_unit == FirstUnit::FirstDisk && smallest == largest;
            (everywhere || same_disks) && matches!(**of, Blueprint::Disk(..)) && answers_in_order(of, stream)
        }
    }
}

impl<'m> Replication<'m> {
    fn requests(&self, stream: &StreamPlan) -> Requests {
        let capacity = self.plan.target(stream).capacity().0;
        Requests::new(&stream.spec, capacity, self.stream(stream, "requests"))
    }

    fn stream(&self, stream: &StreamPlan, purpose: &str) -> Stream {
        Stream::named(self.seed, &stream.name, purpose)
    }

    fn arrivals(&self, stream: &StreamPlan) -> Option<Arrivals> {
        Arrivals::new(&stream.spec.arrivals, self.stream(stream, "arrivals"))
    }

    /// Request after request, each handed through the devices in one step.
    fn by_recursion(&self, mut watch: Watch) -> (End, Nanos) {
        let stream = &self.plan.streams[0];
        let mut arrivals = self.arrivals(stream).expect("the recursion is chosen for open streams");
        let mut requests = self.requests(stream);
        let device = &self.devices[stream.target];
        let mut record = self.record.borrow_mut();
        let (mut born, mut now) = (Nanos::ZERO, Nanos::ZERO);
        while record.answered < record.wanted {
            born += arrivals.gap();
            if born > END_OF_TIME {
                return (End::TooFar, now);
            }
            let request = requests.make();
            self.site.timeline.born(0, born, &request);
            let (end, passage) = device.pass(born, &request);
            self.site.timeline.answered(&request, end);
            now = end;
            if record.pass(0, born, end, &request, &passage) {
                record.mark(now, self.devices);
            }
            if record.answered.is_multiple_of(STRIDE)
                && let Some(end) = watch.look(record.answered, &[])
            {
                return (end, now);
            }
        }
        watch.look(record.answered, &[]);
        (End::Done, now)
    }

    fn by_events(&'m self, mut watch: Watch) -> (End, Nanos) {
        for (index, stream) in self.plan.streams.iter().enumerate() {
            self.start(index, stream);
        }
        let asked = self.plan.run().time;
        let until = asked.unwrap_or(END_OF_TIME);
        let most = self.plan.run().limits.events;
        let end = loop {
            let pause = self.sim.run(until, STRIDE.min(most - self.sim.events()));
            let stop = watch.look(self.record.borrow().answered, self.devices);
            match (self.end.get(), pause, stop) {
                (Some(end), ..) | (None, _, Some(end)) => break end,
                (None, Pause::Idle, None) => break End::Idle,
                (None, Pause::Time, None) if asked.is_some() => break End::TimeUp,
                (None, Pause::Time, None) => break End::TooFar,
                _ if self.sim.events() >= most => break End::TooManyEvents,
                _ => {}
            }
        };
        let now = if end == End::TimeUp { until } else { self.sim.now() };
        (end, now)
    }

    fn start(&'m self, index: usize, stream: &'m StreamPlan) {
        match (&stream.spec.arrivals, &stream.trace) {
            (_, Some(trace)) => self.sim.spawn(self.replay(index, stream, trace)),
            (ArrivalSpec::Closed { depth, think }, _) => {
                let requests = std::rc::Rc::new(RefCell::new(self.requests(stream)));
                for client in 0..*depth {
                    let thoughts = self.stream(stream, &format!("thoughts of client {client}"));
                    self.sim.spawn(self.client(
                        index,
                        stream.target,
                        std::rc::Rc::clone(&requests),
                        *think,
                        thoughts,
                    ));
                }
            }
            _ => self.sim.spawn(self.open(index, stream)),
        }
    }

    /// Makes requests at their times, whatever becomes of them.
    async fn open(&'m self, index: usize, stream: &'m StreamPlan) {
        let mut arrivals = self.arrivals(stream).expect("other streams were started otherwise");
        let mut requests = self.requests(stream);
        loop {
            self.sim.delay(arrivals.gap()).await;
            let request = requests.make();
            self.sim.spawn(async move { _ = self.ask(index, stream.target, request).await });
        }
    }

    /// Asks, waits for the answer, thinks, and asks again.
    async fn client(
        &'m self,
        index: usize,
        target: usize,
        requests: std::rc::Rc<RefCell<Requests>>,
        think: TimeSpec,
        thoughts: Stream,
    ) {
        let mut draws = thoughts.draws();
        loop {
            let request = requests.borrow_mut().make();
            self.ask(index, target, request).await;
            self.sim.delay(think.draw(&mut draws)).await;
        }
    }

    /// Asks what the trace asked, when it is due.
    async fn replay(&'m self, index: usize, stream: &'m StreamPlan, trace: &'m Replay) {
        let keys = self.stream(stream, "requests");
        let Ok(all) = trace.due() else { return self.stop(End::TraceLost) };
        let mut left = trace.survey.requests;
        for due in all {
            left -= 1;
            let Ok(Due { start, request, measured }) = due else { return self.stop(End::TraceLost) };
            let request = Request { key: keys.key(request.key), ..request };
            let asked = self.ask_as_measured(index, stream.target, request, measured);
            match start {
                Start::At(time) => {
                    self.sim.until(time).await;
                    self.sim.spawn(asked);
                }
                Start::After(think) => {
                    self.sim.delay(think).await;
                    asked.await;
                }
            }
        }
        if left > 0 {
            self.stop(End::TraceLost);
        }
    }

    /// One request of a trace, held against what was measured of it.
    async fn ask_as_measured(
        &'m self,
        index: usize,
        target: usize,
        request: Request,
        measured: Option<Nanos>,
    ) {
        let response = self.ask(index, target, request).await;
        if let Some(measured) = measured {
            self.record.borrow_mut().compare(index, request.op, measured, response);
        }
    }

    /// One request, from its birth to its answer; how long that took.
    async fn ask(&'m self, index: usize, target: usize, request: Request) -> Nanos {
        let born = self.sim.now();
        self.begin(index, born, &request);
        let passage = self.devices[target].io(request).await;
        let now = self.sim.now();
        self.site.timeline.answered(&request, now);
        let mut record = self.record.borrow_mut();
        if record.end(index, born, now, &request, &passage) {
            record.mark(now, self.devices);
        }
        if record.answered >= record.wanted {
            self.stop(End::Done);
        }
        now - born
    }

    fn begin(&self, index: usize, born: Nanos, request: &Request) {
        self.site.timeline.born(index, born, request);
        let mut record = self.record.borrow_mut();
        record.begin(index, born, request.bytes);
        if record.in_flight > self.plan.run().limits.in_flight {
            self.stop(End::TooManyInFlight);
        }
    }

    fn stop(&self, end: End) {
        self.end.set(Some(end));
        self.sim.stop();
    }
}
