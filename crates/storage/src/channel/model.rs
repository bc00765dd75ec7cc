//! What theory may know of a channel: how long the tenancies of an access hold a lane.

use headrace_analytic::Law;
use headrace_work::{Block, Op};

use super::{Channel, Turn};
use crate::crossing::Phase;
use crate::graph::View;
use crate::room::Known;
use crate::theory::{Demand, Load, Order, Server};

/// How far round a loop the word goes until a port that waits has it, on average. On an idle loop it goes all the way.
const HALF_WAY: f64 = 0.5;

/// The turns of one access to a disk.
fn turns<C: Channel>(channel: &C, op: Op, bytes: u64) -> impl Iterator<Item = Turn> {
    let request = Block { op, address: 0, bytes };
    let steps =
        [Phase::Request, Phase::Answer].into_iter().flat_map(move |phase| C::PROTOCOL.steps(op, phase));
    steps.flat_map(move |step| step.turns(request, 0, channel.burst()))
}

impl<C: Channel> Known for C {
    /// What one access to a disk asks: each of its turns is waited for.
    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let disks = |array: View| array.uses().filter(|used| used.capacity().0 > 0).count() as u32;
        let ports = view.users().map(|array| 1 + disks(array)).sum();
        let demand = |p: f64, turn: &Turn| {
            let lanes = Server::Queue { servers: self.lanes(), order: Order::Ranked(self.rank(turn)) };
            let held = Law::Fixed(self.tenancy_ns(ports, HALF_WAY, turn) * 1e-6);
            let demand = Demand { fails: self.fails(view), ..Demand::one(view.id(), lanes, held) };
            demand.times(p, 1.0)
        };
        let of_kind = |&(p, op, bytes): &(f64, Op, u64)| turns(self, op, bytes).map(move |turn| (p, turn));
        Ok(load.kinds.iter().flat_map(of_kind).map(|(p, turn)| demand(p, &turn)).collect())
    }

    fn most_ports(&self) -> Option<usize> {
        self.room_for()
    }

    fn scales(&self, _: View, _: &Load) -> bool {
        Channel::scales(self)
    }

    fn note(&self, view: View, _: &Load) -> Option<String> {
        Some(format!(
            "`{}` carries whole messages: a disk sends after it has read everything, and starts to write when it has all data",
            view.path()
        ))
    }
}
