//! Pictures of timelines round a wait: the ranks that it is about, a little before and after.

use crate::draw::converted::ConvertedTrace;
use crate::failure::Failure;
use crate::trace_files::format::Format;
use crate::trace_files::trace::TraceInput;
use analysis::performance::{WaitGroup, words};
use maud::{Markup, html};
use std::collections::BTreeSet;
use std::path::PathBuf;
use trace_formats::slog2::{Slog2Error, Slog2Reader, TimeBBox};
use trace_model::{Actor, Line, lane_of};
use viewer_core::{
    CategoryColors, ContentRequest, NamedTimelines, PictureLayout, PictureStyle, Theme,
    TimelineWait, WindowContent,
};

/// Pixels of a picture's width.
const WIDTH: u32 = 1000;
/// What is shown before and after a wait, in lengths of the wait.
const MARGIN: f64 = 0.4;

/// The trace that pictures are made of.
pub struct TimelinePictures<'t> {
    trace: &'t TraceInput,
    converted: Option<ConvertedTrace>,
    name: PathBuf,
}

impl<'t> TimelinePictures<'t> {
    /// Of a trace in any format.
    pub fn of(trace: &'t TraceInput, quiet: bool) -> Result<TimelinePictures<'t>, Failure> {
        let converted = match trace.format {
            Format::Slog2 => None,
            _ => Some(ConvertedTrace::of(trace, quiet)?),
        };
        Ok(TimelinePictures {
            trace,
            converted,
            name: trace.name().to_path_buf(),
        })
    }

    /// The longest wait of each group: who waits, who is waited for, and whom that is due to.
    pub fn of_waits(&self, groups: &[&WaitGroup]) -> Result<Vec<Markup>, Failure> {
        let failed = |error: Slog2Error| Failure::in_file(error, &self.name);
        let bytes: &[u8] = match &self.converted {
            Some(converted) => &converted.input,
            None => self.trace.bytes(),
        };
        let reader = Slog2Reader::new(bytes).map_err(failed)?;
        let own_lines = reader.lines();
        let lines: Vec<&Line> = match &self.converted {
            Some(converted) => converted.lines.iter().collect(),
            None => own_lines.values().collect(),
        };
        let pictures = groups.iter().map(|group| picture(&reader, &lines, group));
        pictures.collect::<Result<_, _>>().map_err(failed)
    }
}

/// The longest wait of a group in a trace with these lines.
fn picture(
    reader: &Slog2Reader<'_>,
    lines: &[&Line],
    group: &WaitGroup,
) -> Result<Markup, Slog2Error> {
    let longest = &group.longest;
    let waiting = (longest.rank, longest.thread);
    let culprit = (group.culprit, group.culprit_thread);
    let threads = BTreeSet::from([waiting, culprit, (group.cause_rank, 0)]);
    let timelines = threads.iter().map(|&(rank, thread)| {
        let own = lines.iter().filter(|line| {
            matches!(lane_of(line).actor, Actor::Rank(_))
                && (line.rank, line.thread) == (rank, thread)
        });
        let name = words::rank(rank, thread);
        (name, vec![own.map(|line| line.id).collect()])
    });
    let timelines = NamedTimelines::named(timelines);
    let timeline = threads.iter().take_while(|&&thread| thread != waiting);
    let wait = TimelineWait {
        timeline: timeline.count() as u32,
        from: longest.from,
        to: longest.to,
    };
    let margin = MARGIN * (longest.to - longest.from);
    let window = TimeBBox {
        earliest: longest.from - margin,
        latest: longest.to + margin,
    };
    let wanted = ContentRequest {
        width: WIDTH,
        colors: CategoryColors::Class(Theme::Light),
        ..ContentRequest::default()
    };
    let content = WindowContent::read(reader, timelines, window, &wanted)?;
    let look = PictureStyle {
        width: WIDTH,
        height: None,
        theme: Theme::Light,
        title: String::new(),
        waits: vec![wait],
    };
    let svg = viewer_core::svg::write(&PictureLayout::new(&content, &look));
    Ok(html! {
        img alt="timelines of the ranks round the wait" src=(data_uri(&svg));
    })
}

/// A picture as part of a page: in a place of its own, so that nothing in it means anything outside.
fn data_uri(svg: &str) -> String {
    let text = svg
        .replace('%', "%25")
        .replace('#', "%23")
        .replace('\n', "%0A");
    format!("data:image/svg+xml;charset=utf-8,{text}")
}
