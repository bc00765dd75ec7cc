//! Command traces of VMware's virtual SCSI layer (`vscsiStats -t`), as libCacheSim keeps them (`traceReader/customizedReader/vscsi.h`): records of
//! one size, little endian. Lengths are in bytes, blocks have 512 bytes, times are in µs. The version is the higher byte of its field.

use std::collections::VecDeque;

use headrace_units::Nanos;
use headrace_work::Op;

use super::{Devices, LineParser, Raw, SECTOR};

/// Where the fields of a record begin.
struct RecordLayout {
    version: u8,
    size: usize,
    command: usize,
    version_at: usize,
    bytes: usize,
    block: usize,
    time: usize,
    response: Option<usize>,
}

const V1: RecordLayout = RecordLayout {
    version: 1,
    size: 32,
    command: 12,
    version_at: 14,
    bytes: 4,
    block: 16,
    time: 24,
    response: None,
};
const V2: RecordLayout = RecordLayout {
    version: 2,
    size: 40,
    command: 0,
    version_at: 2,
    bytes: 8,
    block: 16,
    time: 24,
    response: Some(32),
};

/// Parses the records of a version.
pub struct Vscsi {
    layout: &'static RecordLayout,
    left_out: u64,
}

impl Vscsi {
    pub fn v1() -> Self {
        Self { layout: &V1, left_out: 0 }
    }

    pub fn v2() -> Self {
        Self { layout: &V2, left_out: 0 }
    }

    fn request(&self, record: &[u8], op: Op, bytes: u64) -> Result<Raw, String> {
        let time = |at| u64_at(record, at).checked_mul(1000).ok_or("a time is beyond 2^64 ns");
        let address =
            u64_at(record, self.layout.block).checked_mul(SECTOR).ok_or("a block is beyond 2^64 bytes")?;
        let response = self.layout.response.map(time).transpose()?.map(Nanos);
        Ok(Raw { time_ns: Some(time(self.layout.time)?), response, ..Raw::new(op, Some(address), bytes)? })
    }
}

impl LineParser for Vscsi {
    fn line(&mut self, record: &[u8], _: &mut Devices, out: &mut VecDeque<Raw>) -> Result<(), String> {
        let &RecordLayout { version, size, command, version_at, bytes, .. } = self.layout;
        if record.len() < size {
            return Err(format!("the last record is cut off: it has {} of {size} bytes", record.len()));
        }
        if record[version_at + 1] != version {
            return Err(format!("the record has version {}, not {version}", record[version_at + 1]));
        }
        let bytes = u64::from(u32_at(record, bytes));
        match operation(u16::from_le_bytes([record[command], record[command + 1]])) {
            Some(op) if bytes > 0 => out.push_back(self.request(record, op, bytes)?),
            _ => self.left_out += 1,
        }
        Ok(())
    }

    fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// Returns what a SCSI command does, by its operation code: READ and WRITE (6), (10), (12) and (16), WRITE AND VERIFY.
fn operation(command: u16) -> Option<Op> {
    match command {
        0x08 | 0x28 | 0x88 | 0xa8 => Some(Op::Read),
        0x0a | 0x2a | 0x8a | 0xaa | 0x2e | 0x8e | 0xae => Some(Op::Write),
        _ => None,
    }
}

/// Returns the number of four bytes at `at`.
pub(super) fn u32_at(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(record[at..at + 4].try_into().expect("four bytes"))
}

/// Returns the number of eight bytes at `at`.
pub(super) fn u64_at(record: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(record[at..at + 8].try_into().expect("eight bytes"))
}
