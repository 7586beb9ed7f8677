//! The commands about SLOG2 files: annotations in `convert` and `print`, `updates`, `composite`.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use trace_formats::clog2::{
    Clog2Body, Clog2EventDef, Clog2Record, Clog2RecordHeader, Clog2StateDef, Clog2Writer,
    FixedText, Preamble,
};
use trace_formats::slog2::{DrawableWalk, NodeDrawable, Slog2Layout, Slog2Reader, rewrite};

/// A folder of its own for a test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("mpitrace-slog2-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    /// Runs mpitrace in the folder.
    fn run(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
        command.args(arguments.split_whitespace());
        command.current_dir(&self.0).output().unwrap()
    }

    /// Runs it and gives its output, which must be fine.
    fn fine(&self, arguments: &str) -> Vec<u8> {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments}: {output:?}");
        output.stdout
    }

    /// Runs it and gives its message, which must be about bad data or a bad call.
    fn bad(&self, status: i32, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!(
            output.status.code(),
            Some(status),
            "{arguments}: {output:?}"
        );
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A log of two ranks: in each step an outer state with a state and an event in it, all of rank 0 with the CallID of what
/// rank 1 does later.
fn write_log(path: &Path, steps: u64) {
    let preamble = Preamble {
        max_comm_world_size: 2,
        user_state_id_count: 2,
        user_solo_event_id_count: 1,
        ..Preamble::default()
    };
    let mut writer = Clog2Writer::create(path, &preamble).unwrap();
    let mut put = |time: f64, rank: i32, body: Clog2Body| {
        let header = Clog2RecordHeader {
            time,
            rank,
            ..Clog2RecordHeader::default()
        };
        writer.write(&Clog2Record { header, body }).unwrap();
    };
    for (state_id, name) in [(300, "outer"), (301, "inner")] {
        let def = Clog2StateDef {
            state_id,
            start_etype: 2 * state_id,
            final_etype: 2 * state_id + 1,
            color: FixedText::new("red"),
            name: FixedText::new(name),
            format: FixedText::new("CallID=0x%X"),
        };
        put(0.0, 0, Clog2Body::StateDef(def));
    }
    let def = Clog2EventDef {
        etype: 5000,
        color: FixedText::new("blue"),
        name: FixedText::new("mark"),
        format: FixedText::new(""),
    };
    put(0.0, 0, Clog2Body::EventDef(def));
    for step in 0..steps {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&(step + 1).to_be_bytes());
        let cargo = |etype: i32| Clog2Body::Cargo { etype, bytes };
        let time = |eighths: u32| step as f64 + f64::from(eighths) / 8.0;
        put(time(0), 0, Clog2Body::Bare { etype: 600 });
        put(time(1), 0, Clog2Body::Bare { etype: 602 });
        put(time(2), 0, Clog2Body::Bare { etype: 5000 });
        put(time(3), 0, cargo(603));
        put(time(4), 0, cargo(601));
        put(time(5), 1, Clog2Body::Bare { etype: 602 });
        put(time(6), 1, cargo(603));
    }
    writer.finish(&Default::default(), &preamble).unwrap();
}

#[test]
fn annotations_are_read_with_their_log() {
    let folder = Folder::new("annotation");
    write_log(&folder.path("run.clog2"), 200);
    folder.fine("convert -q --leaf 2k run.clog2 full.slog2");
    folder.fine("convert -q --leaf 2k run.clog2 run.slog2a");
    folder.fine("convert -q --leaf 2k --annotation run.clog2 same.slog2");
    assert_eq!(folder.read("run.slog2a"), folder.read("same.slog2"));
    assert!(folder.read("run.slog2a").len() < folder.read("full.slog2").len());
    for command in ["print", "print --recursive", "print -de -s"] {
        let [both, full] =
            ["run.slog2a", "full.slog2"].map(|name| folder.fine(&format!("{command} {name}")));
        assert_eq!(both, full, "{command}");
    }
    folder.fine("convert -q run.slog2a again.slog2");
    assert_eq!(folder.read("again.slog2"), folder.read("full.slog2"));

    // Without its log, with another one, from what is no log.
    fs::rename(folder.path("run.clog2"), folder.path("other.clog2")).unwrap();
    let message = folder.bad(1, "print run.slog2a");
    assert!(
        message.contains("needs its CLOG2 file beside it: run.clog2"),
        "{message}"
    );
    write_log(&folder.path("run.clog2"), 199);
    let message = folder.bad(1, "print run.slog2a");
    assert!(message.contains("not the CLOG2 file that"), "{message}");
    let message = folder.bad(2, "convert full.slog2 x.slog2a");
    assert!(message.contains("points into a CLOG2 file"), "{message}");
}

