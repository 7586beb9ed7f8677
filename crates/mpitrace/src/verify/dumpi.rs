//! The calls of a run as its DUMPI files have them.

use crate::failure::Failure;
use crate::trace_files::dumpi_run::{is_call, rank_of};
use crate::trace_files::trace::TraceInput;
use analysis::correctness::{
    AskedMessage, CALLED_ABORT, Call, CallPlace, Check, CommKey, CompletedOperation,
    CorrectnessPass, CorrectnessReport, ObjectKind, OutsideCalls, Peer, ProcessState,
    ReceivedStatus, end_in_words, lines_of_ends,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::sync::Arc;
use trace_formats::clog2::annotations::NO_FINALIZE;
use trace_formats::dumpi::clock::{RecordAxis, RecordTicker};
use trace_formats::dumpi::communicators::{
    CommCreation, CommName, Communicators, HandleNames, ReorderedTopologies, is_creation,
};
use trace_formats::dumpi::completed::completed;
use trace_formats::dumpi::functions::{
    FUNCTION_ENTER, FUNCTION_EXIT, FieldCode, FieldMoment, FieldShape, by_id,
};
use trace_formats::dumpi::names;
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::{ANNOTATION, DumpiRecord};
use trace_formats::dumpi::value::{DumpiStatus, FieldValue};
use trace_formats::dumpi::{DumpiError, DumpiRecords};
use wrappers::{Class, Function, Table};

/// Wildcard of sources and tags.
const ANY: i32 = -1;

/// Checks a run.
pub fn check(trace: &TraceInput, table: &Table) -> Result<CorrectnessReport, Failure> {
    let mut files = Vec::new();
    for (path, input) in &trace.files {
        let failed = |error: DumpiError| Failure::in_file(error, path);
        let reader = match DumpiReader::open(input) {
            Ok(reader) => reader,
            Err(error) => DumpiReader::salvage(input).map_err(|_| failed(error))?,
        };
        let rank = rank_of(path).unwrap_or(files.len() as u32);
        let survey = FileSurvey::of(&reader).map_err(failed)?;
        files.push((rank, reader, survey));
    }
    files.sort_by_key(|(rank, ..)| *rank);
    let last = files.last().map_or(0, |(rank, ..)| rank + 1);
    let size = trace.processes.max(last);
    let mut pass = CorrectnessPass::new(size);
    say_what_is_missing(&mut pass, size, &files, table);
    let creations: Vec<(u32, Vec<CommCreation>)> = files
        .iter_mut()
        .map(|(rank, _, survey)| (*rank, std::mem::take(&mut survey.creations)))
        .collect();
    let comms = Communicators::new(size, &creations, ReorderedTopologies::Unknown);
    let first = files.iter().filter_map(|(.., survey)| survey.first).min();
    let mut run = RunComms {
        comms,
        size,
        keys: HashMap::new(),
        unknown: 0,
    };
    let mut walks: Vec<RankWalk<'_>> = files
        .iter()
        .enumerate()
        .map(|(place, (rank, reader, _))| RankWalk {
            rank: *rank,
            place,
            records: reader.records(),
            sizes: reader.type_sizes().ok().flatten().unwrap_or_default(),
            names: HandleNames::default(),
            made: 0,
            zero: first.unwrap_or(0),
            ticker: RecordTicker::new(RecordAxis::Wall),
            state: ProcessState::new(*rank),
        })
        .collect();
    let mut next: BinaryHeap<Reverse<(i64, usize)>> = (0..walks.len())
        .map(|nth| Reverse((i64::MIN, nth)))
        .collect();
    while let Some(Reverse((_, nth))) = next.pop() {
        if let Some(time) = walks[nth].step(&mut run, table, &mut pass) {
            next.push(Reverse((time, nth)));
        }
    }
    if run.unknown > 0 {
        pass.note_unchecked(format!(
            "{} calls on communicators that DUMPI does not let follow",
            run.unknown
        ));
    }
    for walk in &walks {
        let outside = match walk.state.has_finalized {
            true => OutsideCalls::Finalized,
            false => OutsideCalls::Computes,
        };
        pass.end_outside(walk.rank, outside);
        pass.end_process(&walk.state);
    }
    let mut ends: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (rank, _, survey) in &files {
        if let Some(end) = survey.end() {
            ends.entry(end).or_default().push(*rank);
        }
    }
    let mut report = pass.finish();
    report.ends = lines_of_ends(ends);
    Ok(report)
}

/// What a first pass over a file finds.
#[derive(Default)]
struct FileSurvey {
    creations: Vec<CommCreation>,
    /// Start of the first call, ns.
    first: Option<i64>,
    /// MPI functions that DUMPI has no records for.
    without_record: BTreeSet<String>,
    /// Whether the recorder says that the rank did not come to MPI_Finalize.
    is_marked_unfinished: bool,
    calls_abort: bool,
    /// Calls that have not ended: thread, and function.
    open: Vec<(u16, String)>,
}

impl FileSurvey {
    fn of(reader: &DumpiReader<'_>) -> Result<FileSurvey, DumpiError> {
        let mut survey = FileSurvey::default();
        let mut names = HandleNames::default();
        let labels = reader.address_labels().ok().flatten().unwrap_or_default();
        let labels: HashMap<u64, String> = labels
            .iter()
            .map(|label| {
                (
                    label.key,
                    String::from_utf8_lossy(&label.label).into_owned(),
                )
            })
            .collect();
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(_) if !reader.is_complete() => break,
                Err(error) => return Err(error),
            };
            let id = record.function.id;
            if id == FUNCTION_ENTER || id == FUNCTION_EXIT {
                if let FieldValue::U64(key) = record.arg_array()[0]
                    && let Some(label) = labels.get(&key)
                {
                    survey.pass_region(label, record.thread, id == FUNCTION_ENTER);
                }
                continue;
            }
            survey.first.get_or_insert(record.wall.start.ns());
            survey.calls_abort |= record.function.name == "MPI_Abort";
            if is_creation(id) {
                survey.creations.extend(names.take(&record));
            }
        }
        if !survey.is_marked_unfinished {
            let open = survey.open.drain(..).map(|(_, function)| function);
            survey.without_record.extend(open);
        }
        Ok(survey)
    }

    /// A thread begins what stands in the file by this label, or ends it.
    fn pass_region(&mut self, label: &str, thread: u16, begins: bool) {
        if label.strip_prefix(ANNOTATION) == Some(NO_FINALIZE) {
            self.is_marked_unfinished = true;
            return;
        }
        if !is_call(label) {
            return;
        }
        if begins {
            self.open.push((thread, label.to_owned()));
            return;
        }
        let is_it = |open: &(u16, String)| open.0 == thread && open.1 == label;
        if let Some(at) = self.open.iter().rposition(is_it) {
            self.open.remove(at);
        }
        self.without_record.insert(label.to_owned());
    }

    /// What the rank of the file ended in, in words; `None` if the file does not say that it did not come to MPI_Finalize.
    fn end(&self) -> Option<String> {
        let functions: Vec<&str> = self.open.iter().map(|open| open.1.as_str()).collect();
        self.is_marked_unfinished.then(|| match self.calls_abort {
            true => CALLED_ABORT.to_owned(),
            false => end_in_words(&functions),
        })
    }
}

