//! Ways to MPI other than a plain preload: linking with `-ltrace`, as shared library and as archive; an MPI that the program
//! loads privately.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tests::{Mpi, MpiTurns, TestFolder, TracedRun, contents, process, trace::TraceSetup};

/// Compiles a program with these linker arguments in front of MPI's own and runs it with 2 ranks, nothing preloaded.
fn linked(mpi: Mpi, source: &str, how: &[String]) -> TracedRun {
    run_linked(mpi, source, how, None)
}

/// Compiles a program with these linker arguments in front of MPI's own and runs it with 2 ranks; if there is a list, the recorder
/// is preloaded, with the libraries of the list in front of it.
fn run_linked(mpi: Mpi, source: &str, how: &[String], preloaded: Option<&[PathBuf]>) -> TracedRun {
    let folder = TestFolder::new("linking");
    run_program(mpi, &compiled(mpi, source, how, &folder), preloaded)
}

/// Compiles a program into `folder`, with these linker arguments in front of MPI's own.
fn compiled(mpi: Mpi, source: &str, how: &[String], folder: &TestFolder) -> PathBuf {
    let program = folder.path().join("program");
    let sources = tests::root().join("tests/programs");
    // compiling p2p once leaves the tally header where it is looked for
    let header = tests::Program::c("groups").compile(mpi);
    let mut compiler = mpi.mpicc();
    compiler
        .args(["-O1", "-w", "-I"])
        .arg(header.parent().expect("a folder"))
        .arg("-I")
        .arg(&sources)
        .arg("-I")
        .arg(tests::root().join("include"))
        .arg(sources.join(source))
        .args(how)
        .arg("-o")
        .arg(&program);
    process::run(&mut compiler, Duration::from_secs(60)).succeeded();
    program
}

/// Runs a program with 2 ranks, the recorder preloaded as [`run_linked`] says.
fn run_program(mpi: Mpi, program: &Path, preloaded: Option<&[PathBuf]>) -> TracedRun {
    let mut tracing = TraceSetup::new(mpi, 2);
    tracing.preload = preloaded.is_some();
    tracing.before = preloaded.unwrap_or_default();
    tracing.run(program, &[])
}

fn check(run: &TracedRun) {
    assert!(run.finished.status.success(), "{}", run.finished.story());
    assert_eq!(run.finished.stdout, "ok\n");
    assert_eq!(run.counted(), run.made());
    assert_eq!(run.files("bin").len(), 2);
    run.file("slog2");
}

#[test]
fn shared() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let library = tests::recorder();
        let folder = library.parent().expect("a folder").display();
        let how = [
            format!("-L{folder}"),
            "-ltrace".into(),
            format!("-Wl,-rpath,{folder}"),
        ];
        for source in ["p2p.c", "collectives.c"] {
            check(&linked(mpi, source, &how));
        }
    }
}

/// If the linker has left the MPI library out (`--as-needed`), the recorder loads it; also if it is preloaded besides, as by
/// `mpitrace run`.
#[test]
fn linked_and_preloaded() {
    for mpi in Mpi::KNOWN.into_iter().filter(|mpi| mpi.is_here()) {
        let library = tests::recorder();
        let folder = library.parent().expect("a folder").display();
        let how = [
            "-Wl,--as-needed".into(),
            format!("-L{folder}"),
            "-ltrace".into(),
            format!("-Wl,-rpath,{folder}"),
        ];
        check(&run_linked(mpi, "p2p.c", &how, Some(&[])));
    }
}

/// Of several recorders in a process one traces, however many others are preloaded: the one that the program's calls come to, those about its regions
/// as well.
#[test]
fn one_of_several_recorders_traces() {
    let folder = TestFolder::new("recorders");
    let copy = folder.path().join("libtrace.so");
    std::fs::copy(tests::recorder(), &copy).expect("own folder");
    let library = tests::recorder();
    let archive = library.with_extension("a").display().to_string();
    let of_library = library.parent().expect("a folder").display();
    let shared = vec![
        format!("-L{of_library}"),
        "-ltrace".into(),
        format!("-Wl,-rpath,{of_library}"),
    ];
    let archived = ["-lpthread", "-ldl", "-lm"].map(String::from);
    let archived: Vec<String> = [archive].into_iter().chain(archived).collect();
    let turns = MpiTurns::new("several recorders, linked in each way");
    let keep = ["-Wl,--as-needed", "-Wl,--no-as-needed"];
    for (row, keep) in keep.into_iter().enumerate() {
        for (column, how) in [&shared, &archived].into_iter().enumerate() {
            for &mpi in turns.of(row + column) {
                let how: Vec<String> = [keep.into()].iter().chain(how).cloned().collect();
                let program = compiled(mpi, "p2p.c", &how, &folder);
                check(&run_program(mpi, &program, Some(&[])));
                let copy = std::slice::from_ref(&copy);
                check(&run_program(mpi, &program, Some(copy)));
                let program = compiled(mpi, "regions.c", &how, &folder);
                let run = run_program(mpi, &program, Some(copy));
                let states = contents::slog2(&run.file("slog2")).states;
                let (whole, story) = (states.get("whole"), run.finished.story());
                assert_eq!(whole, Some(&2), "{mpi:?} {how:?} {states:?} {story}");
            }
        }
    }
}

