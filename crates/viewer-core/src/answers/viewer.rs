//! Answers questions about a trace. The one place where routes are told apart, for the server and the page without one.

use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use trace_formats::slog2::{TimeBBox, Topology};

use crate::both::Stop;
use crate::cells::Mode;
use crate::details::{Reference, near};
use crate::frame::{self, Arrows, Question};
use crate::layout::{Layout, Measures, Spec};
use crate::pyramid::Index;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scan::Reach;
use crate::search::hits::{self, Hit};
use crate::search::plan::Plan;
use crate::summary::Summary;
use crate::trace::Trace;
use crate::tree::Tree;

/// Counts up whenever answers change, so that pages of another version reload.
pub const VIEW_VERSION: u32 = 1;

/// What the body of an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// JSON.
    Json,
    /// A frame, see [`crate::wire`].
    Frame,
    /// Text of this MIME type.
    Text(&'static str),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What the body is.
    pub kind: Body,
    /// The body.
    pub body: Vec<u8>,
    /// Whether it is exact, so that it stays the same and can be kept.
    pub exact: bool,
}

impl Answer {
    /// An answer in JSON.
    ///
    /// # Errors
    /// None that can happen: what is serialized here has names for keys.
    pub fn json(value: &impl Serialize, exact: bool) -> Result<Self, Refusal> {
        let body = serde_json::to_vec(value).map_err(|error| Refusal {
            status: 500,
            message: error.to_string(),
        })?;
        Ok(Answer {
            kind: Body::Json,
            body,
            exact,
        })
    }
}

/// How much an answer may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the tree that are read at most.
    pub tree_bytes: u64,
    /// Cells of a picture.
    pub cells: usize,
    /// Drawables that are given one by one.
    pub drawables: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            tree_bytes: 150 << 20,
            cells: 16_000_000,
            drawables: 200_000,
        }
    }
}

/// Layouts that are kept.
const KEPT_LAYOUTS: usize = 16;

/// Stands for a percentage.
const NOT_BUILDING: u8 = u8::MAX;

/// The part of what may be read that pictures are made of as long as better ones are on their way: they are to be there at once.
const PART_MEANWHILE: u64 = 3;

/// A search that was made ready for some rows.
#[derive(Debug)]
struct Searched {
    /// Its rows and text.
    key: String,
    plan: Arc<Plan>,
    /// Where its hits are, once that was asked: see [`hits::places`].
    places: Option<Option<Arc<Vec<Hit>>>>,
}

/// A trace and what was found out about it.
#[derive(Debug)]
pub struct Viewer<'a> {
    name: String,
    bytes: u64,
    trace: Trace<'a>,
    trees: Vec<Tree>,
    limits: Limits,
    layouts: Mutex<Vec<Arc<Layout>>>,
    /// The last search made ready: every picture asks for its hits.
    searched: Mutex<Option<Searched>>,
    measures: Mutex<Option<Arc<Measures>>>,
    summary: OnceLock<Arc<Summary>>,
    estimated_summary: OnceLock<Summary>,
    making_summary: Mutex<()>,
    is_summing: AtomicBool,
    index: OnceLock<Index<'static>>,
    /// Of making the index, in percent; [`NOT_BUILDING`] if nobody does.
    building: AtomicU8,
}

