//! Objects that a process has made and not freed.

use super::call::{CallPlace, ObjectKind};

/// Objects of one kind that were made and not freed, by the function that made them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LeftObjects {
    pub kind: ObjectKind,
    /// The call that made the first of them.
    pub first: CallPlace,
    pub count: u64,
}
