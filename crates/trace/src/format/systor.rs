//! Traces of LUNs of the SYSTOR '17 collection (SNIA IOTTA): `Timestamp,Response,IOType,LUN,Offset,Size`, times in seconds. The response is
//! missing from some lines.

use std::collections::VecDeque;

use headrace_units::Nanos;

use super::{Devices, LineParser, Raw};
use crate::fields::{Fields, op, scaled, whole};

const FORM: &str = "Timestamp,Response,IOType,LUN,Offset,Size";

/// Nanoseconds of the unit of times, a second.
const UNIT: u64 = 1_000_000_000;

/// Parses the lines of one file, the first of which has the names of its columns.
#[derive(Default)]
pub struct Systor {
    has_begun: bool,
}

impl LineParser for Systor {
    #[inline]
    fn line(&mut self, line: &[u8], devices: &mut Devices, out: &mut VecDeque<Raw>) -> Result<(), String> {
        if !std::mem::replace(&mut self.has_begun, true) && line.trim_ascii() == FORM.as_bytes() {
            return Ok(());
        }
        out.push_back(parse(line, devices)?);
        Ok(())
    }
}

#[inline]
fn parse(line: &[u8], devices: &mut Devices) -> Result<Raw, String> {
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
