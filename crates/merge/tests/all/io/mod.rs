//! From MPI-IO calls to the operations below: the join, its report, its picture.

mod advice;
mod draw;
mod drawn;
pub mod facts;
mod handles;
mod join;
mod join_below;
mod join_random;
pub mod ranks;
mod report;
