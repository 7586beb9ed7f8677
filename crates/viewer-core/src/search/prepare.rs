//! Makes a search ready, with what it takes to look up in the trace.

use trace_model::{Value, info_values};

use super::language::{Says, Term, Terms};
use super::plan::Plan;
use super::walk::{Place, find};
use crate::base::error::Refusal;
use crate::timelines::layout::Layout;
use crate::trace::Trace;
use crate::trace::info::name_of_key;
use crate::trace::reference::Reference;
use crate::trace::scan::Reach;

/// Events that name files, of which so many are looked at for a condition on files.
const MOST_FILES: usize = 10_000;
/// Makes a search ready, also what it says about files, which other drawables name by number only.
///
/// # Errors
/// The query cannot be read, or the trace not.
pub fn plan(
    trace: &Trace<'_>,
    layout: &Layout,
    query: &str,
    reach: Reach<'_>,
) -> Result<Plan, Refusal> {
    let is_shown = |line: u32| layout.row(line).is_some();
    let mut plan = Plan::new(trace, &is_shown, &Terms::parse(query)?);
    for (at, pattern) in plan.file_patterns() {
        let says = Says::Text("path".into(), pattern);
        let named = Terms(vec![Term { not: false, says }]);
        let naming = Plan::new(trace, &|_| true, &named);
        let mut from = Place::at(f64::NEG_INFINITY);
        for _ in 0..MOST_FILES {
            let found = find(trace, &naming, from, true, reach)?;
            let Some(item) = found.item else {
                break;
            };
            let category = &trace.kinds()[item.kind as usize].category;
            for (key, value) in info_values(category, item.info) {
                if let ("file", Value::Integer(number)) = (&*name_of_key(&key.0), value) {
                    plan.add_file(at, number);
                }
            }
            from = Place::of(&Reference::of(trace, &item, 0));
        }
    }
    Ok(plan)
}
