//! The binary-tree merge: every rank merges its own stream of CLOG2 records with those of its two children by time and passes
//! 64 KB messages of whole records on to its parent; rank 0 passes them to the files.
//!
//! Parent of r is (r − 1)/2. At equal times the left child goes before the right one and that before the rank's own
//! records, as MPE has it. Each stream keeps two messages under way, so that a node computes while the next message comes;
//! memory is these few messages, whatever the size of the trace.

use crate::exchange::failure::ExchangeFailure;
use crate::exchange::line::{Exchange, MESSAGE_BYTES};
use crate::exchange::messages::PendingMessage;
use crate::exchange::tree::{children, parent};
use merge::MergedRecord;
use merge::stream::MergeStream;
use std::collections::VecDeque;
use std::marker::PhantomData;

/// Messages under way on each edge of the tree.
const MESSAGES_AHEAD: usize = 2;

/// A kind of records to merge: each stands whole in a message of at most [`MESSAGE_BYTES`] bytes, and they come in order of their keys.
pub trait MergeRecords {
    /// Of the messages.
    const TAG: i32;
    /// Key by which records are in order.
    type Key: PartialOrd + Copy;
    /// Bytes of the record at the beginning of `rest`; 0 if there is none.
    fn size(rest: &[u8]) -> usize;
    /// Key of a record.
    fn key(record: &[u8]) -> Self::Key;
}

/// Merged records by their times.
pub struct MergedRecords;

impl MergeRecords for MergedRecords {
    const TAG: i32 = 777;
    type Key = f64;

    #[inline]
    fn size(rest: &[u8]) -> usize {
        MergedRecord::encoded_size(rest)
    }

    #[inline]
    fn key(record: &[u8]) -> f64 {
        MergedRecord::encoded_time(record)
    }
}

/// Receiver of merged records.
pub trait RecordSink {
    /// Takes one encoded record.
    fn record(&mut self, bytes: &[u8]) -> Result<(), ExchangeFailure>;

    /// Takes one record of this rank's calls.
    fn merged(&mut self, record: &MergedRecord) -> Result<(), ExchangeFailure> {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        self.record(&bytes)
    }
}

/// Records in order of their keys.
pub trait OrderedRecords<K: PartialOrd + Copy> {
    /// Goes to the next record, at the start to the first. Gives its key; `None` at the end.
    fn advance(&mut self) -> Result<Option<K>, ExchangeFailure>;

    /// Gives the record that [`OrderedRecords::advance`] went to.
    fn give(&mut self, sink: &mut impl RecordSink) -> Result<(), ExchangeFailure>;

    /// Gives that record and those behind it that come before `limit` to `sink`; all of them without a limit. Gives the key of the
    /// record that then comes next; `None` at the end.
    #[inline]
    fn give_until(
        &mut self,
        limit: Option<K>,
        sink: &mut impl RecordSink,
    ) -> Result<Option<K>, ExchangeFailure> {
        loop {
            self.give(sink)?;
            let next = self.advance()?;
            match (next, limit) {
                (Some(next), Some(limit)) if next >= limit => return Ok(Some(next)),
                (None, _) => return Ok(None),
                _ => {}
            }
        }
    }
}

/// Own records that are encoded one by one.
pub struct EncodedRecords<R, F> {
    next: F,
    buffer: Vec<u8>,
    records: PhantomData<R>,
}

impl<R: MergeRecords, F: FnMut(&mut Vec<u8>)> EncodedRecords<R, F> {
    /// `next` puts the next record into its buffer, which it leaves empty at the end.
    pub fn new(next: F) -> EncodedRecords<R, F> {
        EncodedRecords {
            next,
            buffer: Vec::new(),
            records: PhantomData,
        }
    }
}

impl<R: MergeRecords, F: FnMut(&mut Vec<u8>)> OrderedRecords<R::Key> for EncodedRecords<R, F> {
    fn advance(&mut self) -> Result<Option<R::Key>, ExchangeFailure> {
        (self.next)(&mut self.buffer);
        Ok((!self.buffer.is_empty()).then(|| R::key(&self.buffer)))
    }

    fn give(&mut self, sink: &mut impl RecordSink) -> Result<(), ExchangeFailure> {
        sink.record(&self.buffer)
    }
}

