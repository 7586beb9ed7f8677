//! One call after the other: from a record of the recorder to a record of DUMPI.

use super::constants::{Constants, UNDEFINED, narrow};
use super::encoded::{EncodedCalls, EncodedKey};
use super::extension::{Halves, WrittenKeys};
use super::fields::{FieldAction, FieldStep, RecordPlan, plan};
use super::numbers::{NumberSpace, ProcessNumbers};
use super::options::DumpiOptions;
use super::user_names::UserEventNames;
use blockfile::args::{ArgValue, ArgValues, Array};
use blockfile::define::Definition;
use blockfile::encode::MpiStatus;
use blockfile::layout::Family;
use blockfile::record::Record;
use std::cell::OnceCell;
use std::io::Write;
use std::iter::repeat_n;
use trace_formats::dumpi::functions::ALL_FUNCTIONS;
use trace_formats::dumpi::types::{AddressLabel, DumpiFooter};
use trace_formats::dumpi::value;
use trace_formats::dumpi::write::{DumpiWriteError, DumpiWriter, RecordBuilder, RecordHead};
use trace_model::hash::Map;
use wrappers::Table;

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallOutcome {
    /// A DUMPI record of its own.
    Call,
    /// A pair of pseudo calls.
    Extension,
    /// Nothing, because DUMPI has no record for it and extensions are off.
    LeftOut,
    /// Nothing, because its arguments cannot be read.
    Damaged,
}

impl CallOutcome {
    /// Number of outcomes.
    pub const COUNT: usize = 4;
}

/// All that is known at one point of the stream.
#[derive(Debug)]
pub(super) struct Converter<'t> {
    table: &'t Table,
    family: Family,
    plans: Plans<'t>,
    known: ArgumentContext,
    /// Fields of calls that depend on nothing but `known`.
    encoded: EncodedCalls,
    pub(super) names: WrittenKeys,
    pub(super) user_events: UserEventNames,
    extensions: bool,
    pub(super) tracing: Halves,
    /// Calls by function id: entered, and without a record.
    counts: Vec<(u64, u64)>,
    /// Calls counted and not recorded, by function number; the latest count is the right one.
    ignored: Vec<(u16, u64)>,
    /// Polls between two that are recorded, by function number.
    skipped: Vec<(u16, u64)>,
}

/// Plans of the functions that are called. To work out those of all functions takes as long as some ten thousand calls.
#[derive(Debug)]
struct Plans<'t> {
    table: &'t Table,
    of: Vec<OnceCell<Option<RecordPlan>>>,
}

impl Plans<'_> {
    /// The plan of the function with this number; `None` where DUMPI has no id for it.
    #[inline]
    fn get(&self, number: usize) -> Option<&RecordPlan> {
        let plan = self.of.get(number)?;
        plan.get_or_init(|| plan_of(self.table, number)).as_ref()
    }
}

/// Works out the plan of the function with this number.
#[cold]
fn plan_of(table: &Table, number: usize) -> Option<RecordPlan> {
    plan(table, table.functions.get(number)?)
}

/// What arguments are translated with.
#[derive(Debug)]
struct ArgumentContext {
    handles: ProcessNumbers,
    constants: Constants,
    /// Rank of this process in each communicator, and the number of its (local) members.
    comms: Map<u64, (i32, i32)>,
}

