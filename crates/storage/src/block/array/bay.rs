//! The devices of an array and the ways to them: one piece of work for one device, also when a path fails.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use headrace_kernel::Sim;
use headrace_work::{Block, Breakdown, Request};

use super::eviction::Watch;
use super::path::{BackendPath, OverPath};
use crate::core::context::Edge;

/// A piece of work for a device.
pub(super) struct Job {
    /// The device.
    pub device: usize,
    /// The work.
    pub request: Request<Block>,
    /// The group of jobs that it belongs to.
    pub ticket: u64,
}

/// The devices of an array and the ways to them.
pub(super) struct Bay<'m> {
    sim: &'m Sim<'m>,
    devices: &'m [Edge<'m>],
    /// The ways to the devices, one for each path.
    ways: Box<[BackendPath<'m>]>,
    /// The way whose turn it is.
    turn: Cell<usize>,
    /// State that a mirror keeps of its devices; empty where nothing is chosen.
    pub heads: Box<[Head]>,
    /// Jobs that were not done, each with its group.
    lost: RefCell<Vec<(u64, LostJob)>>,
    /// Number of jobs on their way, by group and device, where reads are hedged.
    late: Option<RefCell<BTreeMap<(u64, usize), u32>>>,
    /// What was seen of how long devices take, where slow ones are evicted.
    pub watch: Option<Watch>,
}

/// A job that was not done.
#[derive(Clone, Copy)]
pub(super) struct LostJob {
    /// The device.
    pub device: usize,
    /// The requested block.
    pub block: Block,
    /// True if the device works but has lost the data there, as an array can that is a device of another.
    pub works: bool,
}

/// State that an array keeps of a device, from the accesses that it sent there.
#[derive(Default)]
pub(super) struct Head {
    pub in_flight: Cell<u64>,
    /// The end of the last access.
    pub at: Cell<u64>,
}

impl<'m> Bay<'m> {
    pub fn new(
        sim: &'m Sim<'m>,
        devices: &'m [Edge<'m>],
        ways: Vec<BackendPath<'m>>,
        (chooses, hedges): (bool, bool),
        watch: Option<Watch>,
    ) -> Self {
        let heads = if chooses { devices.iter().map(|_| Head::default()).collect() } else { Box::default() };
        let (lost, late) = (RefCell::default(), hedges.then(RefCell::default));
        Self { sim, devices, ways: ways.into(), turn: Cell::new(0), heads, lost, late, watch }
    }

    /// Notes that a job is on its way.
    pub fn ask(&self, job: &Job) {
        self.watch.iter().for_each(|watch| watch.asked(job.device, self.sim.now()));
        if let Some(late) = &self.late {
            *late.borrow_mut().entry((job.ticket, job.device)).or_default() += 1;
        }
    }

    /// Notes that a job has ended.
    fn end(&self, job: &Job) {
        self.watch.iter().for_each(|watch| watch.answered(job.device, self.sim.now()));
        if let Some(late) = &self.late {
            let mut late = late.borrow_mut();
            let left = late.get_mut(&(job.ticket, job.device)).expect("what ends was asked");
            *left -= 1;
            if *left == 0 {
                late.remove(&(job.ticket, job.device));
            }
        }
    }

    /// The devices that have not answered a group yet.
    pub fn late(&self, ticket: u64) -> Vec<usize> {
        let Some(late) = &self.late else { return Vec::new() };
        late.borrow().range((ticket, 0)..=(ticket, usize::MAX)).map(|((_, device), _)| *device).collect()
    }

    /// Returns true if there is a path to the devices.
    pub fn is_reachable(&self) -> bool {
        self.ways.iter().any(|way| way.is_up())
    }

    /// The next way in turn that works.
    fn way(&self) -> Option<BackendPath<'m>> {
        let many = self.ways.len();
        let at = (0..many).map(|n| (self.turn.get() + n) % many).find(|at| self.ways[*at].is_up())?;
        self.turn.set((at + 1) % many);
        Some(self.ways[at])
    }

    /// Does a job over one of the ways. Returns true if that failed meanwhile, so that another has to be tried.
    async fn over_way(&self, job: &Job, breakdown: &mut Breakdown) -> bool {
        let Some(way) = self.way() else {
            breakdown.fail();
            return false;
        };
        let failures = way.failures();
        let work = OverPath { block: job.request.work, path: way, disk: job.device };
        self.devices[job.device].serve(&job.request.with(work), breakdown).await;
        breakdown.has_failed() && way.failures() != failures && self.devices[job.device].is_up()
    }

    /// Jobs of a group that were not done.
    pub fn take_lost(&self, ticket: u64) -> Vec<LostJob> {
        let mut lost = self.lost.borrow_mut();
        if lost.is_empty() {
            return Vec::new();
        }
        let mine = lost.extract_if(.., |(group, _)| *group == ticket);
        mine.map(|(_, lost)| lost).collect()
    }
}

/// Does a job: what the device is asked and what it answers goes over a way, another one where that fails.
pub(super) async fn do_job<'m>(bay: Rc<Bay<'m>>, job: Job) -> Breakdown {
    let mut breakdown = Breakdown::from(bay.sim.now());
    let failures = bay.devices[job.device].failures();
    if bay.ways[0].is_free() {
        bay.devices[job.device].serve(&job.request, &mut breakdown).await;
    } else {
        while bay.over_way(&job, &mut breakdown).await {
            breakdown.retry();
        }
    }
    bay.end(&job);
    if let Some(head) = bay.heads.get(job.device) {
        head.in_flight.set(head.in_flight.get() - 1);
    }
    if breakdown.has_failed() {
        let device = &bay.devices[job.device];
        let works = device.is_up() && device.failures() == failures;
        bay.lost
            .borrow_mut()
            .push((job.ticket, LostJob { device: job.device, block: job.request.work, works }));
    }
    breakdown
}
