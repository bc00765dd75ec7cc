//! Traces of caches in libCacheSim's oracleGeneral format (`traceReader/customizedReader/oracle/oracleGeneralBin.h`): records of 24 bytes, little
//! endian: time in s (u32), object (u64), bytes (u32), and when the object comes again (i64), which is ignored.
//!
//! The format has no operations: requests are reads. An object has no address: its number is taken as that of a 512-byte sector, which it is in
//! traces of blocks, so an object always lies at one place; of hashes, the lowest 53 bits count. In traces of other objects, whose numbers count them,
//! such places would overlap: there a hash of the number is that of a 4 KiB page in 1 PiB, so that few objects do. Times are whole seconds: the
//! requests of a second are spread evenly over it.

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
    /// Returns the address of an object.
    place: fn(u64) -> u64,
}

impl OracleGeneral {
    /// Objects are blocks: their numbers are those of sectors.
    pub fn of_blocks() -> Self {
        Self { second: Second::default(), left_out: 0, place: |object| object % (1 << 53) * SECTOR }
    }

    /// Objects are files or values.
    pub fn of_objects() -> Self {
        // The highest bits of a multiple of the golden ratio (Knuth, The Art of Computer Programming 3, §6.4).
        Self { place: |object| object.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 26 << 12, ..Self::of_blocks() }
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
        let (second, place) = (u64::from(u32_at(record, 0)), (self.place)(u64_at(record, 4)));
        self.second.hold(second, Raw::new(Op::Read, Some(place), bytes)?, out)
    }

    fn end(&mut self, out: &mut VecDeque<Raw>) {
        self.second.release(out);
    }

    fn left_out(&self) -> u64 {
        self.left_out
    }
}