impl<'t> Converter<'t> {
    /// Before the first record.
    pub fn new(table: &'t Table, family: Family, options: &DumpiOptions) -> Converter<'t> {
        Converter {
            table,
            family,
            plans: Plans {
                table,
                of: vec![OnceCell::new(); table.functions.len()],
            },
            encoded: EncodedCalls::new(),
            known: ArgumentContext {
                handles: ProcessNumbers::new(),
                constants: Constants::default(),
                comms: Map::default(),
            },
            names: WrittenKeys::default(),
            user_events: UserEventNames::default(),
            extensions: options.extensions,
            tracing: Halves {
                enter: options.enter,
                exit: options.exit,
            },
            counts: vec![(0, 0); usize::from(ALL_FUNCTIONS)],
            ignored: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Takes in a definition.
    pub fn define(&mut self, definition: &Definition) {
        let known = &mut self.known;
        if let Definition::Comm(_)
        | Definition::Type(_)
        | Definition::Predefined(_)
        | Definition::Constant { .. } = definition
        {
            self.encoded.forget();
        }
        match definition {
            Definition::Comm(c) => {
                known
                    .comms
                    .insert(c.handle, (c.rank, narrow(c.members.len() as i64)));
            }
            Definition::Type(t) => known.handles.define_type(t.handle, t.size),
            Definition::Predefined(p) => known.handles.predefine(&p.name, p.handle),
            Definition::Constant { name, value } => {
                known.constants.define(name, *value);
                // Keyvals are plain integers in mpi.h.
                known.handles.predefine_keyval(name, *value);
            }
            Definition::Function { number, name } => self.names.define(*number, name),
            Definition::UserCategory(category) => self.user_events.define(category),
            Definition::Ignored { function, calls } => {
                self.ignored.retain(|(f, _)| f != function);
                self.ignored.push((*function, *calls));
            }
            Definition::Skipped(skipped) => {
                let before = self.skipped.iter_mut().find(|(f, _)| *f == skipped.function);
                match before {
                    Some((_, calls)) => *calls = calls.saturating_add(skipped.calls),
                    None => self.skipped.push((skipped.function, skipped.calls)),
                }
            }
            Definition::Clock(_)
            | Definition::Sync(_)
            | Definition::Process(_)
            | Definition::Lost { .. }
            // DUMPI knows nothing of what is below MPI.
            | Definition::File(_)
            | Definition::View(_)
            | Definition::Position { .. }
            | Definition::LeftOut { .. }
            | Definition::Server(_)
            | Definition::Extents(_)
            // Calls that it leaves out are none.
            | Definition::Messages { .. }
            | Definition::Module(_)
            | Definition::Counters { .. }
            | Definition::Choice { .. }
            | Definition::Settings(_)
            // Where it stands, it is shown.
            | Definition::Neighbours(_)
            | Definition::Group(_)
            | Definition::Annotation { .. }
            | Definition::ThreadEnd => {}
        }
    }

    /// Writes a call. `counts` are the values of counters, written if the mask of `head` says so. All calls of a stream have
    /// the same bits of statuses in the mask.
    ///
    /// # Errors
    /// If the output fails.
    #[inline]
    pub fn call<W: Write>(
        &mut self,
        writer: &mut DumpiWriter<W>,
        record: &Record<'_>,
        head: &RecordHead,
        counts: &[(i64, i64)],
    ) -> Result<CallOutcome, DumpiWriteError> {
        let key = EncodedKey::new(record.function, record.payload);
        if let Some((id, fields, bytes)) = key.as_ref().and_then(|key| self.encoded.get(key)) {
            if let Some(count) = self.counts.get_mut(usize::from(id)) {
                count.0 += 1;
            }
            writer.encoded_call(id, head, counts, fields, bytes)?;
            return Ok(CallOutcome::Call);
        }
        self.new_call(writer, record, head, counts, key.as_ref())
    }

    /// Writes a call whose fields are to be kept by `key`, if there is one.
    fn new_call<W: Write>(
        &mut self,
        writer: &mut DumpiWriter<W>,
        record: &Record<'_>,
        head: &RecordHead,
        counts: &[(i64, i64)],
        key: Option<&EncodedKey<'_>>,
    ) -> Result<CallOutcome, DumpiWriteError> {
        let number = usize::from(record.function);
        let Some(plan) = self.plans.get(number) else {
            return self.extension(writer, record.function, head, counts);
        };
        let count = &mut self.counts[usize::from(plan.id)];
        count.0 += 1;
        let mut args = ArgValues::none();
        let function = self.table.functions.get(number);
        let is_whole = function.and_then(|f| args.fill(f, self.family, record.payload));
        if is_whole.is_none() {
            count.1 += 1;
            return Ok(CallOutcome::Damaged);
        }
        if !plan.fits(&args) {
            count.1 += 1;
            return self.extension(writer, record.function, head, counts);
        }
        let mut call = writer.call(plan.id, head, counts);
        self.known.fill(plan, &args, &mut call);
        let encoded = &mut self.encoded;
        let written = call.end_with(|fields| {
            if let Some(key) = key {
                encoded.keep(key, plan.id, fields);
            }
        });
        match written {
            Ok(()) => Ok(CallOutcome::Call),
            Err(e @ (DumpiWriteError::Io(_) | DumpiWriteError::File { .. })) => Err(e),
            // Text or an array beyond 4 GB.
            Err(_) => {
                count.1 += 1;
                Ok(CallOutcome::Damaged)
            }
        }
    }

    /// Writes an annotation.
    ///
    /// # Errors
    /// If the output fails.
    pub fn annotation<W: Write>(
        &mut self,
        writer: &mut DumpiWriter<W>,
        key: u64,
        text: &str,
        head: &RecordHead,
    ) -> Result<(), DumpiWriteError> {
        self.names
            .annotation(writer, (key, text), head, self.tracing)
    }

    /// Writes that a function of the program with this address and name is entered or left.
    ///
    /// # Errors
    /// If the output fails.
    pub fn step<W: Write>(
        &mut self,
        writer: &mut DumpiWriter<W>,
        function: (u64, &str),
        enters: bool,
        head: &RecordHead,
    ) -> Result<(), DumpiWriteError> {
        let wanted = match enters {
            true => self.tracing.enter,
            false => self.tracing.exit,
        };
        if wanted {
            self.names.step(writer, function, enters, head)?;
        }
        Ok(())
    }

    fn extension<W: Write>(
        &mut self,
        writer: &mut DumpiWriter<W>,
        number: u16,
        head: &RecordHead,
        counts: &[(i64, i64)],
    ) -> Result<CallOutcome, DumpiWriteError> {
        if !self.extensions {
            return Ok(CallOutcome::LeftOut);
        }
        let both = Halves {
            enter: true,
            exit: true,
        };
        self.names.call(writer, number, head, both, counts)?;
        Ok(CallOutcome::Extension)
    }

    /// Writes a call that never came to its end, as something that was entered and not left.
    ///
    /// # Errors
    /// If the output fails.
    pub fn unfinished<W: Write>(
        &mut self,
        writer: &mut DumpiWriter<W>,
        number: u16,
        head: &RecordHead,
    ) -> Result<(), DumpiWriteError> {
        let first = Halves {
            enter: true,
            exit: false,
        };
        self.names.call(writer, number, head, first, &[])
    }

    /// Ends the stream and returns what follows it in the file: footer with call counts, sizes of datatypes, and names of
    /// extensions.
    pub fn finish(self) -> (DumpiFooter, Vec<i32>, Vec<AddressLabel>) {
        let mut counts = self.counts;
        for (function, calls) in self.ignored.into_iter().chain(self.skipped) {
            if let Some(plan) = self.plans.get(usize::from(function)) {
                let count = &mut counts[usize::from(plan.id)];
                count.0 = count.0.saturating_add(calls);
                count.1 = count.1.saturating_add(calls);
            }
        }
        let mut footer = DumpiFooter::default();
        for (id, (called, ignored)) in (0u16..).zip(counts) {
            let fit = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
            footer.count(id, fit(called), fit(ignored));
        }
        let labels = self.names.labels(self.table);
        (footer, self.known.handles.into_sizes(), labels)
    }
}

impl RecordPlan {
    /// Whether the arguments of a `_c` form fit the record of its base.
    #[inline]
    fn fits(&self, args: &ArgValues<'_>) -> bool {
        let small = |v: i64| i32::try_from(v).is_ok();
        let all_small = |a: Option<Array<'_>>| a.is_none_or(|a| a.ints().all(small));
        let narrow = self.narrow.iter().all(|&i| match *args.get(i.into()) {
            ArgValue::Int(v) => small(v),
            ArgValue::InOut(before, after) => small(before) && small(after),
            ArgValue::Array(a) => all_small(a),
            ArgValue::ArrayInOut(before, after) => all_small(before) && all_small(after),
            _ => true,
        });
        let empty = |&i: &u8| args.array(i.into()).is_none_or(|a| a.len == 0);
        narrow && self.empty.iter().all(empty)
    }
}

/// A number; of one that the call changed, the right one of both.
#[inline]
fn int(args: &ArgValues<'_>, step: &FieldStep) -> i64 {
    match *args.get(step.param.into()) {
        ArgValue::Int(v) => v,
        ArgValue::InOut(before, after) => {
            if step.after {
                after
            } else {
                before
            }
        }
        _ => 0,
    }
}

#[inline]
fn array<'a>(args: &ArgValues<'a>, step: &FieldStep) -> Option<Array<'a>> {
    match *args.get(step.param.into()) {
        ArgValue::Array(a) => a,
        ArgValue::ArrayInOut(before, after) => {
            if step.after {
                after
            } else {
                before
            }
        }
        _ => None,
    }
}

#[inline]
fn handle(args: &ArgValues<'_>, param: u8) -> u64 {
    match *args.get(param.into()) {
        ArgValue::Handle(h) => h,
        // Keyvals.
        ArgValue::Int(v) => v as u64,
        _ => 0,
    }
}

/// The elements of an array; none where the record has no array.
#[inline]
fn elements<'a>(args: &ArgValues<'a>, step: &FieldStep) -> impl Iterator<Item = i64> + use<'a> {
    array(args, step).into_iter().flat_map(Array::ints)
}

