//! ALOG, CLOG-1, SLOG-1, Pajé, OTF2 and block files: what their readers, and the making of drawables, find.

use super::findings::CheckFindings;
use crate::terminal::progress::TaskProgress;
use crate::trace_files::folder::file_of;
use crate::trace_files::input::OpenedInput;
use blockfile::define::{COUNTS, Definition, GAP, matching_only_call};
use blockfile::file::BlockFile;
use blockfile::function::FunctionStep;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use trace_formats::otf2::Otf2Source;
use trace_formats::paje::{PajeReader, PajeTrace, Simulator};
use trace_formats::slog1::{Sector, Slog1Reader};
use trace_formats::{alog, clog1, paje};
use trace_model::{Drawable, Losses, Source, Stop};

/// Losses that say that something is odd in the file, rather than that it has no place among drawables.
const ODD: [&str; 9] = [
    "without",
    "never",
    "not of its",
    "not there",
    "does not know",
    "destroyed",
    "cut off",
    "are taken",
    "backward",
];

/// Reads everything as drawables: errors of the file, and what is odd in it.
pub fn check_drawables<E: std::fmt::Display>(
    source: Result<impl Source, E>,
    findings: &mut CheckFindings,
) {
    let source = match source {
        Ok(source) => source,
        Err(error) => return findings.unreadable(error),
    };
    let progress = TaskProgress::drawables("checking", findings.quiet);
    let found: Result<Losses, Stop> = source.for_each(&mut |drawable: &Drawable<'_>| {
        progress.step();
        let times = drawable.vertices.iter().map(|vertex| vertex.time);
        if times.clone().any(|time| !time.is_finite()) {
            let what = format!("a drawable of category {} at no time", drawable.category);
            findings.error_at("time", "drawables", what);
        }
        Ok(())
    });
    match found {
        Ok(losses) => {
            for (what, count) in losses.iter() {
                let by_choice = what.starts_with("trace without");
                // The check of a DUMPI run names these ranks.
                let is_named = what == "rank without a file";
                if !by_choice && !is_named && ODD.iter().any(|word| what.contains(word)) {
                    findings.warning_at("odd events", "file", format!("{count} x {what}"));
                }
            }
        }
        Err(error) => findings.unreadable(error),
    }
}

/// OTF2, given the anchor file of an archive or its folder.
pub fn check_archive(path: &Path, findings: &mut CheckFindings) {
    check_drawables(Otf2Source::open(file_of(path)), findings);
}

/// ALOG.
pub fn check_alog(bytes: &[u8], findings: &mut CheckFindings) {
    let reader = alog::AlogReader::new(bytes);
    let header = match alog::check(&reader) {
        Ok(header) => header,
        Err(error) => return findings.unreadable(error),
    };
    let (mut events, mut last) = (0i64, f64::NEG_INFINITY);
    let mut processes = HashSet::new();
    for line in reader.lines().map_while(Result::ok) {
        let alog::LineContent::Event(event) = line.content else {
            continue;
        };
        if event.is_header() {
            continue;
        }
        events += 1;
        processes.insert(event.process);
        let time = header.seconds(&event);
        if time < last {
            let what = format!("time {time} s after {last} s");
            findings.warning_at("order of time", format_args!("line {}", line.number), what);
        }
        last = last.max(time);
    }
    let [announced, announced_processes, ..] = header.counts;
    let announced = [
        ("events", announced, events),
        ("processes", announced_processes, processes.len() as i64),
    ];
    for (what, announced_count, found) in announced {
        if let Some(announced_count) =
            announced_count.filter(|&announced_count| i64::from(announced_count) != found)
        {
            let what = format!("{announced_count} {what} announced, {found} found");
            findings.warning_at("counts of the header", "header", what);
        }
    }
    check_drawables(alog::AlogSource::new(bytes), findings);
}

