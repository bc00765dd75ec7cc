//! Write-back caches that have as many stripes on the way to their drives as they may, while these have time left.

use super::ComponentResults;

/// From this share of the stripes that may be on the way, on average, a cache does not wait for data to destage.
const MOSTLY_FULL: f64 = 0.9;

/// Up to this utilisation, drives have time for more.
const HAVE_TIME: f64 = 0.75;

/// Returns the array whose destages limit what is written to it, and the utilisation of the busiest of its drives; none where drives do.
pub(super) fn limiting(components: &[ComponentResults]) -> Option<(&ComponentResults, f64)> {
    components.iter().find_map(|array| {
        let in_flight = array.meters.get("destages_in_flight").copied().flatten()?;
        let busiest = drives_of(array, components).fold(0.0, f64::max);
        (in_flight > MOSTLY_FULL && busiest < HAVE_TIME).then_some((array, busiest))
    })
}

/// The utilisation of each of the drives of an array and of their parts.
fn drives_of<'c>(
    array: &'c ComponentResults,
    components: &'c [ComponentResults],
) -> impl Iterator<Item = f64> + 'c {
    let is_its = |at: usize, part: &ComponentResults| {
        array.uses.contains(&(at as u32)) || part.path.starts_with(&format!("{}/", array.path))
    };
    let in_use = |part: &ComponentResults| part.utilisation.unwrap_or(0.0) + part.stalled.unwrap_or(0.0);
    components
        .iter()
        .enumerate()
        .filter(move |(at, part)| is_its(*at, part))
        .map(move |(_, part)| in_use(part))
}

/// Returns the note on it.
pub(super) fn note(components: &[ComponentResults]) -> Option<String> {
    let (array, busiest) = limiting(components)?;
    Some(format!(
        "{}: its cache has as many stripes on the way to its drives as it may, and these are {:.0} % busy: that limits writes; raise \
         `stripes_at_once` of the cache if the real controller has more",
        array.path,
        busiest * 100.0
    ))
}