fn texts<'a>(
    args: &ArgValues<'a>,
    step: &FieldStep,
) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
    array(args, step).into_iter().flat_map(|a| a.texts())
}

/// What several fields of one call depend on.
#[derive(Clone, Copy)]
struct FieldContext {
    /// Whether this process is the root.
    at_root: bool,
    /// Number of elements of arrays that go by the size of the communicator.
    per_rank: usize,
}

impl ArgumentContext {
    /// Rank and size of a communicator.
    fn comm(&self, raw: u64) -> (i32, i32) {
        self.comms.get(&raw).copied().unwrap_or((-1, 0))
    }

    #[inline]
    fn shape(&self, plan: &RecordPlan, args: &ArgValues<'_>) -> FieldContext {
        let at_root = plan.root.is_none_or(|(root, comm)| {
            let root = args.int(root.into()).unwrap_or(0);
            self.comm(handle(args, comm)).0 == self.constants.rank(root)
        });
        let per_rank = plan.per_rank_comm.map_or(0, |comm| {
            let arrays = plan.per_rank.iter();
            let longest = arrays
                .filter_map(|&i| Some(args.array(i.into())?.len))
                .max();
            let size = || self.comm(handle(args, comm)).1;
            longest.unwrap_or_else(|| usize::try_from(size()).unwrap_or(0))
        });
        FieldContext { at_root, per_rank }
    }

