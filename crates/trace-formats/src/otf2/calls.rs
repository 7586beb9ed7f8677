//! Starts and ends of calls, and the events that stand beside them.

use std::collections::VecDeque;
use std::rc::Rc;

use trace_model::DrawablePoint;
use wrappers::ToldBytes;

use super::error::Otf2Error;
use super::event::{CollectiveEnd, Event};
use super::events::{EndEvent, EventMaker, OpenRegion};
use super::functions::{RegionCall, bytes_of_remote_root, collective_bytes};
use super::numbers::{NO_ROOT, REQUEST, ROOT_IN_OWN_GROUP, ROOT_IS_SELF, value_type};
use super::places::LinePlace;
use super::requests::Operation;
use super::values::{CallValues, numbers, pairs};

/// The largest number that MPI_ROOT has in any MPI library. MPI_PROC_NULL lies between it and 0.
const MAX_MPI_ROOT: i32 = -3;

impl EventMaker {
    /// A call begins.
    pub(super) fn enter(
        &mut self,
        point: &DrawablePoint,
        time: u64,
        location: usize,
    ) -> Result<(), Otf2Error> {
        let (Some(entry), Some(place)) = (
            self.categories.get(&point.category),
            self.places.of_line(point.line),
        ) else {
            return Ok(());
        };
        let call = entry.call;
        let reader = Rc::clone(&entry.reader);
        let values = reader.values(&point.info);
        let metrics = entry.metrics.clone();
        let mut region = OpenRegion {
            drawable: point.drawable,
            sends: VecDeque::new(),
            completes: numbers(values.completes),
            receives: VecDeque::new(),
            opens_on: None,
            sums: Vec::new(),
            at_end: EndEvent::None,
        };
        region.completes.extend(values.completes_one);
        region.receives = self.requests.receives(place.process, &region.completes);
        let process = place.process;
        let beside = self.untold(process, call, &values, &region.completes);
        for (at, _) in reader.counts(&point.info) {
            let Some(&class) = metrics.get(at) else {
                continue;
            };
            let (sum, is_known) = self.metrics.sum(location, class);
            region.sums.push((class, sum));
            // A reader takes the difference to the value before.
            if !is_known {
                self.metric(location, time, class, sum)?;
            }
        }
        self.begin(point, time, location, &beside)?;
        if let (Some(made), Some(remote)) = (values.makes, values.remote) {
            self.comms.note_remote(made, remote);
        }
        match call {
            RegionCall::Plain => {}
            RegionCall::FileOpen => region.opens_on = Some(self.comms.reference(place.comm)),
            RegionCall::Isend => region.sends.extend(values.request),
            RegionCall::Irecv => self.begin_receives(location, time, process, &values, None)?,
            RegionCall::Isendrecv => {
                region.sends.extend(values.request);
                self.begin_receives(location, time, process, &values, None)?;
            }
            RegionCall::Start => self.start(location, time, process, &values, &mut region)?,
            RegionCall::Collective(op) => {
                let end = self.collective(op, &place, &values);
                self.archive
                    .write(location, time, &Event::CollectiveBegin(None))?;
                region.at_end = EndEvent::Collective(end);
            }
            RegionCall::Icollective(op) => match values.request {
                Some(request) => {
                    let end = self.collective(op, &place, &values);
                    self.begin_collective(location, time, process, request, end)?;
                }
                None => {
                    let what = "nonblocking collective operation without a request";
                    self.losses.add(what, 1);
                }
            },
            RegionCall::CollectiveInit(op) => {
                let end = self.collective(op, &place, &values);
                if let Some(number) = values.prepared {
                    self.prepared.insert((process, number), end);
                }
            }
            RegionCall::Window(call) => {
                region.at_end = self.begin_on_window(location, time, &place, call, &values)?;
            }
            RegionCall::FileClose => {
                let number = values.file_number();
                let handle = number.and_then(|number| self.files.close(process, number));
                if let Some(handle) = handle {
                    region.at_end = EndEvent::Close { handle };
                }
            }
            RegionCall::FileAccess(kind) => {
                region.at_end = self.begin_access(location, time, &place, kind, &values)?;
            }
            RegionCall::Disk(effect) => {
                region.at_end = self.begin_disk(location, time, process, effect, &values)?;
            }
        }
        if let Some(inside) = self.inside.get_mut(location) {
            inside.push(region);
        }
        Ok(())
    }

    /// Writes that receives have begun: those of `requests`, or else that of the call's own request.
    fn begin_receives(
        &mut self,
        location: usize,
        time: u64,
        process: usize,
        values: &CallValues<'_>,
        requests: Option<Vec<u32>>,
    ) -> Result<(), Otf2Error> {
        let requests = requests.unwrap_or_else(|| Vec::from_iter(values.request));
        for request in requests {
            let (source, tag) = (values.source, values.tag);
            let receive = Operation::Receive { source, tag };
            let id = self.requests.begin(process, request, receive);
            self.archive
                .write(location, time, &Event::ReceiveRequest(id))?;
        }
        Ok(())
    }

    fn begin_collective(
        &mut self,
        location: usize,
        time: u64,
        process: usize,
        request: u32,
        end: CollectiveEnd,
    ) -> Result<(), Otf2Error> {
        let operation = Operation::Collective(end);
        let id = self.requests.begin(process, request, operation);
        self.archive
            .write(location, time, &Event::CollectiveBegin(Some(id)))
    }

