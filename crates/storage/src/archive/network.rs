//! A network that transfers share: those in one direction share its rate by max-min fairness.

use headrace_kernel::LinkId;
use headrace_units::{BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::component::{Component, Plan, Spec, Theory};
use crate::core::context::NodeContext;
use crate::core::graph::Lowering;
use crate::core::meter::{Activity, Meter};

/// A network between clients, disk pool and tape. Transfers share it by max-min fairness: one that is limited elsewhere leaves the rest to
/// the others. Time lost by sharing counts as waiting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSpec {
    /// Data rate in each direction.
    pub rate: BytesPerSecond,
    /// If true, both directions share `rate`.
    #[serde(default)]
    pub half_duplex: bool,
}

impl Spec for NetworkSpec {
    type Plan = Self;

    fn lower(&self, at: &mut Lowering) -> Option<Self> {
        if self.rate.get() <= 0.0 {
            return at.refuse("rate", "the rate of a network must be above zero", None);
        }
        Some(self.clone())
    }
}

impl Theory for NetworkSpec {}

/// A network in a simulation.
pub struct Network<'m> {
    context: &'m NodeContext<'m>,
    /// Towards the disk pool, and from it.
    pub(crate) inward: LinkId,
    pub(crate) outward: LinkId,
}

impl Plan for NetworkSpec {
    type Component<'m> = Network<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Network<'m> {
        let inward = context.shared.fluid.link(self.rate);
        let outward = if self.half_duplex { inward } else { context.shared.fluid.link(self.rate) };
        Network { context, inward, outward }
    }
}

impl<'m> Component<'m> for Network<'m> {
    fn activity(&self, _: Nanos) -> Option<Activity> {
        let both = [self.inward, self.outward];
        let ways = if self.inward == self.outward { &both[..1] } else { &both[..] };
        Some(Activity::of_links(ways.iter().map(|link| self.context.shared.fluid.usage(*link))))
    }

    fn meters(&self, _: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let busy = |link| Meter::Area(self.context.shared.fluid.usage(link).busy.iter().sum());
        put("inward_busy", busy(self.inward));
        put("outward_busy", busy(self.outward));
    }
}
