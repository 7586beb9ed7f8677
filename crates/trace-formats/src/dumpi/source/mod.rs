//! A DUMPI run as a source of drawables: every call a state on the line of its thread, those on a communicator on that of their communicator,
//! every message an arrow, regions of the program (Function_enter, Function_exit) states around them.
//!
//! Arrows need to know who is who in each communicator. Those made by MPI_Comm_dup, split and create, by Cartesian and
//! graph topologies without reordering, and from two others are followed, in runs of which all files are there; messages
//! on others are counted as lost.

mod collective;
mod counters;
mod hidden_calls;
pub(super) mod info;
mod messages;
mod not_matched;
mod on_communicators;
mod rank;
mod request_numbers;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

use super::clock::{RecordAxis, RecordTicker};
use super::communicators::{
    CommCreation, Communicators, HandleNames, ReorderedTopologies, is_creation,
};
use super::error::DumpiError;
use super::functions::{self, FUNCTION_ENTER, FUNCTION_EXIT, INIT, INIT_THREAD};
use super::read::DumpiReader;
use super::types::{ANNOTATION, CLOCK_KEY, CLOCK_OF_ZERO, Mask};
use super::value::FieldValue;
use crate::clog2::states::{CallIdDisplay, FunctionStates};
use info::{CallFacts, Shown};
use messages::{MatchedMessage, MessagesUnderWay, RankFacts};
use not_matched::NotMatched;
use on_communicators::{CommUses, CommunicatorFunctions, RankLines};
use rank::{NextCall, RankWalk};
use trace_model::{
    Category, Color, Definitions, Drawable, InfoWriter, Line, Losses, Stop, Topology, Vertex,
};

/// The files of a run.
#[derive(Debug)]
pub struct DumpiSource<'a> {
    files: Vec<RankFile<'a>>,
    definitions: Definitions,
    axis: RecordAxis,
    comms: Communicators,
    /// By number of the function what is shown of its calls.
    shown: Vec<Shown>,
    /// Functions that ranks call together.
    on_communicators: CommunicatorFunctions,
    /// Categories of regions by file and key.
    regions: Vec<HashMap<u64, i32>>,
    /// Time zero after [`RankFile::shift`], ns.
    zero: i64,
    losses: Losses,
}

/// The file of a rank, and what a first pass found in it.
#[derive(Debug)]
struct RankFile<'a> {
    rank: u32,
    reader: DumpiReader<'a>,
    lines: RankLines,
    /// By counter of the run, its place among those of the file; `None` if the file does not have it.
    counters: Vec<Option<usize>>,
    /// Added to its times, ns.
    shift: i64,
    /// Whether calls are missing that messages hang on.
    lacks_messages: bool,
}

/// Index of MPI_COMM_WORLD.
const WORLD: u32 = 0;

/// Category of messages, that of function 0 and that of the first region.
const MESSAGE: i32 = 0;
const FIRST_FUNCTION: i32 = 1;
const FIRST_REGION: i32 = FIRST_FUNCTION + 1000;
/// Category of what is to be said of a rank.
const REMARK: i32 = FIRST_REGION - 1;

