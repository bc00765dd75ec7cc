//! Traces of Florida International University (SNIA IOTTA): `ns process-id process first-sector sectors R|W major minor md5`, 512-byte sectors.

use super::{Devices, Raw, sectors};
use crate::fields::{Fields, op, whole};

const FORM: &str = "ns process-id process sector count R|W major minor";

#[inline]
pub fn parse(line: &[u8], devices: &mut Devices) -> Result<Raw, String> {
    let fields = Fields::by_blank(line).at_least(8, FORM)?;
    if !fields.get(5).first().is_some_and(u8::is_ascii_alphabetic) {
        return Err("the sixth field is neither R nor W".to_owned());
    }
    let time_ns = whole(fields.get(0), "time in ns")?;
    let address = sectors(fields.get(3), "sector number")?;
    let bytes = sectors(fields.get(4), "number of sectors")?;
    let (major, minor) = (fields.get(6), fields.get(7));
    whole(major, "device number").and_then(|_| whole(minor, "device number"))?;
    let device = devices.number(&[major, b":", minor].concat())?;
    Ok(Raw { time_ns: Some(time_ns), device, ..Raw::new(op(fields.get(5))?, Some(address), bytes)? })
}