#[test]
fn archive() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let archive = tests::recorder().with_extension("a");
        let how = [
            archive.display().to_string(),
            "-lpthread".into(),
            "-ldl".into(),
            "-lm".into(),
        ];
        check(&linked(mpi, "p2p.c", &how));
    }
}

/// Runs `ci/install` with a folder as prefix.
fn install(folder: &TestFolder) {
    process::run(tests::install().arg(folder.path()), Duration::from_secs(60)).succeeded();
}

/// The options that pkg-config gives for one of our names.
fn options(prefix: &Path, name: &str) -> Vec<String> {
    let descriptions = prefix.join("lib/pkgconfig");
    let mut ask = Command::new("pkg-config");
    ask.env("PKG_CONFIG_PATH", descriptions);
    let finished = process::run(
        ask.args(["--cflags", "--libs", name]),
        Duration::from_secs(60),
    )
    .succeeded();
    (finished.stdout.split_whitespace())
        .map(str::to_owned)
        .collect()
}

/// An installed folder may be moved as a whole: nothing in it names the place where it was made.
#[test]
fn installed_and_moved() {
    let folder = TestFolder::new("moved");
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    let mut install = tests::install();
    process::run(install.arg(&before), Duration::from_secs(60)).succeeded();
    std::fs::rename(&before, &after).expect("own folder");
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let how = options(&after, "trace");
        assert!(!how.concat().contains("before"), "{how:?}");
        check(&linked(mpi, "p2p.c", &how));
    }
}

/// Each path below `PREFIX` that the pages for users name is there after `ci/install`.
#[test]
fn paths_of_the_pages_are_installed() {
    let folder = TestFolder::new("pages");
    install(&folder);
    let mut paths = 0;
    for page in std::fs::read_dir(tests::root().join("docs/user")).expect("the pages for users") {
        let page = page.expect("a page").path();
        let Ok(text) = std::fs::read_to_string(&page) else {
            continue;
        };
        for (place, _) in text.match_indices("PREFIX/") {
            let rest = &text[place + "PREFIX/".len()..];
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "._-/".contains(c)));
            let path = rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', '/']);
            let installed = folder.path().join(path);
            assert!(installed.exists(), "{}: PREFIX/{path}", page.display());
            paths += 1;
        }
    }
    assert!(paths >= 6, "{paths} paths below PREFIX in docs/user");
}

/// The files that installed pages for users lead to are installed, too.
#[test]
fn links_of_the_pages_are_installed() {
    let folder = TestFolder::new("links");
    install(&folder);
    let pages = folder.path().join("share/doc/libtrace/docs/user");
    let mut links = 0;
    for page in std::fs::read_dir(&pages).expect("installed pages") {
        let page = page.expect("a page").path();
        if page.extension().is_none_or(|end| end != "md") {
            continue;
        }
        let text = std::fs::read_to_string(&page).expect("a page");
        for rest in text.split("](").skip(1) {
            let link = rest.split([')', '#']).next().unwrap_or_default();
            if link.is_empty() || link.contains("://") {
                continue;
            }
            assert!(pages.join(link).exists(), "{}: {link}", page.display());
            links += 1;
        }
    }
    assert!(links >= 100, "{links} links");
}

/// Installed files have no debug information; with `--debug` it lies beside, where a debugger looks for it.
#[test]
fn installed_stripped() {
    const MIB: u64 = 1 << 20;
    let folder = TestFolder::new("stripped");
    let mut install = tests::install();
    install.arg("--debug").arg(folder.path());
    process::run(&mut install, Duration::from_secs(120)).succeeded();
    let bytes = |file: &Path| {
        let metadata = std::fs::metadata(file);
        metadata
            .unwrap_or_else(|why| panic!("{}: {why}", file.display()))
            .len()
    };
    let binaries = folder.path().join("bin");
    let libraries = folder.path().join("lib");
    let archive = tests::recorder().with_extension("a");
    for (installed, built) in [
        (binaries.join("mpitrace"), tests::mpitrace()),
        (libraries.join("libtrace.so"), tests::recorder()),
        (libraries.join("libtrace.a"), archive),
    ] {
        assert!(bytes(&installed) < bytes(&built), "{}", built.display());
    }
    // How large they are in a release, `ci/release-test` watches.
    assert!(bytes(&binaries.join(".debug/mpitrace.debug")) > MIB);
    assert!(bytes(&libraries.join(".debug/libtrace.so.debug")) > MIB);
    for file in [
        "man/man1/mpitrace.1",
        "man/man1/mpitrace-run.1",
        "bash-completion/completions/mpitrace",
        "zsh/site-functions/_mpitrace",
    ] {
        assert!(bytes(&folder.path().join("share").join(file)) > 0);
    }
}

