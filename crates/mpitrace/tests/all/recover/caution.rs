//! What `mpitrace recover` does not do unasked, and does not trust.

use super::*;
use std::path::Path;
use test_support::{patience, program_file};

#[test]
fn of_a_run_that_goes_on_nothing_is_made_unasked() {
    let folder = Folder::new("running");
    let mut bytes = file(&exchange(0, 1, 4000), &KILLED);
    let at = offset_of!(FileHeader, pid);
    bytes[at..at + 4].copy_from_slice(&std::process::id().to_ne_bytes());
    assert!(bytes.len() >= 4 * BLOCK_SIZE);
    // The second block is being used again: what follows it belongs to a later moment.
    bytes[2 * BLOCK_SIZE..2 * BLOCK_SIZE + 4].fill(0);
    let path = folder.write("a.blocks", &bytes);
    let mapped = fs::File::open(&path).unwrap();
    // SAFETY: nobody else writes to the file of this test.
    let mapped = unsafe { memmap2::Mmap::map(&mapped) }.unwrap();

    let (out, err) = folder.fails(&["recover", "."]);
    assert!(out.contains("calls, still running\n"), "{out}");
    assert!(err.contains("is still writing to it"), "{err}");
    assert_eq!(folder.names(), ["a.blocks"]);

    let counted = folder.succeeds(&["recover", "--count", "."]);
    let calls: u64 = counted.split(' ').nth(1).unwrap().parse().unwrap();
    assert!((1000..2000).contains(&calls), "{counted}");
    folder.succeeds(&["recover", "--force", "--remove", "."]);
    assert!(path.exists(), "its process needs it");
    let states = lines_with(&folder, "p.slog2", "name=MPI_Send") as u64;
    assert_eq!(states, calls + 1);

    drop(mapped);
    // Now it is a file with a hole.
    let (_, err) = folder.fails(&["recover", "--count", "."]);
    assert!(err.contains("block 1 was expected"), "{err}");
}

/// A program's name in a block file, which anybody may have written, leads to no other folder.
#[test]
fn names_from_block_files_stay_in_the_folder() {
    let folder = Folder::new("names");
    let below = folder.0.join("a/b");
    fs::create_dir_all(&below).unwrap();
    for (nth, name) in ["../../xx", "/tmp/../xx", "..", "a\nb"].iter().enumerate() {
        let mut b = exchange(0, 1, 3);
        let process = blockfile::define::ProcessDefinition {
            program: (*name).to_owned(),
            ..Default::default()
        };
        b.define(&Definition::Process(process));
        let path = folder.write("x.blocks", &file(&b, &KILLED));
        let out = below.join(nth.to_string());
        fs::create_dir(&out).unwrap();
        let run = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
            .args(["recover", "--formats", "slog2", "--dir"])
            .args([&out, &path])
            .current_dir(&below)
            .output()
            .unwrap();
        assert!(run.status.success(), "{name:?}: {}", stderr(&run));
        let names = || fs::read_dir(&out).unwrap().map(|e| e.unwrap().file_name());
        assert_eq!(names().count(), 1, "{name:?}: {:?}", stdout(&run));
    }
    assert_eq!(folder.names(), ["a", "x.blocks"]);
    assert_eq!(fs::read_dir(folder.0.join("a")).unwrap().count(), 1);
}

