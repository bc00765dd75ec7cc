//! Traces of LUNs of the SYSTOR '17 collection (SNIA IOTTA): `Timestamp,Response,IOType,LUN,Offset,Size`, times in seconds. The response is
//! missing from some lines.

use headrace_units::Nanos;

use super::{Devices, Raw};
use crate::fields::{Fields, op, scaled, whole};

const FORM: &str = "Timestamp,Response,IOType,LUN,Offset,Size";

/// A file begins with the names of its columns, the first of which is this.
pub const HEADER: &[u8] = b"Timestamp,";

/// Nanoseconds of the unit of times, a second.
const UNIT: u64 = 1_000_000_000;

#[inline]
pub fn parse(line: &[u8], devices: &mut Devices) -> Result<Raw, String> {
    let fields = Fields::by_comma(line).at_least(6, FORM)?;
    if !fields.get(2).first().is_some_and(u8::is_ascii_alphabetic) {
        return Err("the third field is neither R nor W".to_owned());
    }
    let time_ns = scaled(fields.get(0), UNIT, "time in seconds")?;
    let response = match fields.get(1) {
        b"" => None,
        field => Some(Nanos(scaled(field, UNIT, "time in seconds")?)),
    };
    let address = whole(fields.get(4), "offset in bytes")?;
    let bytes = whole(fields.get(5), "size in bytes")?;
    let device = devices.number(fields.get(3))?;
    Ok(Raw {
        time_ns: Some(time_ns),
        device,
        response,
        ..Raw::new(op(fields.get(2))?, Some(address), bytes)?
    })
}
