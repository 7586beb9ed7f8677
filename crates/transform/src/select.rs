//! Selection of a part of a trace by category, rank, thread, communicator, CallID and time.

use std::collections::HashMap;
use std::str::FromStr;

use super::call_id::CallIdCategories;
use trace_model::{Category, Definitions, Drawable, Line, glob, thread_of};

/// Numbers and ranges of numbers, as in `1,4-7,0x10,20-`. A range without an end reaches to the largest number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberRanges {
    ranges: Vec<(u64, u64)>,
}

impl NumberRanges {
    /// True if the number is among them; a negative one never is.
    pub fn contains(&self, number: impl TryInto<u64>) -> bool {
        let Ok(number) = number.try_into() else {
            return false;
        };
        let holds = |&(from, to): &(u64, u64)| (from..=to).contains(&number);
        self.ranges.iter().any(holds)
    }
}

impl FromStr for NumberRanges {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let parsed = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => text.parse(),
            };
            parsed.map_err(|_| format!("expected a number or a range such as 4-7, found {text:?}"))
        };
        let range = |part: &str| match part.split_once('-') {
            None => number(part).map(|only| (only, only)),
            Some((from, "")) => Ok((number(from)?, u64::MAX)),
            Some((from, to)) => match (number(from)?, number(to)?) {
                (from, to) if from <= to => Ok((from, to)),
                _ => Err(format!("the range {part} ends before it begins")),
            },
        };
        let ranges = text.split(',').map(|part| range(part.trim()));
        Ok(NumberRanges {
            ranges: ranges.collect::<Result<_, _>>()?,
        })
    }
}

/// A category by its index, or by its name with the wildcards of [`glob`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CategoryPattern {
    /// The category of this index.
    Index(i32),
    /// All categories whose names match.
    Name(String),
}

impl CategoryPattern {
    /// True if it means a category of this index and name.
    pub fn matches(&self, index: i32, name: &str) -> bool {
        match self {
            CategoryPattern::Index(wanted) => *wanted == index,
            CategoryPattern::Name(pattern) => glob::matches(pattern.as_bytes(), name.as_bytes()),
        }
    }
}

impl From<&str> for CategoryPattern {
    fn from(text: &str) -> Self {
        match text.parse() {
            Ok(index) => CategoryPattern::Index(index),
            Err(_) => CategoryPattern::Name(text.to_owned()),
        }
    }
}

/// Values of one property of drawables to keep and to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertySelection<T> {
    /// If there is anything here, only what one of these means is kept.
    pub keep: Vec<T>,
    /// Drawables that match one of these are removed.
    pub remove: Vec<T>,
}

impl<T> Default for PropertySelection<T> {
    fn default() -> Self {
        PropertySelection {
            keep: Vec::new(),
            remove: Vec::new(),
        }
    }
}

impl<T> PropertySelection<T> {
    /// True if nothing is chosen, so everything is kept.
    pub fn is_empty(&self) -> bool {
        self.keep.is_empty() && self.remove.is_empty()
    }

    /// True if a thing is kept, given what means it.
    pub fn admits(&self, means: impl Fn(&T) -> bool) -> bool {
        (self.keep.is_empty() || self.keep.iter().any(&means)) && !self.remove.iter().any(&means)
    }
}

impl PropertySelection<NumberRanges> {
    /// True if what has this number is kept.
    pub fn admits_number(&self, number: impl TryInto<u64> + Copy) -> bool {
        self.admits(|numbers| numbers.contains(number))
    }
}

/// A part of a trace. [`Selection::default`] is all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Selection by category.
    pub categories: PropertySelection<CategoryPattern>,
    /// Selection by rank in MPI_COMM_WORLD. A drawable on several lines (an arrow) is kept if all of them are.
    pub ranks: PropertySelection<NumberRanges>,
    /// Selection by thread. What lies beside a thread, such as asynchronous I/O, is of that thread.
    pub threads: PropertySelection<NumberRanges>,
    /// Selection by the communicator of the line.
    pub comms: PropertySelection<NumberRanges>,
    /// Selection by CallID. A drawable without one is kept unless [`PropertySelection::keep`] names some.
    pub call_ids: PropertySelection<NumberRanges>,
    /// Stretches of time in seconds. A drawable belongs to one that it has a point in common with.
    pub windows: PropertySelection<(f64, f64)>,
    /// Keep what would be removed, and the reverse.
    pub invert: bool,
}

