//! Progressive filling: all rates rise together until a link is full, whose transfers then have their rate.

use super::class::TransferClass;

/// Memory that is used again from one filling to the next.
#[derive(Default)]
pub(super) struct Filling {
    /// Of each link: the rate that is not given away, and how many transfers still want some of it.
    links: Vec<(f64, u64)>,
    /// Links that active classes use, each once.
    used: Vec<u32>,
    /// Classes that have no rate yet.
    open: Vec<usize>,
}

/// Limit of a rate: a link, or the limit of a class.
#[derive(Clone, Copy)]
enum RateLimit {
    Link(u32),
    Class(usize),
}

/// Gives each active class its max-min fair rate, and what limits it.
pub(super) fn fill(
    filling: &mut Filling,
    rates: impl Iterator<Item = f64>,
    classes: &mut [TransferClass],
    active: &[usize],
) {
    filling.begin(rates, classes, active);
    while !filling.open.is_empty() {
        let (limit, rate) = filling.next_limit(classes);
        match limit {
            RateLimit::Class(at) => filling.close(at, classes, rate, usize::MAX),
            RateLimit::Link(link) => {
                while let Some((at, place)) = filling.open_on(link, classes) {
                    filling.close(at, classes, rate, place);
                }
            }
        }
    }
}

impl Filling {
    fn begin(&mut self, rates: impl Iterator<Item = f64>, classes: &[TransferClass], active: &[usize]) {
        self.links.clear();
        self.links.extend(rates.map(|rate| (rate, 0)));
        self.used.clear();
        self.open.clear();
        self.open.extend_from_slice(active);
        for class in active.iter().map(|at| &classes[*at]) {
            for &link in &class.links {
                let (_, wanted) = &mut self.links[link as usize];
                if *wanted == 0 {
                    self.used.push(link);
                }
                *wanted += class.running;
            }
        }
        self.used.sort_unstable();
    }

    /// The lowest rate at which something is full.
    fn next_limit(&self, classes: &[TransferClass]) -> (RateLimit, f64) {
        let shares = self.used.iter().filter_map(|&link| {
            let (left, wanted) = self.links[link as usize];
            (wanted > 0).then(|| (RateLimit::Link(link), left / wanted as f64))
        });
        let own = self.open.iter().map(|&at| (RateLimit::Class(at), classes[at].most));
        let lowest = shares.chain(own).min_by(|(_, one), (_, other)| one.total_cmp(other));
        lowest.expect("a class is open, and it has a limit")
    }

    /// The first open class on a link, and the place of the link among its own.
    fn open_on(&self, link: u32, classes: &[TransferClass]) -> Option<(usize, usize)> {
        let place = |at: usize| classes[at].links.iter().position(|other| *other == link);
        self.open.iter().find_map(|&at| Some((at, place(at)?)))
    }

    /// Gives a class its rate. `limit` is the place of the link among its own, beyond them for its own limit.
    fn close(&mut self, at: usize, classes: &mut [TransferClass], rate: f64, limit: usize) {
        let class = &mut classes[at];
        class.rate = rate;
        class.limit = limit.min(class.links.len());
        for &link in &class.links {
            let (left, wanted) = &mut self.links[link as usize];
            *left = (*left - rate * class.running as f64).max(0.0);
            *wanted -= class.running;
        }
        self.open.retain(|open| *open != at);
    }
}
