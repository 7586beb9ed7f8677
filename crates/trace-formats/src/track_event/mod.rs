//! What Perfetto and Chrome have in common: drawables become slices, flows and counters on tracks.
//!
//! An event, and each end of an arrow, is a slice without duration that ends before anything else of its track comes. The instants of
//! both formats would hold what comes at the same time inside of each other, up to a depth that viewers do not show.
//!
//! [`EventStream`] takes drawables in order of start and gives an [`EventWriter`] the events in order of time. In memory are
//! the tracks, the categories, the files that the trace names, and the drawables that are not over yet.

mod accepted;
mod labels;
mod nesting;
mod stream;
mod tracks;

pub(crate) use accepted::{StartTimes, obstacle};
pub(crate) use labels::{Argument, ArgumentValue, NameId, NameTable};
pub(crate) use nesting::Nesting;
pub(crate) use stream::EventStream;
pub(crate) use tracks::{Process, Track, TrackKind};

use std::io;

/// One end of a flow, the arrow between two slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowEnd {
    /// The arrow with this number starts here.
    Start(u64),
    /// The arrow with this number ends here.
    End(u64),
}

/// Name and group of a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventLabel {
    /// Name, in the table of names.
    pub name: NameId,
    /// Group by which viewers filter, such as `mpi`, in the table of names.
    pub group: NameId,
}

/// Value of a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CounterValue {
    /// Whole number.
    Integer(i64),
    /// Floating-point number.
    Real(f64),
}

/// A format that consists of tracks with slices, flows and counters. Times are ns and never go back.
pub(crate) trait EventWriter {
    /// Defines a process, before its tracks.
    fn process(&mut self, process: &Process) -> io::Result<()>;

    /// Defines a track, before its first event.
    fn track(&mut self, track: &Track, process: &Process) -> io::Result<()>;

    /// Begins a slice, which may be the end of a flow. It lies inside the slices of the track that have not ended yet.
    fn begin(
        &mut self,
        names: &NameTable,
        time: u64,
        track: &Track,
        label: EventLabel,
        flow: Option<FlowEnd>,
        arguments: &[Argument<'_>],
    ) -> io::Result<()>;

    /// Ends the slice of the track that began last.
    fn end(&mut self, time: u64, track: &Track) -> io::Result<()>;

    /// Writes the new value of a counter.
    fn count(&mut self, time: u64, track: &Track, value: CounterValue) -> io::Result<()>;
}
