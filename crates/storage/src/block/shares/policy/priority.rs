//! Strict priority: nobody is served while someone more urgent waits.

use std::collections::{BTreeMap, VecDeque};

use headrace_kernel::Draws;

use super::{Entitlement, Policy, Waiting};

/// Tickets of those who wait, by their priority and in the order in which they came.
#[derive(Debug, Default)]
pub struct Priority {
    waiting: BTreeMap<u8, VecDeque<u64>>,
}

impl Policy for Priority {
    fn come(&mut self, _: u32, entitled: &Entitlement, request: Waiting) {
        self.waiting.entry(entitled.priority).or_default().push_back(request.ticket);
    }

    fn next(&mut self, _: f64, _: &mut Draws) -> Option<u64> {
        self.waiting.values_mut().find_map(VecDeque::pop_front)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::shares::policy::tests::draws;
    use proptest::prelude::*;

    proptest! {
        /// Whoever comes when: who goes on is of the smallest priority that waits, and came before all others of it.
        #[test]
        fn nobody_passes_one_who_is_more_urgent(steps in prop::collection::vec(prop::option::of(0u8..4), 1..80)) {
            let (mut policy, mut waiting) = (Priority::default(), Vec::new());
            for (ticket, step) in (0..).zip(steps) {
                if let Some(priority) = step {
                    let entitled = Entitlement { priority, ..Entitlement::EQUAL };
                    policy.come(priority.into(), &entitled, Waiting { ticket, cost: 1.0, came_ns: 0.0 });
                    waiting.push((priority, ticket));
                } else {
                    let most_urgent = waiting.iter().copied().min();
                    prop_assert_eq!(policy.next(0.0, &mut draws()), most_urgent.map(|(_, ticket)| ticket));
                    waiting.retain(|waits| Some(*waits) != most_urgent);
                }
            }
        }
    }
}
