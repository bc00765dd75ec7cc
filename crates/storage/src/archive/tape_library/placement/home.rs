//! The cell that a cartridge began in.

use super::super::cells::Shelf;
use super::super::drives::Cartridge;

/// Returns the module of the cell that is kept for a cartridge.
pub fn module(shelf: &Shelf, cartridge: Cartridge) -> usize {
    shelf.modules.get(&cartridge).copied().unwrap_or_default()
}