impl OrderedRecords<f64> for MergeStream<'_> {
    fn advance(&mut self) -> Result<Option<f64>, ExchangeFailure> {
        Ok(self.peek_time())
    }

    fn give(&mut self, sink: &mut impl RecordSink) -> Result<(), ExchangeFailure> {
        match self.next_record() {
            Some(record) => sink.merged(record),
            None => Ok(()),
        }
    }

    fn give_until(
        &mut self,
        limit: Option<f64>,
        sink: &mut impl RecordSink,
    ) -> Result<Option<f64>, ExchangeFailure> {
        MergeStream::give_until(self, limit, |record| sink.merged(record))
    }
}

/// The sink of a rank other than 0, which is never used.
pub struct NoSink;

impl RecordSink for NoSink {
    fn record(&mut self, _: &[u8]) -> Result<(), ExchangeFailure> {
        Ok(())
    }
}

/// A child's stream.
struct Incoming<'a, R> {
    line: &'a Exchange,
    from: i32,
    ahead: VecDeque<PendingMessage>,
    block: Vec<u8>,
    at: usize,
    size: usize,
    end: usize,
    records: PhantomData<R>,
}

impl<'a, R: MergeRecords> Incoming<'a, R> {
    fn new(line: &'a Exchange, from: i32) -> Result<Incoming<'a, R>, ExchangeFailure> {
        let ahead = (0..MESSAGES_AHEAD)
            .map(|_| line.start_receive(from, R::TAG, vec![0; MESSAGE_BYTES]))
            .collect::<Result<_, _>>()?;
        Ok(Incoming {
            line,
            from,
            ahead,
            block: Vec::new(),
            at: 0,
            size: 0,
            end: 0,
            records: PhantomData,
        })
    }
}

impl<R: MergeRecords> Incoming<'_, R> {
    /// The record that comes next.
    fn current(&self) -> &[u8] {
        self.block
            .get(self.at..self.at + self.size)
            .unwrap_or_default()
    }
}

impl<R: MergeRecords> OrderedRecords<R::Key> for Incoming<'_, R> {
    fn give(&mut self, sink: &mut impl RecordSink) -> Result<(), ExchangeFailure> {
        sink.record(self.current())
    }

    fn advance(&mut self) -> Result<Option<R::Key>, ExchangeFailure> {
        self.at += self.size;
        if self.at >= self.end {
            let Some(pending) = self.ahead.pop_front() else {
                return Ok(None);
            };
            let (block, bytes) = self.line.wait(pending)?;
            if bytes == 0 {
                // The receives behind the end message take the further empty ones that `Outgoing::end` sends.
                while let Some(pending) = self.ahead.pop_front() {
                    self.line.wait(pending)?;
                }
                self.size = 0;
                return Ok(None);
            }
            let used = std::mem::replace(&mut self.block, block);
            let room = if used.len() == MESSAGE_BYTES {
                used
            } else {
                vec![0; MESSAGE_BYTES]
            };
            self.ahead
                .push_back(self.line.start_receive(self.from, R::TAG, room)?);
            (self.at, self.end) = (0, bytes);
        }
        let rest = self.block.get(self.at..self.end).unwrap_or_default();
        self.size = R::size(rest);
        if self.size == 0 || self.size > rest.len() {
            return Err(ExchangeFailure::Nonsense(self.from));
        }
        Ok(Some(R::key(self.current())))
    }
}

/// One of the streams that a rank merges.
enum Stream<'a, R, O> {
    Child(Box<Incoming<'a, R>>),
    Own(O),
}

impl<R: MergeRecords, O: OrderedRecords<R::Key>> Stream<'_, R, O> {
    /// As [`OrderedRecords::advance`].
    fn advance(&mut self) -> Result<Option<R::Key>, ExchangeFailure> {
        match self {
            Stream::Child(incoming) => incoming.advance(),
            Stream::Own(own) => own.advance(),
        }
    }

    /// As [`OrderedRecords::give_until`].
    fn give_until(
        &mut self,
        limit: Option<R::Key>,
        sink: &mut impl RecordSink,
    ) -> Result<Option<R::Key>, ExchangeFailure> {
        match self {
            Stream::Child(incoming) => incoming.give_until(limit, sink),
            Stream::Own(own) => own.give_until(limit, sink),
        }
    }
}

