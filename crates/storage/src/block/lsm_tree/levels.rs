//! The tables of a log-structured merge tree, and which of them are merged next.

use std::iter::once;
use std::ops::Range;

/// What is fixed of a store's tables.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Bytes of all keys and values.
    pub keys: u64,
    /// Share of them that is stored at first.
    pub written: f64,
    /// Size of a table, in bytes.
    pub table: u64,
    /// Room for a table, in bytes.
    pub slot: u64,
    /// The device that has room for all tables, and a faster one for those of the first levels.
    pub main: Rooms,
    pub fast: Rooms,
    /// Number of levels, with level 0, that are on the fast device as long as it has room; 0 where there is none.
    pub fast_levels: usize,
    /// Number of tables in level 0 that are compacted.
    pub compact_at: usize,
    /// Size of each level from level 1 on, in bytes; the last one's is `keys`.
    pub targets: Vec<u64>,
}

/// Rooms for tables on a device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rooms {
    /// First byte of the first room.
    pub first: u64,
    /// Number of rooms.
    pub many: u32,
}

impl Shape {
    /// Returns true if a table is on the fast device, whose rooms have the first numbers.
    pub fn is_fast(&self, table: Table) -> bool {
        table.slot < self.fast.many
    }

    /// First byte of a table on its device.
    pub fn address(&self, table: Table) -> u64 {
        if self.is_fast(table) {
            self.fast.first + u64::from(table.slot) * self.slot
        } else {
            self.main.first + u64::from(table.slot - self.fast.many) * self.slot
        }
    }

    /// Returns true if two levels belong on one device.
    fn are_together(&self, one: usize, other: usize) -> bool {
        (one < self.fast_levels) == (other < self.fast_levels)
    }
}

/// A table: sorted keys with their values. Keys are the numbers from 0 to 1, all as likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table {
    pub from: f64,
    pub to: f64,
    pub bytes: u64,
    /// Its room.
    pub slot: u32,
    /// True while a compaction reads it.
    pub is_read: bool,
}

/// Bytes of tables.
fn bytes(tables: &[Table]) -> u64 {
    tables.iter().map(|table| table.bytes).sum()
}

impl Table {
    /// The share of the keys in its range that it has, if the store has `all` bytes of keys.
    fn density(&self, all: f64) -> f64 {
        (self.bytes as f64 / (all * (self.to - self.from))).min(1.0)
    }
}

/// Where the newest value of a key is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Newest {
    /// In a memtable.
    Memory,
    /// In a table.
    Table(Table),
    /// The store has no value of it.
    Nowhere,
}

/// A compaction: tables that are read, and the tables that they become.
#[derive(Clone, Debug, PartialEq)]
pub struct Compaction {
    /// The level that some of its tables are of, and they; 0 is level 0. The others are of the next level.
    pub level: usize,
    pub upper: Vec<Table>,
    pub lower: Vec<Table>,
    pub made: Vec<Table>,
}

impl Compaction {
    /// Returns true if a table becomes one of the next level as it is.
    pub fn only_moves(&self) -> bool {
        self.made == self.upper
    }
}

/// Keys from one to another, and the bytes of those of them that tables have.
#[derive(Clone, Copy, Debug)]
struct Part {
    from: f64,
    to: f64,
    bytes: f64,
}

/// Levels, with level 0 first: there the oldest table is first, in the others the one with the smallest keys.
pub struct Levels<'s> {
    shape: &'s Shape,
    levels: Vec<Vec<Table>>,
    /// Bytes of each level, and those of them that compactions read.
    bytes: Vec<u64>,
    read: Vec<u64>,
    spilled: u64,
    /// Free rooms of the two devices.
    main: Vec<u32>,
    fast: Vec<u32>,
}

impl<'s> Levels<'s> {
    /// Levels as they are when a run begins.
    pub fn new(shape: &'s Shape) -> Self {
        let many = shape.targets.len() + 1;
        let fast = shape.fast.many;
        let mut levels = Self {
            shape,
            levels: vec![Vec::new(); many],
            bytes: vec![0; many],
            read: vec![0; many],
            spilled: 0,
            main: (fast..fast + shape.main.many).rev().collect(),
            fast: (0..fast).rev().collect(),
        };
        for level in 1..many {
            let bytes = (shape.targets[level - 1] as f64 * shape.written) as u64;
            let tables = levels.make(level, bytes, &[Part { from: 0.0, to: 1.0, bytes: bytes as f64 }]);
            levels.put(level, 0..0, tables);
        }
        levels
    }

