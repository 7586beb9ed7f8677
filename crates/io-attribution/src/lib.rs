//! From an MPI-IO call down to the disk: which operations it caused, and whose data they carry.
//!
//! Two relations are kept apart. An operation is *triggered* by the call in which it happens; it *carries* data of the calls
//! whose bytes it moves. In a collective write these differ: the aggregator's call triggers a transfer that carries data of
//! all ranks.
//!
//! [`fact`] is what is found out, in the form in which everything else takes it: the pictures, the report, the commands.
//! [`draw`] makes drawables of it, and facts of these again.
//!
//! This crate must not write a trace or count statistics.
#![deny(missing_docs)]

pub mod attribution;
pub mod draw;
pub mod extract;
pub mod fact;
mod files;
mod intervals;
pub mod item;
pub mod ranges;
mod wire;

pub use attribution::{AttributionTotals, Attributor};
pub use draw::{Drawer, read_attribution, read_attribution_by_time};
pub use extract::Extract;
pub use fact::{
    Actor, AttributedOperation, AttributionEdge, AttributionRecord, DataAccessCall, FileRole, Lane,
    OpenedFile, PicturePoint, Precision, Relation,
};
pub use files::attribute_files;
pub use item::AttributionEvent;
