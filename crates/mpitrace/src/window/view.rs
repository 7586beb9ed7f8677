//! Content of a window: its drawables with the names of their lines and categories.

use std::collections::BTreeMap;
use trace_formats::slog2::{Category, TimeBBox, WindowContents};
use trace_model::{InfoValue, Line, info_values};

/// A window and what the file says about what is in it.
pub struct WindowView<'a> {
    pub log: TimeBBox,
    pub window: WindowContents<'a>,
    pub lines: BTreeMap<i32, Line>,
    pub categories: BTreeMap<i32, &'a Category>,
    /// Depth of the root.
    pub depth: i16,
}

impl WindowView<'_> {
    pub fn category_name(&self, index: i32) -> String {
        match self.categories.get(&index) {
            Some(category) if !category.name.is_empty() => category.name.to_str().into_owned(),
            _ => format!("category {index}"),
        }
    }

    /// Keys and values as they stand in the info.
    pub fn info<'i>(&'i self, category: i32, info: &'i [u8]) -> Vec<(String, InfoValue<'i>)> {
        let Some(category) = self.categories.get(&category) else {
            return Vec::new();
        };
        let values = info_values(category, info);
        values
            .map(|(key, value)| (key.to_str().into_owned(), value))
            .collect()
    }
}
