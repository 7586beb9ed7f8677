//! The MPI_File handles of a rank: what they stand for, how many collective accesses there were, where the pointer stands.

use super::walk::PendingDefinition;
use crate::event::{AccessEvent, AccessPosition, OpenedHandle, UnrecordedAccesses};
use blockfile::define::FileView;
use blockfile::record::Record;
use trace_model::hash::{Map, Wide};
use unify::comms::{CommId, Comms};
use unify::library::Library;
use unify::plan::{FileCall, FunctionPlan, ParameterIndex};
use wrappers::{FileAccessKind, Phase, Pointer};

/// An open file.
#[derive(Clone, Debug)]
pub(super) struct OpenHandle {
    /// Number of the handle.
    pub number: u32,
    pub name: String,
    /// Collective accesses so far.
    accesses: u64,
    /// Bytes of an etype of the view; 0 if not known.
    etype: u64,
    /// The individual file pointer in etypes.
    position: Option<i64>,
    /// CallID of the split access that has begun.
    pub begun: Option<u64>,
}

/// The handles of a rank.
#[derive(Debug, Default)]
pub(super) struct RankHandles {
    by_handle: Map<u64, OpenHandle>,
    /// How often each name was opened on each communicator.
    opened_on: Map<(CommId, [u64; 3]), u64>,
    count: u32,
}

impl RankHandles {
    pub fn get(&self, handle: u64) -> Option<&OpenHandle> {
        self.by_handle.get(&handle)
    }

    pub fn get_mut(&mut self, handle: u64) -> Option<&mut OpenHandle> {
        self.by_handle.get_mut(&handle)
    }

    pub fn remove(&mut self, handle: u64) -> Option<OpenHandle> {
        self.by_handle.remove(&handle)
    }

    /// The handle that a call of MPI_File_open on `comm` makes if it succeeds. Its key is the same on all ranks that open the file together: the n-th open of
    /// a name on a communicator. Of opens alone the n-th need not be the same one, as ranks may lack the records of some.
    pub fn open(
        &mut self,
        plan: &FunctionPlan<'_>,
        call: &Record<'_>,
        file: ParameterIndex,
        appends: bool,
        comm: Option<CommId>,
        comms: &Comms,
    ) -> Option<OpenedHandle> {
        // Failed ones count: whether the call fails is agreed on, but not whether a rank recorded it as a failure.
        let args = plan.decode(call.payload)?;
        let name = (0..args.values().len()).find_map(|i| args.text(i));
        let name = name.unwrap_or_default();
        let hash_of_name = Wide::new().bytes(name);
        let before = comm.map(|id| {
            let opened = self
                .opened_on
                .entry((id, hash_of_name.finish().0))
                .or_default();
            *opened += 1;
            *opened
        });
        if call.code != 0 {
            return None;
        }
        let handle = plan.handle(call.payload, file)?;
        let name = String::from_utf8_lossy(name).into_owned();
        let number = self.count;
        self.count += 1;
        let comm = comm.and_then(|id| comms.get(id));
        let mut hash = Wide::new().word(before.unwrap_or(0));
        match comm {
            Some(comm) => hash = hash.bytes(&comm.gid.0).wide(hash_of_name),
            // Not known on which one: it is taken for a file of this process alone.
            None => {
                let own = comms.get(CommId::SELF).map_or(&[][..], |c| &c.members[..]);
                hash = hash.list(own).word(u64::from(number));
            }
        }
        let [high, low, _] = hash.finish().0;
        self.by_handle.insert(
            handle,
            OpenHandle {
                number,
                name: name.clone(),
                accesses: 0,
                etype: 1,
                position: (!appends).then_some(0),
                begun: None,
            },
        );
        Some(OpenedHandle {
            handle: number,
            key: u128::from(high) << 64 | u128::from(low),
            members: comm.map_or(1, |c| c.members.len()).try_into().unwrap_or(1),
            rank: comm.map_or(0, |c| c.rank).try_into().unwrap_or(0),
            name,
        })
    }

