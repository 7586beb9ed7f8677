//! `meta`: what a page has to know of a trace before it asks for anything else.

use serde::Serialize;

use super::answer::{Answer, VIEW_VERSION};
use super::statistics::shared_threads;
use super::viewer::Viewer;
use crate::base::color::Theme;
use crate::base::error::ApiError;
use crate::trace::TopologyName;

impl Viewer<'_> {
    /// Answers `meta`.
    pub(super) fn meta(&self) -> Result<Answer, ApiError> {
        let kinds = self.trace().kinds().iter().map(|kind| CategoryInfo {
            name: &kind.name,
            topology: TopologyName::from(kind.category.topology),
            color: format!("#{:06x}", kind.color().0),
            alpha: (kind.category.color.0 >> 24) as u8,
            class: kind.class.name(),
            by_class: [Theme::Light, Theme::Dark].map(|theme| kind.colors.on(theme).to_string()),
            count: kind.count,
            share: Some(kind.category.summary.exclusive).filter(|share| share.is_finite()),
            incl: Some(kind.category.summary.inclusive).filter(|share| share.is_finite()),
            labels: kind
                .category
                .info_keys
                .iter()
                .map(|key| key.to_str().into_owned())
                .collect(),
        });
        let maps = self.trees().iter().map(|tree| LineMapInfo {
            name: &tree.name,
            columns: &tree.columns,
            leaves: tree.leaves.len(),
        });
        let bounds = self.trace().bounds();
        let meta = MetaAnswer {
            name: self.name(),
            format: self.trace().reader().header().version.to_str().into_owned(),
            t0: bounds.earliest,
            t1: bounds.latest,
            drawables: self.trace().drawables(),
            bytes: self.file_bytes(),
            lines: self.trace().lines().len(),
            threads: shared_threads(&self.trace().rank_threads(), 0..self.trace().lanes()),
            maps: maps.collect(),
            categories: kinds.collect(),
            lost: self.lost(),
            tracks: self.track_names(),
            index: self.index_state(),
            view_version: VIEW_VERSION,
        };
        Answer::json(&meta, false)
    }

    /// Faults of the trace, a text for each.
    pub(crate) fn lost(&self) -> Vec<String> {
        let lines = self.trace().lines();
        let undefined = lines.iter().filter(|line| !line.is_defined).count();
        let mut lost = Vec::new();
        if undefined > 0 {
            lost.push(format!(
                "{undefined} lines have drawables but are not defined"
            ));
        }
        lost
    }

    fn index_state(&self) -> IndexProgress {
        let percent = self.building();
        let (state, percent) = match (self.index(), percent) {
            (Some(_), _) => ("ready", 100),
            (None, None) => ("none", 0),
            (None, Some(percent)) => ("building", percent),
        };
        IndexProgress {
            state,
            percent,
            counted: self.index().is_some_and(|index| index.totals().is_some()),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct MetaAnswer<'m> {
    name: &'m str,
    format: String,
    t0: f64,
    t1: f64,
    drawables: Option<u64>,
    bytes: u64,
    lines: usize,
    /// Threads whose time shares are of ([`shared_threads`]).
    threads: usize,
    maps: Vec<LineMapInfo<'m>>,
    categories: Vec<CategoryInfo<'m>>,
    lost: Vec<String>,
    /// Tracks that can be shown: `ranks`, `messages`, `bytes`, `io`, and `counter:NAME` for each counter.
    tracks: Vec<String>,
    index: IndexProgress,
    view_version: u32,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct LineMapInfo<'m> {
    name: &'m str,
    columns: &'m [String],
    leaves: usize,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct CategoryInfo<'m> {
    name: &'m str,
    topology: TopologyName,
    color: String,
    alpha: u8,
    class: &'static str,
    /// Colours of the category by class: on light, on dark.
    by_class: [String; 2],
    count: Option<u64>,
    /// Exclusive time in the whole trace, all lines together, by its length.
    share: Option<f32>,
    /// Inclusive time likewise.
    incl: Option<f32>,
    labels: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct IndexProgress {
    #[cfg_attr(test, ts(type = "\"none\" | \"building\" | \"ready\""))]
    state: &'static str,
    percent: u8,
    /// Whether it is known what all of the trace adds up to; pictures do not wait for that.
    counted: bool,
}
