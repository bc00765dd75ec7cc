//! What theory may know of a channel: how long the tenancies of an access hold a lane.

use headrace_analytic::Law;
use headrace_work::{Block, Op};

use super::Channel;
use crate::crossing::Phase;
use crate::graph::View;
use crate::room::Known;
use crate::theory::{Demand, Load, Server};

/// How far round a loop the word goes until a port that waits has it, on average. On an idle loop it goes all the way.
const HALF_WAY: f64 = 0.5;

/// How long one access holds a lane, in all its tenancies, in ns.
fn access_ns<C: Channel>(channel: &C, ports: u32, op: Op, bytes: u64) -> f64 {
    let request = Block { op, address: 0, bytes };
    let steps = [Phase::Request, Phase::Answer].into_iter().flat_map(|phase| C::PROTOCOL.steps(op, phase));
    let turns = steps.flat_map(|step| step.turns(request, 0, channel.burst()));
    turns.map(|turn| channel.tenancy_ns(ports, HALF_WAY, &turn)).sum()
}

impl<C: Channel> Known for C {
    /// What one access to a disk asks, command, data and status.
    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let disks = |array: View| array.uses().filter(|used| used.capacity().0 > 0).count() as u32;
        let ports = view.users().map(|array| 1 + disks(array)).sum();
        let law =
            |&(p, op, bytes): &(f64, Op, u64)| (p, Law::Fixed(access_ns(self, ports, op, bytes) * 1e-6));
        let held = Law::mixed(load.kinds.iter().map(law).collect());
        let lanes = Server::Queue { servers: self.lanes(), urgent_first: false };
        Ok(vec![Demand { fails: self.fails(view), ..Demand::one(view.id(), lanes, held) }])
    }

    fn most_ports(&self) -> Option<usize> {
        self.room_for()
    }

    fn note(&self, view: View, _: &Load) -> Option<String> {
        Some(format!(
            "`{}` carries whole messages: a disk sends after it has read everything, and starts to write when it has all data",
            view.path()
        ))
    }
}
