//! Expressions of fields for Python, which finds the values of their names.

use headrace_expression::Expression;
use headrace_units::{Dimension, Quantity};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Number in base units with its powers of bytes and of seconds.
type Parts = (f64, i32, i32);

const fn parts(quantity: Quantity) -> Parts {
    let Quantity { number, dimension: Dimension { bytes, seconds } } = quantity;
    (number, bytes, seconds)
}

/// An expression that was parsed.
#[pyclass(frozen, name = "Expression", module = "headrace._core")]
pub struct ParsedExpression(Expression);

#[pymethods]
impl ParsedExpression {
    /// Names of the variables, in the order in which `evaluate` takes their values.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names().to_vec()
    }

    /// Evaluates the expression; raises `ValueError` with the column of quantities that cannot be combined.
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over lists")]
    fn evaluate(&self, values: Vec<Parts>) -> PyResult<Parts> {
        if values.len() != self.0.names().len() {
            return Err(PyValueError::new_err(format!(
                "expected one value for each of {:?}",
                self.0.names()
            )));
        }
        let values = values
            .iter()
            .map(|&(number, bytes, seconds)| Quantity { number, dimension: Dimension { bytes, seconds } });
        let found = self.0.quantity(&values.collect::<Vec<_>>());
        found.map(parts).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// Parses an expression; raises `ValueError` with the column of an error.
pub fn parsed(text: &str) -> PyResult<ParsedExpression> {
    Expression::open(text).map(ParsedExpression).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Reads a plain number or a quantity of any kind; raises `ValueError` otherwise.
pub fn any_quantity(text: &str) -> PyResult<Parts> {
    text.parse()
        .map(parts)
        .map_err(|error: headrace_units::UnitError| PyValueError::new_err(error.to_string()))
}
