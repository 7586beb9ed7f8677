//! AttributionEventKind happens below the ranks: requests at servers, their pieces and disk calls, transfers of devices.
//!
//! A request names the thread that asked. The operation of a rank that was running on that thread at that time has caused it
//! (`spec/io-chain.md` section 4); a thread that nobody knows is glibc's, at work on an asynchronous transfer, and is
//! found by the bytes. All else at servers bears the number of the request. AttributionEventKind a device does is found by thread, or by
//! pages.

use super::give::give;
use super::link::{CauseLink, LowerOperation};
use super::out::{RecordOutput, RecordSink};
use super::pages::Pages;
use super::places::Inode;
use super::resolved::ResolvedOperation;
use crate::fact::{Actor, Lane, PicturePoint};
use crate::item::{AttributionEventKind, EnclosingCall, OperationEvent};
use blockfile::operation::{DIRECT, Effect, Layer, kind};
use std::collections::VecDeque;
use trace_model::Stop;
use trace_model::hash::Map;

/// Operations of a thread that are remembered: what they asked for may come later (reading ahead).
const RECENT: usize = 16;
/// Requests of a thread that wait for the operation they belong to.
const PENDING: usize = 4096;
/// Asynchronous transfers that are remembered when they have ended: a server may say of a request that it is answered when the rank
/// knows that already.
const ENDED: usize = 1024;
/// Requests whose number is remembered.
const REQUESTS: usize = 65536;

#[derive(Debug)]
struct Recent {
    start: i64,
    stop: i64,
    link: CauseLink,
}

/// A thread by its ID in the system.
#[derive(Debug, Default)]
struct SystemThread {
    /// AttributionEventKind it asked for and is not known yet why.
    pending: VecDeque<LowerOperation>,
    recent: VecDeque<Recent>,
}

/// An asynchronous transfer.
#[derive(Debug)]
struct Asynchronous {
    actor: Actor,
    start: i64,
    /// When its result was asked for; `i64::MAX` while it is under way.
    stop: i64,
    control: Option<u64>,
    file: Option<u32>,
    writes: bool,
    range: (u64, u64),
    link: CauseLink,
}

/// All that is known of the lower layers.
#[derive(Debug, Default)]
pub(super) struct LowerLayers {
    /// Whether there are any.
    active: bool,
    /// Machine and thread ID of each thread.
    threads: Map<(Actor, u32), (u64, u64)>,
    tids: Map<(u64, u64), SystemThread>,
    machines: Map<Actor, u64>,
    /// Under way.
    asynchronous: Vec<Asynchronous>,
    /// The last ones that have ended.
    ended: VecDeque<Asynchronous>,
    /// Requests by number, and in the order in which they came.
    requests: Map<u64, CauseLink>,
    order: VecDeque<u64>,
    /// AttributionEventKind belongs to a request that has not come yet.
    parts: Map<u64, Vec<LowerOperation>>,
    /// Devices on which a server has an inode: that of its store, and that as which the store is seen elsewhere.
    devices: Map<(Actor, u64), Vec<u64>>,
    pages: Pages,
}

impl LowerLayers {
    /// Number of things that are kept.
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

    /// A rank has begun an asynchronous transfer.
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

    /// An operation of a rank has ended: those below it hang on the link.
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
            if self.ended.len() >= ENDED {
                self.ended.pop_front();
            }
            self.ended.push_back(ended);
            return link;
        }
        let link = CauseLink::new();
        self.ended(actor, thread, operation, &link);
        link
    }

    /// An operation on this thread has ended. Whatever the thread asked for in the meantime belongs to it.
    fn ended(&mut self, actor: Actor, thread: u32, operation: &OperationEvent, link: &CauseLink) {
        let Some(id) = self.threads.get(&(actor, thread)) else {
            return;
        };
        let Some(known) = self.tids.get_mut(id) else {
            return;
        };
        if known.recent.len() >= RECENT {
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

    /// AttributionEventKind caused `lower` has been found. It waits until all is known of that, and so do the parts of the request that it is.
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

    /// Hangs `lower`, and its parts if it is a request, on what caused them.
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
        if self.order.len() > REQUESTS
            && let Some(old) = self.order.pop_front()
        {
            self.requests.remove(&old);
        }
    }

    /// The MPI call on this thread, in which there were operations, has returned: what the thread asked for in it outside of
    /// them has no other cause than the call.
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

    /// A rank has written to a file.
    pub fn written(&mut self, inode: Inode, range: (u64, u64), ns: i64, link: &CauseLink) {
        if self.active {
            self.pages.write(inode, range, ns, link);
        }
    }

    /// An item of what is no rank.
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

    /// A request that a server has answered.
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

    /// Looks for the operation on the thread that asked for it. Given back, with it, if it is known; without it, if that
    /// thread is not known; kept until the operation ends, else.
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
            if known.pending.len() > PENDING {
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

    /// Part of a request.
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

    /// The disk calls of a data server count from the start of its store; the stripe that they are for tells where in the
    /// file that is.
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

    /// A transfer of a device.
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

    /// Gives an operation as soon as all is known that it hangs on.
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

    /// There is nothing more to come.
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
