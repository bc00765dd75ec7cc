//! Cells: where cartridges lie, and how far that is from the drives.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use headrace_kernel::RngStream;
use headrace_units::Nanos;
use headrace_work::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drives::Cartridge;
use super::placement::{Placement, heat};

/// Cells of a library and the way to them: an arm travels from where it put the last cartridge to the next one, and with it to a drive or a
/// cell. A cartridge begins in a random cell of its group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cells {
    /// The storage modules of each group, the nearest to its drives first. Cartridges for which they have no room lie in the last one too.
    #[schemars(length(min = 1, max = 1000))]
    pub modules: Vec<StorageModule>,
    /// Cell of a cartridge that is dismounted. Default: the one that it began in.
    #[serde(default)]
    pub placement: Placement,
}

/// Cells that are equally far from the drives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StorageModule {
    /// Number of cells.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub cells: u32,
    /// Time for which an arm travels from the drives to these cells.
    pub travel: Nanos,
}

impl Cells {
    /// Returns the error of invalid parameters; `None` if they are valid.
    pub fn problem(&self) -> Option<Invalid> {
        (!self.modules.is_sorted_by_key(|module| module.travel))
            .then(|| Invalid::new("", "the modules must be in order of `travel`, the nearest first"))
    }

    /// Returns true if cartridges that have cooled down are moved away.
    pub fn relocates(&self) -> bool {
        matches!(self.placement, Placement::Heat(spec) if spec.relocate)
    }
}

/// The cells of a library in a simulation.
pub(super) struct Shelves<'m> {
    spec: Option<&'m Cells>,
    /// Where cartridges begin.
    random: RngStream,
    groups: RefCell<Vec<Shelf>>,
}

/// The cells of a group.
#[derive(Default)]
pub(super) struct Shelf {
    /// Number of free cells in each module; negative in the last one if there is no room.
    free: Vec<i64>,
    /// The module of each cartridge that lies in a cell, or has it kept.
    pub modules: BTreeMap<Cartridge, usize>,
    /// When cartridges were used.
    pub heat: heat::Heat,
    /// Cartridges to be moved away.
    cold: VecDeque<Cartridge>,
}

impl<'m> Shelves<'m> {
    pub fn new(spec: Option<&'m Cells>, groups: usize, random: RngStream) -> Self {
        let free =
            || spec.iter().flat_map(|spec| &spec.modules).map(|module| i64::from(module.cells)).collect();
        let shelf = |_| Shelf { free: free(), ..Shelf::default() };
        Self { spec, random, groups: RefCell::new((0..groups).map(shelf).collect()) }
    }

    /// A cartridge is used.
    pub fn use_of(&self, group: usize, cartridge: Cartridge, now: Nanos) {
        if let Some(Cells { placement: Placement::Heat(_), .. }) = self.spec {
            self.groups.borrow_mut()[group].heat.use_of(cartridge, now);
        }
    }

    /// Returns how far the cell of a cartridge is from the drives. It leaves the cell.
    pub fn take(&self, group: usize, cartridge: Cartridge) -> Nanos {
        let Some(spec) = self.spec else { return Nanos::ZERO };
        let shelf = &mut self.groups.borrow_mut()[group];
        let module = shelf.modules.get(&cartridge).copied();
        let module = module.unwrap_or_else(|| shelf.lay(cartridge, self.first_module(spec, cartridge)));
        if spec.placement != Placement::Home {
            shelf.leave(cartridge);
        }
        spec.modules[module].travel
    }

    fn first_module(&self, spec: &Cells, cartridge: Cartridge) -> usize {
        let all: u64 = spec.modules.iter().map(|module| u64::from(module.cells)).sum();
        let mut cell = (self.random.of(u64::from(cartridge)).uniform() * all as f64) as u64;
        let is_there = |module: &StorageModule| {
            let within = cell < u64::from(module.cells);
            cell = cell.saturating_sub(u64::from(module.cells));
            within
        };
        spec.modules.iter().position(is_there).unwrap_or(spec.modules.len() - 1)
    }

    /// Returns how far the cell is from the drives to which a cartridge is put: in a hurry if a request waits for its drive.
    pub fn put(&self, group: usize, cartridge: Cartridge, is_urgent: bool, now: Nanos) -> Nanos {
        let Some(spec) = self.spec else { return Nanos::ZERO };
        let shelf = &mut self.groups.borrow_mut()[group];
        self.renew(spec, shelf, now);
        let mut module = spec.placement.module(shelf, cartridge, is_urgent);
        if spec.placement != Placement::Home {
            module = shelf.lay(cartridge, module);
        }
        spec.modules[module].travel
    }

    /// Renews what cells by heat go by, and lists what is too near.
    fn renew(&self, spec: &Cells, shelf: &mut Shelf, now: Nanos) {
        if matches!(spec.placement, Placement::Heat(_)) && shelf.heat.renew(&spec.modules, now) {
            let is_near = |(cartridge, module): (&Cartridge, &usize)| {
                (shelf.heat.module(*cartridge) > *module).then_some((*module, *cartridge))
            };
            let mut cold: Vec<_> = shelf.modules.iter().filter_map(is_near).collect();
            cold.sort_unstable();
            shelf.cold = cold.into_iter().map(|(_, cartridge)| cartridge).collect();
        }
    }

    /// Returns the next cartridge of a group that has cooled down.
    pub fn next_cold(&self, group: usize) -> Option<Cartridge> {
        self.groups.borrow_mut()[group].cold.pop_front()
    }

    /// Moves a cartridge that has cooled down to a cell farther away. Returns where it was and where it goes, if it was in a cell and there is
    /// room.
    pub fn move_away(&self, group: usize, cartridge: Cartridge) -> Option<(Nanos, Nanos)> {
        let (spec, shelf) = (self.spec?, &mut self.groups.borrow_mut()[group]);
        let (from, to) = (*shelf.modules.get(&cartridge)?, shelf.heat.module(cartridge));
        let to = (to..shelf.free.len()).find(|module| *module > from && shelf.free[*module] > 0)?;
        shelf.leave(cartridge);
        shelf.lay(cartridge, to);
        Some((spec.modules[from].travel, spec.modules[to].travel))
    }
}

impl Shelf {
    /// Puts a cartridge into a free cell of a module, else of the next one farther away, else of one nearer. Gives its module.
    fn lay(&mut self, cartridge: Cartridge, module: usize) -> usize {
        let mut modules = (module..self.free.len()).chain((0..module).rev());
        let module = modules.find(|module| self.free[*module] > 0).unwrap_or(self.free.len() - 1);
        self.free[module] -= 1;
        self.modules.insert(cartridge, module);
        module
    }

    fn leave(&mut self, cartridge: Cartridge) {
        if let Some(module) = self.modules.remove(&cartridge) {
            self.free[module] += 1;
        }
    }
}
