//! The drawables that a format of events in order of time can take, and what has to be done to their times.

use trace_model::{Drawable, Losses, Topology, Vertex};

/// Latest time, in seconds. Readers count ns in 63 bits.
const MAX_SECONDS: f64 = 9e9;

/// The times of drawables in order of start, and their ns.
#[derive(Debug)]
pub(crate) struct StartTimes {
    /// Shift that is added to times, in seconds, so that none is below 0.
    shift: Option<f64>,
    /// Earliest time that the next drawable can have, seconds.
    floor: f64,
}

impl Default for StartTimes {
    fn default() -> Self {
        StartTimes {
            shift: None,
            floor: f64::NEG_INFINITY,
        }
    }
}

impl StartTimes {
    /// The corners of a drawable, whose first corner is this one: one for an event, else two. A drawable that starts before the one before it is brought to
    /// the start of that one, since events come in order of time. No source should give such.
    pub(crate) fn vertices(
        &mut self,
        drawable: &Drawable<'_>,
        first: Vertex,
        losses: &mut Losses,
    ) -> ([Vertex; 2], usize) {
        let last = *drawable.vertices.last().unwrap_or(&first);
        let mut vertices = [first, last];
        let count = match drawable.topology {
            Topology::Event => 1,
            Topology::State | Topology::Arrow => 2,
        };
        let start = match count {
            1 => first.time,
            _ => first.time.min(last.time),
        };
        if start < self.floor {
            losses.add("drawable moved, as it came too late", 1);
            for vertex in &mut vertices {
                vertex.time = vertex.time.max(self.floor);
            }
        } else {
            self.floor = start;
        }
        self.shift
            .get_or_insert(if start < 0.0 { -start } else { 0.0 });
        (vertices, count)
    }

    /// A time in ns.
    pub(crate) fn ns(&self, seconds: f64) -> u64 {
        ((seconds + self.shift.unwrap_or(0.0)) * 1e9).round() as u64
    }
}

/// Why a drawable cannot be taken, in words for [`Losses`]: it must have a time, a category of its topology and lines that were defined.
/// `topology` is that of its category.
pub(crate) fn obstacle(
    drawable: &Drawable<'_>,
    topology: Option<Topology>,
    has_line: impl Fn(i32) -> bool,
) -> Option<&'static str> {
    let mut times = drawable.vertices.iter().map(|vertex| vertex.time);
    let vertices = match drawable.topology {
        Topology::Event => 1,
        Topology::State | Topology::Arrow => 2,
    };
    Some(
        if drawable.vertices.is_empty() || !times.all(f64::is_finite) {
            "drawable without a time"
        } else if drawable.vertices.iter().any(|v| v.time.abs() > MAX_SECONDS) {
            "drawable at a time that ns in 63 bits do not reach"
        } else if drawable.vertices.iter().any(|v| !has_line(v.line)) {
            "drawable on a line that is not defined"
        } else if topology != Some(drawable.topology) {
            "drawable of a category that is not defined"
        } else if drawable.vertices.len() > vertices {
            "drawable with more than two corners"
        } else {
            return None;
        },
    )
}
