//! From the MPI-IO call down to the disk, with real MPI programs.

use blockfile::define::Definition;
use blockfile::file::BlockFile;
use blockfile::operation::{self, Effect};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tests::chain::{self, ChainComparison, RunAttribution};
use tests::trace::TraceSetup;
use tests::{Mpi, Program, TracedRun, compile, mpi};

/// A definition as text, in the form in which `views.c` prints it.
fn line(definition: &Definition) -> Option<String> {
    match definition {
        Definition::View(view) => {
            let mut line = format!(
                "{} {} {} {} {}",
                if view.bounding_extent {
                    "EXTENT"
                } else {
                    "VIEW"
                },
                view.displacement,
                view.etype,
                view.extent,
                view.size
            );
            let pieces = || view.runs.iter().flat_map(|run| run.pieces());
            for (offset, length) in pieces().take(100) {
                line += &format!(" {offset}+{length}");
            }
            line += &format!(" pieces {}", pieces().count());
            assert!(!view.converted);
            Some(line)
        }
        Definition::Position { etypes, .. } => Some(format!("POSITION {etypes}")),
        _ => None,
    }
}

/// The views and positions in the block file of a rank.
fn recorded(run: &TracedRun) -> Vec<String> {
    let bytes = fs::read(run.file("blocks")).expect("own folder");
    let file = BlockFile::new(&bytes).expect("a block file");
    let mut lines = Vec::new();
    for thread in file.threads() {
        let mut records = thread.records();
        while let Some(record) = records.next() {
            let definition = Definition::decode(record.function, record.payload);
            lines.extend(definition.as_ref().and_then(line));
        }
    }
    lines
}

/// Every kind of filetype is flattened to what MPI_Pack takes of it, and the individual pointer is known before each access
/// by it.
#[test]
fn views_and_positions() {
    for mpi in Mpi::EVERY.into_iter().filter(|mpi| mpi.installed()) {
        for large_count in [false, true] {
            // MPICH 4.0's own ROMIO cannot take filetypes made with large counts.
            if large_count && !tests::compile::declared(mpi).contains("MPI_Type_get_value_index") {
                continue;
            }
            let program = Program {
                large_count,
                ..Program::c("views")
            };
            let mut tracing = TraceSetup::new(mpi, 1);
            tracing.variables = &[("TRACE_KEEP_BLOCKS", "yes")];
            let run = tracing.run(&program.compile(mpi), &[]);
            let finished = &run.finished;
            assert!(finished.status.success(), "{}", finished.story());
            let printed: Vec<&str> = finished.stdout.lines().filter(|l| *l != "ok").collect();
            let recorded = recorded(&run);
            for (printed, recorded) in printed.iter().zip(&recorded) {
                assert_eq!(printed, recorded, "{mpi:?}");
            }
            assert_eq!(printed.len(), recorded.len(), "{mpi:?}");
            assert!(printed.len() > 40);
        }
    }
}

/// A way to run `io_pattern.c`.
struct Configuration {
    mpi: &'static [Mpi],
    ranks: usize,
    /// Arguments: hints, and patterns if not all.
    arguments: &'static [&'static str],
    /// Environment: what Open MPI takes instead of hints.
    variables: &'static [(&'static str, &'static str)],
    /// Patterns for which the truth is not to be had, and why.
    without: &'static [(&'static str, &'static str)],
}

const ROMIO: &[Mpi] = &[Mpi::Mpich, Mpi::Mpich5];
const OMPIO: &[Mpi] = &[Mpi::OpenMpi, Mpi::OpenMpi5];

const fn romio(ranks: usize, arguments: &'static [&'static str]) -> Configuration {
    Configuration {
        mpi: ROMIO,
        ranks,
        arguments,
        variables: &[],
        without: &[],
    }
}

const fn ompio(ranks: usize, variables: &'static [(&'static str, &'static str)]) -> Configuration {
    Configuration {
        mpi: OMPIO,
        ranks,
        arguments: &[],
        variables,
        without: &[],
    }
}

/// Patterns in which each rank's data have a part in what others write. MPICH spins while it waits: with more ranks than two cores it takes
/// only these, unless the figures for the docs are wanted.
const BETWEEN_RANKS: &[&str] = &[
    "interleaved",
    "holes",
    "irregular",
    "ordered",
    "shared",
    "darray",
    "overlapping",
];

