//! Placement: the cell of a cartridge that is dismounted. One policy, one file.

pub(super) mod heat;
mod home;
mod nearest;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cells::Shelf;
use super::drives::Cartridge;
use heat::ByHeat;

/// Cell of a cartridge that is dismounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// The cell that it began in, which is kept for it.
    #[default]
    Home,
    /// The nearest free cell.
    Nearest,
    /// A free cell as near as its heat entitles it to: as many of the hottest as the first module has cells go there, the next ones to the
    /// second. A cartridge is the hotter, the later its tenth last use was.
    Heat(ByHeat),
}

impl Placement {
    /// Returns the module in which a cell is looked for first.
    pub(super) fn module(self, shelf: &Shelf, cartridge: Cartridge, is_urgent: bool) -> usize {
        match self {
            Self::Home => home::module(shelf, cartridge),
            Self::Nearest => nearest::module(),
            Self::Heat(spec) if is_urgent && spec.fast_drop_off => nearest::module(),
            Self::Heat(_) => shelf.heat.module(cartridge),
        }
    }
}

#[cfg(test)]
mod tests {
    use headrace_units::Nanos;

    use super::super::cells::StorageModule;
    use super::*;

    /// What has cooled down belongs far away, but for one that makes room for a request.
    #[test]
    fn a_cartridge_that_makes_room_is_dropped_near() {
        let mut shelf = Shelf::default();
        (1..=10).for_each(|at| shelf.heat.use_of(1, Nanos(at)));
        shelf.heat.renew(&[StorageModule { cells: 1, travel: Nanos::ZERO }; 2], Nanos(20));
        let by_heat = |fast_drop_off| Placement::Heat(ByHeat { relocate: false, fast_drop_off });
        let module =
            |placement: Placement, cartridge, is_urgent| placement.module(&shelf, cartridge, is_urgent);
        assert_eq!([module(by_heat(true), 1, false), module(by_heat(true), 2, false)], [0, 1]);
        assert_eq!([module(by_heat(true), 2, true), module(by_heat(false), 2, true)], [0, 1]);
        assert_eq!(module(Placement::Nearest, 2, false), 0);
    }
}
