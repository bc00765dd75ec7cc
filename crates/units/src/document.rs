//! Form of quantities in a document: text with a unit. Their schema has a pattern and the keyword `x-unit`,
//! by which the checker of scenarios knows how to read them (see [`read`]).

use std::borrow::Cow;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::kind::{BITS, ERRORS, FAILURES, FREQUENCY, SIZE, TIME, alternatives};
use crate::{
    Bytes, BytesPerSecond, Fraction, HOUR, Nanos, PerBit, PerSecond, PerSecondOrShare, PerYear, Rate, Shift,
    UnitError,
};

/// The number that `text` is, as a quantity of the kind that a schema's `x-unit` names: in ns, bytes, bytes a second, events a
/// second, as a share of one, failures a year, or errors a bit. `None` where no such kind exists.
pub fn read(x_unit: &str, text: &str) -> Option<Result<f64, UnitError>> {
    match x_unit {
        "time" => Some(text.parse::<Nanos>().map(|time| time.0 as f64)),
        "time difference" => Some(text.parse::<Shift>().map(|shift| shift.0 as f64)),
        "size" => Some(text.parse::<Bytes>().map(|size| size.0 as f64)),
        "data rate" => Some(text.parse::<BytesPerSecond>().map(BytesPerSecond::get)),
        "frequency" => Some(text.parse::<PerSecond>().map(PerSecond::get)),
        "frequency or share" => Some(text.parse::<PerSecondOrShare>().map(|of| match of {
            PerSecondOrShare::PerSecond(rate) => rate.0,
            PerSecondOrShare::Share(share) => share,
        })),
        "frequency or zero" => Some(text.parse::<Rate>().map(Rate::get)),
        "share" => Some(text.parse::<Fraction>().map(Fraction::get)),
        "failure rate" => Some(text.parse::<PerYear>().map(PerYear::get)),
        "error rate" => Some(text.parse::<PerBit>().map(PerBit::get)),
        _ => None,
    }
}

struct Text<T>(std::marker::PhantomData<T>);

impl<T: FromStr<Err = UnitError>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number with its unit")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

/// Returns the pattern of a number with one of these units.
fn pattern(units: &str) -> String {
    format!(r"^\s*[0-9.eE_+-]+\s*({units})\s*$")
}

/// The text that reads back as exactly this value.
trait Exact {
    fn exact(&self) -> String;
}

impl Exact for Nanos {
    fn exact(&self) -> String {
        let of = |unit: f64| self.0 as f64 / unit;
        match self.0 {
            0 => "0 s".to_owned(),
            hours if hours.is_multiple_of(HOUR as u64) => format!("{} h", hours / HOUR as u64),
            short if short < 1_000 => format!("{short} ns"),
            short if short < 1_000_000 => format!("{} us", of(1e3)),
            short if short < 1_000_000_000 => format!("{} ms", of(1e6)),
            long if long < 1 << 50 => format!("{} s", of(1e9)),
            // Two roundings, when written and when read, would miss a nanosecond.
            long => format!("{long} ns"),
        }
    }
}
impl Exact for Shift {
    fn exact(&self) -> String {
        let sign = if self.0 < 0 { "-" } else { "" };
        format!("{sign}{}", Nanos(self.0.unsigned_abs()).exact())
    }
}
impl Exact for Bytes {
    fn exact(&self) -> String {
        let (number, unit) = self.whole();
        format!("{number} {unit}")
    }
}
impl Exact for BytesPerSecond {
    fn exact(&self) -> String {
        let units = [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")];
        let reads_back = |unit: f64| self.0 >= unit && self.0 / unit * unit == self.0;
        let largest = units.into_iter().find(|(unit, _)| reads_back(*unit));
        let (unit, name) = largest.unwrap_or((1.0, "B/s"));
        format!("{} {name}", self.0 / unit)
    }
}
impl Exact for PerSecond {
    fn exact(&self) -> String {
        format!("{} /s", self.0)
    }
}
impl Exact for PerSecondOrShare {
    fn exact(&self) -> String {
        match self {
            Self::PerSecond(rate) => rate.exact(),
            Self::Share(share) => format!("{} %", share * 100.0),
        }
    }
}
impl Exact for Rate {
    fn exact(&self) -> String {
        PerSecond(self.0).exact()
    }
}
impl Exact for PerYear {
    fn exact(&self) -> String {
        format!("{} /year", self.0)
    }
}
impl Exact for PerBit {
    fn exact(&self) -> String {
        format!("{:e} /bit", self.0)
    }
}
impl Exact for Fraction {
    fn exact(&self) -> String {
        self.0.to_string()
    }
}

macro_rules! document {
    ($unit:ident, $schema:tt) => {
        impl<'de> Deserialize<'de> for $unit {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Text(std::marker::PhantomData))
            }
        }

