//! SLOG-1 files of our own: what is written is read, printed and drawn.

use crate::slog1::common::*;
use proptest::prelude::*;
use std::cell::RefCell;
use std::io::Cursor;
use std::rc::Rc;
use trace_formats::slog1::*;
use trace_model::{Category, Color, Definitions, Drawable, DrawableOrder, Line, Topology, Vertex};
use trace_model::{Sink as _, Source as _};

#[test]
fn the_small_file_is_as_stored_and_so_is_its_text() {
    let file = small_file();
    assert_stored("small.slog", &file);
    let (text, result) = printed(&file, "small.slog");
    result.expect("printed");
    assert_stored("small.txt", &text);
    let mut again = Vec::new();
    copy(&Slog1Reader::new(&file).expect("header"), &mut again).expect("copied");
    assert_same("copy", &again, &file);
}

/// The original finds no entry after the last one of a full directory, and ends without its last line.
#[test]
fn the_text_of_a_full_directory_has_no_last_line() {
    let frames = Slog1Reader::new(&small_file())
        .expect("header")
        .frames()
        .count() as u32;
    for (frames_per_directory, is_full) in [(frames, true), (frames + 1, false)] {
        let layout = FileLayout {
            frames_per_directory,
            ..SMALL
        };
        let (file, _) = written(&small_tables(), &layout, &small_records()).expect("written");
        let (text, result) = printed(&file, "x.slog");
        result.expect("printed");
        let has_last_line = text.ends_with(b"Finish reading records :\n");
        assert_eq!(has_last_line, !is_full, "{frames_per_directory} entries");
    }
}

