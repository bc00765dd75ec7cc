//! Traces of caches in libCacheSim's oracleGeneral format (`traceReader/customizedReader/oracle/oracleGeneralBin.h`): records of 24 bytes, little
//! endian: time in s (u32), object (u64), bytes (u32), and when the object comes again (i64), which is ignored.
//!
//! The format has no operations: requests are reads. An object has no address: its number is taken as that of a 512-byte sector, which it is in
//! traces of blocks, so an object always lies at one place; of hashes, the lowest 53 bits count. Times are whole seconds: the requests of a
//! second are spread evenly over it.

use std::collections::VecDeque;

use headrace_work::Op;

use super::seconds::Second;
use super::vscsi::{u32_at, u64_at};
use super::{Devices, LineParser, Raw, SECTOR};

pub const RECORD: usize = 24;

/// Number of places where an object can begin.
const PLACES: u64 = 1 << 53;

/// Parses records.
#[derive(Default)]
pub struct OracleGeneral {
    second: Second,
    left_out: u64,
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
        let (second, place) = (u64::from(u32_at(record, 0)), u64_at(record, 4) % PLACES);
        self.second.hold(second, Raw::new(Op::Read, Some(place * SECTOR), bytes)?, out)
    }

    fn end(&mut self, out: &mut VecDeque<Raw>) {
        self.second.release(out);
    }

    fn left_out(&self) -> u64 {
        self.left_out
    }
}