/// Says which checks cannot be made of these files.
fn say_what_is_missing(
    pass: &mut CorrectnessPass,
    size: u32,
    files: &[(u32, DumpiReader<'_>, FileSurvey)],
    table: &Table,
) {
    let why = "DUMPI does not hold it; block files do";
    pass.leave_out(Check::Failures, why);
    pass.leave_out(Check::Deadlock, why);
    pass.note_unchecked(
        "messages that are too large, and sizes of MPI_Gather and other collective calls with data of each rank: DUMPI does not hold it; block files do"
            .to_owned(),
    );
    if files.len() < size as usize {
        let why = "there are ranks without a .bin file";
        pass.leave_out(Check::Collectives, why);
        pass.leave_out(Check::Messages, why);
    }
    let footers: Vec<_> = files
        .iter()
        .map(|(_, reader, _)| reader.footer().ok().flatten())
        .collect();
    if footers.iter().any(Option::is_none) {
        pass.leave_out_many("a file was not completed");
    }
    if files.iter().any(|(_, reader, _)| reader.lacks_messages()) {
        let why = "calls that messages hang on were left out or given up";
        pass.leave_out(Check::Messages, why);
    }
    let mut ignored: BTreeSet<usize> = BTreeSet::new();
    for footer in footers.iter().flatten() {
        // The last entry is the sum of the others.
        let [by_function @ .., _] = &*footer.ignored;
        let counts = by_function.iter().enumerate();
        ignored.extend(counts.filter_map(|(id, &count)| (count > 0).then_some(id)));
    }
    for id in ignored {
        let known = u16::try_from(id).ok().and_then(by_id);
        let Some(function) = known.and_then(|known| table.get(known.name)) else {
            pass.leave_out_many("calls of a function that is not known were counted only");
            continue;
        };
        // Of polls, some are left out always.
        if function.vain().is_none() {
            pass.leave_out_for(function);
        }
    }
    let without: BTreeSet<&str> = files
        .iter()
        .flat_map(|(.., survey)| survey.without_record.iter().map(String::as_str))
        .collect();
    if without.is_empty() {
        return;
    }
    let known = |name: &&str| table.get(name);
    let functions: Vec<&Function> = without.iter().filter_map(known).collect();
    let names: Vec<&str> = without.iter().copied().take(8).collect();
    let more = if without.len() > 8 { " and others" } else { "" };
    pass.note_unchecked(format!(
        "calls of {}{more}, whose arguments DUMPI does not hold",
        names.join(", ")
    ));
    let moves = |function: &&Function| function.moves_messages();
    if functions.iter().any(&moves) {
        pass.leave_out(
            Check::Messages,
            "DUMPI does not hold the arguments of all calls that move messages",
        );
    }
    let why = "DUMPI does not hold the arguments of all calls that make or free them";
    for function in functions {
        pass.leave_out_objects(function, why);
    }
}

/// The communicators of the run.
struct RunComms {
    comms: Communicators,
    size: u32,
    keys: HashMap<u32, Option<CommKey>>,
    /// Calls on communicators that are not known.
    unknown: u64,
}

impl RunComms {
    /// The communicator that a rank names so; `None` for one that is not known, and for intercommunicators.
    fn key(
        &mut self,
        place: usize,
        rank: u32,
        name: CommName,
        pass: &mut CorrectnessPass,
    ) -> Option<CommKey> {
        let found = self.comms.index(place, name);
        let key = found.and_then(|index| {
            if let Some(&known) = self.keys.get(&index) {
                return known;
            }
            let key = self.comms.size_and_rank(index, rank).map(|(size, _)| {
                let member = |nth: u32| {
                    let world = self.comms.world_rank(index, rank, nth as i32);
                    world.map_or(-1, |world| world as i32)
                };
                let members: Arc<[i32]> = (0..size.min(self.size)).map(member).collect();
                let name = match name {
                    CommName::World => "MPI_COMM_WORLD".to_owned(),
                    CommName::SelfComm => "MPI_COMM_SELF".to_owned(),
                    _ => format!("communicator {index} of {size} ranks"),
                };
                pass.define_comm(name, members.clone(), members, None)
            });
            self.keys.insert(index, key);
            key
        });
        self.unknown += u64::from(key.is_none());
        key
    }
}

/// A rank on its way through its records.
struct RankWalk<'a> {
    rank: u32,
    place: usize,
    records: DumpiRecords<'a>,
    sizes: Vec<i32>,
    names: HandleNames,
    made: u32,
    /// Start of the run, ns.
    zero: i64,
    ticker: RecordTicker,
    state: ProcessState,
}

impl RankWalk<'_> {
    /// Takes the next record. Gives its time in ns; `None` at the end.
    fn step(
        &mut self,
        run: &mut RunComms,
        table: &Table,
        pass: &mut CorrectnessPass,
    ) -> Option<i64> {
        let record = self.records.next()?.ok()?;
        let (begin, time) = self.ticker.times(&record);
        let begin = begin - self.zero;
        if let Some(function) = table.get(record.function.name) {
            let place = CallPlace {
                rank: self.rank,
                thread: record.thread.into(),
                function: pass.function(record.function.name),
                start: begin as f64 / 1e9,
            };
            let fields = Fields(&record);
            let comm = fields.int("comm").or_else(|| fields.first(FieldCode::Comm));
            let comm = comm.map(|number| self.names.comm(number));
            let key = comm.and_then(|name| run.key(self.place, self.rank, name, pass));
            let mut call = self.call(place, function, &fields, key, pass);
            call.end = (time - self.zero) as f64 / 1e9;
            self.state.take(&call, pass);
        }
        if is_creation(record.function.id) {
            let made = self.names.take(&record);
            self.made += u32::from(made.is_some());
        }
        Some(time)
    }

    fn call<'t>(
        &self,
        place: CallPlace,
        function: &'t Function,
        fields: &Fields<'_>,
        comm: Option<CommKey>,
        pass: &mut CorrectnessPass,
    ) -> Call<'t> {
        let mut call = Call::new(place, function);
        call.code = None;
        call.comm = comm;
        if let Some(comm) = comm {
            self.add_messages(&mut call, fields, comm);
        }
        match function.class {
            Class::Start => call.starts = fields.requests(),
            Class::Complete | Class::Test => call.completes = fields.completed(),
            _ if function.name == "MPI_Cancel" => {
                call.cancels = fields.requests().first().copied();
            }
            _ => {}
        }
        if function.name != "MPI_Comm_get_parent" && function.name != "MPI_File_get_view" {
            for &i in &function.creates {
                let kind = ObjectKind::of(function.params[i].kind);
                call.creates
                    .extend(kind.and_then(|kind| Some((kind, fields.made(kind)?))));
            }
        }
        call.frees = function.frees.and_then(|i| {
            let kind = ObjectKind::of(function.params[i].kind)?;
            let number = fields.first(code_of(kind))?;
            Some((kind, u64::try_from(number).ok()?))
        });
        let on = |kind| {
            let number = fields.first(code_of(kind))?;
            Some((kind, u64::try_from(number).ok()?))
        };
        call.on = on(ObjectKind::File).or_else(|| on(ObjectKind::Window));
        if function.class == Class::Collective {
            call.signature.root = fields.int("root").filter(|&root| root >= 0);
            if let Some(op) = fields.int("op") {
                let name = names::operation(op);
                let name = name.unwrap_or("an operation of the program");
                call.signature.operation = Some(pass.function(name));
            }
            // Where data may be in place, the count may mean nothing.
            let is_significant = fields.int("sendcount").is_none();
            if is_significant && CorrectnessPass::compares_size(function) {
                call.signature.bytes = self.bytes(fields, "count", "datatype");
            }
        }
        call
    }

    fn bytes(&self, fields: &Fields<'_>, count: &str, datatype: &str) -> Option<u64> {
        let count = u64::try_from(fields.int(count)?).ok()?;
        let datatype = usize::try_from(fields.int(datatype)?).ok()?;
        // A size of 0 is not known.
        let size = self.sizes.get(datatype).copied().filter(|&size| size > 0)?;
        count.checked_mul(u64::try_from(size).ok()?)
    }

    fn add_messages(&self, call: &mut Call<'_>, fields: &Fields<'_>, comm: CommKey) {
        let tag = |names: [&str; 2]| {
            let tag = names.iter().find_map(|name| fields.int(name));
            tag.filter(|&tag| tag != ANY)
        };
        let amount = |prefix: &str| {
            self.bytes(fields, &format!("{prefix}count"), &format!("{prefix}type"))
                .or_else(|| self.bytes(fields, "count", "datatype"))
        };
        let moves = matches!(
            call.function.class,
            Class::Send
                | Class::Recv
                | Class::Sendrecv
                | Class::Isend
                | Class::Irecv
                | Class::SendInit
                | Class::RecvInit
        );
        if !moves {
            return;
        }
        if let Some(dest) = fields.int("dest") {
            call.send = Some(AskedMessage {
                comm,
                peer: if dest < 0 {
                    Peer::Nobody
                } else {
                    Peer::Rank(dest)
                },
                tag: tag(["sendtag", "tag"]),
                bytes: amount("send"),
            });
        }
        if let Some(source) = fields.int("source") {
            // MPI_PROC_NULL has the number of the wildcard. The status tells them apart.
            let is_from_nobody = fields.status().is_some_and(|status| status.source == ANY);
            call.receive = Some(AskedMessage {
                comm,
                peer: match source {
                    ANY if is_from_nobody => Peer::Nobody,
                    ANY => Peer::Anybody,
                    0.. => Peer::Rank(source),
                    _ => Peer::Nobody,
                },
                tag: tag(["recvtag", "tag"]),
                bytes: amount("recv"),
            });
            call.status = fields.status();
        }
    }
}

