//! Block traces of Alibaba's cloud (github.com/alibaba/block-traces, 2020): `device,R|W,offset,bytes,µs`. Times count from 1970.

use super::{Devices, Raw};
use crate::fields::{Fields, op, scaled, whole};

const FORM: &str = "device,R|W,offset,bytes,µs";

#[inline]
pub fn parse(line: &[u8], devices: &mut Devices) -> Result<Raw, String> {
    let fields = Fields::by_comma(line).at_least(5, FORM)?;
    if !fields.get(1).first().is_some_and(u8::is_ascii_alphabetic) {
        return Err("the second field is neither R nor W".to_owned());
    }
    let address = whole(fields.get(2), "offset in bytes")?;
    let bytes = whole(fields.get(3), "size in bytes")?;
    let time_ns = scaled(fields.get(4), 1000, "time in µs")?;
    let device = devices.number(fields.get(0))?;
    Ok(Raw { time_ns: Some(time_ns), device, ..Raw::new(op(fields.get(1))?, Some(address), bytes)? })
}
