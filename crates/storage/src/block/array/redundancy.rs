//! Which losses of disks the data of an array survives.

use headrace_units::Nanos;

use super::layout::Pairing;
use super::{ArrayLayout, ArrayPlan, Mirror, Parity};
use crate::core::graph::View;
use crate::core::redundancy::Redundancy;

impl ArrayPlan {
    pub(super) fn protection(&self, view: View) -> Result<Redundancy, String> {
        if self.failed.contains(&true) {
            return Err(format!("`{}` begins with `failed` disks; remove them", view.path()));
        }
        let drives: Vec<u32> = (0..self.layout.disks() as u32).collect();
        let data = view.capacity().0 as f64;
        let whole = Redundancy::none(drives, data);
        Ok(match &self.layout {
            ArrayLayout::Striped(_) => whole,
            ArrayLayout::Mirrored(mirror) => self.of_mirror(*mirror, data, whole),
            ArrayLayout::Parity(parity) => self.of_parity(parity, data, whole),
        })
    }

    fn of_mirror(&self, mirror: Mirror, data: f64, whole: Redundancy) -> Redundancy {
        let columns = 0..mirror.columns.disks;
        let disk = |column, copy| mirror.disk(column, copy) as u32;
        let holders = |column| (0..mirror.copies).map(|copy| disk(column, copy)).collect();
        let whole = Redundancy { spares: Some(self.spares as u32), ..whole };
        if mirror.pairing == Pairing::Sides {
            // A disk takes its side out of use, so that any disk of one side and any of the other are too many.
            let across = columns
                .clone()
                .flat_map(|one| columns.clone().map(move |other| vec![disk(one, 0), disk(other, 1)]));
            let critical_bytes = self.each.0 as f64 / mirror.columns.disks as f64;
            return Redundancy {
                groups: across.collect(),
                tolerates: 1,
                lost_bytes: data,
                critical_bytes,
                ..whole
            };
        }
        Redundancy {
            groups: columns.map(holders).collect(),
            tolerates: mirror.copies as u32 - 1,
            lost_bytes: data / mirror.columns.disks as f64,
            critical_bytes: self.each.0 as f64,
            ..whole
        }
    }

    /// With declustered stripes, any disks too many have some stripes in common, so that all disks are one group: these stripes are lost.
    fn of_parity(&self, parity: &Parity, data: f64, whole: Redundancy) -> Redundancy {
        // The share of stripes with units on each of some disks, of stripes spread evenly.
        let common = |disks: u64| -> f64 {
            (0..disks).map(|n| (parity.width - n) as f64 / (parity.disks() - n) as f64).product()
        };
        let stripes = parity.stripes_on(self.each.0) as f64;
        let spares = self.spares as u64 + if self.distributed { self.layout.spares() } else { 0 };
        Redundancy {
            tolerates: parity.redundant as u32,
            lost_bytes: data * common(parity.redundant + 1),
            critical_bytes: stripes * common(parity.redundant) * (parity.data() * parity.unit) as f64,
            spares: Some(spares as u32),
            wait: Nanos::ZERO,
            ..whole
        }
    }
}
