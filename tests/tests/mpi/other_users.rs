//! What other users of the machine may have put where the recorder writes and reads: pipes, links and settings; and programs that
//! run with more rights than who starts them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use tests::trace::LIMIT;
use tests::{Mpi, Program, TestFolder, process};

/// A user without rights.
const OTHER: u32 = 65534;

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// Three barriers as a world of one, in this folder, with these variables. Gives what was said on stderr.
#[track_caller]
fn reported(mpi: Mpi, folder: &TestFolder, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(Program::c("told").compile(mpi));
    mpi.environment(&mut command);
    command
        .arg("3")
        .current_dir(folder.path())
        .env("LD_PRELOAD", tests::recorder())
        .env("TRACE_TMPDIR", folder.path())
        .envs(variables.iter().copied());
    let finished = process::run(&mut command, LIMIT).succeeded();
    assert_eq!(finished.stdout, "ok\n", "{}", finished.story());
    finished.stderr
}

fn fifo(path: &Path) {
    let mut command = Command::new("mkfifo");
    process::run(command.arg(path), LIMIT).succeeded();
}

fn is_root() -> bool {
    let root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if !root {
        tests::skip("only root can act as two users");
    }
    root
}

/// Pipes under all names that the recorder writes to: the program ends, and what is lost is said.
#[test]
fn pipes_in_the_place_of_files() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-pipes", mpi.suffix()));
        for name in ["counts", "dump", "told.slog2", "told.clog2"] {
            fifo(&folder.path().join(name));
        }
        let variables = [
            ("TRACE_COUNTS", "counts"),
            ("TRACE_SETTINGS_DUMP", "dump"),
            ("TRACE_OUTPUTS", "slog2,clog2"),
        ];
        let printed = reported(mpi, &folder, &variables);
        for name in ["counts", "dump"] {
            let line = format!("{name}: a pipe, not a regular file");
            assert!(printed.contains(&line), "{printed}");
        }
        assert!(folder.path().join("told.2.slog2").exists(), "{printed}");
        let overwrite = [variables[2], ("TRACE_OVERWRITE", "yes")];
        let printed = reported(mpi, &folder, &overwrite);
        for name in ["told.slog2", "told.clog2"] {
            let line = format!("{name}: a pipe, not a regular file");
            assert!(printed.contains(&line), "{printed}");
        }
        // Nothing is lost.
        assert!(printed.contains("mpitrace recover"), "{printed}");
        let blocks = folder.files();
        assert!(blocks.iter().any(|name| name.ends_with(".blocks")));
    }
}

/// A file that a setting names by mistake, or through a link, stays as it is.
#[test]
fn files_that_are_not_the_recorders_stay_as_they_are() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-not-ours", mpi.suffix()));
        let at = |name: &str| folder.path().join(name);
        fs::write(at("profile"), "export A=1\n").expect("own folder");
        symlink(at("profile"), at("link")).expect("own folder");
        fs::write(at("list"), "0 1 MPI_Init=1\n").expect("own folder");
        symlink(at("list"), at("link to a list")).expect("own folder");
        for (counts, dump) in [
            ("profile", "link"),
            ("link", "profile"),
            ("link to a list", "none"),
        ] {
            let variables = [
                ("TRACE_OUTPUTS", "none"),
                ("TRACE_COUNTS", counts),
                ("TRACE_SETTINGS_DUMP", dump),
            ];
            let printed = reported(mpi, &folder, &variables);
            assert!(printed.contains(&format!("{counts}: ")), "{printed}");
        }
        let text = |name: &str| fs::read_to_string(at(name)).expect("there");
        assert_eq!(text("profile"), "export A=1\n");
        assert_eq!(text("list"), "0 1 MPI_Init=1\n");
        // Its own are written to again.
        let variables = [
            ("TRACE_OUTPUTS", "none"),
            ("TRACE_COUNTS", "list"),
            ("TRACE_SETTINGS_DUMP", "own"),
        ];
        for _ in 0..2 {
            reported(mpi, &folder, &variables);
        }
        assert_eq!(text("list").lines().count(), 3);
        assert_eq!(text("own").matches("# settings in force").count(), 1);
    }
}

