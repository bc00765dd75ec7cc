//! By heat, as the simulator of ECMWF's library has it (Maesker et al., SC 2016; maesker/RoboticTapeLibrary): hot cartridges near the drives.

use std::collections::{BTreeMap, VecDeque};

use headrace_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::cells::StorageModule;
use super::super::drives::Cartridge;

/// A cartridge is the hotter, the later this use before the present one was: `CRT_HEAT_DEQUE_LENGTH` there.
const USES: usize = 10;

/// What cartridges are entitled to is renewed each hour, as there.
const RENEWAL: Nanos = Nanos(3_600_000_000_000);

/// Cells by heat: what is done beside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByHeat {
    /// Arms of which none has anything to do move cartridges that have cooled down to cells farther away.
    #[serde(default)]
    pub relocate: bool,
    /// A cartridge for whose drive a request waits goes to the nearest free cell.
    #[serde(default)]
    pub fast_drop_off: bool,
}

/// When the cartridges of a group were used, and how late that must have been for each module.
#[derive(Default)]
pub struct Heat {
    uses: BTreeMap<Cartridge, VecDeque<Nanos>>,
    /// For each module but the last, and when that was found.
    limits: Vec<Nanos>,
    renewed: Option<Nanos>,
}

impl Heat {
    /// A cartridge is used.
    pub fn use_of(&mut self, cartridge: Cartridge, now: Nanos) {
        let uses = self.uses.entry(cartridge).or_default();
        uses.push_back(now);
        uses.drain(..uses.len().saturating_sub(USES));
    }

    /// Returns when the tenth-last use of a cartridge was; zero if it has fewer.
    fn of(uses: &VecDeque<Nanos>) -> Nanos {
        uses.front().filter(|_| uses.len() == USES).copied().unwrap_or_default()
    }

    /// Returns the module to which the heat of a cartridge entitles it.
    pub fn module(&self, cartridge: Cartridge) -> usize {
        let heat = self.uses.get(&cartridge).map_or(Nanos::ZERO, Self::of);
        self.limits.iter().take_while(|limit| heat < **limit).count()
    }

    /// Finds the limits again if they are an hour old: as many as there are cells are hot enough. Returns true if it did.
    pub fn renew(&mut self, modules: &[StorageModule], now: Nanos) -> bool {
        if self.renewed.is_some_and(|renewed| now - renewed < RENEWAL) {
            return false;
        }
        let mut heats: Vec<Nanos> = self.uses.values().map(Self::of).collect();
        heats.sort_unstable_by(|a, b| b.cmp(a));
        let mut cells = 0;
        let limit = |module: &StorageModule| {
            cells += module.cells as usize;
            heats.get(cells - 1).copied().unwrap_or_default()
        };
        self.limits = modules[..modules.len() - 1].iter().map(limit).collect();
        self.renewed = Some(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three cartridges that were used ten times, the nearest module has room for the one whose tenth-last use is the latest.
    #[test]
    fn the_hottest_are_entitled_to_the_nearest_cells() {
        let module = |cells| StorageModule { cells, travel: Nanos::ZERO };
        let modules = [module(1), module(2), module(5)];
        let mut heat = Heat::default();
        let used = |heat: &mut Heat, cartridge, times| {
            (1..=times).for_each(|at| heat.use_of(cartridge, Nanos(at * u64::from(cartridge))));
        };
        for cartridge in 1..=3 {
            used(&mut heat, cartridge, 12);
        }
        used(&mut heat, 9, 3);
        used(&mut heat, 8, 9);
        assert!(heat.renew(&modules, Nanos(100)));
        assert_eq!([3, 2, 1, 9, 8, 7].map(|cartridge| heat.module(cartridge)), [0, 1, 1, 2, 2, 2]);
        used(&mut heat, 1, 10_000);
        assert!(!heat.renew(&modules, Nanos(200)));
        assert!(heat.renew(&modules, Nanos(100) + RENEWAL));
        assert_eq!([1, 3, 2].map(|cartridge| heat.module(cartridge)), [0, 1, 1]);
    }
}
