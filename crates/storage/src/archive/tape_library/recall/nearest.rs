//! Shortest locate time first (Hillyer and Silberschatz, "Random I/O scheduling in online tertiary storage systems", SIGMOD 1996).

use super::Batch;

/// Always the one whose locate is shortest from where the one before ends; of equals the first that came.
pub fn order(batch: &Batch<impl Fn(u64, u64) -> f64>) -> Vec<usize> {
    let (mut left, mut head): (Vec<usize>, _) = ((0..batch.spans.len()).collect(), batch.head);
    let next = |_| {
        let time = |at: &usize| (batch.locate)(head, batch.spans[*at].0);
        let times = left.iter().map(time).enumerate();
        let (place, _) = times.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let at = left.remove(place);
        head = batch.spans[at].1;
        Some(at)
    };
    batch.spans.iter().map_while(next).collect()
}
