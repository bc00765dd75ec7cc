//! Numbers by files, for millions of them: 12 bytes an entry, at most two thirds full.

/// Index of files in a list. It is looked up, never walked through, so its order cannot matter.
#[derive(Clone, Debug, Default)]
pub struct FileTable {
    /// Files and their numbers, each at the first free place from its hash on. [`FREE`] stands for no entry.
    files: Vec<u64>,
    numbers: Vec<u32>,
    len: usize,
}

/// The number of no entry; others are smaller.
const FREE: u32 = u32::MAX;

impl FileTable {
    /// The number of a file.
    #[inline]
    pub fn get(&self, file: u64) -> Option<u32> {
        if self.files.is_empty() {
            return None;
        }
        let number = self.numbers[self.place(file)];
        (number != FREE).then_some(number)
    }

    /// Notes the number of a file. Gives the one it had.
    ///
    /// # Panics
    /// If the number is the largest of all: that stands for none.
    pub fn insert(&mut self, file: u64, number: u32) -> Option<u32> {
        assert!(number != FREE, "more than {FREE} files");
        if self.len * 3 >= self.files.len() * 2 {
            self.grow();
        }
        let place = self.place(file);
        let before = std::mem::replace(&mut self.numbers[place], number);
        self.files[place] = file;
        self.len += usize::from(before == FREE);
        (before != FREE).then_some(before)
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no files.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the slot of a file, or the one it would take.
    #[inline]
    fn place(&self, file: u64) -> usize {
        let mask = self.files.len() - 1;
        // Files may be numbered one after another: the highest bits of this product are spread evenly (Fibonacci hashing).
        let mut place = (file.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> mask.leading_zeros()) as usize;
        while self.numbers[place] != FREE && self.files[place] != file {
            place = (place + 1) & mask;
        }
        place
    }

    #[cold]
    fn grow(&mut self) {
        let larger = (self.files.len() * 2).max(16);
        let files = std::mem::replace(&mut self.files, vec![0; larger]);
        let numbers = std::mem::replace(&mut self.numbers, vec![FREE; larger]);
        for (file, number) in files.into_iter().zip(numbers).filter(|(_, number)| *number != FREE) {
            let place = self.place(file);
            (self.files[place], self.numbers[place]) = (file, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in sequence, in steps of powers of two, and hashes.
    #[test]
    fn files_are_found_again() {
        for step in [1, 1 << 20, 1 << 40, 0x9e37_79b9_7f4a_7c15] {
            let mut table = FileTable::default();
            let file = |number: u32| u64::from(number).wrapping_mul(step);
            assert!((0..100_000).all(|number| table.insert(file(number), number).is_none()));
            assert!((0..100_000).all(|number| table.get(file(number)) == Some(number)));
            assert_eq!((table.get(file(100_000)), table.len()), (None, 100_000));
            assert_eq!(
                (table.insert(file(7), 70), table.get(file(7)), table.len()),
                (Some(7), Some(70), 100_000)
            );
        }
    }
}
