//! Archives that are read: one that has what those of Score-P have, and what becomes of traces that are written and read again.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use test_support::{golden, skip};
use trace_formats::otf2::{Otf2ErrorKind, Otf2Source, anchor};
use trace_formats::slog2::Slog2Source;
use trace_model::{
    Category, Definitions, DrawableOrder, InfoValue, InfoWriter, Line, Losses, Sorter, Source,
    Topology, info_values, message, value_names,
};

use super::printed::PrintedArchive;
use super::written;
use crate::perfetto::{OwnedDrawable, category, definitions, line_of_comm};

/// The drawables of an archive. `None` where the library is missing, which is said.
pub(super) fn read(folder: &Path) -> Option<(Definitions, Vec<OwnedDrawable>, Losses)> {
    let source = match Otf2Source::open(anchor(folder)) {
        Ok(source) => source,
        Err(error) if matches!(error.kind, Otf2ErrorKind::NoLibrary) => {
            skip("the OTF2 library is not installed");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let mut drawables = Vec::new();
    let losses = source.for_each(&mut |drawable| {
        drawables.push(OwnedDrawable::from(drawable));
        Ok(())
    });
    let losses = losses.expect("a whole archive");
    Some((source.definitions().clone(), drawables, losses))
}

/// The values of an info: `root=2, bytes=64`.
fn values(definitions: &Definitions, drawable: &OwnedDrawable) -> String {
    let category = definitions.category(drawable.category).expect("a category");
    let names = value_names(category);
    let values = info_values(category, &drawable.info).map(|(_, value)| match value {
        InfoValue::Integer(number) => number.to_string(),
        InfoValue::Hex(number) => format!("{number:#x}"),
        InfoValue::Real(number) => number.to_string(),
        InfoValue::Text(text) => String::from_utf8_lossy(text).into_owned(),
    });
    let values = names
        .iter()
        .zip(values)
        .map(|(name, value)| format!("{name}={value}"));
    values.collect::<Vec<_>>().join(", ")
}

/// A drawable in words, with the communicator of its line.
pub(super) fn words(definitions: &Definitions, drawable: &OwnedDrawable) -> String {
    let category = definitions.category(drawable.category).expect("a category");
    let place = |line: i32| {
        let line = definitions.line(line).expect("a line");
        match line.comm {
            0 => format!("{}.{}", line.rank, line.thread),
            comm => format!(
                "{}.{} as {} of {comm}",
                line.rank, line.thread, line.comm_rank
            ),
        }
    };
    let ns = |time: f64| (time * 1e9).round();
    let ends = drawable
        .vertices
        .iter()
        .map(|end| format!("{} at {}", place(end.line), ns(end.time)));
    let ends = ends.collect::<Vec<_>>().join(" to ");
    format!(
        "{} {ends}: {}",
        category.name.to_str(),
        values(definitions, drawable)
    )
}

/// Runs `scorep_like.c`, which writes an archive. `None` where it cannot be compiled, which is said.
fn scorep_like(folder: &Path) -> Option<()> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/otf2/scorep_like.c");
    let program = folder.join("scorep_like");
    let compiled = Command::new("cc")
        .arg("-o")
        .arg(&program)
        .arg(source)
        .arg("-lotf2")
        .output();
    if !compiled.is_ok_and(|output| output.status.success()) {
        skip("no C compiler with the OTF2 library (libotf2-trace-dev)");
        return None;
    }
    let output = Command::new(program)
        .arg(folder.join("run"))
        .output()
        .expect("it runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(())
}

/// Time in ns of a tick: ticks of half a ns since tick 100.
fn ns(ticks: u64) -> f64 {
    (ticks - 100) as f64 / 2.0
}

/// Whether words say on which communicators ranks call together, and which message goes to which receive.
#[track_caller]
fn has_communicators_and_messages(found: &[String]) {
    let has = |wanted: String| assert!(found.contains(&wanted), "{wanted}\n{}", found.join("\n"));
    // Ranks 0 and 2 are a communicator, the first that is not MPI_COMM_WORLD; MPI_COMM_SELF is one for each rank.
    has(format!(
        "MPI_Allreduce 2.0 as 1 of 1 at {} to 2.0 as 1 of 1 at {}: bytes=8, PAPI_TOT_CYC=100",
        ns(3520),
        ns(3630)
    ));
    has(format!(
        "MPI_Allreduce 3.0 as 1 of 2 at {} to 3.0 as 1 of 2 at {}: bytes=8, PAPI_TOT_CYC=100",
        ns(3520),
        ns(3630)
    ));
    let selves = |rank: i32| format!("MPI_Allreduce {rank}.0 as 0 of {} ", 4 + rank);
    for rank in 0..4 {
        assert!(
            found.iter().any(|found| found.starts_with(&selves(rank))),
            "{}",
            found.join("\n")
        );
    }
    // What it is on is told when it is complete.
    has(format!(
        "MPI_Ibarrier 2.0 as 1 of 1 at {} to 2.0 as 1 of 1 at {}: request=4, PAPI_TOT_CYC=100",
        ns(3850),
        ns(3861).ceil()
    ));
    has(format!(
        "MPI_Wait 2.0 at {} to 2.0 at {}: completes=4, PAPI_TOT_CYC=100",
        ns(3960),
        ns(4070)
    ));
    // Each loop has the attributes that its own start tells.
    for (nth, told) in (0..).zip(["", "depth=-1", "depth=-2, note=deep"]) {
        let [start, end] = [5060, 5280].map(|ticks| ns(ticks + 330 * nth));
        has(format!(
            "!$omp for @a.c:7 0.1 at {start} to 0.1 at {end}: {told}"
        ));
    }
    has(format!(
        "MPI_Comm_set_name 0.0 as 0 of 1 at {}: name=even ranks",
        ns(1100)
    ));
    // The receive that was posted first gets the message that was sent first, although it is complete last.
    let times = [(2541u64, 2882u64), (2651, 2871)];
    for (bytes, (sent, received)) in (1000..).zip(times) {
        has(format!(
            "message 2.0 at {} to 3.0 at {}: msg_tag=9, msg_size={bytes}",
            ns(sent).round(),
            ns(received).round()
        ));
    }
}

#[test]
fn an_archive_like_those_of_score_p() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let Some((definitions, drawables, losses)) =
        scorep_like(folder.path()).and_then(|()| read(&folder.path().join("run")))
    else {
        return;
    };
    assert!(losses.is_empty(), "{losses}");
    assert_eq!(definitions.program, "/home/me/solver");
    assert!(
        definitions
            .lines
            .iter()
            .all(|line| line.host.as_deref() == Some("host0"))
    );
    for drawable in &drawables {
        for end in &drawable.vertices {
            // The library cuts off fractions of a tick of the clock that differs; times are multiples of 11 ticks.
            let ticks = (end.time * 2e9).round() as u64 + 100;
            assert!(
                ticks.is_multiple_of(11) || (ticks + 1).is_multiple_of(11),
                "{}",
                words(&definitions, drawable)
            );
        }
    }
    let mut found: Vec<String> = drawables
        .iter()
        .map(|drawable| words(&definitions, drawable))
        .collect();
    found.sort_unstable();
    let has = |wanted: String| assert!(found.contains(&wanted), "{wanted}\n{}", found.join("\n"));
    for rank in [0, 2, 3] {
        has(format!(
            "main {rank}.0 at {} to {rank}.0 at {}: PAPI_TOT_CYC=3500",
            ns(1100),
            ns(6820)
        ));
        has(format!(
            "MPI_Waitall {rank}.0 at {} to {rank}.0 at {}: completes=1,0,2-3, PAPI_TOT_CYC=100",
            ns(2860),
            ns(2915).ceil()
        ));
        has(format!(
            "MPI_Bcast {rank}.0 at {} to {rank}.0 at {}: root=2, bytes=64, PAPI_TOT_CYC=100",
            ns(3300),
            ns(3410)
        ));
        has(format!(
            "MPI_Put {rank}.0 at {} to {rank}.0 at {}: bytes=32, handle=1, target={}, PAPI_TOT_CYC=100",
            ns(4620),
            ns(4642),
            (rank + 1) % 4
        ));
        let operation = "filler=0, errno=0, details=, operation=0";
        has(format!(
            "write (no call) {rank}.0 at {} to {rank}.0 at {}: file=0, fd=-1, offset=-1, size=512, result=500, {operation}",
            ns(5720),
            ns(5742)
        ));
        has(format!(
            "load {rank}.0 at {}: value={}",
            ns(5500),
            25 * rank
        ));
    }
    // A file is named once.
    let name = ": file=0, role=data, path=/scratch/out.dat, device=0x0, inode=0";
    let names = |found: &&String| found.starts_with("file ") && found.ends_with(name);
    assert_eq!(
        found.iter().filter(names).count(),
        1,
        "{}",
        found.join("\n")
    );
    has_communicators_and_messages(&found);
    let messages = drawables
        .iter()
        .filter(|drawable| drawable.topology == Topology::Arrow);
    assert_eq!(messages.count(), 8);
}

/// What was found or expected, and how often.
type Facts = BTreeMap<String, u32>;

/// What stays of a trace that is written and read again: states and markers with their times and values, messages with their ends.
fn facts(definitions: &Definitions, drawables: &[OwnedDrawable]) -> Facts {
    let first = drawables.iter().flat_map(|drawable| &drawable.vertices);
    let first = first.map(|end| end.time).fold(0.0, f64::min);
    let ns = |time: f64| ((time - first) * 1e9).round() as u64;
    let mut facts = Facts::new();
    for drawable in drawables {
        let category = definitions.category(drawable.category).expect("a category");
        let ends = drawable.vertices.iter().map(|end| {
            let line = definitions.line(end.line).expect("a line");
            let comm = match line.comm {
                0 => String::new(),
                comm => format!(" as {} of {comm}", line.comm_rank),
            };
            format!("{}.{}{comm} at {}", line.rank, line.thread, ns(end.time))
        });
        let ends: Vec<String> = ends.collect();
        let what = match message(category, &drawable.info) {
            Some(found) => format!("message of {} bytes, tag {}", found.size, found.tag),
            None => format!(
                "{} {}",
                category.name.to_str(),
                values(definitions, drawable)
            ),
        };
        // Where a category has both, markers and states without duration are the same.
        let ends = match ends.as_slice() {
            [one] => format!("{one} to {one}"),
            ends => ends.join(" to "),
        };
        *facts.entry(format!("{what}: {ends}")).or_default() += 1;
    }
    facts
}

#[test]
fn goldens_of_mpe_are_read_as_they_were_written() {
    let mut files = 0;
    for path in golden::files("mpe", ".slog2") {
        let bytes = golden::read(&path);
        let Ok(source) = Slog2Source::new(&bytes) else {
            continue;
        };
        let definitions = source.definitions();
        let mut sorter = Sorter::new(DrawableOrder::Start);
        let put = source.for_each(&mut |drawable| Ok(sorter.push(drawable)?));
        put.expect("a golden is whole");
        let mut drawables = Vec::new();
        let sorted = sorter.finish(&mut |drawable| {
            drawables.push(OwnedDrawable::from(drawable));
            Ok(())
        });
        sorted.expect("sorted");
        let Some((folder, losses)) = written(definitions, &drawables) else {
            return;
        };
        let Some((again, drawables_again, _)) = read(&folder.path().join("run.otf2")) else {
            return;
        };
        files += 1;
        let name = path.display();
        let (expected, found) = (
            facts(definitions, &drawables),
            facts(&again, &drawables_again),
        );
        let missing: Vec<_> = expected
            .iter()
            .filter(|(what, count)| found.get(*what) != Some(count))
            .collect();
        let surplus: Vec<_> = found
            .iter()
            .filter(|(what, count)| expected.get(*what) != Some(count))
            .collect();
        assert!(
            missing.is_empty() && surplus.is_empty(),
            "{name}: {losses}\nmissing {missing:#?}\nsurplus {surplus:#?}"
        );
    }
    assert!(files > 20, "{files}");
}

/// What calls are about stays, whether or not an event tells it: of windows and neighbours, of a process that makes a communicator, of messages.
#[test]
fn calls_and_messages_keep_their_communicator() {
    let names = [
        "MPI_Win_create",
        "MPI_Neighbor_allgather",
        "MPI_Comm_create_group",
        "MPI_Send",
        "MPI_Recv",
        "MPI_Ibarrier",
        "MPI_Barrier",
        "MPI_File_open",
        "MPI_Win_fence",
    ];
    let mut categories = vec![Category::message()];
    for (index, name) in (1..).zip(names) {
        categories.push(category(index, name, Topology::State, ""));
    }
    let mut definitions = definitions(categories, &[(0, 0), (1, 0), (2, 0)]);
    for (id, rank, comm_rank) in [(3, 0, 1), (4, 2, 0)] {
        definitions.lines.push(line_of_comm(id, rank, 4, comm_rank));
    }
    let mut drawables = Vec::new();
    for nth in 0..names.len() as i32 {
        for line in [0, 3, 4] {
            let start = f64::from(10 * nth + line) / 1e6;
            let ends = [(start, line), (start + 1e-6, line)];
            drawables.push(OwnedDrawable::new(Topology::State, 1 + nth, &[], &ends));
        }
    }
    let info = [0, 0, 0, 1, 0, 0, 0, 8];
    for (from, to) in [(3, 4), (0, 1)] {
        let ends = [(1e-4, from), (2e-4, to)];
        drawables.push(OwnedDrawable::new(Topology::Arrow, 0, &info, &ends));
    }
    let Some((folder, _)) = written(&definitions, &drawables) else {
        return;
    };
    let Some((again, drawables_again, _)) = read(&folder.path().join("run.otf2")) else {
        return;
    };
    assert_eq!(
        facts(&again, &drawables_again),
        facts(&definitions, &drawables)
    );
    // The attribute is no value of the calls.
    let mut categories = again.categories.iter();
    assert!(categories.all(|category| category.index == 0 || category.info_keys.is_empty()));
}

/// Files have their names and roles, and all operations below MPI are operations, with an open file or without.
#[test]
fn files_and_operations_are_read_as_they_were_written() {
    const OPERATION: &str = "file=%d, fd=%d, offset=%l, size=%l, result=%l, filler=%l, errno=%d, details=%s, operation=%l";
    let of_call = format!("CallID=0x%X, {OPERATION}");
    let mut categories = vec![Category::message()];
    for (index, (name, topology, format)) in (1..).zip([
        (
            "file",
            Topology::Event,
            "file=%d, role=%s, path=%s, device=0x%X, inode=%l",
        ),
        ("fcntl lock", Topology::State, &of_call),
        ("unlink (no call)", Topology::State, OPERATION),
        ("open", Topology::State, &of_call),
        ("MPI_File_open", Topology::State, "CallID=0x%X, handle=%d"),
        (
            "MPI_File_write_at",
            Topology::State,
            "CallID=0x%X, bytes=%l",
        ),
        ("I/O access", Topology::Event, "CallID=0x%X, file=%d"),
    ]) {
        categories.push(category(index, name, topology, format));
    }
    let definitions = definitions(categories, &[(0, 0)]);
    let mut drawables = Vec::new();
    let mut info = InfoWriter::default();
    let mut put = |category, info: &InfoWriter, from: u32, to: u32| {
        let ends: Vec<(f64, i32)> = match definitions.category(category).expect("known").topology {
            Topology::Event => vec![(f64::from(from) / 1e6, 0)],
            _ => vec![(f64::from(from) / 1e6, 0), (f64::from(to) / 1e6, 0)],
        };
        let topology = definitions.category(category).expect("known").topology;
        drawables.push(OwnedDrawable::new(topology, category, info.bytes(), &ends));
    };
    // The first open fails, so the file has no handle. Another tool reads the name at the operation only.
    put(5, info.clear().long(0x11).int(0), 10, 20);
    for (file, role, path, result, at) in
        [(7, "side", "/etc/hints", -1, 11), (8, "data", "a", 3, 15)]
    {
        let named = info.clear().int(file).text(role.as_bytes());
        put(1, named.text(path.as_bytes()).long(0xfe00).long(99), at, at);
        let opened = info.clear().long(0x11).int(file).int(3).long(-1).long(0);
        put(
            4,
            opened.long(result).long(0).int(0).text(b"").long(0),
            at,
            at + 1,
        );
    }
    put(7, info.clear().long(0x12).int(8), 30, 30);
    put(6, info.clear().long(0x12).long(64), 30, 40);
    let locked = info.clear().long(0x12).int(8).int(3).long(0).long(64);
    put(2, locked.long(0).long(0).int(0).text(b"").long(0), 31, 32);
    let unlinked = info.clear().int(7).int(-1).long(-1).long(0).long(0);
    put(3, unlinked.long(0).int(0).text(b"").long(0), 50, 51);
    let Some((folder, _)) = written(&definitions, &drawables) else {
        return;
    };
    let Some((again, mut drawables_again, _)) = read(&folder.path().join("run.otf2")) else {
        return;
    };
    let mut expected = facts(&definitions, &drawables);
    // What accesses tell is told by their calls.
    expected.retain(|fact, _| !fact.starts_with("I/O access"));
    let expected: Facts = (expected.into_iter())
        .map(|(fact, count)| {
            let is_on_file = fact.starts_with("MPI_File_");
            let file = if is_on_file { ", filename=a:" } else { ":" };
            (fact.replacen(':', file, 1), count)
        })
        .collect();
    assert_eq!(facts(&again, &drawables_again), expected);
    // An access whose file only its name tells is written again as it was.
    let start = |drawable: &OwnedDrawable| drawable.vertices[0].time;
    drawables_again.sort_by(|a, b| start(a).total_cmp(&start(b)));
    let Some((folder, losses)) = written(&again, &drawables_again) else {
        return;
    };
    let untold = |(what, _): &(&str, u64)| what.contains("does not tell");
    assert_eq!(losses.iter().find(untold), None);
    if let Some((third, drawables_third, _)) = read(&folder.path().join("run.otf2")) {
        assert_eq!(facts(&third, &drawables_third), expected);
    }
}

#[test]
fn damage_is_told_with_its_file_and_place() {
    let folder = tempfile::tempdir().expect("temporary folder");
    if scorep_like(folder.path()).is_none() {
        return;
    }
    let run = folder.path().join("run");
    let events = run.join("traces/2.evt");
    let whole = std::fs::read(&events).expect("a file");
    let mut tries = 0;
    // The last byte only says that the file ends.
    for length in (0..whole.len() - 1).step_by(37) {
        std::fs::write(&events, &whole[..length]).expect("written");
        let error = match Otf2Source::open(anchor(&run)) {
            Err(error) if matches!(error.kind, Otf2ErrorKind::NoLibrary) => return,
            Err(error) => error.to_string(),
            Ok(_) => panic!("{length} of {} bytes are no whole file", whole.len()),
        };
        assert!(error.contains("run/traces.otf2: traces/2.evt"), "{error}");
        tries += 1;
    }
    assert!(tries > 10, "{tries}");
    std::fs::remove_file(&events).expect("removed");
    let error = Otf2Source::open(anchor(&run))
        .expect_err("a file is missing")
        .to_string();
    assert!(
        error.contains("traces/2.evt: the file is not there; "),
        "{error}"
    );
}

/// Performance counters of regions come back as they were, where some are inside others and the first begins with the trace. Events have none.
#[test]
fn counters_of_nested_regions_come_back() {
    let categories = ["main", "foo", "bar"];
    let categories = (1..).zip(categories);
    let categories = categories
        .map(|(index, name)| category(index, name, Topology::State, "acc=+%l"))
        .chain([category(4, "mark", Topology::Event, "value=%d")])
        .collect();
    let definitions = definitions(categories, &[(0, 0), (1, 0)]);
    let mut value = InfoWriter::default();
    let value = value.int(7).bytes();
    let mark = |time, line| OwnedDrawable::new(Topology::Event, 4, value, &[(time, line)]);
    let mut info = InfoWriter::default();
    let mut put = |index, count: i64, line, ends: [f64; 2]| {
        let ends = ends.map(|time| (time / 1e6, line));
        OwnedDrawable::new(
            Topology::State,
            index,
            info.clear().long(count).bytes(),
            &ends,
        )
    };
    let drawables = [
        put(1, 490, 0, [0.0, 100.0]),
        put(2, 75, 0, [10.0, 50.0]),
        put(2, 5, 1, [10.0, 50.0]),
        put(3, 30, 0, [20.0, 30.0]),
        mark(40e-6, 0),
        put(3, 0, 0, [60.0, 70.0]),
        put(2, 6, 1, [60.0, 70.0]),
        put(3, -1, 0, [80.0, 90.0]),
        put(1, 2, 0, [110.0, 120.0]),
        mark(130e-6, 0),
    ];
    let Some((folder, _)) = written(&definitions, &drawables) else {
        return;
    };
    let Some((again, found, _)) = read(&folder.path().join("run.otf2")) else {
        return;
    };
    let mut found: Vec<String> = (found.iter().map(|drawable| words(&again, drawable))).collect();
    found.sort();
    let expected = [
        "bar 0.0 at 20000 to 0.0 at 30000: acc=30",
        "bar 0.0 at 60000 to 0.0 at 70000: acc=0",
        "bar 0.0 at 80000 to 0.0 at 90000: acc=0",
        "foo 0.0 at 10000 to 0.0 at 50000: acc=75",
        "foo 1.0 at 10000 to 1.0 at 50000: acc=5",
        "foo 1.0 at 60000 to 1.0 at 70000: acc=6",
        "main 0.0 at 0 to 0.0 at 100000: acc=490",
        "main 0.0 at 110000 to 0.0 at 120000: acc=2",
        "mark 0.0 at 130000: value=7",
        "mark 0.0 at 40000: value=7",
    ];
    assert_eq!(found, expected);
}

/// A region whose visits take no time is a state, and an event of the name of a function of MPI is an event.
#[test]
fn states_without_duration_and_events_are_told_apart() {
    let categories = [
        ("solve", Topology::State),
        ("mark", Topology::Event),
        ("MPI_Barrier", Topology::Event),
    ];
    let categories = (0..)
        .zip(categories)
        .map(|(index, (name, topology))| category(index, name, topology, "value=%d"));
    let definitions = definitions(categories.collect(), &[(0, 0)]);
    let mut info = InfoWriter::default();
    let drawables: Vec<OwnedDrawable> = (definitions.categories.iter())
        .map(|category| {
            let ends = [(1e-6 * f64::from(category.index), 0); 2];
            let ends = &ends[..if category.topology == Topology::Event {
                1
            } else {
                2
            }];
            let info = info.clear().int(category.index);
            OwnedDrawable::new(category.topology, category.index, info.bytes(), ends)
        })
        .collect();
    let Some((folder, _)) = written(&definitions, &drawables) else {
        return;
    };
    if let Some((again, drawables_again, _)) = read(&folder.path().join("run.otf2")) {
        let topologies = |definitions: &Definitions, drawables: &[OwnedDrawable]| {
            let told = drawables
                .iter()
                .map(|found| (found.topology, words(definitions, found)));
            let mut told: Vec<_> = told.collect();
            told.sort_by(|a, b| a.1.cmp(&b.1));
            told
        };
        assert_eq!(
            topologies(&again, &drawables_again),
            topologies(&definitions, &drawables)
        );
    }
}

/// In infos of the recorder's files and of DUMPI files a call says that it opened nothing.
#[test]
fn an_open_that_failed_makes_no_handle() {
    for (format, numbers) in [("handle=%d", [0, -2, 2]), ("file=%d", [1, 0, 2])] {
        let open = category(0, "MPI_File_open", Topology::State, format);
        let definitions = definitions(vec![open], &[(0, 0)]);
        let mut info = InfoWriter::default();
        let drawables = [0, 1, 2].map(|nth: u8| {
            let start = f64::from(nth) * 1e-6;
            let ends = [(start, 0), (start + 5e-7, 0)];
            let info = info.clear().int(numbers[usize::from(nth)]);
            OwnedDrawable::new(Topology::State, 0, info.bytes(), &ends)
        });
        let Some((folder, _)) = written(&definitions, &drawables) else {
            return;
        };
        let folder = folder.path().join("run.otf2");
        let Some(printed) = PrintedArchive::of(&folder) else {
            return;
        };
        let opened = printed.of_kind("IO_CREATE_HANDLE");
        let times: Vec<u64> = opened.map(|event| event.time).collect();
        assert_eq!(times, [500, 2500], "{format}");
        assert_eq!(printed.definitions_of("IO_HANDLE").len(), 2, "{format}");
    }
}

/// What lies beside a thread, such as asynchronous I/O, has a number of its own among the threads of its rank, as in the recorder's files.
#[test]
fn what_lies_beside_a_thread_is_no_other_line_of_that_thread() {
    let names = ["rank 0 thread 0 AIO 1", "rank 0 thread 0 AIO 2"];
    let step = category(0, "step", Topology::State, "");
    let mut definitions = definitions(vec![step], &[(0, 0), (0, 1), (1, 0)]);
    for name in names {
        let id = definitions.lines.len() as i32;
        definitions.lines.push(Line {
            name: Some(name.to_owned()),
            ..Line::of_thread(id, 0, id)
        });
    }
    let drawables = definitions.lines.iter().map(|line| {
        let start = f64::from(line.id) * 1e-6;
        let ends = [(start, line.id), (start + 5e-7, line.id)];
        OwnedDrawable::new(Topology::State, 0, &[], &ends)
    });
    let drawables: Vec<OwnedDrawable> = drawables.collect();
    let Some((folder, _)) = written(&definitions, &drawables) else {
        return;
    };
    if let Some((again, ..)) = read(&folder.path().join("run.otf2")) {
        let lines = again.lines.iter();
        let mut lines: Vec<_> = lines
            .map(|line| (line.rank, line.thread, line.name.as_deref()))
            .collect();
        lines.sort_unstable();
        let [first, second] = names.map(Some);
        let expected = [
            (0, 0, None),
            (0, 1, None),
            (0, 2, first),
            (0, 3, second),
            (1, 0, None),
        ];
        assert_eq!(lines, expected);
    }
}