    /// Appends all fields in stream order. Numbers of handles are given in this order: no function has a result before an
    /// argument of the same kind, so it is that in which the reference converts them.
    #[inline]
    fn fill<W: Write>(
        &mut self,
        plan: &RecordPlan,
        args: &ArgValues<'_>,
        call: &mut RecordBuilder<'_, W>,
    ) {
        let shape = self.shape(plan, args);
        if let (Some(datatype), true) = (plan.first_type, shape.at_root) {
            self.handles.datatype(handle(args, datatype));
        }
        for step in &plan.steps {
            if shape.at_root || !step.root_only {
                self.field(args, step, shape, call);
            }
        }
    }

    #[inline]
    fn field<W: Write>(
        &mut self,
        args: &ArgValues<'_>,
        step: &FieldStep,
        shape: FieldContext,
        call: &mut RecordBuilder<'_, W>,
    ) {
        let c = &self.constants;
        let handles = &mut self.handles;
        // Zeros in place of an array that is not significant (MPI_IN_PLACE): readers take as many elements as there are ranks.
        let missing = if step.per_rank && array(args, step).is_none() {
            shape.per_rank
        } else {
            0
        };
        match step.action {
            FieldAction::Int => call.int(narrow(int(args, step))),
            FieldAction::LowBits => call.int(int(args, step) as i32),
            FieldAction::Wide => call.i64(int(args, step)),
            FieldAction::Rank => call.int(c.rank(int(args, step))),
            FieldAction::Source => call.int(c.source(int(args, step))),
            FieldAction::Dest => call.int(c.dest(int(args, step))),
            FieldAction::Tag => call.int(c.tag(int(args, step))),
            FieldAction::Request(space) => {
                call.int(handles.number(space, handle(args, step.param)))
            }
            FieldAction::Keyval => {
                call.handle(handles.number(NumberSpace::Keyval, int(args, step) as u64))
            }
            FieldAction::Handle(space) => {
                call.handle(handles.number(space, handle(args, step.param)))
            }
            FieldAction::Op => call.code(handles.number(NumberSpace::Op, handle(args, step.param))),
            FieldAction::TypeAtRoot if !shape.at_root => call.handle(0),
            FieldAction::Type | FieldAction::TypeAtRoot => {
                call.handle(handles.datatype(handle(args, step.param)))
            }
            FieldAction::TypeOnly => call.handle(handles.datatype_only(handle(args, step.param))),
            FieldAction::Enumeration => call.code(c.enumeration(step.code, int(args, step))),
            FieldAction::Text => call.string(args.text(step.param.into()).unwrap_or_default()),
            FieldAction::Statuses => match args.get(step.param.into()) {
                ArgValue::Status(s) => call.statuses(s.map(|s| status(c, s))),
                ArgValue::Array(Some(a)) => {
                    call.statuses(a.statuses().map(|s| status(c, s.unwrap_or_default())))
                }
                _ => call.statuses([]),
            },
            FieldAction::Ints => {
                call.ints(elements(args, step).map(narrow).chain(repeat_n(0, missing)))
            }
            FieldAction::LowBitsArray => call.ints(elements(args, step).map(|v| v as i32)),
            FieldAction::Ranks => call.ints(elements(args, step).map(|v| c.rank(v))),
            FieldAction::Requests => {
                let number = |h| handles.number(NumberSpace::Request, h as u64);
                call.ints(elements(args, step).map(number))
            }
            FieldAction::Handles(space) => {
                call.handles(elements(args, step).map(|h| handles.number(space, h as u64)))
            }
            FieldAction::Types => {
                let number = |h| handles.datatype(h as u64);
                call.handles(elements(args, step).map(number).chain(repeat_n(0, missing)))
            }
            FieldAction::Enumerations => {
                call.codes(elements(args, step).map(|v| c.enumeration(step.code, v)))
            }
            FieldAction::DistributionArgs => {
                call.ints(elements(args, step).map(|v| c.distribution_arg(v)))
            }
            FieldAction::Rows => {
                let rows = array(args, step).map_or(0, |a| a.len / 3);
                let at = |i| array(args, step).and_then(|a| a.get(i)).map_or(0, narrow);
                call.rows((0..rows).map(|i| [at(3 * i), at(3 * i + 1), at(3 * i + 2)]))
            }
            FieldAction::Texts => call.strings(texts(args, step).map(Option::unwrap_or_default)),
            FieldAction::TextLists => {
                let mut all = texts(args, step).peekable();
                // A NULL ends each list.
                let lists = std::iter::from_fn(move || {
                    all.peek()?;
                    Some(all.by_ref().map_while(|t| t).collect::<Vec<_>>())
                });
                call.string_lists(lists)
            }
            FieldAction::CommRank => call.int(self.comm(handle(args, step.param)).0),
            FieldAction::CommSize => call.int(narrow(shape.per_rank as i64)),
            FieldAction::Length => call.int(narrow(array(args, step).map_or(0, |a| a.len as i64))),
            FieldAction::Sum => {
                let sum = elements(args, step).fold(0i64, i64::saturating_add);
                call.int(narrow(sum))
            }
        };
    }
}

/// A status as DUMPI has it: the bytes are what MPI_Get_count tells, MPI_UNDEFINED for more than an int can; the error is cut
/// to 8 bits.
#[inline]
fn status(c: &Constants, s: MpiStatus) -> value::DumpiStatus {
    value::DumpiStatus {
        bytes: i32::try_from(s.bytes).unwrap_or(UNDEFINED),
        source: c.source(s.source.into()),
        cancelled: i8::from(s.cancelled),
        error: s.error as i8,
        tag: c.tag(s.tag.into()),
    }
}
