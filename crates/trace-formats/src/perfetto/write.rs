//! Writes drawables as a Perfetto trace.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use trace_model::{
    Complete, Definitions, Drawable, DrawableOrder, Fault, Losses, PendingFile, Stop,
};

use super::fields::{
    counter_descriptor, debug_annotation, interned_data, interned_name, process_descriptor,
    thread_descriptor, trace, trace_packet, track_descriptor, track_event,
};
use super::proto::ProtoMessage;
use crate::track_event::{
    Argument, ArgumentValue, CounterValue, EventLabel, EventStream, EventWriter, FlowEnd, NameId,
    NameTable, Process, Track, TrackKind,
};

/// An error of a Perfetto trace that is being written.
pub type PerfettoError = Fault<PerfettoErrorKind>;

/// Kind of a [`PerfettoError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum PerfettoErrorKind {
    /// The file could not be written.
    Io(io::Error),
}

impl fmt::Display for PerfettoErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PerfettoErrorKind::Io(error) => error.fmt(f),
        }
    }
}

trace_model::fault_kind!(PerfettoErrorKind);

/// Whether bytes begin as a trace of [`PerfettoSink`] does.
pub fn recognises(bytes: &[u8]) -> bool {
    let mut expected = Vec::new();
    PacketWriter::new(&mut expected).is_ok() && bytes.starts_with(&expected)
}

/// A Perfetto trace in the making. In memory are tracks, categories, paths of files, and the drawables that are not over yet.
pub struct PerfettoSink<W> {
    events: EventStream<PacketWriter<W>>,
    complete: Complete<W>,
}

impl PerfettoSink<BufWriter<PendingFile>> {
    /// Starts the file at `path`, which gets its name when it is complete.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(
        path: impl AsRef<Path>,
        definitions: &Definitions,
    ) -> Result<Self, PerfettoError> {
        let path = path.as_ref();
        let (out, complete) = PendingFile::create_for_sink(path)?;
        PerfettoSink::new(out, definitions, complete)
            .map_err(|error| PerfettoError::io(0, error).in_file(path))
    }
}

impl<W: Write> PerfettoSink<W> {
    /// Starts a trace at the beginning of `out`. `complete` gets it when everything is written.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(
        out: W,
        definitions: &Definitions,
        complete: impl FnOnce(W) -> Result<(), Stop> + 'static,
    ) -> io::Result<Self> {
        let writer = PacketWriter::new(out)?;
        Ok(PerfettoSink {
            events: EventStream::new(writer.sorted()?, definitions)?,
            complete: Box::new(complete),
        })
    }
}

impl<W: Write> trace_model::Sink for PerfettoSink<W> {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        self.events.put(drawable)
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        let PerfettoSink { events, complete } = *self;
        let (writer, losses) = events.finish()?;
        complete(writer.out)?;
        Ok(losses)
    }
}

/// The one sequence of packets.
const SEQUENCE: u64 = 1;

/// Bits above the number of a process or a track that make it a uuid.
const PROCESS_UUID: u64 = 1 << 40;
const TRACK_UUID: u64 = 2 << 40;

fn process_uuid(process: &Process) -> u64 {
    PROCESS_UUID | u64::from(process.pid.unsigned_abs())
}

fn track_uuid(track: usize) -> u64 {
    TRACK_UUID | track as u64
}

/// What a name is used for. Each use is numbered in a list of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameUse {
    Category,
    Event,
    Annotation,
    Value,
}

impl NameUse {
    fn field(self) -> u32 {
        match self {
            NameUse::Category => interned_data::EVENT_CATEGORIES,
            NameUse::Event => interned_data::EVENT_NAMES,
            NameUse::Annotation => interned_data::DEBUG_ANNOTATION_NAMES,
            NameUse::Value => interned_data::DEBUG_ANNOTATION_STRING_VALUES,
        }
    }
}

/// Number of a name in the trace, where 0 stands for none.
fn iid(name: NameId) -> u64 {
    u64::from(name.0) + 1
}

struct PacketWriter<W> {
    out: W,
    packet: ProtoMessage,
    /// By name the uses in which it has been written, as bits.
    written: Vec<u8>,
    /// Names that the next packet has to define.
    new: Vec<(NameUse, NameId)>,
}

