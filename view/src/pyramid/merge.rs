//! The drawables of a stretch of time with the states by start, longer ones first, in memory that does not grow with the file.
//!
//! Exclusive time and nesting need the states of a line in that order. Each node holds its own in order, and the nodes of a
//! level follow each other, so one node of each level at a time is merged. Mostly the next state is in the same node as the
//! one before: nothing is compared then but with the next of the others.

use formats::slog2::{Directory, Entries, Error, Found, Plain, Scan, TimeBBox, Topology};
use std::iter::Peekable;

use crate::trace::{Item, Trace};

/// Takes what is found.
pub(crate) trait Take {
    /// A state; never before one that it is nested in, unless the file is not in the order of the format.
    fn state(&mut self, state: &Item<'_>);

    /// An arrow or an event, of no particular order.
    fn other(&mut self, item: &Item<'_>);
}

/// What was read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Drawables.
    pub drawables: u64,
    /// Of those: without a place, for their times are no numbers or nothing defines their lines.
    pub placeless: u64,
    /// Nodes.
    pub nodes: u64,
    /// Bytes of the nodes read, whole ones.
    pub bytes: u64,
    /// Bytes of all nodes to read.
    pub of_bytes: u64,
}

/// Goes over the drawables of a window.
#[derive(Debug)]
pub(crate) struct Merge<'t, 'a> {
    /// By level the nodes that are not yet open.
    levels: Vec<Peekable<Entries<'a>>>,
    streams: Vec<Stream<'a>>,
    from: From<'t, 'a>,
}

/// Where drawables come from.
#[derive(Debug)]
struct From<'t, 'a> {
    trace: &'t Trace<'a>,
    /// By kind.
    topologies: Vec<Topology>,
    done: Done,
    /// The states of composites, on their way to a stream of their own.
    aside: Vec<Item<'a>>,
}

/// States that follow each other.
#[derive(Debug)]
struct Stream<'a> {
    /// The next one.
    head: Item<'a>,
    rest: Rest<'a>,
}

#[derive(Debug)]
enum Rest<'a> {
    Node(Scan<'a>),
    /// States of a composite.
    Composite(std::vec::IntoIter<Item<'a>>),
}

/// By start, the longer one first.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    start: f64,
    end: f64,
}

impl Key {
    const LAST: Key = Key {
        start: f64::INFINITY,
        end: f64::NEG_INFINITY,
    };

    #[inline]
    fn of(item: &Item<'_>) -> Self {
        Key {
            start: item.start,
            end: item.end,
        }
    }

    #[inline]
    fn is_before(self, other: Key) -> bool {
        self.start < other.start || (self.start == other.start && self.end > other.end)
    }
}

/// What comes next.
#[derive(Clone, Copy)]
enum Next {
    /// The node of this level begins.
    Node(usize),
    /// The state at hand of this stream.
    Stream(usize),
}

impl<'t, 'a> Merge<'t, 'a> {
    /// Of the nodes that reach into a window; what they hold comes all, whether or not in the window.
    pub fn new(trace: &'t Trace<'a>, window: TimeBBox) -> Result<Self, Error> {
        // Nodes that overlap would be read again and again.
        trace.reader().whole_directory()?;
        let levels = trace.reader().levels_in(window)?;
        let done = Done {
            of_bytes: levels.iter().map(Directory::node_bytes).sum(),
            ..Done::default()
        };
        Ok(Merge {
            levels: levels.iter().map(|level| level.iter().peekable()).collect(),
            streams: Vec::new(),
            from: From {
                topologies: trace.kinds().iter().map(|k| k.category.topology).collect(),
                trace,
                done,
                aside: Vec::new(),
            },
        })
    }

    /// What was read.
    pub fn done(&self) -> Done {
        self.from.done
    }

    /// Hands on some of the drawables, about so many; false once there are no more.
    pub fn step(&mut self, budget: u64, take: &mut impl Take) -> Result<bool, Error> {
        let until = self.from.done.drawables.saturating_add(budget);
        while self.from.done.drawables < until {
            match self.next() {
                None => return Ok(false),
                Some((Next::Node(level), _)) => self.open(level, take)?,
                Some((Next::Stream(nth), limit)) => {
                    let stream = &mut self.streams[nth];
                    let is_over = loop {
                        take.state(&stream.head);
                        match self.from.pull(&mut stream.rest)? {
                            None => break true,
                            Some(item) => stream.head = item,
                        }
                        if limit.is_before(Key::of(&stream.head)) || !self.from.aside.is_empty() {
                            break false;
                        }
                    };
                    if is_over {
                        self.streams.swap_remove(nth);
                    }
                    self.begin_aside();
                }
            }
        }
        Ok(true)
    }

