//! Attribution of the operations below the ranks: requests at servers, their parts and disk calls, transfers of devices.
//!
//! A request names the thread that asked for it. The operation of a rank that was running on that thread at that time caused it
//! (`spec/io-chain.md` section 4). A thread that no rank has is one of glibc's, which works on an asynchronous transfer; its
//! cause is found by the bytes. All other operations at servers carry the number of the request. The cause of a transfer of a
//! device is found by its thread, or by pages.

use super::give::give;
use super::link::{CauseLink, LowerOperation};
use super::out::{RecordOutput, RecordSink};
use super::pages::Pages;
use super::places::Inode;
use super::resolved::ResolvedOperation;
use crate::event::{AttributionEventKind, EnclosingCall, OperationEvent};
use crate::record::{Actor, Lane, PicturePoint};
use blockfile::operation::{DIRECT, Effect, Layer, kind};
use std::collections::VecDeque;
use trace_model::Stop;
use trace_model::hash::Map;

/// Maximum number of past operations kept per thread. Their requests may come later, as with reading ahead.
const MAX_RECENT_OPERATIONS: usize = 16;
/// Maximum number of requests per thread that wait for their operation.
const MAX_PENDING_REQUESTS: usize = 4096;
/// Maximum number of ended asynchronous transfers that are kept. A server may report a request after the rank has completed it.
const MAX_ENDED_TRANSFERS: usize = 1024;
/// Maximum number of requests whose number is kept.
const MAX_REQUESTS: usize = 65536;

#[derive(Debug)]
struct Recent {
    start: i64,
    stop: i64,
    link: CauseLink,
}

/// A thread, found by machine and thread ID.
#[derive(Debug, Default)]
struct SystemThread {
    /// Requests of the thread whose operation is not known yet.
    pending: VecDeque<LowerOperation>,
    recent: VecDeque<Recent>,
}

/// An asynchronous transfer.
#[derive(Debug)]
struct Asynchronous {
    actor: Actor,
    start: i64,
    /// Time at which its result was asked for, ns; `i64::MAX` before that.
    stop: i64,
    control: Option<u64>,
    file: Option<u32>,
    writes: bool,
    range: (u64, u64),
    link: CauseLink,
}

/// Operations of servers and devices whose causes are being found.
#[derive(Debug, Default)]
pub(super) struct LowerLayers {
    /// True if there are servers or devices.
    active: bool,
    /// Machine and thread ID of each thread.
    threads: Map<(Actor, u32), (u64, u64)>,
    tids: Map<(u64, u64), SystemThread>,
    machines: Map<Actor, u64>,
    /// Asynchronous transfers whose result has not been asked for.
    asynchronous: Vec<Asynchronous>,
    /// The last asynchronous transfers that have ended.
    ended: VecDeque<Asynchronous>,
    /// Requests by number, and in the order in which they came.
    requests: Map<u64, CauseLink>,
    order: VecDeque<u64>,
    /// Operations of requests that have not come yet, by number of the request.
    parts: Map<u64, Vec<LowerOperation>>,
    /// Devices on which a server's inodes count: that of its store, and that under which ranks see the store.
    devices: Map<(Actor, u64), Vec<u64>>,
    pages: Pages,
}

impl LowerLayers {
    /// Number of operations that are kept.
    pub fn waiting(&self) -> usize {
        let pending = self.tids.values().map(|t| t.pending.len());
        let parts = self.parts.values().map(Vec::len);
        pending.sum::<usize>()
            + parts.sum::<usize>()
            + self.asynchronous.len()
            + self.pages.waiting()
    }

    pub fn thread(&mut self, actor: Actor, thread: u32, tid: u64, machine: u64) {
        self.active |= !matches!(actor, Actor::Rank(_));
        self.threads.insert((actor, thread), (machine, tid));
        self.machines.insert(actor, machine);
        // A device has no threads, only somebody who follows it.
        if tid != 0 && !matches!(actor, Actor::Device(_)) {
            self.tids.entry((machine, tid)).or_default();
        }
    }

    /// Notes that a rank has begun an asynchronous transfer.
    pub fn begins(&mut self, actor: Actor, file: Option<u32>, operation: &OperationEvent) {
        let effect = kind(operation.kind).map(|k| k.effect);
        let record = &operation.record;
        let start = u64::try_from(record.offset).unwrap_or(0);
        if !self.active {
            return;
        }
        self.asynchronous.push(Asynchronous {
            actor,
            start: operation.start,
            stop: i64::MAX,
            control: record.control,
            file,
            writes: effect == Some(Effect::StartWrite),
            range: (start, start.saturating_add_signed(record.size.max(0))),
            link: CauseLink::new(),
        });
    }

