//! The work of block devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Operation on bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Data comes from the device.
    Read,
    /// Data goes to the device.
    Write,
    /// Data on the device is no longer needed (TRIM, deallocate); none is sent. Only components that
    /// discard are asked.
    Discard,
    /// What was acknowledged before goes to stable media (flush, `SYNCHRONIZE CACHE`, `FLUSH CACHE`); no data is
    /// sent, and the whole component is addressed.
    Flush,
}

/// An operation on consecutive bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Operation.
    pub op: Op,
    /// The first byte.
    pub address: u64,
    /// Number of bytes; at least one, except for a flush, which has none.
    pub bytes: u64,
}

impl Block {
    /// A flush.
    pub const FLUSH: Self = Self { op: Op::Flush, address: 0, bytes: 0 };

    /// One more than its last byte.
    #[inline]
    pub fn end(&self) -> u64 {
        self.address + self.bytes
    }
}
