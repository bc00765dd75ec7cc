//! The devices named in a trace.

use hashbrown::HashTable;

use crate::fields::shown;

/// Device names in order of first appearance.
#[derive(Debug, Default)]
pub struct Devices {
    names: Vec<Vec<u8>>,
    /// Indices of the names, by their hashes.
    indices: HashTable<u32>,
    last: usize,
}

/// Maximum number of devices: clouds' traces have thousands. A file with more is not a trace.
const MOST_DEVICES: usize = 8192;

/// A hash of `name`: FNV-1a (Fowler, Noll and Vo).
fn hash(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

impl Devices {
    /// The index of the device called `name`.
    #[inline]
    pub fn number(&mut self, name: &[u8]) -> Result<u32, String> {
        if self.names.get(self.last).is_none_or(|last| last != name) {
            self.last = self.find_or_add(name)?;
        }
        Ok(self.last as u32)
    }

    fn find_or_add(&mut self, name: &[u8]) -> Result<usize, String> {
        let is_it = |at: &u32| self.names[*at as usize] == name;
        if let Some(known) = self.indices.find(hash(name), is_it) {
            return Ok(*known as usize);
        }
        if self.names.len() == MOST_DEVICES {
            return Err(format!("too many devices: `{}` exceeds the maximum of {MOST_DEVICES}", shown(name)));
        }
        let at = self.names.len();
        self.names.push(name.to_vec());
        self.indices.insert_unique(hash(name), at as u32, |at| hash(&self.names[*at as usize]));
        Ok(at)
    }

    /// The names, with commas replaced by colons: `8:0`, `usr:0`.
    pub fn names(&self) -> Vec<String> {
        self.names.iter().map(|name| String::from_utf8_lossy(name).replace(',', ":")).collect()
    }
}