/// CLOG-1.
pub fn check_clog1(bytes: &[u8], findings: &mut CheckFindings) {
    let reader = match clog1::Clog1Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return findings.unreadable(error),
    };
    let mut last = f64::NEG_INFINITY;
    let mut is_ended = false;
    for item in reader.raw_records() {
        let item = match item {
            Ok(item) => item,
            Err(error) => return findings.unreadable(error),
        };
        let record = &item.record;
        is_ended |= record.body == clog1::Clog1Body::EndLog;
        let is_event = matches!(
            record.body,
            clog1::Clog1Body::Raw(_) | clog1::Clog1Body::Msg(_) | clog1::Clog1Body::Coll(_)
        );
        if is_event && record.header.time < last {
            let what = format!("time {} s after {last} s", record.header.time);
            findings.warning("order of time", item.offset, what);
        }
        if is_event {
            last = last.max(record.header.time);
        }
        if record.header.rank < 0 {
            let what = format!("rank {}, expected 0 or more", record.header.rank);
            findings.error("rank", item.offset, what);
        }
    }
    if !is_ended {
        let what = "the file ends without an ENDLOG record";
        findings.error("end of the log", bytes.len() as u64, what);
    }
    check_drawables(clog1::Clog1Source::new(bytes), findings);
}

/// SLOG-1.
pub fn check_slog1(bytes: &[u8], findings: &mut CheckFindings) {
    let reader = match Slog1Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return findings.unreadable(error),
    };
    let mut threads = HashSet::new();
    match reader.threads() {
        Ok(found) => {
            for thread in found {
                match thread {
                    Ok(thread) => {
                        threads.insert((thread.node, thread.thread));
                    }
                    Err(error) => findings.unreadable(error),
                }
            }
        }
        Err(error) => findings.unreadable(error),
    }
    match reader.profile() {
        Ok(found) => found
            .filter_map(Result::err)
            .for_each(|error| findings.unreadable(error)),
        Err(error) => findings.unreadable(error),
    }
    match reader.definitions() {
        Ok(found) => found
            .filter_map(Result::err)
            .for_each(|error| findings.unreadable(error)),
        Err(error) => findings.unreadable(error),
    }
    match reader.statistics() {
        Ok(found) => {
            let sets = found.sets();
            sets.filter_map(Result::err)
                .for_each(|error| findings.unreadable(error));
        }
        Err(error) => findings.unreadable(error),
    }
    if let Err(error) = reader.preview() {
        findings.unreadable(error);
    }
    let mut end = f64::NEG_INFINITY;
    for frame in reader.frames() {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                findings.unreadable(error);
                break;
            }
        };
        let place = format!("frame {}", frame.index);
        if frame.entry.start > frame.entry.end {
            let what = format!("from {} to {}", frame.entry.start, frame.entry.end);
            findings.error_at("bounds of a frame", &place, what);
        }
        if frame.entry.end < end {
            let what = format!(
                "ends at {}, before the frame in front of it at {end}",
                frame.entry.end
            );
            findings.error_at("order of frames", &place, what);
        }
        end = frame.entry.end;
        for sector in [
            Sector::Incoming,
            Sector::Passing,
            Sector::Current,
            Sector::Outgoing,
        ] {
            for record in frame.records(sector) {
                let record = match record {
                    Ok(record) => record,
                    Err(error) => {
                        findings.unreadable(error);
                        break;
                    }
                };
                if !(record.start.is_finite() && record.duration.is_finite()) {
                    let what = format!(
                        "a record of type {} from {} for {}",
                        record.key.intvltype, record.start, record.duration
                    );
                    findings.error_at("time", &place, what);
                }
                let ends = [Some(record.origin), record.destination];
                for task in ends.into_iter().flatten() {
                    if !threads.contains(&(task.node, task.thread)) {
                        let what = format!(
                            "thread {} of node {} is not in the thread table",
                            task.thread, task.node
                        );
                        findings.warning_at("unknown thread", &place, what);
                    }
                }
            }
        }
    }
}

/// Pajé.
pub fn check_paje(trace: PajeTrace<'_>, findings: &mut CheckFindings) {
    let mut simulator = Simulator::default();
    {
        let mut reader = PajeReader::new(&trace);
        loop {
            match reader.next() {
                Ok(Some(event)) => {
                    if let Err(error) = simulator.step(&event) {
                        findings.unreadable(error);
                        return;
                    }
                    drop(simulator.over());
                }
                Ok(None) => break,
                Err(error) => {
                    findings.unreadable(error);
                    return;
                }
            }
        }
    }
    for (count, error) in simulator.broken.values() {
        findings.warning_at(
            "rules of the format",
            "file",
            format!("{error} ({count} times)"),
        );
    }
    check_drawables(paje::PajeSource::new(trace), findings);
}

