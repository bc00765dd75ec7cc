//! The kinds of quantities: their units, and what people write instead of them.

use crate::UnitError;

/// A kind of quantity: its name, its units with their size in the base unit, and texts for error messages.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) units: &'static [(&'static str, f64)],
    pub(crate) accepted: &'static str,
    /// What to write: its name and an example with its first usual unit.
    like: (&'static str, &'static str),
    /// Units that a bare number probably has.
    usual: &'static [&'static str],
    /// Common misspellings, in lower case, and the units that they may mean.
    pub(crate) slips: &'static [(&'static [&'static str], &'static [&'static str])],
}

pub(crate) const TIME: Kind = Kind {
    name: "time",
    units: &[
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("μs", 1e3), // The Greek letter, which looks the same as the sign for micro.
        ("ms", 1e6),
        ("s", 1e9),
        ("min", 60e9),
        ("h", 3600e9),
        ("d", 86_400e9),
    ],
    accepted: "ns, µs (us), ms, s, min, h or d",
    like: ("a time", "8.5"),
    usual: &["ms", "s"],
    slips: &[
        (&["nsec", "nanoseconds"], &["ns"]),
        (&["usec", "microseconds", "mcs"], &["µs"]),
        (&["msec", "milliseconds", "millis"], &["ms"]),
        (&["sec", "secs", "second", "seconds"], &["s"]),
        (&["m"], &["min", "ms"]),
        (&["mins", "minute", "minutes"], &["min"]),
        (&["hr", "hrs", "hour", "hours"], &["h"]),
        (&["day", "days"], &["d"]),
    ],
};

pub(crate) const SIZE: Kind = Kind {
    name: "size",
    units: &[
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("PB", 1e15),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
        ("PiB", 1_125_899_906_842_624.0),
    ],
    accepted: "B, kB, MB, GB, TB, PB (1000s) or KiB, MiB, GiB, TiB, PiB (1024s)",
    like: ("a size", "64"),
    usual: &["KiB", "B"],
    slips: &[
        (&["byte", "bytes"], &["B"]),
        (&["k", "kib", "kb"], &["KiB", "kB"]),
        (&["m", "mib", "mb"], &["MiB", "MB"]),
        (&["g", "gib", "gb"], &["GiB", "GB"]),
        (&["t", "tib", "tb"], &["TiB", "TB"]),
    ],
};

/// Bits are units of a rate only: nobody sizes a request in them, and a slip of case would cost a factor of eight.
pub(crate) const BITS: &[(&str, f64)] = &[
    ("b", 0.125),
    ("kb", 125.0),
    ("Mb", 125e3),
    ("Gb", 125e6),
    ("Tb", 125e9),
    ("bit", 0.125),
    ("kbit", 125.0),
    ("Mbit", 125e3),
    ("Gbit", 125e6),
    ("Tbit", 125e9),
];

pub(crate) const RATE: Kind = Kind {
    name: "data rate",
    units: &[],
    accepted: "a size over a time: `150 MB/s`, `2 Gb/s` (bits), `512 B/12 µs`",
    like: ("a data rate", "150"),
    usual: &["MB/s"],
    slips: &[
        (&["kbps", "kb/s", "kb/sec", "k/s"], &["kB/s", "kb/s"]),
        (&["mbps", "mb/s", "mb/sec", "m/s", "mb", "m"], &["MB/s", "Mb/s"]),
        (&["gbps", "gb/s", "gb/sec", "g/s", "gb", "g"], &["GB/s", "Gb/s"]),
        (&["mibps", "mib/sec", "mib"], &["MiB/s"]),
        (&["gibps", "gib/sec", "gib"], &["GiB/s"]),
    ],
};

pub(crate) const FREQUENCY: Kind = Kind {
    name: "frequency",
    units: &[
        ("/ms", 1e3),
        ("/s", 1.0),
        ("/min", 1.0 / 60.0),
        ("/h", 1.0 / 3600.0),
        ("Hz", 1.0),
        ("rpm", 1.0 / 60.0),
    ],
    accepted: "/ms, /s, /min, /h, Hz or rpm",
    like: ("a frequency", "50"),
    usual: &["/s"],
    slips: &[
        (
            &[
                "iops",
                "io/s",
                "ios/s",
                "ops",
                "ops/s",
                "rps",
                "req/s",
                "requests/s",
                "per second",
                "s",
                "1/s",
                "/sec",
                "/second",
                "hz",
            ],
            &["/s"],
        ),
        (&["kiops", "k iops", "k/s", "k /s", "khz", "1/ms", "/msec", "ms"], &["/ms"]),
        (&["min", "1/min", "/minute", "per minute"], &["/min"]),
        (&["h", "1/h", "/hour", "per hour"], &["/h"]),
    ],
};

pub(crate) const SHARE: Kind = Kind {
    name: "share",
    units: &[("%", 0.01)],
    accepted: "% (or a number from 0 to 1)",
    like: ("a share", "70"),
    usual: &["%"],
    slips: &[(&["percent", "pct", "per cent"], &["%"])],
};

pub(crate) const FAILURES: Kind = Kind {
    name: "failure rate",
    units: &[("%/year", 0.01), ("/year", 1.0), ("FIT", 8.766e-6)],
    accepted: "%/year, /year or FIT (failures in 10⁹ h)",
    like: ("a failure rate", "1.4"),
    usual: &["%/year"],
    slips: &[
        (&["%", "%/yr", "%/y", "%/a", "%afr", "afr", "percent/year", "%peryear"], &["%/year"]),
        (&["/yr", "/y", "/a", "peryear", "year"], &["/year"]),
    ],
};

pub(crate) const ERRORS: Kind = Kind {
    name: "error rate",
    units: &[("/bit", 1.0), ("/TB", 1.25e-13)],
    accepted: "/bit or /TB",
    like: ("an error rate", "1e-15"),
    usual: &["/bit"],
    slips: &[(&["/b", "bit", "/bits", "perbit"], &["/bit"]), (&["tb", "pertb"], &["/TB"])],
};

impl Kind {
    /// The error on a text that does not begin with a number: a unit alone, or anything else.
    pub(crate) fn without_number(&self, text: &str) -> UnitError {
        let (name, number) = self.like;
        let unit = self.units.iter().find(|(unit, _)| *unit == text.trim());
        let like = unit.map_or_else(
            || format!("{name} such as `{number} {}`", self.usual[0]),
            |(unit, _)| format!("`1 {unit}`"),
        );
        UnitError::NoNumber { text: text.to_owned(), like }
    }

    /// The error on a number without a unit.
    pub(crate) fn without_unit(&self, number: &str) -> UnitError {
        let each: Vec<String> = self.usual.iter().map(|unit| format!("`{number} {unit}`")).collect();
        let like = format!("{} such as {}", self.like.0, each.join(" or "));
        UnitError::NoUnit { text: number.to_owned(), like }
    }

    /// The error on a unit that is none of this kind, with what was probably meant.
    pub(crate) fn unknown(&self, number: &str, unit: &str) -> UnitError {
        let lower = unit.to_lowercase();
        let meant = self.slips.iter().find(|(written, _)| written.contains(&lower.as_str()));
        let fix = meant.map_or_else(
            || format!("use {}", self.accepted),
            |(_, units)| {
                let each: Vec<String> =
                    units.iter().map(|unit| format!("`{number} {unit}`{}", count(unit))).collect();
                format!("write {}", each.join(" or "))
            },
        );
        UnitError::UnknownUnit { unit: unit.to_owned(), kind: self.name, fix }
    }
}

/// Returns units as alternatives of a regular expression; a blank is allowed after a slash.
pub(crate) fn alternatives(units: &[(&str, f64)]) -> String {
    let units: Vec<String> = units.iter().map(|(unit, _)| unit.replace('/', r"/\s*")).collect();
    units.join("|")
}

/// Returns a note on a unit that is easily taken for another; empty for other units.
fn count(unit: &str) -> &'static str {
    match unit {
        _ if unit.contains("iB") => " (1024s)",
        "kB" | "MB" | "GB" | "TB" => " (1000s)",
        _ if unit.ends_with("B/s") => " (bytes)",
        _ if unit.ends_with("b/s") => " (bits)",
        _ => "",
    }
}
