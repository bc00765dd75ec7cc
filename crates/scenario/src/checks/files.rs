//! No file is lost: from the end of its put to its deletion, it is on disk, on tape or both. None is stored to tape twice. A purge takes no
//! file that is not on tape, is being read or is pinned. Files never take more space than there is.
//!
//! It follows each [`Fact`] as the archive reports it, and knows no policy.

use std::any::Any;
use std::cell::{Cell, RefCell};

use headrace_storage::{Fact, Graph, Witness};
use headrace_units::Nanos;
use headrace_work::NodeId;

/// The state of every file of every archive, by the facts reported, and the first fact that breaks a law.
pub struct FileBooks {
    /// Of each component.
    files: RefCell<Vec<Vec<File>>>,
    /// Bytes taken of each component, and how many it has.
    space: RefCell<Vec<(u64, u64)>>,
    paths: Vec<String>,
    /// The first fact that was wrong, and how many were.
    first: RefCell<Option<String>>,
    wrong: Cell<u64>,
}

#[derive(Clone, Copy, Default)]
struct File {
    bytes: u64,
    /// The component that has its space.
    pool: Option<NodeId>,
    readers: u32,
    on_disk: bool,
    on_tape: bool,
    /// Tape pools that have it, one bit each.
    copies: u32,
    is_unwanted: bool,
    /// Until when a pin keeps it.
    pinned: Nanos,
}

impl FileBooks {
    /// Books in which no file is yet.
    pub fn new(graph: &Graph) -> Self {
        let space = graph.nodes.iter().map(|node| (0, node.capacity.0)).collect();
        Self {
            files: RefCell::new(graph.nodes.iter().map(|_| Vec::new()).collect()),
            space: RefCell::new(space),
            paths: graph.nodes.iter().map(|node| node.path.clone()).collect(),
            first: RefCell::new(None),
            wrong: Cell::new(0),
        }
    }

    fn take(&self, pool: NodeId, bytes: u64) -> Result<(), String> {
        let (taken, capacity) = &mut self.space.borrow_mut()[pool.index()];
        *taken += bytes;
        let path = &self.paths[pool.index()];
        if *taken > *capacity {
            Err(format!("{taken} B of the {capacity} B of {path} are taken"))
        } else {
            Ok(())
        }
    }

    fn give(&self, pool: NodeId, bytes: u64) {
        self.space.borrow_mut()[pool.index()].0 -= bytes;
    }

    fn note(&self, of: NodeId, fact: Fact, now: Nanos) -> Result<(), String> {
        match fact {
            Fact::SpaceTaken { pool, file, bytes } => {
                self.with(of, file, |file| (file.bytes, file.pool) = (bytes, Some(pool)));
                self.take(pool, bytes)
            }
            Fact::SpaceGiven { pool, file } => self.leaves(of, file, pool, File::may_be_given_up),
            Fact::OnDisk(file) => self.change(of, file, |file| file.on_disk = true),
            Fact::Copied { file, pool } => self.with(of, file, |file| {
                let bit = 1 << pool;
                let was_there = file.copies & bit > 0;
                file.copies |= bit;
                match (was_there, file.on_disk) {
                    (true, _) => Err(format!("it is copied to tape pool {pool}, where it is")),
                    (false, false) => Err("it is copied to tape from the pool, where it is not".to_owned()),
                    (false, true) => Ok(()),
                }
            }),
            Fact::OnTape(file) => {
                self.with(of, file, |file| match std::mem::replace(&mut file.on_tape, true) {
                    true => Err("it is stored to tape, where it is".to_owned()),
                    false => Ok(()),
                })
            }
            Fact::ReadBegins(file) => self.with(of, file, |file| {
                file.readers += 1;
                if file.on_disk {
                    Ok(())
                } else {
                    Err("its data is read in the pool, where it is not".to_owned())
                }
            }),
            Fact::ReadEnds(file) => self.change(of, file, |file| file.readers -= 1),
            Fact::Pinned { file, until } => self.with(of, file, |file| {
                file.pinned = until;
                if file.on_disk {
                    Ok(())
                } else {
                    Err("it is pinned in the pool, where it is not".to_owned())
                }
            }),
            Fact::Unwanted(file) => self.change(of, file, |file| file.is_unwanted = true),
            Fact::Purged { pool, file } => self.leaves(of, file, pool, |file| file.may_be_purged(now)),
            Fact::Freed { pool, file } => self.leaves(of, file, pool, File::may_be_freed),
        }
    }

    fn leaves(
        &self,
        of: NodeId,
        file: u32,
        pool: NodeId,
        may: impl FnOnce(&File) -> Result<(), &'static str>,
    ) -> Result<(), String> {
        let (allowed, bytes, from) = self.with(of, file, |file| {
            let allowed = may(file);
            file.on_disk = false;
            (allowed, file.bytes, file.pool)
        });
        if from != Some(pool) {
            return Err(format!("its data leaves {}, where it is not", self.paths[pool.index()]));
        }
        self.give(pool, bytes);
        allowed.map_err(str::to_owned)
    }

    fn change(&self, of: NodeId, file: u32, act: fn(&mut File)) -> Result<(), String> {
        self.with(of, file, act);
        Ok(())
    }

    fn with<T>(&self, of: NodeId, file: u32, act: impl FnOnce(&mut File) -> T) -> T {
        let files = &mut self.files.borrow_mut()[of.index()];
        if files.len() <= file as usize {
            files.resize(file as usize + 1, File::default());
        }
        act(&mut files[file as usize])
    }
}

impl File {
    fn may_be_purged(&self, now: Nanos) -> Result<(), &'static str> {
        match self {
            Self { pinned, .. } if *pinned > now => Err("it is purged while it is pinned"),
            Self { on_disk: false, .. } => Err("it is purged from the pool, where it is not"),
            Self { on_tape: false, .. } => Err("it is purged, and is not on tape"),
            Self { readers: 1.., .. } => Err("it is purged while it is read"),
            _ => Ok(()),
        }
    }

    fn may_be_given_up(&self) -> Result<(), &'static str> {
        match self {
            Self { on_disk: true, .. } => Err("its space is given back as if its data had not come"),
            Self { on_tape: false, is_unwanted: false, .. } => {
                Err("its space is given back, and it is nowhere")
            }
            _ => Ok(()),
        }
    }

    fn may_be_freed(&self) -> Result<(), &'static str> {
        match self {
            Self { is_unwanted: false, .. } => Err("its data leaves the pool, and nobody deleted it"),
            Self { readers: 1.., .. } => Err("its data leaves the pool while it is read"),
            _ => Ok(()),
        }
    }
}

impl Witness for FileBooks {
    fn saw(&self, of: NodeId, fact: &dyn Any, now: Nanos) {
        let Some(fact) = fact.downcast_ref::<Fact>() else { return };
        if let Err(wrong) = self.note(of, *fact, now) {
            self.wrong.set(self.wrong.get() + 1);
            let path = &self.paths[of.index()];
            self.first
                .borrow_mut()
                .get_or_insert_with(|| format!("{path}: {fact:?} at {} s: {wrong}", now.secs()));
        }
    }

    fn broken(&self) -> Vec<String> {
        let first = self.first.borrow();
        let more = self.wrong.get().saturating_sub(1);
        first.iter().map(|first| format!("{first} (and {more} more)")).collect()
    }
}

#[cfg(test)]
mod tests;