/// C, by the installed description.
#[test]
fn by_pkg_config() {
    let folder = TestFolder::new("installed");
    install(&folder);
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        for name in ["trace", "trace-static"] {
            check(&linked(mpi, "p2p.c", &options(folder.path(), name)));
        }
    }
}

/// C with CMake, which takes the installed description apart: it drops folders where no library follows, and options that come twice.
#[test]
fn by_cmake() {
    if Command::new("cmake").arg("--version").output().is_err() {
        tests::skip("no cmake here");
        return;
    }
    let folder = TestFolder::new("installed");
    install(&folder);
    let project = folder.path().join("project");
    std::fs::create_dir(&project).expect("own folder");
    let source = "#include <mpi.h>\nint main(int argc, char **argv) {\n    int rank;\n    MPI_Init(&argc, &argv);\n    \
                  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n    for (int i = 0; i < 3; i++) MPI_Barrier(MPI_COMM_WORLD);\n    \
                  return MPI_Finalize();\n}\n";
    let lists = "cmake_minimum_required(VERSION 3.13)\nproject(barriers C)\nfind_package(MPI REQUIRED)\nfind_package(PkgConfig REQUIRED)\n";
    let mut lists = lists.to_owned();
    for name in ["trace", "trace-static"] {
        lists += &format!(
            "pkg_check_modules({name} REQUIRED IMPORTED_TARGET {name})\nadd_executable(by-{name} barriers.c)\n\
             target_link_libraries(by-{name} PkgConfig::{name} MPI::MPI_C)\n"
        );
    }
    std::fs::write(project.join("barriers.c"), source).expect("own folder");
    std::fs::write(project.join("CMakeLists.txt"), lists).expect("own folder");
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let build = project.join(mpi.suffix());
        let mut compiler = std::ffi::OsString::from("-DMPI_C_COMPILER=");
        compiler.push(mpi.mpicc().get_program());
        let mut configure = Command::new("cmake");
        configure.env("PKG_CONFIG_PATH", folder.path().join("lib/pkgconfig"));
        configure.arg("-S").arg(&project).arg("-B").arg(&build);
        process::run(configure.arg(compiler), Duration::from_secs(120)).succeeded();
        let mut make = Command::new("cmake");
        process::run(make.arg("--build").arg(&build), Duration::from_secs(120)).succeeded();
        for name in ["trace", "trace-static"] {
            let run = run_program(mpi, &build.join(format!("by-{name}")), None);
            assert!(run.finished.status.success(), "{}", run.finished.story());
            assert_two_ranks_made(&run, &THREE_BARRIERS);
        }
    }
}

/// Fortran calls no MPI_… itself, only the binding library does.
#[test]
fn fortran() {
    let folder = TestFolder::new("installed");
    install(&folder);
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        for name in ["trace", "trace-static"] {
            let program = folder
                .path()
                .join(format!("linked-{}-{name}", mpi.suffix()));
            let mut compiler = mpi.mpifort();
            compiler
                .args(["-O1", "-w", "-fallow-argument-mismatch"])
                .arg(tests::root().join("tests/programs/linked.f90"))
                .args(options(folder.path(), name))
                .arg("-o")
                .arg(&program);
            process::run(&mut compiler, Duration::from_secs(60)).succeeded();
            let mut tracing = TraceSetup::new(mpi, 2);
            tracing.preload = false;
            let run = tracing.run(&program, &[]);
            assert!(run.finished.status.success(), "{}", run.finished.story());
            assert_eq!(run.finished.stdout.trim(), "ok");
            let expected = [
                "MPI_Allreduce",
                "MPI_Comm_get_attr",
                "MPI_Comm_rank",
                "MPI_Comm_size",
                "MPI_Finalize",
                "MPI_Init",
            ]
            .map(|name| (name.to_owned(), 1));
            let counted = run.counted();
            assert_eq!(counted.len(), 2, "{}", run.finished.story());
            for (rank, mut counts) in counted {
                counts.retain(|name, _| !tests::tally::is_conversion(name));
                assert_eq!(
                    counts,
                    expected.clone().into(),
                    "{mpi:?}, {name}, rank {rank}"
                );
            }
            run.file("slog2");
        }
    }
}

