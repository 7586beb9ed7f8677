//! The records of all threads of a process in one order: that in which calls were completed.
//!
//! What a call has made (a request, a communicator) can be used by another thread as soon as the call has returned, and not
//! before; so in this order everything is known when it is needed. Within a thread the recorder's own order holds, which
//! is that of completion, too.

use super::plan::FunctionPlan;
use blockfile::define::{MATCHING_ONLY, matching_only_call};
use blockfile::file::{BlockFile, ThreadBlocks, ThreadRecords};
use blockfile::record::Record;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One thread, at one of its records.
#[derive(Debug)]
pub struct Cursor<'a> {
    /// Number of the thread.
    pub thread: u32,
    records: ThreadRecords<'a>,
    /// Whether the record is the call that stands in a MATCHING_ONLY one.
    is_matching_only_call: bool,
    /// When the record was completed, in ticks; never less than that of an earlier one.
    pub key: u64,
}

impl<'a> Cursor<'a> {
    /// Before the first record of `thread`.
    pub fn new(thread: &ThreadBlocks<'a>) -> Self {
        Cursor {
            thread: thread.number,
            records: thread.records(),
            is_matching_only_call: false,
            key: 0,
        }
    }

    /// Goes to the next record; false at the end.
    #[inline]
    pub fn advance(&mut self) -> bool {
        self.is_matching_only_call = false;
        if !self.records.advance() {
            return false;
        }
        self.key = self.key.max(self.records.record().stop());
        true
    }

    /// As [`Cursor::advance`], but for [`Cursor::key`]; in place of a MATCHING_ONLY record comes the call that stands in it. Gives the
    /// number of the record, which of such a call is MATCHING_ONLY; `None` at the end.
    #[inline]
    pub fn advance_to_matching_only(&mut self) -> Option<u16> {
        self.is_matching_only_call = false;
        let function = self.records.advance_to()?;
        self.is_matching_only_call =
            function == MATCHING_ONLY && matching_only_call(&self.records.record()).is_some();
        Some(function)
    }

    /// Whether the record is one that stood in a MATCHING_ONLY one.
    pub fn is_matching_only(&self) -> bool {
        self.is_matching_only_call
    }

    /// The record that the walk went to.
    #[inline(always)] // so that a caller reads what it needs, and no record is copied
    pub fn record(&self) -> Record<'_> {
        match self.is_matching_only_call {
            false => self.records.record(),
            true => self.unwrapped(),
        }
    }

    /// The record that the walk went to, if it stands in the block as it is.
    #[inline(always)] // as what it calls
    pub fn record_in_place(&self) -> Option<Record<'a>> {
        match self.is_matching_only_call {
            false => self.records.record_in_place(),
            true => None,
        }
    }

    /// The call that stands in the record, which is a MATCHING_ONLY one.
    #[cold]
    fn unwrapped(&self) -> Record<'_> {
        let record = self.records.record();
        matching_only_call(&record).unwrap_or(record)
    }
}

/// One record of the timeline.
#[derive(Clone, Copy, Debug)]
pub struct Item<'t> {
    /// Number of the thread it is of.
    pub thread: u32,
    /// Position of that thread in [`BlockFile::threads`].
    pub position: usize,
    /// The call or definition.
    pub record: Record<'t>,
}

/// Walks over the records of all threads in order of completion. Definitions come in the order of their thread, at the time
/// in their head or, where that is 0, right after the record before them.
#[derive(Debug)]
pub struct Timeline<'a> {
    cursors: Vec<Cursor<'a>>,
    /// Threads that have a next record, the one to be given first on top; ties by thread.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    /// Position of the thread whose record was given last.
    given: usize,
    /// Whether that thread has not gone on yet.
    stands: bool,
}

impl<'a> Timeline<'a> {
    /// Over all records of `file`.
    pub fn new(file: &BlockFile<'a>) -> Self {
        let mut cursors: Vec<_> = file.threads().iter().map(Cursor::new).collect();
        let mut next = BinaryHeap::with_capacity(cursors.len());
        // A single thread needs no looking ahead.
        if cursors.len() > 1 {
            for (i, cursor) in cursors.iter_mut().enumerate() {
                if cursor.advance() {
                    next.push(Reverse((cursor.key, i)));
                }
            }
        }
        Timeline {
            cursors,
            next,
            given: 0,
            stands: false,
        }
    }

    /// The next record.
    #[allow(clippy::should_implement_trait, reason = "it lends from its buffers")]
    #[inline]
    pub fn next(&mut self) -> Option<Item<'_>> {
        self.advance().then(|| Item {
            thread: self.thread(),
            position: self.given,
            record: self.record(),
        })
    }

    /// Goes to the next record; false at the end.
    #[inline]
    pub fn advance(&mut self) -> bool {
        match &mut self.cursors[..] {
            [only] => only.records.advance(),
            _ => self.advance_earliest(),
        }
    }

    /// Goes past some of the calls that come next, all or none of them, and gives function, start and stop of each to `take`: quicker
    /// than one by one. The record that the timeline stands at is none of them then.
    #[inline]
    pub fn take_calls(&mut self, take: impl FnMut(u16, u64, u64)) {
        if let [only] = &mut self.cursors[..] {
            only.records.take_calls(take);
        }
    }

    /// [`Timeline::advance`] with several threads.
    fn advance_earliest(&mut self) -> bool {
        if std::mem::take(&mut self.stands)
            && let Some(cursor) = self.cursors.get_mut(self.given)
            && cursor.advance()
        {
            self.next.push(Reverse((cursor.key, self.given)));
        }
        let Some(Reverse((_, i))) = self.next.pop() else {
            return false;
        };
        (self.given, self.stands) = (i, true);
        true
    }

    /// The record that [`Timeline::advance`] went to.
    #[inline(always)] // so that a caller reads what it needs, and no record is copied
    pub fn record(&self) -> Record<'_> {
        match self.cursors.get(self.given) {
            Some(cursor) => cursor.records.record(),
            None => Record::default(),
        }
    }

    /// Number of the thread whose record it is.
    #[inline]
    pub fn thread(&self) -> u32 {
        self.cursors.get(self.given).map_or(0, |c| c.thread)
    }

    /// Position of that thread in [`BlockFile::threads`].
    #[inline]
    pub fn position(&self) -> usize {
        self.given
    }
}
/// Gives each call of a process, those recorded for matching only too, with its plan and the number of its thread.
pub fn each_call(
    file: &BlockFile<'_>,
    plans: &[FunctionPlan<'_>],
    mut sink: impl FnMut(&FunctionPlan<'_>, &Record<'_>, i32),
) {
    let mut timeline = Timeline::new(file);
    while let Some(item) = timeline.next() {
        let thread = i32::try_from(item.thread).unwrap_or(i32::MAX);
        let call = matching_only_call(&item.record).unwrap_or(item.record);
        if let Some(plan) = plans.get(usize::from(call.function)) {
            sink(plan, &call, thread);
        }
    }
}
