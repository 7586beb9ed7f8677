//! Where files go and what they are called: many runs at once in one folder, names of all kinds, folders that come and go.
//! Nothing is written over, nothing mixed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tests::{Mpi, Program, TestFolder, contents, process, trace::LIMIT};

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// The program as a world of one, in this folder.
fn reported(mpi: Mpi, program: &Path, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    mpi.environment(&mut command);
    command
        .args(arguments)
        .current_dir(folder)
        .env("LD_PRELOAD", tests::recorder())
        .env("TRACE_TMPDIR", folder)
        .env("TRACE_OUTPUTS", "all");
    command
}

fn compiled(mpi: Mpi) -> PathBuf {
    Program::c("told").compile(mpi)
}

#[track_caller]
fn succeeds(command: &mut Command) -> process::FinishedCommand {
    let finished = process::run(command, LIMIT).succeeded();
    assert_eq!(finished.stdout, "ok\n", "{}", finished.story());
    finished
}

/// Files of a folder by extension, in order of their names.
fn files(folder: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a folder").path();
        if path.is_file()
            && let Some(extension) = path.extension()
        {
            let of_kind = files.entry(extension.to_string_lossy().into_owned());
            of_kind.or_default().push(path);
        }
    }
    files.values_mut().for_each(|of_kind| of_kind.sort());
    files
}

/// Barriers in a file of any kind.
fn barriers(path: &Path) -> u64 {
    let extension = path.extension().expect("one").to_string_lossy();
    let of = |counts: &tests::tally::CallTally| counts.get("MPI_Barrier").copied().unwrap_or(0);
    match &*extension {
        "bin" => of(&contents::dumpi(path)),
        "clog2" => contents::clog2(path).calls.values().map(of).sum(),
        "slog2" => of(&contents::slog2(path).states),
        other => panic!("{other}"),
    }
}

/// The one trace of a folder, of a run of so many barriers, and nothing else that the recorder has left there.
#[track_caller]
fn holds_one(folder: &Path, count: u64, story: &str) -> BTreeMap<String, Vec<PathBuf>> {
    let files = files(folder);
    for kind in ["bin", "clog2", "slog2"] {
        let of_kind = files.get(kind).map(Vec::as_slice).unwrap_or_default();
        assert_eq!(of_kind.len(), 1, "{kind}: {files:?}\n{story}");
        assert_eq!(barriers(&of_kind[0]), count, "{of_kind:?}\n{story}");
    }
    for kind in ["tmp", "blocks"] {
        assert!(!files.contains_key(kind), "{files:?}\n{story}");
    }
    files
}

#[test]
fn eight_runs_at_once_in_one_folder() {
    const RUNS: u64 = 8;
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-at-once", mpi.suffix()));
        let program = compiled(mpi);
        let children: Vec<_> = (0..RUNS)
            .map(|run| {
                let count = (10 + run).to_string();
                let mut command = reported(mpi, &program, folder.path(), &[&count]);
                command.stdout(Stdio::null()).stderr(Stdio::null());
                command.spawn().expect("compiled")
            })
            .collect();
        for mut child in children {
            assert!(child.wait().expect("own child").success());
        }
        let files = files(folder.path());
        let expected: BTreeSet<u64> = (10..10 + RUNS).collect();
        for kind in ["bin", "clog2", "slog2"] {
            let found: Vec<u64> = files[kind].iter().map(|path| barriers(path)).collect();
            assert_eq!(found.len(), RUNS as usize, "{mpi:?} {kind}: {files:?}");
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
        }
        for clog2 in &files["clog2"] {
            let slog2 = clog2.with_extension("slog2");
            assert_eq!(barriers(clog2), barriers(&slog2), "{}", slog2.display());
        }
        assert_eq!(files["meta"].len(), RUNS as usize);
        for meta in &files["meta"] {
            let text = fs::read_to_string(meta).expect("just written");
            let prefix = text
                .lines()
                .find_map(|line| line.strip_prefix("fileprefix="));
            let bin = format!("{}-0000.bin", prefix.expect("a prefix"));
            assert!(folder.path().join(&bin).exists(), "{bin}: {files:?}");
        }
        assert!(
            !files.contains_key("tmp") && !files.contains_key("blocks"),
            "{files:?}"
        );
    }
}

#[test]
fn what_is_there_stays_unless_it_is_to_be_replaced() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-again", mpi.suffix()));
        let program = compiled(mpi);
        for count in ["1", "2"] {
            succeeds(&mut reported(mpi, &program, folder.path(), &[count]));
        }
        // A name that leads to somebody else's file is taken, too, also if that is not there.
        symlink("/nonexistent", folder.path().join("told.3.clog2")).expect("own folder");
        succeeds(&mut reported(mpi, &program, folder.path(), &["3"]));
        let of = |name: &str| barriers(&folder.path().join(name));
        for kind in ["clog2", "slog2"] {
            let found = ["told", "told.2", "told.4"].map(|name| of(&format!("{name}.{kind}")));
            assert_eq!(found, [1, 2, 3], "{mpi:?}");
        }
        let mut replacing = reported(mpi, &program, folder.path(), &["5"]);
        succeeds(replacing.env("TRACE_OVERWRITE", "yes"));
        assert_eq!((of("told.clog2"), of("told.slog2")), (5, 5), "{mpi:?}");
        assert_eq!((of("told.2.clog2"), of("told.2.slog2")), (2, 2), "{mpi:?}");
    }
}

