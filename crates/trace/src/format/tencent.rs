//! Traces of Tencent's cloud block storage (SNIA IOTTA, 2020): `s,first-sector,sectors,0|1,volume`, 512-byte sectors; 1 is a write. Times are
//! whole seconds since 1970: the requests of a second are spread evenly over it.

use std::collections::VecDeque;

use super::seconds::Second;
use super::{Devices, LineParser, Raw, sectors};
use crate::fields::{Fields, op, whole};

const FORM: &str = "s,sector,count,0|1,volume";
const COLUMNS: usize = 5;

/// Parses the lines of one file.
#[derive(Default)]
pub struct Tencent(Second);

impl LineParser for Tencent {
    #[inline]
    fn line(&mut self, line: &[u8], devices: &mut Devices, out: &mut VecDeque<Raw>) -> Result<(), String> {
        let fields = Fields::by_comma(line).at_least(COLUMNS, FORM)?;
        if fields.count > COLUMNS || !matches!(fields.get(3), b"0" | b"1") {
            return Err(format!("the line is no `{FORM}`"));
        }
        let second = whole(fields.get(0), "time in seconds")?;
        let address = sectors(fields.get(1), "sector number")?;
        let bytes = sectors(fields.get(2), "number of sectors")?;
        whole(fields.get(4), "number of a volume")?;
        let device = devices.number(fields.get(4))?;
        self.0.hold(second, Raw { device, ..Raw::new(op(fields.get(3))?, Some(address), bytes)? }, out)
    }

    fn end(&mut self, out: &mut VecDeque<Raw>) {
        self.0.release(out);
    }
}
