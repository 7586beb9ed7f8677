//! The binary-tree merge: every rank merges its own stream of CLOG2 records with those of its two children by time and passes
//! 64 KB messages of whole records on to its parent; rank 0 passes them to the files.
//!
//! Parent of r is (r − 1)/2. At equal times the left child goes before the right one and that before the rank's own
//! records, as MPE has it. Each stream keeps two messages under way, so that a node computes while the next message comes;
//! memory is these few messages, whatever the size of the trace.

use super::exchange::{Exchange, Failure, PART, Pending};
use formats::clog2::{peek_size, peek_time};
use std::collections::VecDeque;

const TAG: i32 = 777;
/// Messages under way on each edge of the tree.
const AHEAD: usize = 2;
/// Most bytes of a record.
pub const LARGEST: usize = 136;

/// The children of a rank.
pub fn children(rank: i32, size: i32) -> impl Iterator<Item = i32> {
    [2 * rank + 1, 2 * rank + 2]
        .into_iter()
        .filter(move |&c| c < size)
}

/// The parent of a rank; `None` for rank 0.
pub fn parent(rank: i32) -> Option<i32> {
    (rank > 0).then(|| (rank - 1) / 2)
}

/// Where merged records go.
pub trait Sink {
    /// Takes one encoded record.
    fn record(&mut self, bytes: &[u8]) -> Result<(), Failure>;
}

/// A stream of encoded records in order of time.
trait Stream {
    /// The record that comes next.
    fn current(&self) -> &[u8];
    /// Goes on to the one behind it; false at the end.
    fn advance(&mut self) -> Result<bool, Failure>;
}

/// A child's stream.
struct Incoming<'a> {
    line: &'a Exchange,
    from: i32,
    ahead: VecDeque<Pending>,
    block: Vec<u8>,
    at: usize,
    size: usize,
    end: usize,
}

impl<'a> Incoming<'a> {
    fn new(line: &'a Exchange, from: i32) -> Result<Incoming<'a>, Failure> {
        let ahead = (0..AHEAD)
            .map(|_| line.start_receive(from, TAG, vec![0; PART]))
            .collect::<Result<_, _>>()?;
        Ok(Incoming {
            line,
            from,
            ahead,
            block: Vec::new(),
            at: 0,
            size: 0,
            end: 0,
        })
    }
}

impl Stream for Incoming<'_> {
    fn current(&self) -> &[u8] {
        self.block
            .get(self.at..self.at + self.size)
            .unwrap_or_default()
    }

    fn advance(&mut self) -> Result<bool, Failure> {
        self.at += self.size;
        if self.at >= self.end {
            let Some(pending) = self.ahead.pop_front() else {
                return Ok(false);
            };
            let (block, bytes) = self.line.wait(pending)?;
            if bytes == 0 {
                // The receives behind the end message take the further empty ones that `Outgoing::end` sends.
                while let Some(pending) = self.ahead.pop_front() {
                    self.line.wait(pending)?;
                }
                self.size = 0;
                return Ok(false);
            }
            let used = std::mem::replace(&mut self.block, block);
            let room = if used.len() == PART {
                used
            } else {
                vec![0; PART]
            };
            self.ahead
                .push_back(self.line.start_receive(self.from, TAG, room)?);
            (self.at, self.end) = (0, bytes);
        }
        let rest = self.block.get(self.at..self.end).unwrap_or_default();
        if rest.len() < 24 {
            return Err(Failure::Nonsense(self.from));
        }
        self.size = peek_size(rest);
        if self.size == 0 || self.size > rest.len() {
            return Err(Failure::Nonsense(self.from));
        }
        Ok(true)
    }
}

/// This rank's own stream.
struct Own<F> {
    next: F,
    buffer: [u8; LARGEST],
    size: usize,
}

impl<F: FnMut(&mut [u8; LARGEST]) -> usize> Stream for Own<F> {
    fn current(&self) -> &[u8] {
        &self.buffer[..self.size]
    }

    fn advance(&mut self) -> Result<bool, Failure> {
        self.size = (self.next)(&mut self.buffer);
        Ok(self.size > 0)
    }
}

/// The way to the parent.
pub struct Outgoing<'a> {
    line: &'a Exchange,
    to: i32,
    block: Vec<u8>,
    ahead: VecDeque<Pending>,
}

impl<'a> Outgoing<'a> {
    /// To rank `to`.
    pub fn new(line: &'a Exchange, to: i32) -> Outgoing<'a> {
        Outgoing {
            line,
            to,
            block: Vec::with_capacity(PART),
            ahead: VecDeque::new(),
        }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let mut room = Vec::with_capacity(PART);
        if self.ahead.len() >= AHEAD
            && let Some(oldest) = self.ahead.pop_front()
        {
            (room, _) = self.line.wait(oldest)?;
            room.clear();
        }
        let block = std::mem::replace(&mut self.block, room);
        self.ahead
            .push_back(self.line.start_send(self.to, TAG, block)?);
        Ok(())
    }

    /// Sends what is left and the end message, once for each receive that the parent keeps under way.
    pub fn end(mut self) -> Result<(), Failure> {
        if !self.block.is_empty() {
            self.flush()?;
        }
        for _ in 0..AHEAD {
            self.ahead
                .push_back(self.line.start_send(self.to, TAG, Vec::new())?);
        }
        while let Some(pending) = self.ahead.pop_front() {
            self.line.wait(pending)?;
        }
        Ok(())
    }
}

impl Sink for Outgoing<'_> {
    fn record(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.block.len() + bytes.len() > PART {
            self.flush()?;
        }
        self.block.extend_from_slice(bytes);
        Ok(())
    }
}

/// Merges the streams of this rank's children and its own into `sink`. `own` encodes the rank's next record and gives its
/// size, 0 at the end. Collective over the ranks of `line`.
pub fn merge(
    line: &Exchange,
    rank: i32,
    size: i32,
    own: impl FnMut(&mut [u8; LARGEST]) -> usize,
    sink: &mut dyn Sink,
) -> Result<(), Failure> {
    // In the order that decides at equal times.
    let mut streams: Vec<(f64, Box<dyn Stream + '_>)> = Vec::new();
    let mut all: Vec<Box<dyn Stream + '_>> = Vec::new();
    for child in children(rank, size) {
        all.push(Box::new(Incoming::new(line, child)?));
    }
    all.push(Box::new(Own {
        next: own,
        buffer: [0; LARGEST],
        size: 0,
    }));
    for mut stream in all {
        if stream.advance()? {
            streams.push((peek_time(stream.current()), stream));
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
        let limit = streams
            .iter()
            .enumerate()
            .filter(|&(i, _)| i != first)
            .map(|(_, s)| s.0)
            .fold(f64::INFINITY, f64::min);
        loop {
            let (time, stream) = &mut streams[first];
            sink.record(stream.current())?;
            if !stream.advance()? {
                streams.remove(first);
                break;
            }
            *time = peek_time(stream.current());
            if *time >= limit {
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_the_first_is_the_child_of_its_parent() {
        for size in 1..40 {
            for rank in 1..size {
                let up = parent(rank).expect("only rank 0 has none");
                assert!(children(up, size).any(|c| c == rank));
            }
        }
    }
}