const CONFIGURATIONS: &[Configuration] = &[
    romio(4, &[]),
    romio(1, &[]),
    romio(2, &[]),
    romio(3, &["cb_nodes=3", "cb_buffer_size=16384"]),
    romio(
        2,
        &[
            "cb_nodes=2",
            "cb_buffer_size=65536",
            "romio_cb_write=enable",
            "romio_cb_read=enable",
        ],
    ),
    romio(2, &["romio_cb_write=disable", "romio_cb_read=disable"]),
    romio(
        2,
        &[
            "romio_cb_write=disable",
            "romio_ds_write=disable",
            "romio_ds_read=disable",
        ],
    ),
    romio(
        2,
        &[
            "ind_wr_buffer_size=1000",
            "ind_rd_buffer_size=1000",
            "romio_cb_write=disable",
            "romio_ds_write=enable",
        ],
    ),
    romio(
        2,
        &[
            "romio_no_indep_rw=true",
            "cb_nodes=1",
            "interleaved",
            "subarray",
            "holes",
            "darray",
            "outstanding",
            "split",
        ],
    ),
    romio(2, &["threads"]),
    romio(2, &["rows"]),
    romio(
        2,
        &["romio_cb_write=disable", "romio_ds_write=disable", "rows"],
    ),
    ompio(4, &[]),
    ompio(1, &[]),
    ompio(2, &[]),
    ompio(8, &[]),
    ompio(4, &[("OMPI_MCA_fcoll", "individual")]),
    ompio(
        4,
        &[
            ("OMPI_MCA_fcoll", "vulcan"),
            ("OMPI_MCA_io_ompio_num_aggregators", "2"),
            ("OMPI_MCA_io_ompio_bytes_per_agg", "65536"),
        ],
    ),
    ompio(
        4,
        &[
            ("OMPI_MCA_fcoll", "vulcan"),
            ("OMPI_MCA_io_ompio_bytes_per_agg", "4096"),
        ],
    ),
    ompio(
        4,
        &[
            ("OMPI_MCA_fcoll", "dynamic"),
            ("OMPI_MCA_io_ompio_num_aggregators", "2"),
        ],
    ),
    ompio(
        4,
        &[
            ("OMPI_MCA_fcoll", "dynamic_gen2"),
            ("OMPI_MCA_io_ompio_num_aggregators", "2"),
            ("OMPI_MCA_io_ompio_bytes_per_agg", "65536"),
        ],
    ),
    Configuration {
        // Version 5 does not have it.
        mpi: &[Mpi::OpenMpi],
        ranks: 4,
        arguments: &[],
        variables: &[
            ("OMPI_MCA_fcoll", "two_phase"),
            ("OMPI_MCA_io_ompio_num_aggregators", "3"),
        ],
        without: &[("memory", "Open MPI writes other bytes than the program's")],
    },
    Configuration {
        mpi: OMPIO,
        ranks: 2,
        arguments: &["rows"],
        variables: &[],
        without: &[],
    },
    Configuration {
        mpi: OMPIO,
        ranks: 2,
        arguments: &["rows"],
        variables: &[("OMPI_MCA_fcoll", "individual")],
        without: &[],
    },
    Configuration {
        mpi: OMPIO,
        ranks: 2,
        arguments: &["threads"],
        variables: &[],
        without: &[],
    },
];

