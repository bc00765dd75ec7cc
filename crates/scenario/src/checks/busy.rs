//! Utilisation is at most one: no component is in use for more than the time there was, by all causes together.

use super::Evidence;

pub fn broken(evidence: &Evidence) -> Vec<String> {
    let overused = evidence.graph.nodes.iter().enumerate().filter_map(|(at, node)| {
        let activity = evidence.activity(at)?;
        let most = u128::from(activity.servers) * u128::from(evidence.now.0);
        (activity.busy_in_all() > most)
            .then(|| format!("{}: in use for {} server-ns of {most}", node.path, activity.busy_in_all()))
    });
    overused.collect()
}
