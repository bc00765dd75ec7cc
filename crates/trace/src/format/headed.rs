//! Formats that have a request on each line, and perhaps the names of their columns on the first.

use std::collections::VecDeque;

use super::{Devices, LineParser, Raw};

/// Reads a request of a line.
type Parse = fn(&[u8], &mut Devices) -> Result<Raw, String>;

/// Parses the lines of one file, but for a first line that begins like its header.
pub struct Headed {
    header: &'static [u8],
    parse: Parse,
    has_begun: bool,
}

impl Headed {
    pub fn new(header: &'static [u8], parse: Parse) -> Self {
        Self { header, parse, has_begun: false }
    }
}

impl LineParser for Headed {
    #[inline]
    fn line(&mut self, line: &[u8], devices: &mut Devices, out: &mut VecDeque<Raw>) -> Result<(), String> {
        if !std::mem::replace(&mut self.has_begun, true) && line.starts_with(self.header) {
            return Ok(());
        }
        out.push_back((self.parse)(line, devices)?);
        Ok(())
    }
}
