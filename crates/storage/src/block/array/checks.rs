//! Validation of an array.

use std::collections::BTreeSet;

use headrace_units::Bytes;
use headrace_work::{Block, NodeId};

use super::layout::ArrayLayout;
use super::recovery::{DeclusteredSpec, Target};
use super::spec::{ArraySpec, FirstUnit, Level, Via};
use crate::ComponentSpec;
use crate::core::graph::{Copies, Lowering};
use crate::fabric::path_transfer::PathTransfer;

impl ArraySpec {
    pub(super) fn check_count(&self, at: &mut Lowering) -> Option<()> {
        match (&self.of, self.disks) {
            (Copies::Shared(names), _) if names.is_empty() => {
                at.refuse("of", "an array needs at least one disk", None)
            }
            (Copies::Shared(names), _) if names.iter().collect::<BTreeSet<_>>().len() < names.len() => {
                at.refuse("of", "a disk is listed twice", Some("name each disk once"))
            }
            (Copies::Shared(names), Some(disks)) if names.len() != (disks + self.spares) as usize => {
                let listed = names.len() - names.len().min(self.spares as usize);
                let message = format!("`disks` is {disks}, and `of` lists {listed}");
                at.refuse("disks", message, Some("leave `disks` out: the list says how many there are"))
            }
            (Copies::Part(_) | Copies::Written(_), None) => at.refuse(
                "disks",
                "an array of copies needs a field `disks`",
                Some("`disks`: number of copies"),
            ),
            _ => Some(()),
        }
    }

    /// The bytes of the smallest disk; all are used alike.
    pub(super) fn check_disks(&self, at: &mut Lowering, disks: &[NodeId]) -> Option<Bytes> {
        let each = disks.iter().map(|disk| at.capacity(*disk)).min().unwrap_or(Bytes(0));
        if each.0 == 0 {
            return at.refuse("of", "an array is made of components that hold data", None);
        }
        if self.stripe_unit.is_none() && self.level != Level::Raid1 {
            let help = "`stripe_unit`: number of consecutive bytes on one disk, such as 64 KiB";
            return at.refuse(
                "stripe_unit",
                format!("{} needs a field `stripe_unit`", self.level.name()),
                Some(help),
            );
        }
        let unit = self.unit();
        if unit.0 == 0 || unit > each {
            let message = format!(
                "a stripe unit of {unit} does not fit on a disk of {each}; give at least 1 B and at most that"
            );
            return at.refuse("stripe_unit", message, None);
        }
        self.check_sectors(at, disks)?;
        Some(each)
    }

    fn check_sectors(&self, at: &mut Lowering, disks: &[NodeId]) -> Option<()> {
        let sector = disks.iter().filter_map(|disk| at.sector(*disk)).max();
        let Some(sector) = sector.filter(|sector| self.unit() < *sector) else {
            return Some(());
        };
        let message = format!("a stripe unit of {} is less than a sector of {sector}", self.unit());
        let help = format!("use a multiple of {sector}");
        at.refuse("stripe_unit", message, Some(&help))
    }

    /// Refuses too few disks for the level, and options of other levels.
    pub(super) fn check_level(&self, at: &mut Lowering, disks: u64) -> Option<()> {
        let (least, multiple) = self.level.needs();
        let name = self.level.name();
        if disks < least || !disks.is_multiple_of(multiple) {
            let even = if multiple > 1 { ", and an even number" } else { "" };
            let message = format!("{name} needs at least {least} disks{even}; there are {disks}");
            return at.refuse("disks", message, None);
        }
        if self.rotation.is_some() && (self.level.redundant().is_none() || self.level == Level::Raid4) {
            let message = format!("the parity of {name} has no rotation");
            return at.refuse("rotation", message, Some("leave it out, or choose raid5, raid6 or erasure"));
        }
        if self.stripe_cache.is_some() && self.level.redundant().is_none() {
            let message = format!("{name} computes no parity, so it needs no stripe cache");
            return at.refuse("stripe_cache", message, Some("leave it out"));
        }
        if self.hedge.is_some() && self.level == Level::Raid0 {
            let message = "raid0 has its data once, so a read cannot be sent elsewhere";
            return at.refuse("hedge", message, Some("leave it out, or choose another level"));
        }
        if self.read_from.is_some() && !self.level.is_mirrored() {
            let message = format!("{name} has one copy of each unit, so there is nothing to choose");
            return at.refuse("read_from", message, Some("leave it out, or choose raid1, raid10 or raid01"));
        }
        if self.first_unit == FirstUnit::FirstDisk && self.level != Level::Raid0 {
            let message = format!("requests to {name} begin where their address lies");
            return at.refuse("first_unit", message, Some("leave it out, or choose raid0"));
        }
        Some(())
    }