impl<'a> Viewer<'a> {
    /// Opens a trace of this name.
    ///
    /// # Errors
    /// The file is no SLOG2 file or is damaged.
    pub fn new(name: &str, file: &'a [u8], limits: Limits) -> Result<Self, Refusal> {
        let trace = Trace::new(file)?;
        Ok(Viewer {
            name: name.to_owned(),
            bytes: file.len() as u64,
            trees: Tree::all(&trace),
            trace,
            limits,
            layouts: Mutex::default(),
            searched: Mutex::default(),
            measures: Mutex::default(),
            summary: OnceLock::new(),
            estimated_summary: OnceLock::new(),
            making_summary: Mutex::default(),
            is_summing: AtomicBool::new(false),
            index: OnceLock::new(),
            building: AtomicU8::new(NOT_BUILDING),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The trace.
    pub fn trace(&self) -> &Trace<'a> {
        &self.trace
    }

    /// The trees of labels, one for each line map.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// How much an answer may take.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The index, once there is one.
    pub fn index(&self) -> Option<&Index<'static>> {
        self.index.get()
    }

    /// Takes over the index of this trace; a second one is dropped.
    pub fn set_index(&self, index: Index<'static>) {
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

    fn is_building(&self) -> bool {
        self.index.get().is_none() && self.building.load(Ordering::Relaxed) != NOT_BUILDING
    }

    /// Takes over the exact summary of this trace; a second one is dropped.
    pub fn set_summary(&self, summary: Summary) {
        let name = self.name.clone();
        let _ = self.summary.set(Arc::new(Summary { name, ..summary }));
    }

    /// Whether there is the exact summary.
    pub fn has_summary(&self) -> bool {
        self.summary.get().is_some()
    }

    /// The exact summary, once there is one.
    pub(crate) fn kept_summary(&self) -> &OnceLock<Arc<Summary>> {
        &self.summary
    }

    /// The one from previews, once there is one.
    pub(crate) fn estimated_summary(&self) -> &OnceLock<Summary> {
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

    fn index_state(&self) -> IndexState {
        let percent = self.building.load(Ordering::Relaxed);
        let (state, percent) = match (self.index.get(), percent) {
            (Some(_), _) => ("ready", 100),
            (None, NOT_BUILDING) => ("none", 0),
            (None, percent) => ("building", percent),
        };
        IndexState { state, percent }
    }

    /// Answers a question, such as `picture?t0=0&t1=1&w=800`. `stop` is asked now and then whether to give up.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn answer(&self, question: &str, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let query = Query::parse(question)?;
        match query.route.as_str() {
            "meta" => self.meta(),
            "rows" => self.rows(&query, stop),
            "picture" => self.picture(&query, stop),
            "overview" => self.overview(&query, stop),
            "at" => self.at(&query, stop),
            "ref" => self.reference(&query, stop),
            "next" => self.next(&query, stop),
            "follow" => self.follow(&query, stop),
            "call" => self.call(&query, stop),
            "search" => self.search(&query, stop),
            "hits" => self.hits(&query, stop),
            "stats" => self.stats(&query, stop),
            "matrix" => self.matrix(&query, stop),
            "sizes" => self.sizes(&query, stop),
            "events" => self.events(&query, stop),
            "csv" => self.csv(&query, stop),
            "summary" => self.summary_answer(stop),
            route => {
                let route: String = route.chars().take(40).collect();
                Err(Refusal::missing(format!("there is no {route:?}")))
            }
        }
    }

    /// Bytes of the tree that are read for a picture, of whose states most are held meanwhile: none where that would be too much,
    /// for then it is made of the index or of previews.
    pub fn reads(&self, query: &Query) -> u64 {
        let window = self.window(query).ok();
        let bytes = window.and_then(|window| self.trace.reader().bytes_in(window).ok());
        bytes
            .filter(|&bytes| bytes <= self.limits.tree_bytes)
            .unwrap_or(0)
    }

    /// The window of a question, `t0` to `t1`; the whole trace if these are missing.
    ///
    /// # Errors
    /// They are no times, or in the wrong order.
    pub fn window(&self, query: &Query) -> Result<TimeBBox, Refusal> {
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
        Err(Refusal::wrong(format!(
            "t0={earliest}&t1={latest}: expected t0 before t1"
        )))
    }

    /// The rows of a question, `rows`.
    ///
    /// # Errors
    /// It is no spec.
    pub fn layout(&self, query: &Query, stop: Stop<'_>) -> Result<Arc<Layout>, Refusal> {
        let spec = Spec::parse(query.text("rows"))?;
        let text = spec.to_string();
        let kept = || self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layout) = kept().iter().find(|layout| layout.spec == text) {
            return Ok(Arc::clone(layout));
        }
        let measures = match spec.needs_measures() {
            true => self.measures(stop)?,
            false => Arc::default(),
        };
        let layout = Arc::new(Layout::new(&self.trace, &self.trees, &spec, &measures)?);
        let mut kept = kept();
        kept.insert(0, Arc::clone(&layout));
        kept.truncate(KEPT_LAYOUTS);
        Ok(layout)
    }

    /// The search of a question, `q`, made ready for these rows.
    ///
    /// # Errors
    /// It cannot be read, or the trace not.
    pub(crate) fn search_plan(
        &self,
        query: &Query,
        layout: &Layout,
        stop: Stop<'_>,
    ) -> Result<Arc<Plan>, Refusal> {
        let text = query.text("q");
        let key = format!("{}\n{text}", layout.spec);
        let kept = || (self.searched.lock()).unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept().as_ref().filter(|kept| kept.key == key) {
            return Ok(Arc::clone(&kept.plan));
        }
        let reach = self.reach(self.trace.bounds(), stop);
        let plan = Arc::new(crate::search::plan(&self.trace, layout, text, reach)?);
        *kept() = Some(Searched {
            key,
            plan: Arc::clone(&plan),
            places: None,
        });
        Ok(plan)
    }

    /// All hits of a search on these rows, of a trace that is too large to be read; `None` where they are too many to be found
    /// one by one.
    ///
    /// # Errors
    /// The trace cannot be read.
    pub(crate) fn hit_places(
        &self,
        plan: &Arc<Plan>,
        stop: Stop<'_>,
    ) -> Result<Option<Arc<Vec<Hit>>>, Refusal> {
        let kept = || (self.searched.lock()).unwrap_or_else(PoisonError::into_inner);
        let is_own = |kept: &&mut Searched| Arc::ptr_eq(&kept.plan, plan);
        if let Some(places) = kept()
            .as_mut()
            .filter(is_own)
            .and_then(|k| k.places.clone())
        {
            return Ok(places);
        }
        let places = hits::places(&self.trace, plan, stop)?.map(Arc::new);
        // One that was given up may be asked for again.
        if (places.is_some() || !stop())
            && let Some(kept) = kept().as_mut().filter(is_own)
        {
            kept.places = Some(places.clone());
        }
        Ok(places)
    }

    /// What rows are sorted by and clustered by.
    fn measures(&self, stop: Stop<'_>) -> Result<Arc<Measures>, Refusal> {
        let mut measures = self.measures.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(measures) = measures.as_ref() {
            return Ok(Arc::clone(measures));
        }
        let found = Arc::new(crate::measure::measure(
            &self.trace,
            self.limits.tree_bytes,
            stop,
        )?);
        Ok(Arc::clone(measures.insert(found)))
    }

    /// By kind whether a question leaves it out, `hide`.
    ///
    /// # Errors
    /// It is no list of numbers.
    pub fn hidden(&self, query: &Query) -> Result<Vec<bool>, Refusal> {
        let mut hidden = vec![false; self.trace.kinds().len()];
        for kind in query.numbers("hide")? {
            if let Some(hidden) = hidden.get_mut(kind as usize) {
                *hidden = true;
            }
        }
        Ok(hidden)
    }

    /// What may be read to answer.
    pub fn reach<'s>(&self, window: TimeBBox, stop: Stop<'s>) -> Reach<'s> {
        Reach {
            window,
            bytes: self.limits.tree_bytes,
            stop,
        }
    }

    fn meta(&self) -> Result<Answer, Refusal> {
        let kinds = self.trace.kinds().iter().map(|kind| Category {
            name: &kind.name,
            topology: topology(kind.category.topology),
            color: format!("#{:06x}", kind.color().0),
            alpha: (kind.category.color.0 >> 24) as u8,
            class: kind.class.name(),
            count: kind.count,
            share: kind.category.summary.exclusive,
            incl: kind.category.summary.inclusive,
            labels: kind
                .category
                .info_keys
                .iter()
                .map(|key| key.to_str().into_owned())
                .collect(),
        });
        let maps = self.trees.iter().map(|tree| Map {
            name: &tree.name,
            columns: &tree.columns,
            leaves: tree.leaves.len(),
        });
        let bounds = self.trace.bounds();
        let meta = Meta {
            name: &self.name,
            format: self.trace.reader().header().version.to_str().into_owned(),
            t0: bounds.earliest,
            t1: bounds.latest,
            drawables: self.trace.drawables(),
            bytes: self.bytes,
            lines: self.trace.lines().len(),
            threads: self.trace.lanes(),
            maps: maps.collect(),
            categories: kinds.collect(),
            lost: self.lost(),
            index: self.index_state(),
            view_version: VIEW_VERSION,
        };
        Answer::json(&meta, false)
    }

    /// What is not as it should be.
    pub(crate) fn lost(&self) -> Vec<String> {
        let lines = self.trace.lines();
        let undefined = lines.iter().filter(|line| !line.is_defined).count();
        let mut lost = Vec::new();
        if undefined > 0 {
            lost.push(format!(
                "{undefined} lines have drawables but are not defined"
            ));
        }
        lost
    }

    fn rows(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let layout = self.layout(query, stop)?;
        let rows = || layout.rows.iter();
        let answer = RowsAnswer {
            spec: &layout.spec,
            count: layout.rows.len(),
            label: rows().map(|row| row.label.as_str()).collect(),
            key: rows().map(|row| row.key.as_str()).collect(),
            depth: rows().map(|row| row.depth).collect(),
            lines: rows().map(|row| row.lines).collect(),
            group: rows().map(|row| row.group).collect(),
            open: rows().map(|row| row.open).collect(),
            pinned: layout.pinned,
            path: rows().map(|row| row.path.as_slice()).collect(),
        };
        Answer::json(&answer, true)
    }

    fn picture(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let window = self.window(query)?;
        let layout = self.layout(query, stop)?;
        let width: usize = query.number("w", 1000)?;
        let first: usize = query.number("y0", 0)?;
        let behind: usize = query.number("y1", layout.rows.len())?;
        let behind = behind.min(layout.rows.len());
        let rows = first.min(behind)..behind;
        let cells = width.checked_mul(rows.len().max(1));
        let most = self.limits.cells;
        if width == 0 || cells.is_none_or(|cells| cells > most) {
            let rows = rows.len();
            let message = format!("w={width} for {rows} rows: expected 1 to {most} cells");
            return Err(if width == 0 {
                Refusal::wrong(message)
            } else {
                Refusal::too_much(message)
            });
        }
        let mut question = Question {
            window,
            width,
            rows,
            hidden: self.hidden(query)?,
            mode: mode(query.text("mode"))?,
            arrows: self.arrows(query.text("arrows"), stop)?,
            most: query.number("max", 50_000)?.min(self.limits.drawables),
            seq: query.number("seq", 0)?,
            layout: &layout,
            hits: match query.text("q") {
                "" => None,
                _ => Some(self.search_plan(query, &layout, stop)?),
            },
            places: None,
        };
        let mut reach = self.reach(window, stop);
        let is_too_much = self.is_too_much(window);
        if is_too_much && self.is_building() {
            reach.bytes /= PART_MEANWHILE;
        }
        if let Some(index) = self.index.get()
            && is_too_much
        {
            let places = question.hits.as_ref();
            let places = places.map(|plan| self.hit_places(plan, stop)).transpose()?;
            question.places = places.flatten();
            if let Some((body, exact)) = index.frame(&self.trace, &question, stop) {
                let kind = Body::Frame;
                return Ok(Answer { kind, body, exact });
            }
        }
        let found = frame::find(&self.trace, &question, reach)?;
        let exact = found.exact;
        Ok(Answer {
            kind: Body::Frame,
            body: frame::frame(&self.trace, &question, found, 0),
            exact,
        })
    }

    /// Whether the nodes that reach into a window are more than may be read.
    fn is_too_much(&self, window: TimeBBox) -> bool {
        let bytes = self.trace.reader().bytes_in(window);
        bytes.is_ok_and(|bytes| bytes > self.limits.tree_bytes)
    }

    fn arrows(&self, text: &str, stop: Stop<'_>) -> Result<Arrows, Refusal> {
        if let Some(reference) = text.strip_prefix("sel:") {
            let reference = Reference::parse(reference)?;
            let reach = self.reach(self.trace.bounds(), stop);
            let item = near::resolve(&self.trace, reach, &reference)?;
            return Ok(match item.topology {
                Topology::Arrow => Arrows::One(reference),
                _ => Arrows::Of {
                    lane: self.trace.lines()[item.line as usize].lane,
                    from: item.start,
                    to: item.end,
                },
            });
        }
        match text {
            "" | "none" => Ok(Arrows::None),
            "worst" => Ok(Arrows::Worst),
            "all" => Ok(Arrows::All),
            _ => Err(Refusal::wrong(
                "arrows: expected none, worst, all or sel:REF",
            )),
        }
    }
}

