//! Layout: the mapping of trace addresses to addresses on the component.

use headrace_units::counted;

use super::problem::ReplayProblem;
use super::spec::{Fit, ReplaySpec};
use crate::survey::Survey;

/// Concatenated devices start at multiples of this.
const ALIGNMENT: u64 = 1 << 20;

/// Maps the addresses of a trace to addresses on the component.
#[derive(Clone, Debug)]
pub struct AddressMap {
    /// Base address of each device of the trace; `None` if it is not replayed.
    pub bases: Vec<Option<u64>>,
    /// One past the last byte of the devices replayed.
    pub end: u64,
    pub capacity: u64,
    fit: Fit,
}

impl AddressMap {
    /// Lays out the devices that `spec` selects on a component of `capacity` bytes.
    pub fn of(survey: &Survey, spec: &ReplaySpec, capacity: u64) -> Result<Self, ReplayProblem> {
        let names: Vec<&str> = survey.devices.iter().map(|device| device.name.as_str()).collect();
        if !survey.addresses {
            let help = "for a fio log, run fio with `log_offset=1`";
            return Err(ReplayProblem::field("trace", "the trace has no addresses", help));
        }
        check_selection(&names, &spec.devices)?;
        let (bases, end) = concatenated(survey, &selected(&names, &spec.devices))?;
        check_capacity(survey, end, spec.fit, capacity)?;
        Ok(Self { bases, end, capacity, fit: spec.fit })
    }

    /// The address on the component for a request at `address` of the trace.
    #[inline]
    pub fn fit(&self, address: u64, bytes: u64) -> u64 {
        let wanted = match self.fit {
            _ if self.end <= self.capacity => return address,
            Fit::Refuse | Fit::Wrap => address % self.capacity,
            Fit::Scale => {
                let scaled = u128::from(address) * u128::from(self.capacity) / u128::from(self.end);
                scaled as u64 / 512 * 512
            }
        };
        wanted.min(self.capacity.saturating_sub(bytes))
    }
}

fn check_selection(names: &[&str], chosen: &[String]) -> Result<(), ReplayProblem> {
    let wrong = |message: String, help: String| Err(ReplayProblem::field("devices", message, help));
    let known = format!("the trace has {}", listed(names));
    let mut chosen_so_far = chosen.iter().enumerate();
    if let Some((_, twice)) = chosen_so_far.find(|(at, name)| chosen[..*at].contains(name)) {
        return wrong(format!("duplicate device `{twice}`"), "list each device once".to_owned());
    }
    if let Some(missing) = chosen.iter().find(|name| !names.contains(&name.as_str())) {
        return wrong(format!("the trace has no device `{missing}`"), known);
    }
    if chosen.is_empty() && names.len() > 1 {
        let help = format!("select one, or several to concatenate: `devices: {:?}`", &names[..2]);
        return wrong(format!("{known}, each with its own address space"), help);
    }
    Ok(())
}

/// Indices of the chosen devices, in the order chosen.
fn selected(names: &[&str], chosen: &[String]) -> Vec<usize> {
    if chosen.is_empty() {
        return vec![0];
    }
    chosen.iter().filter_map(|name| names.iter().position(|known| known == name)).collect()
}

/// Base addresses of the `selected` devices, one after another, and the end of the last.
fn concatenated(survey: &Survey, selected: &[usize]) -> Result<(Vec<Option<u64>>, u64), ReplayProblem> {
    let too_large = || {
        let message = "the devices end beyond 2^64 bytes when concatenated";
        ReplayProblem::field("devices", message, "replay fewer devices")
    };
    let alignment = if selected.len() > 1 { ALIGNMENT } else { 1 };
    let mut bases = vec![None; survey.devices.len().max(1)];
    let mut end = 0u64;
    for &device in selected {
        bases[device] = Some(end);
        let size = survey.devices.get(device).map_or(0, |device| device.end);
        let unaligned = end.checked_add(size).ok_or_else(too_large)?;
        end = unaligned.checked_next_multiple_of(alignment).ok_or_else(too_large)?;
    }
    Ok((bases, end))
}

fn check_capacity(survey: &Survey, end: u64, fit: Fit, capacity: u64) -> Result<(), ReplayProblem> {
    if survey.largest <= capacity && (end <= capacity || fit != Fit::Refuse) {
        return Ok(());
    }
    let message = format!(
        "the trace extends to byte {end} (requests of up to {} bytes), but the component holds only {capacity} bytes",
        survey.largest
    );
    let help =
        "replay it on a device at least as large as the traced one, or set `fit: wrap` or `fit: scale`";
    Err(ReplayProblem::field("trace", message, help))
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => "one unnamed device".to_owned(),
        few if few.len() <= 8 => format!("{}: {few:?}", counted(few.len() as u64, "device")),
        many => format!("{} devices, starting with {:?}", many.len(), &many[..8]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::DeviceSurvey;

    fn layout(ends: &[u64], fit: Fit, capacity: u64) -> Result<AddressMap, ReplayProblem> {
        let device = |(at, end): (usize, &u64)| DeviceSurvey { name: at.to_string(), requests: 1, end: *end };
        let devices: Vec<DeviceSurvey> = ends.iter().enumerate().map(device).collect();
        let chosen = devices.iter().map(|device| device.name.clone()).collect();
        let survey = Survey { devices, addresses: true, largest: 512, ..Survey::default() };
        AddressMap::of(&survey, &ReplaySpec { devices: chosen, fit, ..ReplaySpec::of("t") }, capacity)
    }

    #[test]
    fn several_devices_are_aligned_and_one_is_not() {
        let two = layout(&[512, 1024], Fit::Refuse, 1 << 30).unwrap();
        assert_eq!((two.bases, two.end), (vec![Some(0), Some(ALIGNMENT)], 2 * ALIGNMENT));
        assert_eq!(layout(&[512], Fit::Refuse, 512).unwrap().end, 512);
        assert!(layout(&[1024], Fit::Refuse, 512).is_err());
    }

    /// Base and address of a request are added during the run.
    #[test]
    fn devices_too_large_to_be_concatenated_are_refused() {
        let problem = layout(&[1 << 63, 1 << 63, 512], Fit::Wrap, 1 << 30).unwrap_err();
        assert!(matches!(&problem, ReplayProblem::Field("devices", ..)), "{problem:?}");
        assert!(layout(&[(1 << 63) - ALIGNMENT, 512], Fit::Wrap, 1 << 30).is_ok());
    }
}
