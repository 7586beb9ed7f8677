//! Agreement of the ranks on the plan of a merge by slices, and on whether it can go on.

use super::pace::Histogram;
use super::peers::{Peers, join, spread};
use super::plan::{SlicePlan, SliceTotals};

/// Agrees on a plan. `own` is what this rank has recorded: the number of calls, regions and functions of the program, and the end of the last
/// one in seconds since time zero; `totals` says all else. `count` counts them in a histogram. Collective.
///
/// # Errors
/// When the ranks could not go on together.
pub fn agree<P: Peers>(
    peers: &mut P,
    totals: SliceTotals,
    own: (u64, f64),
    count: impl FnOnce(&mut Histogram),
) -> Result<SlicePlan, P::Failure> {
    let two = |bytes: &[u8]| -> (u64, f64) {
        let words = bytes.as_chunks().0;
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        (u64::from_le_bytes(word(0)), f64::from_le_bytes(word(1)))
    };
    let encoded = |(calls, end): (u64, f64)| [calls.to_le_bytes(), end.to_le_bytes()].concat();
    let whole = join(peers, encoded(own), |own, theirs| {
        let (a, b) = (two(own), two(theirs));
        *own = encoded((a.0.saturating_add(b.0), a.1.max(b.1)));
    })?;
    let (calls, end) = two(&spread(peers, whole.unwrap_or_default())?);
    let totals = SliceTotals {
        calls,
        end,
        ..totals
    };
    let mut histogram = Histogram::new(totals.bins(), end);
    count(&mut histogram);
    let whole = join(peers, histogram.encode(), |own, theirs| {
        Histogram::join_encoded(own, theirs);
    })?;
    histogram.replace(&spread(peers, whole.unwrap_or_default())?);
    Ok(SlicePlan::new(&totals, &histogram, peers.size()))
}

/// Tells all ranks why one of them cannot go on, if one cannot. Collective.
///
/// # Errors
/// When the ranks could not go on together.
pub fn any_failure<P: Peers>(
    peers: &mut P,
    own: Result<(), String>,
) -> Result<Option<String>, P::Failure> {
    let own = own.err().unwrap_or_default().into_bytes();
    let whole = join(peers, own, |own, theirs| {
        if own.is_empty() {
            own.extend_from_slice(theirs);
        }
    })?;
    let text = spread(peers, whole.unwrap_or_default())?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(Some(text).filter(|text| !text.is_empty()))
}