    /// Notes that an operation of a rank has ended, and returns the link for the operations below it.
    pub fn operation(
        &mut self,
        actor: Actor,
        thread: u32,
        operation: &OperationEvent,
    ) -> CauseLink {
        if !self.active {
            return CauseLink::new();
        }
        let control = operation.record.control;
        let begun = self
            .asynchronous
            .iter()
            .position(|a| operation.outstanding && a.actor == actor && a.control == control);
        if let Some(begun) = begun {
            let mut ended = self.asynchronous.swap_remove(begun);
            ended.stop = operation.stop;
            let link = ended.link.clone();
            if self.ended.len() >= MAX_ENDED_TRANSFERS {
                self.ended.pop_front();
            }
            self.ended.push_back(ended);
            return link;
        }
        let link = CauseLink::new();
        self.ended(actor, thread, operation, &link);
        link
    }

    /// Assigns the requests that the thread made during the operation to it.
    fn ended(&mut self, actor: Actor, thread: u32, operation: &OperationEvent, link: &CauseLink) {
        let Some(id) = self.threads.get(&(actor, thread)) else {
            return;
        };
        let Some(known) = self.tids.get_mut(id) else {
            return;
        };
        if known.recent.len() >= MAX_RECENT_OPERATIONS {
            known.recent.pop_front();
        }
        let (start, stop) = (operation.start, operation.stop);
        let pending = std::mem::take(&mut known.pending);
        known.recent.push_back(Recent {
            start,
            stop,
            link: link.clone(),
        });
        let (its, others): (VecDeque<LowerOperation>, VecDeque<LowerOperation>) = pending
            .into_iter()
            .partition(|l| (start..=stop).contains(&l.operation.arrived));
        known.pending = others;
        for lower in its {
            // Nothing is known of the link yet: there they wait.
            for lower in self.hang(lower, link) {
                link.wait(lower);
            }
        }
    }

    /// Notes that `link` caused `lower`. The operation and the parts of its request wait until `link` is resolved.
    fn found(
        &mut self,
        lower: LowerOperation,
        link: &CauseLink,
        out: &mut RecordOutput,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        for lower in self.hang(lower, link) {
            self.lower(lower, out, put)?;
        }
        Ok(())
    }

    /// Sets `link` as the cause of `lower` and, if it is a request, of its parts.
    fn hang(&mut self, lower: LowerOperation, link: &CauseLink) -> Vec<LowerOperation> {
        let mut all = vec![lower];
        if let Some(unique) = all.iter().find_map(LowerOperation::request) {
            all.extend(self.parts.remove(&unique).unwrap_or_default());
            self.remember(unique, link);
        }
        for lower in &mut all {
            lower.trigger = Some(link.clone());
            if lower.carries.is_empty() {
                lower.carry(link);
            }
        }
        all
    }

    fn remember(&mut self, unique: u64, link: &CauseLink) {
        self.requests.insert(unique, link.clone());
        self.order.push_back(unique);
        if self.order.len() > MAX_REQUESTS
            && let Some(old) = self.order.pop_front()
        {
            self.requests.remove(&old);
        }
    }

    /// Notes that an MPI call with operations has returned on this thread. Requests that the thread made in the call but outside of
    /// its operations were caused by the call.
    pub fn returned(
        &mut self,
        actor: Actor,
        thread: u32,
        inside: EnclosingCall,
        out: &mut RecordOutput,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        let id = self.threads.get(&(actor, thread));
        let Some(known) = id.and_then(|id| self.tids.get_mut(id)) else {
            return Ok(());
        };
        let lane = Lane {
            actor,
            thread,
            lane: 0,
        };
        let ns = inside.start;
        for lower in std::mem::take(&mut known.pending) {
            let trigger =
                (lower.operation.arrived >= ns).then_some((inside.call, PicturePoint { lane, ns }));
            let link = CauseLink::known(ResolvedOperation {
                trigger,
                ..ResolvedOperation::default()
            });
            self.found(lower, &link, out, put)?;
        }
        Ok(())
    }

    /// Notes that a rank has written to a file.
    pub fn written(&mut self, inode: Inode, range: (u64, u64), ns: i64, link: &CauseLink) {
        if self.active {
            self.pages.write(inode, range, ns, link);
        }
    }