#[test]
fn what_is_written_is_read() {
    let file = small_file();
    let reader = Slog1Reader::new(&file).expect("header");
    let tables = small_tables();
    assert_eq!(reader.preview().expect("preview"), tables.preview);
    let threads: Result<Vec<_>, _> = reader.threads().expect("threads").collect();
    assert_eq!(threads.expect("threads"), tables.threads);
    let profile = reader
        .profile()
        .expect("profile")
        .map(|entry| entry.expect("entry"));
    let mut kinds: Vec<Display> = tables.kinds.into_iter().map(|kind| kind.display).collect();
    kinds.sort_by_key(|display| display.key);
    kinds.retain(|display| display.key != RecordKey::whole(4));
    assert_eq!(profile.collect::<Vec<_>>(), kinds);
    let mut expected: Vec<Vec<u8>> = small_records()
        .iter()
        .map(|record| {
            let mut bytes = Vec::new();
            record.record().encode(&mut bytes);
            bytes
        })
        .collect();
    let mut found = check_frames(&file);
    assert!(reader.frames().count() > 3);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn records_by_start_time_take_one_pass_and_no_statistics() {
    let mut records = small_records();
    records.sort_by(|a, b| a.start.total_cmp(&b.start));
    let layout = FileLayout {
        frame_size: 512,
        frame_reserved: 0,
        order: TimeOrder::Start,
        ..SMALL
    };
    let (file, _) = written(&small_tables(), &layout, &records).expect("written");
    let reader = Slog1Reader::new(&file).expect("header");
    let statistics = reader.statistics().expect("statistics");
    assert_eq!((statistics.start, statistics.end), (-1.0, -1.0));
    let found: usize = reader
        .frames()
        .map(|frame| {
            let frame = frame.expect("frame");
            frame.records(Sector::Current).count() + frame.records(Sector::Outgoing).count()
        })
        .sum();
    assert_eq!(found, records.len());
}

/// Equation 11: the width of a bin times the sum of the bins is the time of all records.
#[test]
fn statistics_add_up_to_the_time_of_all_records() {
    let file = small_file();
    let reader = Slog1Reader::new(&file).expect("header");
    let statistics = reader.statistics().expect("statistics");
    for set in statistics.sets() {
        let set = set.expect("set");
        let sum: f64 = set.bins().sum::<f64>() * statistics.bin_width();
        let records = small_records();
        let of_type = records.iter().filter(|r| r.key.intvltype == set.intvltype);
        let expected: f64 = of_type.map(|record| record.duration).sum();
        // The first frame gets longer in the second pass, which the bins do not know.
        assert!((sum - expected).abs() < 1e-9, "{sum} {expected}");
    }
}

#[test]
fn the_writer_refuses_what_a_file_cannot_hold() {
    let tables = small_tables();
    let state = Owned::state(3, 1.0, 2.0, task(0, 0));
    let refused = |layout: &FileLayout, records: &[Owned]| {
        written(&tables, layout, records).expect_err("refused").kind
    };
    assert!(matches!(
        refused(&SMALL, &[Owned::state(99, 1.0, 2.0, task(0, 0))]),
        Slog1ErrorKind::Undefined(key) if key == RecordKey::whole(99)
    ));
    // Two arguments are defined.
    assert!(matches!(
        refused(&SMALL, std::slice::from_ref(&state)),
        Slog1ErrorKind::RecordSize {
            expected: 42,
            found: 34
        }
    ));
    let linked = Owned {
        associations: bytes_of(&[1, 2]),
        ..Owned::state(7, 1.0, 2.0, task(0, 0))
    };
    let small = FileLayout {
        frame_size: 60,
        ..SMALL
    };
    assert!(matches!(
        refused(&small, std::slice::from_ref(&linked)),
        Slog1ErrorKind::FrameFull { .. }
    ));
    let few = FileLayout {
        frames_per_directory: 1,
        ..SMALL
    };
    assert!(matches!(
        refused(&few, &small_records()),
        Slog1ErrorKind::DirectoryFull(1)
    ));
    let mut twice = small_tables();
    twice.kinds.push(twice.kinds[0].clone());
    assert!(matches!(
        written(&twice, &SMALL, &[]).expect_err("refused").kind,
        Slog1ErrorKind::Duplicate(_)
    ));
}

#[test]
fn room_is_kept_for_records_that_were_announced() {
    let tables = small_tables();
    let layout = FileLayout {
        frame_size: 256,
        frame_reserved: 0,
        ..SMALL
    };
    let linked = |start, end| Owned {
        associations: bytes_of(&[1, 2]),
        ..Owned::state(7, start, end, task(0, 0))
    };
    let make = |announced: bool| {
        let mut writer = Slog1Writer::new(Cursor::new(Vec::new()), &tables, &layout)?;
        for nth in 0..20 {
            let start = f64::from(nth);
            if announced {
                // One that lasts until the end, and one that is over soon.
                if nth == 0 {
                    writer.announce(STATE, RecordKey::whole(7))?;
                }
                writer.announce(STATE, RecordKey::whole(7))?;
            }
            writer.write(&linked(start, start + 0.5).record())?;
        }
        writer.write(&linked(0.25, 30.0).record())?;
        writer.finish()
    };
    assert!(matches!(
        make(false).expect_err("too full").kind,
        Slog1ErrorKind::FrameFull { size: 256, .. }
    ));
    let (file, written) = make(true).expect("written");
    assert!(written.header.has_reservations);
    assert_eq!(check_frames(&file.into_inner()).len(), 21);
}

/// A drawable that owns its parts.
#[derive(Clone, Debug, PartialEq)]
struct Drawn {
    topology: Topology,
    category: i32,
    info: Vec<u8>,
    vertices: Vec<(f64, i32)>,
}

impl Drawn {
    fn of(drawable: &Drawable<'_>) -> Self {
        Drawn {
            topology: drawable.topology,
            category: drawable.category,
            info: drawable.info.to_vec(),
            vertices: drawable.vertices.iter().map(|v| (v.time, v.line)).collect(),
        }
    }

    fn put(&self, sink: &mut dyn trace_model::Sink) {
        let vertices: Vec<Vertex> = self
            .vertices
            .iter()
            .map(|&(time, line)| Vertex { time, line })
            .collect();
        let drawable = Drawable {
            topology: self.topology,
            category: self.category,
            info: &self.info,
            vertices: &vertices,
        };
        sink.put(&drawable).expect("taken");
    }

    fn end(&self) -> f64 {
        let times = self.vertices.iter().map(|&(time, _)| time);
        times.fold(f64::NEG_INFINITY, f64::max)
    }
}

fn drawn(file: &[u8]) -> (Definitions, Vec<Drawn>) {
    let source = Slog1Source::new(file).expect("source");
    let mut all = Vec::new();
    source
        .for_each(&mut |drawable| {
            all.push(Drawn::of(drawable));
            Ok(())
        })
        .expect("drawn");
    (source.definitions().clone(), all)
}

/// The file that a sink makes of these.
fn sunk(definitions: &Definitions, all: &[Drawn], options: Slog1Options) -> Vec<u8> {
    let file = Rc::new(RefCell::new(Vec::new()));
    let made = file.clone();
    let create = || Ok(Cursor::new(Vec::new()));
    let mut sink = Slog1Sink::new(create, definitions, options, move |out: Cursor<Vec<u8>>| {
        *made.borrow_mut() = out.into_inner();
        Ok(())
    })
    .expect("started");
    assert_eq!(sink.order(), DrawableOrder::End);
    for one in all {
        one.put(&mut sink);
    }
    Box::new(sink).finish().expect("finished");
    file.take()
}

#[test]
fn drawables_of_the_small_file() {
    let (definitions, all) = drawn(&small_file());
    let names: Vec<_> = definitions
        .categories
        .iter()
        .map(|c| (c.index, c.name.to_str().into_owned(), c.topology))
        .collect();
    let expected = [
        (3, "Compute", Topology::State),
        (7, "Linked", Topology::State),
        (9 | 1 << 16, "Split", Topology::State),
        (9 | 3 << 16, "Split", Topology::State),
        (9, "Split", Topology::State),
        (12, "forward arrow", Topology::Arrow),
        (13, "backward arrow", Topology::Arrow),
    ];
    assert_eq!(
        names,
        expected.map(|(index, name, topology)| (index, name.to_string(), topology))
    );
    assert_eq!(definitions.categories[0].color, Color::rgb(0xff0000));
    assert_eq!(definitions.categories[0].info_types, b"dd");
    assert_eq!(definitions.lines[2], Line::of_thread(2, 1, 5));
    assert_eq!(all.len(), small_records().len());
    let backward = all.iter().find(|one| one.category == 13).expect("arrow");
    // The send comes first, though it is later.
    assert!(backward.vertices[0].0 > backward.vertices[1].0);
    assert_eq!(backward.vertices[0].1, 2);
}

#[test]
fn a_sink_makes_of_a_source_the_same_drawables() {
    let (definitions, mut all) = drawn(&small_file());
    all.sort_by(|a, b| a.end().total_cmp(&b.end()));
    let file = sunk(&definitions, &all, Slog1Options::default());
    check_frames(&file);
    let (again, found) = drawn(&file);
    assert_eq!(found, all);
    assert_eq!(again.categories, definitions.categories);
    assert_eq!(again.lines, definitions.lines);
}

#[test]
fn messages_and_events_have_kinds_of_their_own() {
    let mut step = Category::new(4, "Step".into(), Topology::Event, Color::rgb(0x00ff00));
    step.set_info_format(b"n=%d");
    let definitions = Definitions {
        categories: vec![Category::message(), step],
        lines: vec![Line::of_thread(0, 0, 0), Line::of_thread(1, 1, 0)],
        ..Definitions::default()
    };
    let message = |send: f64, receive: f64| Drawn {
        topology: Topology::Arrow,
        category: 0,
        info: bytes_of(&[7, 1024]),
        vertices: vec![(send, 0), (receive, 1)],
    };
    let event = Drawn {
        topology: Topology::Event,
        category: 4,
        info: bytes_of(&[3]),
        vertices: vec![(2.0, 1)],
    };
    let all = [message(0.5, 1.0), event.clone(), message(3.0, 2.5)];
    let file = sunk(&definitions, &all, Slog1Options::default());
    let (again, found) = drawn(&file);
    assert_eq!(found[1], event);
    let categories = [FORWARD, BACKWARD].map(i32::from);
    for (nth, category) in [(0, categories[0]), (2, categories[1])] {
        let expected = Drawn {
            category,
            ..all[nth].clone()
        };
        assert_eq!(found[nth], expected);
        let category = again.category(category).expect("defined");
        let info = trace_model::message(category, &found[nth].info).expect("message");
        assert_eq!((info.tag, info.size), (7, 1024));
    }
}

#[test]
fn frames_grow_until_all_that_is_open_fits() {
    let state = Category::new(1, "s".into(), Topology::State, Color::WHITE);
    let definitions = Definitions {
        categories: vec![state],
        lines: (0..500)
            .map(|rank| Line::of_thread(rank, rank, 0))
            .collect(),
        ..Definitions::default()
    };
    // Many short ones, then on each line one over all the time.
    let short = (0..4000).map(|nth| (f64::from(nth), f64::from(nth) + 0.5, nth % 500));
    let long = (0..500).map(|line| (f64::from(line) * 1e-3, 5000.0 + f64::from(line), line));
    let all: Vec<Drawn> = short
        .chain(long)
        .map(|(start, end, line)| Drawn {
            topology: Topology::State,
            category: 1,
            info: Vec::new(),
            vertices: vec![(start, line), (end, line)],
        })
        .collect();
    let file = sunk(&definitions, &all, Slog1Options::default());
    check_frames(&file);
    let reader = Slog1Reader::new(&file).expect("header");
    assert!(reader.frames().count() > 2);
    // 500 open states take 17 000 bytes, which fit without larger frames.
    assert_eq!(reader.header().frame_size, 65536);
    assert_eq!(drawn(&file).1.len(), all.len());
    let small = Slog1Options {
        frame_size: Some(4096),
        ..Slog1Options::default()
    };
    let create = || Ok(Cursor::new(Vec::new()));
    let mut sink = Slog1Sink::new(create, &definitions, small, |_| Ok(())).expect("started");
    for one in &all {
        one.put(&mut sink);
    }
    let refused = Box::new(sink).finish().expect_err("too small");
    assert!(
        refused.to_string().contains("frames must be larger"),
        "{refused}"
    );
}

proptest! {
    /// Any drawables: nested and not, of no duration, at equal times, arrows both ways.
    #[test]
    fn any_drawables_survive(
        spans in prop::collection::vec((0u16..400, 0u16..60, 0u8..4, 0u8..5, any::<u32>()), 0..300),
        frame_size in prop::option::of(1600u32..4000),
    ) {
        let mut state = Category::new(1, "state".into(), Topology::State, Color::rgb(0x0000ff));
        state.set_info_format(b"n=%d, m=%d");
        let definitions = Definitions {
            categories: vec![
                state,
                Category::new(2, "event".into(), Topology::Event, Color::rgb(0x00ff00)),
                Category::new(12, "a forward one".into(), Topology::Arrow, Color::WHITE),
                Category::new(13, "a backward one".into(), Topology::Arrow, Color::WHITE),
            ],
            lines: (0..5).map(|id| Line::of_thread(id, id / 2, id % 2)).collect(),
            ..Definitions::default()
        };
        let mut all: Vec<Drawn> = spans
            .iter()
            .map(|&(start, duration, kind, line, number)| {
                // Eighths, so that sums are exact.
                let (start, duration) = (f64::from(start) / 8.0, f64::from(duration) / 8.0);
                let (end, line) = (start + duration, i32::from(line));
                let (topology, category) = match kind {
                    0 => (Topology::State, 1),
                    1 => (Topology::Event, 2),
                    _ if duration > 0.0 && kind == 3 => (Topology::Arrow, 13),
                    _ => (Topology::Arrow, 12),
                };
                let other = (line + 1) % 5;
                let vertices = match category {
                    1 => vec![(start, line), (end, line)],
                    2 => vec![(start, line)],
                    13 => vec![(end, line), (start, other)],
                    _ => vec![(start, line), (end, other)],
                };
                let info = if kind == 0 { bytes_of(&[number, !number]) } else { Vec::new() };
                Drawn { topology, category, info, vertices }
            })
            .collect();
        all.sort_by(|a, b| a.end().total_cmp(&b.end()));
        // More states may be open at once than a small frame holds.
        let options = Slog1Options { frame_size: frame_size.filter(|_| all.len() < 30), frames_per_directory: None };
        let file = sunk(&definitions, &all, options);
        check_frames(&file);
        let (_, found) = drawn(&file);
        let text = |all: &[Drawn]| {
            let mut lines: Vec<String> = all.iter().map(|one| format!("{one:?}")).collect();
            lines.sort();
            lines
        };
        prop_assert_eq!(text(&found), text(&all));
        let mut again = Vec::new();
        copy(&Slog1Reader::new(&file).expect("header"), &mut again).expect("copied");
        prop_assert!(again == file);
    }
}

/// A CLOG-1 log of two ranks: nested states, messages in either order, some of which go on over several frames.
fn clog() -> Vec<u8> {
    use trace_formats::clog1::{
        Clog1Body, Clog1Comm, Clog1Layout, Clog1Record, Clog1RecordHeader, Clog1StateDef,
        Clog1Writer, RawEvent,
    };
    use trace_formats::clog2::FixedText;
    let mut writer = Clog1Writer::new(Vec::new(), Clog1Layout::default());
    let mut put = |time: f64, rank: i32, body: Clog1Body| {
        let pad = [0; 4];
        let header = Clog1RecordHeader { time, rank, pad };
        writer
            .write(&Clog1Record { header, body })
            .expect("written");
    };
    for rank in 0..2 {
        let (etype, parent, comm, srcloc) = (101, -1, 91, 900);
        let body = Clog1Body::Comm(Clog1Comm {
            etype,
            parent,
            comm,
            srcloc,
        });
        put(0.0, rank, body);
    }
    let raw = |etype, data| {
        Clog1Body::Raw(RawEvent {
            etype,
            data,
            ..RawEvent::default()
        })
    };
    put(0.015625, 0, raw(500, 0));
    for step in 0..40 {
        let at = |part: i32| f64::from(step) + f64::from(part) / 8.0;
        let (sender, receiver) = (step % 2, (step + 1) % 2);
        put(at(1), 0, raw(502, step));
        put(at(2), 1, raw(504, step));
        // Every third message is received before it is sent.
        let (send, receive) = if step % 3 == 0 { (4, 3) } else { (3, 4) };
        let mut ends = [
            (send, sender, raw(-101, receiver)),
            (receive, receiver, raw(-102, sender)),
        ];
        ends.sort_by_key(|end| end.0);
        for (part, rank, body) in ends {
            put(at(part), rank, body);
        }
        put(at(5), 1, raw(505, step));
        put(at(6), 0, raw(503, step));
    }
    put(41.0, 0, raw(501, 0));
    for (nth, (color, name)) in [("red", "All"), ("blue:gray3", "Part"), ("green", "Other!")]
        .into_iter()
        .enumerate()
    {
        let start_etype = 500 + 2 * nth as i32;
        let body = Clog1Body::StateDef(Clog1StateDef {
            state_id: 200 + nth as i32,
            start_etype,
            end_etype: start_etype + 1,
            color: FixedText::new(color),
            name: FixedText::new(name),
            ..Clog1StateDef::default()
        });
        put(41.5, 0, body);
    }
    writer.finish().expect("finished")
}

/// The stored file has the bytes that clog2slog -f=1 -d=9 made of the stored log.
#[test]
fn clog1_becomes_what_clog2slog_makes() {
    let clog = clog();
    assert_stored("from_clog.clog", &clog);
    let reader = trace_formats::clog1::Clog1Reader::new(&clog).expect("clog");
    let options = Slog1Options {
        frame_size: Some(1024),
        frames_per_directory: Some(9),
    };
    let create = || Ok(Cursor::new(Vec::new()));
    let (file, conversion) = from_clog1(&reader, create, &options).expect("converted");
    let file = file.into_inner();
    assert_stored("from_clog.slog", &file);
    assert_eq!(conversion.written.records, 1 + 3 * 40);
    assert_eq!(check_frames(&file).len(), 1 + 3 * 40);
    // Without options the frame is larger and there is one.
    let (_, conversion) = from_clog1(&reader, create, &Slog1Options::default()).expect("converted");
    assert_eq!(conversion.written.frames, 1);
}

#[test]
fn more_categories_than_types_are_refused() {
    let started = |count: i32| {
        let state = |index: i32| {
            let name = format!("s{index}").as_str().into();
            Category::new(index, name, Topology::State, Color::WHITE)
        };
        let categories = (1..count).map(state);
        let definitions = Definitions {
            categories: std::iter::once(Category::message())
                .chain(categories)
                .collect(),
            ..Definitions::default()
        };
        let create = || Ok(Cursor::new(Vec::new()));
        let sink = Slog1Sink::new(create, &definitions, Slog1Options::default(), |_| Ok(()));
        sink.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(started(60_000), Ok(()));
    let expected = "70000 categories; an SLOG-1 file has 65535 types of records";
    let error = started(70_000).expect_err("too many");
    assert!(error.starts_with(expected), "{error}");
}
