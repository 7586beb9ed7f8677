//! Infos of calls, made of their arguments: partner, tag, amount of data, communicator, root, offset and name, requests.

use super::super::completed::{CallArgs, completes};
use super::super::functions::{DumpiFunction, FieldCode, FieldShape, MAX_FIELDS};
use super::super::ids;
use super::super::types::DumpiRecord;
use super::super::value::FieldValue;
use super::collective::{CollectiveFields, bytes};
use super::request_numbers::RequestNumbers;
use trace_model::{COUNTER_SIGN, InfoWriter};

/// Which fields of a function are shown, and how.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    parts: Vec<InfoPart>,
    /// Format of the info (`spec/clog2.md` section 8).
    pub(super) format: String,
}

#[derive(Clone, Copy, Debug)]
enum InfoPart {
    /// Bytes of so many elements of a type, or those that a status tells.
    Bytes {
        count: usize,
        datatype: usize,
        status: Option<usize>,
    },
    Int(usize),
    Long(usize),
    Text(usize),
    /// The request that the call makes or has to do with.
    Request,
    /// The requests that the call completes.
    Completed,
    /// Bytes of a collective call: those that the rank passes, and by its counts for each rank those that it gets and gives.
    Collective(CollectiveFields),
    /// The communicator that the call makes, and the other side of an intercommunicator.
    Made,
}

/// What an info tells besides the arguments of its call.
#[derive(Debug)]
pub(super) struct CallFacts<'a> {
    pub(super) requests: &'a RequestNumbers,
    /// Sizes of datatypes, by number.
    pub(super) sizes: &'a [i32],
    /// By counter of the format, its place among those of the file; `None` if the file does not have it.
    pub(super) counters: &'a [Option<usize>],
    /// Rank of the caller in the communicator of the call, if it is known.
    pub(super) own_rank: Option<i32>,
    /// Number of the communicator that the call makes, and that of the other side of an intercommunicator.
    pub(super) made: [Option<i32>; 2],
}

/// Whether infos of a function tell the communicator that its calls make: one that may have two sides.
pub(super) fn tells_made(id: u16) -> bool {
    matches!(id, ids::COMM_DUP | ids::INTERCOMM_CREATE)
}

/// Plain integers that tell something to a reader; all others are sizes of arrays and the like.
const TELLING: [&str; 17] = [
    "dest",
    "tag",
    "root",
    "color",
    "key",
    "rank",
    "targetrank",
    "winrank",
    "flag",
    "index",
    "outcount",
    "errorcode",
    "maxprocs",
    "size",
    "result",
    "resultlen",
    "high",
];

/// Longest text that is shown, in bytes.
const LONGEST: usize = 1024;

impl Shown {
    pub(super) fn new(function: &DumpiFunction, counters: &[Vec<u8>]) -> Self {
        let mut shown = Shown::default();
        let fields = function.fields();
        let at = |name: &str| fields.iter().position(|field| field.name == name);
        let status = at("status");
        let collective = CollectiveFields::of(function);
        if let Some(collective) = collective {
            shown.add("bytes", 'l', InfoPart::Collective(collective));
            if collective.tells_received() {
                shown.key("received", "=", 'l');
            }
            if collective.tells_sent() {
                shown.key("sent", "=", 'l');
            }
        }
        for (i, field) in fields.iter().enumerate() {
            if field.shape != FieldShape::One {
                continue;
            }
            let datatype = match field.name {
                _ if collective.is_some() => None,
                "count" => at("datatype"),
                "sendcount" => at("sendtype"),
                "recvcount" => at("recvtype"),
                "origincount" => at("origintype"),
                _ => None,
            };
            match field.code {
                FieldCode::Int if datatype.is_some() => {
                    let name = match field.name {
                        "sendcount" => "sent",
                        "recvcount" => "received",
                        _ => "bytes",
                    };
                    let part = InfoPart::Bytes {
                        count: i,
                        datatype: datatype.unwrap_or_default(),
                        status: status.filter(|_| field.name != "sendcount"),
                    };
                    shown.add(name, 'l', part);
                }
                FieldCode::Int if TELLING.contains(&field.name) => {
                    shown.add(field.name, 'd', InfoPart::Int(i))
                }
                FieldCode::Req if !completes(function.id) => {
                    shown.add("request", 'd', InfoPart::Request);
                }
                FieldCode::Src
                | FieldCode::Dst
                | FieldCode::Tag
                | FieldCode::Comm
                | FieldCode::File
                | FieldCode::Win => {
                    shown.add(field.name, 'd', InfoPart::Int(i));
                }
                FieldCode::I64 => shown.add(field.name, 'l', InfoPart::Long(i)),
                FieldCode::Str => shown.add(field.name, 's', InfoPart::Text(i)),
                _ => {}
            }
        }
        if completes(function.id) {
            shown.add("completes", 's', InfoPart::Completed);
        }
        if tells_made(function.id) {
            shown.add("makes", 'd', InfoPart::Made);
            shown.key("remote", "=", 'd');
        }
        for name in counters {
            let name = String::from_utf8_lossy(name).replace('%', "");
            shown.key(&name, COUNTER_SIGN, 'l');
        }
        shown
    }

