//! Findings: what costs time in a run's I/O and could be done in another way, with what it costs and a line to paste.
//!
//! Each file is about one family. Costs are sums of the durations of the calls or operations concerned, as the trace has them; a finding that is about
//! results and not about time costs nothing.

mod again;
mod collective;
mod failures;
mod metadata;
mod nonblocking;
mod order;
mod paste;
mod pointers;
mod requests;
mod sharing;
mod sieving;
mod sync;

use super::pattern::LARGE;
use super::{FileSystem, IoReport, RunFacts};
use trace_model::units::counted;

pub use paste::{Paste, PasteFor};
pub(super) use requests::TINY;

/// Fewer calls or transfers than this are not worth a word: together they cost less than one look at them.
const FEW: u64 = 50;

/// What costs all ranks together less than this is noise: starting one process takes longer, ns.
const NEXT_TO_NOTHING_NS: u64 = 1_000_000;

/// How sure it is that another way costs less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sureness {
    /// The trace shows that the work is not needed.
    Sure,
    /// Another way costs less on most systems.
    Likely,
    /// Whether another way costs less depends on what the trace does not show.
    Possible,
}

impl Sureness {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Sureness::Sure => "sure",
            Sureness::Likely => "likely",
            Sureness::Possible => "possible",
        }
    }
}

/// Something that costs time and could be done in another way.
#[derive(Clone, Debug, PartialEq)]
pub struct IoFinding {
    /// Name for programs.
    pub name: &'static str,
    /// Sentences with the numbers.
    pub text: String,
    /// Time of the calls or operations concerned, ns.
    pub ns: u64,
    /// How sure it is that another way costs less.
    pub sureness: Sureness,
    /// Lines to paste, those that fit the run.
    pub paste: Vec<Paste>,
    /// The numbers of the text, by name.
    pub figures: Vec<(&'static str, u64)>,
    /// The function that it is about, where it is about one.
    function: Option<String>,
}

impl IoFinding {
    /// All names.
    pub const NAMES: [&str; 38] = [
        "many_files",
        "metadata",
        "opened_early",
        "stdio_or_mapped",
        "small_requests",
        "unaligned_requests",
        "tiny_transfers",
        "random_reads",
        "random_writes",
        "redundant_reads",
        "redundant_writes",
        "same_reads_of_ranks",
        "sieving_holes_of_reads",
        "sieving_holes_of_writes",
        "read_modify_write",
        "locks",
        "one_rank_writes",
        "one_rank_reads",
        "unequal_writes",
        "unequal_reads",
        "slow_rank",
        "overwriting",
        "overlapping_writes",
        "one_aggregator",
        "servers",
        "no_collectives",
        "pieces_without_collectives",
        "collectives_made_independent",
        "no_mpi_io",
        "late_ranks",
        "small_collectives",
        "waited_at_once",
        "not_deferred",
        "shared_pointers",
        "atomic_mode",
        "syncs",
        "failed",
        "short_writes",
    ];

    fn new(name: &'static str, sureness: Sureness, ns: u64, text: String) -> Self {
        debug_assert!(IoFinding::NAMES.contains(&name), "{name}");
        IoFinding {
            name,
            text,
            ns,
            sureness,
            paste: Vec::new(),
            figures: Vec::new(),
            function: None,
        }
    }

    /// Whether it is about time, and that time is too short to be worth any change.
    pub fn costs_next_to_nothing(&self) -> bool {
        (1..NEXT_TO_NOTHING_NS).contains(&self.ns)
    }

    /// Place in the list: what makes results wrong, what costs time, what is about results only, what costs next to nothing.
    fn rank_of_cost(&self) -> u8 {
        match self.name {
            "failed" | "short_writes" => 0,
            _ if self.costs_next_to_nothing() => 3,
            _ if self.ns == 0 => 2,
            _ => 1,
        }
    }

