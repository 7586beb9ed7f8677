//! The programs of the golden DUMPI traces, traced by our recorder on MPICH: same calls, arguments, handle numbers and
//! sizes as the reference's text, rank by rank, but for what [`merge::dumpi`] names as different on purpose.
//!
//! Needs MPICH and a recorder built by `ci/build`; is skipped where one is missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use test_support::golden;
use trace_formats::dumpi::print::{Sections, Zone, print};
use trace_formats::dumpi::read::DumpiReader;

/// A golden directory, and lines of its texts with what we have in their place.
struct Case {
    /// `<program>-n<ranks>-<configuration>`.
    name: &'static str,
    /// Arguments of the program.
    arguments: &'static [&'static str],
    on_purpose: &'static [(&'static str, &'static str)],
}

const fn same(name: &'static str) -> Case {
    Case {
        name,
        arguments: &[],
        on_purpose: &[],
    }
}

const ASSERTIONS: &[(&str, &str)] = &[
    (
        "int assertion=255 (DUMPI_MODE_ERROR)",
        "int assertion=0 (DUMPI_MODE_NONE)",
    ),
    (
        "int assertion=255 (DUMPI_MODE_ERROR)",
        "int assertion=6 (MPI_MODE_NOSTORE|MPI_MODE_NOPUT)",
    ),
    (
        "int assertion=255 (DUMPI_MODE_ERROR)",
        "int assertion=24 (MPI_MODE_NOPRECEDE|MPI_MODE_NOSUCCEED)",
    ),
];

/// Arrays of MPI_Aint, MPI_Dims_create, edges of graphs, and the type that has the handle of a freed one.
const TYPES_AND_GRAPHS: &[(&str, &str)] = &[
    (
        "int displacements[3]=[0, 0, 16]",
        "int displacements[3]=[0, 16, 16]",
    ),
    (
        "int arraddresses[3]=[0, 0, 16]",
        "int arraddresses[3]=[0, 16, 16]",
    ),
    (
        "MPI_Datatype newtype=37 (user-defined-datatype)",
        "MPI_Datatype newtype=39 (user-defined-datatype)",
    ),
    (
        "MPI_Datatype datatype=37 (user-defined-datatype)",
        "MPI_Datatype datatype=39 (user-defined-datatype)",
    ),
    ("int dims.in[2]=[1, 1]", "int dims.in[2]=[0, 0]"),
    ("int dims.in[2]=[2, 1]", "int dims.in[2]=[0, 0]"),
    ("int numedges=0", "int numedges=1"),
    ("int numedges=1", "int numedges=2"),
    ("int edges[0]=<IGNORED>", "int edges[1]=[0]"),
    ("int edges[1]=[0]", "int edges[2]=[0, 1]"),
];

const CASES: &[Case] = &[
    same("coll-n1-default"),
    same("coll-n2-default"),
    same("coll-n4-wall"),
    same("coll-n2-select"),
    same("ring-n1-default"),
    same("ring-n2-wall"),
    same("ring-n4-default"),
    Case {
        arguments: &["first", "arg"],
        ..same("ring-n2-args")
    },
    same("nonblock-n1-default"),
    Case {
        on_purpose: TYPES_AND_GRAPHS,
        ..same("typecomm-n1-default")
    },
    Case {
        on_purpose: TYPES_AND_GRAPHS,
        ..same("typecomm-n2-default")
    },
    same("mpiio-n2-default"),
    Case {
        on_purpose: ASSERTIONS,
        ..same("rma-n1-default")
    },
    Case {
        on_purpose: &[("int indices[3]=[0, 0, 24]", "int indices[3]=[0, 24, 72]")],
        ..same("oldmpi-n1-default")
    },
    same("otfp2p-n2-default"),
    same("thr-n2-default"),
    same("thr-n2-bare"),
];

#[test]
fn same_calls_as_the_reference() {
    let Some(library) = test_support::recorder("mpich") else {
        return;
    };
    let golden = golden::path("dumpi");
    let dir = std::env::temp_dir().join(format!("project-dumpi-golden-{}", std::process::id()));
    let mut wrong = Vec::new();
    for case in CASES {
        let (program, rest) = case.name.split_once("-n").expect("a case's name");
        let ranks = &rest[..1];
        let here = dir.join(case.name);
        fs::create_dir_all(&here).unwrap();
        compile(
            &golden.join("src").join(program).with_extension("c"),
            &here.join(program),
        );
        run(
            &here,
            &golden.join(case.name),
            &library,
            ranks,
            program,
            case.arguments,
        );
        for rank in 0..ranks.parse().unwrap() {
            let suffix = format!("-{rank:04}.");
            let ours = fs::read(find(&here, &format!("{suffix}bin"))).unwrap();
            let theirs = golden::files(golden.join(case.name), &format!("{suffix}txt"));
            let theirs = golden::text(&theirs[0]);
            for difference in differences(&lines(&theirs), &lines(&text(&ours)), case) {
                wrong.push(format!("{} rank {rank}: {difference}", case.name));
            }
        }
    }
    fs::remove_dir_all(&dir).unwrap();
    assert!(
        wrong.is_empty(),
        "{} differences\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn compile(source: &Path, program: &Path) {
    let done = Command::new("mpicc.mpich")
        .args(["-w", "-O1", "-o"])
        .args([program, source])
        .arg("-lpthread")
        .status()
        .unwrap();
    assert!(done.success(), "{} does not compile", source.display());
}

/// Runs in `here` with the configuration of the golden run.
fn run(here: &Path, golden: &Path, library: &Path, ranks: &str, program: &str, arguments: &[&str]) {
    let limit = test_support::limit_here(Duration::from_secs(60));
    let mut command = Command::new("timeout");
    command
        .arg(limit.as_secs().to_string())
        .args(["mpiexec.mpich", "-n", ranks, "-genv", "LD_PRELOAD"])
        .arg(library)
        .arg(format!("./{program}"))
        .args(arguments);
    command
        .current_dir(here)
        .env("LOGNAME", "tester")
        .env("TZ", "UTC")
        // The reference writes nothing for functions without an id, such as MPI_Pcontrol.
        .env("TRACE_EXTENSIONS", "disable");
    for name in ["dumpi.conf", "my.conf"] {
        if golden.join(name).is_file() {
            fs::copy(golden.join(name), here.join(name)).unwrap();
            command.env("DUMPI_CONF", name);
        }
    }
    let done = command.output().unwrap();
    let printed = String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.success(),
        "{program} on {ranks}: {}\n{printed}",
        done.status
    );
}