#[test]
fn updates_bring_2_0_5_to_2_0_6() {
    let folder = Folder::new("updates");
    write_log(&folder.path("run.clog2"), 100);
    folder.fine("convert -q --leaf 2k run.clog2 new.slog2");
    let new = folder.read("new.slog2");
    let reader = Slog2Reader::new(&new).unwrap();
    let old = rewrite(&reader, Slog2Layout::V205, Cursor::new(Vec::new())).unwrap();
    fs::write(folder.path("old.slog2"), old.0.into_inner()).unwrap();
    let text = folder.fine("print old.slog2");
    assert!(text.windows(10).any(|part| part == b"SLOG 2.0.5"));

    folder.fine("updates -q old.slog2");
    assert_eq!(folder.read("old.slog2.slog2"), new);

    let message = folder.bad(2, "updates -q old.slog2");
    assert!(
        message.contains("old.slog2.slog2: exists already"),
        "{message}"
    );
    fs::write(folder.path("kept.slog2"), "precious").unwrap();
    folder.bad(2, "updates -q old.slog2 kept.slog2");
    assert_eq!(folder.read("kept.slog2"), b"precious");
    folder.fine("updates -q --force old.slog2 kept.slog2");
    assert_eq!(folder.read("kept.slog2"), new);
    let before = folder.read("old.slog2");
    let message = folder.bad(2, "updates -q --force old.slog2 old.slog2");
    assert!(message.contains("this is the input"), "{message}");
    assert_eq!(folder.read("old.slog2"), before);

    let message = folder.bad(1, "updates new.slog2 x.slog2");
    assert!(message.contains("2.0.6 already"), "{message}");
    assert!(!folder.path("x.slog2").exists());
}

/// Number of composites in a file, and of their parts.
fn composites(file: &[u8]) -> (usize, usize) {
    let reader = Slog2Reader::new(file).unwrap();
    let drawables = DrawableWalk::new(&reader).map(|drawable| drawable.unwrap());
    drawables.fold((0, 0), |(wholes, parts), drawable| match drawable {
        NodeDrawable::Primitive(_) => (wholes, parts),
        NodeDrawable::Composite(composite) => (wholes + 1, parts + composite.primitives.len()),
    })
}

#[test]
fn composites_are_put_together() {
    let folder = Folder::new("composite");
    write_log(&folder.path("run.clog2"), 50);
    // outer with inner and mark; inner of rank 1 has nothing in it.
    folder.fine("composite -q run.clog2 nested.slog2");
    // Counts and previews are those that the parts have.
    folder.fine("check nested.slog2");
    folder.fine("composite -q --leaf 500 run.clog2 levels.slog2");
    folder.fine("check levels.slog2");
    assert_eq!(composites(&folder.read("nested.slog2")), (50, 150));
    folder.fine("composite -q --head inn* run.clog2 inner.slog2");
    assert_eq!(composites(&folder.read("inner.slog2")), (50, 100));
    // A category that begins no composite, and one that the trace does not have.
    folder.fine("composite -q --head mark run.clog2 none.slog2");
    assert_eq!(composites(&folder.read("none.slog2")), (0, 0));
    let told = folder.bad(2, "composite -q --head nothing run.clog2 other.slog2");
    assert!(told.contains("--head nothing: run.clog2 has no such category"));
    // All that has one CallID, on both lines: outer, and two inner ones.
    folder.fine("composite -q --by call-id run.clog2 calls.slog2");
    let calls = folder.read("calls.slog2");
    assert_eq!(composites(&calls), (50, 150));
    let reader = Slog2Reader::new(&calls).unwrap();
    let whole = reader
        .categories()
        .iter()
        .find(|category| category.name.to_str() == "outer (CallID)")
        .unwrap();
    assert_eq!(whole.info_types, b"X");
    let last = reader.line_id_maps().last().unwrap();
    assert_eq!(last.method_ids, [1]);
    let text = String::from_utf8_lossy(&folder.fine("print calls.slog2")).into_owned();
    assert!(text.contains("methods=< CONNECT_COMPOSITE_STATE >"));
    assert_eq!(text.matches(": Composite[ ").count(), 50);
    // Whoever copies the file copies them.
    folder.fine("convert -q --leaf 1k calls.slog2 small.slog2");
    assert_eq!(composites(&folder.read("small.slog2")), (50, 150));
}
