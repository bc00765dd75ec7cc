//! Any weight: all files of the pool in a heap.

use std::collections::BinaryHeap;

use super::{Candidate, Purge, is_old_enough, variables};
use crate::archive::archive::catalogue::FileCatalogue;
use headrace_expression::Expression;

pub(super) fn purge(weight: &Expression, files: &FileCatalogue, purge: Purge) {
    let candidates = (0..files.len() as u32).filter_map(|file| {
        let entry = &files[file];
        let goes = entry.buffer == purge.buffer && entry.may_go() && is_old_enough(entry, &purge);
        goes.then(|| Candidate::new(weight.value(&variables(entry, purge.now)), entry, file))
    });
    let mut candidates: BinaryHeap<Candidate> = candidates.collect();
    while let Some(Candidate { file, .. }) = candidates.pop()
        && (purge.take)(file.0)
    {}
}