/// Settings that somebody else may have written into the working directory are left out, and that is said in one line.
#[test]
fn settings_that_others_may_have_written() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-planted", mpi.suffix()));
        let conf = folder.path().join("dumpi.conf");
        fs::write(&conf, "settings-dump stolen\noutput stolen\n").expect("own folder");
        let mut ways: Vec<(u32, Option<u32>)> = vec![(0o666, None), (0o622, None)];
        if is_root() {
            ways.push((0o644, Some(OTHER)));
        }
        for (mode, owner) in ways {
            fs::set_permissions(&conf, Permissions::from_mode(mode)).expect("own file");
            if owner.is_some() {
                chown(&conf, owner, owner).expect("root may");
            }
            let printed = reported(mpi, &folder, &[("TRACE_OUTPUTS", "slog2")]);
            assert_eq!(
                printed.matches("dumpi.conf").count(),
                1,
                "{mode:o}: {printed}"
            );
            let stolen = folder.files();
            assert!(
                !stolen.iter().any(|name| name.starts_with("stolen")),
                "{stolen:?}"
            );
        }
        // Named, it is an order.
        reported(
            mpi,
            &folder,
            &[("TRACE_OUTPUTS", "slog2"), ("TRACE_CONF", "dumpi.conf")],
        );
        assert!(folder.path().join("stolen.slog2").exists());
    }
}

/// A program that root owns and anybody may start: with the recorder linked in, it runs as without, and no variable of who
/// starts it has an effect.
#[test]
fn programs_with_more_rights_than_their_user() {
    for mpi in installed() {
        if !is_root() {
            return;
        }
        // The folder of the tests may be closed to others.
        let folder =
            std::env::temp_dir().join(format!("{}-setuid-{}", mpi.suffix(), std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        fs::set_permissions(&folder, Permissions::from_mode(0o1777)).expect("own folder");
        let program = folder.join("told");
        let compiled = Program::c("told").compile(mpi);
        let mut compiler = mpi.mpicc();
        compiler
            .args(["-O1", "-w", "-I"])
            .arg(compiled.parent().expect("a folder"))
            .arg("-I")
            .arg(tests::root().join("tests/programs"))
            .arg(tests::root().join("tests/programs/told.c"))
            .arg(tests::recorder().with_extension("a"))
            .args(["-lpthread", "-ldl", "-lm", "-o"])
            .arg(&program);
        process::run(&mut compiler, LIMIT).succeeded();
        let run = |user: u32| {
            let mut command = Command::new(&program);
            mpi.environment(&mut command);
            command
                .arg("3")
                .current_dir(&folder)
                .envs([
                    ("TMPDIR", &folder),
                    ("TRACE_TMPDIR", &folder),
                    ("HOME", &folder),
                ])
                .env("TRACE_DIR", &folder)
                .env("TRACE_COUNTS", "counts")
                .env("TRACE_SETTINGS_DUMP", "dump")
                .env("TRACE_LIBMPI", "/no such library")
                .uid(user)
                .gid(user);
            let finished = process::run(&mut command, LIMIT).succeeded();
            assert_eq!(finished.stdout, "ok\n", "{}", finished.story());
            finished.stderr
        };
        let files = || -> Vec<String> {
            let names = fs::read_dir(&folder).expect("own folder");
            let names = names.map(|entry| entry.expect("own folder").file_name());
            let names = names.map(|name| name.to_string_lossy().into_owned());
            // The MPI library makes files of its own.
            let ours = |name: &String| {
                ["counts", "dump", "libtrace", "told."]
                    .iter()
                    .any(|ours| name.starts_with(ours))
            };
            names.filter(ours).collect()
        };
        fs::set_permissions(&program, Permissions::from_mode(0o4755)).expect("own file");
        let printed = run(OTHER);
        assert_eq!(printed.matches("nothing is traced").count(), 1, "{printed}");
        assert!(!printed.contains("no such library"), "{printed}");
        assert_eq!(files(), [""; 0]);
        // Without these rights it is traced.
        fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("own file");
        let printed = run(OTHER);
        assert!(printed.contains("no such library"), "{printed}");
        assert!(files().iter().any(|name| name == "counts"), "{printed}");
        fs::remove_dir_all(&folder).expect("own folder");
    }
}
