//! `mpitrace stats --dumpistats`: the tables of dumpistats.
//!
//! For each option -b, -m and -g and each bin the file `ROOT-bin<option>-<bin>.tbl`, a row for each rank. The tables are
//! those of the original, to the byte, with what is odd in them (column 5 of -m and -g, MPI_Reduce_scatter under
//! MPI_Reduce), but for what it gets wrong: a minus in a range is a minus, times in a range are times of the trace,
//! times over two seconds are not cut to 32 bits, -l puts messages where its titles say and what is received by its own
//! size, -p counts outside time like -t does, and communicators may be made in more ways.

mod bins;
mod columns;
mod comms;
mod pattern;
mod range;
mod traffic;

use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::format::Format;
use crate::trace_files::input::{OpenedInput, shown};
use crate::trace_files::overwrite::Overwrite;
use bins::{BinOption, MarkedIntervals, needs_traffic};
use clap::{Arg, ArgAction, ArgMatches, Command};
use columns::{Column, ColumnKind, RunShape};
use comms::RankComms;
use pattern::Pattern;
use range::{Marks, RankTimeRange};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use trace_formats::dumpi::communicators::{
    Communicators, HandleNames, ReorderedTopologies, is_creation,
};
use trace_formats::dumpi::functions::{FINALIZE, INIT, INIT_THREAD};
use trace_formats::dumpi::meta::Meta;
use trace_formats::dumpi::read::DumpiReader;
use trace_model::PendingFile;

/// The options of dumpistats. Their order tells the numbers of bins and the order of columns, which derived arguments do
/// not keep.
#[derive(Clone, Debug, Default)]
pub struct DumpistatsOptions {
    bins: Vec<BinOption>,
    columns: Vec<Column>,
}

pub const HEADING: &str = "Tables of dumpistats";

/// Options that make bins: name, letter, value, help.
const BINS: [(&str, char, &str, &str); 3] = [
    (
        "bin",
        'b',
        "RANGE",
        "Time range of a bin: all, mpi, or A to B; `by T` divides it into bins of that width [default: all]",
    ),
    (
        "mark",
        'm',
        "/START/END/",
        "One bin for each interval between matching annotations; /START/END/i ignores case",
    ),
    (
        "gather",
        'g',
        "/START/END/",
        "One bin for all such intervals of a rank",
    ),
];

/// Options that make columns: the same and what they count.
const COLUMNS: [(&str, char, ColumnKind, &str); 7] = [
    (
        "count",
        'c',
        ColumnKind::Count,
        "Count calls of these functions: all, mpi, non-mpi, sends, recvs, coll, wait, io or a regular expression",
    ),
    (
        "time",
        't',
        ColumnKind::Time,
        "Time in and out of these functions, wall and CPU [default: mpi]",
    ),
    (
        "sent",
        's',
        ColumnKind::Sent,
        "Bytes sent by these functions",
    ),
    (
        "recvd",
        'r',
        ColumnKind::Received,
        "Bytes received by these functions",
    ),
    (
        "exchange",
        'x',
        ColumnKind::Exchange,
        "Bytes sent by these functions to each rank",
    ),
    (
        "lump",
        'l',
        ColumnKind::Lump,
        "Messages of these functions by size",
    ),
    (
        "perfctr",
        'p',
        ColumnKind::Counters,
        "Performance counters in and out of these functions",
    ),
];