    fn add(&mut self, name: &str, kind: char, part: InfoPart) {
        self.key(name, "=", kind);
        self.parts.push(part);
    }

    fn key(&mut self, name: &str, sign: &str, kind: char) {
        if !self.format.is_empty() {
            self.format.push_str(", ");
        }
        self.format.push_str(name);
        self.format.push_str(sign);
        self.format.extend(['%', kind]);
    }

    /// Writes the info of a record. What is not known is -1.
    pub(super) fn write(
        &self,
        record: &DumpiRecord<'_>,
        args: &[FieldValue<'_>; MAX_FIELDS],
        facts: &CallFacts<'_>,
        info: &mut InfoWriter,
    ) {
        let sizes = facts.sizes;
        info.clear();
        let int = |i: usize| match args[i] {
            FieldValue::Int(value) => value,
            _ => 0,
        };
        for part in &self.parts {
            match *part {
                InfoPart::Int(i) => _ = info.int(int(i)),
                InfoPart::Request => _ = info.int(facts.requests.request as i32),
                InfoPart::Long(i) => {
                    let value = match args[i] {
                        FieldValue::I64(value) => value,
                        _ => 0,
                    };
                    info.long(value);
                }
                InfoPart::Text(i) => {
                    let text = match args[i] {
                        FieldValue::Str(text) => text,
                        _ => &[],
                    };
                    info.text(&text[..text.len().min(LONGEST)]);
                }
                InfoPart::Completed => {
                    let text = completed_text(&facts.requests.completed);
                    info.text(&text.as_bytes()[..text.len().min(LONGEST)]);
                }
                InfoPart::Collective(collective) => {
                    let told = collective.told(args, facts.own_rank, sizes);
                    let long = |bytes: Option<u64>| {
                        bytes
                            .and_then(|bytes| i64::try_from(bytes).ok())
                            .unwrap_or(-1)
                    };
                    info.long(long(told.bytes));
                    if collective.tells_received() {
                        info.long(long(told.received));
                    }
                    if collective.tells_sent() {
                        info.long(long(told.sent));
                    }
                }
                InfoPart::Made => {
                    for number in facts.made {
                        info.int(number.unwrap_or(-1));
                    }
                }
                InfoPart::Bytes {
                    count,
                    datatype,
                    status,
                } => {
                    let given = status.and_then(|i| match args[i] {
                        FieldValue::Statuses(statuses) => statuses.iter().next(),
                        _ => None,
                    });
                    info.long(match given {
                        Some(status) => status.bytes.into(),
                        None => bytes(int(count), int(datatype), sizes),
                    });
                }
            }
        }
        for place in facts.counters {
            let spent = place.and_then(|at| record.counters.iter().nth(at));
            info.long(spent.map_or(-1, |(entry, exit)| exit.wrapping_sub(entry)));
        }
    }
}

/// Numbers of requests in order as a text: `3,7-9`.
fn completed_text(requests: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &request in requests {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(request) => *last = request,
            _ => ranges.push((request, request)),
        }
    }
    let range = |&(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

/// Whether calls of a function send or receive a message from a buffer, or prepare that.
pub(in crate::dumpi) fn has_message_buffer(id: u16) -> bool {
    matches!(
        id,
        ids::SEND
            | ids::BSEND
            | ids::SSEND
            | ids::RSEND
            | ids::ISEND
            | ids::IBSEND
            | ids::ISSEND
            | ids::IRSEND
            | ids::RECV
            | ids::IRECV
            | ids::SENDRECV
            | ids::SENDRECV_REPLACE
            | ids::SEND_INIT
            | ids::BSEND_INIT
            | ids::SSEND_INIT
            | ids::RSEND_INIT
            | ids::RECV_INIT
    )
}

/// Bytes of the largest buffer of a call that has such.
pub(super) fn message_bytes(id: u16, args: &[FieldValue<'_>; MAX_FIELDS], sizes: &[i32]) -> u64 {
    let args = CallArgs(args);
    let of = |at| {
        let (count, datatype) = args.amount(at);
        u64::try_from(bytes(count, datatype, sizes)).unwrap_or(0)
    };
    let second = if id == ids::SENDRECV { of(4) } else { 0 };
    of(0).max(second)
}
