//! Event by event: sources make requests, and each lives as a job of a worker pool until it is answered.

use headrace_kernel::Pause;
use headrace_storage::{CartridgeSession, Trigger};
use headrace_trace::{Due, FileDue, FileLog, Follows, Replay, Start};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, FileOp, Request, TimeSpec};
use headrace_workload::ArrivalSpec;

use super::options::End;
use super::replication::{END_OF_TIME, Hosts, Replication};
use super::steps;
use super::watch::Watch;
use crate::faults::Moment;
use crate::operation::RecordedRequest;
use crate::plan::StreamPlan;
use crate::record::Record;

/// A client whose request fails at once asks again after this time, a rule of ours: it would otherwise fail for ever at one instant.
const RETRY: Nanos = Nanos(1_000_000_000);

/// An operation of a log, and how long it took on the real system.
type Recorded = (Request<FileOp>, Option<Nanos>);

/// Runs a replication event by event.
pub fn run<'m>(of: &'m Replication<'m>, hosts: &'m Hosts<'m>, mut watch: Watch) -> (End, Nanos) {
    start_all(of, hosts);
    let (sim, asked, most) = (of.shared.sim, of.plan.run().time, of.plan.events());
    let until = asked.unwrap_or(END_OF_TIME);
    let end = loop {
        let pause = sim.run(until, watch.stride().min(most - sim.events()));
        let stop = watch.look(of.record.borrow().answered, of);
        if of.end.get().is_none() && of.shared.is_crowded() {
            break End::TooManyParts;
        }
        match (of.end.get(), pause, stop) {
            (Some(end), ..) | (None, _, Some(end)) => break end,
            (None, Pause::Idle, None) => break End::Idle,
            (None, Pause::Time, None) if asked.is_some() => break End::TimeUp,
            (None, Pause::Time, None) => break End::TooFar,
            _ if sim.events() >= most => break End::TooManyEvents,
            _ => {}
        }
    };
    let end = if end == End::Done && of.still.is_all(sim.now()) { End::TimeStandsStill } else { end };
    (end, if end == End::TimeUp { until } else { sim.now() })
}

/// Starts all streams and faults.
pub fn start_all<'m>(of: &'m Replication<'m>, hosts: &'m Hosts<'m>) {
    start_faults(of);
    for (index, stream) in of.plan.streams.iter().enumerate() {
        start(of, hosts, index, stream);
    }
}

/// Has all faults happen that come at an instant, and those that come after no request.
fn start_faults<'m>(of: &'m Replication<'m>) {
    for fault in &of.plan.faults {
        if let Moment::At(time) = fault.when {
            of.shared.sim.spawn(async move {
                of.shared.sim.until(time).await;
                fault.happen(of.arena);
            });
        }
    }
    of.faults_after(0);
}

fn start<'m>(of: &'m Replication<'m>, hosts: &'m Hosts<'m>, index: usize, stream: &'m StreamPlan) {
    let sim = of.shared.sim;
    if let Some(log) = &stream.log {
        return sim.spawn(replay_files(of, hosts, index, log));
    }
    if let Some(training) = &of.sources[index].training {
        return steps::start(of, hosts, index, training);
    }
    match (&stream.spec.arrivals, &stream.trace) {
        (_, Some(trace)) => sim.spawn(replay(of, hosts, index, trace)),
        (ArrivalSpec::Closed { depth, think, .. }, _) => {
            for number in 0..*depth {
                sim.spawn(client(of, hosts, index, think, number));
            }
        }
        _ => sim.spawn(open(of, hosts, index, stream)),
    }
}

/// Makes requests at their times, whatever becomes of them.
async fn open<'m>(of: &'m Replication<'m>, hosts: &'m Hosts<'m>, index: usize, stream: &'m StreamPlan) {
    let mut arrivals = of.arrivals(stream).expect("other streams were started otherwise");
    let sim = of.shared.sim;
    let limited = stream.spec.outstanding.is_some();
    let mut next = sim.delay(arrivals.gap());
    while of.end.get().is_none() {
        next.await;
        if stream.waits_for_room() {
            of.send(hosts, index).await;
            arrivals.resume(sim.now());
            next = sim.delay(arrivals.gap());
        } else {
            next = sim.delay(arrivals.gap()).scheduled();
            if limited || !sim.is_settled() {
                of.send(hosts, index).await;
            } else {
                hosts.start((index, 0));
            }
        }
    }
}

/// Asks, waits for the answer, thinks, and asks again.
async fn client<'m>(
    of: &'m Replication<'m>,
    hosts: &'m Hosts<'m>,
    index: usize,
    think: &'m TimeSpec,
    number: u32,
) {
    let thoughts = of.stream(&of.plan.streams[index], &format!("thoughts of client {number}"));
    let (mut draws, thread) = (thoughts.draws(), of.sources[index].thread(number));
    loop {
        let (asked, failed) = (of.shared.sim.now(), !of.request(hosts, index, thread).await);
        of.shared.sim.delay(think.draw(&mut draws)).await;
        if of.shared.sim.now() == asked {
            if of.end.get().is_some() {
                return;
            }
            of.took_no_time(index, failed).await;
        }
    }
}