impl Selection {
    /// True if everything is selected.
    pub fn is_all(&self) -> bool {
        *self == Selection::default()
    }

    /// True if it looks at the lines of drawables.
    fn asks_for_lines(&self) -> bool {
        !(self.ranks.is_empty() && self.threads.is_empty() && self.comms.is_empty())
    }

    /// True if this line is kept.
    pub fn admits_line(&self, line: &Line) -> bool {
        self.ranks.admits_number(line.rank)
            && self.threads.admits_number(thread_of(line))
            && self.comms.admits_number(line.comm)
    }

    /// True if the category is kept, whatever `invert` says.
    pub fn admits_category(&self, category: &Category) -> bool {
        let name = category.name.to_str();
        self.categories
            .admits(|pattern| pattern.matches(category.index, &name))
    }

    /// True if what has this CallID is kept.
    pub fn admits_call_id(&self, call_id: Option<u64>) -> bool {
        self.call_ids
            .admits(|numbers| call_id.is_some_and(|id| numbers.contains(id)))
    }

    /// True if what takes this stretch of time is kept.
    pub fn admits_time(&self, earliest: f64, latest: f64) -> bool {
        self.windows
            .admits(|&(from, to)| earliest <= to && latest >= from)
    }
}

/// Tells of each drawable of a trace whether it is selected.
#[derive(Debug)]
pub struct Judge<'s> {
    selection: &'s Selection,
    categories: HashMap<i32, bool>,
    lines: HashMap<i32, bool>,
    asks_for_lines: bool,
    call_ids: Option<CallIdCategories>,
}

impl<'s> Judge<'s> {
    /// Prepares to judge the drawables of a trace with these categories and lines.
    pub fn new(selection: &'s Selection, definitions: &Definitions) -> Self {
        let categories = definitions.categories.iter();
        let lines = definitions.lines.iter();
        Judge {
            selection,
            categories: categories
                .map(|category| (category.index, selection.admits_category(category)))
                .collect(),
            lines: lines
                .map(|line| (line.id, selection.admits_line(line)))
                .collect(),
            asks_for_lines: selection.asks_for_lines(),
            call_ids: (!selection.call_ids.is_empty())
                .then(|| CallIdCategories::new(&definitions.categories)),
        }
    }

    /// True if a drawable is selected. One of an unknown category or line is if nothing is chosen by these.
    pub fn admits(&self, drawable: &Drawable<'_>) -> bool {
        let lines = drawable.vertices.iter().map(|vertex| vertex.line);
        let times = drawable.vertices.iter().map(|vertex| vertex.time);
        self.admits_parts(drawable.category, drawable.info, lines, times)
    }

    /// Whether the selection admits a drawable with these parts.
    pub fn admits_parts(
        &self,
        category: i32,
        info: &[u8],
        mut lines: impl Iterator<Item = i32>,
        times: impl Iterator<Item = f64> + Clone,
    ) -> bool {
        let selection = self.selection;
        let known = |found: Option<&bool>, chosen: bool| found.copied().unwrap_or(!chosen);
        let admitted = known(
            self.categories.get(&category),
            !selection.categories.is_empty(),
        ) && (!self.asks_for_lines
            || lines.all(|line| known(self.lines.get(&line), self.asks_for_lines)))
            && (selection.windows.is_empty()
                || selection.admits_time(
                    times.clone().fold(f64::INFINITY, f64::min),
                    times.fold(f64::NEG_INFINITY, f64::max),
                ))
            && self.call_ids.as_ref().is_none_or(|call_ids| {
                let call_id = call_ids.of(category, info);
                selection.admits_call_id(call_id)
            });
        admitted != selection.invert
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges() {
        let numbers: NumberRanges = "1, 4-7,0x10,20-".parse().expect("numbers");
        let found: Vec<i32> = (-1..23).filter(|&n| numbers.contains(n)).collect();
        assert_eq!(found, [1, 4, 5, 6, 7, 16, 20, 21, 22]);
        for wrong in ["", "a", "4-3", "-", "1,,2"] {
            assert!(wrong.parse::<NumberRanges>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_number_is_an_index() {
        assert_eq!(CategoryPattern::from("17"), CategoryPattern::Index(17));
        assert!(CategoryPattern::from("MPI_?send").matches(0, "MPI_Isend"));
        assert!(!CategoryPattern::from("MPI_send").matches(0, "MPI_Send"));
    }
}
