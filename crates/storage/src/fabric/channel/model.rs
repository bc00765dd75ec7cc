//! Theory of a channel: the durations for which the tenancies of an access hold a lane.

use headrace_analytic::Distribution;
use headrace_work::{Block, Op};

use super::{Channel, LaneTurn};
use crate::core::component::Theory;
use crate::core::graph::View;
use crate::core::theory::{Demand, Load, QueueOrder, ServiceKind};
use crate::core::theory::{Features, Phase};

/// Mean distance round a busy loop to the next waiting port, in rounds. On an idle loop the word goes all the way.
const HALF_WAY: f64 = 0.5;

/// The turns of one access to a disk, each with at most `burst` bytes of data.
fn turns<C: Channel>(op: Op, bytes: u64, burst: u64) -> impl Iterator<Item = LaneTurn> {
    let request = Block { op, address: 0, bytes };
    let steps =
        [Phase::Request, Phase::Answer].into_iter().flat_map(move |phase| C::PROTOCOL.steps(op, phase));
    steps.flat_map(move |step| step.turns(request, 0, burst, true))
}

/// The most data that crosses at once between an array's disks and its controllers.
fn piece(array: View) -> u64 {
    array.piece().unwrap_or(u64::MAX)
}

impl<C: Channel> Theory for C {
    fn features(&self) -> Features {
        Features { most_ports: self.room_for(), fills: Some(0), ..Features::default() }
    }

    /// Returns the demand of one access to a disk: each of its turns is waited for.
    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let disks = |array: View| array.uses().filter(|used| used.capacity().0 > 0).count() as u32;
        let ports = view.users().map(|array| 1 + disks(array)).sum();
        let demand = |p: f64, turn: &LaneTurn| {
            let lanes =
                ServiceKind::Queue { servers: self.lanes(), order: QueueOrder::Ranked(self.rank(turn)) };
            let held = Distribution::Fixed(self.tenancy_ns(ports, HALF_WAY, turn) * 1e-6);
            let demand = Demand {
                fails: self.fails(view).into_iter().collect(),
                ..Demand::one(view.id(), lanes, held)
            };
            demand.times(p, 1.0)
        };
        let burst = self.burst().min(view.users().map(piece).max().unwrap_or(u64::MAX));
        let of_kind =
            |&(p, op, bytes): &(f64, Op, u64)| turns::<C>(op, bytes, burst).map(move |turn| (p, turn));
        Ok(load.kinds.iter().flat_map(of_kind).map(|(p, turn)| demand(p, &turn)).collect())
    }

    fn scales(&self, _: View, _: &Load) -> bool {
        Channel::scales(self)
    }

    fn note(&self, view: View, _: &Load) -> Option<String> {
        let whole = view.users().any(|array| piece(array) == u64::MAX);
        whole.then(|| format!(
            "`{}` carries whole messages: a disk sends after it has read everything, and starts to write when it has all data",
            view.path()
        ))
    }
}
