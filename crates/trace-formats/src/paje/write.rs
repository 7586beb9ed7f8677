//! Writes drawables as a Pajé trace that pj_dump and ViTE take without a complaint (`spec/paje.md` section 7).

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::rc::Rc;

use foldhash::fast::RandomState;

use super::error::PajeError;
use super::header::{self, EventLayout, EventLayouts, quoted};
use super::lines::{Aliases, LinePlace, UNKNOWN_NODE};
use super::names::FieldDialect;
use trace_model::PendingFile;
use trace_model::{
    Category, Complete, Definitions, Drawable, DrawableOrder, DrawablePoint, Line, Losses,
    PointKind, Points, Stop, Topology, message,
};

/// Options of the Paje writer.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// Names of fields.
    pub dialect: FieldDialect,
}

/// A Pajé trace in the making. In memory are the lines, the categories and the drawables that are not over yet.
pub struct PajeSink<W> {
    points: Points,
    writer: EventLineWriter<W>,
    complete: Complete<W>,
}

impl PajeSink<BufWriter<PendingFile>> {
    /// Starts the file at `path`, which gets its name when it is complete.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(
        path: impl AsRef<Path>,
        definitions: &Definitions,
        options: WriteOptions,
    ) -> Result<Self, PajeError> {
        let path = path.as_ref();
        let (out, complete) = PendingFile::create_for_sink(path)?;
        PajeSink::new(out, definitions, options, complete)
            .map_err(|error| PajeError::io(0, error).in_file(path))
    }
}

impl<W: Write> PajeSink<W> {
    /// Starts a trace at the beginning of `out`. `complete` gets it when everything is written.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(
        out: W,
        definitions: &Definitions,
        options: WriteOptions,
        complete: impl FnOnce(W) -> Result<(), Stop> + 'static,
    ) -> io::Result<Self> {
        Ok(PajeSink {
            points: Points::default(),
            writer: EventLineWriter::new(out, definitions, options)?,
            complete: Box::new(complete),
        })
    }
}

impl<W: Write> trace_model::Sink for PajeSink<W> {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        let writer = &mut self.writer;
        if writer.takes(drawable) {
            self.points
                .push(drawable, &mut |point| Ok(writer.point(point)?))?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        let PajeSink {
            points,
            mut writer,
            complete,
        } = *self;
        points.finish(&mut |point| Ok(writer.point(point)?))?;
        writer.end()?;
        complete(writer.out)?;
        Ok(writer.losses)
    }
}

struct EventLineWriter<W> {
    out: W,
    categories: HashMap<i32, WrittenContainer, RandomState>,
    lines: HashMap<i32, ThreadContainer, RandomState>,
    /// Ids of the lines of each rank, by rank.
    ranks: BTreeMap<i32, Vec<i32>>,
    nodes: usize,
    /// Shift that is added to times, so that none is below 0.
    shift: Option<f64>,
    last: f64,
    /// Numbers of the messages of which one end was written, by drawable.
    messages: HashMap<u64, u64, RandomState>,
    message_count: u64,
    losses: Losses,
}

struct WrittenContainer {
    category: Category,
    layout: Rc<EventLayout>,
}

/// A line, which becomes a container of type Thread.
struct ThreadContainer {
    line: Line,
    alias: String,
    is_created: bool,
    /// States that were entered: drawable, category, info.
    states: Vec<(u64, i32, Rc<[u8]>)>,
}

impl<W: Write> EventLineWriter<W> {
    fn new(mut out: W, definitions: &Definitions, options: WriteOptions) -> io::Result<Self> {
        let real: Vec<&Category> = definitions
            .categories
            .iter()
            .filter(|category| category.index >= 0)
            .collect();
        let mut losses = Losses::default();
        let mut layouts = EventLayouts::default();
        let mut categories = HashMap::default();
        for &category in &real {
            let layout = layouts.add(category, &mut losses);
            let category = category.clone();
            categories.insert(category.index, WrittenContainer { category, layout });
        }
        header::write(&mut out, &layouts, &real, options.dialect)?;
        let mut writer = EventLineWriter {
            out,
            categories,
            lines: HashMap::default(),
            ranks: BTreeMap::new(),
            nodes: 0,
            shift: None,
            last: 0.0,
            messages: HashMap::default(),
            message_count: 0,
            losses,
        };
        writer.containers(definitions)?;
        Ok(writer)
    }

