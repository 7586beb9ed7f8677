//! The files of a trace: events name them, other drawables have their numbers.

use trace_model::{InfoValue, info_values};

use super::language::{Condition, SearchTerm, SearchTerms};
use super::plan::SearchPlan;
use super::walk::{SearchPosition, find};
use crate::base::error::ApiError;
use crate::trace::OpenTrace;
use crate::trace::info::name_of_key;
use crate::trace::reference::DrawableReference;
use crate::trace::scan::ReadBudget;

/// Says number and path of each file whose path matches a pattern, in which `*` is any text. So many events that name files are looked at.
///
/// # Errors
/// The trace cannot be read.
pub fn for_each_file(
    trace: &OpenTrace<'_>,
    pattern: &str,
    most: usize,
    budget: ReadBudget<'_>,
    mut put: impl FnMut(i64, &str),
) -> Result<(), ApiError> {
    let condition = Condition::Text("path".into(), pattern.to_owned());
    let named = SearchTerms(vec![SearchTerm {
        not: false,
        condition,
    }]);
    let naming = SearchPlan::new(trace, &|_| true, &named);
    let mut from = SearchPosition::at(f64::NEG_INFINITY);
    for _ in 0..most {
        let found = find(trace, &naming, from, true, budget)?;
        let Some(item) = found.item else {
            break;
        };
        let category = &trace.kinds()[item.kind as usize].category;
        let (mut file, mut path) = (None, None);
        for (key, value) in info_values(category, item.info) {
            match (&*name_of_key(&key.0), value) {
                ("file", InfoValue::Integer(number)) => file = Some(number),
                ("path", InfoValue::Text(text)) => path = Some(String::from_utf8_lossy(text)),
                _ => {}
            }
        }
        if let Some(file) = file {
            put(file, path.as_deref().unwrap_or_default());
        }
        from = SearchPosition::of(&DrawableReference::of(trace, &item, 0));
    }
    Ok(())
}