        impl Serialize for $unit {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.exact())
            }
        }

        impl JsonSchema for $unit {
            fn schema_name() -> Cow<'static, str> {
                stringify!($unit).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

document!(Nanos, {
    "type": "string",
    "x-unit": "time",
    "pattern": pattern(&alternatives(TIME.units)),
    "examples": ["8.5 ms", "10 s"]
});
document!(Shift, {
    "type": "string",
    "x-unit": "time difference",
    "pattern": pattern(&alternatives(TIME.units)),
    "examples": ["0.5 ms", "-0.2 ms"]
});
document!(Bytes, {
    "type": "string",
    "x-unit": "size",
    "pattern": pattern(&alternatives(SIZE.units)),
    "examples": ["64 KiB", "2 GB"]
});
document!(BytesPerSecond, {
    "type": "string",
    "x-unit": "data rate",
    "pattern": pattern(&format!(r"({}|{})\s*/.*({})", alternatives(SIZE.units), alternatives(BITS), alternatives(TIME.units))),
    "examples": ["150 MB/s", "2 Gb/s"]
});
document!(PerSecond, {
    "type": "string",
    "x-unit": "frequency",
    "pattern": pattern(&alternatives(FREQUENCY.units)),
    "examples": ["50 /s", "7200 rpm"]
});
document!(PerSecondOrShare, {
    "type": "string",
    "x-unit": "frequency or share",
    "pattern": pattern(&format!("{}|%", alternatives(FREQUENCY.units))),
    "examples": ["50 /s", "150 %"]
});
document!(Rate, {
    "type": "string",
    "x-unit": "frequency or zero",
    "pattern": pattern(&alternatives(FREQUENCY.units)),
    "examples": ["50 /s", "0 /s"]
});
document!(PerYear, {
    "type": "string",
    "x-unit": "failure rate",
    "pattern": pattern(&alternatives(FAILURES.units)),
    "examples": ["1.4 %/year", "0.02 /year"]
});
document!(PerBit, {
    "type": "string",
    "x-unit": "error rate",
    "pattern": pattern(&alternatives(ERRORS.units)),
    "examples": ["1e-15 /bit"]
});
document!(Fraction, { "type": ["string", "number"], "x-unit": "share", "examples": ["70 %", 0.7] });

#[cfg(test)]
mod tests {
    use crate::*;

    #[test]
    fn the_pattern_of_a_quantity_lists_its_units() {
        let pattern = |schema: schemars::Schema| schema.get("pattern").unwrap().as_str().unwrap().to_owned();
        let time = pattern(schemars::schema_for!(Nanos));
        assert_eq!(time, r"^\s*[0-9.eE_+-]+\s*(ns|us|µs|μs|ms|s|min|h|d)\s*$");
        let frequency = pattern(schemars::schema_for!(PerSecond));
        assert_eq!(frequency, r"^\s*[0-9.eE_+-]+\s*(/\s*ms|/\s*s|/\s*min|/\s*h|Hz|rpm)\s*$");
        assert_eq!(frequency, pattern(schemars::schema_for!(Rate)));
        assert!(
            pattern(schemars::schema_for!(BytesPerSecond))
                .contains(r"PiB|b|kb|Mb|Gb|Tb|bit|kbit|Mbit|Gbit|Tbit)\s*/.*(ns|us")
        );
    }

    #[test]
    fn a_document_keeps_the_value_exactly() {
        let rate: BytesPerSecond = "512 B/0.012064 ms".parse().unwrap();
        let written = serde_json::to_string(&rate).unwrap();
        assert_eq!(serde_json::from_str::<BytesPerSecond>(&written).unwrap(), rate);
        assert_eq!(serde_json::to_string(&Nanos(8_500_000)).unwrap(), "\"8.5 ms\"");
        assert_eq!(serde_json::to_string(&Bytes(65_536)).unwrap(), "\"64 KiB\"");
    }
}