    /// Takes an event of a server or device.
    pub fn push(
        &mut self,
        actor: Actor,
        thread: u32,
        what: AttributionEventKind,
        out: &mut RecordOutput,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        match what {
            AttributionEventKind::Thread { tid, machine } => {
                self.thread(actor, thread, tid, machine)
            }
            AttributionEventKind::File(seen) => {
                let devices = self.devices.entry((actor, seen.inode)).or_default();
                if !devices.contains(&seen.device) {
                    devices.push(seen.device);
                }
            }
            AttributionEventKind::Extents(part) => self.pages.extents(actor, &part),
            AttributionEventKind::Operation(operation) => {
                let lower = LowerOperation::new(operation, actor, thread);
                return match kind(lower.operation.kind).map(|k| k.layer) {
                    Some(Layer::Device) => self.device(lower, out, put),
                    Some(Layer::Request) if lower.request().is_some() => {
                        self.request(lower, out, put)
                    }
                    _ => self.part(lower, out, put),
                };
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes a request that a server has answered.
    fn request(
        &mut self,
        lower: LowerOperation,
        out: &mut RecordOutput,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        let Some((lower, found)) = self.asked(lower) else {
            return Ok(());
        };
        match found.or_else(|| self.of_asynchronous(&lower, out)) {
            Some(link) => self.found(lower, &link, out, put),
            None => self.found(lower, &CauseLink::nothing(), out, put),
        }
    }

    /// Looks for the operation that made the request `lower`, by its thread. Returns both if the operation is known, and `lower` alone
    /// if the thread is not known. Otherwise keeps `lower` until the operation ends and returns `None`.
    fn asked(&mut self, lower: LowerOperation) -> Option<(LowerOperation, Option<CauseLink>)> {
        let tid = lower.operation.record.request.map_or(0, |r| r.tid);
        let machine = self.machines.get(&lower.actor).copied().unwrap_or(0);
        let Some(known) = self.tids.get_mut(&(machine, u64::from(tid))) else {
            return Some((lower, None));
        };
        let arrived = lower.operation.arrived;
        let mut recent = known.recent.iter().rev();
        let found = recent.find(|r| (r.start..=r.stop).contains(&arrived));
        let Some(found) = found.map(|r| r.link.clone()) else {
            known.pending.push_back(lower);
            if known.pending.len() > MAX_PENDING_REQUESTS {
                return known.pending.pop_front().map(|lower| (lower, None));
            }
            return None;
        };
        Some((lower, Some(found)))
    }

    /// The asynchronous transfer whose bytes a request is about.
    fn of_asynchronous(&self, lower: &LowerOperation, out: &RecordOutput) -> Option<CauseLink> {
        let range = *lower.pieces.first()?;
        // The kernel's own requests have no thread.
        let request = lower.operation.record.request.filter(|r| r.tid != 0)?;
        let writes = kind(lower.operation.kind)?.effect == Effect::Write;
        let fits =
            |a: &&Asynchronous| a.writes == writes && a.range.0 <= range.0 && range.1 <= a.range.1;
        let inode = request.inode;
        let of = |a: &Asynchronous| a.file.map_or(0, |file| out.files.inode(file).1);
        let arrived = lower.operation.arrived;
        let all = self.asynchronous.iter().chain(self.ended.iter().rev());
        let mut all = all
            .filter(fits)
            .filter(|a| (a.start..=a.stop).contains(&arrived));
        let named = all.clone().find(|a| of(a) == inode);
        // Of some files the inode is not known.
        named
            .or_else(|| all.find(|a| of(a) == 0))
            .map(|a| a.link.clone())
    }

    /// Takes a part of a request.
    fn part(
        &mut self,
        mut lower: LowerOperation,
        out: &mut RecordOutput,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        let operation = &lower.operation;
        let layer = kind(operation.kind).map(|k| k.layer);
        let Some(request) = operation.record.request else {
            lower.trigger = Some(CauseLink::nothing());
            return self.lower(lower, out, put);
        };
        if layer == Some(Layer::Libc) {
            let own = lower.own.clone();
            let (actor, thread) = (lower.actor, lower.thread);
            self.ended(actor, thread, &lower.operation, &own);
            if let (Some(&range), true) = (lower.pieces.first(), lower.operation.writes()) {
                let devices = self.devices.get(&(actor, request.inode));
                for &device in devices.into_iter().flatten() {
                    let inode = (device, request.inode);
                    self.pages.write(inode, range, lower.operation.stop, &own);
                }
            }
        }
        if layer == Some(Layer::Stripe) && matches!(lower.actor, Actor::DataServer(_)) {
            self.place_in_stripe(request.unique, &lower);
        }
        match self.requests.get(&request.unique).cloned() {
            Some(link) => {
                lower.trigger = Some(link.clone());
                lower.carry(&link);
                self.lower(lower, out, put)
            }
            None => {
                self.parts.entry(request.unique).or_default().push(lower);
                Ok(())
            }
        }
    }

    /// Shifts the disk calls of a data server to offsets of the file. Their own offsets count from the start of the server's
    /// store; the stripe gives the difference.
    fn place_in_stripe(&mut self, unique: u64, stripe: &LowerOperation) {
        let Some(parts) = self.parts.get_mut(&unique) else {
            return;
        };
        let (from, to) = (stripe.operation.start, stripe.operation.stop);
        let inner = |l: &&mut LowerOperation| {
            let libc = kind(l.operation.kind).is_some_and(|k| k.layer == Layer::Libc);
            let place = (l.actor, l.thread) == (stripe.actor, stripe.thread);
            libc && place && l.operation.start >= from && l.operation.stop <= to
        };
        let offsets = parts
            .iter_mut()
            .filter(inner)
            .map(|l| l.operation.record.offset);
        let Some(first) = offsets.filter(|&o| o >= 0).min() else {
            return;
        };
        let shift = stripe.operation.record.offset.saturating_sub(first);
        for lower in parts.iter_mut().filter(inner) {
            lower.shift = shift;
        }
    }

    /// Takes a transfer of a device.
    fn device(
        &mut self,
        mut lower: LowerOperation,
        out: &mut RecordOutput,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        let operation = &lower.operation;
        let queued = operation.start;
        let effect = kind(operation.kind).map(|k| k.effect);
        let mut pieces = Vec::new();
        if matches!(effect, Some(Effect::Read | Effect::Write))
            && let Ok(start) = u64::try_from(operation.record.offset)
        {
            let bytes = u64::try_from(operation.record.size).unwrap_or(0);
            let end = start.saturating_add(bytes);
            pieces = self.pages.files(lower.actor, start, end, queued);
        }
        if effect == Some(Effect::Write) && operation.record.flags & DIRECT == 0 {
            for &(inode, range) in &pieces {
                for link in self.pages.take(inode, range, queued) {
                    if !lower
                        .carries
                        .iter()
                        .any(|(l, r)| l.same(&link) && *r == range)
                    {
                        lower.carries.push((link, range));
                    }
                }
            }
            lower.by_page = !lower.carries.is_empty();
        }
        lower.pieces = pieces.into_iter().map(|(_, range)| range).collect();
        match self.asked(lower) {
            None => Ok(()),
            Some((lower, Some(link))) => self.found(lower, &link, out, put),
            Some((lower, None)) => self.lower(lower, out, put),
        }
    }

    /// Passes an operation to `put` when everything that it depends on is resolved, and keeps it until then.
    pub fn lower(
        &mut self,
        lower: LowerOperation,
        out: &mut RecordOutput,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        let mut ready = vec![lower];
        while let Some(lower) = ready.pop() {
            let links = lower
                .trigger
                .iter()
                .chain(lower.carries.iter().map(|c| &c.0));
            let unknown = links.into_iter().find(|l| l.get().is_none()).cloned();
            match unknown {
                Some(link) => link.wait(lower),
                None => {
                    let resolved = give(&lower, out, put)?;
                    ready.extend(lower.own.resolve(resolved));
                }
            }
        }
        Ok(())
    }

    /// Ends the input: passes all operations that are kept to `put`.
    pub fn finish(&mut self, out: &mut RecordOutput, put: RecordSink<'_>) -> Result<(), Stop> {
        let asynchronous = std::mem::take(&mut self.asynchronous);
        for left in asynchronous {
            for lower in left.link.resolve(ResolvedOperation::default()) {
                self.lower(lower, out, put)?;
            }
        }
        let pending: Vec<LowerOperation> = self
            .tids
            .values_mut()
            .flat_map(|t| std::mem::take(&mut t.pending))
            .collect();
        for lower in pending {
            self.found(lower, &CauseLink::nothing(), out, put)?;
        }
        let parts: Vec<LowerOperation> = self.parts.drain().flat_map(|(_, parts)| parts).collect();
        for mut lower in parts {
            lower.trigger = Some(CauseLink::nothing());
            self.lower(lower, out, put)?;
        }
        Ok(())
    }
}
