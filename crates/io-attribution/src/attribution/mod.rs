//! Attribution: turns the events of all processes, in order of time, into attribution records.
//!
//! A transfer inside a data access belongs to that access. A transfer inside any other call belongs to the access of the same file
//! that the rank had begun before and not completed. The calls of a collective access, one per rank of the file handle, form a
//! group. When all calls of a group are complete, each of its transfers is shared out among the calls by the bytes that they
//! asked for ([`group`]). Operations at servers and devices are attributed through the operations of ranks that caused them ([`below`]).
//!
//! Memory holds only what is not complete: groups with their transfers, and the views of open files.

mod below;
mod files;
mod give;
mod group;
mod link;
mod open_accesses;
mod out;
mod overwritten;
mod pages;
mod places;
mod process;
mod resolved;
mod totals;

pub use totals::AttributionTotals;

use super::AttributionRecord;
use super::event::{self, AttributionEvent, AttributionEventKind};
use super::record::{Actor, FileRole, Lane, PicturePoint};
use below::LowerLayers;
use group::{AccessGroup, GroupMember, Transfer};
use link::CauseLink;
use open_accesses::{AskedBytes, Key, OpenAccess};
use out::{RecordOutput, RecordSink};
use process::RankState;
use resolved::{ResolvedOperation, TransferShare};
use std::collections::BTreeMap;
use std::sync::Arc;
use trace_model::Stop;
use trace_model::hash::Map;
use wrappers::{Phase, Table};

/// Makes attribution records from the events of all processes.
#[derive(Debug)]
pub struct Attributor<'t> {
    table: &'t Table,
    /// Index of MPI_File_preallocate, which writes a file although it is no data access.
    preallocate: Option<u16>,
    out: RecordOutput,
    processes: Map<u32, RankState>,
    groups: BTreeMap<Key, AccessGroup>,
    /// By file how many collective accesses there were, through whatever handle.
    collectives: Map<u32, u64>,
    /// Number of processes that have a file handle open, by key of the handle.
    open: Map<u128, u32>,
    /// Ranges of collective accesses that some process made and did not record, by key of the file handle: the first number and the
    /// one after the last.
    left_out: Map<u128, Vec<(u64, u64)>>,
    below: LowerLayers,
}