/// Code of fields that hold objects of a kind.
fn code_of(kind: ObjectKind) -> FieldCode {
    match kind {
        ObjectKind::Request => FieldCode::Req,
        ObjectKind::Communicator => FieldCode::Comm,
        ObjectKind::Group => FieldCode::Grp,
        ObjectKind::Datatype => FieldCode::Dt,
        ObjectKind::Window => FieldCode::Win,
        ObjectKind::File => FieldCode::File,
        ObjectKind::Info => FieldCode::Info,
        ObjectKind::Reduction => FieldCode::Op,
        ObjectKind::Keyval => FieldCode::Kv,
        ObjectKind::ErrorHandler => FieldCode::Eh,
    }
}

/// The largest number that stands for a predefined object or none.
fn last_fixed(kind: ObjectKind) -> i32 {
    match kind {
        ObjectKind::Communicator => 3,
        ObjectKind::Group => 2,
        ObjectKind::Request | ObjectKind::ErrorHandler => 1,
        ObjectKind::Keyval => 9,
        // Those that calls make are never predefined.
        ObjectKind::Datatype => 1,
        ObjectKind::Window | ObjectKind::File | ObjectKind::Info | ObjectKind::Reduction => 0,
    }
}

/// The fields of a record.
struct Fields<'a>(&'a DumpiRecord<'a>);

