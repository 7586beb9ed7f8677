//! The texts of an archive, by their references.

use trace_model::hash::Map;

/// Most texts of infos that are kept. Names of categories, files and the like are kept all the same.
const MAX_INFO_TEXTS: usize = 1 << 16;

/// Texts with references 0, 1, …. Reference 0 is the empty text.
#[derive(Debug)]
pub(super) struct StringTable {
    texts: Vec<String>,
    references: Map<String, u32>,
    info_texts: usize,
    lists: usize,
}

impl StringTable {
    pub(super) fn new() -> Self {
        let mut table = StringTable {
            texts: Vec::new(),
            references: Map::default(),
            info_texts: 0,
            lists: 0,
        };
        table.id("");
        table
    }

    /// The reference of a text, which is added if it is new.
    pub(super) fn id(&mut self, text: &str) -> u32 {
        if let Some(&reference) = self.references.get(text) {
            return reference;
        }
        let reference = u32::try_from(self.texts.len()).unwrap_or(0);
        self.texts.push(text.to_owned());
        self.references.insert(text.to_owned(), reference);
        reference
    }

    /// The reference of a text of an info; `None` if it is new and there are too many already.
    pub(super) fn info_text(&mut self, text: &[u8]) -> Option<u32> {
        let text = String::from_utf8_lossy(text);
        if let Some(&reference) = self.references.get(text.as_ref()) {
            return Some(reference);
        }
        if self.info_texts >= MAX_INFO_TEXTS {
            return None;
        }
        self.info_texts += 1;
        Some(self.id(&text))
    }

    /// The reference of a list of numbers of requests; `None` if it is new and there are too many already. They are counted by themselves, since
    /// each call may have another one.
    pub(super) fn list(&mut self, text: &str) -> Option<u32> {
        if let Some(&reference) = self.references.get(text) {
            return Some(reference);
        }
        if self.lists >= MAX_INFO_TEXTS {
            return None;
        }
        self.lists += 1;
        Some(self.id(text))
    }

    /// The texts in the order of their references.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }
}