    /// Makes the containers that are there from the start: program, nodes, ranks and their first threads.
    fn containers(&mut self, definitions: &Definitions) -> io::Result<()> {
        let mut aliases = Aliases::new(&definitions.lines);
        let mut hosts: Vec<&str> = Vec::new();
        let mut numbers = BTreeMap::new();
        let mut host_of = BTreeMap::new();
        for line in &definitions.lines {
            let alias = aliases.of(line);
            let host = line.host.as_deref().unwrap_or(UNKNOWN_NODE);
            let next = hosts.len();
            let node = *numbers.entry(host).or_insert(next);
            if node == next {
                hosts.push(host);
            }
            host_of.entry(line.rank).or_insert(node);
            self.ranks.entry(line.rank).or_default().push(line.id);
            self.lines.insert(
                line.id,
                ThreadContainer {
                    line: line.clone(),
                    alias,
                    is_created: false,
                    states: Vec::new(),
                },
            );
        }
        let program = match definitions.program.as_str() {
            "" => "program",
            program => program,
        };
        self.create(0.0, "P", "CP", "0", program.as_bytes())?;
        self.nodes = hosts.len();
        for (number, host) in hosts.iter().enumerate() {
            self.create(0.0, &format!("N{number}"), "CN", "P", host.as_bytes())?;
        }
        for (rank, node) in host_of {
            let alias = format!("R{rank}");
            let name = format!("rank {rank}");
            self.create(0.0, &alias, "CR", &format!("N{node}"), name.as_bytes())?;
            writeln!(self.out, "8 {:.9} VF {alias} 0", 0.0)?;
            let lines = self.ranks.get(&rank).cloned().unwrap_or_default();
            for id in lines {
                if self
                    .lines
                    .get(&id)
                    .is_some_and(|thread| thread.line.thread == 0)
                {
                    self.create_thread(id, 0.0)?;
                }
            }
        }
        Ok(())
    }

    fn create(
        &mut self,
        time: f64,
        alias: &str,
        kind: &str,
        parent: &str,
        name: &[u8],
    ) -> io::Result<()> {
        write!(self.out, "6 {time:.9} {alias} {kind} {parent} ")?;
        quoted(&mut self.out, name)?;
        self.out.write_all(b"\n")
    }

    fn create_thread(&mut self, id: i32, time: f64) -> io::Result<()> {
        let Some(thread) = self.lines.get_mut(&id).filter(|thread| !thread.is_created) else {
            return Ok(());
        };
        thread.is_created = true;
        let line = &thread.line;
        let alias = thread.alias.clone();
        let name = line.name.clone();
        let name = name.unwrap_or_else(|| LinePlace::of_line(line).name());
        let rank = format!("R{}", line.rank);
        self.create(time, &alias, "CT", &rank, name.as_bytes())?;
        writeln!(self.out, "11 {time:.9} SM {alias} rn")
    }

    /// True if the drawable has a category and lines that were defined; else it is counted.
    fn takes(&mut self, drawable: &Drawable<'_>) -> bool {
        let times = drawable.vertices.iter().map(|vertex| vertex.time);
        let known = self.categories.get(&drawable.category);
        let is_known = known.is_some_and(|known| known.category.topology == drawable.topology);
        let missing = if !times.clone().all(f64::is_finite) || drawable.vertices.is_empty() {
            "drawable without a time"
        } else if !drawable
            .vertices
            .iter()
            .all(|vertex| self.lines.contains_key(&vertex.line))
        {
            "drawable on a line that is not defined"
        } else if !is_known {
            "drawable of a category that is not defined"
        } else if drawable.vertices.len() > 2 {
            "drawable with more than two corners"
        } else {
            let start = times.fold(f64::INFINITY, f64::min);
            // The first one has the earliest start.
            self.shift
                .get_or_insert(if start < 0.0 { -start } else { 0.0 });
            return true;
        };
        self.losses.add(missing, 1);
        false
    }

