//! Files on a component: where they lie, and in which order their data is asked for.

use headrace_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Placement of a stream's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Adjacent.
    #[default]
    Contiguous,
    /// Spread evenly from start to end: from the fast zones of disks to the slow ones.
    Spread,
}

/// Files begin on multiples of this, as partitions do.
const MIB: u64 = 1 << 20;

/// The files of one stream, all of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents {
    first: u64,
    /// From one file's beginning to the next.
    stride: u64,
    size: u64,
    files: u64,
}

impl Extents {
    /// Returns the space that `files` files of `size` take up, each up to where the next can begin.
    pub fn room(size: Bytes, files: u64) -> Bytes {
        Bytes(size.0.next_multiple_of(MIB).saturating_mul(files))
    }

    /// Files `first` to before `first + files` of the `all` that share `component` bytes from `from` on, where they fit.
    pub fn place(
        placement: Placement,
        size: Bytes,
        (first, files, all): (u64, u64, u64),
        from: u64,
        room: u64,
    ) -> Self {
        let stride = match placement {
            Placement::Contiguous => size.0.next_multiple_of(MIB),
            Placement::Spread => room / all / MIB * MIB,
        };
        let begin = from.next_multiple_of(MIB);
        Self { first: begin + first * stride, stride: stride.max(size.0), size: size.0, files }
    }
}

/// Goes through files, each from its beginning to its end, one after another and around again.
#[derive(Clone, Debug)]
pub struct InFiles {
    extents: Extents,
    file: u64,
    next: u64,
}

impl InFiles {
    /// At the beginning of the first file.
    pub fn new(extents: Extents) -> Self {
        Self { extents, file: 0, next: 0 }
    }

    /// The address of the next request of `bytes`. A request that does not fit at the end of a file goes to the start of the next.
    pub fn address(&mut self, bytes: u64) -> u64 {
        let Extents { first, stride, size, files } = self.extents;
        if self.next + bytes > size {
            self.file = (self.file + 1) % files;
            self.next = 0;
        }
        let address = first + self.file * stride + self.next;
        self.next += bytes;
        address
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn begins(placement: Placement, room: u64) -> Vec<u64> {
        let of = |first, files| Extents::place(placement, Bytes(2 * MIB), (first, files, 4), 0, room);
        let begins =
            |extents: Extents| (0..extents.files).map(move |n| (extents.first + n * extents.stride) / MIB);
        begins(of(0, 3)).chain(begins(of(3, 1))).collect()
    }

    #[test]
    fn files_of_two_streams_lie_side_by_side_or_apart() {
        assert_eq!(begins(Placement::Contiguous, 100 * MIB), [0, 2, 4, 6]);
        assert_eq!(begins(Placement::Spread, 100 * MIB), [0, 25, 50, 75]);
    }

    #[test]
    fn a_file_is_read_to_its_end_before_the_next() {
        let extents = Extents::place(Placement::Spread, Bytes(10), (0, 2, 2), 0, 4 * MIB);
        let mut files = InFiles::new(extents);
        let found: Vec<u64> = (0..5).map(|_| files.address(4)).collect();
        assert_eq!(found, [0, 4, 2 * MIB, 2 * MIB + 4, 0], "two bytes are left over at the end of each");
    }

    proptest! {
        #[test]
        fn requests_stay_in_files(
            size in 1u64..5000, files in 1u64..6, spread in any::<bool>(), requests in prop::collection::vec(1u64..5000, 1..50)
        ) {
            let placement = if spread { Placement::Spread } else { Placement::Contiguous };
            let extents = Extents::place(placement, Bytes(size), (0, files, files), 0, files * 3 * MIB);
            let mut within = InFiles::new(extents);
            for bytes in requests.into_iter().map(|bytes| bytes.min(size)) {
                let address = within.address(bytes);
                let (file, offset) = ((address - extents.first) / extents.stride, (address - extents.first) % extents.stride);
                prop_assert!(file < files && offset + bytes <= size);
            }
        }
    }
}
