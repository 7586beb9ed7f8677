//! An open trace and what was found out about it, which all answers share.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use trace_formats::slog2::{PositionedRead, Slog2Reader, TimeBBox};
use trace_model::CommNames;

use super::answer::AnswerLimits;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::findings::summary::TraceSummary;
use crate::index::OverviewIndex;
use crate::search::comms::comm_names;
use crate::search::files::FileNames;
use crate::search::hits::{self, SearchHit};
use crate::search::language::SearchTerms;
use crate::search::plan::SearchPlan;
use crate::search::prepare::plan as plan_search;
use crate::timelines::layout::TimelineLayout;
use crate::timelines::measure::{LineMeasures, measure};
use crate::timelines::spec::TimelineSpec;
use crate::timelines::tree::LabelTree;
use crate::trace::OpenTrace;
use crate::trace::names::TraceNames;
use crate::trace::scan::ReadBudget;
use crate::trace::waits::TraceWaits;
use crate::tracks::roles::TrackRoles;
use crate::tracks::totals::TraceTracks;

/// Layouts that are kept.
const MAX_KEPT_LAYOUTS: usize = 16;

/// Stands for a percentage.
const NOT_BUILDING: u8 = u8::MAX;

/// A search that was made ready for some timelines.
#[derive(Debug)]
struct PreparedSearch {
    /// Layout and text of the search, by which it is found again.
    key: String,
    plan: Arc<SearchPlan>,
    /// Hits of the search one by one, once they were asked for: see [`hits::places`].
    places: Option<Option<Arc<Vec<SearchHit>>>>,
}

/// A trace and what was found out about it.
#[derive(Debug)]
pub struct Viewer<'a> {
    name: String,
    bytes: u64,
    trace: OpenTrace<'a>,
    trees: Vec<LabelTree>,
    limits: AnswerLimits,
    layouts: Mutex<Vec<Arc<TimelineLayout>>>,
    /// The last search made ready: every picture asks for its hits.
    searched: Mutex<Option<PreparedSearch>>,
    measures: Mutex<Option<Arc<LineMeasures>>>,
    pub(super) file_names: FileNames,
    pub(super) comm_names: CommNames,
    summary: OnceLock<Arc<TraceSummary>>,
    estimated_summary: OnceLock<TraceSummary>,
    making_summary: Mutex<()>,
    is_summing: AtomicBool,
    waits: OnceLock<Arc<TraceWaits>>,
    tracks: OnceLock<TraceTracks>,
    track_roles: OnceLock<TrackRoles>,
    /// Whether this is a part of a trace, which does not tell who waited for whom.
    is_part: bool,
    index: OnceLock<OverviewIndex<'static>>,
    /// Progress of the index in percent; [`NOT_BUILDING`] if nobody makes it.
    building: AtomicU8,
}

impl<'a> Viewer<'a> {
    /// Opens a trace of this name.
    ///
    /// # Errors
    /// The file is no SLOG2 file or is damaged.
    pub fn new(name: &str, file: &'a [u8], limits: AnswerLimits) -> Result<Self, ApiError> {
        let trace = OpenTrace::new(file)?;
        Ok(Viewer::of(name, trace, file.len() as u64, limits))
    }

    /// Opens a part of the trace of this name. Calls that match those in it may be missing, so waits are not looked for but taken over. So are
    /// `names`, if the whole trace was asked for them.
    ///
    /// # Errors
    /// The file is no SLOG2 file or is damaged.
    pub fn part(
        name: &str,
        file: &'a [u8],
        names: Option<TraceNames>,
        limits: AnswerLimits,
    ) -> Result<Self, ApiError> {
        let trace = OpenTrace::new(file)?.with_names(names);
        Ok(Viewer {
            is_part: true,
            ..Viewer::of(name, trace, file.len() as u64, limits)
        })
    }

    /// Opens a trace of this name whose file is read piece by piece.
    ///
    /// # Errors
    /// The file cannot be read, is no SLOG2 file or is damaged.
    pub fn positioned(
        name: &str,
        file: &'a dyn PositionedRead,
        limits: AnswerLimits,
    ) -> Result<Self, ApiError> {
        let trace = OpenTrace::of(Slog2Reader::positioned(file)?)?;
        Ok(Viewer::of(name, trace, file.size(), limits))
    }

    fn of(name: &str, trace: OpenTrace<'a>, bytes: u64, limits: AnswerLimits) -> Self {
        // A trace whose names cannot be read has numbers.
        let comm_names = comm_names(&trace).unwrap_or_default();
        Viewer {
            name: name.to_owned(),
            bytes,
            trees: LabelTree::all(&trace, &comm_names),
            trace,
            limits,
            layouts: Mutex::default(),
            searched: Mutex::default(),
            measures: Mutex::default(),
            file_names: FileNames::default(),
            comm_names,
            summary: OnceLock::new(),
            estimated_summary: OnceLock::new(),
            making_summary: Mutex::default(),
            is_summing: AtomicBool::new(false),
            waits: OnceLock::new(),
            tracks: OnceLock::new(),
            track_roles: OnceLock::new(),
            is_part: false,
            index: OnceLock::new(),
            building: AtomicU8::new(NOT_BUILDING),
        }
    }

