//! Starts and ends of calls, and the events that stand beside them.

use std::collections::VecDeque;
use std::rc::Rc;

use trace_model::DrawablePoint;

use super::error::Otf2Error;
use super::event::{CollectiveEnd, Event};
use super::events::{EndEvent, EventMaker, OpenRegion};
use super::functions::{RegionCall, collective_bytes};
use super::numbers::{NO_ROOT, value_type};
use super::places::LinePlace;
use super::requests::Operation;
use super::values::{CallValues, numbers, pairs};

impl EventMaker {
    /// A call begins.
    pub(super) fn enter(
        &mut self,
        point: &DrawablePoint,
        time: u64,
        location: usize,
    ) -> Result<(), Otf2Error> {
        self.begin(point, time, location)?;
        let (Some(entry), Some(place)) = (
            self.categories.get(&point.category),
            self.places.of_line(point.line),
        ) else {
            return Ok(());
        };
        let call = entry.call;
        let reader = Rc::clone(&entry.reader);
        let values = reader.values(&point.info);
        let mut region = OpenRegion {
            drawable: point.drawable,
            sends: VecDeque::new(),
            completes: numbers(values.completes),
            receives: VecDeque::new(),
            opens_on: None,
            at_end: EndEvent::None,
        };
        region.completes.extend(values.completes_one);
        region.receives = self.requests.receives(place.process, &region.completes);
        let process = place.process;
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
                region.at_end = self.begin_disk(location, time, &place, effect, &values)?;
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
    fn collective(&self, op: u8, place: &LinePlace, values: &CallValues<'_>) -> CollectiveEnd {
        let root = values
            .root
            .and_then(|root| self.comms.rank(place.comm, root));
        let is_root = values.root == Some(place.comm_rank);
        let ranks = self.comms.size(place.comm) as u64;
        let bytes = values.bytes.unwrap_or(0);
        let (sent, received) = collective_bytes(op, bytes, is_root, ranks);
        CollectiveEnd {
            op,
            comm: self.comms.reference(place.comm),
            root: root.unwrap_or(NO_ROOT),
            sent,
            received,
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
        if let Some(ended) = ended {
            for &request in &ended.completes {
                self.complete(location, time, place.process, request)?;
            }
            self.end_event(location, time, ended.at_end)?;
        }
        if matches!(call, RegionCall::FileOpen | RegionCall::Disk(_)) {
            self.end_open(location, time, &place, call, &reader.values(&point.info))?;
        }
        for (at, count) in reader.counts(&point.info) {
            if let Some(&class) = metrics.get(at) {
                let bits = self.metrics.add(location, class, count);
                let value_type = value_type::UINT64;
                let event = Event::Metric {
                    class,
                    value_type,
                    bits,
                };
                self.archive.write(location, time, &event)?;
            }
        }
        self.archive.write(location, time, &Event::Leave { region })
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
                    continue;
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
        };
        self.archive.write(location, time, &event)
    }
}