    /// A call that moves the pointer without accessing the file has returned without an error. Gives the view if it set one.
    pub fn follow(
        &mut self,
        what: FileCall,
        plan: &FunctionPlan<'_>,
        call: &Record<'_>,
        library: &Library,
        pending: &mut Vec<PendingDefinition>,
    ) -> Option<(u32, FileView)> {
        let payload = call.payload;
        let raw = plan.handle(payload, what.file())?;
        let open = self.by_handle.get_mut(&raw)?;
        match what {
            FileCall::View { etype, .. } => {
                let written = pending.iter().rposition(|p| match p {
                    PendingDefinition::View(view) => view.file == raw,
                    _ => false,
                });
                let view = match written.map(|i| pending.swap_remove(i)) {
                    Some(PendingDefinition::View(view)) => view,
                    // Nothing is known of it but what the call says.
                    _ => FileView {
                        etype: plan
                            .handle(payload, etype)
                            .and_then(|t| library.type_size(t))
                            .unwrap_or(0),
                        bounding_extent: true,
                        ..FileView::default()
                    },
                };
                return self.set_view(raw, view);
            }
            FileCall::Seek { offset, whence, .. } => {
                open.position = plan.seek(payload, open.position, offset, whence, library);
            }
            FileCall::Position { offset, .. } => open.position = plan.int(payload, offset),
            FileCall::Open { .. } | FileCall::Close { .. } => {}
        }
        None
    }

    /// A view has been set. Gives it with the number of its handle, if that is open.
    pub fn set_view(&mut self, file: u64, view: FileView) -> Option<(u32, FileView)> {
        let open = self.by_handle.get_mut(&file)?;
        open.etype = view.etype;
        open.position = Some(0);
        Some((open.number, view))
    }

    /// Accesses through a handle are not recorded; they count all the same.
    pub fn left_out(
        &mut self,
        file: u64,
        collective: u32,
        outlasts: bool,
    ) -> Option<UnrecordedAccesses> {
        let open = self.by_handle.get_mut(&file)?;
        let (first, collective) = (open.accesses, u64::from(collective));
        open.accesses = first.saturating_add(collective);
        Some(UnrecordedAccesses {
            handle: open.number,
            first,
            collective,
            outlasts,
        })
    }

    /// The event of a data access. `recorded_position` is the individual file pointer before the call in etypes, if recorded.
    pub fn access(
        &mut self,
        io: FileAccessKind,
        file: ParameterIndex,
        plan: &FunctionPlan<'_>,
        call: &Record<'_>,
        library: &Library,
        recorded_position: Option<i64>,
    ) -> AccessEvent {
        let payload = call.payload;
        let bytes = plan.amount().and_then(|(count, datatype)| {
            let count = u64::try_from(plan.int(payload, count)?).ok()?;
            if count == 0 {
                return Some(0);
            }
            count.checked_mul(library.type_size(plan.handle(payload, datatype)?)?)
        });
        let open = plan
            .handle(payload, file)
            .and_then(|handle| self.by_handle.get_mut(&handle));
        let mut access = AccessEvent {
            call: 0,
            function: call.function,
            start: 0,
            stop: 0,
            handle: None,
            sequence: None,
            writes: io.write,
            position: AccessPosition::Unknown,
            bytes,
            outlasts: matches!(io.phase, Phase::Nonblocking | Phase::Begin),
            failed: call.code != 0,
        };
        let Some(open) = open else {
            return access;
        };
        access.handle = Some(open.number);
        if io.collective {
            access.sequence = Some(open.accesses);
            open.accesses += 1;
        }
        access.position = match io.pointer {
            Pointer::Explicit => {
                let offset = plan.offset().and_then(|i| plan.int(payload, i));
                offset.map_or(AccessPosition::Unknown, AccessPosition::At)
            }
            Pointer::Individual => {
                let at = recorded_position
                    .filter(|&etypes| etypes >= 0)
                    .or(open.position);
                open.position = at.and_then(|at| {
                    let etypes = bytes?.checked_div(open.etype)?;
                    at.checked_add(i64::try_from(etypes).ok()?)
                });
                at.map_or(AccessPosition::Unknown, AccessPosition::At)
            }
            Pointer::Shared if io.collective => AccessPosition::Ordered,
            Pointer::Shared => AccessPosition::Unknown,
        };
        access
    }
}