    /// Number of tables in level 0.
    pub fn in_level0(&self) -> usize {
        self.levels[0].len()
    }

    /// Bytes of tables on the main device that belong on the fast one, and had no room there.
    pub fn spilled(&self) -> u64 {
        self.spilled
    }

    /// Makes a table of level 0 from a memtable; `None` if there is no room for one.
    pub fn reserve(&mut self, bytes: u64) -> Option<Table> {
        let slot = if self.main.is_empty() { None } else { self.rooms(0, 1).pop() };
        Some(Table { from: 0.0, to: 1.0, bytes, slot: slot?, is_read: false })
    }

    /// Takes rooms for tables of a level, which the main device has: on the fast one as many as are free, if it belongs there.
    fn rooms(&mut self, level: usize, many: usize) -> Vec<u32> {
        let fast = if level < self.shape.fast_levels { many.min(self.fast.len()) } else { 0 };
        let mut rooms = self.fast.split_off(self.fast.len() - fast);
        rooms.extend(self.main.split_off(self.main.len() - (many - fast)));
        rooms
    }

    /// Gives the rooms of tables back.
    fn give_back<'t>(&mut self, tables: impl Iterator<Item = &'t Table>) {
        for table in tables {
            let free = if self.shape.is_fast(*table) { &mut self.fast } else { &mut self.main };
            free.push(table.slot);
        }
    }

    /// Adds a table to level 0.
    pub fn add(&mut self, table: Table) {
        self.put(0, self.in_level0()..self.in_level0(), vec![table]);
    }

    /// Where the newest value of a key is that the store has: each level has it by chance, as many of the keys as it holds. `chance` is from 0
    /// to 1, and `memory` has the bytes of memtables.
    pub fn newest(&self, memory: u64, key: f64, chance: f64) -> Newest {
        let missing = self.holders(memory, key).map(|(share, _)| 1.0 - share).product::<f64>();
        let mut left = chance * (1.0 - missing);
        let mut found = Newest::Nowhere;
        let mut not_above = 1.0;
        for (share, holder) in self.holders(memory, key) {
            found = if share > 0.0 { holder } else { found };
            left -= not_above * share;
            if left < 0.0 {
                break;
            }
            not_above *= 1.0 - share;
        }
        found
    }

    /// The share of the keys about this one that memory and each table have, newest first.
    fn holders(&self, memory: u64, key: f64) -> impl Iterator<Item = (f64, Newest)> {
        let all = self.shape.keys as f64;
        let in_memory = ((memory as f64 / all).min(1.0), Newest::Memory);
        let with = move |table: &Table| (table.density(all), Newest::Table(*table));
        let at = move |tables: &&Vec<Table>| tables.partition_point(|table| table.to <= key);
        let lower = self.levels[1..].iter();
        let lower = lower.filter_map(move |tables| tables.get(at(&tables)).filter(|table| table.from <= key));
        once(in_memory).chain(self.levels[0].iter().rev().chain(lower).map(with))
    }

    /// Bytes that compactions have to move until no level is larger than it may be, as RocksDB estimates them.
    pub fn debt(&self) -> u64 {
        let is_due = self.in_level0() >= self.shape.compact_at;
        let mut carried = if is_due { self.bytes[0] as f64 } else { 0.0 };
        let mut debt = if is_due { (self.bytes[0] + self.bytes[1]) as f64 } else { 0.0 };
        for level in 1..self.levels.len() - 1 {
            let size = self.bytes[level] as f64 + carried;
            carried = (size - self.shape.targets[level - 1] as f64).max(0.0);
            debt += carried * (self.bytes[level + 1] as f64 / size.max(1.0) + 1.0);
        }
        debt as u64
    }

    /// Begins the compaction that is most due, if one is and can begin: of the level that is largest beside its target.
    pub fn begin(&mut self) -> Option<Compaction> {
        let mut due: Vec<(f64, usize)> =
            (0..self.levels.len() - 1).map(|level| (self.score(level), level)).collect();
        due.retain(|(score, _)| *score >= 1.0);
        due.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        due.into_iter()
            .find_map(|(_, level)| if level == 0 { self.begin_level0() } else { self.begin_at(level) })
    }

    /// How much larger a level is than it may be, without what is being compacted.
    fn score(&self, level: usize) -> f64 {
        match level {
            // All of its tables are read, or none that a compaction could begin with.
            0 => self.in_level0() as f64 / self.shape.compact_at as f64,
            _ => (self.bytes[level] - self.read[level]) as f64 / self.shape.targets[level - 1] as f64,
        }
    }

    /// Merges all tables of level 0 with all of level 1, unless one of them is being compacted.
    fn begin_level0(&mut self) -> Option<Compaction> {
        if self.read[0] > 0 || self.read[1] > 0 {
            return None;
        }
        self.start(0, 0..self.levels[0].len(), 0..self.levels[1].len())
    }

    /// Merges the table of a level that overlaps the fewest bytes of the next level for each of its own: RocksDB's `kMinOverlappingRatio`. Tables
    /// that are read, or whose others are, wait.
    fn begin_at(&mut self, level: usize) -> Option<Compaction> {
        let below = &self.levels[level + 1];
        let (mut begin, mut end, mut overlapping, mut read) = (0, 0, 0, 0);
        let mut best: Option<(f64, usize, Range<usize>)> = None;
        for (at, table) in self.levels[level].iter().enumerate() {
            while end < below.len() && below[end].from < table.to {
                overlapping += below[end].bytes;
                read += usize::from(below[end].is_read);
                end += 1;
            }
            while begin < end && below[begin].to <= table.from {
                overlapping -= below[begin].bytes;
                read -= usize::from(below[begin].is_read);
                begin += 1;
            }
            let ratio = overlapping as f64 / table.bytes as f64;
            let can = read == 0 && !table.is_read;
            if can && best.as_ref().is_none_or(|(least, ..)| ratio < *least) {
                best = Some((ratio, at, begin..end));
            }
        }
        let (_, at, lower) = best?;
        self.start(level, at..at + 1, lower)
    }

    /// Begins a compaction of tables of a level and the next one, if there is room for what it makes.
    fn start(&mut self, level: usize, upper: Range<usize>, lower: Range<usize>) -> Option<Compaction> {
        let mut found = Compaction {
            level,
            upper: self.levels[level][upper.clone()].to_vec(),
            lower: self.levels[level + 1][lower.clone()].to_vec(),
            made: Vec::new(),
        };
        let is_alone = found.lower.is_empty() && found.upper.len() == 1;
        if is_alone && self.shape.are_together(level, level + 1) {
            found.made = found.upper.clone();
        } else {
            let merged = self.merged(&found);
            let bytes = merged.iter().map(|part| part.bytes).sum::<f64>() as u64;
            if bytes.div_ceil(self.shape.table) > self.main.len() as u64 {
                return None;
            }
            found.made = self.make(level + 1, bytes, &merged);
        }
        for (level, tables) in [(level, upper), (level + 1, lower)] {
            for table in &mut self.levels[level][tables] {
                table.is_read = true;
                self.read[level] += table.bytes;
            }
        }
        Some(found)
    }

    /// The union of tables, in parts of the keys: of a key that several have, one value is left. Each table has a random part of all keys in
    /// its range.
    fn merged(&self, found: &Compaction) -> Vec<Part> {
        let all = self.shape.keys as f64;
        let missing = found.upper.iter().map(|table| 1.0 - table.density(all)).product::<f64>();
        let (from, to) = (found.upper[0].from, found.upper[0].to);
        let ends = found.lower.iter().flat_map(|table| [table.from, table.to]).chain([from, to]);
        let mut ends: Vec<f64> = ends.collect();
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        let mut lower = found.lower.iter().peekable();
        let part = |(begin, end): (f64, f64)| {
            while lower.next_if(|table| table.to <= begin).is_some() {}
            let above = if begin < from || begin >= to { 1.0 } else { missing };
            let below = lower.peek().filter(|table| table.from <= begin);
            let density = 1.0 - above * (1.0 - below.map_or(0.0, |table| table.density(all)));
            Part { to: end, from: begin, bytes: all * (end - begin) * density }
        };
        ends.iter().copied().zip(ends[1..].iter().copied()).map(part).collect()
    }

    /// Tables of a level, of equal sizes, for this number of bytes of these parts. The main device has room for all of them.
    fn make(&mut self, level: usize, bytes: u64, parts: &[Part]) -> Vec<Table> {
        let many = bytes.div_ceil(self.shape.table);
        let all = parts.iter().map(|part| part.bytes).sum::<f64>();
        let (mut at, mut before, mut from) = (0, 0.0, parts[0].from);
        let mut table = |(n, slot)| {
            let wanted = all * (n + 1) as f64 / many as f64;
            while at + 1 < parts.len() && before + parts[at].bytes < wanted {
                before += parts[at].bytes;
                at += 1;
            }
            let part = &parts[at];
            let share = if part.bytes > 0.0 { ((wanted - before) / part.bytes).clamp(0.0, 1.0) } else { 1.0 };
            // The last key is exact, so that the next table begins with it.
            let to = if n + 1 == many {
                parts[parts.len() - 1].to
            } else {
                part.from + (part.to - part.from) * share
            };
            let bytes = bytes * (n + 1) / many - bytes * n / many;
            Table { from: std::mem::replace(&mut from, to), to, bytes, slot, is_read: false }
        };
        (0..many).zip(self.rooms(level, many as usize)).map(&mut table).collect()
    }

    /// Replaces the tables that a compaction has read by those that it made.
    pub fn end(&mut self, done: Compaction) {
        if !done.only_moves() {
            self.give_back(done.upper.iter().chain(&done.lower));
        }
        let level = done.level;
        self.read[level] -= bytes(&done.upper);
        self.read[level + 1] -= bytes(&done.lower);
        let at = self.levels[level].iter().position(|table| table.slot == done.upper[0].slot).unwrap_or(0);
        self.put(level, at..at + done.upper.len(), Vec::new());
        let first = done.made.first().map_or(0.0, |table| table.from);
        let at = self.levels[level + 1].partition_point(|table| table.to <= first);
        self.put(level + 1, at..at + done.lower.len(), done.made);
    }

    /// Replaces tables of a level by others.
    fn put(&mut self, level: usize, others: Range<usize>, tables: Vec<Table>) {
        self.bytes[level] += bytes(&tables);
        self.spilled += self.spilled_of(level, &tables);
        let gone: Vec<Table> = self.levels[level].splice(others, tables).collect();
        self.bytes[level] -= bytes(&gone);
        self.spilled -= self.spilled_of(level, &gone);
    }

    fn spilled_of(&self, level: usize, tables: &[Table]) -> u64 {
        let is_spilled = |table: &&Table| level < self.shape.fast_levels && !self.shape.is_fast(**table);
        tables.iter().filter(is_spilled).map(|table| table.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Levels of which the first two belong on a device that has room for some of their tables.
    fn shape(keys: u64, table: u64, fan_out: u64, base: u64) -> Shape {
        let mut targets = vec![keys];
        while targets[0] > base {
            targets.insert(0, (targets[0] / fan_out).max(1));
        }
        let levels: u64 = targets.iter().map(|target| target.div_ceil(table)).sum();
        let slots = (levels + keys.div_ceil(table) + 80) as u32;
        let (main, fast) = (Rooms { first: 0, many: slots }, Rooms { first: 0, many: 6 });
        Shape { keys, written: 1.0, table, slot: table, main, fast, fast_levels: 2, compact_at: 4, targets }
    }

    /// Every room is free or holds one table; tables of a level are in order, apart, and their bytes are counted; the fast device has none of
    /// a level below.
    fn check(levels: &Levels) {
        let held = levels.levels.iter().flatten().map(|table| table.slot);
        let mut slots: Vec<u32> = held.chain(levels.main.iter().chain(&levels.fast).copied()).collect();
        slots.sort_unstable();
        assert_eq!(slots, (0..levels.shape.main.many + 6).collect::<Vec<_>>());
        assert!(levels.levels[2..].iter().flatten().all(|table| !levels.shape.is_fast(*table)));
        let on_fast = levels.levels[..2].iter().flatten().filter(|table| levels.shape.is_fast(**table));
        let on_fast = on_fast.map(|table| table.bytes).sum::<u64>();
        assert_eq!(levels.spilled(), levels.bytes[0] + levels.bytes[1] - on_fast);
        for (level, tables) in levels.levels.iter().enumerate() {
            assert_eq!(levels.bytes[level], tables.iter().map(|table| table.bytes).sum::<u64>());
            if level > 0 {
                assert!(tables.windows(2).all(|pair| pair[0].to <= pair[1].from), "level {level}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_table_is_lost_or_doubled(
            keys in 1_000_u64..200_000, table in 50_u64..2_000, fan_out in 2_u64..20, flushes in 1_usize..300
        ) {
            let shape = shape(keys.max(4 * table), table, fan_out, 4 * table);
            let mut levels = Levels::new(&shape);
            check(&levels);
            for _ in 0..flushes {
                let Some(made) = levels.reserve(table) else { break };
                levels.add(made);
                while let Some(begun) = levels.begin() {
                    levels.end(begun);
                }
                check(&levels);
                prop_assert!(levels.in_level0() < shape.compact_at);
                prop_assert!(*levels.bytes.last().unwrap() <= shape.keys + 1);
            }
        }

        /// Two compactions at once never read the same table.
        #[test]
        fn compactions_at_once_are_apart(flushes in 5_usize..200) {
            let shape = shape(400_000, 1_000, 10, 4_000);
            let mut levels = Levels::new(&shape);
            let mut running: Vec<Compaction> = Vec::new();
            for n in 0..flushes {
                if let Some(made) = levels.reserve(1_000) {
                    levels.add(made);
                }
                running.extend(levels.begin());
                let mut read: Vec<u32> =
                    running.iter().flat_map(|one| one.upper.iter().chain(&one.lower)).map(|table| table.slot).collect();
                read.sort_unstable();
                prop_assert!(read.windows(2).all(|pair| pair[0] != pair[1]));
                if n % 3 == 0 && !running.is_empty() {
                    levels.end(running.remove(0));
                }
            }
        }
    }

    /// Each byte that leaves a level that is as large as it may be is merged with as many of the next as that is larger; with the bytes
    /// that come from above it is written again in each level. The table that is chosen overlaps fewer than most, which is why the sum is a bound
    /// from above (Lim, Andersen and Kaminsky, "Towards accurate and fast evaluation of multi-stage log-structured designs", FAST 2016).
    #[test]
    fn write_amplification_is_at_most_that_of_full_levels() {
        for (fan_out, levels_below) in [(4, 3), (10, 2)] {
            let table = 1_000;
            let shape = shape(4_000 * u64::pow(fan_out, levels_below), table, fan_out, 4_000);
            let mut levels = Levels::new(&shape);
            let (mut put, mut written) = (0, 0);
            for n in 0..20_000 {
                let made = levels.reserve(table).expect("compactions make room");
                levels.add(made);
                while let Some(begun) = levels.begin() {
                    written += begun.made.iter().map(|table| table.bytes).sum::<u64>()
                        * u64::from(n > 10_000 && !begun.only_moves());
                    levels.end(begun);
                }
                put += if n > 10_000 { table } else { 0 };
            }
            // Level 1 is rewritten by four tables each time, the others by a table of the level before.
            let most = 2.0 + f64::from(levels_below) * (fan_out as f64 + 1.0);
            let found = written as f64 / put as f64;
            assert!(found < most, "{fan_out}: {found} of at most {most}");
            assert!(found > most / 2.5, "{fan_out}: {found} of at most {most}");
        }
    }

    /// A table that has no others to be merged with is written again where its next level is on the other device, and moves elsewhere.
    #[test]
    fn a_table_moves_within_a_device() {
        let shape = Shape { written: 0.0, compact_at: 1, ..shape(16_000, 1_000, 4, 1_000) };
        let mut levels = Levels::new(&shape);
        let made = levels.reserve(1_000).unwrap();
        assert!(shape.is_fast(made));
        levels.add(made);
        let mut level = |at: usize| {
            levels.levels[at][0].bytes = shape.targets[at.max(1) - 1];
            levels.bytes[at] = shape.targets[at.max(1) - 1];
            let begun = levels.begin().unwrap();
            let found = (begun.only_moves(), begun.made.iter().any(|table| shape.is_fast(*table)));
            levels.end(begun);
            found
        };
        assert_eq!((level(0), level(1)), ((true, true), (false, false)));
        assert_eq!((levels.fast.len(), levels.in_level0()), (6, 0));
    }

    /// The union of random halves of the keys has three quarters of them.
    #[test]
    fn of_a_key_in_both_levels_one_value_is_left() {
        let shape = Shape {
            keys: 1_000_000,
            written: 0.5,
            table: 600_000,
            slot: 600_000,
            main: Rooms { first: 0, many: 9 },
            fast: Rooms::default(),
            fast_levels: 0,
            compact_at: 1,
            targets: vec![1_000_000],
        };
        let mut levels = Levels::new(&shape);
        let made = levels.reserve(500_000).unwrap();
        levels.add(made);
        let begun = levels.begin().unwrap();
        assert_eq!(begun.made.iter().map(|table| table.bytes).sum::<u64>(), 750_000);
    }
}
