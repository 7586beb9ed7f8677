//! What the states of a trace say about a run's I/O beyond its data accesses: other calls of MPI-IO, requests that are waited for at once,
//! who waits for a rank that reads or writes.

use super::IoReport;
use super::calls::{HashMap, HashSet};
use crate::performance::PerformanceReport;
use blockfile::operation as op;
use io_attribution::draw::{Shows, shows, time_to_completion};
use io_attribution::{FileRole, OpenedFile};
use std::collections::{BTreeMap, BTreeSet};
use trace_model::{
    Actor, Category, Definitions, Drawable, InfoValue, Lane, Topology, info_values, lane_of,
};

/// A wait that begins at most this long after the call whose request it waits for leaves no time to compute, ns: less than a small transfer takes.
const AT_ONCE_NS: i64 = 100_000;

/// Times of one moment may differ by so much in a trace, which has them in seconds, ns.
const ROUNDING_NS: i64 = 100;

/// Name of the events by which the recorder tells which I/O libraries are loaded.
const LIBRARY: &str = "library";

/// I/O libraries that are told: there are few kinds, and ranks may have different versions.
const LIBRARIES: usize = 64;

/// The MPI library's own MPI-IO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoLibrary {
    /// ROMIO: MPICH and its relatives.
    Romio,
    /// OMPIO: Open MPI.
    Ompio,
}

/// Kind of the file system that the files are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileSystem {
    /// The file system is not known.
    #[default]
    Unknown,
    /// On a disk or in the memory of one host.
    Local,
    /// Lustre.
    Lustre,
    /// Another one that several hosts share.
    Shared,
}

/// Calls of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSum {
    /// Number of calls.
    pub calls: u64,
    /// Time in them, ns.
    pub ns: u64,
}

impl CallSum {
    fn add(&mut self, ns: u64) {
        self.calls += 1;
        self.ns = self.ns.saturating_add(ns);
    }
}

/// What is known of a run besides its data accesses and operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFacts {
    /// The MPI-IO library, where it is known.
    pub library: Option<IoLibrary>,
    /// The file system, where it is known.
    pub file_system: FileSystem,
    /// Number of ranks, without those that did not record.
    pub ranks: u64,
    /// Whether the report is about one rank only, so that nothing is known of the accesses of others.
    pub is_of_one_rank: bool,
    /// Number of hosts; 0 if the trace does not name them.
    pub hosts: u64,
    /// Whether HDF5 is in the process.
    pub has_hdf5: bool,
    /// Whether PnetCDF is in the process.
    pub has_pnetcdf: bool,
    /// I/O libraries in the process at MPI_Finalize: file names, or versions of those that are linked into the program.
    pub libraries: BTreeSet<String>,
    /// Calls of MPI-IO by function.
    pub calls: BTreeMap<String, CallSum>,
    /// Calls of MPI_File_sync and MPI_File_open by rank.
    pub syncs: BTreeMap<u32, RankSyncs>,
    /// Calls of MPI_File_set_atomicity that ask for atomic mode, and those of which the trace does not tell what they ask for.
    pub atomic: AtomicModes,
    /// Nonblocking accesses whose completion the next MPI call waited for, at once: by function, with the time of both calls.
    pub waited_at_once: BTreeMap<String, CallSum>,
    /// Time that other ranks waited for a rank while it was in MPI-IO or in file operations, by rank.
    pub waited_for: BTreeMap<u32, FileWaits>,
}

/// How often a rank opened files and waited for the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankSyncs {
    /// Calls of MPI_File_sync.
    pub syncs: u64,
    /// Calls of MPI_File_open.
    pub opens: u64,
}

/// Calls of MPI_File_set_atomicity by what they ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicModes {
    /// Atomic mode.
    pub asked: u64,
    /// What the trace does not tell.
    pub unknown: u64,
}

