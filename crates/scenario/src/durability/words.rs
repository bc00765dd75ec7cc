//! The chance of data loss in words.

use headrace_storage::{ComponentSpec, Redundancy};
use headrace_units::Nanos;
use headrace_work::NodeId;

use super::process::UnitKind;
use super::{Durability, Estimate, LossCause, Rebuild, VolumeDurability};
use crate::plan::Plan;

/// Share of the time beyond which times to loss are not exponential enough.
const OFTEN_DEGRADED: f64 = 0.05;

/// Causes that are named in the answer: those with at least this share.
const NAMED: f64 = 0.005;

/// Returns the answer: the chance in a year, what it consists of, and the rebuilds.
pub fn answer(of: &Durability) -> String {
    let mut sentences = vec![format!(
        "The chance of losing data within a year is {}{}{}; the mean time to data loss is {}.",
        chance(of.chance_in_a_year.value),
        interval(of.chance_in_a_year),
        nines(of.chance_in_a_year.value),
        years(of.mean_years.value)
    )];
    if of.years != 1.0 {
        // In the notation of the first, to be compared with it.
        let rare = of.chance_in_a_year.value < LEAST_PERCENT && of.chance.value < OFTEN;
        let p = of.chance.value;
        let later = if rare { format!("1 in {}", large(1.0 / p)) } else { chance(p) };
        sentences.push(format!("Within {}: {later}.", years(of.years)));
    }
    for volume in &of.volumes {
        let causes: Vec<String> =
            volume.causes.iter().filter(|cause| cause.share >= NAMED).map(cause).collect();
        let whose = if of.volumes.len() > 1 { format!(" of {}", volume.component) } else { String::new() };
        sentences.push(format!("Causes{whose}: {}.", causes.join(", ")));
        sentences.extend(volume.rebuilds.first().map(|one| rebuild(volume, one)));
    }
    sentences.join(" ")
}

/// The durability as people quote it: the nines of the chance to keep all data, of less than two none.
fn nines(chance: f64) -> String {
    let nines = -libm::log10(chance);
    if nines.is_finite() && nines >= 2.0 {
        format!(", {nines:.1} nines of durability")
    } else {
        String::new()
    }
}

fn cause(cause: &LossCause) -> String {
    match cause.share {
        ..1.0 if cause.share >= 0.995 => format!("over 99 % {}", cause.what),
        share => format!("{:.0} % {}", 100.0 * share, cause.what),
    }
}

fn rebuild(volume: &VolumeDurability, rebuild: &Rebuild) -> String {
    let took = Nanos::from_secs(rebuild.rebuild.value);
    let how = match rebuild.simulated_share {
        1.0.. => "simulated under this load".to_owned(),
        share => format!(
            "an estimate from {} simulation{} under this load, each of {} or {} % of the rebuild",
            rebuild.replications,
            if rebuild.replications == 1 { "" } else { "s" },
            Nanos::from_secs(rebuild.simulated_s),
            digits(100.0 * share)
        ),
    };
    format!("A rebuild of {} takes {took}, {how}.", volume.component)
}

/// Returns what was left out, or fails of the assumptions.
pub fn notes(plan: &Plan, of: &Durability) -> Vec<String> {
    let mut notes = Vec::new();
    if !plan.faults.is_empty() {
        notes.push("`faults` are ignored: failures occur at their rates".to_owned());
    }
    for volume in &of.volumes {
        let name = &volume.component;
        notes.extend(of_chunks(plan, volume));
        if volume.degraded > OFTEN_DEGRADED {
            notes.push(format!(
                "{name} lacks a drive {:.0} % of the time: chances assume exponential times to loss, and are estimates",
                100.0 * volume.degraded
            ));
        }
    }
    notes
}

/// Returns a note for an array whose rebuilds have the default number of chunks in flight: where that limits them, chances follow from it.
fn of_chunks(plan: &Plan, volume: &VolumeDurability) -> Option<String> {
    let name = &volume.component;
    let graph = &plan.graph;
    let is_it = |id: &NodeId| graph.view(*id).path() == name || graph.group(*id) == name;
    let id = graph.ids().find(is_it).filter(|_| volume.tolerates > 0)?;
    let written = graph.nodes[id.index()].field.join(".");
    let ComponentSpec::Array(array) = plan.spec.component(&written)? else { return None };
    let rebuild = array.rebuild.unwrap_or_default();
    (rebuild.in_flight.is_none() && rebuild.rate.is_none()).then(|| {
        format!(
            "{name}: a rebuild has the default number of chunks in flight, of {} each, which may limit it: set `rebuild.in_flight`, \
             `rebuild.chunk` or `rebuild.rate` to what the real array does",
            rebuild.chunk
        )
    })
}

/// Returns the causes of loss with their shares, the largest first.
pub fn causes(of: &Redundancy, kinds: &[UnitKind], shares: &[f64]) -> Vec<LossCause> {
    let tolerates = of.tolerates;
    let of_kind = |kind: &UnitKind| match (tolerates, kind.name) {
        (0, name) => format!("the first failure of a {name}"),
        (_, name) if (0..kind.drives.len()).any(|unit| kind.loses(unit, of)) => {
            format!("the first failure of a {name}, which has more pieces of some groups than may be lost")
        }
        (_, "drive") => format!("a {} drive that fails before the rebuild ends", ordinal(tolerates + 1)),
        (_, name) => format!("a {name} that fails before the rebuild ends"),
    };
    let latent = format!("a latent error met by a rebuild with {tolerates} lost");
    let what = kinds.iter().map(of_kind).chain([latent]);
    let mut causes: Vec<LossCause> = what
        .zip(shares)
        .filter(|(_, share)| **share > 0.0)
        .map(|(what, share)| LossCause { what, share: *share })
        .collect();
    causes.sort_by(|a, b| b.share.total_cmp(&a.share));
    causes
}

fn ordinal(number: u32) -> String {
    match number {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        4 => "fourth".to_owned(),
        number => format!("{number}th"),
    }
}

/// Probabilities below the first are written as 1 in N, and those up to the second can be.
const LEAST_PERCENT: f64 = 1e-5;
const OFTEN: f64 = 0.01;

/// Writes a probability: as a share, or as 1 in N.
pub fn chance(p: f64) -> String {
    match p {
        0.0 => "0".to_owned(),
        p if p >= LEAST_PERCENT => format!("{} %", digits(100.0 * p)),
        p => format!("1 in {}", large(1.0 / p)),
    }
}

/// Writes the interval, unless both ends are written as the estimate is.
fn interval(of: Estimate) -> String {
    let [low, value, high] = [of.low, of.value, of.high].map(chance);
    if low == value && value == high { String::new() } else { format!(" (95 %: {low} to {high})") }
}

fn years(years: f64) -> String {
    match years {
        1.0 => "a year".to_owned(),
        years if years >= 1e4 => format!("{} years", large(years)),
        years if years == libm::floor(years) => format!("{years} years"),
        years => format!("{} years", digits(years)),
    }
}

/// Writes a number with two digits, without an exponent.
fn digits(number: f64) -> String {
    let places = (1.0 - libm::floor(libm::log10(number))).clamp(0.0, 12.0);
    format!("{number:.*}", places as usize)
}

/// Writes a large number with its word.
fn large(number: f64) -> String {
    let words = [(1e12, ""), (1e9, " billion"), (1e6, " million"), (1e3, ",000")];
    match words.into_iter().find(|(size, _)| number >= *size) {
        Some((1e12, _)) => format!("{number:.1e}"),
        Some((size, word)) => format!("{}{word}", digits(number / size)),
        None => digits(number),
    }
}
