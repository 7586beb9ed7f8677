//! The program's own events in the merged records of a process.

use super::calls::ProcessWalk;
use super::cargo::{Cargo, text_cargo};
use super::record::MergedBody;
use blockfile::user::{UserCategoryKind, UserEvent, UserEventContent, UserMessage};
use trace_formats::clog2::{CARGO_SIZE, msg_etype};
use unify::comms::CommId;
use unify::lanes::{Lane, OpenAnnotation};
use unify::places::CommPlace;

/// Text in the info box of a region that never ended.
const UNFINISHED: &[u8] = b"unfinished";

impl ProcessWalk<'_> {
    /// The event that `lane` stands at, at `ticks`.
    pub fn user_event(&mut self, lane: &mut Lane<'_>, ticks: u64) {
        self.time(ticks);
        let payload = std::mem::take(&mut lane.event_payload);
        match UserEvent::decode(&payload) {
            Some(event) => self.tell(lane, &event),
            None => self.notes.unknown_events += 1,
        }
        lane.event_payload = payload;
    }

    fn tell(&mut self, lane: &mut Lane<'_>, event: &UserEvent<'_>) {
        let thread = lane.call.thread;
        let comm = match event.comm {
            None => Some(CommId::WORLD),
            Some(handle) => self.handles.lookup(handle),
        };
        let place = self.places.get(comm.unwrap_or(CommId::WORLD));
        match event.content {
            UserEventContent::Enter
            | UserEventContent::Exit
            | UserEventContent::Mark(_)
            | UserEventContent::Text(_) => {
                let etypes = self.named(event.number);
                let Some((kind, etypes)) = etypes else {
                    self.notes.unknown_events += 1;
                    return;
                };
                match event.content {
                    UserEventContent::Enter if kind == UserCategoryKind::Region => {
                        let start = self.enter(place, thread, etypes.start);
                        lane.begun.push(OpenAnnotation {
                            etypes: [etypes.start, etypes.end],
                            start,
                            place,
                            region: true,
                        });
                    }
                    UserEventContent::Exit => self.exit(lane, etypes.end),
                    UserEventContent::Mark(bits) => {
                        let cargo = Some(cargo(&bits.to_be_bytes()));
                        let etype = etypes.start;
                        self.put(place, thread, MergedBody::Event { etype, cargo });
                    }
                    UserEventContent::Text(text) => {
                        let cargo = Some(text_cargo(text));
                        let etype = etypes.start;
                        self.put(place, thread, MergedBody::Event { etype, cargo });
                    }
                    _ => self.notes.unknown_events += 1,
                }
            }
            UserEventContent::Mpe(data) => self.mpe_event(lane, event.number, place, data),
            UserEventContent::Send(m) => self.told_message(comm, thread, msg_etype::SEND, m),
            UserEventContent::Receive(m) => self.told_message(comm, thread, msg_etype::RECV, m),
        }
    }

    /// Kind and numbers of what has number `number` in the process.
    fn named(&self, number: i32) -> Option<(UserCategoryKind, unify::categories::CategoryEtypes)> {
        let (kind, name) = self.scan.names.get(&number)?;
        Some((*kind, self.schema.user.named(*kind, name)?))
    }

    /// The last region begun on the thread that `end` ends.
    fn exit(&mut self, lane: &mut Lane<'_>, end: i32) {
        let is_its = |b: &OpenAnnotation| b.region && b.etypes[1] == end;
        match lane.begun.iter().rposition(is_its) {
            Some(i) => {
                let begun = lane.take_begun(i);
                self.leave(
                    begun.place,
                    lane.call.thread,
                    begun.start,
                    begun.etypes,
                    None,
                );
            }
            // Begun before recording was switched on.
            None => self.notes.unknown_events += 1,
        }
    }

    fn mpe_event(
        &mut self,
        lane: &mut Lane<'_>,
        number: i32,
        place: CommPlace,
        data: Option<&Cargo>,
    ) {
        let Some(etype) = self.schema.user.number(number) else {
            self.notes.unknown_events += 1;
            return;
        };
        let cargo = data.copied();
        self.put(place, lane.call.thread, MergedBody::Event { etype, cargo });
        // Regions that are open when the process is killed.
        if self.settings.open_until_ns.is_none() {
            return;
        }
        if let Some(end) = self.schema.user.end_of(etype) {
            lane.begun.push(OpenAnnotation {
                etypes: [etype, end],
                start: self.last,
                place,
                region: false,
            });
        } else if let Some(i) = lane
            .begun
            .iter()
            .rposition(|b| !b.region && b.etypes[1] == etype && b.place.line == place.line)
        {
            lane.begun.remove(i);
        }
    }

    fn told_message(&mut self, comm: Option<CommId>, thread: i32, etype: i32, m: UserMessage) {
        if i64::from(m.partner) == self.proc_null {
            return;
        }
        let bytes = u64::try_from(m.bytes).unwrap_or(0);
        let message = (m.partner.into(), m.tag.into(), bytes);
        self.message(comm, thread, (etype, 0), message);
    }

    /// All regions that the thread of `lane` is in end now, the last one first. States of MPE's API go on: any thread may end them.
    pub fn leave_regions(&mut self, lane: &mut Lane<'_>) {
        while let Some(i) = lane.begun.iter().rposition(|begun| begun.region) {
            let begun = lane.take_begun(i);
            let thread = lane.call.thread;
            self.leave(begun.place, thread, begun.start, begun.etypes, None);
        }
    }

    /// Closes what is open at the end of the log: regions, and after a kill also states of MPE's API.
    pub fn close_user(&mut self, lanes: &mut [Lane<'_>]) {
        for lane in lanes {
            while let Some(last) = lane.begun.len().checked_sub(1) {
                let begun = lane.take_begun(last);
                let is_killed = self.settings.open_until_ns.is_some();
                self.go_to_end();
                if begun.region {
                    let cargo = is_killed.then(|| text_cargo(UNFINISHED));
                    self.leave(
                        begun.place,
                        lane.call.thread,
                        begun.start,
                        begun.etypes,
                        cargo,
                    );
                } else {
                    self.put_event(begun.place, lane.call.thread, begun.etypes[1]);
                }
            }
        }
    }
}

fn cargo(data: &[u8]) -> Cargo {
    let mut bytes = [0; CARGO_SIZE];
    let n = data.len().min(CARGO_SIZE);
    bytes[..n].copy_from_slice(&data[..n]);
    bytes
}
