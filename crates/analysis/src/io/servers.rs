//! Operations of I/O servers and block devices.

use super::kinds::{Doing, duration, moved};
use crate::stats::{Histogram, Volume};
use blockfile::operation::{self as op, Effect, Layer};
use io_attribution::{Actor, AttributedOperation};
use std::collections::{BTreeMap, VecDeque};

/// Operations of a kind at one server or device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkTotals {
    /// Number of operations, and bytes that they moved.
    pub volume: Volume,
    /// Durations of the operations, ns.
    pub durations: Histogram,
    /// Sum of these.
    pub ns: u64,
}

impl WorkTotals {
    fn add(&mut self, operation: &AttributedOperation) {
        let ns = duration(operation);
        self.volume.count += 1;
        self.volume.bytes = self.volume.bytes.saturating_add(moved(operation));
        self.durations.add(ns as f64);
        self.ns = self.ns.saturating_add(ns);
    }
}

/// An I/O server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerRow {
    /// Requests to read, and pieces of such.
    pub reads: WorkTotals,
    /// Requests to write, and pieces of such.
    pub writes: WorkTotals,
    /// All other requests.
    pub others: WorkTotals,
    /// Time that requests lay in the queue.
    pub queued: WorkTotals,
    /// Reads of the server from its own disk.
    pub disk_reads: WorkTotals,
    /// Writes of the server to its own disk.
    pub disk_writes: WorkTotals,
    /// All other calls of its own.
    pub disk_others: WorkTotals,
    /// Pieces of requests that it passed on to other servers.
    pub passed_on: WorkTotals,
}

impl ServerRow {
    /// Bytes of requests.
    pub fn bytes(&self) -> u64 {
        let (read, written) = (self.reads.volume.bytes, self.writes.volume.bytes);
        read.saturating_add(written)
    }

    fn add(&mut self, operation: &AttributedOperation) {
        let Some(kind) = op::kind(operation.kind) else {
            return;
        };
        let is_front_end = matches!(operation.place.lane.actor, Actor::FrontEnd(_));
        let doing = Doing::of(operation.kind);
        let work = match (kind.layer, doing) {
            _ if operation.kind == op::REQUEST_QUEUED => &mut self.queued,
            (Layer::Stripe, _) if is_front_end => &mut self.passed_on,
            (Layer::Request | Layer::Stripe, Doing::Read) => &mut self.reads,
            (Layer::Request | Layer::Stripe, Doing::Write) => &mut self.writes,
            (Layer::Request | Layer::Stripe, _) => &mut self.others,
            (_, Doing::Read) => &mut self.disk_reads,
            (_, Doing::Write) => &mut self.disk_writes,
            _ => &mut self.disk_others,
        };
        work.add(operation);
    }
}

/// A block device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceRow {
    /// Data read.
    pub reads: WorkTotals,
    /// Data written.
    pub writes: WorkTotals,
    /// The part that the kernel wrote on its own account, not for a call.
    pub by_kernel: Volume,
    /// Calls whose data were in writes, added up over the writes: the rest were merged by the page cache.
    pub calls_in_writes: u64,
    /// Flushes of the device's own cache.
    pub flushes: WorkTotals,
    /// Data of the file system itself, and discards.
    pub metadata: WorkTotals,
    /// Transfers that were joined with an earlier one to one request to the device.
    pub merged: u64,
    /// Transfers of which it is known when the driver got them.
    pub issued: u64,
    /// Time that these had waited by then, ns.
    pub queued: u64,
    /// When the driver got the latest transfers.
    latest: VecDeque<u64>,
}

/// Requests to a device to which a transfer may belong.
const LATEST: usize = 64;

impl DeviceRow {
    fn add(&mut self, operation: &AttributedOperation) {
        let work = match op::kind(operation.kind).map(|kind| kind.effect) {
            Some(Effect::Read) => &mut self.reads,
            Some(Effect::Write) => {
                if operation.call.is_none() {
                    self.by_kernel.count += 1;
                    self.by_kernel.bytes = self.by_kernel.bytes.saturating_add(moved(operation));
                }
                &mut self.writes
            }
            Some(Effect::Sync) => &mut self.flushes,
            _ => &mut self.metadata,
        };
        work.add(operation);
        let issued = operation
            .record
            .request
            .map_or(0, |request| request.arrived);
        if issued == 0 {
            return;
        }
        // Parts that the driver got at the same nanosecond are one request.
        if self.latest.contains(&issued) {
            self.merged += 1;
        } else {
            self.latest.push_back(issued);
            if self.latest.len() > LATEST {
                self.latest.pop_front();
            }
        }
        // In traces whose times count from their start it is on another clock.
        if let Ok(issued) = i64::try_from(issued)
            && (operation.place.ns..=operation.stop).contains(&issued)
        {
            self.issued += 1;
            self.queued += issued.abs_diff(operation.place.ns);
        }
    }
}

