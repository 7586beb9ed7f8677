//! OTF2 archives on the command line: they say what `mpitrace print`, `info` and `stats` say of the trace. `otf2-print`, which is no part of
//! mpitrace, says what is in an archive.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::exported::{fails, mpitrace, of_each_format, stderr, succeeds, synth};
use test_support::{golden, skip};

/// Beginning of what is said where the library is missing.
const NO_LIBRARY: &str = "OTF2 archives are read and written by the OTF2 library 3.0 or later, which is not here; install";

/// A folder with a trace of three ranks, `run.slog2`. `None` where the library is missing, which is said.
fn folder() -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let at = folder.path();
    synth(at, "run.slog2");
    let output = mpitrace(at, &["convert", "-q", "run.slog2", "probe.otf2"]);
    if stderr(&output).contains(NO_LIBRARY) {
        skip("the OTF2 library is not installed");
        return None;
    }
    assert!(output.status.success(), "{}", stderr(&output));
    fs::remove_dir_all(at.join("probe.otf2")).expect("an archive");
    Some(folder)
}

/// An event as `otf2-print` prints it: kind, location, time in ns, the rest.
type Printed = (String, u64, u64, String);

/// The events of an archive. `None` where there is no `otf2-print`, which is said.
fn printed(at: &Path, archive: &str) -> Option<Vec<Printed>> {
    let anchor = at.join(archive).join("traces.otf2");
    let output = match Command::new("otf2-print").arg(anchor).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            skip("otf2-print is not installed");
            return None;
        }
        output => output.expect("otf2-print runs"),
    };
    let warnings = stderr(&output);
    assert!(output.status.success() && warnings.is_empty(), "{warnings}");
    let text = String::from_utf8_lossy(&output.stdout);
    let events = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let kind = words.next()?;
        let (location, time) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let rest = words.collect::<Vec<_>>().join(" ");
        Some((kind.to_owned(), location, time, rest))
    });
    Some(events.collect())
}

/// How often something is there.
type Counts = BTreeMap<String, u64>;

fn count(counts: &mut Counts, what: String) {
    *counts.entry(what).or_default() += 1;
}

/// The text between the first quotes.
fn quoted(text: &str) -> &str {
    text.split('"').nth(1).unwrap_or_default()
}

/// Rows of `mpitrace print --json`.
fn rows(at: &Path, name: &str) -> Vec<serde_json::Value> {
    let output = succeeds(at, &["print", "--json", name]);
    let text = String::from_utf8(output.stdout).expect("text");
    let rows = text.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>().expect("JSON")
}

