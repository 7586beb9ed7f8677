//! `picture`: a window on some timelines, as a frame.

use trace_formats::slog2::{TimeBBox, Topology};

use super::answer::{Answer, Body};
use super::viewer::Viewer;
use crate::base::error::Refusal;
use crate::base::parallel::Stop;
use crate::base::query::Query;
use crate::picture::cells::Mode;
use crate::picture::from_drawables::{self as frame, Arrows, Question};
use crate::trace::nearby::resolve;
use crate::trace::reference::Reference;

/// The part of what may be read that pictures are made of as long as better ones are on their way: they are to be there at once.
const PART_MEANWHILE: u64 = 3;

impl Viewer<'_> {
    /// Bytes of the tree that are read for a picture, of whose states most are held meanwhile: none where that would be too much,
    /// for then it is made of the index or of previews.
    pub fn reads(&self, query: &Query) -> u64 {
        let window = self.window(query).ok();
        let bytes = window.and_then(|window| self.trace().reader().bytes_in(window).ok());
        bytes
            .filter(|&bytes| bytes <= self.limits().tree_bytes)
            .unwrap_or(0)
    }

    /// Answers `picture`.
    pub(super) fn picture(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let window = self.window(query)?;
        let layout = self.layout(query, stop)?;
        let width: usize = query.number("w", 1000)?;
        let first: usize = query.number("y0", 0)?;
        let behind: usize = query.number("y1", layout.rows.len())?;
        let behind = behind.min(layout.rows.len());
        let rows = first.min(behind)..behind;
        let cells = width.checked_mul(rows.len().max(1));
        let most = self.limits().cells;
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
            most: query.number("max", 50_000)?.min(self.limits().drawables),
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
        if let Some(index) = self.index()
            && is_too_much
        {
            let places = question.hits.as_ref();
            let places = places.map(|plan| self.hit_places(plan, stop)).transpose()?;
            question.places = places.flatten();
            if let Some((body, exact)) = index.frame(self.trace(), &question, stop) {
                let kind = Body::Frame;
                return Ok(Answer { kind, body, exact });
            }
        }
        let found = frame::find(self.trace(), &question, reach)?;
        let exact = found.exact;
        Ok(Answer {
            kind: Body::Frame,
            body: frame::frame(self.trace(), &question, found, 0),
            exact,
        })
    }

    /// Whether the nodes that reach into a window are more than may be read.
    fn is_too_much(&self, window: TimeBBox) -> bool {
        let bytes = self.trace().reader().bytes_in(window);
        bytes.is_ok_and(|bytes| bytes > self.limits().tree_bytes)
    }

    fn arrows(&self, text: &str, stop: Stop<'_>) -> Result<Arrows, Refusal> {
        if let Some(reference) = text.strip_prefix("sel:") {
            let reference = Reference::parse(reference)?;
            let reach = self.reach(self.trace().bounds(), stop);
            let item = resolve(self.trace(), reach, &reference)?;
            return Ok(match item.topology {
                Topology::Arrow => Arrows::One(reference),
                _ => Arrows::Of {
                    lane: self.trace().lines()[item.line as usize].lane,
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
