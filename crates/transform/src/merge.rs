//! Several traces as one: the lines of each under those of the one before, on one time axis.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::views;
use trace_formats::slog2::LineIdMap;
use trace_model::{Category, Definitions, Drawable, Line, Losses, Source, Stop, Vertex};

/// A trace to be merged.
pub struct MergeInput<'s> {
    /// Drawables of the trace.
    pub source: &'s dyn Source,
    /// Views of the trace, if its format has such.
    pub views: Vec<LineIdMap>,
    /// Name of the trace in the titles of views.
    pub name: String,
    /// Seconds to add to its times.
    pub shift: f64,
}

/// Traces that cannot be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// Together they have more lines than there are numbers for them.
    Lines,
    /// Together they have more categories than there are numbers for them.
    Categories,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MergeError::Lines => "the line numbers of these traces together exceed 32 bits",
            MergeError::Categories => "the categories of these traces together exceed 32 bits",
        })
    }
}

impl std::error::Error for MergeError {}

/// Traces under each other.
///
/// Categories that are equal in all but number and counts become one; others get a new number where theirs is taken.
pub struct MergedTraces<'s> {
    parts: Vec<(MergeInput<'s>, InputNumbering)>,
    definitions: Definitions,
    views: Vec<LineIdMap>,
}

/// Numbers in the merged trace of the lines and categories of one input.
struct InputNumbering {
    /// Added to line numbers.
    lines: i64,
    categories: BTreeMap<i32, i32>,
}

impl<'s> MergedTraces<'s> {
    /// Puts the traces together, in this order.
    ///
    /// # Errors
    /// If numbers run out.
    pub fn new(parts: Vec<MergeInput<'s>>) -> Result<Self, MergeError> {
        let mut definitions = Definitions::default();
        let mut used = BTreeSet::new();
        let mut numbered: Vec<(MergeInput<'s>, InputNumbering)> = Vec::new();
        let mut next_line: Option<i64> = None;
        for part in parts {
            let own = part.source.definitions();
            let ids = || own.lines.iter().map(|line| i64::from(line.id));
            let (first, last) = (ids().min().unwrap_or(0), ids().max().unwrap_or(-1));
            let lines = next_line.map_or(0, |next| next - first);
            next_line = Some(lines + last + 1);
            if i32::try_from(lines + last).is_err() {
                return Err(MergeError::Lines);
            }
            if definitions.program.is_empty() {
                definitions.program.clone_from(&own.program);
            }
            let ranks = numbers_from(&definitions.lines, |line| line.rank);
            let comms = numbers_from(&definitions.lines, |line| line.comm);
            let is_first = numbered.is_empty();
            definitions.lines.extend(own.lines.iter().map(|line| Line {
                // Both bounds were checked.
                id: (i64::from(line.id) + lines) as i32,
                rank: line.rank.saturating_add(ranks),
                comm: match line.comm {
                    0 => 0,
                    _ if is_first => line.comm,
                    other => other.saturating_add(comms),
                },
                comm_rank: match line.comm {
                    0 => line.comm_rank.saturating_add(ranks),
                    _ => line.comm_rank,
                },
                ..line.clone()
            }));
            let categories = join_categories(&mut definitions, own, &mut used)?;
            numbered.push((part, InputNumbering { lines, categories }));
        }
        let parts = numbered.iter().map(|(part, numbering)| views::InputViews {
            name: &part.name,
            views: &part.views,
            line_offset: numbering.lines as i32,
            lines: part.source.definitions().lines.len(),
        });
        Ok(MergedTraces {
            views: views::join(&parts.collect::<Vec<_>>(), &definitions.lines),
            parts: numbered,
            definitions,
        })
    }

    /// The usual views, with ranks counted on from trace to trace, and for each view of the traces one in which the number
    /// of the trace stands before what that view says.
    pub fn views(&self) -> &[LineIdMap] {
        &self.views
    }
}

/// The first number behind those that lines have.
fn numbers_from(lines: &[Line], number: impl Fn(&Line) -> i32) -> i32 {
    lines
        .iter()
        .map(number)
        .max()
        .map_or(0, |last| last.saturating_add(1).max(0))
}

/// Adds the categories of a trace and says what they are called now.
fn join_categories(
    definitions: &mut Definitions,
    own: &Definitions,
    used: &mut BTreeSet<i32>,
) -> Result<BTreeMap<i32, i32>, MergeError> {
    let mut numbers = BTreeMap::new();
    let mut new = Vec::new();
    for category in &own.categories {
        match definitions.categories.iter().find(|c| is_same(c, category)) {
            Some(same) => {
                numbers.insert(category.index, same.index);
            }
            None => new.push(category),
        }
    }
    // Those whose numbers are free keep them; the others come behind all.
    let (keep, renumber): (Vec<_>, Vec<_>) = new
        .into_iter()
        .partition(|category| used.insert(category.index));
    let last = |used: &BTreeSet<i32>| used.last().copied().unwrap_or(-1).max(-1);
    for (category, keeps) in keep
        .into_iter()
        .map(|category| (category, true))
        .chain(renumber.into_iter().map(|category| (category, false)))
    {
        let index = match keeps {
            true => category.index,
            false => last(used).checked_add(1).ok_or(MergeError::Categories)?,
        };
        used.insert(index);
        numbers.insert(category.index, index);
        if let Some(&etypes) = own.etypes.get(&category.index)
            && !definitions
                .etypes
                .values()
                .any(|taken| taken.0 == etypes.0 || taken.1 == etypes.1)
        {
            definitions.etypes.insert(index, etypes);
        }
        definitions.categories.push(Category {
            index,
            ..category.clone()
        });
    }
    Ok(numbers)
}

/// True if two categories differ in number and counts at most.
fn is_same(a: &Category, b: &Category) -> bool {
    let unnumbered = |category: &Category| Category {
        index: 0,
        summary: Default::default(),
        ..category.clone()
    };
    a.topology == b.topology && a.name == b.name && unnumbered(a) == unnumbered(b)
}

impl Source for MergedTraces<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut losses = Losses::default();
        let mut vertices: Vec<Vertex> = Vec::new();
        for (part, numbering) in &self.parts {
            let found = part.source.for_each(&mut |drawable| {
                vertices.clear();
                for vertex in drawable.vertices {
                    let line = i64::from(vertex.line) + numbering.lines;
                    vertices.push(Vertex {
                        time: vertex.time + part.shift,
                        line: i32::try_from(line).map_err(|_| MergeError::Lines)?,
                    });
                }
                let category = numbering.categories.get(&drawable.category);
                put(&Drawable {
                    category: category.copied().unwrap_or(drawable.category),
                    vertices: &vertices,
                    ..*drawable
                })
            })?;
            losses.merge(&found);
        }
        Ok(losses)
    }
}