/// Compares an archive with the rows that `mpitrace print` prints of the same trace: starts and ends of calls, roots of collective calls, and
/// bytes of accesses to files.
#[track_caller]
fn says_what_the_rows_say(rows: &[serde_json::Value], events: &[Printed]) {
    let (mut expected, mut found) = (Counts::new(), Counts::new());
    for row in rows {
        let number = |name: &str| row[name].as_u64().expect(name);
        let (rank, function) = (number("rank"), row["function"].as_str().expect("a name"));
        let (start, end) = (
            number("start_ns"),
            number("start_ns") + number("duration_ns"),
        );
        count(
            &mut expected,
            format!("{rank} enters {function} at {start}"),
        );
        count(&mut expected, format!("{rank} leaves {function} at {end}"));
        let argument = |name: &str| row["arguments"][name].as_i64();
        let is_blocking = !function.starts_with("MPI_I");
        // On intercommunicators it may be MPI_ROOT, which is below all others, or MPI_PROC_NULL, of which the archive tells only where the trace knows
        // the other group: then it is `THIS_GROUP`, which is not compared.
        let root = match argument("root") {
            Some(root @ 0..) => Some(root.to_string()),
            Some(..=-3) => Some("SELF".to_owned()),
            _ => None,
        };
        if let (Some(root), true) = (root, is_blocking) {
            count(&mut expected, format!("{rank} root {root} at {end}"));
        }
        let is_access = ["read", "write"]
            .map(|word| function.contains(word))
            .contains(&true);
        if let (Some(bytes), true) = (argument("bytes"), is_access && !function.ends_with("_end")) {
            count(
                &mut expected,
                format!("{rank} asks for {bytes} bytes at {start}"),
            );
        }
    }
    for (kind, location, time, text) in events {
        let rank = location & 0xffff_ffff;
        let after = |sign: &str| {
            let rest = text.split_once(sign).map_or("", |(_, rest)| rest);
            rest.split([' ', ',']).next().unwrap_or_default().to_owned()
        };
        match kind.as_str() {
            "ENTER" => count(
                &mut found,
                format!("{rank} enters {} at {time}", quoted(text)),
            ),
            "LEAVE" => count(
                &mut found,
                format!("{rank} leaves {} at {time}", quoted(text)),
            ),
            "MPI_COLLECTIVE_END" if !["NONE", "THIS_GROUP"].contains(&&*after("Root: ")) => {
                count(
                    &mut found,
                    format!("{rank} root {} at {time}", after("Root: ")),
                );
            }
            "IO_OPERATION_BEGIN" => {
                let bytes = after("Bytes Request: ");
                count(
                    &mut found,
                    format!("{rank} asks for {bytes} bytes at {time}"),
                );
            }
            _ => {}
        }
    }
    let missing: Vec<_> = expected
        .iter()
        .filter(|(what, count)| found.get(*what) != Some(*count))
        .collect();
    let surplus: Vec<_> = found
        .iter()
        .filter(|(what, count)| expected.get(*what) != Some(*count))
        .collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "missing {missing:?}, surplus {surplus:?}"
    );
}

#[test]
fn dumpi_traces_have_all_calls_and_messages() {
    let Some(folder) = folder() else {
        return;
    };
    let at = folder.path();
    let mut messages = Counts::new();
    for (name, requests) in [
        ("nonblock-n4-default", true),
        ("mpiio-n2-default", false),
        ("coll-n4-default", false),
        ("typecomm-n4-default", false),
        ("thr-n2-default", false),
        ("ring-n4-default", true),
        ("rma-n2-default", false),
    ] {
        let metas = golden::files(format!("dumpi/{name}"), ".meta");
        let meta = metas.first().expect(name).display().to_string();
        let (slog2, archive) = (format!("{name}.slog2"), format!("{name}.otf2"));
        succeeds(at, &["convert", "-q", &meta, &slog2]);
        succeeds(at, &["convert", "-q", &meta, &archive]);
        let Some(events) = printed(at, &archive) else {
            return;
        };
        says_what_the_rows_say(&rows(at, &slog2), &events);
        let info = succeeds(at, &["info", "--json", &slog2]);
        let info: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
        let arrows = info[0]["arrows"].as_u64().expect("arrows");
        let of = |kinds: &[&str]| {
            let of = |event: &&Printed| kinds.contains(&event.0.as_str());
            events.iter().filter(of).count() as u64
        };
        assert_eq!(of(&["MPI_SEND", "MPI_ISEND"]), arrows, "{name}");
        assert_eq!(of(&["MPI_RECV", "MPI_IRECV"]), arrows, "{name}");
        assert_eq!(
            of(&["MPI_ISEND"]) > 0 && of(&["MPI_IRECV"]) > 0,
            requests,
            "{name}"
        );
        assert!(of(&["MPI_ISEND_COMPLETE"]) <= of(&["MPI_ISEND"]), "{name}");
        messages.insert(name.to_owned(), arrows);
        // The same trace as SLOG2 has the same archive.
        succeeds(at, &["convert", "-q", "--force", &slog2, &archive]);
        let again = printed(at, &archive).expect("it was printed before");
        says_what_the_rows_say(&rows(at, &slog2), &again);
        assert_eq!(events.len(), again.len(), "{name}");
    }
    assert!(messages["ring-n4-default"] > 0 && messages["nonblock-n4-default"] > 0);
}

