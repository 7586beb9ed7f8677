//! The files that rank 0 writes from the merged stream.

use super::tree_merge::Sink;
use crate::exchange::failure::Failure;
pub use merge::outputs::{Ended, Finished, Outputs, Plan, numbered};

impl Sink for Outputs {
    fn record(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Outputs::record(self, bytes);
        Ok(())
    }
}
