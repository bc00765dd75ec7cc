//! The account of every request adds up to its response time.

use super::Evidence;

pub fn broken(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    for (name, stream, _) in &evidence.streams {
        if let Some((response, account)) = stream.misaccounted {
            broken.push(format!(
                "{name}: a response took {} ns, and its account has {} ns",
                response.0, account.0
            ));
        }
        let legs = stream.totals.legs.total();
        let time = stream.all.tally().sum_ns();
        if legs != time {
            broken.push(format!("{name}: responses took {time} ns, and the legs of their paths {legs} ns"));
        }
    }
    broken
}
