//! Nothing is lost: requests issued = completed + in flight + dropped + expired + failed.

use super::Evidence;

pub fn broken(evidence: &Evidence) -> Vec<String> {
    let lost = evidence.streams.iter().filter_map(|(name, stream, _)| {
        let (answered, in_flight) = (stream.all.tally().count(), stream.in_flight.value());
        let (dropped, expired, failed) = (stream.dropped, stream.expired, stream.failed);
        (stream.born != answered + in_flight + dropped + expired + failed).then(|| {
            format!(
                "{name}: {} requests issued, {answered} completed, {in_flight} in flight, {dropped} dropped, {expired} expired, \
                 {failed} failed",
                stream.born
            )
        })
    });
    lost.collect()
}