/// Time that other ranks waited for a rank which was in MPI-IO or in file operations, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileWaits {
    /// The rank read.
    pub reads: u64,
    /// The rank wrote.
    pub writes: u64,
    /// The rank opened or closed a file, waited for a device, or did something else with files.
    pub others: u64,
}

impl FileWaits {
    fn add(&mut self, activity: &str, ns: u64) {
        let sum = match activity {
            _ if activity.contains("read") => &mut self.reads,
            _ if activity.contains("write") => &mut self.writes,
            _ => &mut self.others,
        };
        *sum = sum.saturating_add(ns);
    }
}

impl RunFacts {
    /// An I/O library is in the process: its file name, or the version that it tells.
    fn loads(&mut self, library: &str) {
        let is =
            |name: &str, version: &str| library.starts_with(name) || library.starts_with(version);
        self.has_hdf5 |= is("libhdf5", "HDF5 library version");
        self.has_pnetcdf |= is("libpnetcdf", "PnetCDF library version");
        if self.libraries.len() < LIBRARIES {
            self.libraries.insert(library.to_owned());
        }
    }

    /// Calls of these functions together.
    pub fn sum(&self, functions: impl Fn(&str) -> bool) -> CallSum {
        let mut all = CallSum::default();
        for (_, sum) in self.calls.iter().filter(|(name, _)| functions(name)) {
            all.calls += sum.calls;
            all.ns = all.ns.saturating_add(sum.ns);
        }
        all
    }
}

impl IoReport {
    /// The MPI-IO library, by the files that it opens beside the data and by how it moves them: OMPIO has files for locks and memory that ranks
    /// share, and moves pieces with pwritev; ROMIO looks for a file of hints.
    pub fn library(&self) -> Option<IoLibrary> {
        let has_role = |role: FileRole| self.files.values().any(|file| file.role == role);
        let has_kind = |kinds: &[u16], role: FileRole| {
            let mut keys = self.kinds.keys().filter(|key| key.is_of_rank());
            keys.any(|key| key.role == role && kinds.contains(&key.kind))
        };
        let gathers = [op::PWRITEV, op::PREADV, op::WRITEV, op::READV];
        if has_role(FileRole::Side) || has_kind(&gathers, FileRole::Data) {
            return Some(IoLibrary::Ompio);
        }
        let is_of_hints = |file: &OpenedFile| file.name.ends_with("/romio-hints");
        let has_hints = self.files.values().any(is_of_hints) || self.opens_other_files;
        let is_romio = has_role(FileRole::SharedPointer) || has_hints;
        is_romio.then_some(IoLibrary::Romio)
    }
}

/// Whether a state is a call that waits for requests.
fn is_wait(name: &str) -> bool {
    matches!(
        name,
        "MPI_Wait" | "MPI_Waitall" | "MPI_Waitany" | "MPI_Waitsome"
    )
}

/// What a category is for this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CategoryUse {
    /// MPI-IO.
    File,
    /// A nonblocking access.
    Begins,
    /// Waits for requests.
    Wait,
    /// Any other MPI call.
    Call,
    /// Events that tell when a data access was complete.
    Access,
    /// Events that tell which I/O libraries are loaded.
    Library,
}

/// The latest MPI call of a thread, if it began an access.
#[derive(Clone, Copy, Debug)]
struct Begun {
    category: i32,
    start: i64,
    end: i64,
    ns: u64,
    /// Whether the call before it began an access, too: then the two overlap with each other.
    is_one_of_several: bool,
}

/// When a data access began, and when its data were moved, ns.
#[derive(Clone, Copy, Debug)]
struct CompletedAccess {
    start: i64,
    complete: i64,
}

impl Begun {
    /// Whether the wait between these times is the next thing that the thread does, and completes this access, which is `access`.
    fn is_waited_for_at_once(&self, access: &CompletedAccess, start: i64, end: i64) -> bool {
        let is_in = |ns: i64, from: i64, to: i64| {
            (from.saturating_sub(ROUNDING_NS)..=to.saturating_add(ROUNDING_NS)).contains(&ns)
        };
        is_in(access.start, self.start, self.start)
            && is_in(access.complete, start, end)
            && !self.is_one_of_several
            && start.saturating_sub(self.end) <= AT_ONCE_NS
    }
}

