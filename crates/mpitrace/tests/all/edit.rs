//! `mpitrace filter`, `merge`, `arrows` and `lines`: options, output, exit codes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use test_support::golden;

use trace_formats::slog2::{
    Category, Color, LineIdMap, NewDrawable, Slog2Reader, Topology, TreeBuilder, TreeOptions,
    Vertex,
};

fn mpitrace(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.args(arguments);
    // Tests write the same file again and again.
    if ["arrows", "composite", "convert", "filter", "lines", "merge"].contains(&arguments[0]) {
        command.arg("--force");
    }
    command.output().unwrap()
}

/// Runs a command that must succeed and gives what it printed.
fn ok(arguments: &[&str]) -> String {
    let output = mpitrace(arguments);
    let stderr = text(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    format!("{}{stderr}", text(&output.stdout))
}

/// Runs a command that must fail and gives its exit code and what it said.
fn fails(arguments: &[&str]) -> (i32, String) {
    let output = mpitrace(arguments);
    (output.status.code().unwrap(), text(&output.stderr))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder of its own for a test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("mpitrace-edit-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes calls as an SLOG2 file: name of the category, CallID, line, start, end.
fn write(path: &str, calls: &[(&str, u64, i32, f64, f64)]) {
    let mut names: Vec<&str> = calls.iter().map(|call| call.0).collect();
    names.sort();
    names.dedup();
    let mut categories: Vec<Category> = (1..)
        .zip(&names)
        .map(|(index, &name)| {
            let color = Color::rgb(0x4040 * index as u32);
            let mut category = Category::new(index, name.into(), Topology::State, color);
            category.set_info_format(b"CallID=0x%X");
            category
        })
        .collect();
    for topology in [Topology::Event, Topology::State, Topology::Arrow] {
        categories.push(Category::preview(topology));
    }
    let mut calls = calls.to_vec();
    calls.sort_by(|a, b| a.4.total_cmp(&b.4));
    let mut builder =
        TreeBuilder::new(std::io::Cursor::new(Vec::new()), TreeOptions::default()).unwrap();
    for (name, id, line, start, end) in calls {
        let vertex = |time| Vertex { time, line };
        builder
            .add(&NewDrawable {
                topology: Topology::State,
                category: 1 + names.iter().position(|n| *n == name).unwrap() as i32,
                info: &id.to_be_bytes(),
                vertices: &[vertex(start), vertex(end)],
            })
            .unwrap();
    }
    let tree = builder.close().unwrap();
    let mut view = LineIdMap::new("Process View", &["world_rank"]);
    for &line in tree.lines() {
        view.push(line, &[line]);
    }
    let identity = LineIdMap::identity(tree.lines());
    let (out, _) = tree.finish(&categories, &[view, identity]).unwrap();
    fs::write(path, out.into_inner()).unwrap();
}

/// Two clients whose calls cause two overlapping operations each on a server, whose clock is 100 s ahead.
fn client_and_server(folder: &Folder) -> (String, String) {
    let (client, server) = (folder.path("client.slog2"), folder.path("server.slog2"));
    let (mut calls, mut operations) = (Vec::new(), Vec::new());
    for rank in 0..2 {
        for nth in 0..5 {
            let id = (rank as u64) << 40 | (nth + 1);
            let start = 1.0 + nth as f64;
            calls.push(("MPI_File_write", id, rank, start, start + 0.8));
            for part in 0..2 {
                let start = start + 100.1 + 0.2 * f64::from(part) + 0.05 * f64::from(rank);
                operations.push((
                    "Trove Write",
                    id,
                    part,
                    start,
                    start + 0.3 + 0.1 * rank as f64,
                ));
            }
        }
    }
    write(&client, &calls);
    write(&server, &operations);
    (client, server)
}

fn titles(path: &str) -> Vec<String> {
    let file = fs::read(path).unwrap();
    let reader = Slog2Reader::new(&file).unwrap();
    let maps = reader.line_id_maps().iter();
    maps.map(|map| map.title.to_str().into_owned()).collect()
}

fn counts(path: &str) -> Vec<(String, i64)> {
    let file = fs::read(path).unwrap();
    let reader = Slog2Reader::new(&file).unwrap();
    let real = reader.categories().iter().filter(|c| c.index >= 0);
    let mut counts: Vec<_> = real
        .map(|c| (c.name.to_str().into_owned(), c.summary.count))
        .collect();
    counts.sort();
    counts
}

/// From two traces to one with arrows, as the thesis did it with MergeSlog2 and Slog2ToArrowSlog2.
#[test]
fn from_call_to_disk() {
    let folder = Folder::new("chain");
    let (client, server) = client_and_server(&folder);
    let [both, arrows, split] =
        ["both.slog2", "arrows.slog2", "split.slog2"].map(|n| folder.path(n));
    let printed = ok(&["merge", &client, &server, &both]);
    assert!(printed.contains("10 of 10 common CallIDs"), "{printed}");
    assert!(printed.contains("2 traces, 4 lines"), "{printed}");
    assert_eq!(titles(&both)[0], "Process View (0-1 client, 2-3 server)");
    assert_eq!(
        counts(&both),
        [
            ("MPI_File_write".to_owned(), 10),
            ("Trove Write".to_owned(), 20)
        ]
    );
    let printed = ok(&["arrows", &both, &arrows]);
    assert_eq!(
        printed,
        "Statistics:\nFound 2 categories with CallID info key.\nCounted 30 drawables.\n\
         Found 10 different CallID values.\nOn average there are 2 arrows per CallID having any.\n"
    );
    assert_eq!(titles(&arrows), titles(&both));
    assert_eq!(counts(&arrows)[2], ("triggers Trove Write".to_owned(), 20));
    let printed = ok(&["lines", "--split", &arrows, &split]);
    assert!(
        printed.contains("2 lines have 2 further sub-lines"),
        "{printed}"
    );
    assert!(titles(&split)[0].contains("world_rank x 10 + sub-line"));
    assert_eq!(counts(&split), counts(&arrows));
    // Aligned traces stay where they are.
    let printed = ok(&["merge", &arrows, &arrows, &both]);
    assert!(!printed.contains("shifted"), "{printed}");
}

#[test]
fn shifts_of_merged_traces() {
    let folder = Folder::new("shift");
    let (client, server) = client_and_server(&folder);
    let out = folder.path("out.slog2");
    let end = |path: &str| {
        let file = fs::read(path).unwrap();
        Slog2Reader::new(&file)
            .unwrap()
            .root()
            .unwrap()
            .bounds
            .latest
    };
    ok(&["merge", "-q", &client, &server, &out, "--align", "none"]);
    assert!((end(&out) - 105.75).abs() < 0.01, "{}", end(&out));
    // As the help shows it: the shift of a trace may stand behind its name.
    ok(&["merge", "-q", &client, &server, "--shift", "-95.5", &out]);
    assert!((end(&out) - 10.25).abs() < 0.01, "{}", end(&out));
    let printed = ok(&["merge", &client, &server, &out, "--align", "start"]);
    assert!(printed.contains("shifted by -100.1 s"), "{printed}");
    let by = "MPI_File_*=Trove Write";
    let printed = ok(&["merge", &client, &server, &out, "--align-by", by]);
    assert!(printed.contains("shifted by -100.1 s"), "{printed}");
    ok(&[
        "merge", "-q", &client, &server, &client, &out, "--shift", "1", "--shift", "2",
    ]);
    assert_eq!(
        titles(&out)[0],
        "Process View (0-1 client, 2-3 server, 4-5 client)"
    );

    let (code, printed) = fails(&["merge", &client, &server, &out, "--align-by", "MPI_Send"]);
    assert_eq!(code, 1, "{printed}");
    let (code, printed) = fails(&[
        "merge", &client, &server, &out, "--shift", "1", "--shift", "2",
    ]);
    assert_eq!(code, 2, "{printed}");
    assert_eq!(fails(&["merge", &client, &out]).0, 2);
    assert_eq!(
        fails(&["merge", &client, &server, &out, "--shift", "nan"]).0,
        2
    );
}

#[test]
fn filter_by_what_is_said() {
    let folder = Folder::new("filter");
    let (client, _) = client_and_server(&folder);
    let out = folder.path("out.slog2");
    let count = |arguments: &[&str]| {
        let mut all = vec!["filter", "-q", &client, &out];
        all.extend(arguments);
        ok(&all);
        counts(&out)[0].1
    };
    assert_eq!(count(&[]), 10);
    assert_eq!(count(&["--rank", "1"]), 5);
    assert_eq!(count(&["--no-rank", "1", "--callid", "1-3"]), 3);
    assert_eq!(count(&["--callid", "0x10000000002"]), 1);
    assert_eq!(count(&["--window", "2.9", "4.5"]), 4);
    assert_eq!(count(&["--window", "2.9", "4.5", "--invert"]), 6);
    assert_eq!(count(&["--no-window", "-5", "2.5"]), 6);
    assert_eq!(count(&["--category", "MPI_*,1"]), 10);
    let printed = ok(&["filter", "--rank", "0", &client, "-o", &out]);
    assert!(printed.contains("5 drawables kept, 5 removed"), "{printed}");
    let (code, printed) = fails(&["filter", "-r", "1", &client, &out]);
    assert_eq!(code, 1);
    assert!(printed.contains("nothing of it is selected"), "{printed}");
    let clog2 = folder.path("client.clog2");
    ok(&["convert", "-q", &client, &clog2]);
    for (input, output) in [
        (&client, "none.clog2"),
        (&client, "none.pftrace"),
        (&clog2, "none.clog2"),
        (&clog2, "none.slog2"),
        (&clog2, "none.alog"),
    ] {
        let output = folder.path(output);
        let (code, printed) = fails(&["filter", "--rank", "77", input, &output]);
        assert_eq!(code, 1);
        assert!(printed.contains("nothing of it is selected"), "{printed}");
        assert!(!Path::new(&output).exists(), "{output}");
    }
    for wrong in [
        &["filter", &client][..],
        &["filter"],
        &["filter", &client, &out, &out],
        &["filter", &client, &out, "--rank", "x"],
        &["filter", &client, &out, "--window", "2", "1"],
        &["filter", &client, &out, "--with-mpi", "MPI_Send"],
        &["filter", &client, &out, "--category", "MPI_*,none"],
    ] {
        assert_eq!(fails(wrong).0, 2, "{wrong:?}");
    }
}

#[test]
fn filter_from_stdin_to_stdout() {
    let folder = Folder::new("stdio");
    let (client, _) = client_and_server(&folder);
    let out = folder.path("out.slog2");
    ok(&["filter", "-q", "--rank", "0", &client, &out]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .args(["filter", "-q", "--rank", "0", "-", "-"])
        .stdin(fs::File::open(&client).unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut child.stdout.take().unwrap(), &mut bytes).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(bytes == fs::read(&out).unwrap());
}

#[test]
fn filter_as_the_originals() {
    let folder = Folder::new("originals");
    let slog2 = golden::path("mpe/nonblk_n5.slog2");
    let out = folder.path("out.slog2");
    ok(&[
        "filter",
        "-q",
        "--as-slog2filter",
        "-r",
        "0,106",
        slog2.to_str().unwrap(),
        &out,
    ]);
    let expected = golden::read("mpe/nonblk_n5.filter.slog2");
    assert!(fs::read(&out).unwrap() == expected);

    for (name, content) in golden::contents("dumpi/coll-n2-default", "") {
        fs::write(folder.path(&name), content).unwrap();
    }
    let meta = folder.path("dumpi-2026.11.20.05.42.28.meta");
    let root = folder.path("red");
    let functions = [
        "-F",
        "-m",
        "MPI_Init",
        "-m",
        "MPI_Allreduce",
        "-m",
        "MPI_Finalize",
    ];
    let mut call = vec!["filter", "--as-dumpi2dumpi", "-I", &meta, "-o", &root];
    call.extend(functions);
    let printed = ok(&call);
    assert!(printed.contains("24 calls kept, 104 removed"), "{printed}");
    for rank in ["0000", "0001"] {
        let expected = golden::read(format!("dumpi/tools/d2d/red-{rank}.bin"));
        assert!(fs::read(format!("{root}-{rank}.bin")).unwrap() == expected);
    }
    let text = fs::read_to_string(format!("{root}.meta")).unwrap();
    let golden_text = golden::text("dumpi/tools/d2d/red.meta");
    assert_eq!(text.replace(&root, "../tools/d2d/red"), golden_text);

    // In the order of the options, and by category as well.
    let bin = folder.path("dumpi-2026.11.20.05.42.28-0000.bin");
    let out = folder.path("out.bin");
    let kept = |arguments: &[&str]| {
        let mut all = vec!["filter", bin.as_str(), out.as_str()];
        all.extend(arguments);
        let printed = ok(&all);
        let words: Vec<&str> = printed.split(' ').collect();
        words[2].parse::<u32>().unwrap()
    };
    let all = kept(&[]);
    assert_eq!(kept(&["-m", "MPI_Barrier", "-F"]), 0);
    let barriers = kept(&["-F", "-m", "MPI_Barrier"]);
    assert!(barriers > 0);
    assert_eq!(kept(&["-M", "MPI_Barrier"]), all - barriers);
    assert_eq!(kept(&["-F", "-m", "MPI_Barrier", "-f"]), all);
    assert_eq!(kept(&["--category", "MPI_Bar*"]), barriers);
    assert_eq!(
        kept(&["--category", "MPI_Bar*", "--invert"]),
        all - barriers
    );
    assert_eq!(fails(&["filter", &bin, &out, "-m", "MPI_Foo"]).0, 2);
    assert_eq!(fails(&["filter", &bin, &out, "--callid", "3"]).0, 2);
    assert_eq!(fails(&["filter", &bin, &out, "--rank", "0"]).0, 2);
    let part = folder.path("part");
    ok(&["filter", "--rank", "1", &meta, &format!("{part}.meta")]);
    assert!(!Path::new(&format!("{part}-0000.bin")).exists());
    assert!(Path::new(&format!("{part}-0001.bin")).exists());
}

#[test]
fn clog2_goes_in_and_comes_out() {
    let folder = Folder::new("clog2");
    let small =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace-formats/tests/data/clog2/small.clog2");
    let small = small.to_str().unwrap();
    let [all, part, slog2, merged] =
        ["all.clog2", "part.clog2", "part.slog2", "merged.slog2"].map(|n| folder.path(n));
    ok(&["filter", "-q", small, &all]);
    assert_eq!(ok(&["print", &all]), ok(&["print", small]));
    ok(&["filter", "-q", "--no-category", "message", small, &part]);
    let without = ok(&["print", &part]);
    assert!(!without.contains("type=msg"));
    assert!(ok(&["print", small]).contains("type=msg"));
    ok(&["filter", "-q", "--no-category", "message", small, &slog2]);
    assert!(!counts(&slog2).iter().any(|(name, _)| name == "message"));
    // Traces of different formats are merged.
    ok(&["merge", "-q", small, &slog2, &merged]);
    let count = |path: &str| counts(path).iter().map(|(_, count)| count).sum::<i64>();
    let whole = folder.path("whole.slog2");
    ok(&["convert", "-q", small, &whole]);
    assert_eq!(count(&merged), count(&whole) + count(&slog2));
}

#[test]
fn views_by_name() {
    let folder = Folder::new("views");
    let (client, _) = client_and_server(&folder);
    let out = folder.path("out.slog2");
    ok(&[
        "lines",
        "-q",
        "--by",
        "node,line",
        "--ranks-per-node",
        "1",
        &client,
        &out,
    ]);
    assert_eq!(
        titles(&out),
        ["Node View (0 node0, 1 node1)", "Identity Map"]
    );
    ok(&["lines", "-q", &client, &out]);
    assert_eq!(
        titles(&out),
        [
            "Process View",
            "Process-Thread View",
            "Communicator View",
            "Identity Map"
        ]
    );
    let (code, printed) = fails(&["lines", "--by", "node", &client, &out]);
    assert_eq!(code, 1);
    assert!(printed.contains("--ranks-per-node"), "{printed}");
    assert_eq!(fails(&["lines", "--by", "planet", &client, &out]).0, 2);
    fs::write(folder.path("bad"), b"no trace").unwrap();
    for command in ["lines", "arrows", "filter"] {
        let (code, printed) = fails(&[command, &folder.path("bad"), &out]);
        assert_eq!(code, 1, "{printed}");
    }
}

/// CallIDs of two runs are the same by how they are counted, and say nothing of their clocks.
#[test]
fn traces_of_different_runs_are_not_shifted() {
    let folder = Folder::new("runs");
    let path = |name: &str| folder.path(name);
    let [first, second, server, out] =
        ["1.slog2", "2.slog2", "server.slog2", "out.slog2"].map(path);
    let calls = |name: &'static str, places: [f64; 6], length: f64| {
        let call = |(id, start): (u64, f64)| (name, id, 0, start, start + length);
        (1..).zip(places).map(call).collect::<Vec<_>>()
    };
    let name = "MPI_File_write";
    write(&first, &calls(name, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 0.5));
    write(&second, &calls(name, [0.1, 0.9, 1.5, 9.0, 9.1, 20.0], 0.3));
    let printed = ok(&["merge", &first, &second, &out]);
    let why = "not shifted: it has the calls of 6 of 6 common CallIDs";
    assert!(printed.contains(why), "{printed}");
    // One that is shifted by the same amount throughout has the calls all the same.
    write(
        &second,
        &calls(name, [10.1, 11.1, 12.1, 13.1, 14.1, 15.1], 0.3),
    );
    let printed = ok(&["merge", &first, &second, &out]);
    assert!(printed.contains(why), "{printed}");
    let printed = ok(&["merge", &first, &second, &out, "--align", "callid"]);
    assert!(
        printed.contains("6 of 6 common CallIDs then fit"),
        "{printed}"
    );
    // Operations of another run below MPI.
    write(
        &server,
        &calls("Trove Write", [0.6, 3.9, 10.5, 21.0, 33.1, 50.0], 0.3),
    );
    let printed = ok(&["merge", &first, &server, &out]);
    assert!(printed.contains("not shifted: only "), "{printed}");
}

#[test]
fn what_is_out_of_range_or_not_there_is_named() {
    let folder = Folder::new("range");
    let (client, _) = client_and_server(&folder);
    let out = folder.path("out.slog2");
    for number in ["0", "40000"] {
        let (code, told) = fails(&["convert", &client, &out, "--children", number]);
        assert_eq!(code, 2);
        let expected = format!("{number} is not in 2..=32767");
        assert!(told.contains(&expected), "{told}");
    }
    let (code, told) = fails(&["composite", "--head", "NIX", &client, &out]);
    assert_eq!(code, 2);
    let expected = format!("--head NIX: {client} has no such category");
    assert!(told.contains(&expected), "{told}");
    assert!(!Path::new(&out).exists());
}