impl clap::Args for DumpistatsOptions {
    fn augment_args(mut command: Command) -> Command {
        let option = |name, letter, value, help: &'static str| {
            Arg::new(name)
                .short(letter)
                .long(name)
                .value_name(value)
                .help(help)
                .help_heading(HEADING)
                .action(ArgAction::Append)
                .requires("dumpistats")
        };
        for (name, letter, value, help) in BINS {
            let parse = move |text: &str| match name {
                "bin" => RankTimeRange::parse(text).map(BinOption::Range),
                _ => MarkedIntervals::parse(text, name == "gather").map(BinOption::MarkedIntervals),
            };
            command = command.arg(option(name, letter, value, help).value_parser(parse));
        }
        for (name, letter, _, help) in COLUMNS {
            command =
                command.arg(option(name, letter, "FUNCTIONS", help).value_parser(Pattern::new));
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for DumpistatsOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut bins = Vec::new();
        for (name, ..) in BINS {
            let found = matches
                .get_many::<BinOption>(name)
                .into_iter()
                .flatten()
                .cloned();
            bins.extend(matches.indices_of(name).into_iter().flatten().zip(found));
        }
        let mut columns = Vec::new();
        for (name, _, kind, _) in COLUMNS {
            let found = matches.get_many::<Pattern>(name).into_iter().flatten();
            let found = found.map(|pattern| Column {
                kind,
                pattern: pattern.clone(),
            });
            columns.extend(matches.indices_of(name).into_iter().flatten().zip(found));
        }
        bins.sort_by_key(|(at, _)| *at);
        columns.sort_by_key(|(at, _)| *at);
        Ok(DumpistatsOptions {
            bins: bins.into_iter().map(|(_, bins)| bins).collect(),
            columns: columns.into_iter().map(|(_, column)| column).collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The file of a rank, mapped.
struct RankFile {
    rank: u32,
    path: PathBuf,
    input: OpenedInput,
}

impl RankFile {
    fn reader(&self) -> Result<DumpiReader<'_>, Failure> {
        DumpiReader::open(&self.input).map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::file(shown(&self.path), error)
    }
}

/// The .bin files of a run by its .meta file, or one of them; and how many ranks there were.
fn open(path: &Path) -> Result<(Vec<RankFile>, u32), Failure> {
    let input = OpenedInput::open(path)?;
    if input.starts_with(&trace_formats::dumpi::MAGIC) {
        let path = path.to_path_buf();
        let file = RankFile {
            rank: 0,
            path,
            input,
        };
        return Ok((vec![file], 1));
    }
    let bad = |what: String| Failure::Data(format!("{}: {what}", shown(path).display()));
    if let Some(format) = Format::of(&input).filter(|format| *format != Format::Dumpi) {
        let what = format.with_article();
        return Err(bad(format!(
            "{what}; expected the .meta file of a DUMPI run, or the .bin file of a rank"
        )));
    }
    let meta = Meta::parse(&input).map_err(|error| bad(error.to_string()))?;
    let mut files = Vec::new();
    let found = meta.rank_files(path);
    if found.is_empty() {
        let prefix = String::from_utf8_lossy(&meta.fileprefix).into_owned();
        return Err(bad(format!("no .bin files with the prefix {prefix}")));
    }
    if let Some((rank, _)) = found.gaps().next() {
        return Err(bad(format!("no .bin file of rank {rank}")));
    }
    for (rank, path) in found.iter() {
        let (path, input) = (path.to_owned(), OpenedInput::open(path)?);
        files.push(RankFile { rank, path, input });
    }
    Ok((files, meta.numprocs))
}

/// Findings on all ranks that are needed before rows are made.
struct FirstPass {
    comms: Communicators,
    /// By rank, the times that ranges refer to.
    marks: Vec<Marks>,
    /// Names of the performance counters, of the first rank that has any.
    counters: Vec<String>,
}

/// Goes through all files for the times that ranges refer to, and, if bytes are counted, for the communicators.
fn first_pass(files: &[RankFile], ranks: u32, counts_bytes: bool) -> Result<FirstPass, Failure> {
    let mut creations = Vec::new();
    let mut marks = Vec::new();
    let mut counters = Vec::new();
    for file in files {
        let reader = file.reader()?;
        let mut found: Option<Marks> = None;
        let mut handles = HandleNames::default();
        let mut made = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| file.failure(&error))?;
            let (start, stop) = (record.wall.start.ns(), record.wall.stop.ns());
            let found = found.get_or_insert(Marks {
                first: start,
                ..Marks::default()
            });
            found.last = stop;
            match record.function.id {
                INIT | INIT_THREAD => found.init = found.init.or(Some(start)),
                FINALIZE => found.finalize = Some(stop),
                _ => {}
            }
            if counts_bytes && is_creation(record.function.id) {
                made.extend(handles.take(&record));
            }
        }
        creations.push((file.rank, made));
        marks.push(found.unwrap_or_default());
        if counters.is_empty() {
            let labels = reader.perf_labels().map_err(|error| file.failure(&error))?;
            let names = labels.unwrap_or_default();
            counters = names
                .iter()
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect();
        }
    }
    Ok(FirstPass {
        comms: Communicators::new(ranks, &creations, ReorderedTopologies::KeepOrder),
        marks,
        counters,
    })
}

/// Makes the tables; `root` is what their names begin with.
pub fn run(
    path: &Path,
    root: &Path,
    options: &DumpistatsOptions,
    overwrite: Overwrite,
    quiet: bool,
) -> Result<(), Failure> {
    let (files, ranks) = open(path)?;
    let bins = match &options.bins[..] {
        [] => vec![BinOption::Range(
            RankTimeRange::parse("all").map_err(Failure::Call)?,
        )],
        bins => bins.to_vec(),
    };
    let columns = match &options.columns[..] {
        [] => vec![Column {
            kind: ColumnKind::Time,
            pattern: Pattern::new("mpi").map_err(Failure::Call)?,
        }],
        columns => columns.to_vec(),
    };
    let counts_bytes = needs_traffic(&columns);

    let FirstPass {
        comms,
        marks,
        counters,
    } = first_pass(&files, ranks, counts_bytes)?;

    let shape = RunShape {
        columns: &columns,
        ranks,
        counters: &counters,
    };
    let titles = shape.titles();
    let mut tables: BTreeMap<(usize, i64), String> = BTreeMap::new();
    let mut lost = 0u64;
    for (place, (file, marks)) in files.iter().zip(&marks).enumerate() {
        let reader = file.reader()?;
        let trailer = reader.trailer().map_err(|error| file.failure(&error))?;
        let labels = trailer.address_labels.iter();
        let labels = labels
            .map(|label| {
                (
                    label.key,
                    String::from_utf8_lossy(&label.label).into_owned(),
                )
            })
            .collect();
        let mut rank = RankComms::new(&comms, file.rank, place);
        let mut of_rank: Vec<_> = bins
            .iter()
            .map(|bins| bins.of_rank(marks, &labels))
            .collect();
        for record in reader.records() {
            let record = record.map_err(|error| file.failure(&error))?;
            let mut traffic = None;
            if counts_bytes {
                match traffic::traffic(&record, &trailer.type_sizes, &rank) {
                    Some(Ok(found)) => traffic = Some(found),
                    Some(Err(())) => lost += 1,
                    None => {}
                }
                rank.learn(&record);
            }
            for bins in &mut of_rank {
                bins.add(&shape, &record, traffic.as_ref());
            }
        }
        for (option, found) in of_rank.into_iter().enumerate() {
            let stretch = found.stretch;
            for (nth, row) in found.rows(file.rank) {
                let table = tables.entry((option, nth));
                let table = table.or_insert_with(|| bins[option].head(stretch, &titles));
                table.push_str(&row);
            }
        }
    }
    let named = |(option, nth): &(usize, i64)| {
        let mut name = root.as_os_str().to_owned();
        name.push(format!("-bin{option}-{nth}.tbl"));
        PathBuf::from(name)
    };
    let names: Vec<PathBuf> = tables.keys().map(named).collect();
    let read = files.iter().map(|file| file.path.as_path());
    let read: Vec<&Path> = read.chain([path]).collect();
    overwrite.allow_all(&names, &read)?;
    for (name, table) in names.iter().zip(tables.values()) {
        let failed = |error: io::Error| Failure::output(name.display(), &error);
        let mut file = PendingFile::create(name).map_err(failed)?;
        file.write_all(table.as_bytes()).map_err(failed)?;
        file.persist().map_err(failed)?;
    }
    if lost > 0 {
        tell!(
            "mpitrace: warning: {}: the bytes of {lost} calls do not count: their communicators cannot be followed",
            path.display()
        );
    }
    if !quiet {
        tell!(
            "mpitrace: {} tables: {}-bin*.tbl",
            tables.len(),
            root.display()
        );
    }
    Ok(())
}
