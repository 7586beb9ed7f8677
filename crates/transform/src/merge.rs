//! Several traces as one: the lines of each under those of the one before, on one time axis.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use super::comm_numbers::{self, CommNumbering};
use super::io_numbers::{self, InfoRoom, Renumbering};
use super::views;
use trace_formats::slog2::LineIdMap;
use trace_model::{
    Actor, Category, Definitions, Drawable, Lane, Line, Losses, Source, Stop, Vertex, name_of_lane,
    named_lane,
};

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
    /// Together they have more communicators, CallIDs, files or operations than there are numbers for them.
    Numbers,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MergeError::Lines => "the line numbers of these traces together exceed 32 bits",
            MergeError::Categories => "the categories of these traces together exceed 32 bits",
            MergeError::Numbers => {
                "the numbers of communicators, CallIDs, files or operations of these traces together exceed the bits that there are for them"
            }
        })
    }
}

impl std::error::Error for MergeError {}

/// Traces under each other.
///
/// Categories that are equal in all but number and counts become one; others get a new number where theirs is taken. CallIDs, files and
/// operations of runs with I/O get other numbers where they are those of another run. Communicators of a trace after the first one get other
/// numbers, its MPI_COMM_WORLD too if traces before it have ranks.
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
    /// Numbers of communicators and ranks.
    comms: CommNumbering,
    /// Numbers of CallIDs, files and operations in infos.
    infos: Renumbering,
}

impl<'s> MergedTraces<'s> {
    /// Puts the traces together, in this order.
    ///
    /// # Errors
    /// If numbers run out ([`MergeError`]), and the errors of the traces: those with I/O are read once to see their numbers.
    pub fn new(parts: Vec<MergeInput<'s>>) -> Result<Self, Stop> {
        let mut definitions = Definitions::default();
        let mut used = BTreeSet::new();
        let mut numbered: Vec<(MergeInput<'s>, i64, BTreeMap<i32, i32>, CommNumbering)> =
            Vec::new();
        let mut inputs: Vec<(&dyn Source, i32)> = Vec::new();
        let mut next_line: Option<i64> = None;
        let (mut next_comm, mut has_world) = (0, false);
        let count = parts.len();
        for part in parts {
            let own = part.source.definitions();
            let ids = || own.lines.iter().map(|line| i64::from(line.id));
            let (first, last) = (ids().min().unwrap_or(0), ids().max().unwrap_or(-1));
            let lines = next_line.map_or(0, |next| next - first);
            next_line = Some(lines + last + 1);
            if i32::try_from(lines + last).is_err() {
                return Err(MergeError::Lines.into());
            }
            if definitions.program.is_empty() {
                definitions.program.clone_from(&own.program);
            }
            let ranks = numbers_from(&definitions.lines, |line| line.rank);
            let comms = CommNumbering::new(own, next_comm, has_world, ranks);
            let actors = ActorNumbers::behind(&definitions.lines, ranks);
            definitions.lines.extend(own.lines.iter().map(|line| {
                let (comm, comm_rank) = comms.of_line(line);
                Line {
                    // Both bounds were checked.
                    id: (i64::from(line.id) + lines) as i32,
                    rank: line.rank.saturating_add(ranks),
                    comm,
                    comm_rank,
                    name: named_lane(line)
                        .map(|lane| name_of_lane(actors.moved(lane)))
                        .or_else(|| line.name.clone()),
                    ..line.clone()
                }
            }));
            let categories = join_categories(&mut definitions, own, &mut used)?;
            has_world |= own.lines.iter().any(comm_numbers::is_of_world);
            // Nobody needs the numbers behind those of the last trace.
            if numbered.len() + 1 < count {
                let largest = comm_numbers::largest(part.source)?;
                let behind = comms.behind(largest).ok_or(MergeError::Numbers)?;
                next_comm = next_comm.max(behind);
            }
            inputs.push((part.source, ranks));
            numbered.push((part, lines, categories, comms));
        }
        let shifts = io_numbers::shifts(&inputs)?.ok_or(MergeError::Numbers)?;
        let numbered: Vec<_> = numbered
            .into_iter()
            .zip(shifts)
            .map(|((part, lines, categories, comms), shift)| {
                let infos = Renumbering::new(part.source, shift);
                let numbering = InputNumbering {
                    lines,
                    categories,
                    comms,
                    infos,
                };
                (part, numbering)
            })
            .collect();
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

/// What is added to the numbers of ranks, servers and devices in the names of lines.
struct ActorNumbers {
    ranks: u32,
    front_ends: u32,
    data_servers: u32,
    devices: u32,
}

impl ActorNumbers {
    /// Behind those of `lines`, with `ranks` added to ranks.
    fn behind(lines: &[Line], ranks: i32) -> ActorNumbers {
        let mut found = ActorNumbers {
            ranks: u32::try_from(ranks).unwrap_or(0),
            front_ends: 0,
            data_servers: 0,
            devices: 0,
        };
        for lane in lines.iter().filter_map(named_lane) {
            let (next, number) = match lane.actor {
                Actor::Rank(_) => continue,
                Actor::FrontEnd(n) => (&mut found.front_ends, n),
                Actor::DataServer(n) => (&mut found.data_servers, n),
                Actor::Device(n) => (&mut found.devices, n),
            };
            *next = (*next).max(number.saturating_add(1));
        }
        found
    }

    fn moved(&self, lane: Lane) -> Lane {
        let actor = match lane.actor {
            Actor::Rank(n) => Actor::Rank(n.saturating_add(self.ranks)),
            Actor::FrontEnd(n) => Actor::FrontEnd(n.saturating_add(self.front_ends)),
            Actor::DataServer(n) => Actor::DataServer(n.saturating_add(self.data_servers)),
            Actor::Device(n) => Actor::Device(n.saturating_add(self.devices)),
        };
        Lane { actor, ..lane }
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
    let mut known: HashMap<&[u8], Vec<&Category>> = HashMap::new();
    for category in &definitions.categories {
        known.entry(&category.name.0).or_default().push(category);
    }
    for category in &own.categories {
        let alike = known.get(&*category.name.0).into_iter().flatten();
        match alike.into_iter().find(|known| is_same(known, category)) {
            Some(same) => {
                numbers.insert(category.index, same.index);
            }
            None => new.push(category),
        }
    }
    let taken = definitions.etypes.values();
    let mut starts: HashSet<i32> = taken.clone().map(|taken| taken.0).collect();
    let mut ends: HashSet<i32> = taken.map(|taken| taken.1).collect();
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
            && !starts.contains(&etypes.0)
            && !ends.contains(&etypes.1)
        {
            starts.insert(etypes.0);
            ends.insert(etypes.1);
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
        let mut room = InfoRoom::default();
        let mut with_comms = Vec::new();
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
                let info = numbering.infos.info(drawable, &mut room);
                let changes = numbering
                    .comms
                    .info(drawable.category, info, &mut with_comms);
                put(&Drawable {
                    category: category.copied().unwrap_or(drawable.category),
                    info: if changes { &with_comms } else { info },
                    vertices: &vertices,
                    ..*drawable
                })
            })?;
            losses.merge(&found);
        }
        Ok(losses)
    }
}
