//! Theory of a controller.

use std::collections::BTreeMap;

use headrace_analytic::Distribution;
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::Op;

use super::ControllerSpec;
use crate::core::component::Theory;
use crate::core::graph::View;
use crate::core::theory::{Demand, Load, QueueOrder, ServiceKind};
use crate::core::theory::{Features, Phase};

fn time(rate: Option<BytesPerSecond>, bytes: u64) -> f64 {
    rate.map_or(Nanos::ZERO, |rate| rate.time_for(Bytes(bytes))).ms()
}

impl ControllerSpec {
    fn processing(&self, view: View, distribution: Distribution) -> Demand {
        let processors = ServiceKind::Queue { servers: self.processors, order: QueueOrder::FirstCome };
        Demand::one(view.id(), processors, distribution)
    }

    /// Returns the demand of computing parity on the processors, for kinds of requests with their probabilities: (probability, bytes to
    /// compute from and their probabilities).
    pub(crate) fn parity_demand(&self, view: View, kinds: &[(f64, BTreeMap<u64, f64>)]) -> Option<Demand> {
        let each =
            kinds.iter().flat_map(|(p, computed)| computed.iter().map(move |(bytes, q)| (p * q, *bytes)));
        let computing: Vec<(f64, u64)> = each.filter(|(_, bytes)| *bytes > 0).collect();
        let share: f64 = computing.iter().map(|(p, _)| p).sum();
        let distribution =
            |(p, bytes): (f64, u64)| (p / share, Distribution::Fixed(time(self.parity_rate, bytes)));
        let demand = (share > 0.0).then(|| {
            self.processing(view, Distribution::mixed(computing.into_iter().map(distribution).collect()))
        })?;
        Some(demand.times(share, 1.0)).filter(|demand| demand.work_ms() > 0.0)
    }

    /// Returns the demand of requests of these kinds on the processors and on the bus.
    fn asked(&self, view: View, load: &Load, processing: impl Fn(u64) -> f64) -> Vec<Demand> {
        let distribution = |of: &dyn Fn(u64) -> f64| {
            let distribution = |&(p, _, bytes): &(f64, Op, u64)| (p, Distribution::Fixed(of(bytes)));
            Distribution::mixed(load.kinds.iter().map(distribution).collect())
        };
        let mut demands = vec![self.processing(view, distribution(&processing))];
        let bus = view.uses().next();
        demands.extend(bus.map(|bus| {
            Demand::one(bus.id(), ServiceKind::SINGLE, distribution(&|bytes| time(self.bus, bytes)))
        }));
        demands.retain(|demand| demand.work_ms() > 0.0);
        demands
    }
}

impl Theory for ControllerSpec {
    fn time_fields(&self) -> &'static [&'static str] {
        &["command"]
    }

    fn features(&self) -> Features {
        // Its arrays hold what is in its cache.
        Features { addressed: false, fills: Some(0), ..Features::default() }
    }

    /// Returns the demand of a host's request, without its accesses to disks.
    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        Ok(self.asked(view, load, |bytes| self.command.ms() + time(self.data_rate, bytes)))
    }

    /// Returns the demand of an access to a disk.
    fn carries(&self, view: View, load: &Load, _: (Phase, u32, u32)) -> Result<Vec<Demand>, String> {
        let disk = self.disk_command.unwrap_or(self.command).ms();
        Ok(self.asked(view, load, |_| disk))
    }
}
