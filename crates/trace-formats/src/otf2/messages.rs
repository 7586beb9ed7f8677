//! Both ends of messages.

use trace_model::{DrawablePoint, message};

use super::error::Otf2Error;
use super::event::{Event, MessageEnd};
use super::events::{EventMaker, OpenRegion};
use super::places::LinePlace;
use super::requests::Operation;

impl EventMaker {
    /// Own end of a message, with its own place and that of the partner.
    fn message_end(&mut self, point: &DrawablePoint) -> Option<(MessageEnd, LinePlace, LinePlace)> {
        let own = self.places.of_line(point.line)?;
        let other = self.places.of_line(point.partner)?;
        let entry = self.categories.get(&point.category)?;
        let found = message(entry.reader.category(), &point.info);
        let (tag, size) = found.map_or((0, 0), |found| (found.tag, found.size));
        let (comm, partner) = self.comms.channel(&own, &other);
        let end = MessageEnd {
            partner,
            comm,
            tag: tag as u32,
            bytes: u64::try_from(size).unwrap_or(0),
        };
        Some((end, own, other))
    }

    /// The location and the region, of those that a thread is in, for which `is_wanted` is true: the innermost one. Without any the thread's own
    /// location.
    fn innermost(
        &self,
        location: usize,
        is_wanted: impl Fn(&OpenRegion) -> bool,
    ) -> (usize, Option<usize>) {
        let beside = self.nesting.get(&location);
        let beside = beside.map_or(&[][..], |(_, beside)| beside);
        for &at in std::iter::once(&location).chain(beside) {
            let regions = self.inside.get(at).map_or(&[][..], Vec::as_slice);
            if let Some(region) = regions.iter().rposition(&is_wanted) {
                return (at, Some(region));
            }
        }
        (location, None)
    }

    /// Writes a send: that of a nonblocking one if the call around it makes or starts a request.
    pub(super) fn send(&mut self, point: &DrawablePoint, time: u64) -> Result<(), Otf2Error> {
        let Some((end, own, _)) = self.message_end(point) else {
            return Ok(());
        };
        let (location, region) = self.innermost(own.location, |region| !region.sends.is_empty());
        let region = region.and_then(|at| self.inside.get_mut(location)?.get_mut(at));
        let request = region.and_then(|region| region.sends.pop_front());
        let id = request.map(|request| self.requests.begin(own.process, request, Operation::Send));
        self.archive.write(location, time, &Event::Send(end, id))
    }

    /// Writes a receive: that of a nonblocking one if the call around it completes one.
    pub(super) fn receive(&mut self, point: &DrawablePoint, time: u64) -> Result<(), Otf2Error> {
        let Some((end, own, other)) = self.message_end(point) else {
            return Ok(());
        };
        let (location, region) = self.innermost(own.location, |region| !region.receives.is_empty());
        let region = region.and_then(|at| self.inside.get_mut(location)?.get_mut(at));
        let id = region.and_then(|region| {
            let receives = &mut region.receives;
            let (sender, tag) = (other.comm_rank, end.tag as i32);
            self.requests.received(own.process, receives, sender, tag)
        });
        self.archive.write(location, time, &Event::Receive(end, id))
    }
}
