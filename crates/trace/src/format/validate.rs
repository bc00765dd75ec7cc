//! DiskSim validation traces, as in the DiskSim distribution: `R|W outcome first-sector sectors measured-µs think-µs`.

use headrace_units::Nanos;

use super::{Devices, Raw, sectors};
use crate::fields::{Fields, op, scaled};

const FORM: &str = "R|W outcome sector count measured-µs think-µs";

#[inline]
pub fn parse(line: &[u8], _: &mut Devices) -> Result<Raw, String> {
    let fields = Fields::by_blank(line).at_least(6, FORM)?;
    if !fields.get(0).first().is_some_and(u8::is_ascii_alphabetic) {
        return Err("the first field is neither R nor W".to_owned());
    }
    let address = sectors(fields.get(2), "sector number")?;
    let bytes = sectors(fields.get(3), "number of sectors")?;
    let microseconds = |at| scaled(fields.get(at), 1000, "time in µs").map(|ns| Some(Nanos(ns)));
    Ok(Raw {
        response: microseconds(4)?,
        think: microseconds(5)?,
        ..Raw::new(op(fields.get(0))?, Some(address), bytes)?
    })
}
