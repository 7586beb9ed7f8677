//! Losses: counts of what a conversion could not carry over.

use std::collections::BTreeMap;
use std::fmt;

/// Counts by kind of thing, in plain words and the singular: "message without a receive".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    counts: BTreeMap<String, u64>,
}

impl Losses {
    /// Counts `number` more of these.
    pub fn add(&mut self, what: &str, number: u64) {
        if number == 0 {
            return;
        }
        match self.counts.get_mut(what) {
            Some(count) => *count += number,
            None => {
                self.counts.insert(what.to_owned(), number);
            }
        }
    }

    /// Adds all of another's.
    pub fn merge(&mut self, other: &Losses) {
        for (what, number) in other.iter() {
            self.add(what, number);
        }
    }

    /// Leaves out those of this kind.
    pub fn forget(&mut self, what: &str) {
        self.counts.remove(what);
    }

    /// The kinds and their counts, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts.iter().map(|(what, &n)| (what.as_str(), n))
    }

    /// Number of losses of this kind.
    pub fn count(&self, what: &str) -> u64 {
        self.counts.get(what).copied().unwrap_or(0)
    }

    /// True if nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (what, count)) in self.iter().enumerate() {
            let separator = if nth == 0 { "" } else { ", " };
            write!(f, "{separator}{count} x {what}")?;
        }
        Ok(())
    }
}
