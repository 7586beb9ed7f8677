//! Offset between the clocks of two traces.

use super::arrows::spans;
use super::select::CategoryPattern;
use trace_model::{Source, Stop};

/// Result of comparing two traces by their common CallIDs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alignment {
    /// Seconds to add to the times of the second trace.
    pub shift: f64,
    /// CallIDs that both traces have.
    pub common: u64,
    /// Number of common CallIDs of which the one trace's stretch of time, with this shift, lies within the other's.
    pub within: u64,
    /// Number of such CallIDs without a shift.
    pub within_unshifted: u64,
    /// Number of common CallIDs of which both traces have the MPI call itself. These are calls of different runs, whose
    /// CallIDs are the same by how they are counted, or the same calls twice.
    pub calls_in_both: u64,
}

impl Alignment {
    /// Whether the shift is that of clocks that differ: it suits at least half of the common CallIDs, and not most of these have
    /// their calls in both traces.
    pub fn is_likely(&self) -> bool {
        2 * self.within >= self.common && !self.are_calls_in_both()
    }

    /// Whether both traces have the calls themselves of most of the common CallIDs.
    pub fn are_calls_in_both(&self) -> bool {
        2 * self.calls_in_both > self.common
    }
}

/// Compares two traces by the CallIDs they share.
///
/// A call lasts longer than what it causes. So each common CallID says in which range the shift must be for the shorter
/// stretch of time to lie within the longer one. Taken is the middle of the range that suits the most CallIDs, as what
/// goes before the operation is likely to take as long as what comes behind it; of several such ranges the one nearest to
/// the median of the differences of start times. If it suits not even half of the CallIDs (calls that only start an
/// operation end before it), the median itself is taken. Without a common CallID there is nothing.
///
/// # Errors
/// The errors of the sources.
pub fn align_by_call_ids(
    first: &dyn Source,
    second: &dyn Source,
) -> Result<Option<Alignment>, Stop> {
    let (a, b) = (spans(first)?, spans(second)?);
    let mut ranges = Vec::new();
    let mut starts = Vec::new();
    let mut calls_in_both = 0;
    for (id, &(start, end)) in &a.by_id {
        let Some(&(other_start, other_end)) = b.by_id.get(id) else {
            continue;
        };
        let (p, q) = (start - other_start, end - other_end);
        if p.is_finite() && q.is_finite() {
            // If the first is the longer one, its start comes before and its end behind.
            ranges.push((p.min(q), p.max(q)));
            starts.push(p);
            calls_in_both += u64::from(a.calls.contains(id) && b.calls.contains(id));
        }
    }
    if starts.is_empty() {
        return Ok(None);
    }
    starts.sort_by(f64::total_cmp);
    let median = starts[(starts.len() - 1) / 2];
    let common = ranges.len() as u64;
    let ((from, to), suited) = deepest(&ranges, median);
    let shift = match 2 * suited >= common {
        true => from + (to - from) / 2.0,
        false => median,
    };
    let within = |shift: f64| {
        let holds = |&&(from, to): &&(f64, f64)| from <= shift && shift <= to;
        ranges.iter().filter(holds).count() as u64
    };
    Ok(Some(Alignment {
        shift,
        common,
        within: within(shift),
        within_unshifted: within(0.0),
        calls_in_both,
    }))
}

/// The range in which the most ranges overlap, and their number; of several such ranges the one nearest to `wanted`.
fn deepest(ranges: &[(f64, f64)], wanted: f64) -> ((f64, f64), u64) {
    // Beginnings before ends at the same place, so that ranges that only touch overlap.
    let mut borders: Vec<(f64, bool)> = ranges
        .iter()
        .flat_map(|&(from, to)| [(from, false), (to, true)])
        .collect();
    borders.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let distance = |(from, to): (f64, f64)| (wanted.clamp(from, to) - wanted).abs();
    let mut best = ((wanted, wanted), 0);
    let mut depth = 0u64;
    for (at, &(place, is_end)) in borders.iter().enumerate() {
        if is_end {
            depth -= 1;
            continue;
        }
        depth += 1;
        let range = (place, borders.get(at + 1).map_or(place, |next| next.0));
        if depth > best.1 || depth == best.1 && distance(range) < distance(best.0) {
            best = (range, depth);
        }
    }
    best
}

/// The shift after which the first drawable of a category of each trace starts at the same time; `None` if one of them
/// has no such drawable.
///
/// # Errors
/// The errors of the sources.
pub fn align_by_category(
    first: (&dyn Source, &CategoryPattern),
    second: (&dyn Source, &CategoryPattern),
) -> Result<Option<f64>, Stop> {
    let (a, b) = (
        earliest(first.0, Some(first.1))?,
        earliest(second.0, Some(second.1))?,
    );
    Ok(a.zip(b).map(|(a, b)| a - b))
}

/// The shift after which both traces start at the same time.
///
/// # Errors
/// The errors of the sources.
pub fn align_starts(first: &dyn Source, second: &dyn Source) -> Result<Option<f64>, Stop> {
    let (a, b) = (earliest(first, None)?, earliest(second, None)?);
    Ok(a.zip(b).map(|(a, b)| a - b))
}

fn earliest(source: &dyn Source, pattern: Option<&CategoryPattern>) -> Result<Option<f64>, Stop> {
    let definitions = source.definitions();
    let wanted: Option<Vec<i32>> = pattern.map(|pattern| {
        let found = definitions.categories.iter().filter(|category| {
            let name = category.name.to_str();
            category.index >= 0 && pattern.matches(category.index, &name)
        });
        found.map(|category| category.index).collect()
    });
    let mut earliest: Option<f64> = None;
    source.for_each(&mut |drawable| {
        if wanted
            .as_ref()
            .is_none_or(|wanted| wanted.contains(&drawable.category))
        {
            for vertex in drawable.vertices {
                earliest = Some(earliest.map_or(vertex.time, |found| found.min(vertex.time)));
            }
        }
        Ok(())
    })?;
    Ok(earliest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_most_ranges_overlap() {
        let ranges = [(0.0, 4.0), (1.0, 5.0), (2.0, 3.0), (8.0, 9.0)];
        assert_eq!(deepest(&ranges, 0.0), ((2.0, 3.0), 3));
        // Two places with two: the nearer one.
        let ranges = [(0.0, 1.0), (0.0, 2.0), (6.0, 8.0), (7.0, 9.0)];
        assert_eq!(deepest(&ranges, 6.5), ((7.0, 8.0), 2));
        assert_eq!(deepest(&ranges, 3.0), ((0.0, 1.0), 2));
        assert_eq!(deepest(&[(1.0, 1.0), (1.0, 2.0)], 1.0), ((1.0, 1.0), 2));
    }
}
