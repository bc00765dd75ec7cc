//! By position.

/// From the beginning of the tape to its end; of those that begin at the same byte, the first that came.
pub fn order(spans: &[(u64, u64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|at| spans[*at].0);
    order
}
