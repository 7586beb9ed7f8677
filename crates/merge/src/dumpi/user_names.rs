//! The names that the numbers in events of the program stand for, and keys of its texts.

use blockfile::user::{UserCategory, UserCategoryKind};
use std::collections::HashMap;

/// Keys of markers and texts begin with the letters TXT.
const TEXT: u64 = 0x5458_5400_0000_0000;
/// Most different texts that get a name of their own.
const MAX_TEXTS: usize = 1 << 16;

/// Names of the numbers in events.
#[derive(Clone, Debug, Default)]
pub(super) struct UserEventNames {
    pub names: HashMap<i32, (UserCategoryKind, String)>,
    /// Start events of MPE's states by their end events.
    pub starts: HashMap<i32, i32>,
    /// States and solo events of MPE's API.
    pub numbers: HashMap<i32, (UserCategoryKind, String)>,
    texts: HashMap<String, u64>,
}

impl UserEventNames {
    /// Takes note of a category.
    pub fn define(&mut self, category: &UserCategory) {
        let name = (category.kind, category.name.clone());
        match category.kind {
            UserCategoryKind::State => {
                self.starts.insert(category.end, category.number);
                self.numbers.insert(category.number, name);
            }
            UserCategoryKind::Event => {
                self.numbers.insert(category.number, name);
            }
            _ => {
                self.names.insert(category.number, name);
            }
        }
    }

    /// The key and the name of a text.
    pub fn text(&mut self, text: String) -> (u64, String) {
        let next = TEXT | self.texts.len() as u64;
        if self.texts.len() >= MAX_TEXTS && !self.texts.contains_key(&text) {
            return (TEXT | MAX_TEXTS as u64, "further texts".to_owned());
        }
        let key = *self.texts.entry(text.clone()).or_insert(next);
        (key, text)
    }
}