/// Block files.
pub fn check_blocks(input: &OpenedInput, findings: &mut CheckFindings) {
    let table = match wrappers::table() {
        Ok(table) => table,
        Err(error) => return findings.unreadable(error),
    };
    let file = match input.blocks() {
        Ok(file) => file,
        Err(error) => return findings.unreadable(error),
    };
    let info = file.info();
    if info.table != table.fingerprint() {
        let what = format!(
            "function table {:016x}, expected {:016x}: written by another version of libtrace",
            info.table,
            table.fingerprint()
        );
        return findings.error("version", 0, what);
    }
    for damage in file.damage() {
        findings.unreadable(damage);
    }
    if info.lost > 0 {
        let what = format!("{} records could not be kept", info.lost);
        findings.warning("lost records", 0, what);
    }
    if info.ended == 0 {
        let what = "the process did not say that it ended: it was killed, or runs";
        findings.warning("end of the run", 0, what);
    }
    // Functions that are not in the table, by the names that the file gives them.
    let mut named = HashMap::new();
    for thread in file.threads() {
        let mut records = thread.records();
        while let Some(record) = records.next() {
            let place = format!("thread {}, call {:#x}", thread.number, record.call);
            if record.function == blockfile::define::USER_EVENT {
                if blockfile::user::UserEvent::decode(record.payload).is_none() {
                    let what = "region, marker or event of the program's own cannot be decoded";
                    findings.error_at("event", place, what);
                }
                continue;
            }
            let is_sound = FunctionStep::of(&record).is_some()
                || matching_only_call(&record).is_some()
                || matches!(record.function, COUNTS | GAP);
            if is_sound {
                continue;
            }
            if record.is_definition() {
                match Definition::decode(record.function, record.payload) {
                    Some(Definition::Function { number, name }) => {
                        named.insert(number, name);
                    }
                    Some(_) => {}
                    None => {
                        let what = format!("definition {:#x} cannot be decoded", record.function);
                        findings.error_at("definition", place, what);
                    }
                }
                continue;
            }
            if record.is_operation() {
                if blockfile::operation::kind(record.function).is_none()
                    || blockfile::operation::OperationRecord::decode(record.payload).is_none()
                {
                    let what = format!("operation {:#x} cannot be decoded", record.function);
                    findings.error_at("operation", place, what);
                }
                continue;
            }
            let number = record.function;
            let is_known =
                usize::from(number) < table.functions.len() || named.contains_key(&number);
            if !is_known {
                let what = format!("function {number}, which has no name");
                findings.error_at("unknown function", &place, what);
            }
            if record.start.checked_add(record.duration).is_none() {
                let what = format!("lasts {} ticks from {}", record.duration, record.start);
                findings.error_at("time", place, what);
            }
        }
    }
    running_calls(&file, table, &named, findings);
}

/// Names the calls that had not returned; `named` are functions that are not in the table.
fn running_calls(
    file: &BlockFile<'_>,
    table: &wrappers::Table,
    named: &HashMap<u16, String>,
    findings: &mut CheckFindings,
) {
    let of_rank = u32::try_from(file.info().rank).map(|rank| format!(" on rank {rank}"));
    let of_rank = of_rank.unwrap_or_default();
    for thread in file.threads() {
        let Some(open) = thread.open_call() else {
            continue;
        };
        let known = table.functions.get(usize::from(open.function));
        let known = known.map(|function| function.name.clone());
        let name = known.or_else(|| named.get(&open.function).cloned());
        let name = name.unwrap_or_else(|| format!("function {}", open.function));
        findings.warning_at(
            "running call",
            format_args!("thread {}, call {:#x}", thread.number, open.call),
            format!("{name} unfinished{of_rank}"),
        );
    }
}
