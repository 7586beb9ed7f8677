//! A call as a record of a block file has it.

use super::exchanged_bytes::{exchanged_bytes, scattered_bytes};
use super::window_groups::WindowGroups;
use analysis::correctness::{
    AskedMessage, Call, CallPlace, CommKey, CompletedOperation, CorrectnessPass, FunctionKey,
    ObjectKind, Peer, ReceivedStatus, WindowCall,
};
use blockfile::args::ArgValue;
use blockfile::encode::MpiStatus;
use blockfile::record::Record;
use trace_formats::dumpi::names::is_operation;
use unify::comms::CommHandles;
use unify::library::Library;
use unify::plan::{CallRole, FunctionPlan, ParameterIndex};
use unify::scan::Scan;
use wrappers::{Class, Direction, Function, Kind, Table};

/// What a record has to be read with.
pub(super) struct Reader<'r, 't> {
    pub rank: u32,
    pub scan: &'r Scan,
    pub zero: i64,
    pub plans: &'r [FunctionPlan<'t>],
    pub table: &'t Table,
    pub library: &'r Library,
    pub handles: &'r CommHandles,
    pub keys: &'r [CommKey],
    pub groups: &'r WindowGroups,
    pub functions: &'r [FunctionKey],
}

impl<'r, 't> Reader<'r, 't> {
    /// The place of a recorded call; `None` if its function is not in the table.
    pub(super) fn place(&self, record: &Record<'_>, thread: u32) -> Option<CallPlace> {
        Some(CallPlace {
            rank: self.rank,
            thread,
            function: *self.functions.get(usize::from(record.function))?,
            start: self.seconds(record.start),
        })
    }

    /// Ticks of the process as seconds of the trace.
    pub(super) fn seconds(&self, ticks: u64) -> f64 {
        self.scan.clock.ns(ticks).wrapping_sub(self.zero) as f64 / 1e9
    }

    pub(super) fn comm(&self, handle: u64) -> Option<CommKey> {
        let id = self.handles.lookup(handle)?;
        self.keys.get(id.0 as usize).copied()
    }

    pub(super) fn peer(&self, rank: i64) -> Peer {
        if Some(rank) == self.library.constant("MPI_PROC_NULL") {
            return Peer::Nobody;
        }
        if Some(rank) == self.library.constant("MPI_ANY_SOURCE") {
            return Peer::Anybody;
        }
        i32::try_from(rank).map_or(Peer::Nobody, Peer::Rank)
    }

    /// Whether a type of locks is that of exclusive ones.
    pub(super) fn is_exclusive(&self, lock_type: Option<i64>) -> bool {
        lock_type.is_some() && lock_type == self.library.constant("MPI_LOCK_EXCLUSIVE")
    }

    pub(super) fn tag(&self, tag: i64) -> Option<i32> {
        match Some(tag) == self.library.constant("MPI_ANY_TAG") {
            true => None,
            false => i32::try_from(tag).ok(),
        }
    }
}

/// Reads a call; `None` if its function is not in the table.
pub(super) fn read_call<'t>(
    record: &Record<'_>,
    thread: u32,
    reader: &Reader<'_, 't>,
    pass: &mut CorrectnessPass,
) -> Option<Call<'t>> {
    let number = usize::from(record.function);
    let function = reader.table.functions.get(number)?;
    let plan = reader.plans.get(number)?;
    let place = reader.place(record, thread)?;
    let payload = record.payload;
    let mut call = Call::new(place, function);
    call.end = reader.seconds(record.stop());
    call.code = Some(record.code.into());
    if record.code != 0 {
        let class = super::error_names::class(record.code, reader.scan.info.family);
        if let Some((number, _)) = class
            && let Some(name) = class.and_then(super::error_names::name)
        {
            pass.name_error(record.code.into(), number.into(), name);
        }
    }
    call.comm = plan
        .comm
        .and_then(|comm| reader.comm(plan.handle(payload, comm)?));
    add_messages(&mut call, record, plan, reader);
    match plan.role {
        CallRole::Complete(completion) => completion.each(plan, record, |done| {
            call.completes.push(CompletedOperation {
                request: done.request,
                status: done.status.map(received),
                worked: done.worked,
            });
        }),
        CallRole::Start { requests } => match function.params.get(requests).map(|p| &p.len) {
            Some(None) => call.starts.extend(plan.handle(payload, requests)),
            _ => {
                let arguments = plan.decode(payload);
                let list = arguments.as_ref().and_then(|all| match all.get(requests) {
                    ArgValue::ArrayInOut(before, _) => *before,
                    ArgValue::Array(list) => *list,
                    _ => None,
                });
                let handles = list.into_iter().flat_map(blockfile::args::Array::ints);
                call.starts.extend(handles.map(|handle| handle as u64));
            }
        },
        CallRole::Cancel { request } => call.cancels = plan.handle(payload, request),
        _ => {}
    }
    add_objects(&mut call, record, plan, reader);
    call.window = window_call(function, record, plan, reader, pass);
    add_signature(&mut call, record, plan, reader, pass);
    Some(call)
}