fn find(dir: &Path, ending: &str) -> PathBuf {
    let mut paths = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let path = paths.find(|p| p.to_string_lossy().ends_with(ending));
    path.unwrap_or_else(|| panic!("no *{ending} in {}", dir.display()))
}

fn text(bin: &[u8]) -> String {
    let reader = DumpiReader::open(bin).expect("a DUMPI file");
    let mut text = Vec::new();
    print(&reader, Sections::ALL, Zone::Utc, &mut text).expect("a sound file");
    String::from_utf8_lossy(&text).into_owned()
}

/// Where the shared file pointer of `mpiio.c` may be when a rank asks for it: both ranks write 4 numbers and read 2.
const SHARED_POINTERS: &[&str] = &["0", "2", "4", "6", "8", "10", "12"];

/// Lines without what changes from run to run: times, addresses, errors of statuses, which are the program's memory, and the place of a
/// file pointer that another rank moves meanwhile.
fn lines(text: &str) -> Vec<String> {
    let kept = text.lines().filter(|l| !l.starts_with("starttime="));
    let mut is_of_shared_pointer = false;
    kept.map(|line| {
        let mut line = line.to_owned();
        if line.contains(" entering at walltime ") {
            is_of_shared_pointer = line.starts_with("MPI_File_get_position_shared ");
        }
        if is_of_shared_pointer
            && let Some(offset) = line.strip_prefix("int64_t offset=")
            && SHARED_POINTERS.contains(&offset)
        {
            line.truncate("int64_t offset".len());
        }
        if let (Some(from), Some(to)) = (line.find(" at walltime "), line.find(" in thread ")) {
            line.replace_range(from..to, "");
        }
        if line.starts_with("int address=") {
            line.truncate("int address".len());
        }
        while let Some(from) = line.find(", error=") {
            let to = line[from..].find('}').map_or(line.len(), |n| from + n);
            line.replace_range(from..to, "");
        }
        line
    })
    .collect()
}

/// Lines that differ and must not.
fn differences(theirs: &[String], ours: &[String], case: &Case) -> Vec<String> {
    let excused = |a: &str, b: &str| {
        a == b
            || case.on_purpose.contains(&(a, b))
            || recorded(a).is_some_and(|calls| Some(calls) == recorded(b))
            || a.starts_with("MPI_Status ")
                && b.starts_with("MPI_Status ")
                && (ignored(a) || is_noise(a))
    };
    let pairs = theirs.iter().zip(ours);
    let mut found: Vec<_> = pairs
        .filter(|(a, b)| !excused(a, b))
        .map(|(a, b)| format!("{b}\n    instead of {a}"))
        .collect();
    // A type with a new number has a size of its own.
    let more = ours.get(theirs.len()..).unwrap_or_default();
    let new_types = more.iter().all(|l| l.starts_with("Datatype "));
    if ours.len() < theirs.len() || !new_types {
        found.push(format!("{} lines instead of {}", ours.len(), theirs.len()));
    }
    found
}

/// Number of recorded calls of a function. Calls that the MPI library makes itself are counted and not recorded; we count those
/// of the MPI library to its PMPI functions, too.
fn recorded(line: &str) -> Option<(&str, u64)> {
    let (name, rest) = line.split_once(" called ")?;
    let (called, rest) = rest.split_once(" times and ignored ")?;
    let ignored = rest.strip_suffix(" times")?;
    let called: u64 = called.parse().ok()?;
    Some((name, called.checked_sub(ignored.parse().ok()?)?))
}

/// The program took no status. We have one where the call made one.
fn ignored(line: &str) -> bool {
    line.ends_with("=<IGNORED>")
}

/// A status, or one of several, that the MPI library left as the program's memory was: that of a send or of an access to a
/// file. Its count is none, or its source is no rank of these programs.
fn is_noise(line: &str) -> bool {
    line.split("source=").skip(1).any(|rest| {
        let digits: String = rest
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '-')
            .collect();
        digits
            .parse()
            .is_ok_and(|source: i64| !(-32766..=3).contains(&source))
    }) || line.contains("{bytes=-32766")
}
