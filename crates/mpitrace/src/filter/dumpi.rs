//! DUMPI to DUMPI: the options of dumpi2dumpi, for one file or for all of a run.

use super::Arguments;
use crate::failure::Failure;
use crate::terminal::progress::Progress;
use crate::trace_files::format::Format;
use crate::trace_files::input::{Input, shown};
use crate::trace_files::target::Target;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use trace_formats::PendingFile;
use trace_formats::dumpi::meta::{Meta, bin_path, meta_path};
use trace_formats::dumpi::read::Reader;
use trace_formats::dumpi::types::Version;
use trace_formats::dumpi::write::FileWriter;
use trace_formats::edit::{Choice, Copied, DumpiFilter, Selection, first_wall_time};

const HEADING: &str = "DUMPI, as dumpi2dumpi";

/// Which parts of DUMPI records to write.
#[derive(Clone, Debug, clap::Args)]
pub struct PartArguments {
    #[command(flatten)]
    rules: Rules,
    /// Write wall times; the default
    #[arg(short = 'w', long, help_heading = HEADING, overrides_with = "skip_wall_time")]
    output_wall_time: bool,
    /// Leave out wall times
    #[arg(short = 'W', long, help_heading = HEADING, overrides_with = "output_wall_time")]
    skip_wall_time: bool,
    /// Write cpu times; the default
    #[arg(short = 'c', long, help_heading = HEADING, overrides_with = "skip_cpu_time")]
    output_cpu_time: bool,
    /// Leave out cpu times
    #[arg(short = 'C', long, help_heading = HEADING, overrides_with = "output_cpu_time")]
    skip_cpu_time: bool,
    /// Write performance counters; the default but with --as-dumpi2dumpi
    #[arg(short = 'p', long, help_heading = HEADING, overrides_with = "skip_perfctrs")]
    output_perfctrs: bool,
    /// Leave out performance counters
    #[arg(short = 'P', long, help_heading = HEADING, overrides_with = "output_perfctrs")]
    skip_perfctrs: bool,
    /// Leave out statuses (the original always does)
    #[arg(short = 'S', long, help_heading = HEADING)]
    skip_statuses: bool,
    /// Write functions that are not MPI's, and address labels; the default
    #[arg(short = 'u', long, help_heading = HEADING, overrides_with = "without_user_functions")]
    with_user_functions: bool,
    /// Leave them out
    #[arg(short = 'U', long, help_heading = HEADING, overrides_with = "with_user_functions")]
    without_user_functions: bool,
    /// The same bytes as dumpi2dumpi: without statuses, counters only with -p, clocks that are missing as zeros, its order of sections, its totals
    #[arg(long, help_heading = HEADING)]
    as_dumpi2dumpi: bool,
    /// The file to filter
    #[arg(short, long, value_name = "BIN", help_heading = HEADING, conflicts_with_all = ["metafile", "files"])]
    pub infile: Option<PathBuf>,
    /// The run to filter
    #[arg(short = 'I', long, value_name = "META", help_heading = HEADING, conflicts_with = "files")]
    pub metafile: Option<PathBuf>,
}

/// -f, -F, -m and -M in the order in which they were given.
#[derive(Clone, Debug, Default)]
struct Rules(Vec<Rule>);

#[derive(Clone, Debug)]
enum Rule {
    All(bool),
    One(String, bool),
}

