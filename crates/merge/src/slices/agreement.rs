//! Agreement of the ranks on the plan of a merge by slices, and on whether it can go on.

use super::pace::Histogram;
use super::peers::{Peers, join, spread};
use super::plan::{SlicePlan, SliceShare, SliceTotals};

/// Agrees on a plan. `totals` has the share of this rank, and what is the same on all; `count` counts what the rank draws in a histogram.
/// Collective.
///
/// # Errors
/// When the ranks could not go on together.
pub fn agree<P: Peers>(
    peers: &mut P,
    totals: SliceTotals,
    count: impl FnOnce(&mut Histogram),
) -> Result<SlicePlan, P::Failure> {
    let whole = join(peers, totals.share.encode(), |own, theirs| {
        *own = SliceShare::decode(own)
            .and(SliceShare::decode(theirs))
            .encode();
    })?;
    let share = SliceShare::decode(&spread(peers, whole.unwrap_or_default())?);
    let totals = SliceTotals { share, ..totals };
    let mut histogram = Histogram::new(totals.bins(), share.end);
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
