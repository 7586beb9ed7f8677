//! Counts of what a stream of records could not show as it was recorded.

/// Counts of what a merged trace could not show as it was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Communicators drawn on MPI_COMM_WORLD, because their lines would have numbers above 2^31 (`spec/clog2.md`
    /// section 16.6) or they have more members than MPI_COMM_WORLD.
    pub folded_comms: u64,
    /// Messages left out because their communicator or partner is not known.
    pub unknown_messages: u64,
    /// Message endpoints left out because the settings want messages of other sizes.
    pub unwanted_messages: u64,
    /// Message endpoints left out, because the other one was given up for newer calls, or was left out by filters, or may have
    /// been.
    pub unmatched_endpoints: u64,
    /// Messages of more bytes than 32 bits tell, which all records of messages have: their sizes are 2147483647 in the trace.
    pub large_messages: u64,
    /// Records left out because their function is not known or they are damaged.
    pub unknown_calls: u64,
    /// Regions, markers and events of the program's own left out: ends of what had not begun, damaged ones.
    pub unknown_events: u64,
}

impl Notes {
    /// Adds those of another process.
    pub fn add(&mut self, other: Notes) {
        self.folded_comms += other.folded_comms;
        self.unknown_messages += other.unknown_messages;
        self.unwanted_messages += other.unwanted_messages;
        self.unmatched_endpoints += other.unmatched_endpoints;
        self.large_messages += other.large_messages;
        self.unknown_calls += other.unknown_calls;
        self.unknown_events += other.unknown_events;
    }
}