impl clap::Args for Rules {
    fn augment_args(command: Command) -> Command {
        let flag = |id: &'static str, short: char, help: &'static str| {
            let arg = Arg::new(id).long(id).short(short).help(help);
            arg.action(ArgAction::SetTrue).help_heading(HEADING)
        };
        let list = |id: &'static str, short: char, help: &'static str| {
            let arg = Arg::new(id).long(id).short(short).help(help);
            let arg = arg.value_name("NAME").help_heading(HEADING);
            arg.action(ArgAction::Append)
        };
        command
            .arg(
                flag(
                    "output-mpi",
                    'f',
                    "Write all MPI functions; the default. Of -f, -F, -m and -M a later one wins",
                )
                .overrides_with("output-mpi"),
            )
            .arg(flag("skip-mpi", 'F', "Leave out all MPI functions").overrides_with("skip-mpi"))
            .arg(list("with-mpi", 'm', "Write this function"))
            .arg(list("without-mpi", 'M', "Leave out this function"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Rules::augment_args(command)
    }
}

impl FromArgMatches for Rules {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut rules = Vec::new();
        for (id, keep) in [("output-mpi", true), ("skip-mpi", false)] {
            if matches.value_source(id) == Some(ValueSource::CommandLine) {
                let at = matches
                    .indices_of(id)
                    .and_then(|mut indices| indices.next_back());
                rules.push((at.unwrap_or(0), Rule::All(keep)));
            }
        }
        for (id, keep) in [("with-mpi", true), ("without-mpi", false)] {
            let names = matches.get_many::<String>(id).into_iter().flatten();
            let indices = matches.indices_of(id).into_iter().flatten();
            rules.extend(
                indices
                    .zip(names)
                    .map(|(at, name)| (at, Rule::One(name.clone(), keep))),
            );
        }
        rules.sort_by_key(|(at, _)| *at);
        Ok(Rules(rules.into_iter().map(|(_, rule)| rule).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Rules::from_arg_matches(matches)?;
        Ok(())
    }
}

impl PartArguments {
    /// The first option that was given and means nothing for other formats.
    pub fn given(&self) -> Option<&'static str> {
        let rules = self.rules.0.first().map(|rule| match rule {
            Rule::All(true) => "--output-mpi",
            Rule::All(false) => "--skip-mpi",
            Rule::One(_, true) => "--with-mpi",
            Rule::One(_, false) => "--without-mpi",
        });
        let flags = [
            (self.output_wall_time, "--output-wall-time"),
            (self.skip_wall_time, "--skip-wall-time"),
            (self.output_cpu_time, "--output-cpu-time"),
            (self.skip_cpu_time, "--skip-cpu-time"),
            (self.output_perfctrs, "--output-perfctrs"),
            (self.skip_perfctrs, "--skip-perfctrs"),
            (self.skip_statuses, "--skip-statuses"),
            (self.with_user_functions, "--with-user-functions"),
            (self.without_user_functions, "--without-user-functions"),
            (self.as_dumpi2dumpi, "--as-dumpi2dumpi"),
        ];
        let flag = flags.iter().find(|(given, _)| *given);
        rules.or(flag.map(|(_, name)| *name))
    }

    /// What to keep of files whose clock stands at `origin`, in nanoseconds, when the run begins.
    fn filter(&self, selection: &Selection, origin: i64) -> Result<DumpiFilter, Failure> {
        let original = self.as_dumpi2dumpi;
        let mut filter = DumpiFilter {
            wall: !self.skip_wall_time,
            cpu: !self.skip_cpu_time,
            counters: self.output_perfctrs || !self.skip_perfctrs && !original,
            statuses: !self.skip_statuses && !original,
            threads: selection.threads.clone(),
            comms: selection.comms.clone(),
            windows: Choice {
                keep: times(&selection.windows.keep, origin),
                remove: times(&selection.windows.remove, origin),
            },
            invert: selection.invert,
            like_original: original,
            ..DumpiFilter::default()
        };
        for rule in &self.rules.0 {
            match rule {
                Rule::All(keep) => filter.functions.set_mpi(*keep),
                Rule::One(name, keep) => filter
                    .functions
                    .set(name, *keep)
                    .map_err(|error| Failure::Call(error.to_string()))?,
            }
        }
        if self.without_user_functions {
            filter.functions.set_user(false);
        }
        let categories = &selection.categories;
        filter
            .functions
            .retain(|id, name| categories.admits(|pattern| pattern.matches(i32::from(id), name)));
        if !selection.call_ids.is_empty() {
            let message = "DUMPI files have no CallIDs";
            return Err(Failure::Call(message.into()));
        }
        Ok(filter)
    }
}

fn times(windows: &[(f64, f64)], origin: i64) -> Vec<(i64, i64)> {
    // Beyond the range of the type the conversion stops at its ends, which is what is wanted.
    let ns = |seconds: f64| origin.saturating_add((seconds * 1e9) as i64);
    windows
        .iter()
        .map(|&(from, to)| (ns(from), ns(to)))
        .collect()
}

/// Filters one file.
pub fn file(
    arguments: &Arguments,
    selection: &Selection,
    input: &Path,
    output: &Path,
) -> Result<(), Failure> {
    if !selection.ranks.is_empty() {
        let message = "a .bin file is of one rank; give the run's .meta file to choose among them";
        return Err(Failure::Call(message.into()));
    }
    let bytes = Input::open(input)?;
    let origin = first_time(&bytes);
    let filter = arguments.dumpi.filter(selection, origin.unwrap_or(0))?;
    let target = Target::new(output, Some(Format::Dumpi), &arguments.tree)?;
    let copied = target.place(|path| copy(&bytes, shown(input), &filter, path))?;
    if !arguments.quiet {
        report(output, copied.kept, copied.removed);
    }
    damage(input, &copied)
}

/// Copies one file, with everything in it; what cannot be read of it is said.
pub fn whole(bytes: &[u8], input: &Path, target: &Target, quiet: bool) -> Result<(), Failure> {
    let filter = DumpiFilter::default();
    let copied = target.place(|path| copy(bytes, input, &filter, path))?;
    if !quiet {
        report(&target.path, copied.kept, copied.removed);
    }
    damage(input, &copied)
}

/// Filters all files of a run.
pub fn run(
    arguments: &Arguments,
    selection: &Selection,
    input: &Path,
    output: &Path,
) -> Result<(), Failure> {
    let name = input.display();
    // The name of the metafile to write means its root, too.
    let without = output.with_extension("");
    let is_meta = output.extension().is_some_and(|ending| ending == "meta");
    let output = if is_meta { without.as_path() } else { output };
    let text = Input::open(input)?;
    let meta = Meta::parse(&text).map_err(|error| Failure::Data(format!("{name}: {error}")))?;
    let files = meta.rank_files(input);
    let there: Vec<(u32, &Path)> = files.iter().collect();
    let missing = files.missing();
    if missing > 0 {
        let message = format!("{name}: {missing} of {} files are not there", meta.numprocs);
        return Err(Failure::Data(message));
    }
    let written = there.iter().map(|&(rank, _)| bin_path(output, rank, 4));
    let written: Vec<PathBuf> = written.chain([meta_path(output)]).collect();
    let read: Vec<&Path> = there.iter().map(|&(_, path)| path).chain([input]).collect();
    arguments.overwrite.allow_all(&written, &read)?;
    let progress = Progress::bytes(&name.to_string(), there.len() as u64, arguments.quiet);
    let mut origin = None;
    if !selection.windows.is_empty() {
        for (_, path) in &there {
            let first = first_time(&Input::open(path)?);
            origin = [origin, first].into_iter().flatten().min();
        }
    }
    let filter = arguments.dumpi.filter(selection, origin.unwrap_or(0))?;
    let (mut kept, mut removed) = (0, 0);
    let mut damaged = Ok(());
    for (done, &(rank, path)) in (1u64..).zip(&there) {
        // Inversion of what is chosen by rank is inversion of the choice.
        if selection.ranks.admits_number(rank) != (selection.invert && !selection.ranks.is_empty())
        {
            let copied = copy(
                &Input::open(path)?,
                path,
                &filter,
                &bin_path(output, rank, 4),
            )?;
            kept += copied.kept;
            removed += copied.removed;
            damaged = damaged.and(damage(path, &copied));
        }
        progress.at(done);
    }
    let meta = Meta {
        fileprefix: output.as_os_str().as_bytes().to_vec(),
        version: Version::CURRENT,
        ..meta
    };
    let path = meta_path(output);
    let failed = |error| Failure::output(path.display(), &error);
    let mut file = PendingFile::create(&path).map_err(failed)?;
    file.write_all(&meta.text()).map_err(failed)?;
    file.persist().map_err(failed)?;
    drop(progress);
    if !arguments.quiet {
        report(&path, kept, removed);
    }
    damaged
}

fn first_time(bytes: &[u8]) -> Option<i64> {
    first_wall_time(&open(bytes).ok()?)
}

/// Opens a file; one that was never completed as far as it goes.
fn open(bytes: &[u8]) -> Result<Reader<'_>, trace_formats::dumpi::Error> {
    Reader::open(bytes).or_else(|error| Reader::salvage(bytes).map_err(|_| error))
}

fn copy(
    bytes: &[u8],
    input: &Path,
    filter: &DumpiFilter,
    output: &Path,
) -> Result<Copied, Failure> {
    let bad = |error| Failure::Data(format!("{}: {error}", input.display()));
    let failed = |error| Failure::Data(format!("{}: {error}", output.display()));
    let complete = Reader::open(bytes);
    let reader = match &complete {
        Ok(reader) => reader.clone(),
        Err(_) => open(bytes).map_err(bad)?,
    };
    let mut writer = FileWriter::create(output, filter.offsets(&reader)).map_err(failed)?;
    let mut copied = filter.copy(&reader, &mut writer).map_err(failed)?;
    writer
        .finish(&copied.trailer, filter.layout())
        .map_err(failed)?;
    if let Err(error) = complete {
        copied.damage.get_or_insert(error);
    }
    Ok(copied)
}

/// The error of a file that could only be read in part. The output holds that part.
fn damage(input: &Path, copied: &Copied) -> Result<(), Failure> {
    match &copied.damage {
        None => Ok(()),
        Some(error) => Err(Failure::Data(format!(
            "{}: {error}; the {} calls before are filtered",
            shown(input).display(),
            copied.kept + copied.removed
        ))),
    }
}

fn report(output: &Path, kept: u64, removed: u64) {
    let name = output.display();
    eprintln!("mpitrace: {name}: {kept} calls kept, {removed} removed");
}