    fn with(mut self, figures: &[(&'static str, u64)]) -> Self {
        self.figures.extend_from_slice(figures);
        self
    }

    fn about(mut self, function: &str) -> Self {
        self.function = Some(function.to_owned());
        self
    }

    /// A number of the text.
    pub fn figure(&self, name: &str) -> Option<u64> {
        let mut figures = self.figures.iter();
        figures.find(|(known, _)| *known == name).map(|&(_, n)| n)
    }
}

/// What findings are made of.
struct Evidence<'a> {
    report: &'a IoReport,
    facts: &'a RunFacts,
}

impl IoReport {
    /// What could be done in another way: first what fails, then the largest cost; last what costs next to nothing.
    pub fn findings(&self, facts: &RunFacts) -> Vec<IoFinding> {
        let evidence = Evidence {
            report: self,
            facts,
        };
        let families = [
            Evidence::metadata,
            Evidence::requests,
            Evidence::order,
            Evidence::again,
            Evidence::sieving,
            Evidence::sharing,
            Evidence::collective,
            Evidence::nonblocking,
            Evidence::pointers,
            Evidence::sync,
            Evidence::failures,
        ];
        let mut found: Vec<IoFinding> = families
            .iter()
            .flat_map(|family| family(&evidence))
            .collect();
        drop_explained(&mut found);
        if facts.file_system == FileSystem::Local && evidence.is_on_one_host() {
            found.iter_mut().for_each(doubt_on_local_files);
        }
        for finding in &mut found {
            finding.paste = paste::lines(finding.name, finding.function.as_deref(), facts, self);
        }
        found.sort_by_key(|finding| (finding.rank_of_cost(), std::cmp::Reverse(finding.ns)));
        found
    }
}

/// Findings of accesses that cost much where hosts share a file system. In the page cache of one host a small access takes microseconds, as does the
/// exchange between ranks that would replace it.
const CHEAP_ON_LOCAL_FILES: [&str; 10] = [
    "small_requests",
    "unaligned_requests",
    "random_reads",
    "random_writes",
    "same_reads_of_ranks",
    "sieving_holes_of_reads",
    "sieving_holes_of_writes",
    "read_modify_write",
    "no_collectives",
    "pieces_without_collectives",
];

/// Lowers the sureness of a finding on files of one host, where that makes a difference.
fn doubt_on_local_files(finding: &mut IoFinding) {
    if finding.sureness == Sureness::Likely && CHEAP_ON_LOCAL_FILES.contains(&finding.name) {
        finding.sureness = Sureness::Possible;
        finding.text += " The files are on this host's own file system: its page cache may be as fast as the other way.";
    }
}

/// Findings of small pieces, and others that say why the pieces are small. With one of these the first says nothing more.
const EXPLAINED: [(&str, &[&str]); 2] = [
    (
        "small_requests",
        &[
            "many_files",
            "no_collectives",
            "pieces_without_collectives",
            "random_reads",
            "random_writes",
            "shared_pointers",
        ],
    ),
    (
        "tiny_transfers",
        &[
            "collectives_made_independent",
            "sieving_holes_of_reads",
            "sieving_holes_of_writes",
        ],
    ),
];

/// Nine tenths of the accesses that a finding is about are those of another one.
const EXPLAINED_PERCENT: u64 = 90;

/// Leaves out what another finding explains: one cause, one line.
fn drop_explained(found: &mut Vec<IoFinding>) {
    let accesses = |finding: &IoFinding| {
        let counts = ["random", "accesses", "calls", "transfers", "holes"].into_iter();
        counts
            .filter_map(|name| finding.figure(name))
            .next()
            .unwrap_or(0)
    };
    for (name, by) in EXPLAINED {
        let explained: u64 = found
            .iter()
            .filter(|finding| by.contains(&finding.name))
            .map(accesses)
            .sum();
        found.retain(|finding| {
            let own = finding
                .figure("small")
                .or(finding.figure("tiny"))
                .unwrap_or(0);
            finding.name != name || explained < own / 100 * EXPLAINED_PERCENT || explained == 0
        });
    }
}

impl Evidence<'_> {
    /// Time in data accesses of MPI-IO and in transfers of the program's own, ns.
    fn access_ns(&self) -> u64 {
        let report = self.report;
        let own = report.own.read.ns.saturating_add(report.own.written.ns);
        report
            .reads
            .ns
            .saturating_add(report.writes.ns)
            .saturating_add(own)
    }