impl<'t> Attributor<'t> {
    /// An attributor for events from records that were made with `table`.
    pub fn new(table: &'t Table) -> Attributor<'t> {
        let mut functions = table.functions.iter();
        let preallocate = functions.position(|function| function.name == "MPI_File_preallocate");
        Attributor {
            table,
            preallocate: preallocate.and_then(|index| u16::try_from(index).ok()),
            out: RecordOutput::default(),
            processes: Map::default(),
            groups: BTreeMap::new(),
            collectives: Map::default(),
            open: Map::default(),
            left_out: Map::default(),
            below: LowerLayers::default(),
        }
    }

    /// Takes the next event in order of time (ns on rank 0's clock), and passes the records that it completes to `put`.
    ///
    /// # Errors
    /// The errors of `put`.
    pub fn push(
        &mut self,
        time: i64,
        item: AttributionEvent,
        put: &mut dyn FnMut(&AttributionRecord) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let (actor, thread) = (item.actor, item.thread);
        let Actor::Rank(rank) = actor else {
            return self
                .below
                .push(actor, thread, item.what, &mut self.out, put);
        };
        match item.what {
            AttributionEventKind::Thread { tid, machine } => {
                self.below.thread(actor, thread, tid, machine)
            }
            AttributionEventKind::Opened(opened) => {
                *self.open.entry(opened.key).or_default() += 1;
                self.processes.entry(rank).or_default().open(opened);
            }
            AttributionEventKind::Closed { handle } => return self.closed(rank, handle, put),
            AttributionEventKind::View(part) => self.processes.entry(rank).or_default().view(part),
            AttributionEventKind::LeftOut(left_out) => return self.left_out(rank, left_out, put),
            AttributionEventKind::Access(access) => return self.access(rank, thread, access, put),
            AttributionEventKind::Complete {
                call,
                moved,
                failed,
            } => return self.complete(rank, call, (moved, failed), time, put),
            AttributionEventKind::File(seen) => self.file(rank, seen),
            AttributionEventKind::Begins(operation) => {
                let seen = self.seen(rank, &operation);
                self.below.begins(actor, seen.map(|s| s.file), &operation);
            }
            AttributionEventKind::Operation(operation) => {
                return self.operation(rank, thread, operation, put);
            }
            AttributionEventKind::Returned(inside) => {
                return self
                    .below
                    .returned(actor, thread, inside, &mut self.out, put);
            }
            AttributionEventKind::Extents(_) => {}
        }
        Ok(())
    }

    /// Ends the input: passes all records that were waiting to `put`, and returns the totals.
    ///
    /// # Errors
    /// The errors of `put`.
    pub fn finish(
        mut self,
        put: &mut dyn FnMut(&AttributionRecord) -> Result<(), Stop>,
    ) -> Result<AttributionTotals, Stop> {
        while let Some((key, _)) = self.groups.first_key_value() {
            let key = *key;
            self.close(key, put)?;
        }
        self.below.finish(&mut self.out, put)?;
        Ok(self.out.totals)
    }

    /// Number of groups and operations that wait to be completed. Memory is proportional to it.
    pub fn waiting(&self) -> usize {
        let transfers = self.groups.values().map(|g| g.transfers.len());
        self.groups.len() + transfers.sum::<usize>() + self.below.waiting()
    }

    fn file(&mut self, rank: u32, seen: event::SeenFile) {
        let process = self.processes.entry(rank).or_default();
        let opened = seen.handle.and_then(|h| process.handles.get(&h));
        let opened = opened.map(|h| (h.opened.key, h.opened.name.as_str()));
        let inode = (seen.device, seen.inode);
        let file = self.out.files.seen(seen.role, inode, &seen.name, opened);
        let (role, handle) = (seen.role, seen.handle);
        let entry = process::DescriptorFile { file, role, handle };
        process.seen.insert(seen.seen, entry);
    }

    fn seen(
        &self,
        rank: u32,
        operation: &event::OperationEvent,
    ) -> Option<process::DescriptorFile> {
        let seen = &self.processes.get(&rank)?.seen;
        seen.get(&operation.file?).copied()
    }

    fn access(
        &mut self,
        rank: u32,
        thread: u32,
        mut access: event::AccessEvent,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        let process = self.processes.entry(rank).or_default();
        let known = access
            .handle
            .and_then(|h| Some((h, process.handles.get(&h)?)));
        let Some((number, handle)) = known else {
            return Ok(());
        };
        let opened = &handle.opened;
        let file = self.out.files.of_key(opened.key, &opened.name);
        let key = match access.sequence {
            Some(sequence) if opened.members > 1 => Key::Collective(opened.key, sequence),
            _ => Key::Single(access.call),
        };
        if let Some(sequence) = &mut access.sequence {
            // The handle's own number may be that of another handle of the file, too.
            *sequence = match self.groups.get(&key) {
                Some(group) => group.number,
                None => {
                    let next = self.collectives.entry(file).or_default();
                    *next += 1;
                    *next - 1
                }
            };
        }
        let collective = access.sequence.unwrap_or(0);
        let function = self.table.functions.get(usize::from(access.function));
        let place = PicturePoint {
            lane: Lane {
                actor: Actor::Rank(rank),
                thread,
                lane: 0,
            },
            ns: access.start,
        };
        let (call, start) = (access.call, access.start);
        let (writes, outlasts) = (access.writes, access.outlasts);
        let member = GroupMember::new(
            access,
            function.map_or_else(Arc::default, |f| f.name.as_str().into()),
            place,
            rank,
            opened.rank,
            file,
            handle.layout.clone(),
        );
        // Of a collective access, others may ask for more, now or later.
        let asked = match key {
            Key::Single(_) => member.asked(),
            Key::Collective(..) => AskedBytes::Unknown,
        };
        process.begun.begin(OpenAccess {
            key,
            call,
            handle: number,
            file,
            writes,
            outlasts,
            start,
            asked,
        });
        let (expected, missing) = match key {
            Key::Collective(file, number) => {
                let left_out = self.left_out.get(&file).map_or(&[][..], Vec::as_slice);
                let has = |&&(first, end): &&(u64, u64)| (first..end).contains(&number);
                let missing = left_out.iter().filter(has).count();
                (opened.members, u32::try_from(missing).unwrap_or(u32::MAX))
            }
            Key::Single(_) => (1, 0),
        };
        let at_once = expected == 1 && !outlasts && member.is_exact();
        if at_once {
            self.out.call(member.call(false), put)?;
        }
        let group = self.groups.entry(key).or_insert_with(|| AccessGroup {
            number: collective,
            expected,
            missing,
            complete: 0,
            writes: member.access.writes,
            read: Map::default(),
            members: Vec::new(),
            transfers: Vec::new(),
            at_once,
        });
        group.members.push(member);
        Ok(())
    }

    /// Notes accesses of a rank that are not recorded.
    fn left_out(
        &mut self,
        rank: u32,
        left_out: event::UnrecordedAccesses,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        let process = self.processes.entry(rank).or_default();
        let Some(handle) = process.handles.get_mut(&left_out.handle) else {
            return Ok(());
        };
        handle.outlasting_left_out |= left_out.outlasts;
        let file = handle.opened.key;
        if left_out.collective == 0 || handle.opened.members < 2 {
            return Ok(());
        }
        let (first, end) = (
            left_out.first,
            left_out.first.saturating_add(left_out.collective),
        );
        self.left_out.entry(file).or_default().push((first, end));
        let concerned = Key::Collective(file, first)..Key::Collective(file, end);
        let mut complete = Vec::new();
        for (&key, group) in self.groups.range_mut(concerned) {
            group.missing = group.missing.saturating_add(1);
            if group.is_complete() {
                complete.push(key);
            }
        }
        complete
            .into_iter()
            .try_for_each(|key| self.close(key, put))
    }

    fn complete(
        &mut self,
        rank: u32,
        call: u64,
        (moved, failed): (Option<u64>, bool),
        time: i64,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        let process = self.processes.entry(rank).or_default();
        let Some(begun) = process.begun.complete(call) else {
            return Ok(());
        };
        let Some(group) = self.groups.get_mut(&begun.key) else {
            return Ok(());
        };
        if let Some(member) = group.member(call) {
            member.moved = moved;
            member.access.failed |= failed;
            member.complete = Some(time);
        }
        group.complete += 1;
        if group.is_complete() {
            self.close(begun.key, put)?;
        }
        Ok(())
    }

    /// Notes that a rank has closed a file. Its accesses of the file are complete; when all ranks have closed it, all accesses are.
    fn closed(&mut self, rank: u32, handle: u32, put: RecordSink<'_>) -> Result<(), Stop> {
        let process = self.processes.entry(rank).or_default();
        let Some(closed) = process.handles.remove(&handle) else {
            return Ok(());
        };
        for OpenAccess { key, .. } in process.begun.close(handle) {
            if matches!(key, Key::Single(_)) {
                self.close(key, put)?;
            }
        }
        let key = closed.opened.key;
        if let Some(open) = self.open.get_mut(&key) {
            *open -= 1;
            if *open == 0 {
                self.open.remove(&key);
                self.left_out.remove(&key);
                let all = Key::Collective(key, 0)..=Key::Collective(key, u64::MAX);
                let left: Vec<Key> = self.groups.range(all).map(|(&key, _)| key).collect();
                for key in left {
                    self.close(key, put)?;
                }
                self.out.files.closed(key);
            }
        }
        Ok(())
    }

    fn operation(
        &mut self,
        rank: u32,
        thread: u32,
        operation: event::OperationEvent,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        let actor = Actor::Rank(rank);
        let seen = self.seen(rank, &operation);
        let file = seen.map(|s| s.file);
        let link = self.below.operation(actor, thread, &operation);
        let range = operation.moved();
        let data = seen
            .filter(|s| s.role == FileRole::Data || self.out.files.role(s.file) == FileRole::Data);
        let range = range.filter(|_| data.is_some());
        let process = self.processes.get(&rank);
        let may_work_for_others = process.is_some_and(RankState::may_work_for_others);
        let function = operation.inside.map(|inside| inside.function);
        let preallocates = function.is_some() && function == self.preallocate;
        if let (Some(range), Some(seen)) = (range, data) {
            let writes = operation.writes();
            if writes {
                let inode = self.out.files.inode(seen.file);
                let ns = operation.stop;
                self.below.written(inode, range, ns, &link);
            }
            if !writes && !preallocates {
                self.read_before_writing(rank, seen, &operation, range);
            }
            if !preallocates
                && let Some(key) = self.owner(rank, seen, &operation, range, writes)
                && let Some(group) = self.groups.get_mut(&key)
            {
                let transfer = Transfer {
                    operation,
                    world: rank,
                    thread,
                    file,
                    range,
                    link,
                };
                if !group.at_once {
                    let claims = group.members.iter().any(|m| m.access.outlasts);
                    group.take(transfer, claims);
                    return Ok(());
                }
                let members = group.members.iter_mut();
                let credits = members.filter_map(|m| m.credit(range)).collect();
                let is_complete = group.knows_all() && !may_work_for_others;
                let resolved = self.out.resolve(
                    &transfer.operation,
                    (actor, thread),
                    file,
                    Some(range),
                    TransferShare::new(range, credits, is_complete),
                    put,
                )?;
                return self.known(&transfer.link, resolved, put);
            }
        }
        let who = (actor, thread);
        // The bytes that a call asked for are not known if it never returned: no byte of it is known to be in a sieving hole. What fills a new part of a
        // file is in none.
        let is_complete =
            !may_work_for_others && !preallocates && !self.is_in_open_access(rank, &operation);
        let share = TransferShare::new(range.unwrap_or_default(), Vec::new(), is_complete);
        let resolved = self.out.resolve(&operation, who, file, range, share, put)?;
        self.known(&link, resolved, put)
    }

    /// Whether the operation happened in a data access of which no arguments are known.
    fn is_in_open_access(&self, rank: u32, operation: &event::OperationEvent) -> bool {
        let Some(inside) = operation.inside else {
            return false;
        };
        let function = self.table.functions.get(usize::from(inside.function));
        let process = self.processes.get(&rank);
        function.is_some_and(|f| f.io.is_some_and(|io| io.phase != Phase::End))
            && process.is_none_or(|p| p.begun.of_call(inside.call).is_none())
    }

    /// Notes what is read in accesses that write, to be changed and written back.
    fn read_before_writing(
        &mut self,
        rank: u32,
        seen: process::DescriptorFile,
        operation: &event::OperationEvent,
        range: (u64, u64),
    ) {
        let (Some(process), Some(inside)) = (self.processes.get(&rank), operation.inside) else {
            return;
        };
        let own = process.begun.of_call(inside.call);
        let own = own.filter(|b| b.writes && b.file == seen.file && !b.outlasts);
        let others = process.begun.outlasting_writes(seen.file);
        for begun in own.into_iter().chain(others) {
            if let Some(group) = self.groups.get_mut(&begun.key).filter(|g| !g.at_once) {
                group.read.entry(rank).or_default().add(range.0, range.1);
            }
        }
    }

    fn known(
        &mut self,
        link: &CauseLink,
        resolved: ResolvedOperation,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        for lower in link.resolve(resolved) {
            self.below.lower(lower, &mut self.out, put)?;
        }
        Ok(())
    }

    /// The access or group that a transfer belongs to (rules 5 and 6).
    fn owner(
        &self,
        rank: u32,
        seen: process::DescriptorFile,
        operation: &event::OperationEvent,
        range: (u64, u64),
        writes: bool,
    ) -> Option<Key> {
        let process = self.processes.get(&rank)?;
        let inside = operation.inside?;
        // The access in which it happens comes first.
        let own = process.begun.of_call(inside.call);
        let own = own.filter(|b| b.writes == writes && b.file == seen.file);
        let others = process
            .begun
            .outlasting((seen.file, writes), seen.handle, range)
            .filter(|b| b.call != inside.call && b.start <= operation.start);
        let candidates: Vec<Key> = own.into_iter().chain(others).map(|b| b.key).collect();
        let first = *candidates.first()?;
        if candidates.len() == 1 {
            return Some(first);
        }
        let all = || candidates.iter().copied();
        let asks = |key: Key| self.groups.get(&key).map_or((0, 0), |g| g.asks_for(range));
        let unknown = |key: Key| self.groups.get(&key).is_some_and(AccessGroup::has_unknown);
        let most = |bytes: &dyn Fn(Key) -> u64| {
            let all = all().map(|key| (bytes(key), key)).filter(|b| b.0 > 0);
            all.reduce(|a, b| if b.0 > a.0 { b } else { a })
                .map(|b| b.1)
        };
        // The one that still needs most of these bytes; that has asked for most; of which it is not known.
        most(&|key| asks(key).1)
            .or_else(|| most(&|key| asks(key).0))
            .or_else(|| all().find(|&key| unknown(key)))
            .or(Some(first))
    }

    /// All that belongs to a group is there.
    fn close(&mut self, key: Key, put: RecordSink<'_>) -> Result<(), Stop> {
        let Some(mut group) = self.groups.remove(&key) else {
            return Ok(());
        };
        if let (Key::Single(_), Some((rank, handle))) = (key, group.put_off()) {
            let process = self.processes.entry(rank).or_default();
            if let Some(handle) = process.handles.get_mut(&handle) {
                handle.puts_off = true;
            }
        }
        // Where earlier bytes may be moved, the transfers do not tell where the shared pointer stood.
        let puts_off = group.members.iter().any(|member| {
            let process = self.processes.get(&member.world);
            let handle = member.access.handle;
            process.is_some_and(|p| handle.is_some_and(|h| p.puts_off(h)))
        });
        if !group.at_once && !puts_off {
            group.place_shared();
        }
        let independent = group.is_independent();
        self.out.totals.independent += u64::from(independent);
        let overwritten = group.overwritten();
        self.out.totals.overwritten += overwritten.twice.covered();
        if !group.at_once {
            for (n, member) in group.members.iter().enumerate() {
                let overlaps = overwritten.calls.get(n) == Some(&true);
                self.out.call(member.call(overlaps), put)?;
            }
        }
        let shares = group.share_out(independent, &overwritten);
        let transfers = std::mem::take(&mut group.transfers).into_iter();
        for (transfer, mut share) in transfers.zip(shares) {
            let process = self.processes.get(&transfer.world);
            if process.is_some_and(RankState::may_work_for_others) {
                share.hole_bytes = None;
            }
            let who = (Actor::Rank(transfer.world), transfer.thread);
            let (file, range) = (transfer.file, Some(transfer.range));
            let operation = &transfer.operation;
            let resolved = self.out.resolve(operation, who, file, range, share, put)?;
            self.known(&transfer.link, resolved, put)?;
        }
        let missing = group.members.iter().map(GroupMember::missing);
        let unattributed = &mut self.out.totals.unattributed;
        *unattributed = missing.fold(*unattributed, u64::saturating_add);
        Ok(())
    }
}
