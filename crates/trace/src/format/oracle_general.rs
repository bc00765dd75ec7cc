//! Traces of caches in libCacheSim's oracleGeneral format (`traceReader/customizedReader/oracle/oracleGeneralBin.h`): records of 24 bytes, little
//! endian: time in s (u32), object (u64), bytes (u32), and when the object comes again (i64), which is ignored.
//!
//! The format has no operations: requests are reads. An object has no address: its number is taken as that of a 512-byte sector, which it is in
//! traces of blocks, so an object always lies at one place; of hashes, the lowest 53 bits count. In traces of other objects, whose numbers count them
//! or are hashes, such places would overlap: there each has 4 GiB of its own, as much as an object can have, by the lowest 30 bits of its number.
//! Times are whole seconds: the requests of a second are spread evenly over it.

use std::collections::VecDeque;

use headrace_work::Op;

use super::seconds::Second;
use super::vscsi::{u32_at, u64_at};
use super::{Devices, LineParser, Raw, SECTOR};

pub const RECORD: usize = 24;

/// Parses records.
pub struct OracleGeneral {
    second: Second,
    left_out: u64,
    /// Bytes from the place of an object to that of the next number, and the number of places.
    apart: u64,
    places: u64,
}

impl OracleGeneral {
    /// Objects are blocks: their numbers are those of sectors.
    pub fn of_blocks() -> Self {
        Self { second: Second::default(), left_out: 0, apart: SECTOR, places: 1 << 53 }
    }

    /// Objects are files or values, which do not overlap.
    pub fn of_objects() -> Self {
        Self { apart: 1 << 32, places: 1 << 30, ..Self::of_blocks() }
    }
}

impl LineParser for OracleGeneral {
    fn line(&mut self, record: &[u8], _: &mut Devices, out: &mut VecDeque<Raw>) -> Result<(), String> {
        if record.len() < RECORD {
            return Err(format!("the last record is cut off: it has {} of {RECORD} bytes", record.len()));
        }
        let bytes = u64::from(u32_at(record, 12));
        if bytes == 0 {
            self.left_out += 1;
            return Ok(());
        }
        let (second, place) = (u64::from(u32_at(record, 0)), u64_at(record, 4) % self.places);
        self.second.hold(second, Raw::new(Op::Read, Some(place * self.apart), bytes)?, out)
    }

    fn end(&mut self, out: &mut VecDeque<Raw>) {
        self.second.release(out);
    }

    fn left_out(&self) -> u64 {
        self.left_out
    }
}
