//! Blocks against a plain model of both devices: whatever is asked, the newest data is found.

use std::collections::BTreeMap;

use headrace_work::{Block, Op};
use proptest::prelude::*;

use super::blocks::CachedBlocks;
use super::spec::CacheStart;
use crate::core::replacement::ReplacementSpec;

const BLOCK: u64 = 4096;
const SECTOR: u64 = 512;

/// Two devices and their sectors' contents: the number of the write that each is from, 0 at the start.
struct Devices {
    blocks: CachedBlocks,
    cache: BTreeMap<u64, u64>,
    target: BTreeMap<u64, u64>,
    newest: BTreeMap<u64, u64>,
    writes: u64,
}

fn sectors(work: Block) -> impl Iterator<Item = u64> {
    (work.address / SECTOR..work.end() / SECTOR).map(|number| number * SECTOR)
}

impl Devices {
    fn on_cache(&self, address: u64) -> u64 {
        self.blocks.location(Block { op: Op::Read, address, bytes: SECTOR }).unwrap().address
    }

    fn read(&mut self, work: Block) {
        let found = self.blocks.read(work);
        let from_target: Vec<u64> = found.rest.iter().flat_map(|part| sectors(*part)).collect();
        let from_cache: Vec<u64> = found.cached.iter().flat_map(|part| sectors(*part)).collect();
        for address in sectors(work) {
            let newest = self.newest.get(&address);
            let is_there = from_target.contains(&address) && self.target.get(&address) == newest;
            let is_cached =
                from_cache.contains(&address) && self.cache.get(&self.on_cache(address)) == newest;
            assert!(is_there || is_cached, "sector {address} of {work:?} is old: {found:?}");
        }
        found.cached.iter().for_each(|part| self.blocks.unpin(*part));
        for address in from_target {
            let part = Block { op: Op::Write, address, bytes: SECTOR };
            if self.blocks.admit(address / BLOCK) {
                if !self.blocks.is_dirty(part) {
                    self.put_on_cache(address, self.target.get(&address).copied());
                }
                self.blocks.validate(part, false);
                self.blocks.unpin(part);
            }
        }
    }

    fn put_on_cache(&mut self, address: u64, version: Option<u64>) {
        let there = self.on_cache(address);
        match version {
            Some(version) => self.cache.insert(there, version),
            None => self.cache.remove(&there),
        };
    }

    fn write(&mut self, work: Block, past: bool) {
        self.writes += 1;
        sectors(work).for_each(|address| _ = self.newest.insert(address, self.writes));
        if past {
            self.blocks.invalidate(work);
            return sectors(work).for_each(|address| _ = self.target.insert(address, self.writes));
        }
        let found = self.blocks.write(work, true);
        for part in found.cached {
            sectors(part).for_each(|address| self.put_on_cache(address, Some(self.writes)));
            self.blocks.unpin(part);
        }
        for part in found.rest {
            sectors(part).for_each(|address| _ = self.target.insert(address, self.writes));
        }
    }

    fn write_back(&mut self, most: u64) -> bool {
        let run = self.blocks.take_run(most);
        for pair in run.windows(2) {
            assert_eq!(pair[0].end(), pair[1].address, "a run has no gap");
        }
        for part in &run {
            for address in sectors(*part) {
                let version = self.cache[&self.on_cache(address)];
                self.target.insert(address, version);
            }
            self.blocks.unpin(*part);
        }
        !run.is_empty()
    }
}

proptest! {
    #[test]
    fn the_newest_data_is_found(
        asked in prop::collection::vec((0u8..5, 0u64..120, 1u64..40), 1..120),
        slots in 1u64..8, full in any::<bool>(), policy in 0usize..3,
    ) {
        let begins = if full { CacheStart::Full } else { CacheStart::Empty };
        let blocks = CachedBlocks::new(BLOCK, slots, begins, ReplacementSpec::ALL[policy]);
        let (cache, target, newest) = Default::default();
        let mut devices = Devices { blocks, cache, target, newest, writes: 0 };
        for (what, first, many) in asked {
            let work = Block { op: Op::Read, address: first * SECTOR, bytes: many * SECTOR };
            match what {
                0 | 1 => devices.read(work),
                2 | 3 => devices.write(work, what == 3),
                _ => _ = devices.write_back(many * BLOCK / 4),
            }
            prop_assert!(devices.blocks.held() <= slots);
            prop_assert!(devices.blocks.dirty_bytes() <= slots * BLOCK);
        }
        while devices.write_back(1 << 20) {}
        prop_assert_eq!(devices.blocks.dirty_bytes(), 0);
        prop_assert_eq!(devices.target, devices.newest, "all of it has reached the target");
    }
}

/// Of a full cache under uniform accesses, as many find their block as the cache has of all.
#[test]
fn uniform_accesses_hit_in_proportion_to_size() {
    let stream = headrace_kernel::RngStream::named(1, "", "addresses");
    let mut draws = stream.draws();
    let mut blocks = CachedBlocks::new(BLOCK, 3000, CacheStart::Full, ReplacementSpec::Lru);
    let mut hits = 0;
    for _ in 0..200_000 {
        let work = Block { op: Op::Read, address: draws.below(10_000) * BLOCK, bytes: BLOCK };
        let found = blocks.read(work);
        hits += found.cached.len();
        found.cached.iter().for_each(|part| blocks.unpin(*part));
        for part in found.rest {
            assert!(blocks.admit(part.address / BLOCK));
            blocks.validate(part, false);
            blocks.unpin(part);
        }
    }
    let ratio = hits as f64 / 200_000.0;
    assert!((ratio - 0.3).abs() < 0.005, "{ratio}");
}