impl<'a> Fields<'a> {
    fn get(&self, name: &str) -> Option<FieldValue<'a>> {
        let found = self.0.args().find(|(field, _)| field.name == name);
        found.map(|(_, value)| value)
    }

    fn int(&self, name: &str) -> Option<i32> {
        match self.get(name)? {
            FieldValue::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The first field of a code.
    fn first(&self, code: FieldCode) -> Option<i32> {
        self.0.args().find_map(|(field, value)| match value {
            FieldValue::Int(number) if field.code == code => Some(number),
            _ => None,
        })
    }

    /// The number of an object that the call has made.
    fn made(&self, kind: ObjectKind) -> Option<u64> {
        let found = self.0.args().find_map(|(field, value)| {
            let is_made = field.code == code_of(kind)
                && field.shape == FieldShape::One
                && field.moment != FieldMoment::Before;
            match value {
                FieldValue::Int(number) if is_made => Some(number),
                _ => None,
            }
        });
        // Numbers have 16 bits in the file.
        found
            .filter(|&number| number > last_fixed(kind))
            .and_then(|number| u64::try_from(number).ok())
    }

    fn requests(&self) -> Vec<u64> {
        let wide = |number: i32| u64::try_from(number).unwrap_or(0);
        match self.get("requests").or_else(|| self.get("request")) {
            Some(FieldValue::Int(number)) => vec![wide(number)],
            Some(FieldValue::Ints(numbers)) => numbers.iter().map(wide).collect(),
            _ => Vec::new(),
        }
    }

    /// The status of a blocking receive.
    fn status(&self) -> Option<ReceivedStatus> {
        match self.get("status")? {
            FieldValue::Statuses(list) => list.iter().next().map(received),
            _ => None,
        }
    }

    /// The operations that a call of MPI_Wait, MPI_Test and their families completes.
    fn completed(&self) -> Vec<CompletedOperation> {
        let done = completed(self.0.function.id, &self.0.arg_array()).into_iter();
        done.map(|(request, status)| CompletedOperation {
            request,
            status: status.map(received),
            worked: true,
        })
        .collect()
    }
}

fn received(status: DumpiStatus) -> ReceivedStatus {
    ReceivedStatus {
        source: status.source,
        // MPI_PROC_NULL and MPI_ANY_TAG, as no message has them.
        is_from_nobody: (status.source, status.tag) == (ANY, ANY),
        tag: status.tag,
        cancelled: status.cancelled != 0,
    }
}
