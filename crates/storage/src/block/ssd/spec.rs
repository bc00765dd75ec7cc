//! Fields of a solid-state drive in a scenario.

use headrace_units::{Fraction, Nanos};
use headrace_work::Op;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SsdPlan;
use super::interface::Interface;
use super::numbers::SsdNumbers;
use crate::AnyPlan;
use crate::core::component::Spec;
use crate::core::device::DeviceRef;
use crate::core::graph::Lowering;
use crate::fabric::link::Duplex;
use crate::fabric::port::{Passes, PortPlan};

/// A solid-state drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SsdSpec {
    /// The drive: the name of a device in the catalogue, a variation of one, or a full set of parameters.
    pub device: DeviceRef<SsdNumbers>,
    /// The port it is plugged into. Drive and port run at the slower of their rates. Default: the drive's own interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<Interface>,
    /// Time that a read occupies the port in addition to its frames: the overhead of the adapter or controller.
    #[serde(default)]
    pub read_command: Nanos,
    /// Time that each write takes the port besides its frames.
    #[serde(default)]
    pub write_command: Nanos,
    /// Share of the addresses, from 0 on, that holds sequentially written data at the start of the run. Reads of unwritten addresses do
    /// not access flash.
    #[serde(default = "all")]
    pub written: Fraction,
    /// Number of times that random writes have overwritten the capacity before the run, in no simulated time. Random writes reach steady
    /// state after 2 to 5 passes; drives with less over-provisioning need more. All data lies scattered then, also what they did not hit.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub overwritten: f64,
}

const fn all() -> Fraction {
    Fraction(1.0)
}

/// Names of the ports of a full-duplex interface, by operation.
const DIRECTIONS: [&str; 2] = ["reads", "writes"];

impl SsdSpec {
    /// The interface that drive and port negotiate.
    fn agreed(&self, numbers: &SsdNumbers, at: &mut Lowering) -> Option<Interface> {
        let own = numbers.interface.get();
        let Some(port) = self.interface else { return Some(own) };
        port.with(own).or_else(|| {
            let message = format!("the port is {}, and the drive {}", port.speaks(), own.speaks());
            at.refuse("interface", message, Some("leave `interface` out, or name another device"))
        })
    }
}

impl Spec for SsdSpec {
    type Plan = SsdPlan;

    fn lower(&self, at: &mut Lowering) -> Option<SsdPlan> {
        let numbers = at.device("device", &self.device)?;
        let interface = self.agreed(&numbers, at)?;
        if !(0.0..=100.0).contains(&self.overwritten) {
            return at.refuse("overwritten", "must be from 0 to 100", None);
        }
        let wire = interface.line().wire(at)?;
        let of_host = [self.read_command, self.write_command];
        let commands =
            [Op::Read, Op::Write].map(|op| of_host[usize::from(op == Op::Write)] + interface.command(op));
        let port = PortPlan { wire, messages: false, passes: Passes::Whole, commands };
        let mut part = |name: &str, plan: &PortPlan| at.part(name, AnyPlan::Port(plan.clone().into()));
        let mut uses = match interface.duplex() {
            Duplex::Half => vec![part("port", &port)],
            Duplex::Full => DIRECTIONS.map(|name| part(name, &port)).to_vec(),
        };
        // No data goes through the controller's part for commands: of its wire only the times of commands are used.
        let command = numbers.command_time().map(|time| PortPlan { commands: [time; 2], ..port });
        uses.extend(command.map(|plan| part("commands", &plan)));
        let capacity = numbers.capacity.get();
        at.uses(uses);
        at.holds(capacity);
        Some(SsdPlan::new(numbers, self, wire))
    }
}