/// The way to the parent.
pub struct Outgoing<'a, R> {
    line: &'a Exchange,
    to: i32,
    records: PhantomData<R>,
    block: Vec<u8>,
    ahead: VecDeque<PendingMessage>,
}

impl<'a, R: MergeRecords> Outgoing<'a, R> {
    /// To rank `to`.
    pub fn new(line: &'a Exchange, to: i32) -> Outgoing<'a, R> {
        Outgoing {
            line,
            to,
            records: PhantomData,
            block: Vec::with_capacity(MESSAGE_BYTES),
            ahead: VecDeque::new(),
        }
    }

    fn flush(&mut self) -> Result<(), ExchangeFailure> {
        let mut room = Vec::with_capacity(MESSAGE_BYTES);
        if self.ahead.len() >= MESSAGES_AHEAD
            && let Some(oldest) = self.ahead.pop_front()
        {
            (room, _) = self.line.wait(oldest)?;
            room.clear();
        }
        let block = std::mem::replace(&mut self.block, room);
        self.ahead
            .push_back(self.line.start_send(self.to, R::TAG, block)?);
        Ok(())
    }

    /// Sends what is left and the end message, once for each receive that the parent keeps under way.
    pub fn end(mut self) -> Result<(), ExchangeFailure> {
        if !self.block.is_empty() {
            self.flush()?;
        }
        for _ in 0..MESSAGES_AHEAD {
            self.ahead
                .push_back(self.line.start_send(self.to, R::TAG, Vec::new())?);
        }
        while let Some(pending) = self.ahead.pop_front() {
            self.line.wait(pending)?;
        }
        Ok(())
    }
}

impl<R: MergeRecords> RecordSink for Outgoing<'_, R> {
    fn record(&mut self, bytes: &[u8]) -> Result<(), ExchangeFailure> {
        if self.block.len() + bytes.len() > MESSAGE_BYTES {
            self.flush()?;
        }
        self.block.extend_from_slice(bytes);
        Ok(())
    }

    fn merged(&mut self, record: &MergedRecord) -> Result<(), ExchangeFailure> {
        let before = self.block.len();
        record.encode(&mut self.block);
        if self.block.len() <= MESSAGE_BYTES {
            return Ok(());
        }
        let last = self.block.split_off(before);
        self.flush()?;
        self.block.extend_from_slice(&last);
        Ok(())
    }
}

/// Merges the streams of this rank's children and its `own` into `sink`. Collective over the ranks of `line`.
pub fn merge<R: MergeRecords>(
    line: &Exchange,
    rank: i32,
    size: i32,
    own: impl OrderedRecords<R::Key>,
    sink: &mut impl RecordSink,
) -> Result<(), ExchangeFailure> {
    // In the order that decides at equal times.
    let mut streams = Vec::new();
    let mut all = Vec::new();
    for child in children(rank, size) {
        all.push(Stream::Child(Box::new(Incoming::<R>::new(line, child)?)));
    }
    all.push(Stream::Own(own));
    for mut stream in all {
        if let Some(key) = stream.advance()? {
            streams.push((key, stream));
        }
    }
    while !streams.is_empty() {
        let mut first = 0;
        for i in 1..streams.len() {
            if streams[i].0 < streams[first].0 {
                first = i;
            }
        }
        // The others' next time: as long as this stream is before it, no comparison is needed.
        let others = streams.iter().enumerate().filter(|&(i, _)| i != first);
        let limit = others
            .map(|(_, stream)| stream.0)
            .reduce(|a, b| if b < a { b } else { a });
        let (key, stream) = &mut streams[first];
        match stream.give_until(limit, sink)? {
            Some(next) => *key = next,
            None => drop(streams.remove(first)),
        }
    }
    Ok(())
}

/// This rank's part of a merge: to its parent, or, at rank 0, to `sink`. Collective over the ranks of `line`.
pub fn take_part<R: MergeRecords>(
    line: &Exchange,
    rank: i32,
    size: i32,
    own: impl OrderedRecords<R::Key>,
    sink: &mut impl RecordSink,
) -> Result<(), ExchangeFailure> {
    let Some(up) = parent(rank) else {
        return merge::<R>(line, rank, size, own, sink);
    };
    let mut up = Outgoing::<R>::new(line, up);
    merge::<R>(line, rank, size, own, &mut up)?;
    up.end()
}
