//! What a user may write of a solid-state drive.

use headrace_units::{Fraction, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SsdPlan;
use super::interface::Interface;
use super::numbers::SsdNumbers;
use crate::AnyPlan;
use crate::graph::Lowering;
use crate::link::Duplex;
use crate::port::{Passes, PortPlan};
use crate::room::{Lowered, Spec};

/// A solid-state drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SsdSpec {
    /// A drive of the catalogue by name, a variation of one, or its parameters written out.
    #[schemars(with = "SsdField")]
    pub device: SsdRef,
    /// What it is plugged into. The drive and the port agree on the slower of two rates. Default: what the drive supports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<Interface>,
    /// Time for which a read takes the port besides its data: that of the adapter or controller behind it.
    #[serde(default)]
    pub read_command: Nanos,
    /// The same for a write.
    #[serde(default)]
    pub write_command: Nanos,
    /// Share of the addresses, from 0 on, that holds data when the run begins, written in sequence. Reads of others take no flash.
    #[serde(default = "all")]
    pub written: Fraction,
    /// How often the capacity was overwritten at random before the run begins, in no simulated time. Random writes are steady after 2 to
    /// 5, the more the less over-provisioning there is. Each takes about 0.3 s of real time for 1 GB of capacity … 100 s for 480 GB.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub overwritten: f64,
}

/// What a document has instead of a [`SsdRef`]: variations are completed before it is read.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "for the schema only")]
enum SsdField {
    /// By its name in the catalogue.
    Named(String),
    /// Another one with some parameters changed.
    Varied(VariedSsd),
    /// Written out.
    Numbers(Box<SsdNumbers>),
}

/// A drive that is like another one, but for the fields given beside `like`.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
#[allow(dead_code, reason = "for the schema only")]
struct VariedSsd {
    /// The device from which all that is not given here is taken, each number as an estimate.
    like: String,
}

/// A drive by name, or its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SsdRef {
    /// By its name in the catalogue.
    Named(String),
    /// Written out.
    Numbers(Box<SsdNumbers>),
}

const fn all() -> Fraction {
    Fraction(1.0)
}

/// The names of the ports of an interface of two directions, by operation.
const DIRECTIONS: [&str; 2] = ["reads", "writes"];

impl SsdSpec {
    /// The interface that the drive and its port agree on.
    fn agreed(&self, numbers: &SsdNumbers, at: &mut Lowering) -> Option<Interface> {
        let own = numbers.interface.get();
        let agreed = self.interface.map_or(Some(own), |port| port.with(own));
        agreed.or_else(|| {
            let message = "a SATA drive does not fit an NVMe port, nor the other way round";
            at.refuse("interface", message, Some("leave `interface` out, or name another device"))
        })
    }
}

impl Spec for SsdSpec {
    type Plan = SsdPlan;

    fn lower(&self, at: &mut Lowering) -> Option<Lowered<SsdPlan>> {
        let numbers = at.ssd("device", &self.device)?;
        let interface = self.agreed(&numbers, at)?;
        if !(0.0..=100.0).contains(&self.overwritten) {
            return at.refuse("overwritten", "must be from 0 to 100", None);
        }
        let wire = interface.line().wire(at)?;
        let commands = [self.read_command, self.write_command];
        let plan = PortPlan { wire, messages: false, passes: Passes::Whole, commands };
        let mut port = |name: &str| at.part(name, AnyPlan::Port(plan.clone().into()));
        let uses = match interface.duplex() {
            Duplex::Half => vec![port("port")],
            Duplex::Full => DIRECTIONS.map(&mut port).to_vec(),
        };
        let capacity = numbers.capacity.get();
        Some(Lowered { plan: SsdPlan::new(numbers, self, wire), uses, capacity })
    }
}
