//! Metrics: performance counters of calls, and events of the program that have one number.

use trace_model::hash::Map;

use super::numbers::{metric_mode, value_type};
use super::strings::StringTable;

/// Definition of a metric. Its reference is its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MetricDefinition {
    /// Reference of the name.
    pub name: u32,
    /// One of [`metric_mode`].
    pub mode: u8,
    /// One of [`value_type`].
    pub value_type: u8,
}

/// Metrics, and the sums of performance counters by location.
#[derive(Debug, Default)]
pub(super) struct MetricTable {
    definitions: Vec<MetricDefinition>,
    sums: Map<(usize, u32), u64>,
}

impl MetricTable {
    fn id(&mut self, wanted: MetricDefinition) -> u32 {
        let at = self.definitions.iter().position(|found| *found == wanted);
        let at = at.unwrap_or_else(|| {
            self.definitions.push(wanted);
            self.definitions.len() - 1
        });
        u32::try_from(at).unwrap_or(0)
    }

    /// Reference of a performance counter.
    pub(super) fn counter(&mut self, name: &str, strings: &mut StringTable) -> u32 {
        self.id(MetricDefinition {
            name: strings.id(name),
            mode: metric_mode::ACCUMULATED_POINT,
            value_type: value_type::UINT64,
        })
    }

    /// Reference of the values of events.
    pub(super) fn values(&mut self, name: &str, value_type: u8, strings: &mut StringTable) -> u32 {
        self.id(MetricDefinition {
            name: strings.id(name),
            mode: metric_mode::ABSOLUTE_POINT,
            value_type,
        })
    }

    /// Sum of a performance counter on a location, which is 0 before the first count; and whether the location has counted before.
    pub(super) fn sum(&mut self, location: usize, counter: u32) -> (u64, bool) {
        let known = self.sums.get(&(location, counter)).copied();
        self.sums.entry((location, counter)).or_default();
        (known.unwrap_or(0), known.is_some())
    }

    /// Takes what a performance counter has counted in a region on a location, at the start of which the sum was `start`. Gives the new sum. The
    /// counts of regions inside the region are in its count.
    pub(super) fn count(&mut self, location: usize, counter: u32, start: u64, count: i64) -> u64 {
        let sum = self.sums.entry((location, counter)).or_default();
        *sum = start
            .saturating_add(u64::try_from(count).unwrap_or(0))
            .max(*sum);
        *sum
    }

    /// Metrics in the order of their references.
    pub(super) fn definitions(&self) -> &[MetricDefinition] {
        &self.definitions
    }
}
