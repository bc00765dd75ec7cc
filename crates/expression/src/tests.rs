use super::*;
use headrace_units::Dimension;
use proptest::prelude::*;

const NAMES: [&str; 2] = ["size", "age"];

fn read(text: &str) -> Expression {
    Expression::parse(text, &NAMES).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn values_are_those_of_arithmetic() {
    let cases = [
        ("1 + 2 * 3 - 4 / 8", 6.5),
        ("2 ** 3 ** 2", 512.0),
        ("-2 ** 2", -4.0),
        ("2 ** -1", 0.5),
        ("(1 + 2) * -3", -9.0),
        ("size - age - 1", 1.5),
        ("ceil(size) * ceil(age) ** 1.5", 5.0 * libm::pow(2.0, 1.5)),
        ("if(size > 4, 10, 20) + (age <= 2) + (age == 2) + (age != 2)", 12.0),
        (
            "min(size, age, 1e1) + max(1.5e+0, .5) + round(2.4) + floor(2.9) + sqrt(16) + abs(-1) + log(1)",
            2.0 + 1.5 + 2.0 + 2.0 + 4.0 + 1.0,
        ),
        ("size >= age", 1.0),
    ];
    for (text, value) in cases {
        assert_eq!(read(text).value(&[4.5, 2.0]), value, "{text}");
    }
}

#[test]
fn mistakes_are_reported_with_their_column() {
    let cases = [
        ("sise * 2", 1, "unknown name `sise`; variables are size, age; functions are ceil"),
        ("size * * 2", 8, "`* 2` is unexpected"),
        ("(size + 2", 1, "this parenthesis is not closed"),
        ("size +", 7, "the expression ends here"),
        ("2 + ceil", 5, "`ceil` is a function: write `ceil(…)`"),
        ("if(size, 1)", 1, "`if` takes 3 arguments, not 2"),
        ("min(size)", 1, "`min` takes at least 2 arguments, not 1"),
        ("size 2", 6, "`2` is unexpected"),
        ("1.2.3", 1, "`1.2.3` is not a number"),
        ("1e999", 1, "is not a number"),
        ("ä(1)", 1, "unknown name `ä`"),
        ("size; drop", 5, "`; drop` is unexpected"),
    ];
    for (text, column, says) in cases {
        let error = Expression::parse(text, &NAMES).unwrap_err();
        assert!(error.column == column && error.message.contains(says), "{text}: {error}");
    }
    let deep = "(".repeat(60) + "1";
    assert!(Expression::parse(&deep, &NAMES).unwrap_err().message.contains("nested more than"));
    assert!(Expression::parse(&"-".repeat(100_000), &NAMES).is_err());
}

#[test]
fn what_can_only_rise_with_age_is_known() {
    let rises = [
        "ceil(size) * ceil(age) ** 1.5",
        "age",
        "size",
        "age / (1 + size)",
        "log(age + 1) - 1 / (age + 1)",
        "if(size > 2, 1, 2) * age",
        "max(age, 24) + sqrt(age)",
        "(age > 24) * size",
    ];
    let unknown = [
        "-age",
        "size - age",
        "size / age",
        "if(age > 2, 1, 2)",
        "(age - 5) * size * (age - 5)",
        "2 ** age",
        "abs(age - 3)",
        "(age - 5) ** 2",
        "age < 5",
    ];
    assert!(rises.iter().all(|text| read(text).rises_with(1)));
    for text in unknown {
        assert!(!read(text).rises_with(1), "{text}");
    }
}

fn quantity(text: &str, values: &[&str]) -> Result<(f64, Dimension), ParseError> {
    let values: Vec<Quantity> = values.iter().map(|text| text.parse().unwrap()).collect();
    let found = Expression::open(text)?.quantity(&values)?;
    Ok((found.number, found.dimension))
}

#[test]
fn quantities_are_combined_with_their_units() {
    let cases: [(&str, &[&str], f64, Dimension); 14] = [
        ("8000 * drives + 20 * volume / 1 TB", &["4", "500 GB"], 32_010.0, Dimension::NONE),
        ("unit * (disks - 1)", &["64 KiB", "5"], 262_144.0, Dimension::SIZE),
        ("1 MiB / 8 ms", &[], 131_072_000.0, Dimension::RATE),
        ("2 * 100 MB/s", &[], 2e8, Dimension::RATE),
        ("2 Gb/s + 1 MB / 1 s", &[], 251e6, Dimension::RATE),
        ("100 /s * 2", &[], 200.0, Dimension::FREQUENCY),
        ("1 / 10 ms", &[], 100.0, Dimension::FREQUENCY),
        ("8ms + 1e3 us", &[], 0.009, Dimension::TIME),
        ("max(0, a - b)", &["1 MB", "3 MB"], 0.0, Dimension::SIZE),
        ("min(5 MB, a, b, 2 MB, 7 MB)", &["1 MB", "3 MB"], 1e6, Dimension::SIZE),
        ("max(5 MB, a, b)", &["1 MB", "9 MB"], 9e6, Dimension::SIZE),
        ("if(a > 1 GB, 2 s, 3 s) * 50 %", &["2 GB"], 1.0, Dimension::TIME),
        ("sqrt(a ** 2) + a", &["2 ms"], 0.004, Dimension::TIME),
        ("ceil(library.groups[0].size / 1 TB)", &["1.5 TB"], 2.0, Dimension::NONE),
    ];
    for (text, values, number, dimension) in cases {
        let (found, its) = quantity(text, values).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!((found - number).abs() <= 1e-12 * number.abs() && its == dimension, "{text}: {found} {its}");
    }
}

#[test]
fn names_are_paths_and_each_is_listed_once() {
    let names = |text: &str| Expression::open(text).unwrap().names().to_vec();
    assert_eq!(names("a.b * groups[0].drives - groups.0.drives / a.b"), ["a.b", "groups.0.drives"]);
    assert_eq!(names("3 / s.x + 3 / s + 3 /s"), ["s.x"], "a number over a time is a frequency");
    assert_eq!(names("1 MB / s.x"), ["s.x"]);
}

#[test]
fn units_that_do_not_fit_are_reported_with_their_column() {
    let cases: [(&str, &[&str], usize, &str); 11] = [
        ("1 + a + 2 s", &["1 MB"], 3, "a plain number and a size cannot be added or subtracted"),
        (
            "a * (b + 1 s)",
            &["2", "1 MB"],
            8,
            "a size and a time cannot be added or subtracted; divide by a unit",
        ),
        ("ceil(a)", &["1 MB"], 1, "must be a plain number, not a size; divide by a unit, such as `/ 1 GB`"),
        ("2 ** a", &["1 s"], 3, "an exponent must be a plain number, not a time"),
        ("a ** 1.5", &["1 s"], 3, "the base of this power must be a plain number, not a time"),
        ("sqrt(a)", &["1 MB"], 1, "the argument of `sqrt` must be a plain number, not a size"),
        ("a > 3", &["1 MB"], 3, "a plain number and a size cannot be compared"),
        ("1 / (a - a)", &["2"], 1, "the result is inf: a division by zero, or an overflow"),
        ("2 + 3 furlongs", &[], 5, "unknown unit of a quantity `furlongs`"),
        ("64 KB * 2", &[], 1, "could mean 1000 or 1024"),
        ("p99(readers) + 1", &[], 1, "unknown function `p99`; functions are ceil"),
    ];
    for (text, values, column, says) in cases {
        let error = quantity(text, values).unwrap_err();
        assert!(error.column == column && error.message.contains(says), "{text}: {error}");
    }
    let weight = Expression::parse("size * 1 MB", &NAMES).unwrap_err();
    assert!(weight.message.contains("the result is a size, not a plain number"), "{weight}");
    let long = vec!["1"; 20_000].join("+");
    assert!(Expression::parse(&long, &NAMES).unwrap_err().message.contains("more than 1000 operators"));
}

fn any_expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["size", "age", "1", "2.5", "0"]).prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let two =
            (inner.clone(), prop::sample::select(vec!["+", "-", "*", "/", "**", "<", "<="]), inner.clone());
        let one = (prop::sample::select(vec!["ceil", "sqrt", "abs", "-", "log"]), inner.clone());
        prop_oneof![
            two.prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            one.prop_map(|(function, a)| format!("{function}({a})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("max({a}, {b})")),
        ]
    })
}

