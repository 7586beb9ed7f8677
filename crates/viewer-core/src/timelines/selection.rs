//! A selection of timelines, by number and by name.

use trace_model::glob::matches_ignoring_case;

/// A selection of timelines, such as `0-63,!5,device*`. Numbers count the timelines from 0, `8-` is from there on, `1-63/2` every second of these;
/// words are names, `*` in them is any text, and what follows a `!` is left out. If all are left out, the rest is meant.
#[derive(Clone, Debug, Default)]
pub struct TimelineSelection {
    takes: Vec<SelectionTerm>,
    leaves: Vec<SelectionTerm>,
}

#[derive(Clone, Debug)]
enum SelectionTerm {
    /// First, last, and each so many of those from the first.
    Numbers(usize, usize, usize),
    Name(String),
}

impl SelectionTerm {
    fn fits(&self, number: usize, name: &str) -> bool {
        match self {
            SelectionTerm::Numbers(first, last, step) => {
                (*first..=*last).contains(&number) && (number - first).is_multiple_of(*step)
            }
            SelectionTerm::Name(pattern) => matches_ignoring_case(pattern, name),
        }
    }
}

impl TimelineSelection {
    /// Reads a selection.
    ///
    /// # Errors
    /// The first part of the text that is neither a range nor a name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut selection = TimelineSelection::default();
        for part in text.split(',') {
            let (list, part) = match part.trim().strip_prefix('!') {
                Some(part) => (&mut selection.leaves, part.trim()),
                None => (&mut selection.takes, part.trim()),
            };
            list.push(term(part)?);
        }
        Ok(selection)
    }

    /// Whether it takes the timeline of this number and name.
    pub(crate) fn takes(&self, number: usize, name: &str) -> bool {
        let taken = self.takes.is_empty() || self.takes.iter().any(|term| term.fits(number, name));
        taken && !self.leaves.iter().any(|term| term.fits(number, name))
    }
}

fn term(text: &str) -> Result<SelectionTerm, String> {
    if text.is_empty() {
        return Err("expected timelines such as 0-63,!5 or rank*,device*".into());
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(SelectionTerm::Name(text.to_owned()));
    }
    let (range, step) = text.split_once('/').unwrap_or((text, "1"));
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let last = match last.trim() {
        "" => Ok(usize::MAX),
        last => last.parse(),
    };
    match (first.trim().parse(), last, step.trim().parse()) {
        (Ok(first), Ok(last), Ok(step)) if first <= last && step > 0 => {
            Ok(SelectionTerm::Numbers(first, last, step))
        }
        _ => Err(format!(
            "{text:?} is no range of timelines such as 0-63, 8- or 1-63/2"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ranges_steps_and_names() {
        let taken = |text: &str| {
            let selection = TimelineSelection::parse(text).unwrap();
            let all = (0..10).filter(|&nth| selection.takes(nth, &format!("rank {nth}")));
            all.collect::<Vec<usize>>()
        };
        assert_eq!(taken("2-4,7"), [2, 3, 4, 7]);
        assert_eq!(taken("8-"), [8, 9]);
        assert_eq!(taken("1-/2"), [1, 3, 5, 7, 9]);
        assert_eq!(taken("0-/8,3"), [0, 3, 8]);
        assert_eq!(taken("2-8/3,!5"), [2, 8]);
        assert_eq!(taken("!1-,rank*"), [0]);
        for wrong in ["", "3-1", "1-/0", "1-/x", "1/", "1-2-3"] {
            assert!(TimelineSelection::parse(wrong).is_err(), "{wrong}");
        }
    }
}
