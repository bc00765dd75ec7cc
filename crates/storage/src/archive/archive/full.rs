//! A pool that cannot be emptied fast enough: what filled it, and why a purge could not free it.

use headrace_units::{Bytes, Nanos};

use super::Archive;
use super::buffer::Buffer;

/// Contents of the pool when something first waited for space, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filled {
    /// Not on tape yet.
    fresh: u64,
    /// On tape, and in use.
    in_use: u64,
    /// On tape, not in use, and pinned.
    pinned: u64,
    /// On tape, and used too recently to be purged.
    recent: u64,
    /// On tape, and free to go: where nothing is purged, or the purge had no time to.
    free_to_go: u64,
    /// Bytes that came until then by puts and by recalls, and bytes stored to tape.
    put: u64,
    recalled: u64,
    stored: u64,
}

impl Archive<'_> {
    /// Looks at the pool when something waits for space for the first time.
    pub(super) fn note_full(&self, buffer: &Buffer) {
        let (files, now, counts) = (self.files.borrow(), self.now(), &self.counts);
        let min_age = buffer.purge.map_or(Nanos::ZERO, |(spec, _)| spec.min_age);
        let (put, recalled, stored) =
            (counts.put_bytes.get(), counts.recalled_bytes.get(), counts.stored_bytes.get());
        let pins = self.pins.borrow();
        let mut filled = Filled { put, recalled, stored, ..Filled::default() };
        for (number, file) in files.all().filter(|(_, file)| file.on_disk && file.buffer == buffer.number) {
            let others = file.pins - u32::from(pins.has(number));
            let kind = match file {
                _ if file.tape.is_none() => &mut filled.fresh,
                _ if others > 0 => &mut filled.in_use,
                _ if file.pins > 0 => &mut filled.pinned,
                _ if now - file.used < min_age => &mut filled.recent,
                _ => &mut filled.free_to_go,
            };
            *kind += file.bytes;
        }
        buffer.filled.set(Some(filled));
    }

    /// Of each disk pool that was full: what filled it, and from when.
    pub(super) fn fullness(&self, now: Nanos) -> impl Iterator<Item = String> {
        self.buffers.iter().filter_map(move |buffer| self.fullness_of(buffer, now))
    }

    fn fullness_of(&self, buffer: &Buffer, now: Nanos) -> Option<String> {
        let ((since, time), filled) = (buffer.pool.full(now)?, buffer.filled.get()?);
        let days = |time: Nanos| time.secs() / 86_400.0;
        let which =
            if self.buffers.len() == 1 { "the pool".to_owned() } else { format!("`{}`", buffer.edge.path()) };
        Some(format!(
            "{which} cannot be emptied fast enough: first full after {:.2} days, and for {:.2} days in all. When it first was, {}. Until \
             then {}",
            days(since),
            days(time),
            filled.shares(buffer.pool.capacity()),
            self.brought(buffer, filled)
        ))
    }

    /// Returns what came to a pool until it was full and what left it, and which policy it lacks, in words.
    fn brought(&self, buffer: &Buffer, filled: Filled) -> String {
        let (put, recalled, stored) = (Bytes(filled.put), Bytes(filled.recalled), Bytes(filled.stored));
        let (is_for_puts, is_for_recalls) =
            (buffer.number == 0, usize::from(buffer.number) + 1 == self.buffers.len());
        let moved = match (is_for_puts, is_for_recalls) {
            (true, true) => {
                format!("puts brought {put}, recalls {recalled}, and {stored} were stored to tape")
            }
            (true, false) => format!("puts brought {put}, and {stored} were stored to tape"),
            (false, _) => format!("recalls brought {recalled}"),
        };
        let lacks = match (is_for_puts, &self.plan.migrate, buffer.purge) {
            // What came from tape need not be stored there to be purged.
            (true, None, _) if filled.put > 0 => "; nothing is stored to tape (`migrate`)",
            (true, _, None) => "; nothing is purged (`purge`)",
            (false, _, None) => "; nothing is purged (`recalls.purge`)",
            _ => "",
        };
        format!("{moved}{lacks}")
    }
}

impl Filled {
    /// Returns these contents of a pool of `whole` bytes as shares, the largest first, in words.
    fn shares(self, whole: u64) -> String {
        let Self { fresh, in_use, pinned, recent, free_to_go, .. } = self;
        let other = whole.saturating_sub(fresh + in_use + pinned + recent + free_to_go);
        let mut kinds = [
            (fresh, "was not on tape"),
            (in_use, "was in use"),
            (pinned, "was pinned"),
            (recent, "had been used within `purge.min_age`"),
            (free_to_go, "could have been purged"),
            (other, "was free or on its way in"),
        ];
        kinds.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        let percent = |bytes: u64| bytes as f64 / whole as f64 * 100.0;
        let said = kinds.iter().filter(|(bytes, _)| *bytes > 0);
        let said = said.map(|(bytes, what)| format!("{:.0} % of it {what}", percent(*bytes)));
        said.collect::<Vec<_>>().join(", ")
    }
}
