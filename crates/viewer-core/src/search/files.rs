//! The files of a trace: events name them, other drawables have their numbers.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};
use trace_model::{InfoValue, info_values};

use super::hits::{MAX_BYTES_FOR_LISTED_HITS, places};
use super::language::{Condition, SearchTerm, SearchTerms};
use super::plan::SearchPlan;
use crate::base::error::ApiError;
use crate::trace::OpenTrace;
use crate::trace::info::name_of_key;
use crate::trace::names::NamedFile;
use crate::trace::scan::ReadBudget;

/// Names of files that were looked up.
#[derive(Debug, Default)]
pub(crate) struct FileNames {
    /// Files by their numbers.
    pub files: OnceLock<HashMap<i64, NamedFile>>,
    /// By rank and its number for an open file the number of the file.
    pub handles: Mutex<HashMap<(i32, i64), Option<i64>>>,
}

/// Hands on each file that the trace names, or was given the name of. At most so many events may name files.
///
/// # Errors
/// The trace cannot be read, or the events are too many or too far apart.
pub fn for_each_file(
    trace: &OpenTrace<'_>,
    most: u64,
    budget: ReadBudget<'_>,
    mut put: impl FnMut(NamedFile),
) -> Result<(), ApiError> {
    if let Some(files) = trace.given_names().and_then(|names| names.files.as_ref()) {
        files.iter().cloned().for_each(put);
        return Ok(());
    }
    let condition = Condition::Text("path".into(), "*".to_owned());
    let named = SearchTerms(vec![SearchTerm {
        not: false,
        condition,
    }]);
    let naming = SearchPlan::new(trace, &|_| true, &named);
    let bytes = budget.bytes.min(MAX_BYTES_FOR_LISTED_HITS);
    let events = places(trace, &naming, most, bytes, budget.cancel)?;
    let events = events.ok_or_else(|| match (budget.cancel)() {
        true => ApiError::cancelled(),
        false => ApiError::too_large(
            "the names of files are too many, or too far apart in the trace, to be looked up",
        ),
    })?;
    for event in &events {
        let item = event.item();
        let category = &trace.kinds()[item.kind as usize].category;
        let (mut file, mut path, mut has_data) = (None, None, false);
        for (key, value) in info_values(category, item.info) {
            match (&*name_of_key(&key.0), value) {
                ("file", InfoValue::Integer(number)) => file = Some(number),
                ("path", InfoValue::Text(text)) => path = Some(String::from_utf8_lossy(text)),
                ("role", InfoValue::Text(text)) => has_data = text == b"data",
                _ => {}
            }
        }
        if let Some(number) = file {
            put(NamedFile {
                number,
                path: path.unwrap_or_default().into_owned(),
                has_data,
            });
        }
    }
    Ok(())
}
