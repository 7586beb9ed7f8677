//! Options for the parts of DUMPI records to write, as dumpi2dumpi has them.

use crate::failure::Failure;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use std::path::PathBuf;
use transform::{DumpiFilter, FunctionSet, PropertySelection, Selection};

const HEADING: &str = "DUMPI, as dumpi2dumpi";

/// Which parts of DUMPI records to write.
#[derive(Clone, Debug, clap::Args)]
pub struct PartArguments {
    #[command(flatten)]
    rules: Rules,
    /// Write wall times (the default)
    #[arg(short = 'w', long, help_heading = HEADING, overrides_with = "skip_wall_time")]
    output_wall_time: bool,
    /// Leave out wall times
    #[arg(short = 'W', long, help_heading = HEADING, overrides_with = "output_wall_time")]
    skip_wall_time: bool,
    /// Write CPU times (the default)
    #[arg(short = 'c', long, help_heading = HEADING, overrides_with = "skip_cpu_time")]
    output_cpu_time: bool,
    /// Leave out CPU times
    #[arg(short = 'C', long, help_heading = HEADING, overrides_with = "output_cpu_time")]
    skip_cpu_time: bool,
    /// Write performance counters (the default, except with --as-dumpi2dumpi)
    #[arg(short = 'p', long, help_heading = HEADING, overrides_with = "skip_perfctrs")]
    output_perfctrs: bool,
    /// Leave out performance counters
    #[arg(short = 'P', long, help_heading = HEADING, overrides_with = "output_perfctrs")]
    skip_perfctrs: bool,
    /// Leave out statuses (dumpi2dumpi always does)
    #[arg(short = 'S', long, help_heading = HEADING)]
    skip_statuses: bool,
    /// Write functions that are not part of MPI, and their names (the default)
    #[arg(short = 'u', long, help_heading = HEADING, overrides_with = "without_user_functions")]
    with_user_functions: bool,
    /// Leave out functions that are not part of MPI, and their names
    #[arg(short = 'U', long, help_heading = HEADING, overrides_with = "with_user_functions")]
    without_user_functions: bool,
    /// Write the bytes that dumpi2dumpi writes: no statuses, counters only with -p, missing clocks as zeros, its order
    /// of sections, its totals
    #[arg(long, help_heading = HEADING)]
    as_dumpi2dumpi: bool,
    /// The .bin file to filter
    #[arg(short, long, value_name = "BIN", help_heading = HEADING, conflicts_with_all = ["metafile", "files"])]
    pub infile: Option<PathBuf>,
    /// The .meta file of the run to filter
    #[arg(short = 'I', long, value_name = "META", help_heading = HEADING, conflicts_with = "files")]
    pub metafile: Option<PathBuf>,
}

/// -f, -F, -m and -M in the order in which they were given.
#[derive(Clone, Debug, Default)]
struct Rules(Vec<TimeRule>);

#[derive(Clone, Debug)]
enum TimeRule {
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
                rules.push((at.unwrap_or(0), TimeRule::All(keep)));
            }
        }
        for (id, keep) in [("with-mpi", true), ("without-mpi", false)] {
            let names = matches.get_many::<String>(id).into_iter().flatten();
            let indices = matches.indices_of(id).into_iter().flatten();
            rules.extend(
                indices
                    .zip(names)
                    .map(|(at, name)| (at, TimeRule::One(name.clone(), keep))),
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
            TimeRule::All(true) => "--output-mpi",
            TimeRule::All(false) => "--skip-mpi",
            TimeRule::One(_, true) => "--with-mpi",
            TimeRule::One(_, false) => "--without-mpi",
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

    /// Filter for files whose clock reads `origin` ns at the beginning of the run.
    pub fn filter(&self, selection: &Selection, origin: i64) -> Result<DumpiFilter, Failure> {
        let original = self.as_dumpi2dumpi;
        let functions = match original {
            true => FunctionSet::only_numbered(),
            false => FunctionSet::default(),
        };
        let mut filter = DumpiFilter {
            functions,
            wall: !self.skip_wall_time,
            cpu: !self.skip_cpu_time,
            counters: self.output_perfctrs || !self.skip_perfctrs && !original,
            statuses: !self.skip_statuses && !original,
            threads: selection.threads.clone(),
            comms: selection.comms.clone(),
            windows: PropertySelection {
                keep: times(&selection.windows.keep, origin),
                remove: times(&selection.windows.remove, origin),
            },
            invert: selection.invert,
            like_original: original,
        };
        for rule in &self.rules.0 {
            match rule {
                TimeRule::All(keep) => filter.functions.set_mpi(*keep),
                TimeRule::One(name, keep) => filter
                    .functions
                    .set(name, *keep)
                    .map_err(|error| Failure::Call(error.to_string()))?,
            }
        }
        if self.without_user_functions {
            filter.functions.set_user(false);
        }
        filter.functions.select(selection.categories.clone());
        if !selection.call_ids.is_empty() {
            let message = "DUMPI files have no CallIDs";
            return Err(Failure::Call(message.into()));
        }
        Ok(filter)
    }
}

fn times(windows: &[(f64, f64)], origin: i64) -> Vec<(i64, i64)> {
    // Beyond the range of the type the conversion stops at its ends, which is what is wanted.
    let ns = |seconds: f64| origin.saturating_add((seconds * 1e9).round() as i64);
    windows
        .iter()
        .map(|&(from, to)| (ns(from), ns(to)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A decimal fraction is mostly none of binary ones: the nearest one of a time in whole ns may be below it.
    #[test]
    fn a_window_ends_at_the_nanosecond_that_is_written() {
        for ns in (0..20_000).map(|nth| 7 + nth * 104_729_003) {
            let written = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            let seconds: f64 = written.parse().expect("a number");
            assert_eq!(
                times(&[(seconds, seconds)], 3),
                [(ns + 3, ns + 3)],
                "{written}"
            );
        }
        let ends = times(&[(f64::NEG_INFINITY, 1e300)], 3);
        assert_eq!(ends, [(i64::MIN + 3, i64::MAX)]);
    }
}
