//! The table of options: one entry per key, from which [`Settings`], its defaults and everything else is made.
//!
//! To add an option, add an entry: documentation, key, field, kind, default, other variables. `docs/user/settings.md` is
//! renewed by `UPDATE_DOCS=1 cargo test settings`.

use std::{collections::BTreeMap, time::Duration};

use super::{
    filters::*,
    sets::{AnnotationTracing, CounterNames, DebugSet, OutputSet, PatternList},
    values::*,
};

/// An option as the reader and the documentation see it.
pub struct SettingsOption {
    /// The heading it stands under in the documentation.
    pub group: &'static str,
    /// Key of the option in `dumpi.conf`.
    pub key: &'static str,
    /// Other spellings of the key.
    pub synonyms: &'static [&'static str],
    /// Description of the option, one or more sentences in Markdown.
    pub doc: &'static str,
    /// The variables besides `TRACE_<KEY>` that set it, in order of precedence.
    pub variables: &'static [OptionVariable],
    /// Whether its key may stand more than once, each value adding to those before.
    pub accumulates: bool,
    /// Whether all words of a line belong to its value.
    pub list: bool,
    /// The values that are allowed, in words.
    pub allowed: fn() -> String,
    /// Takes a value; `None`, with nothing changed, when it is not allowed.
    pub take: fn(&mut Settings, &str) -> Option<()>,
    /// The values in force, as they would stand in the file.
    pub get: fn(&Settings) -> Vec<String>,
}

impl SettingsOption {
    /// Environment variable of the option: `TRACE_RANK_BITS` for `rank-bits`.
    pub fn variable(&self) -> String {
        format!("TRACE_{}", self.key.to_ascii_uppercase().replace('-', "_"))
    }

    /// Whether `key` in a file means this option.
    pub fn answers_to(&self, key: &str) -> bool {
        // Every key that begins with PAPI names a counter (`spec/dumpi-conf.md` section 3).
        key == self.key
            || self.synonyms.contains(&key)
            || (self.key == "PAPI" && key.starts_with("PAPI"))
    }

    /// The option that `key` in a file means.
    pub fn named(key: &str) -> Option<&'static SettingsOption> {
        OPTIONS.iter().find(|option| option.answers_to(key))
    }
}

/// An environment variable that is not named after the option.
pub struct OptionVariable {
    /// Name of the variable.
    pub name: &'static str,
    /// Meaning of the variable's value.
    pub meaning: VariableMeaning,
    /// Whether it comes before or after the file.
    pub strength: VariableStrength,
}

/// Whether a variable of this name is set for everybody, and so means nothing in particular.
pub fn is_customary(name: &str) -> bool {
    let mut all = OPTIONS.iter().flat_map(|option| option.variables);
    all.any(|v| v.name == name && v.strength == VariableStrength::UnderFile)
}

/// Meaning of the value of an [`OptionVariable`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VariableMeaning {
    /// The value of the option.
    Same,
    /// The opposite truth value.
    Opposite,
    /// A name without patterns.
    Plain,
}

/// Precedence of an [`OptionVariable`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VariableStrength {
    /// Set for tracing, so it wins over the file.
    OverFile,
    /// Set by the system for everybody, so the file wins.
    UnderFile,
}

const fn same(name: &'static str) -> OptionVariable {
    OptionVariable {
        name,
        meaning: VariableMeaning::Same,
        strength: VariableStrength::OverFile,
    }
}

const fn opposite(name: &'static str) -> OptionVariable {
    OptionVariable {
        name,
        meaning: VariableMeaning::Opposite,
        strength: VariableStrength::OverFile,
    }
}

const fn plain(name: &'static str) -> OptionVariable {
    OptionVariable {
        name,
        meaning: VariableMeaning::Plain,
        strength: VariableStrength::OverFile,
    }
}

const fn customary(name: &'static str) -> OptionVariable {
    OptionVariable {
        name,
        meaning: VariableMeaning::Plain,
        strength: VariableStrength::UnderFile,
    }
}

