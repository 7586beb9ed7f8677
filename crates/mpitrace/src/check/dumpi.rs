//! DUMPI: the index and its sections, every record, call counts, datatypes and labels; of a run all its files.

use super::findings::{CheckFindings, Severity};
use super::others;
use crate::trace_files::dumpi_run::{is_call, missing, ranks_named};
use crate::trace_files::input::OpenedInput;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use trace_formats::dumpi::DumpiSource;
use trace_formats::dumpi::from_text::{FromTextOptions, from_text};
use trace_formats::dumpi::functions::{FUNCTION_ENTER, FUNCTION_EXIT, FieldCode};
use trace_formats::dumpi::meta::Meta;
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::{ClockSpan, FOOTER_ENTRIES, Mask};
use trace_formats::dumpi::value::FieldValue;

/// The file of one rank.
pub fn check(bytes: &[u8], findings: &mut CheckFindings) {
    check_rank(bytes, "", "", findings);
}

/// The file of one rank. For the files of a run, `name` is put before places, and `of_rank` behind what is told of calls.
fn check_rank(bytes: &[u8], name: &str, of_rank: &str, findings: &mut CheckFindings) {
    let reader = match DumpiReader::open(bytes) {
        Ok(reader) => reader,
        Err(error) => return findings.unreadable(format_args!("{name}{error}")),
    };
    let index = reader.index();
    let sections = [
        ("stream of calls", index.body),
        ("header", index.header),
        ("footer", index.footer),
        ("keyval record", index.keyvals),
        ("counter labels", index.perf_labels),
        ("datatype sizes", index.type_sizes),
        ("function labels", index.address_labels),
    ];
    for (section, at) in sections {
        if at == 0 && matches!(section, "header" | "footer" | "datatype sizes") {
            findings.warning_at(
                "missing section",
                format_args!("{name}index"),
                format!("there is no {section}"),
            );
        }
    }
    let trailer = match reader.trailer() {
        Ok(trailer) => trailer,
        Err(error) => return findings.unreadable(format_args!("{name}{error}")),
    };
    let labels: HashMap<u64, String> = trailer
        .address_labels
        .iter()
        .map(|label| {
            (
                label.key,
                String::from_utf8_lossy(&label.label).into_owned(),
            )
        })
        .collect();
    let mut stream = CheckedStream {
        name,
        of_rank,
        sizes: &trailer.type_sizes,
        labels,
        calls: vec![0; FOOTER_ENTRIES],
        regions: BTreeMap::new(),
        last: HashMap::new(),
        findings,
    };
    let mut is_whole = true;
    let mut records = reader.records();
    for record in records.by_ref() {
        match record {
            Ok(record) => stream.record(&record),
            Err(error) => {
                stream.findings.unreadable(format_args!("{name}{error}"));
                is_whole = false;
            }
        }
    }
    stream.regions_close();
    let calls = stream.calls;
    if is_whole && index.footer != 0 && trailer.footer.called.iter().all(|&called| called == 0) {
        if calls.iter().any(|&seen| seen > 0) {
            let what = "the footer counts no calls, as where ascii2dumpi had a text without one";
            let place = format_args!("{name}byte {}", index.footer);
            findings.warning_at("call counts of the footer", place, what);
        }
    } else if is_whole && index.footer != 0 {
        for (id, (&seen, (&called, &ignored))) in calls
            .iter()
            .zip(
                trailer
                    .footer
                    .called
                    .iter()
                    .zip(trailer.footer.ignored.iter()),
            )
            .enumerate()
            .take(FOOTER_ENTRIES - 1)
        {
            let recorded = u64::from(called.wrapping_sub(ignored));
            if ignored > called || recorded != seen {
                let function =
                    trace_formats::dumpi::functions::by_id(id as u16).map_or("?", |f| f.name);
                let what = format!(
                    "{function} called {called} times and {ignored} times ignored, but there are {seen} records of it"
                );
                let place = format_args!("{name}byte {}", index.footer);
                findings.error_at("call counts of the footer", place, what);
            }
        }
    }
}

struct CheckedStream<'n, 'f> {
    name: &'n str,
    /// ` on rank N`, in the files of a run.
    of_rank: &'n str,
    sizes: &'n [i32],
    labels: HashMap<u64, String>,
    calls: Vec<u64>,
    /// Regions entered and not left, by thread and key.
    regions: BTreeMap<(u16, u64), i64>,
    /// End of the last call of each thread, ns.
    last: HashMap<u16, i64>,
    findings: &'f mut CheckFindings,
}

