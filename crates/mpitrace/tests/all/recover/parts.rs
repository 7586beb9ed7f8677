//! `mpitrace recover --part I/N` and `--join`: the bytes of one job, whatever their number and order; and what is said of parts that
//! do not belong together.

use super::{Folder, KILLED, exchange, file, stderr};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use test_support::patience;

/// Block files of a run of five ranks.
fn run(name: &str, messages: i64) -> Folder {
    let folder = Folder::new(name);
    fs::create_dir(folder.0.join("blocks")).unwrap();
    for rank in 0..5 {
        let name = format!("blocks/{rank}.blocks");
        folder.write(&name, &file(&exchange(rank, 5, messages), &KILLED));
    }
    folder
}

const COMMON: [&str; 6] = [
    "recover",
    "--formats=clog2,slog2,dumpi",
    "--leaf",
    "2000",
    "--dir",
    "out",
];

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&COMMON, more, &["blocks"]].concat()
}

fn part(folder: &Folder, which: &str) {
    let printed = folder.succeeds(&arguments(&["--part", which]));
    assert!(printed.contains(".part-"), "{printed}");
}

/// Names and contents of the files of a folder.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// What one job makes of the run.
fn whole(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    folder.succeeds(&arguments(&["--merge", "parallel"]));
    let out = folder.0.join("out");
    let made = contents(&out);
    fs::remove_dir_all(out).unwrap();
    made
}

#[track_caller]
fn joins_to(folder: &Folder, expected: &[(String, Vec<u8>)], what: &str) {
    folder.succeeds(&arguments(&["--join"]));
    let out = folder.0.join("out");
    let made = contents(&out);
    let names = |files: &[(String, Vec<u8>)]| -> Vec<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&made), names(expected), "{what}");
    for ((name, one), (_, other)) in made.iter().zip(expected) {
        assert!(one == other, "{what}: {name} has other bytes");
    }
    fs::remove_dir_all(out).unwrap();
}

fn only_part(folder: &Folder, which: &str) -> String {
    let names = fs::read_dir(folder.0.join("out")).unwrap();
    let ending = format!(".part-{which}");
    let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.find(|name| name.ends_with(&ending)).unwrap()
}

