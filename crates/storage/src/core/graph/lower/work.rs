//! Whether components are asked for work that they do.

use super::{Draft, Lowering};
use crate::core::component::Theory;
use crate::core::graph::document::LoweringError;

impl Lowering<'_> {
    /// Refuses components that send blocks to one that serves none: a disk pool cannot be a disk of an array.
    pub(crate) fn check_work(&mut self) {
        let uses = |at: usize| self.drafts[at].lowered.iter().flat_map(|lowered| &lowered.uses);
        let wrong: Vec<(usize, usize)> = (0..self.drafts.len())
            .filter(|at| self.drafts[*at].is(|known| known.sends_blocks()))
            .flat_map(|at| uses(at).map(move |used| (at, used.index())))
            .filter(|(_, used)| self.drafts[*used].is(|known| !known.serves_blocks()))
            .collect();
        for (user, used) in wrong {
            let message = format!(
                "`{}` serves no blocks: it is a part of an archive or of a data acquisition",
                self.drafts[used].spot.path
            );
            let (field, help) = (self.drafts[user].spot.field.clone(), None);
            self.errors.push(LoweringError { field, message, help, unknown: None });
        }
    }
}

impl Draft {
    fn is(&self, so: impl Fn(&dyn Theory) -> bool) -> bool {
        self.lowered.as_ref().is_some_and(|lowered| so(lowered.plan.theory()))
    }
}