    /// Persistent operations are started.
    fn start(
        &mut self,
        location: usize,
        time: u64,
        process: usize,
        values: &CallValues<'_>,
        region: &mut OpenRegion,
    ) -> Result<(), Otf2Error> {
        let mut collectives = pairs(values.started);
        match (values.request, values.prepared) {
            (Some(request), Some(number)) => collectives.push((request, number)),
            // Whether it is a send only its message tells.
            (Some(request), None) => region.sends.push_back(request),
            _ => {}
        }
        region.sends.extend(numbers(values.sends));
        let receives = Some(numbers(values.receives));
        self.begin_receives(location, time, process, values, receives)?;
        for (request, number) in collectives {
            if let Some(&end) = self.prepared.get(&(process, number)) {
                self.begin_collective(location, time, process, request, end)?;
            }
        }
        Ok(())
    }

    /// What the end of a collective operation tells.
    fn collective(&mut self, op: u8, place: &LinePlace, values: &CallValues<'_>) -> CollectiveEnd {
        let bytes = values.bytes.unwrap_or(0);
        let across = self.comms.across(place.comm);
        let (comm, others) = across.unwrap_or((self.comms.reference(place.comm), place.comm));
        let ranks = self.comms.size(others) as u64;
        let (root, (sent, received)) = match values.root {
            Some(..=MAX_MPI_ROOT) => (ROOT_IS_SELF, bytes_of_remote_root(op, bytes)),
            Some(..0) if across.is_some() => (ROOT_IN_OWN_GROUP, (0, 0)),
            root => {
                let is_root = across.is_none() && root == Some(place.comm_rank);
                let root = root.and_then(|root| self.comms.rank(others, root));
                let told = ToldBytes {
                    bytes: values.bytes,
                    received: values.received,
                    sent: values.sent,
                };
                let amounts = collective_bytes(op, told, is_root, ranks);
                (root.unwrap_or(NO_ROOT), amounts)
            }
        };
        CollectiveEnd {
            op,
            comm,
            root,
            sent: values.sent.unwrap_or(sent),
            received: values.received.unwrap_or(received),
        }
    }

    /// A call ends.
    pub(super) fn leave(
        &mut self,
        point: &DrawablePoint,
        time: u64,
        location: usize,
    ) -> Result<(), Otf2Error> {
        let (Some(entry), Some(place)) = (
            self.categories.get(&point.category),
            self.places.of_line(point.line),
        ) else {
            return Ok(());
        };
        let (call, region, reader) = (entry.call, entry.region, Rc::clone(&entry.reader));
        let metrics = entry.metrics.clone();
        let inside = self.inside.get_mut(location);
        let ended = inside.and_then(|inside| {
            let at = inside
                .iter()
                .rposition(|open| open.drawable == point.drawable)?;
            Some(inside.remove(at))
        });
        let mut sums = Vec::new();
        let mut attributes = Vec::new();
        if let Some(ended) = ended {
            sums = ended.sums;
            // A send without a message, as to MPI_PROC_NULL, has no event that tells its request.
            if matches!(call, RegionCall::Isend | RegionCall::Isendrecv)
                && let Some(&request) = ended.sends.front()
            {
                attributes.push(self.number_attribute(REQUEST, request));
            }
            for &request in &ended.completes {
                self.complete(location, time, place.process, request)?;
                self.complete_one_sided(location, time, place.process, request)?;
            }
            if let RegionCall::Window(call) = call {
                let values = reader.values(&point.info);
                self.complete_on_window(location, time, &place, call, &values)?;
            }
            self.end_event(location, time, ended.at_end)?;
        }
        if matches!(call, RegionCall::FileOpen | RegionCall::Disk(_)) {
            self.end_open(location, time, &place, call, &reader.values(&point.info))?;
        }
        for (at, count) in reader.counts(&point.info) {
            if let Some(&class) = metrics.get(at) {
                let start = sums.iter().find(|(of, _)| *of == class);
                let start = start.map(|(_, sum)| *sum);
                let start = start.unwrap_or_else(|| self.metrics.sum(location, class).0);
                let sum = self.metrics.count(location, class, start, count);
                self.metric(location, time, class, sum)?;
            }
        }
        let attributes = attributes.as_slice();
        let event = Event::Leave { region, attributes };
        self.archive.write(location, time, &event)
    }

    /// Writes the sum of a performance counter.
    fn metric(
        &mut self,
        location: usize,
        time: u64,
        class: u32,
        sum: u64,
    ) -> Result<(), Otf2Error> {
        let event = Event::Metric {
            class,
            value_type: value_type::UINT64,
            bits: sum,
        };
        self.archive.write(location, time, &event)
    }

    /// Writes that the operations of a request are complete, but for a receive, which its message completes.
    fn complete(
        &mut self,
        location: usize,
        time: u64,
        process: usize,
        request: u32,
    ) -> Result<(), Otf2Error> {
        for (id, operation) in self
            .requests
            .complete(process, request)
            .into_iter()
            .flatten()
        {
            let event = match operation {
                Operation::Send => Event::SendComplete(id),
                Operation::Collective(end) => Event::CollectiveEnd(end, Some(id)),
                Operation::Receive { .. } => {
                    self.losses
                        .add("receive that was completed without a message", 1);
                    Event::Cancelled(id)
                }
            };
            self.archive.write(location, time, &event)?;
        }
        Ok(())
    }

    fn end_event(&mut self, location: usize, time: u64, end: EndEvent) -> Result<(), Otf2Error> {
        let event = match end {
            EndEvent::None => return Ok(()),
            EndEvent::Collective(end) => Event::CollectiveEnd(end, None),
            EndEvent::IoIssued { handle, id } => Event::IoIssued { handle, id },
            EndEvent::IoComplete { handle, bytes, id } => Event::IoComplete { handle, bytes, id },
            EndEvent::Close { handle } => Event::Close { handle },
            EndEvent::Window(events) => {
                for event in events.into_iter().flatten() {
                    self.write_window(location, time, event)?;
                }
                return Ok(());
            }
        };
        self.archive.write(location, time, &event)
    }
}