#[test]
fn parts_make_the_bytes_of_one_job() {
    let folder = run("parts", 700);
    let expected = whole(&folder);
    assert_eq!(expected.len(), 2 + 6);
    part(&folder, "1/1");
    joins_to(&folder, &expected, "one");
    for which in ["2/2", "1/2"] {
        part(&folder, which);
    }
    joins_to(&folder, &expected, "two");
    for which in ["3/5", "5/5", "1/5", "2/5", "4/5", "3/5"] {
        part(&folder, which);
    }
    joins_to(&folder, &expected, "five, one of them twice");
    let jobs: Vec<_> = (1..=3)
        .map(|nth| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
            let which = format!("{nth}/3");
            command.args(arguments(&["--threads", "2", "--part", &which]));
            let command = command.current_dir(&folder.0).env("TZ", "UTC");
            command.stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut job in jobs {
        assert!(job.wait().unwrap().success());
    }
    joins_to(&folder, &expected, "side by side");
    // More jobs than there are windows.
    for nth in 1..=40 {
        let which = format!("{nth}/40");
        let small = [
            "recover",
            "--dir",
            "out",
            "--part",
            &which,
            "blocks/0.blocks",
        ];
        // Four ranks are missing, which the one says who joins.
        let output = folder.run(&small);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let (_, err) = folder.fails(&["recover", "--dir", "out", "--join", "blocks/0.blocks"]);
    assert!(err.contains("no block file of rank 1-4"), "{err}");
    let made = contents(&folder.0.join("out"));
    folder.fails(&[
        "recover",
        "--dir",
        "one",
        "--merge",
        "parallel",
        "blocks/0.blocks",
    ]);
    assert!(
        made == contents(&folder.0.join("one")),
        "forty jobs for little"
    );
}

#[test]
fn dumpi_files_get_their_folders() {
    let folder = run("parts-folders", 3);
    let folders = |more: &[&'static str]| {
        let all = [
            &["recover", "--dumpi-folders", "--dir", "out"],
            more,
            &["blocks"],
        ];
        folder.succeeds(&all.concat())
    };
    for out in [vec!["--part", "2/2"], vec!["--part", "1/2"], vec!["--join"]] {
        folders(&out);
    }
    let meta = |name: &str| name.ends_with(".meta");
    let names = fs::read_dir(folder.0.join("out")).unwrap();
    let names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let file = names.iter().find(|name| meta(name)).unwrap();
    let ranks = format!("out/{}.0", file.trim_end_matches(".meta"));
    assert_eq!(fs::read_dir(folder.0.join(ranks)).unwrap().count(), 5);
    folder.succeeds(&["check", &format!("out/{file}")]);
    // Without parts, too.
    folders(&[]);
    let count = fs::read_dir(folder.0.join("out")).unwrap().count();
    assert_eq!(count, 2 * 3);
}

#[test]
fn parts_that_do_not_belong_together_are_named() {
    let folder = run("parts-wrong", 100);
    let expected = whole(&folder);
    let (_, err) = folder.fails(&arguments(&["--join"]));
    assert!(
        err.contains("no part of this run is here: run mpitrace recover --part I/N"),
        "{err}"
    );

    // One is missing.
    part(&folder, "1/3");
    part(&folder, "3/3");
    let (_, err) = folder.fails(&arguments(&["--join"]));
    assert!(
        err.contains(".part-2-of-3: not here: run mpitrace recover --part 2/3"),
        "{err}"
    );
    assert!(!folder.0.join("out/p.slog2").exists());

    // One that claims to be of more parts than could be told.
    let first = folder.0.join("out").join(only_part(&folder, "1-of-3"));
    let third = folder.0.join("out").join(only_part(&folder, "3-of-3"));
    let kept = [&first, &third].map(|path| fs::read(path).unwrap());
    fs::remove_file(&third).unwrap();
    let mut bytes = kept[0].clone();
    bytes[20..24].copy_from_slice(&u32::MAX.to_le_bytes());
    fs::write(&first, &bytes).unwrap();
    let (_, err) = folder.fails(&arguments(&["--join"]));
    assert!(err.contains("--part 17/4294967295"), "{err}");
    assert!(err.trim_end().ends_with(", and so on"), "{err}");
    fs::write(&first, &kept[0]).unwrap();
    fs::write(&third, &kept[1]).unwrap();

    // Numbers of jobs that disagree.
    part(&folder, "2/4");
    let (_, err) = folder.fails(&arguments(&["--join"]));
    assert!(err.contains("part 2/4, but"), "{err}");
    assert!(err.contains(".part-1-of-3 is part 1/3"), "{err}");
    let stray = only_part(&folder, "2-of-4");
    fs::remove_file(folder.0.join("out").join(stray)).unwrap();
    part(&folder, "2/3");

    // One that ends too early, and one that is something else.
    let second = folder.0.join("out").join(only_part(&folder, "2-of-3"));
    let bytes = fs::read(&second).unwrap();
    fs::write(&second, &bytes[..bytes.len() - 40]).unwrap();
    let (_, err) = folder.fails(&arguments(&["--join"]));
    assert!(
        err.contains("part 2/3 is damaged: run mpitrace recover --part 2/3"),
        "{err}"
    );
    // A byte in the middle, as disks and networks change them.
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 4;
    fs::write(&second, &changed).unwrap();
    let (_, err) = folder.fails(&arguments(&["--join"]));
    assert!(err.contains("part 2/3 is damaged"), "{err}");
    for wrong in [&b""[..], b"nonsense", &[7; 100]] {
        fs::write(&second, wrong).unwrap();
        let (_, err) = folder.fails(&arguments(&["--join"]));
        assert!(err.contains(".part-2-of-3: not a part"), "{err}");
    }
    fs::write(&second, &bytes).unwrap();

    // A DUMPI file of a part is gone.
    let dumpi = fs::read_dir(folder.0.join("out")).unwrap();
    let mut dumpi = dumpi.map(|entry| entry.unwrap().path());
    let dumpi = dumpi.find(|path| path.to_str().unwrap().contains("part-2-of-3.dumpi"));
    fs::remove_file(dumpi.unwrap()).unwrap();
    let (_, err) = folder.fails(&arguments(&["--join"]));
    assert!(err.contains("not here as part 2/3 has made it"), "{err}");
    part(&folder, "2/3");
    joins_to(&folder, &expected, "after all that");
}

#[test]
fn parts_of_other_block_files_or_options_are_refused() {
    let folder = run("parts-stale", 100);
    part(&folder, "1/2");
    part(&folder, "2/2");
    let (_, err) = folder.fails(&[
        "recover",
        "--formats=slog2,dumpi",
        "--dir",
        "out",
        "--join",
        "blocks",
    ]);
    assert!(
        err.contains("part 1/2 was made of other block files, or with other options"),
        "{err}"
    );

    // The same run, of which a rank now has one call more.
    folder.write("blocks/3.blocks", &file(&exchange(3, 5, 101), &KILLED));
    let (_, err) = folder.fails(&arguments(&["--join"]));
    assert!(
        err.contains("part 1/2 was made of other block files"),
        "{err}"
    );
    assert!(err.contains("run mpitrace recover --part 1/2"), "{err}");
    part(&folder, "1/2");
    let (_, err) = folder.fails(&arguments(&["--join"]));
    assert!(
        err.contains("part 2/2 was made of other block files"),
        "{err}"
    );

    // A part of another run under the name of one of this.
    let other = run("parts-other", 90);
    part(&other, "2/2");
    let name = only_part(&folder, "2-of-2");
    let foreign = other.0.join("out").join(only_part(&other, "2-of-2"));
    fs::copy(foreign, folder.0.join("out").join(name)).unwrap();
    let (_, err) = folder.fails(&arguments(&["--join"]));
    assert!(
        err.contains("part 2/2 was made of other block files"),
        "{err}"
    );
    part(&folder, "2/2");
    let out = folder.0.join("out");
    let aside = folder.0.join("aside");
    fs::rename(&out, &aside).unwrap();
    let expected = whole(&folder);
    fs::rename(&aside, &out).unwrap();
    joins_to(&folder, &expected, "made anew");
}

#[test]
fn what_cannot_be_made_in_parts_is_refused() {
    let folder = run("parts-refused", 1);
    for (more, words) in [
        (
            vec!["--part", "1/2", "--merge", "tree"],
            "--merge tree does not do",
        ),
        (
            vec!["--part", "1/2", "--formats", "dumpi"],
            "need slog2 among --formats",
        ),
        (
            vec!["--part", "3/2"],
            "expected I/N, such as 3/8, where I is from 1 to N",
        ),
        (vec!["--part", "1/2", "--force"], "cannot be used with"),
        (vec!["--part", "1/2", "--join"], "cannot be used with"),
    ] {
        let output = folder.run(&[&["recover"], &more[..], &["blocks"]].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(
            stderr(&output).contains(words),
            "{more:?}: {}",
            stderr(&output)
        );
    }
    assert_eq!(folder.names(), ["blocks"]);
}

/// A job that is killed leaves no part that would be taken, and can be run again.
#[test]
fn killed_jobs_leave_no_part() {
    let folder = run("parts-killed", 30_000);
    let expected = whole(&folder);
    part(&folder, "2/2");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.args(arguments(&["--part", "1/2"]));
    command.current_dir(&folder.0).env("TZ", "UTC");
    let mut job = command.stdout(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    let is_begun = || {
        let mut names = fs::read_dir(folder.0.join("out")).unwrap();
        names.any(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.contains(".part-1-of-2") && name.ends_with(".tmp")
        })
    };
    while !is_begun() {
        assert!(begun.elapsed() < patience());
        assert!(job.try_wait().unwrap().is_none(), "too fast to be killed");
    }
    job.kill().unwrap();
    job.wait().unwrap();
    let (_, err) = folder.fails(&arguments(&["--join"]));
    assert!(
        err.contains(".part-1-of-2: not here: run mpitrace recover --part 1/2"),
        "{err}"
    );
    part(&folder, "1/2");
    joins_to(&folder, &expected, "after a kill");
}
