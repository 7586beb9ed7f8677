//! A selection of timelines, by number and by name.

use trace_model::glob::matches_ignoring_case;

/// A selection of timelines, such as `0-63,!5,device*`. Numbers count the timelines from 0, words are names, `*` in them is any text, and what
/// follows a `!` is left out. If all are left out, the rest is meant.
#[derive(Clone, Debug, Default)]
pub struct TimelineSelection {
    takes: Vec<SelectionTerm>,
    leaves: Vec<SelectionTerm>,
}

#[derive(Clone, Debug)]
enum SelectionTerm {
    Numbers(usize, usize),
    Name(String),
}

impl SelectionTerm {
    fn fits(&self, number: usize, name: &str) -> bool {
        match self {
            SelectionTerm::Numbers(first, last) => (*first..=*last).contains(&number),
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
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(SelectionTerm::Numbers(first, last)),
        _ => Err(format!("{text:?} is no range of timelines such as 0-63")),
    }
}
