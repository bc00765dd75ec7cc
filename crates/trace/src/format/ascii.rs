//! DiskSim ASCII traces, as in the DiskSim manual: `arrival-ms device first-sector sectors flags`.

use headrace_work::Op;

use super::{Devices, Raw, sectors};
use crate::fields::{Fields, scaled, shown};

const FORM: &str = "arrival-ms device sector count flags";

/// The flag of a read.
const READ: u64 = 1;

#[inline]
pub fn parse(line: &[u8], devices: &mut Devices) -> Result<Raw, String> {
    let fields = Fields::by_blank(line).at_least(5, FORM)?;
    let time_ns = scaled(fields.get(0), 1_000_000, "time in ms")?;
    let op = if flags(fields.get(4))? & READ == READ { Op::Read } else { Op::Write };
    let address = sectors(fields.get(2), "sector number")?;
    let bytes = sectors(fields.get(3), "number of sectors")?;
    let device = devices.number(fields.get(1))?;
    Ok(Raw { time_ns: Some(time_ns), device, ..Raw::new(op, Some(address), bytes)? })
}

/// Hexadecimal, with or without `0x`.
fn flags(field: &[u8]) -> Result<u64, String> {
    let text = std::str::from_utf8(field).unwrap_or("?");
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16).map_err(|_| format!("flags `{}` are not hexadecimal", shown(field)))
}
