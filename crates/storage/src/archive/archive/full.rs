//! A pool that cannot be emptied fast enough: what filled it, and why a purge could not free it.

use headrace_units::{Bytes, Nanos};

use super::Archive;

/// Contents of the pool when something first waited for space, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filled {
    /// Not on tape yet.
    fresh: u64,
    /// On tape, and in use.
    in_use: u64,
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
    pub(super) fn note_full(&self) {
        let (files, now, counts) = (self.files.borrow(), self.now(), &self.counts);
        let min_age = self.plan.purge.as_ref().map_or(Nanos::ZERO, |(spec, _)| spec.min_age);
        let (put, recalled, stored) =
            (counts.put_bytes.get(), counts.recalled_bytes.get(), counts.stored_bytes.get());
        let mut filled = Filled { put, recalled, stored, ..Filled::default() };
        for file in files.all().filter(|file| file.on_disk) {
            let kind = match file {
                _ if file.tape.is_none() => &mut filled.fresh,
                _ if file.pins > 0 => &mut filled.in_use,
                _ if now - file.used < min_age => &mut filled.recent,
                _ => &mut filled.free_to_go,
            };
            *kind += file.bytes;
        }
        counts.filled.set(Some(filled));
    }

    /// That the pool was full, what filled it, and from when; none where it never was.
    pub(super) fn fullness(&self, now: Nanos) -> Option<String> {
        let ((since, time), filled) = (self.pool.1.full(now)?, self.counts.filled.get()?);
        let days = |time: Nanos| time.secs() / 86_400.0;
        let lacks = match (&self.plan.migrate, &self.plan.purge) {
            (None, _) => "; nothing is stored to tape (`migrate`)",
            (_, None) => "; nothing is purged (`purge`)",
            _ => "",
        };
        Some(format!(
            "the pool cannot be emptied fast enough: first full after {:.2} days, and for {:.2} days in all. When it first was, {}. Until \
             then puts brought {}, recalls {}, and {} were stored to tape{lacks}",
            days(since),
            days(time),
            self.shares(filled),
            Bytes(filled.put),
            Bytes(filled.recalled),
            Bytes(filled.stored)
        ))
    }

    /// Returns the contents of the pool as shares, the largest first, in words.
    fn shares(&self, filled: Filled) -> String {
        let Filled { fresh, in_use, recent, free_to_go, .. } = filled;
        let whole = self.pool.1.capacity();
        let other = whole.saturating_sub(fresh + in_use + recent + free_to_go);
        let mut kinds = [
            (fresh, "was not on tape"),
            (in_use, "was in use"),
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
