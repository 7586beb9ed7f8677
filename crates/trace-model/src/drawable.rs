//! Drawables: what is drawn of a run, with corners in time and on timelines.

/// A stretch of time, in seconds since the log's time zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeBBox {
    /// Start, seconds.
    pub earliest: f64,
    /// End, seconds.
    pub latest: f64,
}

impl TimeBBox {
    /// Contains nothing; [`TimeBBox::include`] makes it grow.
    pub const EMPTY: TimeBBox = TimeBBox {
        earliest: f64::INFINITY,
        latest: f64::NEG_INFINITY,
    };

    /// The stretch that overlaps everything whose times are numbers.
    pub const EVER: TimeBBox = TimeBBox {
        earliest: f64::NEG_INFINITY,
        latest: f64::INFINITY,
    };

    /// Length of the stretch of time in seconds.
    pub fn duration(self) -> f64 {
        self.latest - self.earliest
    }

    /// Grows so that it contains `other`.
    #[inline]
    pub fn include(&mut self, other: TimeBBox) {
        if other.earliest < self.earliest {
            self.earliest = other.earliest;
        }
        if other.latest > self.latest {
            self.latest = other.latest;
        }
    }

    /// True if `other` lies within it.
    pub fn covers(self, other: TimeBBox) -> bool {
        self.earliest <= other.earliest && self.latest >= other.latest
    }

    /// The stretch of time that is in both; one that ends before it begins if there is none.
    pub fn common(self, other: TimeBBox) -> TimeBBox {
        TimeBBox {
            earliest: self.earliest.max(other.earliest),
            latest: self.latest.min(other.latest),
        }
    }

    /// True if the two have at least a point in common.
    pub fn overlaps(self, other: TimeBBox) -> bool {
        self.earliest <= other.latest && self.latest >= other.earliest
    }
}

/// A corner of a drawable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vertex {
    /// Seconds since the log's time zero.
    pub time: f64,
    /// The line it is on (`spec/slog2.md` section 7.2).
    pub line: i32,
}

/// The kinds of drawables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topology {
    /// One vertex.
    Event,
    /// Two vertices on one line.
    State,
    /// Two vertices on any lines: the send, then the receive.
    Arrow,
}

impl Topology {
    /// Number of the topology in SLOG2 files.
    pub fn number(self) -> i32 {
        match self {
            Topology::Event => 0,
            Topology::State => 1,
            Topology::Arrow => 2,
        }
    }

    /// The topology of this number.
    pub fn from_number(number: i32) -> Option<Self> {
        match number {
            0 => Some(Topology::Event),
            1 => Some(Topology::State),
            2 => Some(Topology::Arrow),
            _ => None,
        }
    }

    /// The name the tools print.
    pub fn name(self) -> &'static str {
        match self {
            Topology::Event => "Event",
            Topology::State => "State",
            Topology::Arrow => "Arrow",
        }
    }

    /// True for states, which are listed apart from arrows and events (`spec/slog2.md` section 5).
    pub fn is_nestable(self) -> bool {
        self == Topology::State
    }
}

/// A state, an arrow or an event.
#[derive(Clone, Copy, Debug)]
pub struct Drawable<'a> {
    /// Form of the drawable, which is that of its category.
    pub topology: Topology,
    /// Index of its category.
    pub category: i32,
    /// Values, laid out as the category's types say; at most 32767 bytes.
    pub info: &'a [u8],
    /// One vertex for an event, else two; of an arrow the send, then the receive.
    pub vertices: &'a [Vertex],
}

impl Drawable<'_> {
    /// Times of its earliest and its latest vertex; [`TimeBBox::EMPTY`] without any.
    #[inline]
    pub fn bounds(&self) -> TimeBBox {
        if let [first, last] = self.vertices
            && first.time < last.time
        {
            return TimeBBox {
                earliest: first.time,
                latest: last.time,
            };
        }
        let mut bounds = TimeBBox::EMPTY;
        for &Vertex { time, .. } in self.vertices {
            let earliest = time;
            let latest = time;
            bounds.include(TimeBBox { earliest, latest });
        }
        bounds
    }
}
