//! The bus between drive and host: it carries the data of one command after another.

/// A bus.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bus {
    free_at: f64,
}

impl Bus {
    /// From when on it is free.
    pub fn free_at(&self) -> f64 {
        self.free_at
    }

    /// Carries `sectors` that take `each`. Returns when the last one is through: at `end` if the bus is free, later if it still
    /// carries the data of the command before.
    #[inline]
    pub fn carry(&mut self, end: f64, sectors: u64, each: f64) -> f64 {
        self.free_at = end.max(self.free_at + sectors as f64 * each);
        self.free_at
    }
}
