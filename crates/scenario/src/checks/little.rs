//! Little's law, to the nanosecond: the area under the number of requests in flight is the time that requests spent.

use super::Evidence;

pub fn broken(evidence: &Evidence) -> Vec<String> {
    let broken = evidence.streams.iter().filter_map(|(name, stream, _)| {
        let area = stream.in_flight.area(evidence.now);
        let answered = stream.all.tally().sum_ns();
        let breakdown =
            answered + stream.expired_ns + stream.failed_ns + stream.age_of_those_in_flight(evidence.now);
        (area != breakdown).then(|| {
            format!("{name}: Little's law: {area} request-ns in the system, {breakdown} ns spent by requests")
        })
    });
    broken.collect()
}
