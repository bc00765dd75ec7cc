//! Storage Performance Council traces, as in the trace file format specification 1.0.1: `ASU,LBA,Size,Opcode,Timestamp`.
//! 512-byte blocks, sizes in bytes, times in seconds. Optional fields are ignored.

use super::{Devices, Raw, sectors};
use crate::fields::{Fields, op, scaled, whole};

const FORM: &str = "unit,sector,bytes,R|W,seconds";

#[inline]
pub fn parse(line: &[u8], devices: &mut Devices) -> Result<Raw, String> {
    let fields = Fields::by_comma(line).at_least(5, FORM)?;
    if !fields.get(3).first().is_some_and(u8::is_ascii_alphabetic) {
        return Err("the fourth field is neither R nor W".to_owned());
    }
    let time_ns = scaled(fields.get(4), 1_000_000_000, "time in seconds")?;
    let address = sectors(fields.get(1), "sector number")?;
    let bytes = whole(fields.get(2), "size in bytes")?;
    let device = devices.number(fields.get(0))?;
    Ok(Raw { time_ns: Some(time_ns), device, ..Raw::new(op(fields.get(3))?, Some(address), bytes)? })
}
