//! What theory may know of a loop: how long the tenancies of an access hold it.

use headrace_analytic::Law;
use headrace_work::Op;

use super::arbitration::PORTS;
use super::frames::{COMMAND, READY, STATUS};
use super::{FcLoopSpec, Policy};
use crate::graph::View;
use crate::room::Known;
use crate::theory::{Demand, Load, Server};

/// How far round the loop the word goes until a port that waits has it, on average. On an idle loop it goes all the way.
const HALF_WAY: f64 = 0.5;

impl FcLoopSpec {
    /// How long one access holds the loop, in all its tenancies, in ns.
    fn access_ns(&self, ports: u32, op: Op, bytes: u64) -> f64 {
        let tenancy = |data, message| self.tenancy_ns(ports, HALF_WAY, data, message);
        match op {
            Op::Read => tenancy(0, COMMAND) + tenancy(bytes, STATUS),
            Op::Write => tenancy(0, COMMAND) + tenancy(0, READY) + tenancy(bytes, 0) + tenancy(0, STATUS),
        }
    }

    fn fails(&self, view: View) -> String {
        let rule = match self.policy {
            Policy::Fairness => "gives each port a turn",
            Policy::ReadCommandFirst | Policy::FlPortFirst | Policy::CommandsFirst => "lets some pass others",
        };
        format!(
            "requests are served in order of arrival: `{}` {rule} (in a prototype, waits were 3 % longer than here at 50 % utilisation, and 1.5 to 2.4 times as long at 90 %)",
            view.path()
        )
    }
}

impl Known for FcLoopSpec {
    /// What one access to a disk asks, command, data and status.
    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let disks = |array: View| array.uses().filter(|used| used.capacity().0 > 0).count() as u32;
        let ports = view.users().map(|array| 1 + disks(array)).sum();
        let law = |&(p, op, bytes): &(f64, Op, u64)| (p, Law::Fixed(self.access_ns(ports, op, bytes) * 1e-6));
        let held = Law::mixed(load.kinds.iter().map(law).collect());
        let fails = Some(self.fails(view));
        Ok(vec![Demand { fails, ..Demand::one(view.id(), Server::SINGLE, held) }])
    }

    fn most_ports(&self) -> Option<usize> {
        Some(PORTS)
    }

    fn note(&self, view: View, _: &Load) -> Option<String> {
        Some(format!(
            "`{}` carries whole messages: a disk sends after it has read everything, and starts to write when it has all data",
            view.path()
        ))
    }
}