/// Whether a call of MPI_File_set_atomicity asks for atomic mode; `None` if its info does not tell.
fn asks_for_atomic_mode(category: &Category, drawable: &Drawable<'_>) -> Option<bool> {
    let mut values = info_values(category, drawable.info);
    let (_, value) = values.find(|(name, _)| name.0.ends_with(b"atomic="))?;
    match value {
        InfoValue::Integer(flag) if flag >= 0 => Some(flag != 0),
        _ => None,
    }
}

/// Takes the drawables of a trace in order of their beginnings.
#[derive(Debug)]
pub struct RunFactsCollector {
    categories: HashMap<i32, (CategoryUse, String)>,
    lanes: HashMap<i32, Lane>,
    begun: HashMap<Lane, Begun>,
    /// Category of the events that tell when accesses were complete.
    access: Option<Category>,
    /// Category of MPI_File_set_atomicity.
    atomicity: Option<Category>,
    /// Category of the events that tell which I/O libraries are loaded.
    library: Option<Category>,
    /// The latest data access of a thread.
    completed: HashMap<Lane, CompletedAccess>,
    rank: Option<u32>,
    /// Ranks with MPI calls in the trace.
    recording: HashSet<u32>,
    facts: RunFacts,
}

impl RunFactsCollector {
    /// A collector for a trace with these definitions, of this rank only if one is given.
    pub fn new(definitions: &Definitions, rank: Option<u32>) -> Self {
        let mut facts = RunFacts {
            is_of_one_rank: rank.is_some(),
            ..RunFacts::default()
        };
        let mut categories = HashMap::default();
        let (mut access, mut atomicity, mut library) = (None, None, None);
        for category in &definitions.categories {
            let name = category.name.to_str().into_owned();
            facts.has_hdf5 |= name.starts_with("H5");
            facts.has_pnetcdf |= name.starts_with("ncmpi_");
            if shows(category) == Some(Shows::Access) {
                categories.insert(category.index, (CategoryUse::Access, name));
                access = Some(category.clone());
                continue;
            }
            if category.topology == Topology::Event && name == LIBRARY {
                library = Some(category.clone());
                categories.insert(category.index, (CategoryUse::Library, name));
                continue;
            }
            if category.topology != Topology::State || !name.starts_with("MPI_") {
                continue;
            }
            if name == "MPI_File_set_atomicity" {
                atomicity = Some(category.clone());
            }
            let used = match &*name {
                name if name.starts_with("MPI_File_i") => CategoryUse::Begins,
                name if name.starts_with("MPI_File_") => CategoryUse::File,
                name if is_wait(name) => CategoryUse::Wait,
                _ => CategoryUse::Call,
            };
            categories.insert(category.index, (used, name));
        }
        let lines = definitions.lines.iter();
        let lanes: HashMap<i32, Lane> = lines.map(|line| (line.id, lane_of(line))).collect();
        let ranks: BTreeSet<u32> = lanes.values().filter_map(|lane| rank_of(*lane)).collect();
        facts.ranks = ranks.len() as u64;
        facts.hosts = definitions.hosts() as u64;
        RunFactsCollector {
            categories,
            lanes,
            begun: HashMap::default(),
            access,
            atomicity,
            library,
            completed: HashMap::default(),
            rank,
            recording: HashSet::default(),
            facts,
        }
    }

