//! What streams and components had recorded at the end of each segment, in memory that grows with what happened rather than
//! with the number of components: a mark holds only the components whose readings changed since the one before.

use headrace_storage::{Activity, Arena, Meter, Portion};
use headrace_units::Nanos;
use headrace_work::{Cause, NodeId};

use super::totals::Totals;

/// Readings of a component at an instant, as numbers that only grow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeterReading {
    /// Bytes answered.
    pub bytes: f64,
    /// Server-ns in use, by cause, without those that were stalled.
    pub busy: [f64; Cause::ALL.len()],
    /// Server-ns for which servers were held by requests that waited for another component.
    pub stalled: f64,
    /// Request-ns waited.
    pub queue: f64,
    /// Requests that wait now; of a span, by how many more wait at its end than at its start.
    pub waiting: f64,
    /// Requests that got a server, and their waits in ns.
    pub visits: f64,
    /// See `visits`.
    pub waited: f64,
    /// Requests that let go of their server, and how long they held it in ns.
    pub served: f64,
    /// See `served`.
    pub service: f64,
    /// Bytes written to its cache, and those of them that the cache has written on.
    pub taken_in: f64,
    /// See `taken_in`.
    pub destaged: f64,
    /// Bytes that its cache holds at most.
    pub cache_size: f64,
    /// Its own meters, two numbers each.
    pub meters: Box<[[f64; 2]]>,
    /// Of each of its portions, the server-ns in use and those for which servers had failed, and the request-ns waited.
    pub portions: Box<[[f64; 3]]>,
}

/// The two numbers of a meter: for a share, the part and the whole.
fn pair(meter: Meter) -> [f64; 2] {
    match meter {
        Meter::Count(n) | Meter::Marked(n) | Meter::Peak(n) => [n as f64, 0.0],
        Meter::Share(part, whole) | Meter::Fill(part, whole) => [part as f64, whole as f64],
        Meter::Area(area) => [area as f64, 0.0],
    }
}

/// The numbers of a portion.
fn three(portion: &Portion) -> [f64; 3] {
    [portion.busy as f64, portion.away as f64, portion.queue.unwrap_or(0) as f64]
}

/// Returns by how much numbers grew. A component that was never asked has no earlier ones.
fn grown<const N: usize>(now: &[[f64; N]], then: &[[f64; N]]) -> Box<[[f64; N]]> {
    let each = now.iter().enumerate();
    each.map(|(at, now)| match then.get(at) {
        Some(then) => std::array::from_fn(|which| now[which] - then[which]),
        None => *now,
    })
    .collect()
}

impl MeterReading {
    /// Returns the readings of a component at `now`.
    pub fn of(arena: Arena, id: NodeId, now: Nanos) -> Self {
        let component = arena.component(id);
        let Activity { busy, stalled, queue, waiting, visits, waited, served, service, .. } =
            component.activity(now).unwrap_or_default();
        let balance = component.balance().unwrap_or_default();
        let mut meters = Vec::new();
        component.meters(now, &mut |_, meter| meters.push(pair(meter)));
        Self {
            bytes: arena.context(id).answered().bytes as f64,
            busy: std::array::from_fn(|cause| (busy[cause] - stalled[cause]) as f64),
            stalled: stalled.iter().sum::<u128>() as f64,
            queue: queue as f64,
            waiting: waiting as f64,
            visits: visits as f64,
            waited: waited as f64,
            served: served as f64,
            service: service as f64,
            taken_in: balance.taken_in as f64,
            destaged: balance.destaged as f64,
            cache_size: balance.size as f64,
            meters: meters.into(),
            portions: component.portions(now).iter().map(three).collect(),
        }
    }

    /// Returns the change since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut busy = self.busy;
        busy.iter_mut().zip(earlier.busy).for_each(|(now, then)| *now -= then);
        Self {
            bytes: self.bytes - earlier.bytes,
            busy,
            stalled: self.stalled - earlier.stalled,
            queue: self.queue - earlier.queue,
            waiting: self.waiting - earlier.waiting,
            visits: self.visits - earlier.visits,
            waited: self.waited - earlier.waited,
            served: self.served - earlier.served,
            service: self.service - earlier.service,
            taken_in: self.taken_in - earlier.taken_in,
            destaged: self.destaged - earlier.destaged,
            cache_size: self.cache_size,
            meters: grown(&self.meters, &earlier.meters),
            portions: grown(&self.portions, &earlier.portions),
        }
    }

    /// Server-ns in use, for whatever cause.
    pub fn busy_in_all(&self) -> f64 {
        self.busy.iter().sum()
    }
}

