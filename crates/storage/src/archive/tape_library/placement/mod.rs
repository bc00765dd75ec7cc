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
