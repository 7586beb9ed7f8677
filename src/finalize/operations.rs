//! Operations below MPI: what each rank finds of them in its records goes up the tree, in order of time; rank 0 joins it with the
//! calls and draws it. That comes before the calls themselves, because the SLOG2 file takes all drawables in one order: what is
//! drawn waits, sorted, in temporary files without a name.
//!
//! When that fails, the trace is made without operations. The ranks go on sending, so that nobody waits for a message that does
//! not come.

use super::tree_merge::{self, MergeRecords, RecordSink};
use crate::exchange::failure::ExchangeFailure;
use crate::exchange::line::{Exchange, MESSAGE_BYTES};
use crate::mpi::world::World;
use crate::platform::say::say;
use io_attribution::draw::DrawingBase;
use io_attribution::{AttributionEvent, Attributor, EventExtract};
use merge::operations::{DrawnOperations, OperationSort};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use wrappers::Table;

/// Bytes before an item: u32 their number with these, i64 time.
const ITEM_HEAD_BYTES: usize = 12;

/// Items by their times: ns on rank 0's clock.
struct OperationRecords;

impl MergeRecords for OperationRecords {
    const TAG: i32 = 778;
    type Key = i64;

    fn size(rest: &[u8]) -> usize {
        let size = rest.first_chunk().copied().map_or(0, u32::from_ne_bytes) as usize;
        if (ITEM_HEAD_BYTES..=MESSAGE_BYTES).contains(&size) {
            size
        } else {
            0
        }
    }

    fn key(record: &[u8]) -> i64 {
        let time = record.get(4..).and_then(|rest| rest.first_chunk());
        time.copied().map_or(i64::MAX, i64::from_ne_bytes)
    }
}

/// Inputs for drawing the operations of a run.
pub struct OperationMerge<'a> {
    /// To the other ranks.
    pub line: &'a Exchange,
    /// The ranks.
    pub world: &'a World,
    /// For temporary files.
    pub folder: &'a Path,
    /// Table of functions.
    pub table: &'static Table,
}

impl OperationMerge<'_> {
    /// Has the operations of all ranks drawn at rank 0, where `base` says. The inner error says why that was not possible. Collective.
    pub fn draw(
        &self,
        own: EventExtract<'_>,
        base: DrawingBase,
    ) -> Result<Result<Option<DrawnOperations>, String>, ExchangeFailure> {
        let mut own = OwnOperations {
            extract: own,
            trouble: None,
        };
        let (rank, size) = (self.world.rank, self.world.size);
        let mut joining = OperationJoin::default();
        if rank == 0 {
            let operations = OperationSort::new(base, self.folder);
            joining.parts = Some((Attributor::new(self.table), operations));
        }
        let next =
            tree_merge::EncodedRecords::<OperationRecords, _>::new(|buffer| own.next(buffer));
        tree_merge::take_part::<OperationRecords>(self.line, rank, size, next, &mut joining)?;
        if let Some(why) = own.trouble {
            say!("trace: rank {rank}: not all operations below MPI are in the trace: {why}");
        }
        let drawn = joining.finish();
        Ok(drawn.map_err(|why| format!("operations below MPI are not in the trace: {why}")))
    }
}

/// This rank's items.
struct OwnOperations<'a> {
    extract: EventExtract<'a>,
    trouble: Option<&'static str>,
}

impl OwnOperations<'_> {
    /// Puts the next one into the buffer, which stays empty at the end.
    fn next(&mut self, buffer: &mut Vec<u8>) {
        buffer.clear();
        while self.trouble != Some(BROKEN) {
            // A mistake of ours ends the stream and not the program.
            let next = catch_unwind(AssertUnwindSafe(|| self.extract.next()));
            let Ok(next) = next else {
                self.trouble = Some(BROKEN);
                return;
            };
            let Some((time, item)) = next else {
                return;
            };
            buffer.extend_from_slice(&[0; ITEM_HEAD_BYTES]);
            item.encode(buffer);
            let size = buffer.len();
            if size <= MESSAGE_BYTES {
                buffer[..4].copy_from_slice(&(size as u32).to_ne_bytes());
                buffer[4..ITEM_HEAD_BYTES].copy_from_slice(&time.to_ne_bytes());
                return;
            }
            self.trouble = Some("a name is too long");
            buffer.clear();
        }
    }
}

/// Reason why a rank's items ended early.
const BROKEN: &str = "its records could not be read to the end";

/// The join at rank 0.
#[derive(Default)]
struct OperationJoin {
    /// `None` when nothing is to be drawn, or nothing any more.
    parts: Option<(Attributor<'static>, OperationSort)>,
    failure: Option<String>,
}

impl OperationJoin {
    fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why);
        self.parts = None;
    }

    fn finish(mut self) -> Result<Option<DrawnOperations>, String> {
        if let Some(why) = self.failure {
            return Err(why);
        }
        let Some((attributor, mut operations)) = self.parts.take() else {
            return Ok(None);
        };
        caught(|| {
            attributor.finish(&mut |fact| operations.take(fact))?;
            operations.finish()
        })
        .map(Some)
    }
}

impl RecordSink for OperationJoin {
    fn record(&mut self, bytes: &[u8]) -> Result<(), ExchangeFailure> {
        let Some((attributor, operations)) = &mut self.parts else {
            return Ok(());
        };
        let item = bytes
            .get(ITEM_HEAD_BYTES..)
            .and_then(AttributionEvent::decode);
        let Some(item) = item else {
            self.fail("a rank sent what cannot be read".to_owned());
            return Ok(());
        };
        let time = OperationRecords::key(bytes);
        let taken = caught(|| attributor.push(time, item, &mut |fact| operations.take(fact)));
        if let Err(why) = taken {
            self.fail(why);
        }
        Ok(())
    }
}

/// Does something that fails with a reason, also when it panics.
fn caught<T>(work: impl FnOnce() -> Result<T, trace_model::Stop>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|stop| stop.to_string()),
        Err(_) => Err("the join failed".to_owned()),
    }
}
