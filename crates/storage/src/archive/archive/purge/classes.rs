//! Weights that can only rise with the time since the last access. Files whose weight is the same function of that time make a class: a
//! list in order of last access, of which only the head can be next. A purge merges the heads.

use std::collections::{BTreeMap, BinaryHeap};

use super::{AGE, Candidate, Purge, is_old_enough, variables};
use crate::archive::archive::catalogue::{FileCatalogue, FileNumber, ListPosition, Neighbour};
use headrace_expression::{Expression, Split};

pub(in crate::archive) struct Classes {
    weight: Split,
    by_parts: BTreeMap<Vec<u64>, u32>,
    classes: Vec<AgeClass>,
}

#[derive(Default)]
struct AgeClass {
    /// Variables of the weight except the time since the last access.
    parts: Vec<f64>,
    /// The file unused longest, and the one used last.
    head: Option<Neighbour>,
    tail: Option<Neighbour>,
}

/// File numbers are stored one higher, so that none takes no room.
fn neighbour(file: FileNumber) -> Neighbour {
    Neighbour::new(file + 1).expect("it is one higher than a number")
}

fn number(neighbour: Neighbour) -> FileNumber {
    neighbour.get() - 1
}

impl Classes {
    pub fn new(weight: &Expression) -> Self {
        Self { weight: weight.split(AGE), by_parts: BTreeMap::new(), classes: Vec::new() }
    }

    /// Puts a file at the end of its class.
    pub fn touch(&mut self, files: &mut FileCatalogue, file: FileNumber, is_new: bool) {
        let class = if is_new { self.class_of(files, file) } else { self.remove(files, file) };
        let of = &mut self.classes[class as usize];
        let before = of.tail.replace(neighbour(file));
        match before {
            Some(before) => files[number(before)].list.after = Some(neighbour(file)),
            None => of.head = Some(neighbour(file)),
        }
        files[file].list = ListPosition { class, before, after: None };
    }

    /// Takes a file out of its class. Gives that.
    pub fn remove(&mut self, files: &mut FileCatalogue, file: FileNumber) -> u32 {
        let ListPosition { class, before, after } = files[file].list;
        let of = &mut self.classes[class as usize];
        match before {
            Some(before) => files[number(before)].list.after = after,
            None => of.head = after,
        }
        match after {
            Some(after) => files[number(after)].list.before = before,
            None => of.tail = before,
        }
        class
    }

    fn class_of(&mut self, files: &FileCatalogue, file: FileNumber) -> u32 {
        let entry = &files[file];
        let parts = self.weight.parts(&variables(entry, entry.used.max(entry.stored)));
        let key: Vec<u64> = parts.iter().map(|part| part.to_bits()).collect();
        let classes = &mut self.classes;
        *self.by_parts.entry(key).or_insert_with(|| {
            classes.push(AgeClass { parts, ..AgeClass::default() });
            classes.len() as u32 - 1
        })
    }

    pub fn purge(&self, files: &FileCatalogue, purge: Purge) {
        let mut scratch = Vec::new();
        let mut heads = BinaryHeap::new();
        for class in &self.classes {
            heads.extend(self.next(class, class.head, files, &purge, &mut scratch));
        }
        while let Some(Candidate { file, .. }) = heads.pop() {
            let ListPosition { class, after, .. } = files[file.0].list;
            heads.extend(self.next(&self.classes[class as usize], after, files, &purge, &mut scratch));
            if !(purge.take)(file.0) {
                return;
            }
        }
    }

    /// The first file of a class from `at` on that may go.
    fn next(
        &self,
        class: &AgeClass,
        at: Option<Neighbour>,
        files: &FileCatalogue,
        purge: &Purge,
        scratch: &mut Vec<f64>,
    ) -> Option<Candidate> {
        let mut next = at;
        while let Some(file) = next.map(number) {
            let entry = &files[file];
            if !is_old_enough(entry, purge) {
                return None;
            }
            if entry.may_go() {
                let age = variables(entry, purge.now)[AGE];
                return Some(Candidate::new(self.weight.value(age, &class.parts, scratch), entry, file));
            }
            next = entry.list.after;
        }
        None
    }
}