    /// Returns the failed disks; refuses failures that lose data.
    pub(super) fn check_failed(&self, at: &mut Lowering, layout: &ArrayLayout) -> Option<Vec<bool>> {
        let mut failed = vec![false; layout.disks() as usize];
        for &disk in &self.failed {
            let Some(state) = failed.get_mut(disk as usize) else {
                let message =
                    format!("there is no disk {disk}; they are numbered from 0 to {}", layout.disks() - 1);
                return at.refuse("failed", message, None);
            };
            if std::mem::replace(state, true) {
                let message = format!("disk {disk} is named twice");
                return at.refuse("failed", message, Some("name each failed disk once"));
            }
        }
        if !layout.survives(&failed) {
            let message = format!("{} loses data when these disks fail", self.level.name());
            return at.refuse("failed", message, Some("name fewer, or choose a level that survives them"));
        }
        Some(failed)
    }

    /// Returns the number of disks without the spares.
    pub(super) fn check_spares(&self, at: &mut Lowering, devices: u64) -> Option<u64> {
        let spares = u64::from(self.spares);
        if spares >= devices {
            return at.refuse("spares", format!("of {devices} components {spares} cannot be spares"), None);
        }
        if spares > 0 && self.level == Level::Raid0 {
            let message = "a spare cannot stand in for a disk of raid0: what that held cannot be computed";
            return at.refuse("spares", message, Some("leave it out, or choose a level with redundancy"));
        }
        Some(devices - spares)
    }

    pub(super) fn check_declustered(&self, at: &mut Lowering, disks: u64) -> Option<()> {
        let Some(DeclusteredSpec { width, spares, row }) = self.declustered else { return Some(()) };
        let Some(redundant) = self.level.redundant().filter(|_| self.level != Level::Raid4) else {
            let message = format!("{} cannot be declustered", self.level.name());
            return at.refuse("declustered", message, Some("choose raid5, raid6 or erasure"));
        };
        if self.rotation.is_some() {
            let message = "the permutations of a declustered array say where its parity lies";
            return at.refuse("rotation", message, Some("leave it out"));
        }
        if u64::from(width) <= redundant {
            let message =
                format!("a stripe of {width} units has no room for data beside {redundant} of parity");
            return at.refuse("declustered.width", message, None);
        }
        if u64::from(width) + u64::from(spares) > disks {
            let message = format!("{width} units of a stripe and {spares} spare do not fit on {disks} disks");
            return at.refuse("declustered.width", message, Some("give more disks, or narrower stripes"));
        }
        let unit = self.unit();
        if let Some(row) = row.filter(|row| row.0 == 0 || !row.0.is_multiple_of(unit.0.max(1))) {
            let message = format!("{row} is no multiple of the stripe unit of {unit}");
            return at.refuse("declustered.row", message, Some("give whole stripe units"));
        }
        Some(())
    }

    /// Returns true if rebuilds go to the distributed spare.
    pub(super) fn check_rebuild(&self, at: &mut Lowering, layout: &ArrayLayout) -> Option<bool> {
        let spec = self.rebuild.unwrap_or_default();
        if self.rebuild.is_some() && self.level == Level::Raid0 {
            return at.refuse("rebuild", "raid0 has nothing to rebuild a disk from", Some("leave it out"));
        }
        match spec.to {
            Some(Target::HotSpare) if self.spares == 0 => {
                let help = "give `spares: 1`, or leave `to` out: the disk is rebuilt when it is replaced";
                at.refuse("rebuild.to", "there is no hot spare", Some(help))
            }
            Some(Target::DistributedSpare) if layout.spares() == 0 => {
                let help = "give `declustered: {width: …, spares: 1}`";
                at.refuse("rebuild.to", "the layout has no distributed spare", Some(help))
            }
            to => Some(layout.spares() > 0 && to != Some(Target::HotSpare)),
        }
    }

    pub(super) fn check_scrub(&self, at: &mut Lowering) -> Option<()> {
        if self.scrub.is_some() && self.level == Level::Raid0 {
            let help = "leave it out, or choose a level with redundancy";
            return at.refuse("scrub", "raid0 has nothing to compare its data with", Some(help));
        }
        Some(())
    }

    /// The paths to the disks.
    pub(super) fn paths(&self, at: &mut Lowering) -> Option<Vec<NodeId>> {
        let names = self.via.as_ref().map_or(&[][..], Via::names);
        if self.via.is_some() && names.is_empty() {
            return at.refuse("via", "an empty list of paths", Some("name one, or leave it out"));
        }
        if names.iter().enumerate().any(|(n, name)| names[..n].contains(name)) {
            return at.refuse("via", "a path is listed twice", Some("name each once"));
        }
        at.all_paths(names).iter().map(|name| self.link(at, name)).collect()
    }

    fn link(&self, at: &mut Lowering, name: &str) -> Option<NodeId> {
        let link = at.shared("via", name)?;
        let carries = |spec: &ComponentSpec| spec.serves::<Block>() || spec.serves::<PathTransfer>();
        if at.named_in_system(name).is_some_and(|spec| !carries(spec)) {
            return at.refuse("via", format!("`{name}` carries no data"), Some(LINKS));
        }
        if at.capacity(link).0 > 0 {
            return at.refuse("via", format!("`{name}` is not a link: it holds data"), Some(LINKS));
        }
        Some(link)
    }
}

const LINKS: &str = "name a component of `type: link`, `fc_loop`, `scsi_bus` or `sas`";
