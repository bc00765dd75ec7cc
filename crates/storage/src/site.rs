//! Where the components of one simulation stand.

use std::cell::{Cell, RefCell};

use headrace_kernel::{Sim, Stream};

use crate::timeline::Timeline;

/// Gives each component its place: a number, a path by which results name it, and random streams of its own.
pub struct Site<'m> {
    /// The simulation they live in.
    pub sim: &'m Sim<'m>,
    /// The journeys of the first requests, where they are wanted.
    pub timeline: Timeline,
    seed: u64,
    paths: RefCell<Vec<String>>,
}

/// One component's place on the site, and what came to it.
pub struct Place<'m> {
    /// The site.
    pub site: &'m Site<'m>,
    /// Counts the components of the site from zero.
    pub component: u32,
    /// Its name, under the names of what contains it: `tds/spindle[2]`.
    pub path: String,
    bytes: Cell<u64>,
}

impl<'m> Site<'m> {
    /// An empty site, whose streams come from `seed`.
    pub fn new(sim: &'m Sim<'m>, seed: u64, timeline: Timeline) -> Self {
        Self { sim, timeline, seed, paths: RefCell::default() }
    }

    /// A place for the component at `path`.
    pub fn place(&'m self, path: &str) -> Place<'m> {
        let mut paths = self.paths.borrow_mut();
        paths.push(path.to_owned());
        let component = (paths.len() - 1) as u32;
        Place { site: self, component, path: path.to_owned(), bytes: Cell::new(0) }
    }

    /// The paths of all components, by number.
    pub fn paths(&self) -> Vec<String> {
        self.paths.borrow().clone()
    }
}

impl<'m> Place<'m> {
    /// The random stream of the component here for `purpose`.
    pub fn stream(&self, purpose: &str) -> Stream {
        Stream::named(self.site.seed, &self.path, purpose)
    }

    /// Counts a request that comes here.
    #[inline]
    pub fn ask(&self, bytes: u64) -> &'m Site<'m> {
        self.bytes.set(self.bytes.get() + bytes);
        self.site
    }

    /// The bytes asked for here, by all requests that came.
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }
}
