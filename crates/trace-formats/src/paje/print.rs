//! The text of `pj_dump` 1.3.6 (`spec/paje.md` section 6): what was on each container, from the root down.
//!
//! As the text is by container and the trace by time, what is printed is kept in memory until the end: 24 bytes for a
//! state. Two oddities of the original are kept: of what starts at the very end of the trace only the first of each type
//! and container is shown, and of what starts before time 0 only the last. One is not: it takes the value `""` for the
//! beginning of a longer one.

use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;

use foldhash::fast::RandomState;

use super::error::{PajeError, PajeRule};
use super::names::KnownField;
use super::number::{fixed, general};
use super::order::{SimulationResult, simulate, simulate_sorted};
use super::read::{EventDefinition, EventPosition, PajeTrace};
use super::simulate::{Entity, EntityBody, Simulator};
use super::tables::{Container, EntityKind, PajeTables, ROOT};
use trace_model::Stop;

/// Options of the Paje printer.
#[derive(Clone, Copy, Debug)]
pub struct PajePrintOptions {
    /// Show the fields of the user's own behind each line (`-u`).
    pub user_defined: bool,
    /// A link without its other end is no error (`-z`).
    pub ignore_incomplete_links: bool,
    /// Decimals of times and values, other than those of containers (`-l`).
    pub precision: usize,
    /// Begin with the names of the columns (`-h`).
    pub header: bool,
}

impl Default for PajePrintOptions {
    fn default() -> Self {
        PajePrintOptions {
            user_defined: false,
            ignore_incomplete_links: false,
            precision: 6,
            header: false,
        }
    }
}

/// Result of printing.
#[derive(Debug, Default)]
pub struct Printed {
    /// Error that ended the trace early; everything before it was printed.
    pub error: Option<PajeError>,
    /// Oddities of the trace, one a line.
    pub warnings: Vec<String>,
}

/// Prints the trace as `pj_dump -n` does, with names of fields in either dialect.
///
/// # Errors
/// The errors of `out`. What is wrong with the trace is told in [`Printed`].
pub fn print(
    trace: &PajeTrace<'_>,
    options: &PajePrintOptions,
    out: &mut dyn Write,
) -> io::Result<Printed> {
    let mut printed = Printed::default();
    let mut lanes = Lanes::default();
    let unreachable = |stop: Stop| io::Error::other(stop.to_string());
    let mut run = simulate(trace, &mut |_, _, entity| {
        lanes.add(entity, options.user_defined);
        Ok(())
    })
    .map_err(unreachable)?;
    if run.is_disordered() && run.error.is_none() {
        if let Some((count, first)) = run.simulator.broken.get(&PajeRule::TimeOrder) {
            let more = if *count > 1 { ", and more" } else { "" };
            printed
                .warnings
                .push(format!("{first}{more}; sorted by time"));
        }
        lanes = Lanes::default();
        run = simulate_sorted(trace, &mut |_, _, entity| {
            lanes.add(entity, options.user_defined);
            Ok(())
        })
        .map_err(unreachable)?;
    }
    let mut printer = TracePrinter {
        trace,
        options,
        tables: &run.simulator.tables,
        definitions: &run.definitions,
        lanes: &lanes,
        tokens: Vec::new(),
        out,
    };
    if options.header {
        printer.header()?;
    }
    printer.containers()?;
    printed.finish(run, options);
    Ok(printed)
}

impl Printed {
    fn finish(&mut self, run: SimulationResult, options: &PajePrintOptions) {
        let Simulator {
            broken,
            on_destroyed,
            foreign,
            ..
        } = run.simulator;
        self.error = run.error;
        for (rule, (count, first)) in broken {
            match rule {
                PajeRule::IncompleteLink if options.ignore_incomplete_links => {}
                PajeRule::TimeOrder => {}
                PajeRule::ManyValues => self.warnings.push(format!("{count} x {first}")),
                _ if self.error.is_none() => self.error = Some(first),
                _ => {}
            }
        }
        let counts = [
            (
                on_destroyed,
                "event on a container that was destroyed before",
            ),
            (foreign, "event of a name that the format does not know"),
            (run.missing_files, "PajeTraceFile whose file is not there"),
        ];
        for (count, what) in counts {
            if count > 0 {
                self.warnings.push(format!("{count} x {what}"));
            }
        }
    }
}

