//! Subject of a line of a trace: lines that differ only in their communicator are about the same thread.

use io_attribution::Lane;
use trace_model::Line;
use trace_model::lane_of;

/// The thread, server or device that a line is about, whatever its communicator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LineSubject {
    Lane(Lane),
    Name(i32, String),
}

/// Subject of a line. A line that is no lane of a rank, server or device is known by its name only.
pub(crate) fn subject_of(line: &Line) -> LineSubject {
    let lane = lane_of(line);
    let unnamed = Line {
        name: None,
        ..line.clone()
    };
    match &line.name {
        Some(name) if lane == lane_of(&unnamed) => LineSubject::Name(line.id, name.clone()),
        _ => LineSubject::Lane(lane),
    }
}
