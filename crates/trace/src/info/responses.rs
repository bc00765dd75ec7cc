//! Response times measured on the traced device.

use headrace_stats::{Segments, Tally};
use headrace_work::Op;
use serde::Serialize;

use crate::reader::Traced;

/// Quantiles reported.
const SHARES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Response times measured on the traced device.
#[derive(Clone, Debug, Serialize)]
pub struct Responses {
    /// Mean, in ms.
    pub mean_ms: f64,
    /// Maximum, in ms.
    pub max_ms: f64,
    /// Quantiles: (share, ms).
    pub quantiles_ms: Vec<(f64, f64)>,
    /// Mean of reads, in ms; `None` if there are none.
    pub reads_ms: Option<f64>,
    /// Mean of writes, in ms; `None` if there are none.
    pub writes_ms: Option<f64>,
}

/// Accumulates [`Responses`].
#[derive(Default)]
pub struct ResponseCounts {
    all: Tally,
    distribution: Segments,
    by_op: [Tally; 2],
}

impl ResponseCounts {
    #[inline]
    pub fn add(&mut self, traced: &Traced) {
        if let Some(response) = traced.response {
            self.all.record(response);
            self.distribution.record(response);
            self.by_op[usize::from(traced.op == Op::Write)].record(response);
        }
    }

    /// `None` if no request has a response time.
    pub fn finish(&self) -> Option<Responses> {
        let mean = |tally: &Tally| (tally.count() > 0).then(|| tally.mean_ns() * 1e-6);
        let distribution = self.distribution.from(0);
        Some(Responses {
            mean_ms: mean(&self.all)?,
            max_ms: self.all.max().ms(),
            quantiles_ms: SHARES.iter().map(|&share| (share, distribution.quantile(share).ms())).collect(),
            reads_ms: mean(&self.by_op[0]),
            writes_ms: mean(&self.by_op[1]),
        })
    }
}
