//! `picture`: a window on some timelines, as a frame.

use trace_formats::slog2::{TimeBBox, Topology};

use super::answer::{Answer, AnswerBody};
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::picture::cells::ColorMode;
use crate::picture::from_drawables as frame;
use crate::picture::request::{ArrowSelection, PictureRequest};
use crate::trace::nearby::resolve;
use crate::trace::reference::DrawableReference;

/// The part of what may be read that pictures are made of as long as better ones are on their way: they are to be there at once.
const BUDGET_DIVISOR_WHILE_INDEXING: u64 = 3;

impl Viewer<'_> {
    /// Bytes of the tree that are read for a picture, of whose states most are held meanwhile: none where that would be too much,
    /// for then it is made of the index or of previews.
    pub fn reads(&self, query: &ApiQuery) -> u64 {
        let window = self.window(query).ok();
        let bytes = window.and_then(|window| self.trace().reader().bytes_in(window).ok());
        bytes
            .filter(|&bytes| bytes <= self.limits().tree_bytes)
            .unwrap_or(0)
    }

    /// Answers `picture`.
    pub(super) fn picture(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let window = self.window(query)?;
        let layout = self.layout(query, cancel)?;
        let width: usize = query.number("w", 1000)?;
        let first: usize = query.number("y0", 0)?;
        let behind: usize = query.number("y1", layout.timelines.len())?;
        let behind = behind.min(layout.timelines.len());
        let timelines = layout.whole_threads(first.min(behind)..behind);
        let cells = width.checked_mul(timelines.len().max(1));
        let most = self.limits().cells;
        if width == 0 || cells.is_none_or(|cells| cells > most) {
            let timelines = timelines.len();
            let message =
                format!("w={width} for {timelines} timelines: expected 1 to {most} cells");
            return Err(if width == 0 {
                ApiError::bad_request(message)
            } else {
                ApiError::too_large(message)
            });
        }
        let mut request = PictureRequest {
            window,
            width,
            timelines,
            hidden: self.hidden(query)?,
            mode: mode(query.text("mode"))?,
            arrows: self.arrows(query.text("arrows"), cancel)?,
            most: query.number("max", 50_000)?.min(self.limits().drawables),
            seq: query.number("seq", 0)?,
            layout: &layout,
            hits: match query.text("q") {
                "" => None,
                _ => Some(self.search_plan(query, &layout, cancel)?),
            },
            places: None,
            waits: self.waits().cloned(),
        };
        let mut budget = self.budget(window, cancel);
        let is_too_much = self.is_too_much(window);
        if is_too_much && self.is_building() {
            budget.bytes /= BUDGET_DIVISOR_WHILE_INDEXING;
        }
        if let Some(index) = self.index()
            && is_too_much
        {
            let places = request.hits.as_ref();
            let places = places
                .map(|plan| self.hit_places(plan, cancel))
                .transpose()?;
            request.places = places.flatten();
            if let Some((body, exact)) = index.frame(self.trace(), &request, cancel) {
                let kind = AnswerBody::Frame;
                return Ok(Answer { kind, body, exact });
            }
        }
        let found = frame::find(self.trace(), &request, budget)?;
        let exact = found.exact;
        Ok(Answer {
            kind: AnswerBody::Frame,
            body: frame::frame(self.trace(), &request, found),
            exact,
        })
    }

    /// Whether the nodes that overlap a window are more than may be read.
    fn is_too_much(&self, window: TimeBBox) -> bool {
        let bytes = self.trace().reader().bytes_in(window);
        bytes.is_ok_and(|bytes| bytes > self.limits().tree_bytes)
    }

    fn arrows(&self, text: &str, cancel: Cancel<'_>) -> Result<ArrowSelection, ApiError> {
        if let Some(reference) = text.strip_prefix("sel:") {
            let reference = DrawableReference::parse(reference)?;
            let budget = self.budget(self.trace().bounds(), cancel);
            let item = resolve(self.trace(), budget, &reference)?;
            return Ok(match item.topology {
                Topology::Arrow => ArrowSelection::One(reference),
                _ => ArrowSelection::Of {
                    lane: self.trace().lines()[item.line as usize].lane,
                    from: item.start,
                    to: item.end,
                },
            });
        }
        match text {
            "" | "none" => Ok(ArrowSelection::None),
            "worst" => Ok(ArrowSelection::Worst),
            "all" => Ok(ArrowSelection::All),
            _ => Err(ApiError::bad_request(
                "arrows: expected none, worst, all or sel:REF",
            )),
        }
    }
}

fn mode(text: &str) -> Result<ColorMode, ApiError> {
    match text.split_once(':') {
        None if text.is_empty() || text == "dominant" => Ok(ColorMode::Dominant),
        None if text == "rare" => Ok(ColorMode::Rare),
        None if text == "stack" => Ok(ColorMode::Stack),
        Some(("heat", kind)) if kind.parse::<u32>().is_ok() => {
            Ok(ColorMode::Heat(kind.parse().unwrap_or_default()))
        }
        _ => Err(ApiError::bad_request(
            "mode: expected dominant, rare, stack or heat:KIND",
        )),
    }
}