    /// Takes the next drawable.
    pub fn put(&mut self, drawable: &Drawable<'_>) {
        let Some((used, name)) = self.categories.get(&drawable.category) else {
            return;
        };
        if *used == CategoryUse::Library {
            let category = self.library.as_ref();
            let values = category.map(|category| info_values(category, drawable.info));
            for (_, value) in values.into_iter().flatten() {
                if let InfoValue::Text(name) = value {
                    self.facts.loads(&String::from_utf8_lossy(name));
                }
            }
            return;
        }
        let (Some(from), Some(to)) = (drawable.vertices.first(), drawable.vertices.last()) else {
            return;
        };
        let Some(lane) = self.lanes.get(&from.line).copied() else {
            return;
        };
        let Some(rank) = rank_of(lane) else {
            return;
        };
        self.recording.insert(rank);
        if self.rank.is_some_and(|wanted| wanted != rank) {
            return;
        }
        let nanoseconds = |seconds: f64| (seconds * 1e9).round() as i64;
        let (start, end) = (nanoseconds(from.time), nanoseconds(to.time));
        let ns = u64::try_from(end.saturating_sub(start)).unwrap_or(0);
        if *used == CategoryUse::Access {
            let lasts = self.access.as_ref();
            if let Some(lasts) = lasts.and_then(|category| time_to_completion(category, drawable)) {
                let complete = start.saturating_add(lasts);
                self.completed
                    .insert(lane, CompletedAccess { start, complete });
            }
            return;
        }
        let before = self.begun.remove(&lane);
        match used {
            CategoryUse::Wait => {
                let completed = self.completed.get(&lane);
                let at_once = before
                    .zip(completed)
                    .filter(|(begun, access)| begun.is_waited_for_at_once(access, start, end));
                let begun = at_once.and_then(|(b, _)| Some((b, self.categories.get(&b.category)?)));
                if let Some((begun, (_, function))) = begun {
                    let sums = &mut self.facts.waited_at_once;
                    let sum = sums.entry(function.clone()).or_default();
                    sum.add(ns.saturating_add(begun.ns));
                }
            }
            CategoryUse::File | CategoryUse::Begins => {
                let calls = &mut self.facts.calls;
                match calls.get_mut(name.as_str()) {
                    Some(sum) => sum.add(ns),
                    None => calls.entry(name.clone()).or_default().add(ns),
                }
                match name.as_str() {
                    "MPI_File_sync" => self.facts.syncs.entry(rank).or_default().syncs += 1,
                    "MPI_File_open" => self.facts.syncs.entry(rank).or_default().opens += 1,
                    "MPI_File_set_atomicity" => {
                        let modes = &mut self.facts.atomic;
                        let category = self.atomicity.as_ref();
                        match category.and_then(|category| asks_for_atomic_mode(category, drawable))
                        {
                            Some(true) => modes.asked += 1,
                            Some(false) => {}
                            None => modes.unknown += 1,
                        }
                    }
                    _ => {}
                }
                if *used == CategoryUse::Begins {
                    let category = drawable.category;
                    let begun = Begun {
                        category,
                        start,
                        end,
                        ns,
                        is_one_of_several: before.is_some(),
                    };
                    self.begun.insert(lane, begun);
                }
            }
            CategoryUse::Call | CategoryUse::Access | CategoryUse::Library => {}
        }
    }

    /// The facts, with what the analysis of waits has found.
    pub fn finish(mut self, waits: Option<&PerformanceReport>) -> RunFacts {
        // Nothing is known of what ranks did that do not record.
        if !self.recording.is_empty() {
            self.facts.ranks = self.recording.len() as u64;
        }
        let causes = waits.map_or(&[][..], |report| &report.root_causes);
        for cause in causes {
            let name = cause.activity.as_deref().unwrap_or("");
            let kinds = op::KINDS.iter();
            let name = name.strip_suffix(" (no call)").unwrap_or(name);
            let is_file = name.starts_with("MPI_File_") || kinds.clone().any(|k| k.name == name);
            if let (true, Ok(rank)) = (is_file, u32::try_from(cause.rank)) {
                let waits = self.facts.waited_for.entry(rank).or_default();
                waits.add(name, (cause.seconds * 1e9).round() as u64);
            }
        }
        self.facts
    }
}

fn rank_of(lane: Lane) -> Option<u32> {
    match lane.actor {
        Actor::Rank(rank) => Some(rank),
        _ => None,
    }
}
