//! Golden files and random traces, changed.

mod edit;
#[path = "../../../trace-formats/tests/all/slog2/small_logs.rs"]
mod small_logs;