/// Programs that write bytes of which each tells whose it is: what the join says of every transfer is what stands in the
/// buffers, and each byte of each call is found once. The newer versions, which behave alike, take two configurations, and
/// all with EVERY_MPI=1 or UPDATE_DOCS=1; with the latter the figures go into docs/user/io-patterns.md.
#[test]
fn every_transfer_carries_what_the_join_says() {
    let truth = [chain::truth_library()];
    let (mut wrong, mut rows, mut all) = (Vec::new(), Vec::new(), ChainComparison::default());
    let has_all = ["EVERY_MPI", "UPDATE_DOCS"].map(std::env::var_os) != [None, None];
    if !has_all {
        tests::skip("every pattern in every configuration: only with EVERY_MPI=1");
    }
    for mpi in Mpi::EVERY.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("io_pattern").compile(mpi);
        let few = !Mpi::ALL.contains(&mpi) && !has_all;
        let configurations = CONFIGURATIONS.iter().filter(|c| c.mpi.contains(&mpi));
        let taken = if few { 1..3 } else { 0..usize::MAX };
        for configuration in configurations.skip(taken.start).take(taken.len()) {
            let mut variables = vec![("TRACE_KEEP_BLOCKS", "yes")];
            variables.extend(configuration.variables);
            let mut tracing = TraceSetup::new(mpi, configuration.ranks);
            tracing.variables = &variables;
            tracing.behind = &truth;
            tracing.limit = Duration::from_secs(180);
            let mut arguments = configuration.arguments.to_vec();
            if mpi.is_mpich() && configuration.ranks > 2 && !has_all {
                arguments.extend(BETWEEN_RANKS);
            }
            let run = tracing.run(&program, &arguments);
            let finished = &run.finished;
            assert!(finished.status.success(), "{}", finished.story());
            let mut found = chain::compare(&run.trace(), run.folder.path());
            let name = configuration.name();
            found.differences.retain(|line| {
                let pattern = line
                    .split(' ')
                    .next()
                    .and_then(|w| w.strip_prefix("pattern."));
                !configuration
                    .without
                    .iter()
                    .any(|(p, _)| Some(*p) == pattern)
            });
            for difference in &found.differences {
                wrong.push(format!("{mpi:?}, {name}: {difference}"));
            }
            assert!(found.transfers > 10 && found.writes > 10, "{mpi:?}, {name}");
            println!("{mpi:?}, {name}: {:.1?}", finished.took);
            rows.push(row(&format!("{mpi:?}"), &name, configuration.ranks, &found));
            all.add(&found);
        }
    }
    if std::env::var_os("UPDATE_DOCS").is_some() && wrong.is_empty() {
        rows.push(row("all", "", 0, &all));
        fs::write(
            tests::root().join("docs/user/io-patterns.md"),
            document(&rows),
        )
        .expect("docs/");
    }
    let shown: Vec<&String> = wrong.iter().take(40).collect();
    assert!(wrong.is_empty(), "{} differences: {shown:#?}", wrong.len());
    assert!(
        all.several > 100,
        "collective transfers with data of several ranks"
    );
    assert!(
        all.may_carry > 20,
        "transfers in which ranks overwrite each other"
    );
}

/// Bytes of left-out calls, and of ranks that do not record, are unknown and no sieving holes; recorded calls keep their bytes, in later
/// collective accesses, too. The truth is what `left_out_accesses.c` writes: 6 collective accesses of 4 ranks with 1600 bytes each,
/// and no byte between them is nobody's.
#[test]
fn what_is_left_out_is_unknown_and_no_hole() {
    let all = 6 * 4 * 1600;
    // Settings, argument, bytes whose calls are recorded, bytes that recorded ranks have moved.
    let cases = [
        ("", "all", all, all),
        ("TRACE_RANKS=0", "all", all / 4, all),
        ("TRACE_MESSAGE_SIZE=0-1000", "all", 0, all),
        ("TRACE_FIRST_CALLS=4", "all", 4 * 4 * 1600, 4 * 4 * 1600),
        ("", "off", all - 2 * 1600, all),
    ];
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("left_out_accesses").compile(mpi);
        for (setting, argument, known, moved) in cases {
            let mut tracing = TraceSetup::new(mpi, 4);
            let settings: Vec<_> = setting.split_once('=').into_iter().collect();
            tracing.variables = &settings;
            let run = tracing.run(&program, &[argument]);
            assert!(run.finished.status.success(), "{}", run.finished.story());
            let found = chain::exactness(&run.files("slog2")[0]);
            let found = found.get("libc calls of ranks");
            let get = |column: &str| found.and_then(|f| f.get(column).copied()).unwrap_or(0);
            let figures = ["exact_bytes", "unknown_bytes", "hole_bytes"].map(get);
            let expected = [known, moved - known, 0];
            assert_eq!(figures, expected, "{mpi:?} {setting:?} {argument}");
        }
    }
}

impl Configuration {
    /// Name of the variant: the settings that differ from the defaults.
    fn name(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| {
            let name = name
                .trim_start_matches("OMPI_MCA_")
                .trim_start_matches("io_ompio_");
            format!("{name}={value}")
        });
        let arguments = self.arguments.iter().map(|&a| a.to_owned());
        let words: Vec<String> = variables.chain(arguments).collect();
        if words.is_empty() {
            "default".into()
        } else {
            words.join(" ")
        }
    }
}

fn row(mpi: &str, name: &str, ranks: usize, found: &ChainComparison) -> String {
    let ranks = if ranks == 0 {
        String::new()
    } else {
        ranks.to_string()
    };
    format!(
        "| {mpi} | {ranks} | {name} | {} | {} | {} | {:.1} | {:.1} | {}/{} | {}/{} | {} |",
        found.transfers,
        found.exact,
        found.several,
        found.written as f64 / 1e6,
        found.hole_bytes as f64 / 1e6,
        found.delivered,
        found.writes,
        found.served,
        found.reads,
        found.ambiguous
    )
}