/// Asks what the trace asked, when it is due.
async fn replay<'m>(of: &'m Replication<'m>, hosts: &'m Hosts<'m>, index: usize, trace: &'m Replay) {
    let (sim, keys) = (of.shared.sim, of.stream(&of.plan.streams[index], "requests"));
    let Ok(all) = trace.due() else { return of.stop(End::TraceLost) };
    let mut left = trace.survey.requests;
    let mut all = all.peekable();
    while let Some(due) = all.next() {
        left -= 1;
        let Ok(Due { start, number, block, measured }) = due else { return of.stop(End::TraceLost) };
        of.sources[index].recorded.borrow_mut().push_back((Request::new(keys.key(number), block), measured));
        match start {
            Start::At(time) => {
                sim.until(time).await;
                let next = all.peek().and_then(|due| due.as_ref().ok()).and_then(Due::instant);
                let _next = next.map(|time| sim.until(time).scheduled());
                of.send(hosts, index).await;
            }
            Start::After(think) => {
                sim.delay(think).await;
                of.request(hosts, index, 0).await;
            }
        }
    }
    if left > 0 {
        of.stop(End::TraceLost);
    }
}

/// Asks for files as the log did, when it did.
async fn replay_files<'m>(of: &'m Replication<'m>, hosts: &'m Hosts<'m>, index: usize, log: &'m FileLog) {
    let (sim, keys) = (of.shared.sim, of.stream(&of.plan.streams[index], "requests"));
    let Ok(all) = log.due() else { return of.stop(End::TraceLost) };
    let mut left = log.survey.operations;
    for due in all {
        let Ok(FileDue { at, number, op, measured, follows }) = due else { return of.stop(End::TraceLost) };
        left -= 1;
        sim.until(at).await;
        let recorded = (Request::new(keys.key(number), op), measured);
        if let Some(follows) = follows {
            sim.spawn(of.client_in_turn(index, recorded, follows));
            continue;
        }
        of.sources[index].files.borrow_mut().push_back(recorded);
        of.send(hosts, index).await;
    }
    if left > 0 {
        of.stop(End::TraceLost);
    }
}

impl<'m> Replication<'m> {
    /// A client of `stream` may ask again at the instant at which it asked. One whose request failed waits; the others must not go on
    /// for ever.
    pub(super) async fn took_no_time(&'m self, stream: usize, failed: bool) {
        if failed {
            self.shared.sim.delay(RETRY).await;
        } else if self.still.note(stream, self.shared.sim.now()) {
            self.stop(End::TimeStandsStill);
        }
    }

    /// Has the next request of an open stream go on its way.
    #[inline]
    async fn send(&'m self, hosts: &'m Hosts<'m>, index: usize) {
        let source = &self.sources[index];
        if source.room.is_some() && !source.has_room().await {
            // It is drawn all the same: what becomes of one request changes no other.
            source.next(&mut { Request::BLANK });
            return self.lost(|record| record.drop(index));
        }
        // Requests come after everything that is due.
        if !self.shared.sim.is_settled() {
            self.shared.sim.settled().await;
        }
        hosts.start((index, 0));
    }

    /// The next request of a client, who waits until it is answered or gives up. Returns true if it did not fail.
    pub(super) async fn request(&'m self, hosts: &'m Hosts<'m>, index: usize, thread: u32) -> bool {
        let Some(timeout) = self.sources[index].timeout else { return self.host(index, thread).await };
        let deadline = self.shared.sim.now() + timeout;
        let mut request = hosts.all([(index, thread)]);
        let answer = self.shared.sim.within(deadline, &mut request).await;
        request.leave();
        answer.flatten().unwrap_or(true)
    }

    /// The next request of a stream, from its birth to its end, sent by a thread of its server; 0 for none. Returns whether it did
    /// not fail.
    pub async fn host(&'m self, stream: usize, thread: u32) -> bool {
        let (source, mut request) = (&self.sources[stream], Request::BLANK);
        if self.plan.streams[stream].log.is_some() {
            Box::pin(self.client_of_files(stream)).await;
            return true;
        }
        if source.is_trigger {
            return Box::pin(self.trigger(stream)).await;
        }
        let measured = source.next(&mut request);
        request.thread = thread;
        let mut breakdown = Breakdown::from(self.begin(stream, &request));
        if source.timeout.is_none() {
            source.way(thread).serve(&request, &mut breakdown).await;
        } else {
            request.deadline = breakdown.began() + source.timeout.unwrap_or_default();
            if !Box::pin(self.within_deadline(stream, &request, &mut breakdown)).await {
                return true;
            }
        }
        let failed = breakdown.has_failed();
        if failed {
            let now = self.shared.sim.now();
            self.lost(|record| record.fail(stream, now, breakdown.began()));
        } else {
            self.answered(stream, &request, RecordedRequest::from(&request), &breakdown, measured);
        }
        source.leave();
        !failed
    }

