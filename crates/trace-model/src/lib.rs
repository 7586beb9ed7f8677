//! The model of a trace that all formats share: drawables on timelines.
//!
//! Every crate that reads, writes, analyses or draws traces builds on this one. It must not know any format, MPI, or how a
//! trace came about.
//!
//! The drawable is that of SLOG2: a state, an arrow or an event of a category, with its corners in time and on lines
//! and an info whose layout the category tells. A format that can be read as drawables has a [`Source`], one that can
//! hold them a [`Sink`], and [`convert`] puts the one into the other. Formats that hold events rather than drawables
//! take them through [`Points`]. What a target cannot hold is counted in [`Losses`], never dropped silently.
#![deny(missing_docs)]

#[cfg(feature = "spill")]
mod batch;
mod category;
mod color;
mod comm_names;
mod drawable;
pub mod fault;
#[cfg(unix)]
pub mod files;
pub mod glob;
pub mod hash;
mod info;
mod lane;
mod losses;
mod message_field;
mod number_map;
pub mod os;
mod part_number;
mod pending;
#[cfg(unix)]
mod pending_folder;
mod points;
pub mod requests;
#[cfg(feature = "spill")]
mod sort;
mod temporary;
pub mod units;
mod x11_names;

use std::collections::{BTreeMap, HashSet};

#[cfg(feature = "spill")]
pub use batch::DrawableBatch;
pub use category::{
    Category, PREVIEW_ARROW, PREVIEW_EVENT, PREVIEW_STATE, Ratios, Text, preview_index,
};
pub use color::{Color, DefaultColors};
pub use comm_names::CommNames;
pub use drawable::{Drawable, TimeBBox, Topology, Vertex};
pub use fault::{Fault, FaultKind};
pub use info::{
    COUNTER_SIGN, InfoValue, InfoWriter, MessageInfo, counter_of, info_values, message, value_names,
};
pub use lane::{
    Actor, Lane, columns_of_lane, lane_of, name_of_columns, name_of_lane, named_lane, thread_of,
};
pub use losses::Losses;
pub use message_field::MessageField;
pub use number_map::NumberMap;
pub use part_number::PartNumber;
pub use pending::{PendingFile, temporary_name};
#[cfg(unix)]
pub use pending_folder::{EntryKind, FolderKind, PendingFolder, TemporaryFolder};
pub use points::{DrawablePoint, PointKind, Points};
#[cfg(feature = "spill")]
pub use sort::{Sorted, Sorter, convert, for_each_in_order};
pub use temporary::{TemporaryObserver, observe_temporaries};
pub use x11_names::NAMES as X11_NAMES;

/// Error that stops a conversion, from the source or the sink. It names its file.
pub type Stop = Box<dyn std::error::Error + Send + Sync>;

/// A timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The number by which vertices name it.
    pub id: i32,
    /// Rank of its process in MPI_COMM_WORLD.
    pub rank: i32,
    /// Thread of the process; 0 is the one that called MPI_Init.
    pub thread: i32,
    /// The communicator that the line is about: a number local to the file, 0 for MPI_COMM_WORLD.
    pub comm: i32,
    /// Rank of the process in that communicator.
    pub comm_rank: i32,
    /// The host it ran on, where the file tells.
    pub host: Option<String>,
    /// A name that numbers cannot give, such as that of a device or a server.
    pub name: Option<String>,
}

impl Line {
    /// The line of a thread, about MPI_COMM_WORLD.
    pub fn of_thread(id: i32, rank: i32, thread: i32) -> Self {
        Line {
            id,
            rank,
            thread,
            comm_rank: rank,
            ..Line::default()
        }
    }
}

/// Categories, lines and order of a trace, known before its first drawable.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// The program that was traced or that wrote the file, where the file tells.
    pub program: String,
    /// The categories; each drawable names one by its index.
    pub categories: Vec<Category>,
    /// The timelines by ascending id; each vertex names one.
    pub lines: Vec<Line>,
    /// Numbers of the start and the end event of a category, by index of the category (the same for an event), where the source
    /// has such.
    pub etypes: BTreeMap<i32, (i32, i32)>,
}

impl Definitions {
    /// The category of this index.
    pub fn category(&self, index: i32) -> Option<&Category> {
        self.categories.iter().find(|c| c.index == index)
    }

    /// A taker that hands the drawables whose categories are of a topology on to `put`, and no others.
    pub fn only<'p>(
        &self,
        topology: Topology,
        put: &'p mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> impl FnMut(&Drawable<'_>) -> Result<(), Stop> + use<'p> {
        let all = self.categories.iter();
        let of_topology = all.filter(|category| category.topology == topology);
        let wanted: NumberMap<()> = of_topology.map(|category| (category.index, ())).collect();
        move |drawable| match wanted.get(drawable.category) {
            Some(()) => put(drawable),
            None => Ok(()),
        }
    }

    /// The line of this id.
    pub fn line(&self, id: i32) -> Option<&Line> {
        let at = self.lines.binary_search_by_key(&id, |line| line.id).ok()?;
        self.lines.get(at)
    }

    /// Number of the hosts that lines name; 0 if none does.
    pub fn hosts(&self) -> usize {
        let hosts = self.lines.iter().filter_map(|line| line.host.as_deref());
        hosts.collect::<HashSet<&str>>().len()
    }
}

/// Order of drawables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawableOrder {
    /// By increasing start time; of those that start together the longer one first.
    Start,
    /// By increasing end time; of those that end together the one that started last first.
    End,
    /// In any.
    Any,
}

/// A trace that can be read as drawables.
pub trait Source {
    /// Categories and lines, complete before the first drawable.
    fn definitions(&self) -> &Definitions;

    /// In which order [`Source::for_each`] gives the drawables.
    fn order(&self) -> DrawableOrder {
        DrawableOrder::Any
    }

    /// Gives all drawables to `put`, and then says what the file holds that is no drawable or could not be read.
    ///
    /// # Errors
    /// The errors of `put`, and what is wrong with the file.
    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop>;

    /// Gives the drawables whose categories are of one topology to `put`, ordered as by [`Source::for_each`]. A format that keeps the others apart
    /// does not read them. What is lost of these is not said either.
    ///
    /// # Errors
    /// The errors of `put`, and what is wrong with the part of the file that is read.
    fn for_each_of(
        &self,
        topology: Topology,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        self.for_each(&mut self.definitions().only(topology, put))
    }
}

/// Function that completes the output of a [`Sink`] after all drawables are written.
pub type Complete<W> = Box<dyn FnOnce(W) -> Result<(), Stop>>;

/// A trace that is being made of drawables.
pub trait Sink {
    /// In which order it wants them.
    fn order(&self) -> DrawableOrder;

    /// Takes the next.
    ///
    /// # Errors
    /// When it could not be written; the sink is then of no more use.
    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop>;

    /// Completes the file and gives it its name; says what the format could not hold.
    ///
    /// # Errors
    /// When it could not be completed; there is then no file of that name.
    fn finish(self: Box<Self>) -> Result<Losses, Stop>;
}