fn mode(text: &str) -> Result<Mode, Refusal> {
    match text.split_once(':') {
        None if text.is_empty() || text == "dominant" => Ok(Mode::Dominant),
        None if text == "rare" => Ok(Mode::Rare),
        None if text == "stack" => Ok(Mode::Stack),
        Some(("heat", kind)) if kind.parse::<u32>().is_ok() => {
            Ok(Mode::Heat(kind.parse().unwrap_or_default()))
        }
        _ => Err(Refusal::wrong(
            "mode: expected dominant, rare, stack or heat:KIND",
        )),
    }
}

/// The name of a topology in answers.
pub(crate) fn topology(topology: Topology) -> &'static str {
    match topology {
        Topology::Event => "event",
        Topology::State => "state",
        Topology::Arrow => "arrow",
    }
}

#[derive(Serialize)]
struct Meta<'m> {
    name: &'m str,
    format: String,
    t0: f64,
    t1: f64,
    drawables: Option<u64>,
    bytes: u64,
    lines: usize,
    threads: usize,
    maps: Vec<Map<'m>>,
    categories: Vec<Category<'m>>,
    lost: Vec<String>,
    index: IndexState,
    view_version: u32,
}

#[derive(Serialize)]
struct Map<'m> {
    name: &'m str,
    columns: &'m [String],
    leaves: usize,
}

#[derive(Serialize)]
struct Category<'m> {
    name: &'m str,
    topology: &'static str,
    color: String,
    alpha: u8,
    class: &'static str,
    count: Option<u64>,
    /// Exclusive time in the whole trace, all lines together, by its length.
    share: f32,
    /// Inclusive time likewise.
    incl: f32,
    labels: Vec<String>,
}

#[derive(Serialize)]
struct IndexState {
    state: &'static str,
    percent: u8,
}

#[derive(Serialize)]
struct RowsAnswer<'l> {
    spec: &'l str,
    count: usize,
    label: Vec<&'l str>,
    key: Vec<&'l str>,
    depth: Vec<u16>,
    lines: Vec<u32>,
    group: Vec<bool>,
    open: Vec<bool>,
    pinned: usize,
    path: Vec<&'l [String]>,
}