/// Entities on a container for one type, in order.
#[derive(Debug, Default)]
struct PrintedLane {
    items: Vec<LaneItem>,
    links: Vec<PrintedLink>,
    /// The events that began and ended each, if the fields of the user's own are to be shown.
    places: Vec<[Option<EventPosition>; 2]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct LaneItem {
    start: f64,
    end: f64,
    /// Value and level of a state; value of an event; bits of a variable's value; number of a link.
    what: u64,
}

#[derive(Clone, Copy, Debug)]
struct PrintedLink {
    value: u32,
    ends: (u32, u32),
    begun: Option<EventPosition>,
}

#[derive(Debug, Default)]
struct Lanes {
    lanes: HashMap<(u32, u32), PrintedLane, RandomState>,
}

impl Lanes {
    fn add(&mut self, entity: &Entity, with_places: bool) {
        let lane = self
            .lanes
            .entry((entity.container, entity.kind))
            .or_default();
        let what = match entity.body {
            EntityBody::State { value, level } => u64::from(value) << 32 | u64::from(level),
            EntityBody::Event(value) => value.into(),
            EntityBody::Variable(value) => value.to_bits(),
            EntityBody::Link { value, ends, .. } => {
                let begun = entity.begun;
                lane.links.push(PrintedLink { value, ends, begun });
                lane.links.len() as u64 - 1
            }
        };
        let item = LaneItem {
            start: entity.start,
            end: entity.end,
            what,
        };
        let at = usize::try_from(entity.number).unwrap_or(usize::MAX);
        put_at(&mut lane.items, at, item);
        if with_places {
            let mut places = [entity.begun, entity.ended];
            if let EntityBody::Link {
                end_first: true, ..
            } = entity.body
            {
                places.reverse();
            }
            put_at(&mut lane.places, at, places);
        }
    }
}

/// Sets an element, of which there are no more than there were events.
fn put_at<T: Clone + Default>(list: &mut Vec<T>, at: usize, value: T) {
    if list.len() <= at {
        list.resize(at + 1, T::default());
    }
    list[at] = value;
}

/// The part of a lane that the original shows of the whole trace: it looks by starts, with a binary search that the
/// list need not be in order for.
fn window(items: &[LaneItem], start: f64, end: f64) -> &[LaneItem] {
    let bound = |time: f64| {
        let (mut first, mut length) = (0, items.len());
        while length > 0 {
            let half = length / 2;
            if items[first + half].start < time {
                first += half + 1;
                length -= half + 1;
            } else {
                length = half;
            }
        }
        first
    };
    let low = bound(start).saturating_sub(1);
    let up = (bound(end) + 1).min(items.len());
    items.get(low..up).unwrap_or_default()
}

struct TracePrinter<'p> {
    trace: &'p PajeTrace<'p>,
    options: &'p PajePrintOptions,
    tables: &'p PajeTables,
    definitions: &'p [Rc<EventDefinition>],
    lanes: &'p Lanes,
    tokens: Vec<super::line::ValueSpan>,
    out: &'p mut dyn Write,
}