    /// Name of the trace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The trace.
    pub fn trace(&self) -> &OpenTrace<'a> {
        &self.trace
    }

    /// The trees of labels, one for each line map.
    pub fn trees(&self) -> &[LabelTree] {
        &self.trees
    }

    /// Limits of time and bytes for an answer.
    pub fn limits(&self) -> AnswerLimits {
        self.limits
    }

    /// The index, once there is one.
    pub fn index(&self) -> Option<&OverviewIndex<'static>> {
        self.index.get()
    }

    /// Takes over the index of this trace; a second one is dropped.
    pub fn set_index(&self, index: OverviewIndex<'static>) {
        let _ = self.index.set(index);
    }

    /// Says how far the making of the index is, in percent.
    pub fn set_building(&self, percent: u8) {
        self.building.store(percent.min(100), Ordering::Relaxed);
    }

    /// Says that nobody makes the index any more.
    pub fn end_building(&self) {
        self.building.store(NOT_BUILDING, Ordering::Relaxed);
    }

    /// Progress of making the index, in percent; `None` if nobody makes it.
    pub(super) fn building(&self) -> Option<u8> {
        let percent = self.building.load(Ordering::Relaxed);
        Some(percent).filter(|&percent| percent != NOT_BUILDING)
    }

    /// Whether somebody makes the index and it is not there yet.
    pub(super) fn is_building(&self) -> bool {
        self.index().is_none() && self.building().is_some()
    }

    /// Bytes of the file.
    pub(super) fn file_bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes over the exact summary of this trace; a second one is dropped.
    pub fn set_summary(&self, summary: TraceSummary) {
        let name = self.name.clone();
        let _ = self.summary.set(Arc::new(TraceSummary { name, ..summary }));
    }

    /// Whether this is a part of a trace.
    pub(crate) fn is_part(&self) -> bool {
        self.is_part
    }

    /// Takes over the waits of this trace; second ones are dropped.
    pub fn set_waits(&self, waits: TraceWaits) {
        let _ = self.waits.set(Arc::new(waits));
    }

    /// The waits, once they are known.
    pub fn waits(&self) -> Option<&Arc<TraceWaits>> {
        self.waits.get()
    }

    /// Whether tracks may be those of this trace: they have its counters.
    pub fn has_such_tracks(&self, tracks: &TraceTracks) -> bool {
        tracks.fits(self.track_roles().counter_names.len())
    }

    /// Takes over the tracks of this trace, unless they are of another one; second ones are dropped.
    pub fn set_tracks(&self, tracks: TraceTracks) {
        if self.has_such_tracks(&tracks) {
            let _ = self.tracks.set(tracks);
        }
    }

    /// The tracks of the whole trace, once they are known.
    pub fn tracks(&self) -> Option<&TraceTracks> {
        self.tracks.get()
    }

    /// What the kinds and lines of the trace are to tracks.
    pub(crate) fn track_roles(&self) -> &TrackRoles {
        self.track_roles.get_or_init(|| TrackRoles::of(&self.trace))
    }

    /// Whether there is the exact summary.
    pub fn has_summary(&self) -> bool {
        self.summary.get().is_some()
    }

    /// The exact summary, once there is one.
    pub(crate) fn kept_summary(&self) -> &OnceLock<Arc<TraceSummary>> {
        &self.summary
    }

    /// The one from previews, once there is one.
    pub(crate) fn estimated_summary(&self) -> &OnceLock<TraceSummary> {
        &self.estimated_summary
    }

    /// The turn to make the exact one.
    pub(crate) fn making_summary(&self) -> MutexGuard<'_, ()> {
        let turn = self.making_summary.lock();
        turn.unwrap_or_else(PoisonError::into_inner)
    }

    /// Says whether somebody is about to make the exact summary, so that it is worth asking for it again.
    pub fn set_summing(&self, is_summing: bool) {
        self.is_summing.store(is_summing, Ordering::Relaxed);
    }

    pub(crate) fn is_summing(&self) -> bool {
        self.is_summing.load(Ordering::Relaxed)
    }

    /// Whether all of the trace may be read to answer, so that no index is needed.
    pub fn is_small(&self) -> bool {
        self.trace.reader().directory().node_bytes() <= self.limits.tree_bytes
    }

    /// The window of a question, `t0` to `t1`; the whole trace if these are missing.
    ///
    /// # Errors
    /// `t0` or `t1` is no time, or `t1` is not after `t0`.
    pub fn window(&self, query: &ApiQuery) -> Result<TimeBBox, ApiError> {
        let all = self.trace.bounds();
        let window = TimeBBox {
            earliest: query.time("t0", all.earliest)?,
            latest: query.time("t1", all.latest)?,
        };
        let duration = window.duration();
        if duration > 0.0 && duration.is_finite() && (1.0 / duration).is_finite() {
            return Ok(window);
        }
        let TimeBBox { earliest, latest } = window;
        Err(ApiError::bad_request(format!(
            "t0={earliest}&t1={latest}: expected t0 before t1"
        )))
    }

    /// The timelines of a question, its parameter `timelines`.
    ///
    /// # Errors
    /// `timelines` is no layout that [`TimelineSpec`] understands.
    pub fn layout(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Arc<TimelineLayout>, ApiError> {
        let spec = TimelineSpec::parse(query.text("timelines"))?;
        let text = spec.to_string();
        let kept = || self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layout) = kept().iter().find(|layout| layout.spec == text) {
            return Ok(Arc::clone(layout));
        }
        let measures = match spec.needs_measures() {
            true => self.measures(cancel)?,
            false => Arc::default(),
        };
        let layout = Arc::new(TimelineLayout::new(
            &self.trace,
            &self.trees,
            &spec,
            &measures,
        )?);
        let mut kept = kept();
        kept.insert(0, Arc::clone(&layout));
        kept.truncate(MAX_KEPT_LAYOUTS);
        Ok(layout)
    }

    /// The search of a question, `q`, made ready for these timelines.
    ///
    /// # Errors
    /// The search has an error, or the trace cannot be read.
    pub(crate) fn search_plan(
        &self,
        query: &ApiQuery,
        layout: &TimelineLayout,
        cancel: Cancel<'_>,
    ) -> Result<Arc<SearchPlan>, ApiError> {
        let text = query.text("q");
        let key = format!("{}\n{text}", layout.spec);
        let kept = || (self.searched.lock()).unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept().as_ref().filter(|kept| kept.key == key) {
            return Ok(Arc::clone(&kept.plan));
        }
        let terms = SearchTerms::parse(text)?;
        if terms.ask_for_waits() && self.waits().is_none() && self.is_small() && !self.is_part {
            self.summary(cancel)?;
        }
        let budget = self.budget(self.trace.bounds(), cancel);
        let plan = Arc::new(plan_search(
            &self.trace,
            layout,
            &terms,
            self.waits(),
            budget,
        )?);
        *kept() = Some(PreparedSearch {
            key,
            plan: Arc::clone(&plan),
            places: None,
        });
        Ok(plan)
    }

    /// All hits of a search on these timelines, of a trace that is too large to be read; `None` where they are too many to be found
    /// one by one.
    ///
    /// # Errors
    /// The trace cannot be read.
    pub(crate) fn hit_places(
        &self,
        plan: &Arc<SearchPlan>,
        cancel: Cancel<'_>,
    ) -> Result<Option<Arc<Vec<SearchHit>>>, ApiError> {
        let kept = || (self.searched.lock()).unwrap_or_else(PoisonError::into_inner);
        let is_own = |kept: &&mut PreparedSearch| Arc::ptr_eq(&kept.plan, plan);
        if let Some(places) = kept()
            .as_mut()
            .filter(is_own)
            .and_then(|k| k.places.clone())
        {
            return Ok(places);
        }
        let places = hits::places(
            &self.trace,
            plan,
            hits::MAX_LISTED_HITS,
            hits::MAX_BYTES_FOR_LISTED_HITS,
            cancel,
        )?
        .map(Arc::new);
        // One that was given up may be asked for again.
        if (places.is_some() || !cancel())
            && let Some(kept) = kept().as_mut().filter(is_own)
        {
            kept.places = Some(places.clone());
        }
        Ok(places)
    }

    /// Measures of the lines, by which timelines are sorted and clustered.
    fn measures(&self, cancel: Cancel<'_>) -> Result<Arc<LineMeasures>, ApiError> {
        let mut measures = self.measures.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(measures) = measures.as_ref() {
            return Ok(Arc::clone(measures));
        }
        let found = Arc::new(measure(&self.trace, self.limits.tree_bytes, cancel)?);
        Ok(Arc::clone(measures.insert(found)))
    }

    /// For each kind, true if the parameter `hide` of a query names it.
    ///
    /// # Errors
    /// `hide` is no list of numbers.
    pub fn hidden(&self, query: &ApiQuery) -> Result<Vec<bool>, ApiError> {
        let mut hidden = vec![false; self.trace.kinds().len()];
        for kind in query.numbers("hide")? {
            if let Some(hidden) = hidden.get_mut(kind as usize) {
                *hidden = true;
            }
        }
        Ok(hidden)
    }

    /// Budget of reading for an answer.
    pub fn budget<'s>(&self, window: TimeBBox, cancel: Cancel<'s>) -> ReadBudget<'s> {
        ReadBudget {
            window,
            bytes: self.limits.tree_bytes,
            cancel,
        }
    }
}
