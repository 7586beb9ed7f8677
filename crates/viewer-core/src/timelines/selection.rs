//! Which timelines are wanted, by number and by name.

use crate::base::pattern::matches;

/// Which rows: `0-63,!5,device*`. Numbers count the rows from 0, words are names, `*` in them is any text, and what
/// follows a `!` is left out. If all are left out, the rest is meant.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    takes: Vec<Term>,
    leaves: Vec<Term>,
}

#[derive(Clone, Debug)]
enum Term {
    Numbers(usize, usize),
    Name(String),
}

impl Term {
    fn fits(&self, number: usize, name: &str) -> bool {
        match self {
            Term::Numbers(first, last) => (*first..=*last).contains(&number),
            Term::Name(pattern) => matches(pattern, name),
        }
    }
}

impl Selection {
    /// Reads a selection.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut selection = Selection::default();
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

fn term(text: &str) -> Result<Term, String> {
    if text.is_empty() {
        return Err("expected rows such as 0-63,!5 or rank*,device*".into());
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Term::Name(text.to_owned()));
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(Term::Numbers(first, last)),
        _ => Err(format!("{text:?} is no range of rows such as 0-63")),
    }
}