fn received(status: MpiStatus) -> ReceivedStatus {
    ReceivedStatus {
        source: status.source,
        // The receive itself names MPI_PROC_NULL.
        is_from_nobody: false,
        tag: status.tag,
        cancelled: status.cancelled,
    }
}

/// Adds the messages that a call sends and receives.
fn add_messages(
    call: &mut Call<'_>,
    record: &Record<'_>,
    plan: &FunctionPlan<'_>,
    reader: &Reader<'_, '_>,
) {
    let payload = record.payload;
    let bytes = |count, datatype, partitions: Option<usize>| -> Option<u64> {
        let count = u64::try_from(plan.int(payload, count)?).ok()?;
        let parts = match partitions {
            Some(parts) => u64::try_from(plan.int(payload, parts)?).ok()?,
            None => 1,
        };
        let size = reader.library.type_size(plan.handle(payload, datatype)?)?;
        count.checked_mul(parts)?.checked_mul(size)
    };
    let asked = |comm, (peer, tag): (ParameterIndex, ParameterIndex), bytes| {
        Some(AskedMessage {
            comm,
            peer: reader.peer(plan.int(payload, peer)?),
            tag: plan.int(payload, tag).and_then(|tag| reader.tag(tag)),
            bytes,
        })
    };
    let status = || {
        let status = plan.status.and_then(|status| plan.status(payload, status));
        status.map(received)
    };
    if let (Some(send), Some(comm)) = (plan.send, call.comm) {
        let bytes = bytes(send.count, send.datatype, send.partitions);
        call.send = asked(comm, (send.dest, send.tag), bytes);
    }
    if let Some(message) = plan.message {
        let handle = plan.handle(payload, message);
        let is_null = |handle: &u64| !reader.library.names(*handle).is_empty();
        let flag = match plan.role {
            CallRole::Match { flag, .. } => flag,
            _ => None,
        };
        let is_there = flag.is_none_or(|flag| plan.int(payload, flag) != Some(0));
        call.message = handle.filter(|handle| is_there && !is_null(handle));
        // A probe asks for what it takes, and its status tells which message that is.
        if let (CallRole::Match { .. }, Some(comm)) = (plan.role, call.comm) {
            call.receive = plan
                .envelope
                .and_then(|envelope| asked(comm, envelope, None));
            call.status = status();
        }
    }
    if let Some(recv) = plan.recv {
        let bytes = bytes(recv.count, recv.datatype, recv.partitions);
        call.receive = match (recv.envelope, call.comm) {
            (Some(envelope), Some(comm)) => asked(comm, envelope, bytes),
            // The communicator is that of the matched message.
            (None, _) if call.message.is_some() => reader.keys.first().map(|&comm| AskedMessage {
                comm,
                peer: Peer::Anybody,
                tag: None,
                bytes,
            }),
            _ => None,
        };
        if matches!(plan.role, CallRole::Blocking) {
            call.status = status();
        }
    }
}

/// The handle that an argument had when the call began, or that it got. A keyval is an integer.
fn handle_of(
    function: &Function,
    record: &Record<'_>,
    plan: &FunctionPlan<'_>,
    i: usize,
) -> Option<u64> {
    if function.params[i].kind != Kind::Keyval {
        return plan.handle(record.payload, i);
    }
    match *plan.decode(record.payload)?.get(i) {
        ArgValue::Int(keyval) | ArgValue::InOut(keyval, _) => Some(keyval as u64),
        _ => None,
    }
}

