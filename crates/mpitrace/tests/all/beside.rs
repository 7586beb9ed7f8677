//! Timelines beside threads: asynchronous I/O is of the thread below which it stands, and shares are of the time of threads of ranks alone.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use trace_formats::slog2::{
    Category, Color, LineIdMap, NewDrawable, Topology, TreeBuilder, TreeOptions, Vertex,
};

/// Rank 0 in a call for 2 of 4 s, and rank 1 for 4 s; asynchronous I/O of rank 0 for 3 s, and a device for 1 s.
fn written(path: &Path) {
    // Line, world_rank and thread; layer, number, thread and lane.
    let lines = [
        (0, [0, 0], [0, 0, 0, 0]),
        (1, [1, 0], [0, 1, 0, 0]),
        (2, [0, 1], [0, 0, 0, 1]),
        (3, [2, 0], [3, 0, 0, 0]),
    ];
    let mut processes = LineIdMap::new("Process-Thread View", &["world_rank", "thread"]);
    let mut layers = LineIdMap::new(
        "I/O View (layers: 0 ranks, 1 servers, 2 data servers, 3 devices)",
        &["layer", "number", "layer_thread", "lane"],
    );
    for (line, process, layer) in lines {
        processes.push(line, &process);
        layers.push(line, &layer);
    }
    let names = ["MPI_Barrier", "aio_write", "disk write"];
    let categories = (0..).zip(names);
    let categories = categories
        .map(|(index, name)| Category::new(index, name.into(), Topology::State, Color::PINK));
    let categories: Vec<Category> = categories.collect();
    let memory = std::io::Cursor::new(Vec::new());
    let mut builder = TreeBuilder::new(memory, TreeOptions::default()).expect("memory");
    let states = [
        (0, 0, 0.0, 2.0),
        (1, 2, 0.5, 3.5),
        (2, 3, 2.75, 3.75),
        (0, 1, 0.0, 4.0),
    ];
    for (category, line, from, to) in states {
        let drawable = NewDrawable {
            topology: Topology::State,
            category,
            info: &[],
            vertices: &[from, to].map(|time| Vertex { time, line }),
        };
        builder.add(&drawable).expect("memory");
    }
    let tree = builder.close().expect("memory");
    let (out, _) = tree
        .finish(&categories, &[processes, layers])
        .expect("memory");
    std::fs::write(path, out.into_inner()).expect("file");
}

fn printed(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    let output = command.args(arguments).output().expect("mpitrace");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    text
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(arguments)).expect("JSON")
}

#[test]
fn asynchronous_io_is_no_thread_and_devices_are_no_ranks() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("run.slog2");
    written(&path);
    let file = path.display().to_string();
    let info = &json(&["info", "--json", &file])[0];
    assert_eq!((&info["ranks"], &info["threads"]), (&2.into(), &2.into()));
    for more in [&[][..], &["--nesting", "thread"], &["--window", "0", "4"]] {
        let arguments = [&["stats", "--format", "json", &file], more].concat();
        let stats = json(&arguments);
        assert_eq!(
            (&stats["rank_count"], &stats["thread_count"]),
            (&2.into(), &2.into())
        );
        let rows = stats["threads"].as_array().expect("threads");
        let rows: Vec<_> = rows
            .iter()
            .map(|row| ["rank", "thread", "states", "in_states_s"].map(|key| row[key].as_f64()))
            .collect();
        let row = |values: [f64; 4]| values.map(Some);
        // Rank 0 computes while its I/O goes on. The device is listed, but shares are not of its time.
        let expected = [
            [0.0, 0.0, 2.0, 2.0],
            [1.0, 0.0, 1.0, 4.0],
            [2.0, 0.0, 1.0, 1.0],
        ];
        assert_eq!(rows, expected.map(row), "{more:?}");
        let categories = stats["categories"].as_array().expect("categories");
        let share = |name: &str| {
            let found = categories.iter().find(|row| row["category"] == name);
            found.expect(name)["exclusive"].as_f64()
        };
        assert_eq!(share("MPI_Barrier"), Some(0.75), "{more:?}");
        assert_eq!(share("aio_write"), Some(0.375), "{more:?}");
    }
}

#[test]
fn a_thread_is_filtered_with_its_asynchronous_io() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("run.slog2");
    written(&path);
    let file = path.display().to_string();
    for name in ["some.slog2", "some.json"] {
        let some = folder.path().join(name).display().to_string();
        printed(&["filter", "-q", "--thread", "0", "--rank", "0", &file, &some]);
        if name.ends_with("slog2") {
            let rows = printed(&["print", "--json", &some]);
            assert!(
                rows.contains("aio_write") && rows.contains("MPI_Barrier"),
                "{rows}"
            );
        } else {
            let text = std::fs::read_to_string(&some).expect("file");
            assert!(text.contains("aio_write"), "{text}");
        }
        let none = folder.path().join("none.slog2").display().to_string();
        let output = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
            .args(["filter", "--thread", "1", "--force", &file, &none])
            .output();
        // No thread 1 is left: its number only told the lines apart.
        assert!(!output.expect("mpitrace").status.success());
    }
}