#[test]
fn counts_are_those_of_info_and_stats() {
    let Some(folder) = folder() else {
        return;
    };
    let at = folder.path();
    let output = succeeds(at, &["convert", "run.slog2", "run.otf2"]);
    let said = stderr(&output);
    assert!(said.contains("run.otf2: written"), "{said}");
    assert!(said.contains("x colour of a category"), "{said}");
    let Some(events) = printed(at, "run.otf2") else {
        return;
    };
    let info = succeeds(at, &["info", "--json", "run.slog2"]);
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
    let number = |what: &str| info[0][what].as_u64().expect(what);
    let of = |kind: &str| events.iter().filter(|event| event.0 == kind).count() as u64;
    assert_eq!(of("ENTER"), number("states") + number("events"));
    assert_eq!(of("LEAVE"), of("ENTER"));
    assert_eq!([of("MPI_SEND"), of("MPI_RECV")], [number("arrows"); 2]);
    let stats = ["stats", "--by", "rank", "--format", "csv", "run.slog2"];
    let stats = String::from_utf8(succeeds(at, &stats).stdout).expect("text");
    let mut ranks = 0;
    for row in stats.lines().skip(1) {
        let mut columns = row.split(',').map(|column| column.parse::<u64>());
        let [Some(Ok(rank)), Some(Ok(states))] = [columns.next(), columns.next()] else {
            continue;
        };
        let is_state = |event: &&Printed| {
            event.0 == "ENTER" && event.1 == rank && quoted(&event.3) != "checkpoint written"
        };
        let found = events.iter().filter(is_state).count() as u64;
        assert_eq!(found, states, "rank {rank}");
        ranks += 1;
    }
    assert_eq!(ranks, 3, "{stats}");
}

#[test]
fn every_format_becomes_an_archive() {
    let Some(folder) = folder() else {
        return;
    };
    let at = folder.path();
    for (nth, name) in of_each_format(at).into_iter().enumerate() {
        let to = format!("{nth}.otf2");
        succeeds(at, &["convert", "-q", name, &to]);
        let Some(events) = printed(at, &to) else {
            return;
        };
        let has = |kind: &str, location: u64, text: &str| {
            let mut events = events.iter();
            events.any(|event| event.0 == kind && event.1 == location && event.3.contains(text))
        };
        assert!(has("ENTER", 2, "MPI_Allreduce"), "{name}");
        assert!(has("MPI_COLLECTIVE_END", 1, "ALLREDUCE"), "{name}");
        let kind = if name == "run.meta" {
            "MPI_IRECV"
        } else {
            "MPI_RECV"
        };
        assert!(has(kind, 0, "MPI_COMM_WORLD"), "{name}");
    }
    // Every command that writes drawables can.
    succeeds(
        at,
        &["filter", "-q", "--rank", "1", "run.slog2", "part.otf2"],
    );
    synth(at, "synth.otf2");
    succeeds(
        at,
        &[
            "convert",
            "-q",
            "--to",
            "otf2",
            "run.slog2",
            "folder-of-any-name",
        ],
    );
}

/// Jobs that write an archive together make what one process makes.
#[test]
fn an_archive_is_joined_of_parts() {
    let Some(folder) = folder() else {
        return;
    };
    let at = folder.path();
    let part = |nth| ["convert", "-q", "--part", nth, "run.slog2", "run.parts"];
    let join = [
        "convert",
        "-q",
        "--join",
        "run.parts",
        "run.slog2",
        "joined.otf2",
    ];
    for bad in ["0/2", "3/2", "2", "x/2"] {
        fails(at, &part(bad), 2, "expected I/N, such as 3/8");
    }
    fails(at, &join, 1, "run.parts: No such file");
    succeeds(at, &part("2/2"));
    let missing = "run.parts: these are not all the parts of this archive";
    fails(at, &join, 1, missing);
    fails(at, &part("2/2"), 1, "part-2-of-2: File exists");
    succeeds(at, &part("1/2"));
    let to_slog2 = ["convert", "--join", "run.parts", "run.slog2", "x.slog2"];
    fails(at, &to_slog2, 2, "--join has no meaning for x.slog2");
    let other = [&part("1/2")[..], &["--to", "alog"]].concat();
    fails(at, &other, 2, "--part writes a part of an OTF2 archive");
    assert_eq!(names(at), ["run.parts", "run.slog2"]);
    succeeds(at, &join);
    assert_eq!(names(at), ["joined.otf2", "run.slog2"]);
    succeeds(at, &["convert", "-q", "run.slog2", "run.otf2"]);
    let by_location = |archive| {
        let mut found: BTreeMap<u64, Vec<(String, u64, String)>> = BTreeMap::new();
        for (kind, location, time, rest) in printed(at, archive)? {
            // Without references such as `<12>`.
            let words = rest.split(' ').filter(|word| !word.starts_with('<'));
            let rest = words.collect::<Vec<_>>().join(" ");
            found.entry(location).or_default().push((kind, time, rest));
        }
        Some(found)
    };
    assert_eq!(by_location("joined.otf2"), by_location("run.otf2"));
}

