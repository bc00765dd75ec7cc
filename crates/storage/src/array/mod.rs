//! An array: several devices that answer as one.

mod demand;
mod model;
mod stripe;

use headrace_kernel::{Crew, Resource};
use headrace_units::{Bytes, Nanos};
use headrace_work::{Ask, Block, NodeId, Op, Spent, What};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::{Copies, Lowering, MAX_BYTES};
use crate::meter::Activity;
use crate::place::{Edge, Place};
use crate::room::{Lowered, Metered, Plan, Room, Spec};

pub use stripe::Stripes;

/// Several devices, striped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArraySpec {
    /// How data is laid out over the disks.
    pub level: Level,
    /// What it is made of: copies of a part, named or written out, or a list of components of `system`.
    pub of: Copies,
    /// Number of copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub disks: Option<u32>,
    /// Bytes that lie on one disk before the next has its turn.
    pub stripe_unit: Bytes,
    /// Whether requests overlap.
    #[serde(default)]
    pub queueing: Queueing,
    /// On which disk a request begins.
    #[serde(default)]
    pub first_unit: FirstUnit,
    /// A link of `system` between the array and its disks. Default: data takes no time on the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

/// How data is laid out over the disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Striped, without redundancy.
    Raid0,
}

/// Whether requests overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Queueing {
    /// A queue for each disk: a disk goes on to the next request while others are busy with this one.
    #[default]
    ForkJoin,
    /// One queue before the array: the next request begins when every part of this one is done.
    SplitMerge,
}

/// On which disk a request begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FirstUnit {
    /// Where its address lies.
    #[default]
    Addressed,
    /// On the first disk, whatever its address, as in the split-merge paper: its Eq. 1 gives block j to disk j mod n.
    FirstDisk,
}

/// An array whose disks are known.
#[derive(Clone, Debug)]
pub struct ArrayPlan {
    stripes: Stripes,
    queueing: Queueing,
    /// Whether the disks are copies of one part, which nothing else uses.
    copies: bool,
    /// Whether the last node it uses is the link to its disks.
    via: bool,
}

impl Spec for ArraySpec {
    type Plan = ArrayPlan;

    fn lower(&self, at: &mut Lowering) -> Option<Lowered<ArrayPlan>> {
        self.check_count(at)?;
        let mut uses = at.copies("of", &self.of, self.disks)?;
        let each = self.check_disks(at, &uses)?;
        let disks = uses.len() as u64;
        let stripes = Stripes { disks, unit: self.stripe_unit.0, first_unit: self.first_unit };
        let capacity = stripes.capacity(each);
        if capacity.0 > MAX_BYTES {
            return at.refuse(
                "disks",
                format!("it would hold {capacity}; at most 1 EiB can be addressed"),
                None,
            );
        }
        if let Some(link) = &self.via {
            uses.push(self.link(at, link)?);
        }
        let copies = !matches!(self.of, Copies::Shared(_));
        let plan = ArrayPlan { stripes, queueing: self.queueing, copies, via: self.via.is_some() };
        Some(Lowered { plan, uses, capacity })
    }
}

impl ArraySpec {
    fn check_count(&self, at: &mut Lowering) -> Option<()> {
        match (&self.of, self.disks) {
            (Copies::Shared(names), _) if names.is_empty() => {
                at.refuse("of", "an array needs at least one disk", None)
            }
            (Copies::Shared(names), _)
                if names.iter().collect::<std::collections::BTreeSet<_>>().len() < names.len() =>
            {
                at.refuse("of", "a disk is listed twice", Some("name each disk once"))
            }
            (Copies::Shared(names), Some(disks)) if names.len() != disks as usize => {
                let message = format!("`disks` is {disks}, and `of` lists {}", names.len());
                at.refuse("disks", message, Some("leave `disks` out: the list says how many there are"))
            }
            (Copies::Part(_) | Copies::Written(_), None) => at.refuse(
                "disks",
                "an array of copies needs a field `disks`",
                Some("`disks`: number of copies"),
            ),
            _ => Some(()),
        }
    }