#[test]
fn a_folder_whose_name_is_no_text_gets_the_trace() {
    for mpi in installed() {
        let above = TestFolder::new(&format!("{}-no-text", mpi.suffix()));
        let folder = above.path().join(OsStr::from_bytes(b"m\xFCller"));
        fs::create_dir(&folder).expect("own folder");
        let mut command = reported(mpi, &compiled(mpi), &folder, &["4"]);
        // No order: block files are in another folder then.
        command.env_remove("TRACE_TMPDIR").env("TMPDIR", &folder);
        command.env("TMP", above.path());
        let finished = succeeds(&mut command);
        holds_one(&folder, 4, &finished.story());
        let there = fs::read_dir(above.path()).expect("own folder");
        assert_eq!(there.count(), 1, "{}", finished.story());
    }
}

#[test]
fn names_with_blanks_and_other_letters() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{} größe=1 #2", mpi.suffix()));
        let [out, tmp] = ["aus gabe", "da ten \u{3b1}"].map(|name| folder.path().join(name));
        fs::create_dir(&tmp).expect("own folder");
        let program = folder.path().join("mein prö gram");
        fs::copy(compiled(mpi), &program).expect("compiled");
        let mut command = reported(mpi, &program, folder.path(), &["4"]);
        command
            .env("TRACE_TMPDIR", &tmp)
            .env("TRACE_DIR", &out)
            .env("TRACE_OUTPUT", "%p é 100%%")
            .env_remove("HOME");
        let finished = succeeds(&mut command);
        let files = holds_one(&out, 4, &finished.story());
        let name = files["slog2"][0].file_name().expect("a name");
        assert_eq!(name, "mein prö gram é 100%.slog2");
        assert_eq!(fs::read_dir(&tmp).expect("own folder").count(), 0);
    }
}

/// The line that says what to do next is one that the command takes, of a name that looks like an option, too.
#[test]
fn a_name_that_begins_as_an_option() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-option", mpi.suffix()));
        let mut command = reported(mpi, &compiled(mpi), folder.path(), &["4"]);
        command.env("TRACE_OUTPUT", "-rf");
        let finished = succeeds(&mut command);
        let next = "; next: mpitrace report ./-rf.slog2";
        assert!(finished.stderr.contains(next), "{}", finished.story());
        assert!(folder.path().join("-rf.slog2").exists());
    }
}

/// A program whose main thread has ended before MPI_Finalize, of which the system no longer tells the name.
#[test]
fn a_program_whose_main_thread_has_ended() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-main", mpi.suffix()));
        let program = Program::c("main_ends").compile(mpi);
        let finished = succeeds(&mut reported(mpi, &program, folder.path(), &[]));
        let slog2 = folder.path().join("main_ends.slog2");
        assert!(slog2.exists(), "{}", finished.story());
    }
}

#[test]
fn a_program_with_the_longest_name() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-long", mpi.suffix()));
        let program = folder.path().join("ü".repeat(127));
        fs::copy(compiled(mpi), &program).expect("compiled");
        let finished = succeeds(&mut reported(mpi, &program, folder.path(), &["4"]));
        holds_one(folder.path(), 4, &finished.story());
    }
}

#[test]
fn a_relative_folder_counts_from_where_the_program_began() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-relative", mpi.suffix()));
        for name in ["blocks", "away"] {
            fs::create_dir(folder.path().join(name)).expect("own folder");
        }
        // The folder of the trace is there when the program begins, and is gone when the trace is written.
        let out = folder.path().join("real/out");
        fs::create_dir_all(&out).expect("own folder");
        symlink("real", folder.path().join("link")).expect("own folder");
        let arguments = ["4", "away", "../link/out"];
        let mut command = reported(mpi, &compiled(mpi), folder.path(), &arguments);
        command
            .env("TRACE_TMPDIR", "blocks")
            .env("TRACE_DIR", "link/out");
        let finished = succeeds(&mut command);
        holds_one(&out, 4, &finished.story());
        // As the user sees it, who has not gone away.
        let told = finished.stderr.contains(" -> link/out/told.slog2 ");
        assert!(told, "{}", finished.story());
    }
}

/// A name of a file that is a folder's, as `results/`: the files are in it, under their usual names.
#[test]
fn a_folder_in_place_of_a_name() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-name-of-folder", mpi.suffix()));
        let mut command = reported(mpi, &compiled(mpi), folder.path(), &["4"]);
        command
            .env("TRACE_OUTPUT", "results/")
            .env("TRACE_FILEROOT", "results/.");
        let finished = succeeds(&mut command);
        let results = folder.path().join("results");
        let files = holds_one(&results, 4, &finished.story());
        for (kind, start) in [("slog2", "told."), ("clog2", "told."), ("meta", "told-")] {
            let name = files[kind][0].file_name().expect("a file");
            assert!(name.to_string_lossy().starts_with(start), "{name:?}");
        }
    }
}

/// What an interpreter runs is named after the script. The interpreter is a program of ours that bears the name of one, as Python with MPI is not everywhere.
#[test]
fn a_script_gives_its_name() {
    for mpi in installed() {
        let folder = TestFolder::new("script");
        let python = folder.path().join("python3.11");
        fs::copy(compiled(mpi), &python).expect("own folder");
        // The program takes the first argument for a number of barriers: 4, and 0.
        for (argument, name) in [("4.py", "4.slog2"), ("-i", "python3.11.slog2")] {
            let place = folder.path().join(argument);
            fs::create_dir(&place).expect("own folder");
            succeeds(&mut reported(mpi, &python, &place, &[argument]));
            assert!(place.join(name).exists(), "{:?}", files(&place));
        }
    }
}