/// Calls of a rank of the programs that look MPI up by name.
const THREE_BARRIERS: [(&str, u64); 4] = [
    ("MPI_Barrier", 3),
    ("MPI_Comm_rank", 1),
    ("MPI_Finalize", 1),
    ("MPI_Init", 1),
];

/// Each of two ranks has made these calls, by function and number, and no others.
fn assert_two_ranks_made(run: &TracedRun, expected: &[(&str, u64)]) {
    let counted = run.counted();
    assert_eq!(counted.len(), 2, "{}", run.finished.story());
    for (rank, counts) in counted {
        let counts: BTreeMap<&str, u64> = counts.iter().map(|(name, &n)| (&**name, n)).collect();
        assert_eq!(counts, expected.iter().copied().collect(), "rank {rank}");
    }
}

/// A program that looks MPI up in a handle of its own gets our functions, and is told that no MPI is there where it sees none.
#[test]
fn private_mpi() {
    let script = tests::root().join("tests/programs/private_mpi.py");
    let script = script.to_string_lossy();
    for (mpi, library) in [
        (Mpi::Mpich, "libmpich.so.12"),
        (Mpi::OpenMpi, "libmpi.so.40"),
    ] {
        if !mpi.installed() {
            continue;
        }
        let run = TraceSetup::new(mpi, 2).run(Path::new("/usr/bin/python3"), &[&script, library]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        assert_eq!(run.finished.stdout.trim(), "ok", "{}", run.finished.story());
        let size = [("MPI_Comm_size", 1)];
        assert_two_ranks_made(&run, &[&THREE_BARRIERS[..], &size].concat());
        tests::matrix::seen("Python: ctypes, private MPI", mpi, 2 * 7, 2 * 7);
    }
}

/// A layer over MPI, or a tool, that looks up the functions of the library below it by name gets that library's, and the program's calls are recorded once.
#[test]
fn a_layer_over_mpi() {
    if !Mpi::Mpich.installed() {
        return;
    }
    let folder = TestFolder::new("layer");
    let source = tests::root().join("tests/programs/layer.c");
    let make = |mut compiler: Command, how: &[&str], name: &str| {
        let made = folder.path().join(name);
        compiler.args(["-O1", "-w"]).arg(&source).args(how);
        compiler.arg("-o").arg(&made);
        process::run(&mut compiler, Duration::from_secs(60)).succeeded();
        made
    };
    let library = ["-shared", "-fPIC", "-DBELOW=\"libmpich.so.12\"", "-ldl"];
    let layer = make(Command::new("cc"), &library, "liblayer.so");
    let on_layer = ["-DPROGRAM", &layer.to_string_lossy()];
    let on_layer = make(Command::new("cc"), &on_layer, "on_layer");
    let tool = [&library[..], &["-DONLY_BARRIER"]].concat();
    let tool = [make(Command::new("cc"), &tool, "libtool.so")];
    let on_mpi = make(Mpi::Mpich.mpicc(), &["-DPROGRAM"], "on_mpi");
    for (program, behind) in [(on_layer, &[][..]), (on_mpi, &tool)] {
        let mut tracing = TraceSetup::new(Mpi::Mpich, 2);
        tracing.behind = behind;
        let run = tracing.run(&program, &[]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        assert_two_ranks_made(&run, &THREE_BARRIERS);
    }
}

/// Lookups of a program in a handle of its own succeed and fail as they do untraced, also by what dlerror says of them.
#[test]
fn errors_of_lookups() {
    let folder = TestFolder::new("lookups");
    let program = folder.path().join("lookups");
    let source = tests::root().join("tests/programs/lookups.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-w"]).arg(&source).arg("-o");
    compiler.arg(&program).arg("-ldl");
    process::run(&mut compiler, Duration::from_secs(60)).succeeded();
    for (mpi, library) in [
        (Mpi::Mpich, "libmpich.so.12"),
        (Mpi::OpenMpi, "libmpi.so.40"),
    ] {
        if !mpi.installed() {
            continue;
        }
        let look = |preloaded: Option<PathBuf>| {
            let mut command = Command::new(&program);
            command.arg(library);
            command.envs(preloaded.map(|recorder| ("LD_PRELOAD", recorder)));
            process::run(&mut command, Duration::from_secs(60)).succeeded()
        };
        let untraced = look(None).stdout;
        assert_eq!(untraced.matches("no error").count(), 4, "{untraced}");
        assert_eq!(look(Some(tests::recorder())).stdout, untraced, "{mpi:?}");
    }
}
