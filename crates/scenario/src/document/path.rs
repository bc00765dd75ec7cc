//! Places in a document.

use std::fmt;

/// A place in a document: `workload` → `users` → `arrivals`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(pub Vec<PathStep>);

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// Into a map.
    Key(String),
    /// Into a list.
    Index(usize),
}

impl Path {
    /// This path and one more step, into a map.
    pub fn key(&self, name: impl Into<String>) -> Self {
        let mut steps = self.0.clone();
        steps.push(PathStep::Key(name.into()));
        Self(steps)
    }

    /// This path and one more step, into a list.
    pub fn index(&self, index: usize) -> Self {
        let mut steps = self.0.clone();
        steps.push(PathStep::Index(index));
        Self(steps)
    }

    /// The path of these keys.
    pub fn of(keys: &[&str]) -> Self {
        Self(keys.iter().map(|key| PathStep::Key((*key).to_owned())).collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Key(name) if at == 0 => write!(f, "{name}")?,
                PathStep::Key(name) => write!(f, ".{name}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
