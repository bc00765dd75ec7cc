//! Write-back caches that have as many stripes on the way to their drives as they may, while these have time left.

use headrace_work::NodeId;

use super::ComponentResults;
use crate::plan::Plan;

/// From this share of the stripes that may be on the way, on average, a cache does not wait for data to destage.
const MOSTLY_FULL: f64 = 0.9;

/// Up to this utilisation, drives have time for more.
const HAVE_TIME: f64 = 0.75;

/// Returns the arrays whose destages limit what is written to them, each with the utilisation of the busiest component behind it.
fn limiting<'c>(
    plan: &'c Plan,
    components: &'c [ComponentResults],
) -> impl Iterator<Item = (NodeId, &'c ComponentResults, f64)> {
    plan.graph.ids().filter_map(move |id| {
        let array = &components[id.index()];
        let in_flight = array.meters.get("destages_in_flight").copied().flatten()?;
        if in_flight <= MOSTLY_FULL {
            return None;
        }
        let behind = plan.graph.reached(id).into_iter().filter(|other| *other != id);
        let in_use = behind.filter_map(|other| {
            let part = &components[other.index()];
            Some(part.utilisation? + part.stalled.unwrap_or(0.0))
        });
        let busiest = in_use.max_by(f64::total_cmp)?;
        (busiest < HAVE_TIME).then_some((id, array, busiest))
    })
}

/// Returns true if destages of an array limit the requests that come to a component behind it, which has time left.
pub(super) fn limits(plan: &Plan, components: &[ComponentResults], id: NodeId) -> bool {
    limiting(plan, components).any(|(array, ..)| plan.graph.reaches(array, id))
}

/// Returns a note on each array whose destages limit what is written to it.
pub(super) fn notes(plan: &Plan, components: &[ComponentResults]) -> Vec<String> {
    let note = |(_, array, busiest): (NodeId, &ComponentResults, f64)| {
        format!(
            "{}: its cache has as many stripes on the way to its drives as it may, and these are {:.0} % busy: that limits writes; raise \
             `stripes_at_once` of the cache if the real controller has more",
            array.path,
            busiest * 100.0
        )
    };
    limiting(plan, components).map(note).collect()
}
