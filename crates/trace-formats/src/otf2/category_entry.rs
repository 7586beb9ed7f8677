//! What is known of a category.

use std::rc::Rc;

use super::functions::RegionCall;
use super::info::InfoReader;

/// What is known of a category.
pub(super) struct CategoryEntry {
    /// Shared, since it is read while events are written.
    pub reader: Rc<InfoReader>,
    pub call: RegionCall,
    /// Reference of its region.
    pub region: u32,
    /// References of its performance counters, or of the metric that its events are values of.
    pub metrics: Vec<u32>,
    pub meaning: Meaning,
}

/// What the drawables of a category are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Calls and regions of the program.
    Region,
    /// Messages between ranks.
    Message,
    /// Arrows that are no messages, which archives cannot hold.
    OtherArrow,
    /// Events that name a file.
    FileName,
    /// Events that tell which file a call is about.
    FileFact,
    /// All other events.
    Marker,
}
