//! Consecutive bytes.

/// Bytes from `from` to before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteSpan {
    pub from: u64,
    pub to: u64,
}

impl ByteSpan {
    pub fn bytes(self) -> u64 {
        self.to - self.from
    }

    /// Returns the least span that holds both.
    pub fn and(self, other: Self) -> Self {
        Self { from: self.from.min(other.from), to: self.to.max(other.to) }
    }

    /// Returns true if the spans share a byte.
    pub fn overlaps(self, other: Self) -> bool {
        self.from < other.to && other.from < self.to
    }

    /// Returns true if the other span lies within this one.
    pub fn holds(self, other: Self) -> bool {
        self.from <= other.from && other.to <= self.to
    }

    /// Its first bytes, at most `most` of them and none beyond the next multiple of `boundary`.
    pub fn first(self, most: u64, boundary: u64) -> Self {
        let next = (self.from / boundary + 1) * boundary;
        Self { to: self.to.min(next).min(self.from + most), ..self }
    }
}
