use super::*;
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
    fn any_text_is_read_or_refused(text in "[a-z0-9 ().,*/+<>=!é-]{0,40}") {
        let _ = Expression::parse(&text, &NAMES);
    }
}
