//! Every program of `tests/programs`, by chapter of the MPI standard: with the recorder it prints and returns what it does
//! without, and each call it makes is found, once, in what the recorder counts and writes.

use tests::tally::{CallTally, is_conversion};
use tests::trace::TraceSetup;
use tests::{Mpi, Program, matrix};

/// One program on one implementation with each number of ranks.
fn program(mpi: Mpi, program: Program, sizes: &[usize]) {
    if !mpi.installed() {
        return;
    }
    let group = ["C", "C, large counts"][usize::from(program.large_count)];
    let kind = format!("{group}: {}", program.name);
    if let Some((_, _, why)) = LEFT_OUT
        .iter()
        .find(|(name, among, _)| *name == program.name && among.contains(&mpi))
    {
        return matrix::without(&kind, mpi, why);
    }
    let executable = program.compile(mpi);
    let (mut seen, mut made) = (0, 0);
    for &ranks in sizes {
        let mut tracing = TraceSetup::new(mpi, ranks);
        if ranks == sizes[sizes.len() / 2] {
            tracing.preload = false;
            let plain = tracing.run(&executable, &[]).finished.succeeded();
            assert_eq!(plain.stdout, "ok\n", "untraced");
            tracing.preload = true;
        }
        let run = tracing.run(&executable, &[]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        let messages = run.holds(&run.made());
        if let Some(expected) = messages_of(program.name, ranks as u64, mpi) {
            assert_eq!(messages, expected, "messages");
        }
        for extension in ["slog2", "clog2"] {
            assert!(!run.print(&run.file(extension)).is_empty());
        }
        assert_eq!(run.files("meta").len(), 1);
        assert_eq!(run.files("bin").len(), ranks);
        assert!(run.files("blocks").is_empty(), "block files are removed");
        let sum = |calls: std::collections::BTreeMap<usize, CallTally>| -> u64 {
            let of_program = |(name, _): &(&String, &u64)| !is_conversion(name);
            calls
                .values()
                .flat_map(|counts| counts.iter().filter(of_program))
                .map(|(_, count)| count)
                .sum()
        };
        seen += sum(run.in_dumpi());
        made += sum(run.made());
    }
    matrix::seen(&kind, mpi, seen, made);
}

/// Programs that cannot run on some implementations, and why.
const LEFT_OUT: &[(&str, &[Mpi], &str)] = &[
    (
        "removed",
        &[Mpi::Abi, Mpi::IntelAbi],
        "not in the standard ABI",
    ),
    ("io", &[Mpi::IntelAbi], "fails untraced"),
    ("environment", &[Mpi::IntelAbi], "fails untraced"),
];

/// Number of messages that a program exchanges, from reading its source; without those to or from MPI_PROC_NULL, and without
/// cancelled ones.
fn messages_of(name: &str, ranks: u64, mpi: Mpi) -> Option<u64> {
    let isendrecv = u64::from(tests::compile::declared(mpi).contains("MPI_Isendrecv"));
    Some(match name {
        // modes, probed, send-receive, lengths; three of each rank but 0 to rank 0
        "p2p" => ranks * (4 + 3 + 3 + 2 * isendrecv + 8) + 3 * (ranks - 1),
        "nonblocking" => ranks * (4 + 8 * 8 + 4000 + 1 + 500),
        "persistent" => ranks * 20 * 4,
        "threads" => ranks * 8 * 200,
        "many_calls" => ranks * 30000,
        "groups" | "silent" | "environment" | "collectives" | "icollectives" | "neighborhood" => 0,
        "partitioned" => return None, // how many messages carry the partitions is the library's business
        _ => return None,
    })
}

/// MPICH spins while it waits: with more ranks than cores its programs take seconds where Open MPI's take none.
const FEW: &[usize] = &[1, 2];
const ODD: &[usize] = &[1, 2, 3];
const USUAL: &[usize] = &[1, 2, 3, 4];
const TINY: &[usize] = &[1, 2, 3, 5, 8];

macro_rules! programs {
    ($($name:ident: mpich $mpich:expr, openmpi $openmpi:expr;)*) => {
        mod mpich {
            use super::*;
            $(#[test] fn $name() { program(Mpi::Mpich, Program::c(stringify!($name)), $mpich) })*
        }
        mod openmpi {
            use super::*;
            $(#[test] fn $name() { program(Mpi::OpenMpi, Program::c(stringify!($name)), $openmpi) })*
        }
    };
}

programs! {
    p2p: mpich ODD, openmpi USUAL;
    nonblocking: mpich FEW, openmpi USUAL;
    persistent: mpich ODD, openmpi USUAL;
    partitioned: mpich ODD, openmpi FEW;
    collectives: mpich ODD, openmpi USUAL;
    icollectives: mpich ODD, openmpi USUAL;
    neighborhood: mpich ODD, openmpi USUAL;
    comms: mpich FEW, openmpi USUAL;
    groups: mpich ODD, openmpi USUAL;
    topology: mpich ODD, openmpi USUAL;
    datatypes: mpich ODD, openmpi USUAL;
    rma: mpich ODD, openmpi USUAL;
    io: mpich ODD, openmpi USUAL;
    environment: mpich ODD, openmpi USUAL;
    tool: mpich FEW, openmpi FEW;
    nulls: mpich FEW, openmpi FEW;
    refused: mpich FEW, openmpi FEW;
    threads: mpich FEW, openmpi USUAL;
    removed: mpich FEW, openmpi FEW;
    silent: mpich TINY, openmpi TINY;
    init_in_thread: mpich FEW, openmpi FEW;
    children: mpich FEW, openmpi FEW;
    many_calls: mpich FEW, openmpi USUAL;
}

/// The same on the newer versions, on the standard ABI and on Intel's library: some programs, all of them with EVERY_MPI=1.
mod newer {
    use super::*;

    const ADDED: [Mpi; 5] = [
        Mpi::Mpich5,
        Mpi::OpenMpi5,
        Mpi::Abi,
        Mpi::Intel,
        Mpi::IntelAbi,
    ];
    const SOME: [&str; 7] = [
        "p2p",
        "nulls",
        "nonblocking",
        "collectives",
        "datatypes",
        "rma",
        "io",
    ];
    const OTHERS: [&str; 16] = [
        "mpi5",
        "persistent",
        "partitioned",
        "icollectives",
        "neighborhood",
        "comms",
        "groups",
        "topology",
        "environment",
        "tool",
        "threads",
        "removed",
        "silent",
        "init_in_thread",
        "children",
        "many_calls",
    ];

    #[test]
    fn some_programs() {
        for mpi in ADDED.into_iter().filter(|mpi| mpi.installed()) {
            SOME.iter()
                .for_each(|name| program(mpi, Program::c(name), &[2]));
        }
    }

    #[test]
    fn the_other_programs() {
        for mpi in Mpi::newer("the other programs") {
            OTHERS
                .iter()
                .for_each(|name| program(mpi, Program::c(name), FEW));
        }
    }

    #[test]
    fn large_counts() {
        let have = |mpi: &Mpi| tests::compile::declared(*mpi).contains("MPI_Send_c");
        for mpi in Mpi::newer("large counts").into_iter().filter(have) {
            for name in [
                "p2p",
                "nonblocking",
                "persistent",
                "collectives",
                "icollectives",
                "neighborhood",
                "datatypes",
                "rma",
                "io",
                "many_calls",
            ] {
                program(
                    mpi,
                    Program {
                        large_count: true,
                        ..Program::c(name)
                    },
                    &[2],
                );
            }
        }
    }
}

/// The same sources with each call turned into its `_c` form, where the implementation has it.
mod large_count {
    use super::*;

    fn large(name: &'static str) {
        for mpi in Mpi::ALL {
            if !mpi.installed() {
                continue;
            }
            if !tests::compile::declared(mpi).contains("MPI_Send_c") {
                tests::skip(&format!("{mpi:?} has no large-count functions"));
                continue;
            }
            let variant = Program {
                large_count: true,
                ..Program::c(name)
            };
            program(mpi, variant, FEW);
        }
    }

    macro_rules! large_programs {
        ($($name:ident)*) => { $(#[test] fn $name() { large(stringify!($name)) })* };
    }

    large_programs! {
        p2p nonblocking persistent partitioned collectives icollectives neighborhood datatypes rma io many_calls
    }
}

/// Every function an implementation declares is called by some program, but for those listed with the reason.
#[test]
fn every_function_is_called() {
    let mut sources = String::new();
    for entry in std::fs::read_dir(tests::root().join("tests/programs")).expect("programs") {
        let path = entry.expect("programs").path();
        if path.extension().is_some_and(|e| e == "c" || e == "h") {
            sources += &std::fs::read_to_string(path).expect("a source");
        }
    }
    for mpi in Mpi::KNOWN.into_iter().filter(|mpi| mpi.is_here()) {
        let missing: Vec<&String> = tests::compile::declared(mpi)
            .iter()
            .filter(|f| !is_conversion(f))
            .filter(|f| !NOT_CALLED.iter().any(|(prefix, _)| f.starts_with(prefix)))
            .filter(|f| !sources.contains(&format!("{}(", f.strip_suffix("_c").unwrap_or(f))))
            .collect();
        assert!(missing.is_empty(), "{mpi:?}: no program calls {missing:?}");
    }
}

/// Beginnings of names that no program calls, and why.
const NOT_CALLED: &[(&str, &str)] = &[
    (
        "MPI_T_event_",
        "the implementations at hand have no events to ask for",
    ),
    ("MPI_T_source_get_", "nor sources of events"),
    (
        "MPI_T_enum_get_",
        "no variable the programs may rely on has an enumeration",
    ),
    ("MPI_T_cvar_write", "would change the library under test"),
    ("MPI_T_pvar_write", "would change the library under test"),
];
