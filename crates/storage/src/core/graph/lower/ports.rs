//! Check that a path has ports for all components on it.

use super::{Draft, Lowering};
use crate::core::graph::document::LoweringError;

impl Lowering<'_> {
    /// Refuses paths with more ports than they can have. Only the whole system shows it, for several arrays may share one.
    pub(crate) fn check_ports(&mut self) {
        let crowded: Vec<(usize, usize, usize)> = (0..self.drafts.len())
            .filter_map(|at| {
                let most = self.drafts[at].most_ports()?;
                let ports = self.ports(at);
                (ports > most).then_some((at, ports, most))
            })
            .collect();
        for (at, ports, most) in crowded {
            let spot = &self.drafts[at].spot;
            let message = format!(
                "`{}` would have {ports} ports: one for each array and one for each disk on it; it has room for {most}",
                spot.path
            );
            let help = Some("use fewer disks, or a second path".to_owned());
            self.errors.push(LoweringError { field: spot.field.clone(), message, help, unknown: None });
        }
    }

    /// The ports of all that uses a path: one for each of an array's disks, which hold data, and one for its controller.
    fn ports(&self, path: usize) -> usize {
        let uses = self.drafts.iter().filter(|draft| draft.plan.is_some()).map(|draft| &draft.uses);
        let on_it = uses.filter(|uses| uses.iter().any(|used| used.index() == path));
        on_it.map(|uses| 1 + uses.iter().filter(|used| self.capacity(**used).0 > 0).count()).sum()
    }
}

impl Draft {
    fn most_ports(&self) -> Option<usize> {
        self.plan.as_ref()?.theory().features().most_ports
    }
}
