//! The files that rank 0 writes from the merged stream.

use super::tree_merge::RecordSink;
use crate::exchange::failure::ExchangeFailure;
use merge::MergedRecord;
pub use merge::outputs::{FinishedFile, OutputFiles, OutputPlan, WrittenOutputs, numbered};

impl RecordSink for OutputFiles {
    fn record(&mut self, bytes: &[u8]) -> Result<(), ExchangeFailure> {
        self.encoded(bytes).ok_or(ExchangeFailure::Nonsense(0))
    }

    fn merged(&mut self, record: &MergedRecord) -> Result<(), ExchangeFailure> {
        OutputFiles::record(self, record);
        Ok(())
    }
}