impl<W: Write> PacketWriter<W> {
    /// Begins the sequence.
    fn new(out: W) -> io::Result<Self> {
        let mut writer = PacketWriter {
            out,
            packet: ProtoMessage::default(),
            written: Vec::new(),
            new: Vec::new(),
        };
        writer.packet(|packet| {
            let flags = trace_packet::SEQ_INCREMENTAL_STATE_CLEARED
                | trace_packet::SEQ_NEEDS_INCREMENTAL_STATE;
            packet.uint(trace_packet::SEQUENCE_FLAGS, flags);
            packet.uint(trace_packet::FIRST_PACKET_ON_SEQUENCE, 1);
        })?;
        Ok(writer)
    }

    /// Asks for processes and threads in the order of their numbers, and not with the busiest first. Perfetto v52 takes no notice.
    fn sorted(mut self) -> io::Result<Self> {
        self.descriptor(|root| {
            root.uint(track_descriptor::UUID, 0);
            let explicit = track_descriptor::SORTING_EXPLICIT;
            root.uint(track_descriptor::PROCESS_ORDERING, explicit);
            root.uint(track_descriptor::THREAD_ORDERING, explicit);
        })?;
        Ok(self)
    }

    /// Writes a packet of the sequence, whose further fields `fill` writes.
    fn packet(&mut self, fill: impl FnOnce(&mut ProtoMessage)) -> io::Result<()> {
        self.packet.clear();
        self.packet.message(trace::PACKET, |packet| {
            packet.uint(trace_packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            fill(packet);
        });
        self.out.write_all(self.packet.bytes())
    }

    fn descriptor(&mut self, fill: impl FnOnce(&mut ProtoMessage)) -> io::Result<()> {
        self.packet(|packet| packet.message(trace_packet::TRACK_DESCRIPTOR, fill))
    }

    /// Writes an event without names.
    fn unnamed(&mut self, time: u64, fill: impl FnOnce(&mut ProtoMessage)) -> io::Result<()> {
        self.packet(|packet| {
            packet.uint(trace_packet::TIMESTAMP, time);
            packet.message(trace_packet::TRACK_EVENT, fill);
        })
    }

    /// Writes an event, with the names that it is the first to use.
    fn named(
        &mut self,
        names: &NameTable,
        time: u64,
        fill: impl FnOnce(&mut ProtoMessage),
    ) -> io::Result<()> {
        let new = std::mem::take(&mut self.new);
        self.packet(|packet| {
            packet.uint(trace_packet::TIMESTAMP, time);
            let flags = trace_packet::SEQ_NEEDS_INCREMENTAL_STATE;
            packet.uint(trace_packet::SEQUENCE_FLAGS, flags);
            if !new.is_empty() {
                packet.message(trace_packet::INTERNED_DATA, |data| {
                    for &(used, name) in &new {
                        data.message(used.field(), |entry| {
                            entry.uint(interned_name::IID, iid(name));
                            entry.text(interned_name::NAME, names.name(name));
                        });
                    }
                });
            }
            packet.message(trace_packet::TRACK_EVENT, fill);
        })?;
        self.new = new;
        self.new.clear();
        Ok(())
    }

    /// Notes that the next event uses a name.
    fn uses(&mut self, used: NameUse, name: NameId) {
        let at = name.0 as usize;
        if self.written.len() <= at {
            self.written.resize(at + 1, 0);
        }
        let bit = 1 << used as u8;
        if self.written[at] & bit == 0 {
            self.written[at] |= bit;
            self.new.push((used, name));
        }
    }

    fn uses_all(&mut self, label: EventLabel, arguments: &[Argument<'_>]) {
        self.uses(NameUse::Event, label.name);
        self.uses(NameUse::Category, label.group);
        for argument in arguments {
            self.uses(NameUse::Annotation, argument.name);
            if let ArgumentValue::Name(value) = argument.value {
                self.uses(NameUse::Value, value);
            }
        }
    }
}

/// The fields of the beginning of a slice, without flows.
fn slice(event: &mut ProtoMessage, track: &Track, label: EventLabel, arguments: &[Argument<'_>]) {
    event.uint(track_event::TYPE, track_event::TYPE_SLICE_BEGIN);
    event.uint(track_event::TRACK_UUID, track_uuid(track.number));
    event.uint(track_event::NAME_IID, iid(label.name));
    event.uint(track_event::CATEGORY_IIDS, iid(label.group));
    for argument in arguments {
        event.message(track_event::DEBUG_ANNOTATIONS, |annotation| {
            annotation.uint(debug_annotation::NAME_IID, iid(argument.name));
            match &argument.value {
                ArgumentValue::Integer(value) => {
                    annotation.int(debug_annotation::INT_VALUE, *value);
                }
                ArgumentValue::Hex(value) => {
                    annotation.uint(debug_annotation::POINTER_VALUE, *value);
                }
                ArgumentValue::Real(value) => {
                    annotation.double(debug_annotation::DOUBLE_VALUE, *value);
                }
                ArgumentValue::Text(value) => {
                    annotation.text(debug_annotation::STRING_VALUE, value);
                }
                ArgumentValue::Name(value) => {
                    annotation.uint(debug_annotation::STRING_VALUE_IID, iid(*value));
                }
            }
        });
    }
}

impl<W: Write> EventWriter for PacketWriter<W> {
    fn process(&mut self, process: &Process) -> io::Result<()> {
        self.descriptor(|track| {
            track.uint(track_descriptor::UUID, process_uuid(process));
            track.message(track_descriptor::PROCESS, |descriptor| {
                descriptor.int(process_descriptor::PID, process.pid.into());
                descriptor.text(process_descriptor::PROCESS_NAME, &process.name);
                if let Some(host) = &process.host {
                    descriptor.text(process_descriptor::PROCESS_LABELS, host);
                }
            });
            let ordering = track_descriptor::ORDERING_EXPLICIT;
            track.uint(track_descriptor::CHILD_ORDERING, ordering);
            track.int(track_descriptor::SIBLING_ORDER_RANK, process.pid.into());
        })
    }

    fn track(&mut self, track: &Track, process: &Process) -> io::Result<()> {
        self.descriptor(|descriptor| {
            descriptor.uint(track_descriptor::UUID, track_uuid(track.number));
            let parent = match track.thread {
                Some(thread) => track_uuid(thread),
                None => process_uuid(process),
            };
            descriptor.uint(track_descriptor::PARENT_UUID, parent);
            match track.kind {
                TrackKind::Thread => descriptor.message(track_descriptor::THREAD, |thread| {
                    thread.int(thread_descriptor::PID, process.pid.into());
                    thread.int(thread_descriptor::TID, track.tid.into());
                    thread.text(thread_descriptor::THREAD_NAME, &track.name);
                }),
                TrackKind::Lane => descriptor.text(track_descriptor::NAME, &track.name),
                TrackKind::Counter { is_bytes } => {
                    descriptor.text(track_descriptor::NAME, &track.name);
                    let unit = match is_bytes {
                        true => counter_descriptor::UNIT_SIZE_BYTES,
                        false => counter_descriptor::UNIT_COUNT,
                    };
                    descriptor.message(track_descriptor::COUNTER, |counter| {
                        counter.uint(counter_descriptor::UNIT, unit);
                    });
                }
            }
            descriptor.int(track_descriptor::SIBLING_ORDER_RANK, track.tid.into());
        })
    }

    fn begin(
        &mut self,
        names: &NameTable,
        time: u64,
        track: &Track,
        label: EventLabel,
        flow: Option<FlowEnd>,
        arguments: &[Argument<'_>],
    ) -> io::Result<()> {
        self.uses_all(label, arguments);
        self.named(names, time, |event| {
            slice(event, track, label, arguments);
            match flow {
                None => {}
                Some(FlowEnd::Start(flow)) => event.fixed(track_event::FLOW_IDS, flow),
                Some(FlowEnd::End(flow)) => {
                    event.fixed(track_event::TERMINATING_FLOW_IDS, flow);
                }
            }
        })
    }

    fn end(&mut self, time: u64, track: &Track) -> io::Result<()> {
        self.unnamed(time, |event| {
            event.uint(track_event::TYPE, track_event::TYPE_SLICE_END);
            event.uint(track_event::TRACK_UUID, track_uuid(track.number));
        })
    }

    fn count(&mut self, time: u64, track: &Track, value: CounterValue) -> io::Result<()> {
        self.unnamed(time, |event| {
            event.uint(track_event::TYPE, track_event::TYPE_COUNTER);
            event.uint(track_event::TRACK_UUID, track_uuid(track.number));
            match value {
                CounterValue::Integer(value) => event.int(track_event::COUNTER_VALUE, value),
                CounterValue::Real(value) => {
                    event.double(track_event::DOUBLE_COUNTER_VALUE, value);
                }
            }
        })
    }
}
