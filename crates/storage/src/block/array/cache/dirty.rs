//! Written data that is not on the disks yet, by stripe.

use std::collections::BTreeMap;

use super::span::ByteSpan;

/// Written data that no destage has taken yet.
#[derive(Clone, Debug, Default)]
pub struct Dirty {
    /// Bytes of data in a stripe.
    stripe: u64,
    stripes: BTreeMap<u64, Stripe>,
    /// Stripes by age, those that are written wholly and the others.
    full: BTreeMap<u64, u64>,
    partial: BTreeMap<u64, u64>,
    bytes: u64,
    /// Those of them that lie in stripes written in part.
    in_parts: u64,
    ages: u64,
}

/// Dirty data of a stripe: disjoint spans, and the number of the first write.
#[derive(Clone, Debug)]
struct Stripe {
    spans: Vec<ByteSpan>,
    bytes: u64,
    age: u64,
}

impl Dirty {
    /// No dirty data yet, of an array with stripes of this size in bytes.
    pub fn of_stripes(stripe: u64) -> Self {
        Self { stripe, ..Self::default() }
    }

    /// Bytes that are dirty.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Those of them that lie in stripes written in part.
    pub fn in_parts(&self) -> u64 {
        self.in_parts
    }

    /// Makes a span of one stripe dirty. Returns how many bytes of it were not.
    pub fn add(&mut self, span: ByteSpan) -> u64 {
        let number = span.from / self.stripe;
        let mut stripe = self.lift(number).unwrap_or_else(|| {
            self.ages += 1;
            Stripe { spans: Vec::new(), bytes: 0, age: self.ages }
        });
        let before = stripe.bytes;
        stripe.add(span);
        let added = stripe.bytes - before;
        self.put(number, stripe);
        added
    }

    /// Forgets all dirty data. Stripes go on to be numbered by age.
    pub fn clear(&mut self) {
        *self = Self { ages: self.ages, ..Self::of_stripes(self.stripe) };
    }

    /// Calls `act` with each dirty span.
    pub fn each(&self, mut act: impl FnMut(ByteSpan)) {
        self.stripes.values().flat_map(|stripe| &stripe.spans).for_each(|span| act(*span));
    }

    /// Takes all that is dirty of a stripe.
    pub fn take(&mut self, number: u64) -> Vec<ByteSpan> {
        self.lift(number).map_or_else(Vec::new, |stripe| stripe.spans)
    }

    /// Returns true if a span of one stripe is wholly dirty.
    pub fn holds(&self, span: ByteSpan) -> bool {
        let stripe = self.stripes.get(&(span.from / self.stripe));
        stripe.is_some_and(|stripe| stripe.spans.iter().any(|dirty| dirty.holds(span)))
    }

    /// Returns true if some of a span of one stripe is dirty.
    pub fn touches(&self, span: ByteSpan) -> bool {
        let stripe = self.stripes.get(&(span.from / self.stripe));
        stripe.is_some_and(|stripe| stripe.spans.iter().any(|dirty| dirty.overlaps(span)))
    }

    /// Returns `None` for a clean stripe, otherwise true if all of it is dirty.
    pub fn state(&self, number: u64) -> Option<bool> {
        self.stripes.get(&number).map(|stripe| stripe.bytes == self.stripe)
    }

    /// Returns the age of a dirty stripe: the number of its first write. `None` for a clean one.
    pub fn age(&self, number: u64) -> Option<u64> {
        self.stripes.get(&number).map(|stripe| stripe.age)
    }

    /// The age of the stripe that became dirty last; that of clean ones counts.
    pub fn newest(&self) -> u64 {
        self.ages
    }

    /// Returns true if a stripe of at most this age is dirty.
    pub fn has_older(&self, age: u64) -> bool {
        [&self.full, &self.partial].iter().any(|ages| ages.keys().next().is_some_and(|first| *first <= age))
    }

    /// The stripe that has been wholly dirty for longest, by when it began to be.
    pub fn oldest_full(&self) -> Option<u64> {
        self.full.values().next().copied()
    }

    /// The stripe that has been dirty in part for longest.
    pub fn oldest_partial(&self) -> Option<u64> {
        self.partial.values().next().copied()
    }

    /// Takes a stripe out of all that is kept of it.
    fn lift(&mut self, number: u64) -> Option<Stripe> {
        let stripe = self.stripes.remove(&number)?;
        self.bytes -= stripe.bytes;
        if self.full.remove(&stripe.age).is_none() {
            self.partial.remove(&stripe.age);
            self.in_parts -= stripe.bytes;
        }
        Some(stripe)
    }

    fn put(&mut self, number: u64, stripe: Stripe) {
        self.bytes += stripe.bytes;
        if stripe.bytes == self.stripe {
            self.full.insert(stripe.age, number);
        } else {
            self.partial.insert(stripe.age, number);
            self.in_parts += stripe.bytes;
        }
        self.stripes.insert(number, stripe);
    }
}

impl Stripe {
    /// Adds a span; together with those that it touches.
    fn add(&mut self, span: ByteSpan) {
        let mut whole = span;
        self.spans.retain(|old| {
            let apart = old.to < whole.from || whole.to < old.from;
            if !apart {
                whole = whole.and(*old);
            }
            apart
        });
        self.spans.push(whole);
        self.bytes = self.spans.iter().map(|span| span.bytes()).sum();
    }
}