/// Names in a folder, sorted.
fn names(at: &Path) -> Vec<String> {
    let names = fs::read_dir(at).expect("folder");
    let mut names: Vec<String> = names
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

#[test]
fn nothing_is_written_over_or_left_behind() {
    let Some(folder) = folder() else {
        return;
    };
    let at = folder.path();
    let convert = ["convert", "-q", "run.slog2", "x.otf2"];
    succeeds(at, &convert);
    assert_eq!(
        names(&at.join("x.otf2")),
        ["traces", "traces.def", "traces.otf2"]
    );
    let anchor = at.join("x.otf2/traces.otf2");
    fs::write(&anchor, "precious").expect("written");
    fails(
        at,
        &convert,
        2,
        "x.otf2: exists already; --force writes over it",
    );
    assert_eq!(fs::read(&anchor).expect("there"), b"precious");
    // Of a damaged trace there is no half of an archive, and the older one stays.
    let mut bytes = fs::read(at.join("run.slog2")).expect("there");
    let half = bytes.len() / 2;
    bytes[100..half].fill(0xff);
    fs::write(at.join("bad.slog2"), bytes).expect("written");
    let bad = ["convert", "-q", "--force", "bad.slog2", "x.otf2"];
    fails(at, &bad, 1, "bad.slog2: ");
    assert_eq!(fs::read(&anchor).expect("there"), b"precious");
    succeeds(at, &["convert", "-q", "--force", "run.slog2", "x.otf2"]);
    assert_ne!(fs::read(&anchor).expect("there"), b"precious");
    // A folder that is no archive, and files, are not replaced.
    fs::create_dir(at.join("folder")).expect("made");
    for force in [&["--force"][..], &[]] {
        let to = ["convert", "-q", "--to", "otf2", "run.slog2"];
        let to = |name| [&to[..], force, &[name]].concat();
        fails(at, &to("folder"), 2, "folder: this is a folder");
        fails(
            at,
            &to("/dev/null"),
            2,
            "/dev/null: an OTF2 archive is a folder",
        );
        fails(at, &to("-"), 2, "-: an OTF2 archive is a folder");
    }
    let into_run = [
        "convert",
        "-q",
        "--force",
        "--to",
        "otf2",
        "x.otf2/../run.slog2",
    ];
    fails(
        at,
        &[&into_run[..], &["bad.slog2"]].concat(),
        2,
        "bad.slog2: an OTF2 archive",
    );
    fails(
        at,
        &["convert", "run.slog2", "missing/x.otf2"],
        1,
        "missing/x.otf2: No such file",
    );
    assert_eq!(names(at), ["bad.slog2", "folder", "run.slog2", "x.otf2"]);
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    let Some(folder) = folder() else {
        return;
    };
    let at = folder.path();
    // With this signal ignored, a file that would become larger is an error, as a full disk is.
    let limited = "trap '' XFSZ; ulimit -f 16; exec \"$0\" convert -q run.slog2 x.otf2";
    let mut command = Command::new("sh");
    command
        .args(["-c", limited, env!("CARGO_BIN_EXE_mpitrace")])
        .current_dir(at);
    let output = command.output().expect("sh runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("x.otf2: File too large"), "{said}");
    assert_eq!(names(at), ["run.slog2"]);
}

#[test]
fn without_the_library_one_sentence_says_what_to_install() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let at = folder.path();
    synth(at, "run.slog2");
    // Files of these names that are no libraries end the search for them.
    let hidden = at.join("hidden");
    fs::create_dir(&hidden).expect("made");
    for name in [
        "libopen-trace-format2.so.10",
        "libopen-trace-format2.so",
        "libotf2.so",
        "libotf2.so.10",
    ] {
        fs::write(hidden.join(name), "no library").expect("written");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command
        .args(["convert", "-q", "run.slog2", "x.otf2"])
        .env("LD_LIBRARY_PATH", &hidden)
        .current_dir(at);
    let output = command.output().expect("mpitrace runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let sentence = format!("mpitrace: x.otf2: {NO_LIBRARY} libotf2-trace-dev (Debian, Ubuntu)");
    assert!(
        said.starts_with(&sentence) && said.lines().count() == 1,
        "{said}"
    );
    assert_eq!(names(at), ["hidden", "run.slog2"]);
    fs::write(
        at.join("traces.otf2"),
        [3, 0x42, b'O', b'T', b'F', b'2', 0, 3],
    )
    .expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command
        .args(["report", "traces.otf2"])
        .env("LD_LIBRARY_PATH", &hidden)
        .current_dir(at);
    let said = stderr(&command.output().expect("mpitrace runs"));
    let sentence =
        format!("mpitrace: traces.otf2: {NO_LIBRARY} libotf2-trace-dev (Debian, Ubuntu)");
    assert!(
        said.starts_with(&sentence) && said.lines().count() == 1,
        "{said}"
    );
}

/// The rows of a trace without what differs when it is written and read again: requests get other numbers, and values another order.
fn calls(at: &Path, name: &str) -> Counts {
    let mut calls = Counts::new();
    for row in rows(at, name) {
        let values = ["rank", "thread", "function", "start_ns", "duration_ns"]
            .map(|column| row[column].to_string());
        count(&mut calls, values.join(" "));
    }
    calls
}

/// Figures of `mpitrace info` by name.
fn figures(at: &Path, name: &str, wanted: &[&str]) -> Vec<serde_json::Value> {
    let info = succeeds(at, &["info", "--json", name]);
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
    wanted
        .iter()
        .map(|figure| info[0][figure].clone())
        .collect()
}

/// The bytes of an archive are those of all its files.
#[test]
fn info_tells_the_size_of_the_whole_archive() {
    let Some(folder) = folder() else {
        return;
    };
    let at = folder.path();
    succeeds(at, &["convert", "-q", "run.slog2", "a.otf2"]);
    let mut sizes = 0u64;
    let mut folders = vec![at.join("a.otf2")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("folder") {
            let entry = entry.expect("entry");
            let found = entry.metadata().expect("metadata");
            match found.is_dir() {
                true => folders.push(entry.path()),
                false => sizes += found.len(),
            }
        }
    }
    for name in ["a.otf2", "a.otf2/traces.otf2"] {
        assert_eq!(figures(at, name, &["bytes"]), [sizes]);
    }
}

/// What `mpitrace report` says of a trace, without the lines that have its name.
fn report(at: &Path, name: &str) -> String {
    let output = succeeds(at, &["report", "-q", name]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, verdict) = text.split_once("Verdict").expect("a verdict");
    verdict.to_owned()
}

#[test]
fn traces_of_dumpi_are_read_as_they_were_written() {
    let Some(folder) = folder() else {
        return;
    };
    let at = folder.path();
    for name in [
        "nonblock-n4-default",
        "coll-n4-default",
        "mpiio-n2-default",
        "thr-n2-default",
        "ring-n4-default",
    ] {
        let metas = golden::files(format!("dumpi/{name}"), ".meta");
        let meta = metas.first().expect(name).display().to_string();
        let (slog2, archive) = (format!("{name}.slog2"), format!("{name}.otf2"));
        succeeds(at, &["convert", "-q", &meta, &slog2]);
        succeeds(at, &["convert", "-q", &slog2, &archive]);
        assert_eq!(calls(at, &archive), calls(at, &slog2), "{name}");
        let wanted = [
            "states", "arrows", "events", "ranks", "threads", "lines", "span_s",
        ];
        assert_eq!(
            figures(at, &archive, &wanted),
            figures(at, &slog2, &wanted),
            "{name}"
        );
        // Whoever waits for whom stays.
        assert_eq!(report(at, &archive), report(at, &slog2), "{name}");
        let pairs = |name: &str| {
            let stats = ["stats", "--by", "pair", "--format", "csv", name];
            succeeds(at, &stats).stdout
        };
        assert_eq!(pairs(&archive), pairs(&slog2), "{name}");
    }
}

#[test]
fn every_command_takes_an_archive_by_folder_and_by_anchor_file() {
    let Some(folder) = folder() else {
        return;
    };
    let at = folder.path();
    succeeds(at, &["convert", "-q", "run.slog2", "x.otf2"]);
    for name in ["x.otf2", "x.otf2/traces.otf2"] {
        for command in [
            &["print", name][..],
            &["print", "-c", name],
            &["print", "--csv", name],
            &["info", name],
            &["check", name],
            &["stats", name],
            &["report", "-q", name],
            &["draw", "-q", "--force", name, "y.svg"],
            &["convert", "-q", "--force", name, "y.slog2"],
            &["convert", "-q", "--force", name, "y.clog2"],
            &["convert", "-q", "--force", name, "y.pftrace"],
            &["convert", "-q", "--force", name, "y.otf2"],
            &["filter", "-q", "--force", "--rank", "1", name, "z.slog2"],
        ] {
            succeeds(at, command);
        }
        assert_eq!(calls(at, "y.slog2"), calls(at, name));
        assert_eq!(calls(at, "y.otf2"), calls(at, name));
        // It is another format than that of an SLOG2 file beside it.
        fails(
            at,
            &["stats", name, "run.slog2"],
            2,
            "one trace has one format",
        );
    }
    // An archive is not replaced by what is made of it.
    for name in ["x.otf2", "x.otf2/traces.otf2"] {
        let itself = ["convert", "-q", "--force", name, "x.otf2"];
        fails(at, &itself, 2, "x.otf2: this is the input");
    }
    assert!(at.join("x.otf2/traces.def").is_file());
}

#[test]
fn damage_leaves_nothing_half_written() {
    let Some(folder) = folder() else {
        return;
    };
    let at = folder.path();
    succeeds(at, &["convert", "-q", "run.slog2", "x.otf2"]);
    let events = at.join("x.otf2/traces/1.evt");
    let whole = fs::read(&events).expect("there");
    fs::write(&events, &whole[..whole.len() / 2]).expect("written");
    fails(
        at,
        &["convert", "-q", "x.otf2", "y.slog2"],
        1,
        "x.otf2/traces.otf2: traces/1.evt: behind event ",
    );
    fs::remove_file(&events).expect("removed");
    fails(
        at,
        &["report", "x.otf2"],
        1,
        "x.otf2/traces.otf2: traces/1.evt: the file is not there",
    );
    let definitions = at.join("x.otf2/traces.def");
    let whole = fs::read(&definitions).expect("there");
    fs::write(&definitions, &whole[..whole.len() / 2]).expect("written");
    fails(
        at,
        &["stats", "x.otf2"],
        1,
        "x.otf2/traces.otf2: traces.def",
    );
    fs::remove_file(&definitions).expect("removed");
    fails(at, &["stats", "x.otf2"], 1, "x.otf2/traces.otf2: ");
    // Without the archive beside it an anchor file is nothing.
    fs::write(
        at.join("traces.otf2"),
        [3, 0x42, b'O', b'T', b'F', b'2', 0, 3],
    )
    .expect("written");
    fails(at, &["stats", "traces.otf2"], 1, "traces.otf2: ");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command
        .args(["stats", "-"])
        .stdin(fs::File::open(at.join("traces.otf2")).expect("there"));
    let said = stderr(&command.output().expect("mpitrace runs"));
    assert!(
        said.contains("stdin: the anchor file of an OTF2 archive"),
        "{said}"
    );
    assert_eq!(names(at), ["run.slog2", "traces.otf2", "x.otf2"]);
}
