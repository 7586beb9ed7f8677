//! Groups block files by run.

use super::source::BlockFileInput;
use blockfile::file::BlockFile;
use merge::operations;
use settings::Settings;
use std::collections::BTreeMap;
use std::fmt::Write;
use trace_formats::dumpi::meta;
use trace_formats::dumpi::print::Zone;

/// The block files of one run in order of rank.
pub struct RunFiles<'a> {
    /// Block files of the ranks; at least one.
    pub sources: Vec<BlockFileInput<'a>>,
    /// Block files of servers and devices that may have worked for the run.
    pub servers: Vec<BlockFile<'a>>,
}

/// Processes of a run whose ranks had no chance to agree on its identity begin at most this much after one another.
const APART_NS: u64 = 60_000_000_000;

/// Identity of a run: the one that the ranks agreed on, or else program and number of ranks.
type Key = (u64, String, u32);

/// Sorts by run. Gives also what was left out, in words.
pub fn of(sources: Vec<BlockFileInput<'_>>) -> (Vec<RunFiles<'_>>, Vec<String>) {
    let is_server = |source: &BlockFileInput<'_>| operations::is_server(&source.file);
    let (servers, sources): (Vec<_>, Vec<_>) = sources.into_iter().partition(is_server);
    let died_in_init = |source: &BlockFileInput<'_>| source.info.rank < 0 && source.info.run == 0;
    let (unborn, sources): (Vec<_>, Vec<_>) = sources.into_iter().partition(died_in_init);
    let mut by_key: BTreeMap<Key, Vec<BlockFileInput<'_>>> = BTreeMap::new();
    let sources = adopt(unborn, sources);
    for source in sources {
        let key = match source.info.run {
            0 => (0, source.process.program.clone(), source.info.size),
            run => (run, String::new(), 0),
        };
        by_key.entry(key).or_default().push(source);
    }
    let mut groups = Vec::new();
    let mut left_out = Vec::new();
    for ((run, ..), mut sources) in by_key {
        sources.sort_by_key(|s| (s.started, s.info.rank));
        let mut group: Vec<BlockFileInput<'_>> = Vec::new();
        for source in sources {
            let rank = source.info.rank;
            let twice = group.iter().find(|s| rank >= 0 && s.info.rank == rank);
            let first = group.first().map_or(source.started, |s| s.started);
            match twice {
                Some(other) if run != 0 && !are_runs_of_their_own(other, &source) => {
                    left_out.push(format!(
                        "{}: rank {rank} of this run is there already, from {}: left out",
                        source.path.display(),
                        other.path.display()
                    ));
                    continue;
                }
                None if run != 0 || source.started.saturating_sub(first) < APART_NS => {}
                _ => groups.push(RunFiles::new(std::mem::take(&mut group))),
            }
            group.push(source);
        }
        groups.push(RunFiles::new(group));
    }
    groups.sort_by_key(|group| group.sources.first().map(|s| s.started));
    for group in &mut groups {
        // Of what they did, that in the time of the run counts.
        group.servers = servers.iter().map(|server| server.file.clone()).collect();
    }
    if groups.is_empty() {
        left_out.extend(servers.iter().map(|server| {
            format!(
                "{}: of a server or device, and no ranks are here that it worked for: left out",
                server.path.display()
            )
        }));
    }
    (groups, left_out)
}

/// Whether two processes of one identity are runs of a single process each. A script that a launcher has started may start programs one after another,
/// all of which have the launcher's identity.
fn are_runs_of_their_own(one: &BlockFileInput<'_>, other: &BlockFileInput<'_>) -> bool {
    one.info.size == 1 && other.info.size == 1 && one.info.pid != other.info.pid
}

