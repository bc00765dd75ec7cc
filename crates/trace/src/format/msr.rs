//! MSR Cambridge block traces, as in the README of the collection (SNIA IOTTA): `Timestamp,Hostname,DiskNumber,Type,Offset,
//! Size,ResponseTime`. Times are Windows file times, in 100 ns.

use headrace_units::Nanos;

use super::{Devices, Raw};
use crate::fields::{Fields, op, scaled, whole};

const FORM: &str = "filetime,host,disk,Read|Write,offset,bytes,response";

/// Copies of the collection may begin with the names of its columns, the first of which is this.
pub const HEADER: &[u8] = b"Timestamp,";

#[inline]
pub fn parse(line: &[u8], devices: &mut Devices) -> Result<Raw, String> {
    let fields = Fields::by_comma(line).at_least(7, FORM)?;
    let time_ns = scaled(fields.get(0), 100, "time in 100 ns")?;
    let op = op(fields.get(3))?;
    let address = whole(fields.get(4), "offset in bytes")?;
    let bytes = whole(fields.get(5), "size in bytes")?;
    let response = scaled(fields.get(6), 100, "time in 100 ns")?;
    let device = devices.number(host_and_disk(line))?;
    Ok(Raw {
        time_ns: Some(time_ns),
        device,
        response: Some(Nanos(response)),
        ..Raw::new(op, Some(address), bytes)?
    })
}

/// Fields two and three, verbatim.
fn host_and_disk(line: &[u8]) -> &[u8] {
    let mut commas = memchr::memchr_iter(b',', line);
    let begin = commas.next().map_or(0, |at| at + 1);
    &line[begin..commas.nth(1).unwrap_or(line.len())]
}