/// In a folder that is open to others there may be pipes, links and others' files: nothing is waited for, and they are left out.
#[test]
fn what_others_have_put_into_a_folder_is_left_out() {
    use std::os::unix::fs::{chown, symlink};
    let folder = Folder::new("others");
    let limit = patience().as_secs();
    let whole = file(&exchange(0, 1, 3), &KILLED);
    folder.write("a.blocks", &whole);
    let elsewhere = folder.write("elsewhere", &whole);
    symlink(elsewhere, folder.0.join("link.blocks")).unwrap();
    let made = Command::new("mkfifo")
        .arg(folder.0.join("pipe.blocks"))
        .status();
    assert!(made.unwrap().success());
    for arguments in [
        &["recover", "--count", "."][..],
        &["status", "--ended", "."],
        &["io", "--quiet", "."],
        &["info", "."],
        &["convert", ".", "out.slog2"],
    ] {
        let mut command = Command::new("timeout");
        let program = env!("CARGO_BIN_EXE_mpitrace");
        let run = command.arg(limit.to_string()).arg(program).args(arguments);
        let run = run.current_dir(&folder.0).output().unwrap();
        let (code, printed) = (run.status.code(), stderr(&run));
        if arguments[0] == "info" {
            // It takes files only.
            assert_ne!(code, Some(124), "{printed}");
            continue;
        }
        assert_eq!(code, Some(0), "{arguments:?}: {printed}");
        assert!(
            printed.contains("link.blocks: a symbolic link"),
            "{printed}"
        );
        assert!(printed.contains("left out (and 1 more)"), "{printed}");
    }
    // Named, it is told what it is.
    for command in ["recover", "status"] {
        let mut timed = Command::new("timeout");
        let run = timed
            .arg(limit.to_string())
            .arg(env!("CARGO_BIN_EXE_mpitrace"))
            .args([command, "pipe.blocks"]);
        let run = run.current_dir(&folder.0).output().unwrap();
        assert_ne!(run.status.code(), Some(124), "{command}: {}", stderr(&run));
    }
    // To root, files are anybody's.
    if fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
        use std::os::unix::fs::PermissionsExt;
        use std::os::unix::process::CommandExt;
        fs::remove_file(folder.0.join("link.blocks")).unwrap();
        fs::remove_file(folder.0.join("pipe.blocks")).unwrap();
        chown(folder.0.join("a.blocks"), Some(65533), Some(65533)).unwrap();
        fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o777)).unwrap();
        // The command may lie where others cannot come to.
        let program = folder.0.join("mpitrace");
        program_file::copy(Path::new(env!("CARGO_BIN_EXE_mpitrace")), &program);
        let with = |options: &[&str]| {
            let mut command = Command::new(&program);
            command.args(["recover", "--count"]).args(options).arg(".");
            command
                .current_dir(&folder.0)
                .uid(65534)
                .gid(65534)
                .output()
                .unwrap()
        };
        let refused = with(&[]);
        assert_eq!(refused.status.code(), Some(1), "{}", stdout(&refused));
        assert!(
            stderr(&refused).contains("another user's file"),
            "{}",
            stderr(&refused)
        );
        let reported = with(&["--any-owner"]);
        assert!(reported.status.success(), "{}", stderr(&reported));
        assert!(stdout(&reported).contains("MPI_Send=3"));
    } else {
        test_support::skip("files of another user: only root can act as two users");
    }
}

/// Without arguments the folders are those of the settings, whatever source these come from.
#[test]
fn block_files_are_looked_for_where_the_settings_say() {
    use std::os::unix::fs::PermissionsExt;
    let count = |folder: &Folder, variables: &[(&str, &str)], command: &str| {
        let run = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
            .args(match command {
                "recover" => ["recover", "--count"],
                _ => ["status", "--ended"],
            })
            .current_dir(&folder.0)
            .env("XDG_CONFIG_HOME", folder.0.join("config"))
            .envs(
                ["TRACE_TMPDIR", "MPE_TMPDIR", "TRACE_SETTINGS", "TRACE_CONF"]
                    .map(|name| (name, "")),
            )
            .env("DUMPI_CONF", "")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", stderr(&run));
        stdout(&run)
    };
    let looked_for = |name: &str, file_name: &str, variables: &[(&str, &str)]| {
        let folder = Folder::new(name);
        fs::create_dir(folder.0.join("my blocks")).unwrap();
        fs::create_dir(folder.0.join("config")).unwrap();
        folder.write("my blocks/a.blocks", &file(&exchange(0, 1, 4000), &KILLED));
        if !file_name.is_empty() {
            let path = folder.write(file_name, b"tmpdir my%x20blocks\n");
            fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
        }
        let counted = count(&folder, variables, "recover");
        assert!(counted.contains("0 4000 MPI_Send=4000"), "{counted}");
        let told = count(&folder, variables, "status");
        assert!(told.contains("a, rank 0 of 1"), "{told}");
    };
    looked_for("of-run", "dumpi.conf", &[]);
    looked_for("of-user", "config/libtrace.conf", &[]);
    looked_for("by-lines", "", &[("TRACE_SETTINGS", "tmpdir my%x20blocks")]);
}