impl CheckedStream<'_, '_> {
    fn record(&mut self, record: &trace_formats::dumpi::types::DumpiRecord<'_>) {
        let place = format!(
            "{}byte {}, {}",
            self.name, record.offset, record.function.name
        );
        let id = record.function.id;
        if let Some(count) = self.calls.get_mut(usize::from(id)) {
            *count += 1;
        }
        for (clock, bit, ClockSpan { start, stop }) in [
            ("wall", Mask::WALL, record.wall),
            ("cpu", Mask::CPU, record.cpu),
        ] {
            if !record.mask.has(bit) {
                continue;
            }
            for time in [start, stop] {
                if !(0..1_000_000_000).contains(&time.nsec) {
                    let what = format!(
                        "{} ns of the {clock} clock, expected less than a second",
                        time.nsec
                    );
                    self.findings.error_at("time", &place, what);
                }
            }
            // The stream keeps 16 bits of seconds, so that times start again after 18 hours.
            if stop.ns() < start.ns() && start.sec.saturating_sub(stop.sec) < 0xF000 {
                let what = format!(
                    "ends {} ns before it starts, by the {clock} clock",
                    start.ns() - stop.ns()
                );
                self.findings.error_at("time", &place, what);
            }
        }
        if record.mask.has(Mask::WALL) {
            let stop = record.wall.stop.ns();
            let last = self.last.insert(record.thread, stop);
            if let Some(last) =
                last.filter(|&last| last > stop && last - stop < 0xF000 * 1_000_000_000)
            {
                let what = format!(
                    "ends {} ns before the call in front of it, of the same thread",
                    last - stop
                );
                self.findings.warning_at("order of time", &place, what);
            }
        }
        // Other calls only make, describe or free a datatype, and need no size.
        let fields = record.function.fields();
        let moves_data = fields.iter().any(|field| {
            matches!(
                field.code,
                FieldCode::Comm | FieldCode::File | FieldCode::Win
            )
        });
        for (field, arg) in record.args() {
            if field.code == FieldCode::Dt && moves_data {
                match arg {
                    FieldValue::Int(datatype) => self.datatype(&place, field.name, datatype),
                    FieldValue::Handles(datatypes) => {
                        for datatype in datatypes.iter() {
                            self.datatype(&place, field.name, datatype.into());
                        }
                    }
                    _ => {}
                }
            }
            if let (FUNCTION_ENTER | FUNCTION_EXIT, FieldValue::U64(key)) = (id, arg) {
                if !self.labels.contains_key(&key) {
                    let what = format!("region {key} has no label");
                    self.findings.warning_at("label of a region", &place, what);
                }
                let depth = self.regions.entry((record.thread, key)).or_default();
                *depth += if id == FUNCTION_ENTER { 1 } else { -1 };
                if *depth < 0 {
                    let what = format!("region {key} is left and was not entered");
                    self.findings.warning_at("regions", &place, what);
                    *depth = 0;
                }
            }
        }
    }

    fn datatype(&mut self, place: &str, field: &str, datatype: i32) {
        // 0 and 1 are MPI_DATATYPE_ERROR and MPI_DATATYPE_NULL; numbers are 16 bits wide and wrap.
        let known = usize::try_from(datatype).is_ok_and(|at| at < self.sizes.len());
        if datatype > 1 && !known && !self.sizes.is_empty() {
            let what = format!("{field} {datatype}, whose size is not told");
            self.findings.warning_at("datatype", place, what);
        }
    }

    fn regions_close(&mut self) {
        for ((thread, key), depth) in std::mem::take(&mut self.regions) {
            if depth > 0 {
                let place = format!("{}thread {thread}", self.name);
                let label = self.labels.get(&key);
                // A call that never returned stands as a region that was entered.
                let call = label.filter(|label| is_call(label));
                let what = match (call, label) {
                    (Some(call), _) => format!("{call} unfinished{}", self.of_rank),
                    (None, Some(label)) => format!("region {label} is entered and not left"),
                    (None, None) => format!("region {key} is entered and not left"),
                };
                self.findings.warning_at("regions", place, what);
            }
        }
    }
}

/// The text of dumpi2ascii.
pub fn check_text(bytes: &[u8], findings: &mut CheckFindings) {
    match from_text(bytes, Vec::new(), &FromTextOptions::default()) {
        Ok((made, _)) => check_rank(&made, "as a .bin file, ", "", findings),
        Err(error) => findings.unreadable(error),
    }
}

/// A run by the text of its `.meta` file.
pub fn check_run(path: &Path, bytes: &[u8], findings: &mut CheckFindings) {
    let meta = match Meta::parse(bytes) {
        Ok(meta) => meta,
        Err(error) => return findings.unreadable(error),
    };
    let files = meta.rank_files(path);
    if files.is_empty() {
        let prefix = String::from_utf8_lossy(&meta.fileprefix);
        let what = format!("no .bin file with the prefix {prefix}");
        return findings.error_at("files of the run", "fileprefix", what);
    }
    let mut inputs: Vec<(u32, OpenedInput)> = Vec::new();
    for gap in files.gaps() {
        let (place, missing) = (ranks_named(gap), missing(gap));
        let what = format!("{missing}, expected {}", meta.numprocs);
        findings.error_at("files of the run", place, what);
    }
    let absent: Vec<String> = files.absent().map(ranks_named).collect();
    if !absent.is_empty() {
        let what = "not in the trace, as the .meta file says: not traced, or left out";
        findings.warning_at("files of the run", absent.join(", "), what);
    }
    for (rank, file) in files.iter() {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        match OpenedInput::open(file) {
            Ok(input) => {
                let of_rank = format!(" on rank {rank}");
                check_rank(&input, &format!("{name}: "), &of_rank, findings);
                let version = DumpiReader::open(&input)
                    .ok()
                    .map(|reader| reader.version());
                if version.is_some_and(|version| version != meta.version) {
                    let what = "the file's version is not that of the .meta file";
                    findings.warning_at("version", &name, what);
                }
                inputs.push((rank, input));
            }
            Err(_) => findings.error_at("files of the run", &name, "cannot be opened"),
        }
    }
    if files.missing() > 0 || findings.count(Severity::Error) > 0 {
        return;
    }
    // That the message endpoints match.
    let ranks: Vec<(u32, &[u8])> = inputs
        .iter()
        .map(|(rank, input)| (*rank, &**input))
        .collect();
    let source = DumpiSource::new(meta.numprocs, &ranks);
    others::check_drawables(source.map_err(|(_, error)| error), findings);
}