/// Adds the objects that a call makes, frees and works on.
fn add_objects(
    call: &mut Call<'_>,
    record: &Record<'_>,
    plan: &FunctionPlan<'_>,
    reader: &Reader<'_, '_>,
) {
    let function = call.function;
    let handle = |i| handle_of(function, record, plan, i).filter(|&handle| handle != 0);
    if call.worked() && function.name != "MPI_Comm_get_parent" {
        for &i in &function.creates {
            let Some(kind) = ObjectKind::of(function.params[i].kind) else {
                continue;
            };
            // Predefined ones and null handles are nobody's to free.
            let made = handle(i).filter(|&made| reader.library.names(made).is_empty());
            call.creates.extend(made.map(|made| (kind, made)));
        }
    }
    call.frees = function.frees.and_then(|i| {
        let kind = ObjectKind::of(function.params[i].kind)?;
        Some((kind, handle(i)?))
    });
    let on = |kind| {
        let is = |p: &wrappers::Param| p.kind == kind && p.direction != Direction::Out;
        function.params.iter().position(is)
    };
    let of = |kind| Some((ObjectKind::of(kind)?, handle(on(kind)?)?));
    call.on = of(Kind::File).or_else(|| of(Kind::Win));
}

/// What a call of one-sided communication says besides the window; `None` for others, and for one that has not worked.
fn window_call(
    function: &Function,
    record: &Record<'_>,
    plan: &FunctionPlan<'_>,
    reader: &Reader<'_, '_>,
    pass: &mut CorrectnessPass,
) -> Option<WindowCall> {
    let is_on_window = matches!(
        function.class,
        Class::Rma | Class::RmaRequest | Class::RmaSync
    );
    let int = |kind| plan.int(record.payload, function.first(kind)?);
    // MPI_Win_test may have found nothing.
    let has_worked = record.code == 0 && int(Kind::Logical) != Some(0);
    if !is_on_window || !has_worked {
        return None;
    }
    let group = function.first(Kind::Group);
    let group = group.and_then(|at| plan.handle(record.payload, at));
    let members = group.and_then(|group| reader.groups.of(group));
    Some(WindowCall {
        target: int(Kind::Target).and_then(|target| i32::try_from(target).ok()),
        is_exclusive: reader.is_exclusive(int(Kind::LockType)),
        group: members.map(|members| pass.define_group(&in_world(members))),
    })
}

/// The members of a group that are in MPI_COMM_WORLD; the others have negative numbers.
pub(super) fn in_world(members: &[i32]) -> Vec<u32> {
    let ranks = members.iter().copied();
    ranks.filter_map(|rank| u32::try_from(rank).ok()).collect()
}

/// Adds what has to fit the calls of other ranks.
fn add_signature(
    call: &mut Call<'_>,
    record: &Record<'_>,
    plan: &FunctionPlan<'_>,
    reader: &Reader<'_, '_>,
    pass: &mut CorrectnessPass,
) {
    let function = call.function;
    let payload = record.payload;
    let is_collective = matches!(
        function.class,
        Class::Collective | Class::Icollective | Class::CollectiveInit
    );
    if !is_collective {
        return;
    }
    let id = plan.comm.and_then(|comm| plan.handle(payload, comm));
    let id = id.and_then(|handle| reader.handles.lookup(handle));
    // In an intercommunicator the two sides do different things.
    let comm = id.and_then(|id| reader.scan.comms.get(id));
    let Some(comm) = comm.filter(|comm| !comm.is_inter()) else {
        return;
    };
    let root = plan.root.and_then(|root| plan.int(payload, root));
    call.signature.root = root.and_then(|root| i32::try_from(root).ok());
    if let Some(op) = function.first(Kind::Op) {
        let names = plan.handle(payload, op).map(|op| reader.library.names(op));
        let name = names.and_then(|names| names.iter().find(|name| is_operation(name)));
        // Those that the program makes have other handles on other ranks.
        call.signature.operation = Some(match name {
            Some(name) => pass.function(name),
            None => pass.function("an operation of the program"),
        });
    }
    if CorrectnessPass::compares_size(function) {
        call.signature.bytes = match plan.own_amount {
            Some((count, _)) if record.in_place && function.params[count].inplace.is_some() => None,
            Some((count, datatype)) => {
                let count = plan.int(payload, count);
                let count = count.and_then(|count| u64::try_from(count).ok());
                let size = plan
                    .handle(payload, datatype)
                    .and_then(|datatype| reader.library.type_size(datatype));
                count
                    .zip(size)
                    .and_then(|(count, size)| count.checked_mul(size))
            }
            None => scattered_bytes(function, plan, payload, reader.library),
        };
    }
    // With a root that does not exist, no rank is the root that moves the data of all.
    let is_rank = |root: &i64| (0..comm.members.len() as i64).contains(root);
    if plan.root.is_some() && !root.as_ref().is_some_and(is_rank) {
        return;
    }
    call.signature.exchanged = exchanged_bytes(function, plan, record, reader.library, comm, root);
}
