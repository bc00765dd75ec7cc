//! What a run says of members that arrays evicted because they were slow.

use headrace_units::Nanos;

use super::{ComponentResults, Results};

/// A sentence for each array that evicted members: which, when and why.
pub(super) fn in_words(results: &Results) -> Vec<String> {
    let of_array = |array: &ComponentResults| {
        let evicted = results.phases.iter().flat_map(|phase| {
            let own = phase.events.iter().filter(|event| event.path == array.path);
            let names = own.filter_map(|event| event.evicted.as_ref());
            names.map(|name| format!("{name} at {}", Nanos::from_secs(phase.from_s)))
        });
        let all: Vec<String> = evicted.collect();
        (!all.is_empty()).then(|| format!("{} evicts {}{}.", array.path, all.join(", "), slowness(array)))
    };
    results.components.iter().filter_map(of_array).collect()
}

/// How slow they were, where the measured part of the run shows it.
fn slowness(array: &ComponentResults) -> String {
    let slowness = array.meters.get("evicted_slowness").copied().flatten();
    slowness.map_or_else(String::new, |times| {
        format!(": its accesses took {times:.1} times as long as those of its peers")
    })
}
