//! Errors of components that cannot be lowered.

use headrace_work::{Invalid, NodeId, TimeSpec};

use super::{Lowering, MAX_DEPTH};
use crate::core::graph::document::{LoweringError, NameStep};

/// Number of errors up to which the names that were perhaps meant are looked for: each costs a comparison with all that are known.
pub const MOST_EXPLAINED: usize = 100;

impl Lowering<'_> {
    /// Notes an error in `field` of the component that is being lowered; always `None`.
    pub fn refuse<T>(&mut self, field: &str, message: impl Into<String>, help: Option<&str>) -> Option<T> {
        let error = LoweringError {
            field: Vec::new(),
            message: message.into(),
            help: help.map(str::to_owned),
            unknown: None,
        };
        self.say(field, error)
    }

    /// Returns the time in `field` with its samples read.
    pub fn time(&mut self, field: &str, time: &TimeSpec) -> Option<TimeSpec> {
        let catalogue = self.catalogue();
        let checked = time.checked(&|sample| catalogue.sample(sample));
        checked.map_or_else(|invalid| self.invalid(invalid.within(field)), Some)
    }

    /// Notes that a value of the component that is being lowered is invalid; always `None`.
    pub fn invalid<T>(&mut self, invalid: Invalid) -> Option<T> {
        self.refuse(&invalid.field, invalid.message, invalid.help)
    }

    pub(super) fn say<T>(&mut self, field: &str, error: LoweringError) -> Option<T> {
        let field = self.context.field.iter().cloned().chain(field.split('.').map(str::to_owned)).collect();
        let error = LoweringError { field, ..error };
        // What is wrong with the first copy of a group is wrong with all.
        let is_said =
            |known: &LoweringError| *known == error || (self.repeats() && known.field == error.field);
        if !self.errors.iter().any(is_said) {
            self.errors.push(error);
        }
        None
    }

    /// Notes an error in `field` of a component that is lowered already.
    pub(crate) fn say_at(&mut self, at: NodeId, field: &str, message: String, help: &str) {
        let mut place = self.drafts[at.index()].spot.field.clone();
        place.push(field.to_owned());
        self.errors.push(LoweringError { field: place, message, help: Some(help.to_owned()), unknown: None });
    }

    /// Notes that `field` names what does not exist; always `None`. Of the first such errors the names that are known are kept.
    pub(crate) fn unknown<T>(
        &mut self,
        field: &str,
        message: String,
        name: &str,
        known: impl FnOnce(&Self) -> Vec<String>,
    ) -> Option<T> {
        let unknown = (self.errors.len() < MOST_EXPLAINED).then(|| (name.to_owned(), known(self)));
        self.say(field, LoweringError { field: Vec::new(), message, help: None, unknown })
    }

    pub(super) fn too_deep<T>(&mut self) -> Option<T> {
        self.refuse("of", format!("components are nested more than {MAX_DEPTH} deep"), None)
    }

    pub(super) fn way(&self) -> String {
        self.chain.iter().map(NameStep::to_string).collect::<Vec<_>>().join(" → ")
    }
}