    /// What comes next, and the first of what comes behind it.
    fn next(&mut self) -> Option<(Next, Key)> {
        let (mut first, mut second, mut next) = (Key::LAST, Key::LAST, None);
        let mut look_at = |key: Key, what: Next| {
            if next.is_none() || key.is_before(first) {
                (second, first, next) = (first, key, Some(what));
            } else if key.is_before(second) {
                second = key;
            }
        };
        for (level, nodes) in self.levels.iter_mut().enumerate() {
            if let Some(node) = nodes.peek() {
                // Before everything in it.
                let key = Key {
                    start: node.bounds.earliest,
                    end: f64::INFINITY,
                };
                look_at(key, Next::Node(level));
            }
        }
        for (nth, stream) in self.streams.iter().enumerate() {
            look_at(Key::of(&stream.head), Next::Stream(nth));
        }
        next.map(|next| (next, second))
    }

    /// Opens the next node of a level.
    fn open(&mut self, level: usize, take: &mut impl Take) -> Result<(), Error> {
        let Some(node) = self.levels[level].next() else {
            return Ok(());
        };
        let mut scan = self.from.trace.reader().scan(node.ptr)?;
        while let Some(found) = scan.next()? {
            match found {
                Found::Plain(plain) => self.other(&plain, take),
                Found::Composite(composite) => {
                    for primitive in &composite.primitives {
                        self.other(&Plain::of(primitive), take);
                    }
                }
            }
        }
        let mut rest = Rest::Node(scan);
        if let Some(head) = self.from.pull(&mut rest)? {
            self.streams.push(Stream { head, rest });
        }
        self.begin_aside();
        self.from.done.nodes += 1;
        self.from.done.bytes += u64::from(node.ptr.size.unsigned_abs());
        Ok(())
    }

    /// Hands on what stands among arrows and events. States of categories without definition may be there as well.
    fn other(&mut self, plain: &Plain<'a>, take: &mut impl Take) {
        match self.from.item(plain) {
            None => {}
            Some(item) if item.topology == Topology::State => self.from.aside.push(item),
            Some(item) => take.other(&item),
        }
    }

    /// Gives what was set aside a stream.
    fn begin_aside(&mut self) {
        if self.from.aside.is_empty() {
            return;
        }
        let mut items = std::mem::take(&mut self.from.aside);
        items.sort_by(|a, b| a.start.total_cmp(&b.start).then(b.end.total_cmp(&a.end)));
        let mut rest = items.into_iter();
        if let Some(head) = rest.next() {
            let rest = Rest::Composite(rest);
            self.streams.push(Stream { head, rest });
        }
    }
}

impl<'a> From<'_, 'a> {
    /// The next state.
    #[inline]
    fn pull(&mut self, rest: &mut Rest<'a>) -> Result<Option<Item<'a>>, Error> {
        let scan = match rest {
            Rest::Node(scan) => scan,
            Rest::Composite(items) => return Ok(items.next()),
        };
        while let Some(found) = scan.next()? {
            match found {
                Found::Plain(plain) => {
                    if let Some(item) = self.item(&plain) {
                        return Ok(Some(item));
                    }
                }
                Found::Composite(composite) => {
                    for primitive in &composite.primitives {
                        let item = self.item(&Plain::of(primitive));
                        self.aside.extend(item);
                    }
                }
            }
        }
        Ok(None)
    }

    /// A drawable in the trace's terms, as [`Trace::item`] has them.
    #[inline]
    fn item(&mut self, plain: &Plain<'a>) -> Option<Item<'a>> {
        self.done.drawables += 1;
        let item = self.place(plain);
        self.done.placeless += u64::from(item.is_none());
        item
    }

    #[inline]
    fn place(&self, plain: &Plain<'a>) -> Option<Item<'a>> {
        let Plain {
            category,
            info,
            first,
            last,
            vertices,
        } = *plain;
        let known = self.trace.kind(category);
        let topology = match (vertices, known.map(|kind| self.topologies[kind as usize])) {
            (1, _) => Topology::Event,
            (_, Some(defined @ (Topology::State | Topology::Arrow))) => defined,
            _ if first.line == last.line => Topology::State,
            _ => Topology::Arrow,
        };
        if !(first.time.is_finite() && last.time.is_finite()) {
            return None;
        }
        let line = self.trace.line(first.line)?;
        let (to_line, [start, end]) = match topology {
            Topology::Arrow => (self.trace.line(last.line)?, [first.time, last.time]),
            _ if first.time <= last.time => (line, [first.time, last.time]),
            _ => (line, [last.time, first.time]),
        };
        Some(Item {
            kind: match known {
                Some(kind) => kind,
                None => self.trace.kind_or_undefined(category, topology)?,
            },
            topology,
            line,
            to_line,
            start,
            end,
            info,
        })
    }
}