/// CallIDs of requests at servers: those that the server found for itself, compared with those of the file calls that were running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCallIds {
    /// Requests.
    requests: u64,
    /// Requests whose file call was found.
    found: u64,
    /// Requests whose file call was found, of which the server had no CallID.
    unnamed: u64,
    /// Requests of which the server had another CallID than the file call has.
    pub differ: u64,
}

impl RequestCallIds {
    fn add(&mut self, operation: &AttributedOperation) {
        if !is_request(operation.kind) || operation.record.request.is_none() {
            return;
        }
        self.requests += 1;
        let named = operation.record.call.filter(|&call| call != 0);
        // Where no file call was found, the operation has the server's CallID.
        match (operation.call, named) {
            (Some(_), None) => self.unnamed += 1,
            (Some(call), Some(named)) if call != named => self.differ += 1,
            _ => {}
        }
    }

    /// Requests of which server and file call have the same CallID.
    pub fn agree(&self) -> u64 {
        self.found
            .saturating_sub(self.unnamed)
            .saturating_sub(self.differ)
    }

    /// Requests for which no file call was found.
    pub fn unknown(&self) -> u64 {
        self.requests.saturating_sub(self.found)
    }
}

fn is_request(kind: u16) -> bool {
    kind != op::REQUEST_QUEUED && op::kind(kind).is_some_and(|kind| kind.layer == Layer::Request)
}

/// All servers and devices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LowerTotals {
    /// Servers, front ends before data servers.
    pub servers: BTreeMap<Actor, ServerRow>,
    /// Devices by number.
    pub devices: BTreeMap<u32, DeviceRow>,
    /// CallIDs of requests.
    pub request_callids: RequestCallIds,
    /// By file: transfers of ranks, and requests that they became. Files without requests are on no server.
    transfers: BTreeMap<u32, (u64, u64)>,
}

impl LowerTotals {
    pub(super) fn add(&mut self, operation: &AttributedOperation) {
        match operation.place.lane.actor {
            Actor::Rank(_) => {
                if let Some(transfers) = self.transfers_of(operation) {
                    transfers.0 += 1;
                }
            }
            Actor::Device(number) => self.devices.entry(number).or_default().add(operation),
            server => {
                self.servers.entry(server).or_default().add(operation);
                self.request_callids.add(operation);
                let layer = op::kind(operation.kind).map(|kind| kind.layer);
                if layer == Some(Layer::Request)
                    && let Some(transfers) = self.transfers_of(operation)
                {
                    transfers.1 += 1;
                }
            }
        }
    }

    fn transfers_of(&mut self, operation: &AttributedOperation) -> Option<&mut (u64, u64)> {
        let is_transfer = Doing::of(operation.kind).is_transfer();
        let file = operation.file.filter(|_| is_transfer)?;
        Some(self.transfers.entry(file).or_default())
    }

    /// Notes that a call triggered an operation of this kind.
    pub(super) fn triggers(&mut self, kind: u16) {
        self.request_callids.found += u64::from(is_request(kind));
    }

    pub(super) fn carries(&mut self, actor: Actor, kind: u16) {
        if let Actor::Device(number) = actor
            && Doing::of(kind) == Doing::Write
        {
            self.devices.entry(number).or_default().calls_in_writes += 1;
        }
    }

    /// Requests for each transfer of a rank; `None` without servers.
    pub fn requests_per_transfer(&self) -> Option<f64> {
        let served = self
            .transfers
            .values()
            .filter(|(_, requests)| *requests > 0);
        let (transfers, requests) = served.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (transfers > 0).then(|| requests as f64 / transfers as f64)
    }

    /// Bytes of the data server with most of them, in parts of what each would have if all had as much; `None` if there
    /// are not several, or no bytes.
    pub fn imbalance(&self) -> Option<f64> {
        let servers = self.servers.iter();
        let data = servers.filter(|(actor, _)| matches!(actor, Actor::DataServer(_)));
        let bytes: Vec<u64> = data.map(|(_, row)| row.bytes()).collect();
        let all: u64 = bytes.iter().fold(0, |sum, &b| sum.saturating_add(b));
        let most = bytes.iter().copied().max()?;
        (bytes.len() > 1 && all > 0).then(|| most as f64 * bytes.len() as f64 / all as f64)
    }
}
