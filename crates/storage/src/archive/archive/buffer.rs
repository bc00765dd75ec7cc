//! A disk pool of an archive: who waits for its space, and which files a purge takes out of it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use headrace_expression::Expression;
use headrace_kernel::LinkId;
use headrace_units::Nanos;
use headrace_work::NodeId;

use super::catalogue::{FileCatalogue, FileNumber};
use super::full::Filled;
use super::purge::PurgeOrder;
use super::spec::PurgeSpec;
use crate::archive::disk_pool::{DiskPool, FilePart};
use crate::archive::moving::LinkHop;
use crate::core::context::Edge;
use crate::core::meter::waits;

/// A disk pool of an archive in a simulation.
pub(super) struct Buffer<'m> {
    /// Its place among those of the archive.
    pub number: u8,
    pub edge: &'m Edge<'m>,
    pub pool: &'m DiskPool<'m>,
    /// When it is purged, and by which weight.
    pub purge: Option<&'m (PurgeSpec, Expression)>,
    /// Its files by weight, where it is purged.
    pub order: RefCell<Option<PurgeOrder>>,
    /// Files that wait for space in it, in order.
    pub wanting: RefCell<VecDeque<FileNumber>>,
    /// Time of the last use of a file of it.
    pub last_used: Cell<Nanos>,
    /// True if a purge that found too few files will be tried again.
    pub is_trying_again: Cell<bool>,
    /// Until when no other purge is tried after one that found too few files.
    pub exhausted: Cell<Option<Nanos>>,
    /// True if a purge took files and found too few.
    pub is_purging: Cell<bool>,
    /// Its contents when it was first full.
    pub filled: Cell<Option<Filled>>,
}

/// A part of a file in the disk pool that has it.
#[derive(Clone, Copy)]
pub(super) struct BufferPart<'m> {
    pub buffer: &'m Buffer<'m>,
    pub part: FilePart,
}

impl<'m> Buffer<'m> {
    pub fn new(
        number: u8,
        (edge, pool): (&'m Edge<'m>, &'m DiskPool<'m>),
        purge: Option<&'m (PurgeSpec, Expression)>,
    ) -> Self {
        Self {
            number,
            edge,
            pool,
            purge,
            order: RefCell::new(purge.map(|(_, weight)| PurgeOrder::by(weight))),
            wanting: RefCell::default(),
            last_used: Cell::new(Nanos::ZERO),
            is_trying_again: Cell::new(false),
            exhausted: Cell::new(None),
            is_purging: Cell::new(false),
            filled: Cell::new(None),
        }
    }

    pub fn id(&self) -> NodeId {
        self.edge.to()
    }

    /// The parts of `bytes` of a file, from the byte `from` on, whose first volume is known.
    pub fn parts(
        &'m self,
        volume: u32,
        from: u64,
        bytes: u64,
    ) -> impl Iterator<Item = BufferPart<'m>> + use<'m> {
        self.pool.parts(volume, from, bytes).map(|part| BufferPart { buffer: self, part })
    }

    pub fn hop(&self, chain: LinkId) -> LinkHop<'m> {
        LinkHop { edge: self.edge, link: chain }
    }

    /// A file was used, or its data has come: it is the last used of all.
    pub fn touch(&self, files: &mut FileCatalogue, file: FileNumber, is_new: bool) {
        self.last_used.set(files[file].used);
        if let Some(order) = &mut *self.order.borrow_mut() {
            order.touch(files, file, is_new);
        }
    }

    /// Number of bytes that the first file takes that waits for space.
    pub fn wanted(&self, files: &FileCatalogue) -> u64 {
        self.wanting.borrow().front().map_or(0, |file| files[*file].bytes)
    }

    /// Returns true if a purge found too few files, and someone waits for space.
    pub fn lacks_space(&self) -> bool {
        self.exhausted.get().is_some() && !self.wanting.borrow().is_empty()
    }

    /// Returns what waits for space, in words.
    pub fn waiting(&self, files: &FileCatalogue) -> Vec<String> {
        let wanting = self.wanting.borrow();
        let puts = wanting.iter().filter(|file| files[**file].tape.is_none()).count();
        let space = format!("space in `{}`", self.edge.path());
        let both = [(puts, "put"), (wanting.len() - puts, "recall")];
        both.iter().filter_map(|(number, request)| waits(*number as u64, request, &space)).collect()
    }
}
