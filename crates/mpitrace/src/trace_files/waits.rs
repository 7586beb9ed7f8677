//! The waits of a trace, one by one.

use crate::failure::Failure;
use crate::trace_files::losses::failure;
use analysis::performance::{PerformanceCollector, PerformanceOptions, WaitsOfCalls};
use trace_model::{DrawableOrder, Source};

/// The waits of all calls, as the report has them. Of more than a million, the longest.
///
/// # Errors
/// A file is damaged.
pub fn waits(source: &dyn Source) -> Result<WaitsOfCalls, Failure> {
    let options = PerformanceOptions::default();
    let mut collector = PerformanceCollector::new(source.definitions(), &options);
    collector.keep_waits();
    let read = trace_model::for_each_in_order(source, DrawableOrder::Start, &mut |drawable| {
        collector.put(drawable);
        Ok(())
    });
    read.map_err(failure)?;
    Ok(collector.finish_with_waits().waits.unwrap_or_default())
}
