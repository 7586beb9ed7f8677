//! The set of functions that a run calls. Ranks exchange it so that only these functions are defined in the files.

use blockfile::define;
use blockfile::record::{FIRST_DEFINITION, FUNCTION};

/// A set of function numbers, small enough to be sent around and joined with a bitwise or. It also tells whether there are
/// annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionSet(pub [u64; FunctionSet::WORDS]);

impl FunctionSet {
    /// Words of the set.
    pub const WORDS: usize = (FUNCTION as usize + 1) / 64;

    /// Adds a function; of definitions, annotations only.
    #[inline]
    pub fn insert(&mut self, function: u16) {
        if function >= FIRST_DEFINITION && function != define::ANNOTATION {
            return;
        }
        if let Some(word) = self.0.get_mut(usize::from(function / 64)) {
            *word |= 1 << (function % 64);
        }
    }

    /// Whether there are annotations.
    pub fn has_annotations(&self) -> bool {
        self.contains(define::ANNOTATION)
    }

    /// Whether the function is in the set.
    pub fn contains(&self, function: u16) -> bool {
        self.0
            .get(usize::from(function / 64))
            .is_some_and(|word| word >> (function % 64) & 1 == 1)
    }

    /// Adds all of `other`.
    pub fn join(&mut self, other: &FunctionSet) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a |= b;
        }
    }

    /// The functions by number.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (0..FIRST_DEFINITION).filter(|&f| self.contains(f))
    }
}

impl Default for FunctionSet {
    fn default() -> Self {
        FunctionSet([0; FunctionSet::WORDS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockfile::record::FIRST_UNKNOWN;

    #[test]
    fn of_definitions_only_annotations_count() {
        let mut used = FunctionSet::default();
        used.insert(FIRST_UNKNOWN + 1);
        used.insert(FIRST_DEFINITION);
        assert!(!used.contains(FIRST_DEFINITION) && !used.has_annotations());
        used.insert(define::ANNOTATION);
        assert!(used.has_annotations());
        assert_eq!(used.iter().collect::<Vec<_>>(), [FIRST_UNKNOWN + 1]);
    }
}
