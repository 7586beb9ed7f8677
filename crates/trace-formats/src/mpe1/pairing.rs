//! The second pass: events to drawables.

use super::survey::{EventRole, ReadPlan};
use super::{CONSTANT, HashMap, LONGEST_TEXT, MessageEnvelope, MessageSide, Mpe1Event};
use std::collections::VecDeque;
use trace_model::{Drawable, InfoWriter, Losses, Stop, Topology, Vertex};

/// Pairs starts with ends and sends with receipts.
#[derive(Debug)]
pub(crate) struct EventPairing<'a> {
    plan: &'a ReadPlan,
    /// By slot and line the states that are open, the latest one last.
    open: HashMap<(usize, i32), Vec<OpenStart>>,
    /// By sender, receiver and tag the ends of messages that wait for the other, in order of the file.
    waiting: HashMap<(i32, i32, i32), VecDeque<WaitingEndpoint>>,
    info: InfoWriter,
    losses: Losses,
}

#[derive(Debug)]
struct OpenStart {
    time: f64,
    data: i32,
    text: Box<[u8]>,
}

#[derive(Clone, Copy, Debug)]
struct WaitingEndpoint {
    side: MessageSide,
    vertex: Vertex,
    size: i32,
}

type DrawableOutput<'a> = &'a mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>;

impl<'a> EventPairing<'a> {
    pub(crate) fn new(plan: &'a ReadPlan) -> Self {
        EventPairing {
            plan,
            open: HashMap::default(),
            waiting: HashMap::default(),
            info: InfoWriter::default(),
            losses: plan.losses.clone(),
        }
    }

    /// Takes an event and gives `put` the drawable that it completes.
    ///
    /// # Errors
    /// The errors of `put`.
    pub(crate) fn push(
        &mut self,
        event: &Mpe1Event<'_>,
        put: DrawableOutput<'_>,
    ) -> Result<(), Stop> {
        if event.etype == CONSTANT {
            return Ok(());
        }
        let place = (event.rank, event.thread);
        let Some(&line) = self.plan.lines.get(&place) else {
            self.losses.add("event beyond the first 65536 lines", 1);
            return Ok(());
        };
        let vertex = Vertex {
            time: event.time,
            line,
        };
        if let Some(envelope) = event.envelope() {
            return self.message(envelope, vertex, put);
        }
        match self.plan.roles.get(&event.etype).copied() {
            Some(EventRole::Start(slot)) => {
                let start = OpenStart {
                    time: event.time,
                    data: event.data,
                    text: event.text.into(),
                };
                self.open
                    .entry((slot, vertex.line))
                    .or_default()
                    .push(start);
                Ok(())
            }
            Some(EventRole::End(slot)) => {
                let open = self.open.get_mut(&(slot, vertex.line));
                let Some(start) = open.and_then(Vec::pop) else {
                    self.losses.add("end of a state without its start", 1);
                    return Ok(());
                };
                let first = Vertex {
                    time: start.time,
                    line: vertex.line,
                };
                let data = [start.data, event.data];
                let texts = [&start.text[..], event.text];
                self.draw(Topology::State, slot, data, texts, &[first, vertex], put)
            }
            Some(EventRole::Solo(slot)) => {
                let data = [event.data, 0];
                let texts = [event.text, &[]];
                self.draw(Topology::Event, slot, data, texts, &[vertex], put)
            }
            None => {
                self.losses.add("event beyond the first 65536 numbers", 1);
                Ok(())
            }
        }
    }

    fn draw(
        &mut self,
        topology: Topology,
        slot: usize,
        data: [i32; 2],
        texts: [&[u8]; 2],
        vertices: &[Vertex],
        put: DrawableOutput<'_>,
    ) -> Result<(), Stop> {
        let (category, values) = self.plan.slots[slot];
        self.info.clear();
        for (data, _) in data
            .iter()
            .zip(values.data)
            .filter(|(_, is_there)| *is_there)
        {
            self.info.int(*data);
        }
        for (text, _) in texts
            .iter()
            .zip(values.text)
            .filter(|(_, is_there)| *is_there)
        {
            if text.len() > LONGEST_TEXT {
                self.losses.add("text cut at 16000 bytes", 1);
            }
            self.info.text(text.get(..LONGEST_TEXT).unwrap_or(text));
        }
        put(&Drawable {
            topology,
            category,
            info: self.info.bytes(),
            vertices,
        })
    }

    fn message(
        &mut self,
        envelope: MessageEnvelope,
        vertex: Vertex,
        put: DrawableOutput<'_>,
    ) -> Result<(), Stop> {
        let MessageEnvelope {
            side,
            sender,
            receiver,
            tag,
            size,
        } = envelope;
        let end = WaitingEndpoint { side, vertex, size };
        let waiting = self.waiting.entry((sender, receiver, tag)).or_default();
        let other = match waiting.front() {
            Some(first) if first.side != side => waiting.pop_front(),
            _ => None,
        };
        let Some(other) = other else {
            waiting.push_back(end);
            return Ok(());
        };
        let (send, receipt) = match side {
            MessageSide::Send => (end, other),
            MessageSide::Receive => (other, end),
        };
        self.info.clear().int(tag).int(send.size);
        put(&Drawable {
            topology: Topology::Arrow,
            category: 0,
            info: self.info.bytes(),
            vertices: &[send.vertex, receipt.vertex],
        })
    }

    /// All that is lost of the file: what the survey counted, what could not be paired and what found no partner.
    pub(crate) fn finish(mut self) -> Losses {
        let open: usize = self.open.values().map(Vec::len).sum();
        self.losses
            .add("start of a state without its end", open as u64);
        for end in self.waiting.values().flatten() {
            self.losses.add(
                match end.side {
                    MessageSide::Send => "message without a receive",
                    MessageSide::Receive => "message without a send",
                },
                1,
            );
        }
        self.losses
    }
}