impl TracePrinter<'_> {
    /// Goes through the containers in the order of the original: depth first, the last one by type and identifier first.
    fn walk(
        &mut self,
        mut visit: impl FnMut(&mut Self, u32, &[u32]) -> io::Result<()>,
    ) -> io::Result<()> {
        let types = &self.tables.types;
        let mut below = vec![Vec::new(); types.len()];
        for (number, kind) in types.iter().enumerate().skip(1) {
            below[kind.parent as usize].push(number as u32);
        }
        let mut rank = vec![0; types.len()];
        for below in &mut below {
            below.sort_by_key(|&kind| &types[kind as usize].identifier);
            for (nth, &kind) in below.iter().enumerate() {
                rank[kind as usize] = nth;
            }
        }
        let mut stack = vec![ROOT];
        while let Some(number) = stack.pop() {
            let container = self.tables.container(number);
            let lanes = &below[container.kind as usize];
            visit(self, number, lanes)?;
            let mut children = container.children.clone();
            let place = |&child: &u32| {
                let child = self.tables.container(child);
                (rank[child.kind as usize], &child.identifier)
            };
            children.sort_by_key(place);
            stack.extend(children);
        }
        Ok(())
    }

    fn containers(&mut self) -> io::Result<()> {
        let root = self.tables.container(ROOT);
        let (start, end) = (root.start, root.end);
        self.walk(|printer, number, kinds| {
            printer.container(number)?;
            for &kind in kinds {
                let lanes = printer.lanes;
                if let Some(lane) = lanes.lanes.get(&(number, kind)) {
                    printer.lane(number, kind, lane, start, end)?;
                }
            }
            Ok(())
        })
    }

    fn container(&mut self, number: u32) -> io::Result<()> {
        let container = self.tables.container(number);
        let parent = self.tables.container(container.parent);
        self.head(EntityKind::Container, parent, container.kind)?;
        for number in [
            container.start,
            container.end,
            container.end - container.start,
        ] {
            general(&mut self.out, number)?;
            self.out.write_all(b", ")?;
        }
        self.out.write_all(&container.name)?;
        self.user_fields(&[container.created])
    }

    fn head(&mut self, kind: EntityKind, container: &Container, number: u32) -> io::Result<()> {
        write!(self.out, "{}, ", kind.name())?;
        self.out.write_all(&container.name)?;
        self.out.write_all(b", ")?;
        self.out.write_all(&self.tables.type_of(number).name)?;
        self.out.write_all(b", ")
    }

    fn lane(
        &mut self,
        number: u32,
        kind: u32,
        lane: &PrintedLane,
        start: f64,
        end: f64,
    ) -> io::Result<()> {
        let shown = window(&lane.items, start, end);
        let first =
            (shown.as_ptr() as usize - lane.items.as_ptr() as usize) / size_of::<LaneItem>();
        for (nth, item) in shown.iter().enumerate() {
            self.item(number, kind, lane, item)?;
            let places = lane.places.get(first + nth);
            self.user_fields(places.map_or(&[], |places| places))?;
        }
        Ok(())
    }

    fn item(
        &mut self,
        number: u32,
        kind: u32,
        lane: &PrintedLane,
        item: &LaneItem,
    ) -> io::Result<()> {
        let described = self.tables.type_of(kind);
        let precision = self.options.precision;
        self.head(described.kind, self.tables.container(number), kind)?;
        fixed(&mut self.out, item.start, precision)?;
        self.out.write_all(b", ")?;
        if described.kind != EntityKind::Event {
            fixed(&mut self.out, item.end, precision)?;
            self.out.write_all(b", ")?;
            let duration = match item.start >= 0.0 && item.end >= 0.0 {
                true => item.end - item.start,
                false => 0.0,
            };
            fixed(&mut self.out, duration, precision)?;
            self.out.write_all(b", ")?;
        }
        let value = |value: u64| {
            let value = usize::try_from(value).ok();
            let value = value.and_then(|value| described.values.get(value));
            value.map_or(&b""[..], |value| &value.name)
        };
        match described.kind {
            EntityKind::Container => Ok(()),
            EntityKind::Event => self.out.write_all(value(item.what)),
            EntityKind::Variable => fixed(&mut self.out, f64::from_bits(item.what), precision),
            EntityKind::State => {
                fixed(&mut self.out, (item.what & 0xffff_ffff) as f64, precision)?;
                self.out.write_all(b", ")?;
                self.out.write_all(value(item.what >> 32))
            }
            EntityKind::Link => {
                let link = usize::try_from(item.what).ok();
                let Some(link) = link.and_then(|link| lane.links.get(link)) else {
                    return Ok(());
                };
                self.out.write_all(value(link.value.into()))?;
                for end in [link.ends.0, link.ends.1] {
                    self.out.write_all(b", ")?;
                    self.out.write_all(&self.tables.container(end).name)?;
                }
                self.out.write_all(b", ")?;
                self.at(link.begun, &mut |event, out| {
                    out.write_all(event.field(KnownField::Key))
                })
            }
        }
    }

    /// The end of a line: the fields of the user's own in these events.
    fn user_fields(&mut self, places: &[Option<EventPosition>]) -> io::Result<()> {
        if self.options.user_defined {
            for &place in places {
                self.at(place, &mut |event, out| {
                    let fields = &event.definition.fields;
                    for (_, field) in event.definition.user_fields() {
                        // Of two of the same name the original shows the first one twice.
                        let at = fields.iter().position(|other| other.name == field.name);
                        out.write_all(b", ")?;
                        out.write_all(event.value(at.unwrap_or(0)))?;
                    }
                    Ok(())
                })?;
            }
        }
        self.out.write_all(b"\n")
    }

    fn at(
        &mut self,
        place: Option<EventPosition>,
        write: &mut dyn FnMut(&super::read::PajeEvent<'_>, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(place) = place else {
            return Ok(());
        };
        let Some(definition) = self.definitions.get(place.definition as usize) else {
            return Ok(());
        };
        let mut written = Ok(());
        let out = &mut *self.out;
        let mut use_event = |event: &super::read::PajeEvent<'_>| written = write(event, out);
        let read = self
            .trace
            .event_at(place, definition, &mut self.tokens, &mut use_event);
        read.map_err(|error| io::Error::other(error.to_string()))?;
        written
    }

    /// The columns of containers, and of the other kinds where there are any, in the order in which they are met.
    fn header(&mut self) -> io::Result<()> {
        self.out
            .write_all(b"Container, Parent, Type, Start, End, Duration, Name\n")?;
        let mut seen = [false; 5];
        self.walk(|printer, number, kinds| {
            for &kind in kinds {
                let nature = printer.tables.type_of(kind).kind;
                let lane = printer.lanes.lanes.get(&(number, kind));
                let Some(lane) = lane.filter(|lane| !lane.items.is_empty()) else {
                    continue;
                };
                if std::mem::replace(&mut seen[nature as usize], true) {
                    continue;
                }
                let columns = match nature {
                    EntityKind::Container => continue,
                    EntityKind::State => "Type, Start, End, Duration, Imbrication, Value",
                    EntityKind::Event => "Variable, Value, Start, Value",
                    EntityKind::Variable => "Type, Start, End, Duration, Value",
                    EntityKind::Link => {
                        "Type, Start, End, Duration, Value, StartContainer, EndContainer"
                    }
                };
                write!(printer.out, "{}, Container, {columns}", nature.name())?;
                if printer.options.user_defined {
                    for place in lane.places.first().into_iter().flatten().flatten() {
                        let definition = printer.definitions.get(place.definition as usize);
                        let fields = definition.into_iter().flat_map(|found| found.user_fields());
                        for (_, field) in fields {
                            printer.out.write_all(b", ")?;
                            printer.out.write_all(&field.name)?;
                        }
                    }
                }
                printer.out.write_all(b"\n")?;
            }
            Ok(())
        })
    }
}
