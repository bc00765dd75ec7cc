//! One request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Data comes from the device.
    Read,
    /// Data goes to the device.
    Write,
}

/// What is asked of a block device: so many bytes from this address on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// A number of its own, from its stream's name and its place in it. What a device draws for this request it draws by
    /// this key, so neither the order of service nor other streams change it.
    pub key: u64,
    /// Read or write.
    pub op: Op,
    /// The first byte.
    pub address: u64,
    /// How many bytes; at least one.
    pub bytes: u64,
}
