//! Where the time of requests went: by component, waiting, service and blocked.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Plan;
use crate::record::Legs;

/// One component on the path of requests.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LegResults {
    /// Group of components: all copies of one part.
    pub component: String,
    /// Mean waiting time.
    pub waiting_ms: f64,
    /// Mean service time.
    pub service_ms: f64,
    /// Mean time after service in which the next component had no space.
    pub blocked_ms: f64,
}

/// Returns the mean time of `answered` requests by component, from the times of each replication.
pub(super) fn path<'o>(
    plan: &Plan,
    replications: impl Iterator<Item = &'o Legs>,
    answered: u64,
) -> Vec<LegResults> {
    let mut sums: BTreeMap<usize, [u128; 3]> = BTreeMap::new();
    for (group, leg) in replications.flat_map(Legs::iter) {
        let sum = sums.entry(group).or_default();
        (0..3).for_each(|what| sum[what] += leg[what]);
    }
    let ms = |ns: u128| ns as f64 * 1e-6 / answered.max(1) as f64;
    let legs = sums.into_iter().map(|(group, [waiting, service, blocked])| LegResults {
        component: plan.graph.groups[group].clone(),
        waiting_ms: ms(waiting),
        service_ms: ms(service),
        blocked_ms: ms(blocked),
    });
    legs.filter(|leg| leg.waiting_ms + leg.service_ms + leg.blocked_ms > 0.0).collect()
}
