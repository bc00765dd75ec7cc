//! Which flash page holds which data, both ways, in 32 bits each.
//!
//! A flash page is valid where the two ways agree, so overwriting data clears nothing. An entry of zero says what held when the run
//! began: the first `filled` pages lie in sequence. Memory of pages that no write touches is never committed.

/// Where a logical page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nowhere: it was never written.
    Nowhere,
    /// In the buffer.
    Buffer,
    /// On this flash page.
    Flash(u32),
}

/// The two ways.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// Of each logical page: zero, or one more than its flash page, or [`BUFFERED`].
    places: Vec<u32>,
    /// Of each flash page: zero, or one more than the logical page that was written there last.
    owners: Vec<u32>,
    filled: u32,
}

const BUFFERED: u32 = u32::MAX;

impl Mapping {
    /// The largest number of flash pages that 32 bits can tell apart.
    pub const MOST: u64 = (BUFFERED - 1) as u64;

    /// `logical` pages on `flash` pages, of which the first `filled` hold data.
    pub fn new(logical: u32, flash: u32, filled: u32) -> Self {
        Self { places: vec![0; logical as usize], owners: vec![0; flash as usize], filled }
    }

    /// Where a logical page is.
    #[inline]
    pub fn place(&self, logical: u32) -> Place {
        match self.places[logical as usize] {
            0 if logical < self.filled => Place::Flash(logical),
            0 => Place::Nowhere,
            BUFFERED => Place::Buffer,
            entry => Place::Flash(entry - 1),
        }
    }

    /// The logical page whose data a flash page holds; none where it holds none that is valid.
    #[inline]
    pub fn owner(&self, flash: u32) -> Option<u32> {
        let logical = match self.owners[flash as usize] {
            0 if flash < self.filled => flash,
            0 => return None,
            entry => entry - 1,
        };
        (self.place(logical) == Place::Flash(flash)).then_some(logical)
    }

    /// A logical page's data is in the buffer.
    #[inline]
    pub fn buffer(&mut self, logical: u32) {
        self.places[logical as usize] = BUFFERED;
    }

    /// A logical page's data is on a flash page.
    #[inline]
    pub fn put(&mut self, logical: u32, flash: u32) {
        self.places[logical as usize] = flash + 1;
        self.owners[flash as usize] = logical + 1;
    }

    /// Number of logical pages.
    pub fn logical(&self) -> u32 {
        self.places.len() as u32
    }
}