/// Makes [`Settings`], its `Default` and [`OPTIONS`] from the entries.
macro_rules! options {
    ($($group:literal { $(
        $(#[doc = $doc:literal])+
        $key:literal $(| $synonym:literal)* => $field:ident: $kind:ty = $default:expr $(, $variable:expr)*;
    )+ })+) => {
        /// The settings in force. Fields may be changed by the program's own calls (`libdumpi_set_output` and the like).
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $($( $(#[doc = $doc])+ pub $field: <$kind as OptionKind>::Value, )+)+
            /// The settings of the MPI functions that are named; see [`Settings::setting_of`].
            pub functions: BTreeMap<String, Setting>,
        }

        impl Default for Settings {
            fn default() -> Settings {
                Settings { $($( $field: $default, )+)+ functions: BTreeMap::new() }
            }
        }

        /// Every option, in the order of the documentation. Names of MPI functions are keys besides these.
        pub static OPTIONS: &[SettingsOption] = &[$($( SettingsOption {
            group: $group,
            key: $key,
            synonyms: &[$($synonym),*],
            doc: concat!($($doc, "\n"),+),
            variables: &[$($variable),*],
            accumulates: <$kind as OptionKind>::ACCUMULATES,
            list: <$kind as OptionKind>::LIST,
            allowed: <$kind as OptionKind>::allowed,
            take: |settings, text| <$kind as OptionKind>::take(&mut settings.$field, text),
            get: |settings| <$kind as OptionKind>::texts(&settings.$field),
        }, )+)+];
    };
}

options! {
    "What is recorded" {
        /// Whether recording is on when the program starts. `trace_on`, `trace_off` and MPI_Pcontrol switch it later. Calls
        /// while it is off are counted only.
        "start" => start: OnOff = true;

        /// Treatment of MPI functions that have no line of their own.
        "MPI_Default" | "MPI_ALL_FUNCTIONS" => default_function: Setting = Setting::Enable;

        /// Which pairs of times the DUMPI files carry. SST-DUMPI's default is `full`. Ours is `wall`, because the CPU clock
        /// needs a system call: about 370 ns, twice per call, where recording all the rest takes some tens. CLOG2 and SLOG2
        /// have the wall-clock times in any case.
        "timestamp" => timestamp: Timestamp = Timestamp::Wall;

        /// Which statuses the DUMPI files hold: none, those of successful calls, all.
        "statuses" => statuses: Setting = Setting::Enable;

        /// Whether there are records when annotated parts of the program are entered and left. `enable` and `disable` switch
        /// both, `enter` and `exit` switch one on, never off. Several lines add up.
        "tracing" => tracing: AnnotationTracing = AnnotationTracing { enter: true, exit: true };

        /// Calls without a DUMPI number are function-enter and function-exit records with their name in the DUMPI files.
        /// `disable` leaves them out there. CLOG2 and SLOG2 have them in any case.
        "extensions" => extensions: Switch = true;

        /// The handle conversions `MPI_*_c2f`, `MPI_*_f2c` and their like. Fortran bindings call very many of them.
        "conversions" => conversions: Conversions = Conversions::Skip;

        /// A performance counter to read around each call, by its name in `perf list` or as a PAPI preset
        /// ([counters.md](counters.md)). Each line adds one, and every key that begins with `PAPI` will do. The variable takes
        /// a comma list. A counter that the machine lacks is named once and left out.
        "PAPI" => counters: CounterNames = Vec::new();

        /// Functions of programs that were compiled with `-finstrument-functions` ([functions](call-tracing.md)).
        "functions" => program_functions: OnOff = true;

        /// Show only functions with these names: `*` stands for any characters, `?` for one. Each line adds some. The block
        /// files hold all functions.
        "functions-include" => functions_include: PatternList = Vec::new();

        /// Do not show functions with these names, even if `functions-include` names them.
        "functions-exclude" => functions_exclude: PatternList = Vec::new();

        /// Minimum time of a recorded function, in ns. A function that takes less, and enters no other one, is not recorded.
        "functions-min" => functions_min: BoundedNumber<0, 1_000_000_000> = 0;

        /// Maximum number of functions that a thread records. Functions that it enters later are counted as lost.
        "functions-limit" => functions_limit: BoundedNumber<0, { u32::MAX }> = 1_000_000;

        /// Which file calls into libc (`open`, `pwrite`, `fsync` …) on regular files are recorded. `mpiio`: those that MPI_File
        /// functions make, at once or later in other MPI functions. `all`: also the program's own. `off`: none.
        "posix" => posix: Posix = Posix::Mpiio;

        /// Record only calls on files whose absolute name is one of these. `*` stands for any characters, `?` for one, and a
        /// name that ends with `/` for everything below it. Names may have patterns, as output files have. Each line adds some.
        "posix-include" => posix_include: PatternList = Vec::new();

        /// Leave out calls on these files, even if `posix-include` names them.
        "posix-exclude" => posix_exclude: PatternList = Vec::new();

        /// Whether a transfer is recorded with the sectors that the kernel read from the device for it, and those that it newly
        /// has to write. This tells whether a read found its data in memory. About 0.5 us per transfer.
        "rusage" => rusage: OnOff = false;

        /// Width of the rank in a CallID, in bits. The call counter has the other 64 minus this. If the ranks of the run do not
        /// fit, the rank gets the width that it needs, and rank 0 says so.
        "rank-bits" => rank_bits: BoundedNumber<8, 32> = 24;
    }

    "Filters" {
        /// Treatment of classes of MPI functions: names of classes, then the treatment. A class is one of those in
        /// [functions.md](functions.md), or a group of them: `p2p`, `collectives`, `onesided`, `files`, `local`. A line for the
        /// function itself wins over its class, and later words win over earlier ones.
        "class" => class: ClassSettings = BTreeMap::new();

        /// The ranks that record: numbers and ranges. Calls of the others are counted only. They take part in the merge.
        "ranks" => ranks: RankList = None;

        /// Number of members of the communicators on which calls are recorded, both groups of an intercommunicator together.
        /// Calls without a communicator, and calls that free one, are recorded in any case.
        "comm-size" => comm_size: RangeFilter<WholeNumber> = None;

        /// Number of bytes of the calls that are recorded: what is sent and received, read and written. For a collective, it is
        /// the data of this rank's buffers, one of which must fit. Calls without data are recorded in any case. Messages of
        /// other sizes are not drawn, even if one of their two calls is there.
        "message-size" => message_size: RangeFilter<ByteNumber> = None;

        /// Number of calls of each function that a process records. Later calls are counted only.
        "first-calls" => first_calls: FirstCalls = None;

        /// The calls of each process that are recorded, by the number in their CallIDs.
        "calls" => calls: RangeFilter<WholeNumber> = None;

        /// The part of the run that is recorded, in seconds since the process's first MPI call: calls that begin and end in it.
        "time" => time: RangeFilter<Moment> = None;

        /// Maximum size of the calls in a process's block file that are recorded for matching only. A filter leaves such a call
        /// out, but it tells which send belongs to which receive. No trace shows it, and arrows stay true
        /// ([filters.md](filters.md)). When the room is used up, or with 0, messages that cannot be matched get no arrow.
        "matching-only-limit" | "hidden-limit" => matching_only_limit: MaybeSize<{ 64 << 10 }, { 1 << 50 }, false> = Some(32 << 20), same("TRACE_HIDDEN_LIMIT");

        /// Treatment of polls. `sample`: of a run of unsuccessful polls, record only the first and the last, plus a count.
        /// Polls are MPI_Iprobe, MPI_Test and their like with equal arguments, and readings of the time (MPI_Wtime, MPI_Wtick).
        /// Up to eight different polls in turn count as one run.
        "polling" => polling: Polling = Polling::All;

        /// Effect of MPI_Pcontrol besides being recorded. `obey`: levels 0 and 1 switch recording, levels 2 and 3 put texts
        /// into the trace.
        "pcontrol" => pcontrol: Pcontrol = Pcontrol::Obey;
    }

    "Where it goes" {
        /// Files that MPI_Finalize writes. `auto`: SLOG2, and in runs of at most 4096 ranks DUMPI, which has a file for each rank.
        /// `mpitrace convert` makes CLOG2 of an SLOG2 file; ask for `clog2` here if every record of MPE is needed, or to join the traces of
        /// several worlds. `otf2` is an archive for Vampir, Scalasca and ViTE, the folder `NAME.otf2`, and SLOG2. The ranks have the command
        /// make it of the SLOG2 file, at most 8 of them a part each, within the time of `deadline`; so it is no part of `all`. For a long
        /// run `mpitrace convert` makes it later.
        "outputs" => outputs: OutputSet = OutputSet::AUTO;

        /// Directory of the files: `output` and `fileroot` start from here unless they begin with `/`.
        "directory" => directory: NamePattern = ".".into(), same("TRACE_DIR");

        /// Name of the CLOG2 and SLOG2 file without its extension. After a `/` at its end the default follows.
        "output" => output: NamePattern = "%p".into(), plain("MPE_LOGFILE_PREFIX");

        /// Beginning of the names of the DUMPI files; `-`, the date and the rank follow. After a `/` at its end the default follows.
        /// `fileroot dumpi` gives the names that SST-DUMPI gives.
        "fileroot" => fileroot: NamePattern = "%p".into();

        /// Whether the DUMPI files of 256 ranks each lie in a folder of their own, which is named like the metafile with a number in place of
        /// `meta`. File systems slow down with very many files in one folder. Only `mpitrace` finds files in folders; others need them beside the metafile.
        "dumpi-folders" => dumpi_folders: YesNo = false;

        /// Whether files of the same name are replaced. Otherwise a free name is chosen.
        "overwrite" => overwrite: YesNo = false;

        /// Directory of the block files in which calls are kept until MPI_Finalize: on a local disk or a memory file system. It
        /// must exist. The time of the run is not known when it is needed (`%d` stands for `unknown`). A directory that
        /// `TMPDIR` and its like name is not used if it goes with a batch job ([below](#batch-jobs)).
        "tmpdir" => tmpdir: NamePattern = "/tmp".into(),
            plain("MPE_TMPDIR"), customary("TMPDIR"), customary("TMP"), customary("TEMP");

        /// Whether the block files stay after a good MPI_Finalize. They stay in any case when the program dies. Beside that of
        /// rank 0 there is then a file that ends with `.trace` and holds the name of the CLOG2 and SLOG2 file without its
        /// extension.
        "keep-blocks" => keep_blocks: YesNo = false, opposite("MPE_DELETE_LOCALFILE");

        /// Size of the blocks that a process keeps mapped and that go round among its threads. Full ones are written out. A
        /// process with more threads than blocks maps more.
        "blocks" => blocks: BoundedSize<{ 128 << 10 }, { 1 << 30 }, 1> = 256 << 10;

        /// Maximum size of a process's block file. `at-disk-limit` decides what happens when it is reached.
        "disk-limit" => disk_limit: MaybeSize<{ 1 << 20 }, { 1 << 50 }, false> = None;

        /// Action when the limit is reached or the disk is full. `stop`: recording stops. `newest`: recording goes on,
        /// and the newest calls replace the oldest ones (a flight recorder). Each thread's block and the definitions of
        /// communicators, datatypes and files are never given up and come on top of the limit.
        "at-disk-limit" => at_disk_limit: AtLimit = AtLimit::Stop;
    }

    "Merging and clocks" {
        /// Seconds that a rank waits for another one at MPI_Finalize; 0 waits for ever. A rank that comes later, or stops while
        /// the trace is merged, ends the merge. The block files of all ranks then stay and are named.
        "deadline" => deadline: Seconds = Some(Duration::from_secs(300));

        /// Whether the clocks of the ranks are compared in MPI_Finalize and times corrected. `auto`: the clocks of ranks that
        /// do not run under the same kernel as rank 0. `twice`: these also in MPI_Init. That finds how fast they drift apart,
        /// but makes a communicator in MPI_Init, so every rank must have the recorder.
        "clock-sync" => clock_sync: ClockSync = ClockSync::Auto, same("MPE_CLOCKS_SYNC");

        /// Whether clock errors that the comparisons leave are corrected while the ranks' records are merged (a controlled
        /// logical clock). A receive that seems to be earlier than its send is moved after it in CLOG2 and SLOG2, and what
        /// follows in its process moves along. A line after the closing line says how many there were.
        "clock-forward" => clock_forward: YesNo = false;

        /// Number of messages per pair of ranks to compare their clocks. The fastest counts. On a busy machine there are up to
        /// 20 times as many.
        "sync-probes" => sync_probes: BoundedNumber<1, 1000> = 10, same("MPE_SYNC_FREQUENCY");

        /// Way in which the records of all ranks become CLOG2 and SLOG2. `tree`: they are passed on in a binary tree, and rank 0 writes the
        /// files. `parallel`: each rank writes a part of the files, cut by time, so that MPI_Finalize does not grow with the
        /// number of ranks. All ranks must see the folder of the files. `clock-forward` needs the tree; a line says so.
        /// `auto`: `parallel` from four million calls on, for which rank 0 would take about a
        /// second. `later`: no files are written and the block files stay; the closing line says which command makes the trace of them.
        "merge" => merge: MergeWay = MergeWay::Auto;

        /// Bytes per block of the CLOG2 file.
        "clog2-block" => clog2_block: BoundedSize<256, { 1 << 30 }, 8> = 64 << 10, same("CLOG_BLOCK_SIZE");

        /// Bytes per leaf of the SLOG2 file's tree. `auto` leaves the choice to the writer.
        "leaf" => leaf: MaybeSize<1024, { 1 << 30 }, true> = None;

        /// Children per node of the SLOG2 file's tree.
        "children" => children: BoundedNumber<2, 1024> = 2;

        /// Which states name their CallID in the info box in CLOG2 and SLOG2: those of MPI_File calls, all, none.
        "callids" => callids: CallIds = CallIds::Io;

        /// Whether SLOG2 tells of calls what `mpitrace report` needs to find out who waited for whom: root and bytes of collective
        /// calls, numbers of requests, by which MPI_Wait finds its MPI_Isend, and of files and windows that ranks share, neighbours,
        /// ranks that one-sided communication is about. That takes 4 to 24 bytes a call; the original tools read it. With `no`,
        /// the SLOG2 file is the one that the original converter makes of the CLOG2 file.
        "details" => details: YesNo = true;

        /// Whether `mpitrace report` is run on the SLOG2 file when that is written. `NAME.report.txt` beside it has what it prints: who waited for
        /// whom, efficiencies, critical path. The command is looked for near the library and in PATH. MPI_Finalize takes so much
        /// longer, about a second for a million calls, and at most the time of `deadline`.
        "report" => report: YesNo = false;
    }

    "Messages and checks" {
        /// The signal at which each rank says on stderr in which MPI call its threads are, and for how long: for programs that
        /// hang. The recorder's handler is installed only if the program has none for this signal. A handler that the program
        /// installs later replaces it. `mpitrace status` shows the same from outside and needs no signal.
        "dump-signal" => dump_signal: DumpSignal = DumpSignal::Off;

        /// Leaves out the closing line on stderr.
        "quiet" => quiet: YesNo = false;

        /// Diagnostics of the first ranks on stderr. `libdumpi` says what MPI_Finalize does and how long it takes, `traceio`
        /// which files are written, `mpicalls` how often each function was called. Several lines add up. `none` and `off` undo
        /// those before.
        "debug" => debug: DebugSet = DebugSet::NONE;

        /// A file to which every rank appends one line at MPI_Finalize: rank, number of calls, calls per function
        /// (`0 12 MPI_Init=1 MPI_Send=10 …`).
        "counts" => counts: MaybeName = None;

        /// A file for the settings in force, in the syntax of `dumpi.conf`; `-` is stderr.
        "settings-dump" => settings_dump: MaybeName = None;
    }
}

/// Variables that are no options: where settings come from, and what is needed before there are any.
pub const OTHER_VARIABLES: &[(&str, &str)] = &[
    ("TRACE_CONF", "configuration file; wins over `DUMPI_CONF`"),
    ("DUMPI_CONF", "configuration file, as with SST-DUMPI"),
    (
        "TRACE_SETTINGS",
        "lines of a configuration file, separated by `;` or line ends; they win over the file",
    ),
    (
        "TRACE_CLOCK",
        "`monotonic` takes times from CLOCK_MONOTONIC where the processor's counter would do, at twice the cost; read before the settings",
    ),
    (
        "TRACE_TEST_CLOCK",
        "`OFFSET,DRIFT`, for tests: the clock of rank r is wrong by r times as many ns and ns per s, as if each rank ran on a host of its own",
    ),
    (
        "TRACE_TIDS",
        "the memory in which threads say which MPI call they are in, as `mpitrace ioserver` of the same user on the same machine names it; its size must be sealed",
    ),
    (
        "TRACE_LIBMPI",
        "the MPI library of programs that load it privately; read before the settings",
    ),
];
