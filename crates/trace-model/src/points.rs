//! Turns drawables into the points in time that event logs consist of.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::rc::Rc;

use super::{Drawable, Stop, Topology};

/// An event at a point in time. Events of one time come in this order: an arrival belongs to the states that end then, a
/// departure to those that begin. The leave of a state without duration comes last of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointKind {
    /// An arrow ends.
    Receive,
    /// A state ends; inner ones before outer ones.
    Leave,
    /// A state begins; outer ones before inner ones.
    Enter,
    /// An arrow begins.
    Send,
    /// An event.
    At,
}

/// One end of a drawable, or an event.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawablePoint {
    /// Seconds.
    pub time: f64,
    /// The line it is on.
    pub line: i32,
    /// Kind of the point.
    pub what: PointKind,
    /// Index of the drawable's category.
    pub category: i32,
    /// Info of the drawable.
    pub info: Rc<[u8]>,
    /// The line of the other end; of an event its own.
    pub partner: i32,
    /// Number of the drawable, which both ends share: 0, 1, 2 … in order of start.
    pub drawable: u64,
}

/// Takes drawables in [`super::DrawableOrder::Start`] and gives their points in order of time. In memory are those that are
/// not over yet.
#[derive(Debug, Default)]
pub struct Points {
    waiting: BinaryHeap<Reverse<WaitingPoint>>,
    drawables: u64,
}

impl Points {
    /// Takes a drawable and gives `put` all points before it.
    ///
    /// # Errors
    /// The errors of `put`.
    pub fn push(
        &mut self,
        drawable: &Drawable<'_>,
        put: &mut dyn FnMut(&DrawablePoint) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let (Some(first), Some(last)) = (drawable.vertices.first(), drawable.vertices.last())
        else {
            return Ok(());
        };
        let (start, end) = (first.time.min(last.time), first.time.max(last.time));
        self.give(start, put)?;
        let info: Rc<[u8]> = drawable.info.into();
        let number = self.drawables;
        self.drawables += 1;
        let mut wait = |what, time, line, partner| {
            let point = DrawablePoint {
                time,
                line,
                what,
                category: drawable.category,
                info: info.clone(),
                partner,
                drawable: number,
            };
            self.waiting.push(Reverse(WaitingPoint { point, start }));
        };
        match drawable.topology {
            Topology::Event => wait(PointKind::At, start, first.line, first.line),
            Topology::State => {
                wait(PointKind::Enter, start, first.line, last.line);
                wait(PointKind::Leave, end, last.line, first.line);
            }
            Topology::Arrow => {
                wait(PointKind::Send, first.time, first.line, last.line);
                wait(PointKind::Receive, last.time, last.line, first.line);
            }
        }
        Ok(())
    }

    /// Gives the rest.
    ///
    /// # Errors
    /// The errors of `put`.
    pub fn finish(
        mut self,
        put: &mut dyn FnMut(&DrawablePoint) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.give(f64::INFINITY, put)?;
        while let Some(Reverse(waiting)) = self.waiting.pop() {
            put(&waiting.point)?;
        }
        Ok(())
    }

    /// Gives what comes before this time: at the time itself something may still have to come before.
    fn give(
        &mut self,
        before: f64,
        put: &mut dyn FnMut(&DrawablePoint) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        while let Some(Reverse(next)) = self.waiting.peek() {
            if next.point.time.total_cmp(&before).is_ge() {
                break;
            }
            if let Some(Reverse(next)) = self.waiting.pop() {
                put(&next.point)?;
            }
        }
        Ok(())
    }
}

/// A point and the start of its drawable, which decides who leaves first.
#[derive(Debug)]
struct WaitingPoint {
    point: DrawablePoint,
    start: f64,
}

impl WaitingPoint {
    fn is_momentary_leave(&self) -> bool {
        self.point.what == PointKind::Leave && self.start == self.point.time
    }
}

impl Ord for WaitingPoint {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.point, &other.point);
        let kinds =
            || (self.is_momentary_leave(), a.what).cmp(&(other.is_momentary_leave(), b.what));
        let places = || match a.what {
            PointKind::Leave => other
                .start
                .total_cmp(&self.start)
                .then(b.drawable.cmp(&a.drawable)),
            _ => a.drawable.cmp(&b.drawable),
        };
        a.time.total_cmp(&b.time).then_with(kinds).then_with(places)
    }
}

impl PartialOrd for WaitingPoint {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for WaitingPoint {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for WaitingPoint {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vertex;

    #[test]
    fn states_nest_and_messages_stand_inside_them() {
        let vertex = |time, line| Vertex { time, line };
        let state = |category, start, end| {
            (
                Topology::State,
                category,
                [vertex(start, 0), vertex(end, 0)],
            )
        };
        let arrow = (Topology::Arrow, 9, [vertex(1.0, 0), vertex(3.0, 0)]);
        // Outer 1..3 with inner 1..2, 2..3 and one without duration at 2; the message leaves and arrives at its borders.
        let drawables = [
            state(1, 1.0, 3.0),
            arrow,
            state(2, 1.0, 2.0),
            state(3, 2.0, 3.0),
            state(4, 2.0, 2.0),
        ];
        let mut points = Points::default();
        let mut found = Vec::new();
        let mut put = |point: &DrawablePoint| {
            found.push((point.time, point.what, point.category));
            Ok(())
        };
        for (topology, category, vertices) in &drawables {
            let drawable = Drawable {
                topology: *topology,
                category: *category,
                info: &[],
                vertices,
            };
            points.push(&drawable, &mut put).expect("put");
        }
        points.finish(&mut put).expect("put");
        use PointKind::*;
        assert_eq!(
            found,
            [
                (1.0, Enter, 1),
                (1.0, Enter, 2),
                (1.0, Send, 9),
                (2.0, Leave, 2),
                (2.0, Enter, 3),
                (2.0, Enter, 4),
                (2.0, Leave, 4),
                (3.0, Receive, 9),
                (3.0, Leave, 3),
                (3.0, Leave, 1),
            ]
        );
    }
}
