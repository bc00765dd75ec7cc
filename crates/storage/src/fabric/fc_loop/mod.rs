//! A Fibre Channel arbitrated loop, message by message.
//!
//! A port that sends holds the whole loop for a tenancy: it arbitrates, opens a circuit, sends the frames of one sequence and
//! closes the circuit. A read takes two tenancies, the command's and that of data and status. A write takes four: the command,
//! the disk's word that it is ready, data, and status. Opening and closing take a round of the loop each, arbitration the way
//! from the port that sent before (see `arbitration.rs`).

mod arbitration;
mod spec;

use std::rc::Rc;

use headrace_work::Op;

use crate::core::graph::View;
use crate::core::meter::Meter;
use crate::fabric::channel::{Arbitration, Channel, FCP, Frames, LaneProtocol, LaneTurn, Tenancies};
use crate::fabric::path_transfer::Sender;
use crate::fabric::wire::NS_PER_METRE;
use arbitration::{Arbiter, Claim, PORTS, Window};

pub use spec::{FcLoopSpec, Policy};

/// A transmission word, in bytes before coding.
const WORD: f64 = 4.0;

/// Bytes of a frame beside its payload: start 4, header 24, checksum 4, end 4, and the six idle words of four bytes that
/// follow it at least (FC-PH; Fabric OS 7.3 Administrator's Guide, "Frame format").
const OVERHEAD: u64 = 60;

/// A loop in a simulation.
pub type FcLoop<'m> = Tenancies<'m, FcLoopSpec>;

/// Arbitration of a loop.
pub struct Arbitrated {
    window: Rc<Window>,
    policy: Policy,
}

impl Arbitrated {
    fn claim(&self, turn: &LaneTurn) -> Claim {
        Claim { port: turn.port, favoured: self.policy.favours(turn) }
    }
}

impl Arbitration for Arbitrated {
    type Queue = Arbiter;

    fn queue(&self) -> Arbiter {
        Arbiter::new(Rc::clone(&self.window))
    }

    fn attach(&self, first: u32, ports: u32) {
        self.window.attach(first, ports);
    }

    fn key(&self, turn: &LaneTurn) -> Claim {
        self.claim(turn)
    }

    fn begin(&self, turn: &LaneTurn) -> f64 {
        self.window.passed(self.claim(turn))
    }

    fn meters(&self, put: &mut dyn FnMut(&'static str, Meter)) {
        put("access_windows", Meter::Count(self.window.opened()));
    }
}

impl Channel for FcLoopSpec {
    type Access = Arbitrated;

    const PROTOCOL: LaneProtocol = FCP;

    fn access(&self) -> Arbitrated {
        Arbitrated { window: Rc::default(), policy: self.policy }
    }

    fn room_for(&self) -> Option<usize> {
        Some(PORTS)
    }

    fn scales(&self) -> bool {
        false
    }

    fn tenancy_ns(&self, ports: u32, way: f64, turn: &LaneTurn) -> f64 {
        let (ns_per_byte, round_ns) = (self.ns_per_byte(), self.round_ns(ports));
        let payload = self.frame_payload.0;
        let frames = Frames { ns_per_byte, payload, overhead: OVERHEAD, credit: self.credit, round_ns };
        way * round_ns + 2.0 * round_ns + frames.ns_for(turn.data, turn.message)
    }

    /// In a window the controller has one turn, and so has each disk. Where there are many disks, all that have something to send
    /// go before the controller's next turn.
    fn rank(&self, turn: &LaneTurn) -> u32 {
        match turn.sender {
            Sender::Controller if self.policy.favours(turn) => 0,
            Sender::Disk => 1,
            Sender::Controller => 2,
        }
    }

    fn fails(&self, view: View) -> Option<String> {
        let path = view.path();
        Some(match self.policy {
            Policy::Fairness => format!(
                "all disks send between two commands: on `{path}` each does so once (an upper estimate: responses simulated were 0 to 17 % shorter)"
            ),
            _ => format!(
                "messages come at random: to `{path}` those of a command come one after another (responses simulated with 40 disks were at most 3 % shorter)"
            ),
        })
    }
}

impl FcLoopSpec {
    /// Once round a loop with this number of ports, in ns.
    fn round_ns(&self, ports: u32) -> f64 {
        let word = WORD * self.ns_per_byte();
        f64::from(ports * self.per_node_delay) * word + f64::from(self.metres) * NS_PER_METRE
    }
}

impl Policy {
    /// Returns true if a port with this turn ignores the access window.
    fn favours(self, turn: &LaneTurn) -> bool {
        let is_command = turn.message > 0;
        turn.sender == Sender::Controller
            && match self {
                Self::Fairness => false,
                Self::ReadCommandFirst => is_command && turn.op == Op::Read,
                Self::FlPortFirst => true,
                Self::CommandsFirst => is_command,
            }
    }
}
