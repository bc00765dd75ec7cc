//! Rates of failures and errors, from which the chance of data loss is estimated.

use headrace_units::{Nanos, PerBit, PerYear};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rates of failures and errors: `headrace durability` estimates the chance of data loss from them. Runs ignore them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RatesSpec {
    /// Failures of each drive that lose its data, the annualised failure rate. Failures are independent, and come at the same rate at any age.
    pub drive: PerYear,
    /// Failures of each server of a pool that lose the data of all its drives. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<PerYear>,
    /// Failures of each rack of a pool that lose the data of all its drives. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rack: Option<PerYear>,
    /// Unrecoverable read errors, the error rate of data sheets. One that is met by a rebuild without redundancy left loses a sector.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latent_error: Option<PerBit>,
    /// Time until a failed disk of an array is replaced: until its rebuild begins where no spare is free, and until a spare is there again.
    #[serde(default = "a_day")]
    pub replace: Nanos,
}

const fn a_day() -> Nanos {
    Nanos(86_400 * 1_000_000_000)
}
