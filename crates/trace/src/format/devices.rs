//! The devices named in a trace.

use crate::fields::shown;

/// Device names in order of first appearance.
#[derive(Debug, Default)]
pub struct Devices {
    names: Vec<Vec<u8>>,
    last: usize,
}

/// Maximum number of devices. A file with more is not a trace.
const MOST_DEVICES: usize = 4096;

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
        if let Some(known) = self.names.iter().position(|known| known == name) {
            return Ok(known);
        }
        if self.names.len() == MOST_DEVICES {
            return Err(format!("too many devices: `{}` exceeds the maximum of {MOST_DEVICES}", shown(name)));
        }
        self.names.push(name.to_vec());
        Ok(self.names.len() - 1)
    }

    /// The names, with commas replaced by colons: `8:0`, `usr:0`.
    pub fn names(&self) -> Vec<String> {
        self.names.iter().map(|name| String::from_utf8_lossy(name).replace(',', ":")).collect()
    }
}