impl<'a> DumpiSource<'a> {
    /// Makes a source of the `.bin` files of a run, each with its rank. `size` is the number of ranks of the run, of which files may be
    /// missing. All records are read once, for the definitions and the communicators.
    ///
    /// # Errors
    /// One of the files is damaged: its number in the list, and how. Files that were never completed are taken as far as
    /// they go.
    pub fn new(size: u32, files: &[(u32, &'a [u8])]) -> Result<Self, (usize, DumpiError)> {
        let mut opened = Vec::new();
        let mut surveys = Vec::new();
        let mut losses = Losses::default();
        let on_communicators = CommunicatorFunctions::new();
        for (nth, &(rank, bytes)) in files.iter().enumerate() {
            let reader = match DumpiReader::open(bytes) {
                Ok(reader) => reader,
                Err(error) => {
                    let Ok(reader) = DumpiReader::salvage(bytes) else {
                        return Err((nth, error));
                    };
                    losses.add("file that was not completed, taken as far as it goes", 1);
                    reader
                }
            };
            let survey = FileSurvey::of(&reader, &on_communicators);
            surveys.push(survey.map_err(|error| (nth, error))?);
            opened.push((rank, reader));
        }
        let size = files
            .iter()
            .map(|(rank, _)| rank.saturating_add(1))
            .fold(size, u32::max);
        losses.add(
            "rank without a file",
            u64::from(size) - files.len().min(size as usize) as u64,
        );
        Ok(DumpiSource::of(
            size,
            opened,
            surveys,
            on_communicators,
            losses,
        ))
    }

    fn of(
        size: u32,
        opened: Vec<(u32, DumpiReader<'a>)>,
        mut surveys: Vec<FileSurvey>,
        on_communicators: CommunicatorFunctions,
        mut losses: Losses,
    ) -> Self {
        let any = |bit: u8| surveys.iter().any(|survey| survey.masks & bit != 0);
        let axis = if any(Mask::WALL) {
            RecordAxis::Wall
        } else if any(Mask::CPU) {
            losses.add(
                "trace without wall times, drawn by the processes' cpu times",
                1,
            );
            RecordAxis::Cpu
        } else {
            losses.add("trace without times, drawn with a second for each call", 1);
            RecordAxis::Count
        };
        let creations: Vec<(u32, Vec<CommCreation>)> = opened
            .iter()
            .zip(&mut surveys)
            .map(|((rank, _), survey)| (*rank, std::mem::take(&mut survey.creations)))
            .collect();
        let comms = Communicators::new(size, &creations, ReorderedTopologies::Unknown);
        let mut definitions = Definitions::default();
        let mut files = Vec::new();
        for ((rank, reader), survey) in opened.into_iter().zip(&surveys) {
            let host = reader.header().map(|header| header.hostname.as_slice());
            let host = host.map(|host| String::from_utf8_lossy(host).into_owned());
            let mut lines = RankLines::default();
            for &thread in &survey.threads {
                let id = i32::try_from(definitions.lines.len()).unwrap_or(i32::MAX);
                lines.threads.insert(thread, id);
                definitions.lines.push(Line {
                    host: host.clone().filter(|host| !host.is_empty()),
                    ..Line::of_thread(id, rank as i32, thread.into())
                });
            }
            if definitions.program.is_empty() {
                definitions.program = survey.program.clone();
            }
            files.push(RankFile {
                lacks_messages: reader.lacks_messages(),
                rank,
                reader,
                lines,
                counters: Vec::new(),
                shift: 0,
            });
        }
        let places = || files.iter().zip(&surveys).enumerate();
        let indices = places().flat_map(|(place, (file, survey))| {
            survey.communicators.indices(&comms, place, file.rank)
        });
        let used: HashSet<u32> = indices.collect();
        for (place, (file, survey)) in files.iter_mut().zip(&surveys).enumerate() {
            let (uses, lines) = (&survey.communicators, &mut definitions.lines);
            (file.lines).add_comms(uses, &used, (&comms, place, file.rank), lines);
        }
        let zero = align(&mut files, &surveys, axis, &mut losses);
        let labels = files
            .iter()
            .map(|file| file.reader.perf_labels().ok().flatten());
        let (labels, counters) = counters::by_name(labels);
        for (file, counters) in files.iter_mut().zip(counters) {
            file.counters = counters;
        }
        let all = functions::all().iter();
        let shown: Vec<Shown> = all.map(|function| Shown::new(function, &labels)).collect();
        let mut source = DumpiSource {
            files,
            definitions,
            axis,
            comms,
            shown,
            on_communicators,
            regions: Vec::new(),
            zero,
            losses,
        };
        source.define(&surveys);
        source
    }

    /// Categories of messages, of the functions that were called, of regions.
    fn define(&mut self, surveys: &[FileSurvey]) {
        let mut functions = BTreeSet::new();
        for survey in surveys {
            functions.extend(&survey.functions);
        }
        // Only a build with a damaged table of functions has none; names alone do then.
        let table = wrappers::table().ok();
        let states = table.map(|table| {
            let behind = table.functions.len() as u16;
            FunctionStates::new(table, CallIdDisplay::None, behind..behind, &BTreeMap::new())
        });
        let known = |name: &str| table.and_then(|table| table.get(name));
        let color = |name: &str| {
            let named = known(name).and_then(|function| Color::from_name(&function.color));
            named.unwrap_or(Color::WHITE)
        };
        let categories = &mut self.definitions.categories;
        let largest = surveys.iter().map(|survey| survey.largest_message).max();
        categories.push(Category::messages_up_to(largest.unwrap_or(0)));
        if self.files.iter().any(|file| file.lacks_messages) {
            let (name, gold) = (
                "annotation".into(),
                Color::from_name("gold").unwrap_or(Color::WHITE),
            );
            let mut category = Category::new(REMARK, name, Topology::Event, gold);
            category.set_info_format(b"%s");
            categories.push(category);
        }
        for &id in &functions {
            let (Some(function), Some(shown)) =
                (functions::by_id(id), self.shown.get(usize::from(id)))
            else {
                continue;
            };
            if id == FUNCTION_ENTER || id == FUNCTION_EXIT {
                continue;
            }
            let index = FIRST_FUNCTION + i32::from(id);
            let (name, topology) = (function.name, Topology::State);
            let mut category = Category::new(index, name.into(), topology, color(name));
            category.set_info_format(shown.format.as_bytes());
            categories.push(category);
            let state = known(name).zip(states.as_ref());
            let state = state.and_then(|(function, states)| states.get(function.id as u16));
            if let Some(state) = state {
                let etypes = (state.start(), state.end());
                self.definitions.etypes.insert(index, etypes);
            }
        }
        let mut by_name: HashMap<Vec<u8>, i32> = HashMap::new();
        for (file, survey) in self.files.iter().zip(surveys) {
            let labels = file
                .reader
                .address_labels()
                .ok()
                .flatten()
                .unwrap_or_default();
            let mut labels: HashMap<u64, Vec<u8>> = labels
                .into_iter()
                .rev()
                .map(|label| (label.key, label.label))
                .collect();
            let mut regions = HashMap::new();
            for &key in &survey.keys {
                let label = labels
                    .remove(&key)
                    .unwrap_or_else(|| format!("{key:#x}").into_bytes());
                let name = label
                    .strip_prefix(ANNOTATION.as_bytes())
                    .unwrap_or(&label)
                    .to_vec();
                let next = FIRST_REGION.saturating_add(by_name.len() as i32);
                let index = *by_name.entry(name.clone()).or_insert_with(|| {
                    let color = color(&String::from_utf8_lossy(&name));
                    let name = trace_model::Text(name);
                    categories.push(Category::new(next, name, Topology::State, color));
                    next
                });
                regions.insert(key, index);
            }
            self.regions.push(regions);
        }
    }

    /// What bears on messages, by rank.
    fn facts(&self) -> HashMap<u32, RankFacts> {
        let is_wall = self.axis == RecordAxis::Wall;
        let calls = |keys: Option<&HashMap<u64, i32>>, functions: &[&str]| {
            let is_one = |&category: &i32| {
                let category = self.definitions.category(category);
                category.is_some_and(|category| functions.contains(&&*category.name.to_str()))
            };
            keys.is_some_and(|keys| keys.values().any(is_one))
        };
        let facts = self.files.iter().enumerate().map(|(place, file)| {
            let host = file.reader.header().map(|header| &header.hostname);
            let keys = self.regions.get(place);
            let facts = RankFacts {
                clock: host.filter(|host| is_wall && !host.is_empty()).cloned(),
                receives_unseen: calls(keys, &RECEIVES_UNSEEN),
                sends_unseen: calls(keys, &SENDS_UNSEEN),
            };
            (file.rank, facts)
        });
        facts.collect()
    }

    /// Seconds on the axis of the whole trace.
    fn seconds(&self, ns: i64) -> f64 {
        ns.saturating_sub(self.zero) as f64 / 1e9
    }

    fn draw_arrow(
        &self,
        arrow: &MatchedMessage,
        info: &mut InfoWriter,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        // The size of types that were never committed is not known to the sender.
        let bytes = match arrow.send.bytes {
            0 => arrow.receive.bytes,
            bytes => bytes,
        };
        let messages = self.definitions.categories.first();
        let bytes = u64::try_from(bytes).unwrap_or(0);
        let info = messages.map_or(&[][..], |messages| {
            info.message(messages, arrow.tag, bytes).bytes()
        });
        let vertices = [arrow.send, arrow.receive].map(|end| Vertex {
            time: self.seconds(end.ns),
            line: end.line,
        });
        put(&Drawable {
            topology: Topology::Arrow,
            category: MESSAGE,
            info,
            vertices: &vertices,
        })
    }

    fn draw_state(
        &self,
        category: i32,
        (start, stop): (i64, i64),
        line: i32,
        info: &[u8],
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let vertices = [start, stop].map(|ns| Vertex {
            time: self.seconds(ns),
            line,
        });
        put(&Drawable {
            topology: Topology::State,
            category,
            info,
            vertices: &vertices,
        })
    }

    /// Draws a call or notes a region's begin.
    fn draw_call(
        &self,
        walk: &mut RankWalk<'a>,
        next: &NextCall<'a>,
        args: &[FieldValue<'a>; functions::MAX_FIELDS],
        info: &mut InfoWriter,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<bool, Stop> {
        let file = &self.files[walk.place];
        let record = &next.record;
        let line = file.lines.line(record.thread, WORLD);
        let (start, stop) = (next.start + file.shift, next.stop + file.shift);
        let id = record.function.id;
        if id != FUNCTION_ENTER && id != FUNCTION_EXIT {
            let Some(shown) = self.shown.get(usize::from(id)) else {
                return Ok(true);
            };
            let requests = &mut walk.numbers;
            requests.take(id, args, next.by);
            let place_of =
                |name| on_communicators::place_of(&self.comms, walk.place, file.rank, name);
            let comm = self.on_communicators.communicator(id, args);
            let of = comm.map(|number| place_of(walk.names.comm(number)));
            let made = info::tells_made(id).then(|| place_of(walk.names.next()));
            let made = made.filter(|made| made.rank.is_some());
            let facts = CallFacts {
                requests,
                sizes: &walk.sizes,
                counters: &file.counters,
                own_rank: of.and_then(|of| of.rank),
                made: [
                    made.map(|made| made.number),
                    made.and_then(|made| made.remote),
                ],
            };
            shown.write(record, args, &facts, info);
            let category = FIRST_FUNCTION + i32::from(id);
            let line = of.map_or(line, |of| file.lines.line(record.thread, of.index));
            self.draw_state(category, (start, stop), line, info.bytes(), put)?;
            return Ok(true);
        }
        let FieldValue::U64(key) = args[0] else {
            return Ok(true);
        };
        let open = walk.open.entry(record.thread).or_default();
        if id == FUNCTION_ENTER {
            open.push((key, start));
            return Ok(true);
        }
        let Some(at) = open.iter().rposition(|(open, _)| *open == key) else {
            return Ok(false);
        };
        let (_, begun) = open.remove(at);
        let Some(&category) = self.regions.get(walk.place).and_then(|keys| keys.get(&key)) else {
            return Ok(true);
        };
        self.draw_state(category, (begun, stop), line, &[], put)?;
        Ok(true)
    }
}

/// Functions that receive messages and of whose calls DUMPI holds nothing but when they were.
pub(super) const RECEIVES_UNSEEN: [&str; 4] = [
    "MPI_Mrecv",
    "MPI_Imrecv",
    "MPI_Isendrecv",
    "MPI_Isendrecv_replace",
];

/// Functions that send messages and of whose calls DUMPI holds nothing but when they were.
const SENDS_UNSEEN: [&str; 2] = ["MPI_Isendrecv", "MPI_Isendrecv_replace"];

impl trace_model::Source for DumpiSource<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut losses = self.losses.clone();
        let mut messages = MessagesUnderWay::new(self.facts());
        let mut not_matched = NotMatched::new(self.files.iter().flat_map(|file| {
            let lines = file.lines.all();
            lines.map(|line| (line, file.lacks_messages))
        }));
        let mut info = InfoWriter::default();
        // All ranks go on together, so that few messages are under way at a time.
        let mut heap = BinaryHeap::new();
        let mut walks = Vec::with_capacity(self.files.len());
        for (place, file) in self.files.iter().enumerate() {
            let walk = RankWalk::new(file.rank, place, &file.reader, self.axis);
            if let Some(next) = &walk.next {
                heap.push(Reverse((next.stop.saturating_add(file.shift), place)));
            }
            walks.push(walk);
        }
        while let Some(Reverse((_, place))) = heap.pop() {
            let (walk, file) = (&mut walks[place], &self.files[place]);
            let Some(next) = walk.next else {
                continue;
            };
            let args = next.record.arg_array();
            if !self.draw_call(walk, &next, &args, &mut info, put)? {
                losses.add("end of a region without a start", 1);
            }
            let lines = (file.shift, &file.lines);
            walk.take(&next, &args, lines, &self.comms, &mut messages);
            for arrow in messages.arrows.drain(..) {
                if !not_matched.leaves_out(&arrow) {
                    self.draw_arrow(&arrow, &mut info, put)?;
                }
            }
            walk.advance();
            if let Some(next) = &walk.next {
                heap.push(Reverse((next.stop.saturating_add(file.shift), place)));
            }
        }
        messages.finish();
        for arrow in std::mem::take(&mut messages.arrows) {
            if !not_matched.leaves_out(&arrow) {
                self.draw_arrow(&arrow, &mut info, put)?;
            }
        }
        messages.losses(&mut losses);
        messages.left().for_each(|end| not_matched.take(end));
        for (end, text) in not_matched.remarks(&mut losses) {
            put(&Drawable {
                topology: Topology::Event,
                category: REMARK,
                info: info.clear().text(text.as_bytes()).bytes(),
                vertices: &[Vertex {
                    time: self.seconds(end.ns),
                    line: end.line,
                }],
            })?;
        }
        for walk in &walks {
            walk.losses(&mut losses);
            let open = walk.open.values().map(|open| open.len() as u64).sum();
            losses.add("call or region without an end", open);
        }
        Ok(losses)
    }
}

/// Findings of the first pass over a file.
#[derive(Debug, Default)]
struct FileSurvey {
    masks: u8,
    threads: BTreeSet<u16>,
    functions: BTreeSet<u16>,
    keys: BTreeSet<u64>,
    creations: Vec<CommCreation>,
    communicators: CommUses,
    program: String,
    /// By axis wall and cpu: the earliest start, and the end of MPI_Init, ns.
    earliest: [Option<i64>; 2],
    init: Option<i64>,
    /// Bytes of the largest buffer of a message.
    largest_message: u64,
}

impl FileSurvey {
    fn of(
        reader: &DumpiReader<'_>,
        on_communicators: &CommunicatorFunctions,
    ) -> Result<Self, DumpiError> {
        let mut survey = FileSurvey::default();
        let mut names = HandleNames::default();
        let mut tickers = [
            RecordTicker::new(RecordAxis::Wall),
            RecordTicker::new(RecordAxis::Cpu),
        ];
        let mut last_thread = None;
        let mut last_function = None;
        let sizes = reader.type_sizes().ok().flatten().unwrap_or_default();
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                // Of a file that was not completed this is the end.
                Err(_) if !reader.is_complete() => break,
                Err(error) => return Err(error),
            };
            survey.masks |= record.mask.0;
            if last_thread != Some(record.thread) {
                last_thread = Some(record.thread);
                survey.threads.insert(record.thread);
            }
            let id = record.function.id;
            if last_function != Some(id) {
                last_function = Some(id);
                survey.functions.insert(id);
            }
            let bits = [Mask::WALL, Mask::CPU];
            for (nth, (ticker, bit)) in tickers.iter_mut().zip(bits).enumerate() {
                if record.mask.has(bit) {
                    let (start, stop) = ticker.times(&record);
                    let earliest = &mut survey.earliest[nth];
                    *earliest = Some(earliest.map_or(start, |earliest| earliest.min(start)));
                    if bit == Mask::WALL && (id == INIT || id == INIT_THREAD) {
                        survey.init.get_or_insert(stop);
                    }
                }
            }
            let mut comm = None;
            if on_communicators.has(id) {
                comm = on_communicators.communicator(id, &record.arg_array());
            }
            let comm = comm.map(|number| names.comm(number));
            if let Some(name) = comm {
                survey.communicators.on(record.thread, name);
            }
            survey.communicators.requests(id, &record, comm);
            if info::has_message_buffer(id) {
                let largest = info::message_bytes(id, &record.arg_array(), &sizes);
                survey.largest_message = survey.largest_message.max(largest);
            }
            if is_creation(id) {
                let made = names.take(&record);
                if made.is_some() {
                    survey.communicators.made(record.thread);
                }
                survey.creations.extend(made);
            } else if id == INIT || id == INIT_THREAD {
                let argv = record.arg_array()[0];
                if let FieldValue::Strs(argv) = argv
                    && let Some(program) = argv.iter().next()
                {
                    survey.program = String::from_utf8_lossy(program).into_owned();
                }
            } else if id == FUNCTION_ENTER
                && let FieldValue::U64(key) = record.arg_array()[0]
            {
                survey.keys.insert(key);
            }
        }
        Ok(survey)
    }
}

/// Whether times are on the clock of rank 0's host.
fn is_corrected(file: &RankFile<'_>) -> bool {
    file.reader.has_pair(CLOCK_KEY, CLOCK_OF_ZERO)
}

/// Puts the clocks of all hosts beside each other and gives the earliest time, ns.
///
/// The wall clock of the format is that of each host since its start, unless a file says that it is rank 0's. For others, ranks leave
/// MPI_Init at nearly the same time, which is all there is to go by.
fn align(
    files: &mut [RankFile<'_>],
    surveys: &[FileSurvey],
    axis: RecordAxis,
    losses: &mut Losses,
) -> i64 {
    let nth = match axis {
        RecordAxis::Wall => 0,
        RecordAxis::Cpu => 1,
        RecordAxis::Count => return 0,
    };
    if axis == RecordAxis::Wall {
        let mut inits: HashMap<Vec<u8>, i64> = HashMap::new();
        let host = |file: &RankFile<'_>| {
            let header = file.reader.header();
            header.map_or(Vec::new(), |header| header.hostname.clone())
        };
        for (file, survey) in files.iter().zip(surveys) {
            if let Some(init) = survey.init.filter(|_| !is_corrected(file)) {
                let last = inits.entry(host(file)).or_insert(init);
                *last = (*last).max(init);
            }
        }
        if inits.len() > 1
            && let Some(reference) = files
                .first()
                .and_then(|file| inits.get(&host(file)).copied())
        {
            for file in files.iter_mut().filter(|file| !is_corrected(file)) {
                let init = inits.get(&host(file)).copied().unwrap_or(reference);
                file.shift = reference - init;
            }
            let what = "host whose clock is put to the others' by the end of MPI_Init alone";
            losses.add(what, inits.len() as u64 - 1);
        }
    }
    let starts = files
        .iter()
        .zip(surveys)
        .filter_map(|(file, survey)| Some(survey.earliest[nth]?.saturating_add(file.shift)));
    starts.min().unwrap_or(0)
}
