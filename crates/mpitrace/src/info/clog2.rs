//! CLOG2 files: the preamble, the records by type, clock corrections, communicators; then what they make as drawables.

use super::drawables;
use super::report::{InfoReport, object};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use trace_formats::clog2::{
    Clog2Body, Clog2Reader, Clog2Source, Endian, VERSION, late_messages, msg_etype, rectype,
    unmatched_endpoints as unmatched_endpoints_of,
};

/// Names of the record types, as clog2_print has them.
fn name(body: &Clog2Body) -> &'static str {
    match body.rectype() {
        rectype::ENDLOG => "endlog",
        rectype::ENDBLOCK => "endblock",
        rectype::STATEDEF => "sdef",
        rectype::EVENTDEF => "edef",
        rectype::CONSTDEF => "cdef",
        rectype::BAREEVT => "bare",
        rectype::CARGOEVT => "cago",
        rectype::MSGEVT => "msg",
        rectype::COLLEVT => "coll",
        rectype::COMMEVT => "comm",
        rectype::SRCLOC => "loc",
        _ => "shft",
    }
}

pub fn describe(bytes: &[u8], report: &mut InfoReport) {
    let reader = match Clog2Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return report.problem(error),
    };
    let preamble = reader.preamble();
    report.put("version", VERSION);
    report.put(
        "byte_order",
        match preamble.endian {
            Endian::Big => "big-endian",
            Endian::Little => "little-endian",
        },
    );
    report.put("is_finalized", preamble.is_finalized);
    report.put("block_bytes", preamble.block_size);
    report.put("buffered_blocks", preamble.num_buffered_blocks);
    report.put("comm_world_size", preamble.max_comm_world_size);
    report.put("threads_per_rank", preamble.max_thread_count);
    report.put("known_states", preamble.known_state_id_count);
    report.put("user_states", preamble.user_state_id_count);

    let mut records: BTreeMap<&str, u64> = BTreeMap::new();
    let mut ranks = BTreeSet::new();
    let (mut sends, mut receives) = (0u64, 0u64);
    let mut unmatched_endpoints = 0u64;
    let mut late = None;
    let mut shifts: Vec<Value> = Vec::new();
    for item in reader.raw_records() {
        let record = match item {
            Ok((_, record)) => record,
            Err(error) => {
                let whole: u64 = records.values().sum();
                report.problem(format!("{error}; {whole} records before that can be read"));
                break;
            }
        };
        *records.entry(name(&record.body)).or_default() += 1;
        match record.body {
            Clog2Body::Comm(event) if event.wrank >= 0 => {
                ranks.insert(event.wrank);
            }
            Clog2Body::Msg(msg) if msg.etype == msg_etype::SEND => sends += 1,
            Clog2Body::Msg(_) => receives += 1,
            Clog2Body::ConstDef(constant) => {
                unmatched_endpoints += unmatched_endpoints_of(&constant).unwrap_or(0);
                late = late.or(late_messages(&constant));
            }
            Clog2Body::TimeShift { shift } => shifts.push(object([
                ("rank", record.header.rank.into()),
                ("time_s", record.header.time.into()),
                // Without the minus before a zero.
                ("shift_s", (shift + 0.0).into()),
            ])),
            _ => {}
        }
    }
    let counts = records.iter();
    let counts = counts.map(|(name, &count)| ((*name).to_owned(), count.into()));
    report.put("records", Value::Object(counts.collect()));
    report.put("sends", sends);
    report.put("receives", receives);
    if unmatched_endpoints > 0 {
        report.put("message_endpoints_left_out", unmatched_endpoints);
    }
    if let Some(ns) = late {
        report.put("messages_put_right_s", ns as f64 * 1e-9);
    }
    report.put("clock_shifts", shifts);
    report.put("ranks_that_speak", ranks.len());
    match reader.comm_table() {
        Ok(table) => report.put("communicators", table.0.len()),
        // A local file has none by its nature, a merged one because it was not finished.
        Err(error) => report.problem(error),
    }
    if report.problems.is_empty() || preamble.comm_table_offset == 0 {
        match Clog2Source::of(reader) {
            Ok(source) => drawables::describe(&source, report),
            Err(error) => report.problem(error),
        }
    }
}
