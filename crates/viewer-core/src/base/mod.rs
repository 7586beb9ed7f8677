//! Basics that all modules use: texts and numbers, colours, columns of pixels, stretches of time, questions, errors, two
//! threads.

pub(crate) mod color;
pub(crate) mod columns;
pub(crate) mod error;
pub(crate) mod parallel;
pub(crate) mod query;
pub(crate) mod text;
pub(crate) mod units;
pub(crate) mod window;
