//! Time that counts as computing although calls may be missing there: recording may have been off, or polls were counted in place of drawn.

use super::focus::Focus;
use crate::stats::polls;
use std::collections::BTreeMap;
use trace_formats::clog2::annotations::is_annotation;
use trace_model::hash::Map;
use trace_model::units::duration;
use trace_model::{Category, Topology};

/// Part of the time of all ranks below which it is not told.
const MIN_SHARE: f64 = 0.01;

/// What a thread has come to after its latest call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Gap {
    /// Nothing of that kind.
    #[default]
    None,
    /// MPI_Pcontrol has returned, which may have switched recording off.
    Control,
    /// Polls follow that are not drawn.
    Polls,
}

/// Finds such time, and adds it up for main threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Unseen {
    control: Option<u32>,
    session_init: Option<u32>,
    annotation: Option<u32>,
    /// Lanes of lines, if there are annotations.
    lanes: Map<i32, u32>,
    /// Seconds between calls of MPI_Pcontrol without any other call.
    off: f64,
    /// Seconds in which polls were made that are not drawn.
    in_polls: f64,
    polls: BTreeMap<String, u64>,
}

impl Unseen {
    /// For a trace with these categories, and lines of ranks: number of the line, and lane.
    pub(super) fn new(categories: &[&Category], lines: impl Iterator<Item = (i32, u32)>) -> Unseen {
        let place = |is: &dyn Fn(&Category) -> bool| {
            let place = categories.iter().position(|category| is(category));
            place.map(|place| place as u32)
        };
        let annotation = place(&is_annotation);
        let told = lines.filter(|_| annotation.is_some());
        let is_call = |category: &Category, name: &[u8]| {
            category.topology == Topology::State && category.name.0 == name
        };
        Unseen {
            control: place(&|category| is_call(category, b"MPI_Pcontrol")),
            session_init: place(&|category| is_call(category, b"MPI_Session_init")),
            annotation,
            lanes: told.collect(),
            ..Unseen::default()
        }
    }

    pub(super) fn is_annotation(&self, category: u32) -> bool {
        self.annotation == Some(category)
    }

    pub(super) fn is_control(&self, category: u32) -> bool {
        self.control == Some(category)
    }

    /// Whether states of a category are calls that begin a session: what is recorded of a rank without MPI_Init begins there.
    pub(super) fn is_session_init(&self, category: u32) -> bool {
        self.session_init == Some(category)
    }

    /// An annotation on a line. Gives the lane if it is about polls.
    pub(super) fn annotate(&mut self, category: &Category, line: i32, info: &[u8]) -> Option<u32> {
        let is_about_polls = polls::add(&mut self.polls, category, info);
        self.lanes.get(&line).copied().filter(|_| is_about_polls)
    }

    /// A gap of a main thread is over.
    pub(super) fn add(&mut self, gap: Gap, (from, to): (f64, f64), focus: &Focus) {
        let seconds = focus.within(from, to);
        match gap {
            Gap::None => {}
            Gap::Control => self.off += seconds,
            Gap::Polls => self.in_polls += seconds,
        }
    }

    /// What came so far does not count.
    pub(super) fn restart(&mut self) {
        (self.off, self.in_polls) = (0.0, 0.0);
        self.polls.clear();
    }

    pub(super) fn seconds(&self) -> f64 {
        self.off + self.in_polls
    }

    /// What is to be said of it; `all` is the time of all ranks.
    pub(super) fn notes(&self, all: f64) -> Vec<String> {
        let mut notes = Vec::new();
        if self.off > MIN_SHARE * all {
            notes.push(format!(
                "{} between calls of MPI_Pcontrol without any other call count as computing: recording may have been off",
                duration(self.off)
            ));
        }
        if self.in_polls > MIN_SHARE * all {
            let calls: u64 = self.polls.values().sum();
            notes.push(format!(
                "{calls} polls are not drawn: the {} in which they were made count as computing",
                duration(self.in_polls)
            ));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PerformanceOptions, PerformanceReport, analyse_in_order};
    use std::convert::Infallible;
    use trace_model::{
        Category, Color, Definitions, Drawable, InfoWriter, Line, TimeBBox, Topology, Vertex,
    };

    const NAMES: [&str; 3] = ["MPI_Test", "MPI_Pcontrol", "annotation"];

    /// What a rank did from second 0 to 10: calls and annotations, each with its begin and end.
    fn report(drawables: &[(usize, f64, f64)]) -> PerformanceReport {
        let topologies = [Topology::State, Topology::State, Topology::Event];
        let categories = (0..).zip(NAMES).zip(topologies);
        let mut categories: Vec<Category> = categories
            .map(|((nth, name), topology)| Category::new(nth, name.into(), topology, Color::WHITE))
            .collect();
        categories[2].set_info_format(b"%s");
        let mut info = InfoWriter::default();
        info.text(b"+7 MPI_Test");
        let definitions = Definitions {
            categories,
            lines: vec![Line::of_thread(0, 0, 0)],
            ..Definitions::default()
        };
        let options = PerformanceOptions {
            focus: vec![TimeBBox {
                earliest: 0.0,
                latest: 10.0,
            }],
            parts: 0,
        };
        let Ok(report) = analyse_in_order::<Infallible>(&definitions, &options, |put| {
            for &(category, from, to) in drawables {
                let vertices = [from, to].map(|time| Vertex { time, line: 0 });
                let is_event = topologies[category] == Topology::Event;
                put(&Drawable {
                    topology: topologies[category],
                    category: category as i32,
                    info: if is_event { info.bytes() } else { b"" },
                    vertices: &vertices[..if is_event { 1 } else { 2 }],
                });
            }
            Ok(())
        });
        report
    }

    #[test]
    fn polls_that_are_not_drawn_are_told() {
        let report = report(&[(0, 0.0, 1.0), (2, 1.0, 1.0), (0, 4.0, 5.0), (0, 9.0, 10.0)]);
        assert_eq!((report.unseen, report.time.computing), (3.0, 7.0));
        assert!(report.notes[0].starts_with("7 polls"), "{:?}", report.notes);
        let told = "3.00 s in MPI_Test";
        assert!(report.notes[1].starts_with(told), "{:?}", report.notes);
    }

    #[test]
    fn recording_may_have_been_off_between_two_calls_of_pcontrol() {
        let on = report(&[(1, 0.0, 1.0), (0, 3.0, 4.0), (1, 9.0, 10.0)]);
        assert_eq!((on.unseen, on.notes.len()), (0.0, 1));
        let off = report(&[(0, 0.0, 1.0), (1, 2.0, 3.0), (1, 7.0, 8.0), (0, 9.0, 10.0)]);
        assert_eq!((off.unseen, off.notes.len()), (4.0, 2));
    }
}