fn document(rows: &[String]) -> String {
    let rules: String = CONFIGURATIONS
        .iter()
        .flat_map(|c| c.without.iter().map(move |(p, why)| (c, p, why)))
        .map(|(c, pattern, why)| {
            format!("- {:?}, {}, pattern `{pattern}`: {why}.\n", c.mpi, c.name())
        })
        .collect();
    format!(
        "<!-- Made by UPDATE_DOCS=1 cargo test -p tests --test mpi io_chain -->\n\n\
         # Whose data is in this transfer: checked against the buffers\n\n\
         Each byte that `tests/programs/io_pattern.c` writes tells its rank and call. `tests/programs/truth.c` looks into the\n\
         buffer of every transfer. *Exact*: attribution names the calls and the number of bytes of each, and both are what the\n\
         buffer holds. *Several*: transfers with data of more than one rank. *Holes*: sieving holes, bytes that no call asked for. *Calls*:\n\
         calls of which each byte was found exactly once. *Ambiguous*: reads for which several transfers read the same bytes, so\n\
         that nobody can know which one served the call.\n\n\
         | MPI | ranks | configuration | transfers | exact | several | MB written | MB holes | calls that write | that read | ambiguous |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n{}\n\n\
         Left out:\n\n{rules}",
        rows.join("\n")
    )
}

/// Compiles a program with a wrapper of its library and runs it on two ranks; what concerns its file.
#[track_caller]
fn above_mpi(
    mpi: Mpi,
    name: &str,
    mut compiler: Command,
    libraries: &[&str],
    file: &str,
) -> RunAttribution {
    let source = tests::root().join(format!("tests/programs/{name}.c"));
    let folder = tests::target().join("tests-programs").join(mpi.suffix());
    fs::create_dir_all(&folder).expect("a folder below target/");
    let program: PathBuf = folder.join(name);
    compiler.current_dir(&folder).arg(&source).args(libraries);
    compile::build(compiler, &program, &[source], false);
    let mut tracing = TraceSetup::new(mpi, 2);
    tracing.variables = &[("TRACE_KEEP_BLOCKS", "yes")];
    let run = tracing.run(&program, &[]);
    assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
    chain::facts(&run.trace(), file)
}

/// Each byte that a call asks for is found once, and the collective accesses of the table's two halves have moved `tables`
/// tables both ways. Gives the numbers of calls whose data single writes carry.
#[track_caller]
fn whole_chain(facts: &RunAttribution, tables: u64) -> BTreeSet<usize> {
    const HALF: u64 = 256 * 64 * 8;
    let found = facts.found();
    for call in &facts.calls {
        let bytes = found.get(&call.call).copied().unwrap_or(0);
        assert_eq!(bytes, call.bytes, "{} {:#x}", call.name, call.call);
    }
    for (writes, times) in [(true, tables), (false, 1)] {
        let halves = facts.calls.iter();
        let halves =
            halves.filter(|c| c.writes == writes && c.bytes == HALF && c.sequence.is_some());
        assert_eq!(halves.count() as u64, 2 * times, "writes: {writes}");
    }
    let mut sharing = BTreeSet::new();
    for operation in &facts.operations {
        let kind = operation::kind(operation.kind).expect("a kind");
        if kind.effect == Effect::Write && operation.error == 0 {
            let carried = facts.carried.get(&operation.id).map_or(0, Vec::len);
            assert!(carried > 0, "{operation:?}");
            assert_eq!(operation.hole_bytes, 0, "{operation:?}");
            sharing.insert(carried);
        }
    }
    sharing
}

/// HDF5 sets a view, makes one collective access, and the aggregator's transfer carries data of both ranks.
#[test]
fn hdf5() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let wrapper = format!("h5pcc.{}", mpi.suffix());
        if !mpi::which(&wrapper) {
            tests::skip(&format!("{wrapper} is not installed (ci/deps)"));
            continue;
        }
        let facts = above_mpi(
            mpi,
            "hdf5_columns",
            Command::new(wrapper),
            &[],
            "columns.h5",
        );
        let sharing = whole_chain(&facts, 1);
        // With two ranks Open MPI lets each rank write for itself.
        assert_eq!(sharing.contains(&2), mpi.is_mpich(), "{mpi:?}: {sharing:?}");
    }
}

/// PnetCDF, also what it puts off until ncmpi_wait_all.
#[test]
fn pnetcdf() {
    let mpi = Mpi::OpenMpi;
    if !mpi.installed() || !Path::new("/usr/include/pnetcdf.h").exists() {
        tests::skip("libpnetcdf-dev for Open MPI is not installed (ci/deps)");
        return;
    }
    let facts = above_mpi(
        mpi,
        "pnetcdf_columns",
        mpi.mpicc(),
        &["-lpnetcdf"],
        "columns.nc",
    );
    whole_chain(&facts, 2);
}