    /// The bytes of the smallest disk; all are used alike.
    fn check_disks(&self, at: &mut Lowering, disks: &[NodeId]) -> Option<Bytes> {
        let each = disks.iter().map(|disk| at.capacity(*disk)).min().unwrap_or(Bytes(0));
        if each.0 == 0 {
            return at.refuse("of", "an array is made of components that hold data", None);
        }
        if self.stripe_unit.0 == 0 || self.stripe_unit > each {
            let message = format!(
                "a stripe unit of {} does not fit on a disk of {each}; give at least 1 B and at most that",
                self.stripe_unit
            );
            return at.refuse("stripe_unit", message, None);
        }
        Some(each)
    }

    fn link(&self, at: &mut Lowering, name: &str) -> Option<NodeId> {
        let link = at.shared("via", name)?;
        if at.capacity(link).0 > 0 {
            return at.refuse(
                "via",
                format!("`{name}` is no link: it holds data"),
                Some("name a component of `type: link`"),
            );
        }
        Some(link)
    }
}

/// An array in a simulation.
pub struct Array<'m> {
    place: &'m Place<'m>,
    /// Held from the split to the merge, where requests do not overlap.
    lockstep: Option<Resource<'m>>,
    stripes: Stripes,
    disks: &'m [Edge<'m>],
    /// Has each disk do its part.
    parts: Crew<'m, (usize, Ask<Block>), Spent>,
}

impl Plan for ArrayPlan {
    type Room<'m> = Array<'m>;

    fn build<'m>(&'m self, place: &'m Place<'m>, uses: &'m [Edge<'m>]) -> Array<'m> {
        let sim = place.site.sim;
        let (disks, link) = uses.split_at(self.stripes.disks as usize);
        let link = link.first();
        Array {
            lockstep: (self.queueing == Queueing::SplitMerge).then(|| Resource::fcfs(sim, 1)),
            stripes: self.stripes,
            disks,
            parts: Crew::new(sim, move |(disk, ask): (usize, Ask<Block>)| {
                part(sim.now(), &disks[disk], link, ask)
            }),
            place,
        }
    }
}

/// One disk does its part; its data crosses the link before it is written, or after it is read.
async fn part<'m>(now: Nanos, disk: &'m Edge<'m>, link: Option<&'m Edge<'m>>, ask: Ask<Block>) -> Spent {
    let mut spent = Spent::from(now);
    match link {
        Some(link) if ask.work.op == Op::Write => link.serve(&ask, &mut spent).await,
        _ => {}
    }
    disk.serve(&ask, &mut spent).await;
    match link {
        Some(link) if ask.work.op == Op::Read => link.serve(&ask, &mut spent).await,
        _ => {}
    }
    spent
}

impl Array<'_> {
    /// Each disk that has a part in the request, and the part.
    #[inline]
    fn split(&self, ask: &Ask<Block>) -> impl Iterator<Item = (usize, Ask<Block>)> + use<> {
        let ask = *ask;
        self.stripes.parts(ask.work).map(move |(disk, part)| (disk, ask.with(part)))
    }

    /// Has each disk do its part without events; charges what the last to end took.
    fn pass_disks(&self, ask: &Ask<Block>, spent: &mut Spent) {
        let now = spent.until();
        let passes = self.split(ask).map(|(disk, part)| {
            let mut spent = Spent::from(now);
            self.disks[disk].pass(&part, &mut spent);
            spent
        });
        let slowest = passes.max_by_key(Spent::until);
        spent.follow(&slowest.expect("a request has at least one byte, so at least one part"));
    }
}

impl Metered for Array<'_> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        self.lockstep.as_ref().map(|lockstep| Activity::of(1, &lockstep.usage(), now))
    }
}

impl<'m> Room<'m> for Array<'m> {
    async fn serve(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let _turn = match &self.lockstep {
            Some(lockstep) => Some(lockstep.acquire(()).await),
            None => None,
        };
        spent.charge(self.place.id, What::Waiting, self.place.site.sim.now());
        // Parts come after everything that is due, as requests do.
        self.place.site.sim.settled().await;
        let slowest = self.parts.all(self.split(ask)).await;
        spent.follow(&slowest.expect("a request has at least one byte, so at least one part"));
    }

    fn pass(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
        let Some(lockstep) = &self.lockstep else { return self.pass_disks(ask, spent) };
        lockstep.pass(spent.until(), |start| {
            spent.charge(self.place.id, What::Waiting, start);
            self.pass_disks(ask, spent);
            spent.until()
        });
    }
}