    fn point(&mut self, point: &DrawablePoint) -> io::Result<()> {
        // Later points may be earlier than the first drawable only by the error of adding.
        let time = (point.time + self.shift.unwrap_or(0.0)).max(self.last);
        self.last = time;
        self.create_thread(point.line, time)?;
        match point.what {
            PointKind::Enter => {
                self.push(point.line, time, point.category, &point.info)?;
                if let Some(thread) = self.lines.get_mut(&point.line) {
                    let info = point.info.clone();
                    thread.states.push((point.drawable, point.category, info));
                }
                Ok(())
            }
            PointKind::Leave => self.leave(point, time),
            PointKind::At => self.begin(point.line, time, point.category, &point.info, None),
            PointKind::Send => {
                let number = self.message_number(point.drawable);
                self.begin(point.line, time, point.category, &point.info, Some(number))?;
                self.in_flight("9", point, point.line, time)
            }
            PointKind::Receive => {
                let key = self.message_number(point.drawable);
                let Some(thread) = self.lines.get(&point.line) else {
                    return Ok(());
                };
                let (alias, category) = (&thread.alias, point.category);
                writeln!(self.out, "16 {time:.9} LM P {alias} v{category} k{key}")?;
                self.in_flight("10", point, point.partner, time)
            }
        }
    }

    /// Number of the message that is this drawable; asked for at each of its two ends.
    fn message_number(&mut self, drawable: u64) -> u64 {
        if let Some(number) = self.messages.remove(&drawable) {
            return number;
        }
        self.message_count += 1;
        self.messages.insert(drawable, self.message_count);
        self.message_count
    }

    fn push(&mut self, line: i32, time: f64, category: i32, info: &[u8]) -> io::Result<()> {
        self.begin(line, time, category, info, None)
    }

    /// Begins a state or link, or tells an event: what may have fields of the user's own.
    fn begin(
        &mut self,
        line: i32,
        time: f64,
        category: i32,
        info: &[u8],
        key: Option<u64>,
    ) -> io::Result<()> {
        let (Some(thread), Some(known)) = (self.lines.get(&line), self.categories.get(&category))
        else {
            return Ok(());
        };
        let (alias, number) = (&thread.alias, known.layout.number);
        write!(self.out, "{number} {time:.9} ")?;
        match known.category.topology {
            Topology::State => write!(self.out, "SM {alias} v{category}")?,
            Topology::Event => write!(self.out, "EU {alias} v{category}")?,
            Topology::Arrow => {
                let key = key.unwrap_or(0);
                write!(self.out, "LM P {alias} v{category} k{key}")?;
            }
        }
        known
            .layout
            .values(&mut self.out, &known.category, info, thread.line.comm)?;
        self.out.write_all(b"\n")
    }

    fn leave(&mut self, point: &DrawablePoint, time: f64) -> io::Result<()> {
        let Some(thread) = self.lines.get_mut(&point.line) else {
            return Ok(());
        };
        let ours = |state: &(u64, i32, Rc<[u8]>)| state.0 == point.drawable;
        let Some(at) = thread.states.iter().rposition(ours) else {
            return Ok(());
        };
        let above = thread.states.split_off(at + 1);
        thread.states.pop();
        for _ in 0..=above.len() {
            writeln!(self.out, "13 {time:.9} SM {}", thread.alias)?;
        }
        // States that overlap without one being inside the other: those that go on are begun anew.
        self.losses
            .add("state that another one cuts in two", above.len() as u64);
        for state in above {
            self.push(point.line, time, state.1, &state.2)?;
            if let Some(thread) = self.lines.get_mut(&point.line) {
                thread.states.push(state);
            }
        }
        Ok(())
    }

    /// Adds the bytes of a message to what its sender has on the way, or takes them off.
    fn in_flight(
        &mut self,
        event: &str,
        point: &DrawablePoint,
        sender: i32,
        time: f64,
    ) -> io::Result<()> {
        let known = self.categories.get(&point.category);
        let size = known.and_then(|known| message(&known.category, &point.info));
        let (Some(size), Some(sender)) = (size, self.lines.get(&sender)) else {
            return Ok(());
        };
        let (rank, size) = (sender.line.rank, size.size);
        writeln!(self.out, "{event} {time:.9} VF R{rank} {size}")
    }

    fn end(&mut self) -> io::Result<()> {
        let time = self.last;
        let ranks = std::mem::take(&mut self.ranks);
        for (rank, lines) in &ranks {
            for &id in lines {
                self.create_thread(id, time)?;
                if let Some(thread) = self.lines.get(&id) {
                    writeln!(self.out, "13 {time:.9} SM {}", thread.alias)?;
                    writeln!(self.out, "7 {time:.9} {} CT", thread.alias)?;
                }
            }
            writeln!(self.out, "7 {time:.9} R{rank} CR")?;
        }
        for node in 0..self.nodes {
            writeln!(self.out, "7 {time:.9} N{node} CN")?;
        }
        writeln!(self.out, "7 {time:.9} P CP")?;
        self.out.flush()
    }
}
