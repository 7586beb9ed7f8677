//! Merged records that are ready to be given.

use super::record::{LeftState, MergedBody, MergedRecord};
use super::state_info::StateInfo;
use trace_formats::clog2::{Clog2Msg, Clog2RecordHeader};

/// Event of a record that is no more.
const NOTHING: MergedBody = MergedBody::Enter { etype: 0 };

/// A list of records that is emptied often. Each is written where it stays: a copy of what was just written in small parts would have to wait
/// for them.
#[derive(Debug, Default)]
pub(super) struct ReadyRecords {
    /// Records, of which those behind the first `used` are old ones.
    records: Vec<MergedRecord>,
    used: usize,
}

impl ReadyRecords {
    /// Appends a record.
    #[inline]
    pub fn push(&mut self, header: Clog2RecordHeader, body: MergedBody) {
        self.next().set(header, body);
    }

    /// Appends one end of a message, and by how many places it is ahead of its turn.
    #[inline(always)] // else what was just written in small parts is copied
    pub fn push_message(&mut self, header: Clog2RecordHeader, message: Clog2Msg, ahead: i32) {
        let body = MergedBody::Message { message, ahead };
        self.next().set(header, body);
    }

    /// Appends the end of a state, about which nothing is known yet. Gives what is known.
    #[inline]
    pub fn push_state(
        &mut self,
        header: Clog2RecordHeader,
        start: f64,
        etypes: [i32; 2],
    ) -> &mut StateInfo {
        let record = self.next();
        record.set(
            header,
            MergedBody::Leave(LeftState {
                start,
                etypes,
                info: StateInfo::default(),
            }),
        );
        match &mut record.body {
            MergedBody::Leave(state) => &mut state.info,
            _ => unreachable!("it is the end of a state"),
        }
    }

    /// Room for the next record.
    #[inline(always)] // as what it is for
    fn next(&mut self) -> &mut MergedRecord {
        let at = self.used;
        if at == self.records.len() {
            self.grow();
        }
        self.used += 1;
        let record = &mut self.records[at];
        if record.body.has_memory() {
            record.body = NOTHING;
        }
        record
    }

    #[cold]
    fn grow(&mut self) {
        self.records.push(MergedRecord {
            header: Clog2RecordHeader {
                time: 0.0,
                icomm: 0,
                rank: 0,
                thread: 0,
            },
            body: NOTHING,
        });
    }

    /// The record at this place.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&MergedRecord> {
        self.records[..self.used].get(at)
    }

    /// Number of records.
    #[inline]
    pub fn len(&self) -> usize {
        self.used
    }

    /// Forgets all records.
    #[inline]
    pub fn clear(&mut self) {
        self.used = 0;
    }
}

impl MergedRecord {
    /// Overwrites a record whose event has no memory of its own, without a look at what it was.
    #[inline(always)] // else what was just written in small parts is copied
    fn set(&mut self, header: Clog2RecordHeader, body: MergedBody) {
        debug_assert!(!self.body.has_memory());
        self.header = header;
        std::mem::forget(std::mem::replace(&mut self.body, body));
    }
}