    /// Whether the run is known to have used one host only.
    fn is_on_one_host(&self) -> bool {
        self.facts.hosts == 1
    }
}

/// `37 %`. What is too little for a whole number is not nothing: `<1 %`.
fn percent(part: u64, of: u64) -> String {
    let percent = 100.0 * part as f64 / of as f64;
    match of {
        0 => "-".to_owned(),
        _ if percent > 0.0 && percent < 1.0 => "<1 %".to_owned(),
        _ => format!("{percent:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::percent;
    use crate::io::AccessTotals;
    use crate::io::pattern::{Part, Sharing};
    use crate::io::{CallSum, IoReport, RunFacts};

    #[test]
    fn writes_of_ranks_after_each_other_are_told_as_that() {
        let text = |is_simultaneous| {
            let mut report = IoReport::default();
            let shared = Part {
                calls: 1,
                bytes: 8,
                ns: 5_000_000,
            };
            let sharing = Sharing {
                shared,
                is_simultaneous,
                ..Sharing::default()
            };
            report.accesses.sharing.insert((0, true), sharing);
            let found = report.findings(&RunFacts::default());
            let one = found.iter().find(|one| one.name == "overlapping_writes");
            one.expect("the finding").text.clone()
        };
        assert!(text(true).ends_with("depends on the order."));
        let text = text(false);
        assert!(
            text.contains("No two of them were at the same time"),
            "{text}"
        );
    }

    #[test]
    fn nobody_is_told_to_make_the_calls_that_there_are() {
        let lines = |functions: &[&str], name| {
            let mut report = IoReport::default();
            let all = functions
                .iter()
                .map(|&name| (name.to_owned(), AccessTotals::default()));
            report.functions.extend(all);
            let found = super::paste::lines(name, None, &RunFacts::default(), &report);
            found
                .iter()
                .filter(|line| line.into == super::PasteFor::Program)
                .count()
        };
        let writes = [
            "MPI_File_write_all",
            "MPI_File_write_at_all_c",
            "MPI_File_read",
        ];
        assert_eq!(lines(&writes, "read_modify_write"), 0);
        assert_eq!(lines(&writes, "sieving_holes_of_reads"), 1);
        assert_eq!(lines(&["MPI_File_write_at"], "sieving_holes_of_writes"), 1);
    }

    #[test]
    fn a_line_to_paste_has_the_function_of_its_finding() {
        let mut facts = RunFacts::default();
        for function in ["MPI_File_iread_at_all", "MPI_File_iwrite"] {
            let sum = CallSum { calls: 1, ns: 1 };
            facts.waited_at_once.insert(function.into(), sum);
        }
        let found = IoReport::default().findings(&facts);
        let lines: Vec<&str> = found.iter().map(|one| &*one.paste[0].line).collect();
        let rest = "(...);  compute;  MPI_Wait(&request, &status);";
        let expected = ["MPI_File_iread_at_all", "MPI_File_iwrite"];
        assert_eq!(lines, expected.map(|function| format!("{function}{rest}")));
    }

    #[test]
    fn what_is_little_is_not_shown_as_nothing() {
        let shown = [(0, 0), (0, 9), (1, 1000), (9, 1000), (10, 1000), (37, 100)];
        let shown = shown.map(|(part, of)| percent(part, of));
        assert_eq!(shown, ["-", "0 %", "<1 %", "<1 %", "1 %", "37 %"]);
    }
}
