//! Counts of what a conversion skips, in the order met.

use std::fmt;

/// Something odd in a log that does not stop its conversion.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// An end event without a start before it; the record is left out.
    EndWithoutStart {
        /// Number of the event.
        etype: i32,
        /// Time of the record in seconds.
        time: f64,
        /// Line of the record.
        line: i32,
    },
    /// An event whose number no definition and no range of the preamble covers; the record is left out.
    UndescribedEvent {
        /// Number of the event.
        etype: i32,
        /// Time of the record in seconds.
        time: f64,
        /// Line of the record.
        line: i32,
    },
    /// A definition whose numbers are in use for something else; it is left out.
    ConflictingDefinition {
        /// The name it gives.
        name: String,
        /// Numbers of its events; the same one twice for a solo event.
        etypes: [i32; 2],
    },
    /// A colour name that is not known; the category gets pink.
    UnknownColor {
        /// The colour name.
        color: String,
        /// Name of the category.
        category: String,
    },
    /// A line with drawables that no COMM record announced; its row is named by the numbers its ID is made of.
    UnannouncedLine {
        /// The line.
        line: i32,
    },
    /// A drawable that ends before it starts; it is kept as it is.
    Backward {
        /// Index of its category.
        category: i32,
        /// Time of its first vertex in seconds.
        start: f64,
        /// Time of its last vertex in seconds.
        end: f64,
    },
    /// A drawable that ends before the one completed before it. Told only if [`super::ConvertOptions::check_end_times`] asks.
    EndTimeOrder {
        /// End of the drawable before, in seconds.
        before: f64,
        /// End of this one.
        end: f64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::EndWithoutStart { etype, time, line } => write!(
                f,
                "event {etype} at {time} s on line {line} ends a state that was not started; left out"
            ),
            Warning::UndescribedEvent { etype, time, line } => write!(
                f,
                "event {etype} at {time} s on line {line} is described nowhere; left out"
            ),
            Warning::ConflictingDefinition { name, etypes } => write!(
                f,
                "definition of {name:?}: events {} and {} belong to something else; left out",
                etypes[0], etypes[1]
            ),
            Warning::UnknownColor { color, category } => {
                write!(f, "unknown colour {color:?} of {category:?}; pink is used")
            }
            Warning::UnannouncedLine { line } => {
                write!(
                    f,
                    "line {line} belongs to no communicator that the log announces"
                )
            }
            Warning::Backward {
                category,
                start,
                end,
            } => write!(
                f,
                "a drawable of category {category} runs backwards, from {start} s to {end} s"
            ),
            Warning::EndTimeOrder { before, end } => write!(
                f,
                "a drawable that ends at {end} s follows one that ends at {before} s"
            ),
        }
    }
}

/// The warnings of a conversion. A broken log can have one per record, so only the first are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Warnings {
    /// The first ones, at most [`Warnings::KEPT`].
    pub first: Vec<Warning>,
    /// Number of all.
    pub total: u64,
}

impl Warnings {
    /// Number of warnings that are kept.
    pub const KEPT: usize = 100;

    #[cold]
    pub(super) fn add(&mut self, warning: Warning) {
        self.total += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(warning);
        }
    }
}
