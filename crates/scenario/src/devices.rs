//! What `headrace devices` shows of a device: its numbers with their origins, and the curves that follow from them.

use std::path::Path;

use headrace_storage::archive::tape_library::TapeDriveNumbers;
use headrace_storage::disk::{DiskNumbers, Mechanism, Positioning};
use headrace_storage::limiter::VolumeNumbers;
use headrace_storage::ssd::SsdNumbers;
use headrace_work::Op;
use serde::Serialize;

use crate::document::Problems;
use crate::{catalog, drives};

/// Number of points of a curve.
const POINTS: usize = 101;

/// The requests whose service times are reported.
const SMALL: u64 = 4096;

/// A device, and what follows from its numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// Its name in the catalogue.
    pub name: String,
    /// Manufacturer, model, size.
    pub title: String,
    /// The measurements it was validated against, and the result; or `not validated`.
    pub validation: String,
    /// Every number, with where it comes from.
    pub numbers: Vec<Number>,
    /// Media rate by place: (share of the capacity from the outside, MB/s).
    pub zone_rates: Vec<(f64, f64)>,
    /// Seek time of reads by distance: (cylinders, ms).
    pub seek_read: Vec<(f64, f64)>,
    /// Seek time of writes by distance: (cylinders, ms).
    pub seek_write: Vec<(f64, f64)>,
    /// Mean service of a random 4 KiB read, in ms, without waiting; `None` for a volume type, which has limits alone, and a
    /// tape drive.
    pub random_read_ms: Option<f64>,
    /// Mean service of a random 4 KiB write, in ms, without waiting.
    pub random_write_ms: Option<f64>,
}

/// A number of a device.
#[derive(Clone, Debug, Serialize)]
pub struct Number {
    /// Its field.
    pub field: String,
    /// As it reads in the file.
    pub value: String,
    /// Its source, or how it was estimated.
    pub origin: String,
}

/// The device of this name, for a scenario in the folder `beside`; `None` where there is none.
///
/// # Errors
/// Errors in its file.
pub fn device(name: &str, beside: &Path) -> Option<Result<Device, Problems>> {
    Some(match catalog::kind(name, beside) {
        Some("ssd") => drives::device(name, beside)?.and_then(|ssd| of_ssd(name, ssd)),
        Some("limiter") => {
            drives::device(name, beside)?.and_then(|volume: VolumeNumbers| without_requests(name, volume))
        }
        Some("tape_library") => {
            drives::device(name, beside)?.and_then(|drive: TapeDriveNumbers| without_requests(name, drive))
        }
        _ => drives::device(name, beside)?.and_then(|disk| of_disk(name, disk)),
    })
}

fn of_disk(name: &str, numbers: DiskNumbers) -> Result<Device, Problems> {
    let numbers = drives::sound(numbers, name)?;
    let mechanism = Mechanism::new(&numbers, Positioning::Coupled);
    let cylinders = f64::from(numbers.cylinders.get() - 1);
    let shares = || (0..POINTS).map(|i| i as f64 / (POINTS - 1) as f64);
    // Seek curves bend most near zero, so their points lie denser there.
    let seek = |op| shares().map(|x| (x * x * cylinders, mechanism.seek_ms(op, x * x))).collect();
    let random = |op| Some(mechanism.service_distribution(op, SMALL).mean());
    Ok(Device {
        zone_rates: shares().map(|u| (u, mechanism.media_rate(u) / 1e6)).collect(),
        seek_read: seek(Op::Read),
        seek_write: seek(Op::Write),
        ..described(name, &numbers, random)
    })
}

fn of_ssd(name: &str, numbers: SsdNumbers) -> Result<Device, Problems> {
    let numbers = drives::sound(numbers, name)?;
    Ok(described(name, &numbers, |op| Some(numbers.alone(op, SMALL).ms())))
}

/// A device that serves no blocks by itself.
fn without_requests<D: headrace_storage::Device + Serialize>(
    name: &str,
    numbers: D,
) -> Result<Device, Problems> {
    Ok(described(name, &drives::sound(numbers, name)?, |_| None))
}

/// What every device has; `random` is the mean service of a small random request, in ms.
fn described<D: headrace_storage::Device + Serialize>(
    name: &str,
    device: &D,
    random: impl Fn(Op) -> Option<f64>,
) -> Device {
    Device {
        name: name.to_owned(),
        title: device.title().unwrap_or(name).to_owned(),
        validation: device.validation().to_owned(),
        numbers: told(&serde_json::to_value(device).expect("numbers and strings"), device.origins()),
        zone_rates: Vec::new(),
        seek_read: Vec::new(),
        seek_write: Vec::new(),
        random_read_ms: random(Op::Read),
        random_write_ms: random(Op::Write),
    }
}

/// The numbers as text, beside their origins.
fn told(document: &serde_json::Value, origins: Vec<(String, Option<String>)>) -> Vec<Number> {
    let numbers = origins.into_iter().map(|(field, origin)| {
        let node = field.split('.').fold(document, |node, step| &node[step]);
        let value = if node.is_object() { &node["value"] } else { node };
        let value =
            value.as_str().map_or_else(|| value.to_string().trim_end_matches(".0").to_owned(), str::to_owned);
        Number { field, value, origin: origin.unwrap_or_else(|| "not told".to_owned()) }
    });
    numbers.collect()
}
