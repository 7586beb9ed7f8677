//! Messages that leave and arrive: late senders, late receivers, and probes that waited for a message.

use super::calls::Finding;
use super::clocks::later;
use super::coming::MAX_REQUESTS;
use super::lane::{EndedProbe, OpenCall, WaitEnd};
use super::message::{
    MessageEnvelope, PostedReceive, Probed, SenderCall, TravellingMessage, is_clearly_later,
};
use super::pass::WaitPass;
use super::role::CategoryRole;
use super::wait::WaitPattern;

impl WaitPass<'_> {
    /// A message leaves its sender, and has this place until it arrives.
    pub(super) fn send(
        &mut self,
        time: f64,
        [from, to]: [u32; 2],
        at: u32,
        envelope: MessageEnvelope,
    ) {
        self.advance(from, time);
        let lane = &mut self.lanes[from as usize];
        let mut message = TravellingMessage {
            from,
            to,
            sent: time,
            envelope,
            clocks: lane.clocks,
            sender: SenderCall::Unknown,
            request: None,
            generation: 0,
        };
        if let Some(call) = &lane.call {
            message.clocks = call.begun.clocks;
            if call.begun.role == CategoryRole::BlockingTransfer {
                message.sender = SenderCall::Open(from, call.begun.serial);
            }
        }
        self.messages.put(at, message);
        let serial = self.serial;
        if let Some(call) = &mut lane.call {
            match call.begun.role {
                CategoryRole::BlockingTransfer => call.sends.push(at),
                CategoryRole::StartsTransfer => {
                    let requests = &mut self.requests[lane.rank_place as usize];
                    if let Some(request) = call.starts.pop() {
                        // It stands for a send, and not for a receive.
                        requests.posted.remove(&request);
                        if requests.sends.len() < MAX_REQUESTS {
                            requests.sends.insert(request, at);
                            self.messages.get_mut(at).request = Some(request);
                        }
                    }
                }
                _ => {}
            }
        }
        let to = &mut self.lanes[to as usize];
        to.incoming.add(serial, at, &self.messages);
    }

    /// A message is received.
    pub(super) fn receive(&mut self, at: u32, time: f64) {
        let message = self.messages.remove(at);
        self.advance(message.to, time);
        self.lanes[message.to as usize].incoming.remove_one();
        if let (SenderCall::Unknown, Some(request)) = (message.sender, message.request) {
            self.requests_of(message.from).sends.remove(&request);
        }
        let call = self.lanes[message.to as usize].call.as_mut();
        let call = call.filter(|call| call.begun.role != CategoryRole::BlockingTransfer);
        let mut posted = call.and_then(|call| call.take_posted(&message.envelope));
        self.end_probe(&message, posted.as_ref());
        let lane = &mut self.lanes[message.to as usize];
        match &mut lane.call {
            Some(call) => {
                call.needs = later(&call.needs, &message.clocks);
                WaitEnd::keep(
                    &mut call.late_send,
                    WaitEnd {
                        lane: message.from,
                        time: message.sent,
                    },
                );
                if call.begun.role == CategoryRole::BlockingTransfer {
                    posted = Some(PostedReceive {
                        time: call.begun.enter,
                        clocks: call.begun.clocks,
                        asked: None,
                    });
                }
            }
            None => lane.clocks = later(&lane.clocks, &message.clocks),
        }
        let Some(posted) = posted else {
            return;
        };
        let end = WaitEnd {
            lane: message.to,
            time: posted.time,
        };
        match message.sender {
            SenderCall::Unknown => {}
            SenderCall::Open(lane, serial) => {
                let sender = &mut self.lanes[lane as usize];
                if let Some(call) = sender
                    .call
                    .as_mut()
                    .filter(|call| call.begun.serial == serial)
                {
                    WaitEnd::keep(&mut call.late_receive, end);
                    for (nth, assumption) in self.assumptions.iter().enumerate() {
                        if assumption.sends_wait {
                            call.needs[nth] = call.needs[nth].max(posted.clocks[nth]);
                        }
                    }
                }
            }
            SenderCall::Ended(ended) => {
                // It waited for this receive if that was posted before it ended.
                let is_later = posted.time > ended.waited_until
                    && is_clearly_later(posted.time, ended.enter, ended.sent);
                if posted.time < ended.leave && is_later {
                    let from = ended.enter.max(ended.waited_until);
                    self.add_wait(
                        ended.place,
                        WaitPattern::LateReceiver,
                        from,
                        end,
                        Finding::AfterTheCall,
                    );
                }
            }
        }
    }

    /// A call ends that only looked for a message. Gives whether it is open which one it found.
    pub(super) fn find_probed(&mut self, call: &mut OpenCall, time: f64) -> bool {
        let lane = &mut self.lanes[call.begun.line.lane as usize];
        lane.probe = None;
        let requests = &self.requests[lane.rank_place as usize];
        let looked = (call.begun.enter, time);
        let asked = call.asked.as_ref();
        match lane
            .incoming
            .probed(&self.messages, asked, looked, requests.posted.values())
        {
            Probed::Nothing => false,
            Probed::OneOfSeveral => true,
            Probed::Message(at) => {
                let message = self.messages.get(at);
                call.needs = later(&call.needs, &message.clocks);
                call.late_send = Some(WaitEnd {
                    lane: message.from,
                    time: message.sent,
                });
                false
            }
        }
    }

    /// Of the messages that were sent while a call looked for one, the first that is received is what it found; but not one that a receive got which had been
    /// posted by then, `posted`.
    fn end_probe(&mut self, message: &TravellingMessage, posted: Option<&PostedReceive>) {
        let lane = &mut self.lanes[message.to as usize];
        let is_found = |probe: &mut Box<EndedProbe>| {
            let asked = probe.asked.as_ref();
            message.envelope.is_found_by(asked)
                && message.sent > probe.enter
                && message.sent < probe.leave
                && posted.is_none_or(|posted| posted.time >= probe.leave)
        };
        let Some(probe) = lane.probe.take_if(is_found) else {
            return;
        };
        // What the replays did not know when the call ended.
        let needed = later(&probe.clocks[0], &message.clocks);
        for (nth, clock) in lane.running_clocks().iter_mut().enumerate() {
            let transfer = self.assumptions[nth].transfer;
            let ended = needed[nth] + (probe.leave - message.sent) * transfer;
            *clock += ended - probe.clocks[1][nth];
        }
        if let Some(call) = &mut lane.call {
            call.needs = later(&call.begun.clocks, &message.clocks);
        }
        let end = WaitEnd {
            lane: message.from,
            time: message.sent,
        };
        self.add_wait(
            probe.place,
            WaitPattern::LateSender,
            probe.enter,
            end,
            Finding::AfterTheCall,
        );
    }
}
