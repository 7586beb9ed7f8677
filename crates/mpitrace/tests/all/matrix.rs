//! Any format into any other that can hold it: a trace of nested states, messages and events goes from each format to each
//! other and then to SLOG2, where it must be the same trace.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use trace_formats::clog2::{
    Clog2Body, Clog2CommEvent, Clog2EventDef, Clog2Msg, Clog2Record, Clog2RecordHeader,
    Clog2StateDef, Clog2Writer, CommTable, FixedText, Gid, Preamble, comm_etype, msg_etype,
};
use trace_formats::slog2::{Slog2Reader, Topology};

/// Endings of the formats that hold drawables or events.
const FORMATS: [&str; 6] = ["clog2", "slog2", "alog", "clog", "trace", "slog"];

const RANKS: i32 = 3;
const STEPS: i32 = 20;

/// Ranks that pass messages on in a ring, in states of short names, on whole microseconds: what every format can hold.
fn sample(path: &Path) {
    let preamble = Preamble {
        max_comm_world_size: RANKS as u32,
        user_state_id_count: 3,
        user_solo_event_id_count: 1,
        ..Preamble::default()
    };
    let mut writer = Clog2Writer::create(path, &preamble).unwrap();
    let (state, event) = (
        preamble.user_event_id_start,
        preamble.user_solo_event_id_start,
    );
    let mut records: Vec<(f64, i32, Clog2Body)> = Vec::new();
    for rank in 0..RANKS {
        let (etype, icomm, wrank) = (comm_etype::WORLD_CREATE, 0, rank);
        let gid = Gid::new(1, 0.5, b"sample");
        let comm = Clog2CommEvent {
            etype,
            icomm,
            rank,
            wrank,
            gid,
        };
        records.push((0.0, rank, Clog2Body::Comm(comm)));
    }
    for (nth, (name, color)) in [("Step", "gold"), ("Send", "blue"), ("Receive", "green")]
        .into_iter()
        .enumerate()
    {
        let start_etype = state + 2 * nth as i32;
        records.push((
            0.0,
            0,
            Clog2Body::StateDef(Clog2StateDef {
                state_id: nth as i32 + 1,
                start_etype,
                final_etype: start_etype + 1,
                color: FixedText::new(color),
                name: FixedText::new(name),
                format: FixedText::new(""),
            }),
        ));
    }
    records.push((
        0.0,
        0,
        Clog2Body::EventDef(Clog2EventDef {
            etype: event,
            color: FixedText::new("red"),
            name: FixedText::new("Mark"),
            format: FixedText::new(""),
        }),
    ));
    for step in 0..STEPS {
        for rank in 0..RANKS {
            let at = |microseconds: i32| f64::from(1000 * step + 10 * rank + microseconds) / 1e6;
            let bare = |etype| Clog2Body::Bare { etype };
            let message = |etype, rank| {
                Clog2Body::Msg(Clog2Msg {
                    etype,
                    icomm: 0,
                    rank,
                    tag: step,
                    size: 8 * step,
                })
            };
            let (next, before) = ((rank + 1) % RANKS, (rank + RANKS - 1) % RANKS);
            records.extend([
                (at(100), rank, bare(state)),
                (at(110), rank, bare(state + 2)),
                (at(115), rank, message(msg_etype::SEND, next)),
                (at(120), rank, bare(state + 3)),
                (at(200), rank, bare(event)),
                (at(300), rank, bare(state + 4)),
                (at(400), rank, message(msg_etype::RECV, before)),
                (at(500), rank, bare(state + 5)),
                (at(600), rank, bare(state + 1)),
            ]);
        }
    }
    records.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (time, rank, body) in records {
        let header = Clog2RecordHeader {
            time,
            icomm: 0,
            rank,
            thread: 0,
        };
        writer.write(&Clog2Record { header, body }).unwrap();
    }
    writer.finish(&CommTable::default(), &preamble).unwrap();
}

/// Number, and seconds together, of the drawables of each kind; arrows and what they are called differ from format to format.
type Contents = BTreeMap<(Topology, String), (u64, f64)>;

fn contents(path: &Path) -> Contents {
    let bytes = std::fs::read(path).unwrap();
    let reader = Slog2Reader::new(&bytes).unwrap();
    let mut contents = Contents::new();
    for entry in reader.directory() {
        let node = reader.node(entry.ptr).unwrap();
        for drawable in node.nestable.iter().chain(&node.nestless) {
            let category = reader
                .categories()
                .iter()
                .find(|c| c.index == drawable.category())
                .unwrap();
            let name = match category.topology {
                Topology::Arrow => String::new(),
                _ => category.name.to_str().into_owned(),
            };
            let sum = contents.entry((category.topology, name)).or_default();
            sum.0 += 1;
            sum.1 += drawable.bounds().duration();
        }
    }
    // The state in which a thread is outside all others is Pajé's own.
    contents.remove(&(Topology::State, "Running".to_owned()));
    contents
}

fn convert(from: &Path, to: &Path) {
    let output = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .args(["convert", "--quiet", "--force"])
        .args([from, to])
        .output()
        .unwrap();
    let (from, to) = (from.display(), to.display());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{from} to {to}: {printed}");
}

fn assert_same(found: &Contents, expected: &Contents, what: &str) {
    let counts = |contents: &Contents| -> Vec<_> {
        contents
            .iter()
            .map(|(kind, (count, _))| (kind.clone(), *count))
            .collect()
    };
    assert_eq!(counts(found), counts(expected), "{what}");
    for (kind, (count, seconds)) in expected {
        let other = found[kind].1;
        // A microsecond each is what the coarsest format keeps.
        let apart = (seconds - other).abs();
        assert!(
            apart <= 1e-6 * *count as f64,
            "{what}: {kind:?}: {other} instead of {seconds} s"
        );
    }
}

#[test]
fn from_each_format_to_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let original = file("original.clog2");
    sample(&original);
    convert(&original, &file("original.slog2"));
    let expected = contents(&file("original.slog2"));
    let (ranks, steps) = (RANKS as u64, STEPS as u64);
    assert_eq!(
        expected[&(Topology::State, "Step".to_owned())].0,
        ranks * steps
    );
    assert_eq!(expected[&(Topology::Arrow, String::new())].0, ranks * steps);
    for first in FORMATS {
        let from = file(&format!("first.{first}"));
        convert(&original, &from);
        for second in FORMATS {
            let to = file(&format!("second.{second}"));
            convert(&from, &to);
            let back = file("back.slog2");
            convert(&to, &back);
            let mut expected = expected.clone();
            if (first, second) == ("clog", "slog") {
                // clog2slog leaves events out.
                expected.remove(&(Topology::Event, "Mark".to_owned()));
            }
            assert_same(&contents(&back), &expected, &format!("{first} to {second}"));
        }
    }
}