proptest! {
    /// A split expression has the value of the whole; one that is said to rise does so on a grid.
    #[test]
    fn splitting_keeps_the_value_and_rising_is_true(text in any_expression(), size in 0.0f64..9.0) {
        let (whole, mut scratch) = (read(&text), Vec::new());
        let split = whole.split(1);
        let values: Vec<f64> = (0..60).map(|step| whole.value(&[size, f64::from(step) / 4.0])).collect();
        for (step, value) in (0..60).zip(&values) {
            let age = f64::from(step) / 4.0;
            let found = split.value(age, &split.parts(&[size, age]), &mut scratch);
            prop_assert!(found == *value || (found.is_nan() && value.is_nan()));
        }
        if whole.rises_with(1) {
            for pair in values.windows(2) {
                prop_assert!(pair[0] <= pair[1] || pair[0].is_nan() || pair[1].is_nan(), "{text}: {pair:?}");
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[a-z0-9 ().,*/+<>=!é-]{0,40}|\\PC{0,40}|([0-9.e]{1,4}|[ /%*+(]|MB|s|ms|size|µs|\\[0\\]){0,12}") {
        for parsed in [Expression::parse(&text, &NAMES), Expression::open(&text)] {
            match parsed {
                Ok(expression) => {
                    let one = Quantity { number: 1.0, dimension: Dimension::SIZE };
                    let _ = expression.quantity(&vec![one; expression.names().len()]);
                }
                Err(error) => prop_assert!((1..=text.chars().count() + 1).contains(&error.column)),
            }
        }
    }
}
