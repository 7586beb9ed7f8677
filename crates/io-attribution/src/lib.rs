//! Attribution of I/O: finds the disk operations that each MPI-IO call caused, and the calls whose data each operation carries.
//!
//! Two relations are kept apart. An operation is *triggered* by the call in which it happens; it *carries* data of the calls
//! whose bytes it moves. In a collective write these differ: the aggregator's call triggers a transfer that carries data of
//! all ranks.
//!
//! The way of the data: [`extract`] turns the records of one process into events ([`event`]), [`attribution`] turns the events of
//! all processes into attribution records ([`record`]), and [`draw`] turns these into drawables and back. Pictures, reports and
//! commands take attribution records.
//!
//! This crate must not write a trace or count statistics.
#![deny(missing_docs)]

pub mod attribution;
pub mod draw;
pub mod event;
pub mod extract;
mod files;
mod intervals;
pub mod piece_runs;
pub mod ranges;
pub mod record;
mod wire;

pub use attribution::{AttributionTotals, Attributor};
pub use draw::{OperationDrawer, read_attribution, read_attribution_by_time};
pub use event::AttributionEvent;
pub use extract::EventExtract;
pub use files::attribute_files;
pub use record::{
    Actor, AttributedOperation, AttributionEdge, AttributionRecord, DataAccessCall, FileRole, Lane,
    OpenedFile, PicturePoint, Precision, Relation,
};