/// The end of a segment.
#[derive(Clone)]
pub struct Mark {
    /// When it was.
    pub time: Nanos,
    /// Record of each stream.
    pub totals: Vec<Totals>,
    /// The readings that changed since the mark before, in the order of components.
    changed: Vec<(NodeId, MeterReading)>,
}

/// The marks of a run.
pub struct Marks {
    marks: Vec<Mark>,
    /// The newest reading of each component.
    latest: Vec<MeterReading>,
    /// Components whose readings may still change without being asked anything.
    active: Vec<NodeId>,
}

impl Marks {
    /// No marks yet.
    pub fn new(arena: Arena) -> Self {
        Self {
            marks: Vec::new(),
            latest: arena.ids().map(|_| MeterReading::default()).collect(),
            active: Vec::new(),
        }
    }

    /// Takes a mark at `now`.
    pub fn take(&mut self, now: Nanos, arena: Arena, totals: Vec<Totals>) {
        let mut active = arena.take_touched();
        active.append(&mut self.active);
        active.sort_unstable();
        let mut changed = Vec::new();
        for id in active {
            let reading = MeterReading::of(arena, id, now);
            if reading == self.latest[id.index()] {
                arena.context(id).untouch();
            } else {
                self.active.push(id);
                self.latest[id.index()] = reading.clone();
                changed.push((id, reading));
            }
        }
        self.marks.push(Mark { time: now, totals, changed });
    }

    /// Merges neighbouring marks: of each pair the later time stays.
    pub fn merge_neighbours(&mut self) {
        let mut later = std::mem::take(&mut self.marks).into_iter();
        while let (Some(first), Some(second)) = (later.next(), later.next()) {
            self.marks.push(Mark { changed: merged(first.changed, second.changed), ..second });
        }
    }

    /// Returns the number of marks.
    pub fn count(&self) -> usize {
        self.marks.len()
    }

    /// The time of each.
    pub fn times(&self) -> impl Iterator<Item = Nanos> + '_ {
        self.marks.iter().map(|mark| mark.time)
    }

    /// A mark.
    pub fn get(&self, at: usize) -> &Mark {
        &self.marks[at]
    }

    /// Returns the readings of all components at a mark.
    pub fn readings_at(&self, at: usize) -> Vec<MeterReading> {
        let mut readings = vec![MeterReading::default(); self.latest.len()];
        for (id, reading) in self.marks[..=at].iter().flat_map(|mark| &mark.changed) {
            readings[id.index()].clone_from(reading);
        }
        readings
    }

    /// For each segment, the server-ns that each component was in use in it.
    pub fn busy_by_segment(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        let mut before = vec![0.0; self.latest.len()];
        self.marks.iter().map(move |mark| {
            let mut busy = vec![0.0; before.len()];
            for (id, reading) in &mark.changed {
                let (now, then) = (reading.busy_in_all(), &mut before[id.index()]);
                // A stall is noted when it ends, and may have begun in the segment before.
                busy[id.index()] = (now - *then).max(0.0);
                *then = now;
            }
            busy
        })
    }
}

impl Marks {
    /// For each segment, by how much the two numbers of each of `meters` grew in it, of those whose component was active: the place
    /// in `meters`, and both.
    pub fn grown_by_segment(&self, meters: &[(NodeId, usize)]) -> Vec<Vec<(usize, [f64; 2])>> {
        let mut before = vec![[0.0, 0.0]; meters.len()];
        let of_mark = |mark: &Mark| {
            let mut grown = Vec::new();
            for (at, (id, meter)) in meters.iter().enumerate() {
                let changed = mark.changed.iter().find(|(changed, _)| changed == id);
                if let Some(now) = changed.and_then(|(_, reading)| reading.meters.get(*meter).copied()) {
                    grown.push((at, [now[0] - before[at][0], now[1] - before[at][1]]));
                    before[at] = now;
                }
            }
            grown
        };
        self.marks.iter().map(of_mark).collect()
    }
}

/// The readings of two marks that follow each other, the later one where both have one.
fn merged(
    first: Vec<(NodeId, MeterReading)>,
    second: Vec<(NodeId, MeterReading)>,
) -> Vec<(NodeId, MeterReading)> {
    let mut merged = Vec::with_capacity(first.len().max(second.len()));
    let mut first = first.into_iter().peekable();
    for (id, reading) in second {
        merged.extend(std::iter::from_fn(|| first.next_if(|(earlier, _)| *earlier < id)));
        first.next_if(|(same, _)| *same == id);
        merged.push((id, reading));
    }
    merged.extend(first);
    merged
}