/// Gives processes that died in MPI_Init the rank that their file's name tells, if others of their run had come out of it. Gives all
/// sources.
fn adopt<'a>(
    unborn: Vec<BlockFileInput<'a>>,
    mut sources: Vec<BlockFileInput<'a>>,
) -> Vec<BlockFileInput<'a>> {
    for mut source in unborn {
        let found = source.rank_of_name().and_then(|rank| {
            let is_sibling = |other: &&BlockFileInput<'_>| {
                other.info.rank >= 0
                    && other.process.program == source.process.program
                    && other.started.abs_diff(source.started) < APART_NS
                    && rank < other.info.size
            };
            let siblings = sources.iter().filter(is_sibling);
            let run = siblings
                .min_by_key(|other| other.started.abs_diff(source.started))?
                .info;
            let mut of_run = sources.iter().filter(|other| other.info.run == run.run);
            let is_there = of_run.any(|other| u32::try_from(other.info.rank) == Ok(rank));
            (!is_there).then_some((rank, run.size, run.run))
        });
        if let Some((rank, size, run)) = found {
            source.set_rank(rank, size, run);
        }
        sources.push(source);
    }
    sources
}

impl<'a> RunFiles<'a> {
    fn new(mut sources: Vec<BlockFileInput<'a>>) -> RunFiles<'a> {
        sources.sort_by_key(|s| (s.info.rank, s.info.pid));
        RunFiles {
            sources,
            servers: Vec::new(),
        }
    }

    /// Name of the program.
    pub fn program(&self) -> &str {
        let mut names = self.sources.iter().map(|s| s.process.program.as_str());
        names.find(|name| !name.is_empty()).unwrap_or("program")
    }

    /// The settings of the run: those of the lowest rank.
    pub fn settings(&self) -> Settings {
        let mut sources = self.sources.iter();
        let lowest = sources.find(|source| source.info.rank >= 0);
        lowest.map_or_else(Settings::default, |source| source.settings.clone())
    }

    /// Second in which the run began, since the epoch: the one that MPI_Finalize takes, of the first call of the lowest rank.
    pub fn started(&self) -> u64 {
        let known = self.sources.iter().filter(|s| s.started > 0);
        let first =
            known.min_by_key(|s| (u32::try_from(s.info.rank).unwrap_or(u32::MAX), s.started));
        first.map_or(0, |s| s.started) / 1_000_000_000
    }

    /// Number of ranks that the run had.
    pub fn ranks(&self) -> u32 {
        let sizes = self.sources.iter().map(|s| s.info.size);
        let ranks = self
            .sources
            .iter()
            .filter_map(|s| u32::try_from(s.info.rank.saturating_add(1)).ok());
        sizes.chain(ranks).max().unwrap_or(0)
    }

    /// Short description of the run.
    pub fn title(&self) -> String {
        let ranks = match self.ranks() {
            0 => "before MPI_Init returned".to_owned(),
            1 => "1 rank".to_owned(),
            n => format!("{n} ranks"),
        };
        let stamp = stamp(self.started());
        format!("{}, {ranks}, {stamp}", self.program())
    }

    /// The ranks of which there is no file, as `1, 3-6`; empty when there are all.
    pub fn missing(&self) -> String {
        missing_ranks(self.sources.iter().map(|s| s.info.rank), self.ranks())
    }
}

/// The ranks below `size` that are not among `there`, which are in order, as `1, 3-6`. Numbers below 0 are no ranks.
pub fn missing_ranks(there: impl Iterator<Item = i32>, size: u32) -> String {
    let mut text = String::new();
    let mut next = 0;
    let there = there.filter_map(|rank| u32::try_from(rank).ok());
    for rank in there.chain([size]) {
        if rank > next {
            let comma = if text.is_empty() { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = match rank - next {
                1 => write!(text, "{comma}{next}"),
                _ => write!(text, "{comma}{next}-{}", rank - 1),
            };
        }
        next = rank.saturating_add(1);
    }
    text
}

/// Time stamp in names of files, local time: `2026.11.20.05.32.58`.
pub fn stamp(second: u64) -> String {
    let prefix = meta::prefix(b"", second, Zone::Local);
    String::from_utf8_lossy(&prefix)
        .trim_start_matches('-')
        .to_owned()
}
