//! Data that is on the disks too, by line: what gives way is chosen by a replacement policy.

use std::cell::RefCell;
use std::rc::Rc;

use super::span::ByteSpan;
use crate::core::replacement::AnyReplacement;

/// Lines kept for reads.
#[derive(Debug)]
pub struct CacheLines {
    /// Bytes in a line.
    line: u64,
    /// The number of its cache among those of the memory.
    owner: u32,
    held: u64,
    /// The lines of all caches in the same memory.
    order: Rc<RefCell<AnyReplacement>>,
}

impl CacheLines {
    /// No lines yet; each will have this size in bytes.
    pub fn of(line: u64, owner: u32, order: Rc<RefCell<AnyReplacement>>) -> Self {
        Self { line, owner, held: 0, order }
    }

    /// Bytes of all lines.
    pub fn bytes(&self) -> u64 {
        self.held * self.line
    }

    /// The number of its cache among those of the memory.
    pub fn owner(&self) -> u32 {
        self.owner
    }

    /// The numbers of the lines that a span touches.
    fn numbers(&self, span: ByteSpan) -> std::ops::Range<u64> {
        span.from / self.line..span.to.div_ceil(self.line)
    }

    /// The lines that lie wholly within a span.
    pub fn within(&self, span: ByteSpan) -> impl Iterator<Item = ByteSpan> + use<> {
        let line = self.line;
        (span.from.div_ceil(line)..span.to / line)
            .map(move |n| ByteSpan { from: n * line, to: (n + 1) * line })
    }

    /// Returns true if all of a span is in the cache.
    pub fn hold(&self, span: ByteSpan) -> bool {
        let order = self.order.borrow();
        self.numbers(span).all(|number| order.holds((self.owner, number)))
    }

    /// Notes that a span was used.
    pub fn touch(&mut self, span: ByteSpan) {
        let mut order = self.order.borrow_mut();
        for number in self.numbers(span) {
            order.touch((self.owner, number));
        }
    }

    /// Keeps the line that begins at `from`. Returns true if it is new.
    pub fn insert(&mut self, from: u64) -> bool {
        let (mut order, line) = (self.order.borrow_mut(), (self.owner, from / self.line));
        let is_new = !order.touch(line);
        if is_new {
            order.insert(line);
            self.held += 1;
        }
        is_new
    }

    /// Drops the lines that a span touches. Returns their bytes.
    pub fn invalidate(&mut self, span: ByteSpan) -> u64 {
        if self.held == 0 {
            return 0;
        }
        let mut order = self.order.borrow_mut();
        let dropped = self.numbers(span).filter(|number| order.remove((self.owner, *number))).count() as u64;
        self.held -= dropped;
        dropped * self.line
    }

    /// Drops all of its lines. Returns their bytes.
    pub fn clear(&mut self) -> u64 {
        let mut order = self.order.borrow_mut();
        while order.evict(None, |(owner, _)| owner == self.owner).is_some() {}
        self.line * std::mem::take(&mut self.held)
    }

    /// Notes that one of its lines gave way. Returns its bytes.
    pub fn gave_way(&mut self) -> u64 {
        self.held -= 1;
        self.line
    }
}
