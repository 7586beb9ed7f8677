//! `overview`: what the whole run spends its time on, for the minimap.

use serde::Serialize;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::index::KindTimes;
use crate::index::{IndexBuilder, IndexShape};
use crate::trace::OpenTrace;
use crate::trace::class::ActivityClass;

/// Bins of an overview at most.
const MAX_BINS: usize = 4096;
/// Drawables between two checks for cancellation.
const DRAWABLES_PER_CHECK: u64 = 1 << 16;

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct OverviewAnswer {
    t0: f64,
    t1: f64,
    bins: usize,
    classes: Vec<&'static str>,
    share: Vec<Vec<f32>>,
    exact: bool,
}

impl Viewer<'_> {
    /// Shares of classes of the time of all units, by bin.
    pub(crate) fn overview(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Answer, ApiError> {
        let bins: usize = query.number("bins", 512)?;
        if bins == 0 || bins > MAX_BINS {
            let message = format!("bins={bins}: expected 1 to {MAX_BINS}");
            return Err(ApiError::bad_request(message));
        }
        if self.index().is_none() && self.is_small() {
            let mut builder = IndexBuilder::new(self.trace(), IndexShape::of(self.trace()))?;
            while builder.step(DRAWABLES_PER_CHECK)? && !cancel() {}
            if !cancel() {
                self.set_index(builder.finish());
            }
        }
        let bounds = self.trace().bounds();
        let mut classes = Vec::new();
        let mut share = Vec::new();
        let index = self.index();
        if let Some(index) = &index {
            let lanes = index.detail().lanes().max(1);
            for class in ActivityClass::ALL {
                let found = shares(index.overview(), self.trace(), class, bins);
                if found.iter().any(|&seconds| seconds > 0.0) {
                    let all = f64::from(lanes) * bounds.duration() / bins as f64;
                    classes.push(class.name());
                    share.push(found.iter().map(|s| (s / all) as f32).collect());
                }
            }
        }
        let exact = index.is_some_and(|index| {
            let fine = index.overview().bins() as usize;
            fine.is_multiple_of(bins) && !index.is_out_of_order()
        });
        let answer = OverviewAnswer {
            t0: bounds.earliest,
            t1: bounds.latest,
            bins,
            classes,
            share,
            exact,
        };
        Answer::json(&answer, exact)
    }
}

/// Seconds of a class in each of so many bins.
fn shares(
    overview: &KindTimes,
    trace: &OpenTrace<'_>,
    class: ActivityClass,
    bins: usize,
) -> Vec<f64> {
    let mut found = vec![0.0; bins];
    let is_of = |kind: &usize| trace.kinds()[*kind].class == class;
    let kinds: Vec<usize> = (0..trace.kinds().len()).filter(is_of).collect();
    let scale = bins as f64 / f64::from(overview.bins());
    for bin in 0..overview.bins() {
        let of = overview.bin(bin);
        let seconds: f64 = kinds.iter().filter_map(|&kind| of.get(kind)).sum();
        let (from, to) = (f64::from(bin) * scale, f64::from(bin + 1) * scale);
        let behind = (to.ceil() as usize).min(bins);
        for (column, found) in found[..behind]
            .iter_mut()
            .enumerate()
            .skip(from.floor() as usize)
        {
            let part = to.min(column as f64 + 1.0) - from.max(column as f64);
            *found += seconds * part.max(0.0) / scale;
        }
    }
    found
}