    /// The next operation of a stream on files, from its birth to its answer.
    async fn client_of_files(&'m self, stream: usize) {
        let next = self.sources[stream].files.borrow_mut().pop_front();
        self.ask_of_file(stream, next.expect("an operation is put here before it is sent")).await;
    }

    /// An operation that follows the one before it on its file.
    async fn client_in_turn(&'m self, stream: usize, recorded: Recorded, follows: Follows) {
        let _turn = self.sources[stream].turns.next(follows).await;
        self.ask_of_file(stream, recorded).await;
    }

    async fn ask_of_file(&'m self, stream: usize, (mut request, measured): Recorded) {
        let source = &self.sources[stream];
        (request.priority, request.cause) = (source.priority, source.cause);
        let data = request.with(request.work.data());
        let mut breakdown = Breakdown::from(self.begin(stream, &data));
        if source.is_session {
            source.edge.serve(&request.with(CartridgeSession(request.work)), &mut breakdown).await;
        } else {
            source.edge.serve(&request, &mut breakdown).await;
        }
        if breakdown.has_failed() {
            let now = self.shared.sim.now();
            return self.lost(|record| record.fail(stream, now, breakdown.began()));
        }
        self.answered(stream, &data, RecordedRequest::from(&request), &breakdown, measured);
    }

    /// The next trigger of a stream, from its birth until its event is done. Returns true if that was not lost.
    async fn trigger(&'m self, stream: usize) -> bool {
        let (source, mut blank) = (&self.sources[stream], Request::BLANK);
        source.next(&mut blank);
        let mut breakdown = Breakdown::from(self.begin(stream, &blank));
        let event = source.edge.serve(&blank.with(Trigger), &mut breakdown).await;
        let lost = breakdown.has_failed();
        if lost {
            let now = self.shared.sim.now();
            self.lost(|record| record.fail(stream, now, breakdown.began()));
        } else {
            let data = blank.with(event.data());
            self.answered(stream, &data, RecordedRequest::from(&data), &breakdown, None);
        }
        source.leave();
        !lost
    }

    /// Returns true if a request is answered before its host gives up. Where it is not, it is done all the same.
    async fn within_deadline(
        &'m self,
        stream: usize,
        request: &Request<Block>,
        breakdown: &mut Breakdown,
    ) -> bool {
        let (source, born) = (&self.sources[stream], breakdown.began());
        let mut serving = std::pin::pin!(source.way(request.thread).serve(request, breakdown));
        let in_time = self.shared.sim.within(request.deadline, serving.as_mut()).await.is_some();
        if !in_time {
            self.lost(|record| record.expire(stream, request.deadline, born));
            source.leave();
            serving.await;
            self.record.borrow_mut().leave(stream);
        }
        in_time
    }

    /// A request is dropped, expires or fails, which may be the end of the run.
    fn lost(&self, note: impl FnOnce(&mut Record)) {
        if self.end.get().is_some() {
            return;
        }
        let mut record = self.record.borrow_mut();
        note(&mut record);
        let (finished, done) = (record.finished, record.finished >= record.wanted);
        drop(record);
        self.faults_after(finished);
        self.stop_if(done);
    }

    #[inline]
    fn stop_if(&self, done: bool) {
        if done {
            self.stop(End::Done);
        }
    }

    /// A request is born; gives when.
    #[inline]
    fn begin(&self, stream: usize, request: &Request<Block>) -> Nanos {
        let now = self.shared.sim.now();
        self.shared.timeline.born(stream, now, request);
        let mut record = self.record.borrow_mut();
        record.begin(stream, now);
        if record.held > self.plan.run().limits.in_flight {
            self.stop(End::TooManyInFlight);
        }
        now
    }

    #[inline]
    fn answered(
        &self,
        stream: usize,
        request: &Request<Block>,
        recorded: RecordedRequest,
        breakdown: &Breakdown,
        measured: Option<Nanos>,
    ) {
        // What else the last event does is no longer part of the run.
        if self.end.get().is_some() {
            return;
        }
        let now = self.shared.sim.now();
        self.shared.timeline.answered(request, now);
        let mut record = self.record.borrow_mut();
        record.end(stream, recorded, breakdown, now);
        if let Some(measured) = measured {
            record.compare(stream, request.work.op, measured, breakdown.total());
        }
        let (finished, done) = (record.finished, record.finished >= record.wanted);
        drop(record);
        self.faults_after(finished);
        self.stop_if(done);
    }
}
