//! Data that is on the disks too, by line: the least recently used goes first.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::span::ByteSpan;

/// Lines kept for reads.
#[derive(Clone, Debug, Default)]
pub struct CacheLines {
    /// Bytes in a line.
    line: u64,
    /// Last use of each line by line number, and the lines in order of last use.
    used: BTreeMap<u64, u64>,
    by_use: BTreeMap<u64, u64>,
    /// Uses of lines so far, of all caches in the same memory.
    uses: Rc<Cell<u64>>,
}

impl CacheLines {
    /// No lines yet; each will have this size in bytes. Their uses count together with those of others.
    pub fn of(line: u64, uses: Rc<Cell<u64>>) -> Self {
        Self { line, uses, ..Self::default() }
    }

    /// Returns the last use of the least recently used line; `None` without lines.
    pub fn last_use(&self) -> Option<u64> {
        self.by_use.keys().next().copied()
    }

    /// Bytes of all lines.
    pub fn bytes(&self) -> u64 {
        self.used.len() as u64 * self.line
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
        self.numbers(span).all(|number| self.used.contains_key(&number))
    }

    /// Notes that a span was used.
    pub fn touch(&mut self, span: ByteSpan) {
        for number in self.numbers(span) {
            if self.used.contains_key(&number) {
                self.keep(number);
            }
        }
    }

    /// Keeps the line that begins at `from`. Returns whether it is new.
    pub fn insert(&mut self, from: u64) -> bool {
        self.keep(from / self.line)
    }

    fn keep(&mut self, number: u64) -> bool {
        let now = self.uses.get() + 1;
        self.uses.set(now);
        let before = self.used.insert(number, now);
        if let Some(before) = before {
            self.by_use.remove(&before);
        }
        self.by_use.insert(now, number);
        before.is_none()
    }

    /// Drops the lines that a span touches. Returns their bytes.
    pub fn invalidate(&mut self, span: ByteSpan) -> u64 {
        if self.used.is_empty() {
            return 0;
        }
        let dropped = self.numbers(span).filter_map(|number| self.used.remove(&number)).collect::<Vec<_>>();
        dropped.iter().for_each(|used| {
            self.by_use.remove(used);
        });
        dropped.len() as u64 * self.line
    }

    /// Drops the line used least recently. Returns its bytes; none where there is no line.
    pub fn evict(&mut self) -> u64 {
        let Some((_, number)) = self.by_use.pop_first() else { return 0 };
        self.used.remove(&number);
        self.line
    }
}
