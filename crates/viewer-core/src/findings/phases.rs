//! The finding about iterations of the main loop: how long they are, and which take much longer.

use super::builder::FindingBuilder;
use super::summary::{FindingItem, TraceFinding};
use crate::base::units::duration;
use analysis::performance::PhaseLengths;

/// Phases that are named at most.
const MAX_NAMED: usize = 3;
/// Activities of an iteration that are named at most.
const MAX_ACTIVITIES: usize = 3;

impl FindingBuilder<'_, '_> {
    pub(super) fn phases(&self, found: &PhaseLengths) -> TraceFinding {
        let each = found.iterations_each as f64;
        let median = duration(found.median_seconds / each);
        let mut named: Vec<usize> = found.outliers.clone();
        if named.is_empty() {
            let length = |number: &usize| {
                let range = &found.ranges[number - 1];
                range.latest - range.earliest
            };
            let longest = (1..=found.ranges.len()).max_by(|a, b| length(a).total_cmp(&length(b)));
            named.extend(longest);
        }
        let outliers = match found.outliers.len() {
            0 => "none takes much longer".to_owned(),
            1 => "one takes much longer".to_owned(),
            number => format!("{number} take much longer"),
        };
        let activities = found.consist_of.iter().take(MAX_ACTIVITIES);
        let activities: Vec<&str> = activities.map(String::as_str).collect();
        TraceFinding {
            id: "phases".into(),
            title: "Phases".into(),
            value: format!("{} × {median}", found.iterations),
            sentence: format!(
                "The main loop has {}, of {median} each (median); {outliers}.",
                iterations(found)
            ),
            from: format!(
                "what the lowest rank does again and again: {}{}",
                activities.join(", "),
                if found.consist_of.len() > MAX_ACTIVITIES {
                    " …"
                } else {
                    ""
                }
            ),
            items: named
                .into_iter()
                .take(MAX_NAMED)
                .map(|number| self.phase(found, number))
                .collect(),
        }
    }

    /// A phase by its number.
    fn phase(&self, found: &PhaseLengths, number: usize) -> FindingItem {
        let range = &found.ranges[number - 1];
        FindingItem {
            text: match found.outliers.is_empty() {
                true => format!("longest iteration: phase {number}"),
                false => format!("phase {number}"),
            },
            value: duration(range.latest - range.earliest),
            target: self.around(range.earliest, range.latest),
        }
    }
}

/// How many iterations there are, and until when they were looked for if that is not the end.
fn iterations(found: &PhaseLengths) -> String {
    let number = found.iterations;
    match found.looked_until {
        Some(until) => format!("{number} iterations up to {until:.6} s, where the search ends"),
        None => format!("{number} iterations"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_ends_early_is_told() {
        let told = |looked_until| {
            iterations(&PhaseLengths {
                consist_of: Vec::new(),
                parts: 1.0,
                iterations: 12,
                iterations_each: 1,
                covered: 0.5,
                median_seconds: 1.0,
                spread_seconds: 0.0,
                trend: 0.0,
                outliers: Vec::new(),
                looked_until,
                ranges: Vec::new(),
            })
        };
        assert_eq!(told(None), "12 iterations");
        let expected = "12 iterations up to 2.500000 s, where the search ends";
        assert_eq!(told(Some(2.5)), expected);
    }
}
