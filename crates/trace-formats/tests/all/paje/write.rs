//! Drawables written as Pajé and read again.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use trace_formats::paje::{
    FieldDialect, PajePrintOptions, PajeSink, PajeSource, PajeTrace, WriteOptions, print,
};
use trace_formats::slog2;
use trace_model::{
    Category, Color, Definitions, Drawable, InfoWriter, Line, Losses, Source as _, Topology,
    Vertex, convert, value_names,
};

#[derive(Clone, Debug, PartialEq)]
struct Thing {
    topology: Topology,
    category: i32,
    info: Vec<u8>,
    vertices: Vec<(f64, i32)>,
}

/// Things to be written.
struct Things {
    definitions: Definitions,
    things: Vec<Thing>,
}

impl trace_model::Source for Things {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), trace_model::Stop>,
    ) -> Result<Losses, trace_model::Stop> {
        for thing in &self.things {
            let vertices: Vec<Vertex> = thing
                .vertices
                .iter()
                .map(|&(time, line)| Vertex { time, line })
                .collect();
            put(&Drawable {
                topology: thing.topology,
                category: thing.category,
                info: &thing.info,
                vertices: &vertices,
            })?;
        }
        Ok(Losses::default())
    }
}

fn definitions() -> Definitions {
    let mut call = Category::new(1, "MPI_Send".into(), Topology::State, Color::rgb(0x1080ff));
    call.set_info_format(b"CallID=0x%X, ratio=%E, name: %s");
    let plain = Category::new(
        2,
        "compute \"1\"".into(),
        Topology::State,
        Color::rgb(0x00ff00),
    );
    let mut event = Category::new(3, "mark".into(), Topology::Event, Color::rgb(0xff0000));
    event.set_info_format(b"Time=%l");
    let line = |id, rank, thread, host: &str| Line {
        host: Some(host.into()),
        ..Line::of_thread(id, rank, thread)
    };
    Definitions {
        program: "a.out".into(),
        categories: vec![Category::message(), call, plain, event],
        lines: vec![
            line(0, 0, 0, "n0"),
            line(1, 0, 1, "n0"),
            line(2, 1, 0, "n1"),
        ],
        ..Definitions::default()
    }
}

/// The trace that is written of it, and what was lost.
fn written(source: &dyn trace_model::Source, dialect: FieldDialect) -> (Vec<u8>, Losses) {
    let out = Rc::new(RefCell::new(Vec::new()));
    let kept = out.clone();
    let options = WriteOptions { dialect };
    let sink = PajeSink::new(Vec::new(), source.definitions(), options, move |bytes| {
        *kept.borrow_mut() = bytes;
        Ok(())
    });
    let losses = convert(source, Box::new(sink.expect("memory"))).expect("converted");
    (out.take(), losses)
}

fn read(trace: &[u8]) -> (Definitions, Vec<Thing>, Losses) {
    let source = PajeSource::new(PajeTrace::new(trace)).expect("good trace");
    let mut found = Vec::new();
    let losses = source.for_each(&mut |drawable| {
        found.push(Thing {
            topology: drawable.topology,
            category: drawable.category,
            info: drawable.info.to_vec(),
            vertices: drawable.vertices.iter().map(|v| (v.time, v.line)).collect(),
        });
        Ok(())
    });
    (
        source.definitions().clone(),
        found,
        losses.expect("read once already"),
    )
}

/// A thing with names in place of numbers, and its info as text, so that traces with other numbers can be compared.
fn named(definitions: &Definitions, things: &[Thing]) -> Vec<String> {
    let mut named: Vec<String> = things
        .iter()
        .map(|thing| {
            let category = definitions.category(thing.category).expect("defined");
            let values: Vec<String> = trace_model::info_values(category, &thing.info)
                .map(|(_, value)| format!("{value:?}"))
                .filter(|text| !text.contains("77, 80, 73, 95, 67, 79, 77, 77")) // MPI_COMM…
                .collect();
            format!(
                "{:?} {} {:?} {values:?}",
                thing.topology,
                category.name.to_str().replace('\'', "\""),
                thing.vertices
            )
        })
        .collect();
    named.sort();
    named
}

/// Our own reader finds nothing wrong, and pj_dump's rules are kept.
fn check(trace: &[u8]) -> String {
    let mut out = Vec::new();
    let printed = print(
        &PajeTrace::new(trace),
        &PajePrintOptions::default(),
        &mut out,
    )
    .expect("memory");
    let text = String::from_utf8_lossy(trace);
    assert!(printed.error.is_none(), "{:?} in {text}", printed.error);
    assert!(
        printed.warnings.is_empty(),
        "{:?} in {text}",
        printed.warnings
    );
    assert!(!text.contains("PajeResetState") && !text.contains('\r'));
    for line in text.lines() {
        let outside: String = line.split('"').step_by(2).collect();
        assert!(!outside.contains('#') && !line.is_empty(), "{line}");
    }
    String::from_utf8(out).expect("UTF-8")
}

fn info(id: i64, ratio: f64, name: &str) -> Vec<u8> {
    InfoWriter::default()
        .long(id)
        .real(ratio)
        .text(name.as_bytes())
        .bytes()
        .to_vec()
}

fn state(category: i32, line: i32, start: f64, end: f64, info: Vec<u8>) -> Thing {
    Thing {
        topology: Topology::State,
        category,
        info,
        vertices: vec![(start, line), (end, line)],
    }
}

fn message(from: (f64, i32), to: (f64, i32), tag: i32, size: i32) -> Thing {
    Thing {
        topology: Topology::Arrow,
        category: 0,
        info: InfoWriter::default().int(tag).int(size).bytes().to_vec(),
        vertices: vec![from, to],
    }
}

fn event(time: f64, line: i32, value: i64) -> Thing {
    Thing {
        topology: Topology::Event,
        category: 3,
        info: InfoWriter::default().long(value).bytes().to_vec(),
        vertices: vec![(time, line)],
    }
}

#[test]
fn a_trace_of_ours_looks_as_the_mapping_has_it() {
    let things = Things {
        definitions: definitions(),
        things: vec![
            state(2, 0, 0.5, 2.0, vec![]),
            state(1, 0, 1.0, 2.0, info(0x1_0000_0007, 0.25, "a b")),
            message((1.5, 0), (2.0, 2), 7, 4096),
            event(1.75, 1, -3),
        ],
    };
    let (trace, losses) = written(&things, FieldDialect::New);
    assert!(losses.is_empty());
    let text = String::from_utf8(trace.clone()).expect("UTF-8");
    let events = text.split_once("\n0 CP 0 Program\n").expect("types").1;
    let expected = "0 CN CP Node\n0 CR CN Rank\n0 CT CR Thread\n1 VF CR \"Bytes in flight\" \"0.9 0.4 0.1\"\n\
        2 SM CT \"MPI call\"\n3 EU CT Marker \"0.2 0.2 0.2\"\n4 LM CP CT CT \"MPI message\"\n\
        5 rn SM Running \"0.80 0.80 0.80\"\n5 v0 LM \"MPI point-to-point\" \"1.000 1.000 1.000\"\n\
        5 v1 SM \"MPI_Send\" \"0.063 0.502 1.000\"\n5 v2 SM \"compute '1'\" \"0.000 1.000 0.000\"\n\
        5 v3 EU \"mark\" \"1.000 0.000 0.000\"\n\
        6 0.000000000 P CP 0 \"a.out\"\n6 0.000000000 N0 CN P \"n0\"\n6 0.000000000 N1 CN P \"n1\"\n\
        6 0.000000000 R0 CR N0 \"rank 0\"\n8 0.000000000 VF R0 0\n\
        6 0.000000000 R0T0 CT R0 \"rank 0 thread 0\"\n11 0.000000000 SM R0T0 rn\n\
        6 0.000000000 R1 CR N1 \"rank 1\"\n8 0.000000000 VF R1 0\n\
        6 0.000000000 R1T0 CT R1 \"rank 1 thread 0\"\n11 0.000000000 SM R1T0 rn\n\
        12 0.500000000 SM R0T0 v2\n\
        19 1.000000000 SM R0T0 v1 0x100000007 0.25 \"a b\"\n\
        18 1.500000000 LM P R0T0 v0 k1 7 4096 MPI_COMM_WORLD\n9 1.500000000 VF R0 4096\n\
        6 1.750000000 R0T1 CT R0 \"rank 0 thread 1\"\n11 1.750000000 SM R0T1 rn\n20 1.750000000 EU R0T1 v3 -3\n\
        16 2.000000000 LM P R1T0 v0 k1\n10 2.000000000 VF R0 4096\n\
        13 2.000000000 SM R0T0\n13 2.000000000 SM R0T0\n\
        13 2.000000000 SM R0T0\n7 2.000000000 R0T0 CT\n13 2.000000000 SM R0T1\n7 2.000000000 R0T1 CT\n7 2.000000000 R0 CR\n\
        13 2.000000000 SM R1T0\n7 2.000000000 R1T0 CT\n7 2.000000000 R1 CR\n\
        7 2.000000000 N0 CN\n7 2.000000000 N1 CN\n7 2.000000000 P CP\n";
    assert_eq!(events, expected);
    for definition in [
        "%EventDef PajePushState 19\n%  Time date\n%  Type string\n%  Container string\n%  Value string\n\
         %  CallID hex\n%  ratio double\n%  name string\n%EndEventDef\n",
        "%EventDef PajeNewEvent 20\n%  Time date\n%  Type string\n%  Container string\n%  Value string\n\
         %  UserTime int\n%EndEventDef\n",
        "%EventDef PajeDefineEntityValue 5\n%  Alias string\n%  Type string\n%  Name string\n%  Color color\n%EndEventDef\n",
    ] {
        assert!(text.contains(definition), "{definition} in {text}");
    }
    let (old, _) = written(&things, FieldDialect::Old);
    let old = String::from_utf8(old).expect("UTF-8");
    assert!(old.contains("%  EntityType string\n") && old.contains("%  SourceContainer string\n"));
    assert_eq!(check(old.as_bytes()), check(&trace));
    let mut renamed = Vec::new();
    trace_formats::paje::rewrite(&trace, Some(FieldDialect::Old), &mut renamed)
        .expect("good trace");
    assert_eq!(String::from_utf8(renamed).expect("UTF-8"), old);

    let (definitions, found, losses) = read(&trace);
    assert!(losses.is_empty());
    assert_eq!(definitions.lines, things.definitions.lines);
    assert_eq!(definitions.program, "a.out");
    let colors = |definitions: &Definitions| {
        let mut colors: Vec<u32> = definitions.categories.iter().map(|c| c.color.0).collect();
        colors.sort();
        colors
    };
    assert_eq!(colors(&definitions), colors(&things.definitions));
    assert_eq!(
        named(&definitions, &found),
        named(&things.definitions, &things.things)
    );
}

#[test]
fn times_below_zero_move_the_trace() {
    let things = Things {
        definitions: definitions(),
        things: vec![
            state(2, 2, -1.5, 0.5, vec![]),
            message((2.0, 0), (-1.0, 2), 1, 1),
        ],
    };
    let (trace, losses) = written(&things, FieldDialect::New);
    assert!(losses.is_empty());
    let text = check(&trace);
    assert!(text.contains(
        "State, rank 1 thread 0, MPI call, 0.000000, 2.000000, 2.000000, 1.000000, compute '1'\n"
    ));
    assert!(text.contains("Link, a.out, MPI message, 3.500000, 0.500000, -3.000000, MPI point-to-point, rank 0 thread 0, rank 1 thread 0, k1\n"));
}

#[test]
fn states_that_overlap_are_cut_in_two() {
    let things = Things {
        definitions: definitions(),
        things: vec![
            state(2, 0, 1.0, 3.0, vec![]),
            state(1, 0, 2.0, 4.0, info(1, 1.0, "")),
        ],
    };
    let (trace, losses) = written(&things, FieldDialect::New);
    assert_eq!(losses.count("state that another one cuts in two"), 1);
    let text = check(&trace);
    for expected in [
        "1.000000, 3.000000, 2.000000, 1.000000, compute",
        "2.000000, 3.000000, 1.000000, 2.000000, MPI_Send",
        "3.000000, 4.000000, 1.000000, 1.000000, MPI_Send",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn names_that_look_like_our_aliases_get_a_blank() {
    let mut things = Things {
        definitions: definitions(),
        things: vec![
            state(2, 0, 1.0, 3.0, vec![]),
            state(1, 0, 1.5, 2.0, info(1, 1.0, "")),
        ],
    };
    things.definitions.categories[1].name = "v2".into();
    things.definitions.categories[2].name = "rn".into();
    let text = check(&written(&things, FieldDialect::New).0);
    assert!(text.contains("1.000000, 3.000000, 2.000000, 1.000000, rn \n"));
    assert!(text.contains("1.500000, 2.000000, 0.500000, 2.000000, v2 \n"));
}

/// What overlaps on a thread has a line of the same rank and thread beside the thread's own, and a name that tells so.
#[test]
fn lines_beside_a_thread_leave_ranks_as_they_are() {
    let mut definitions = definitions();
    for (id, name) in [(3, "rank 0 thread 0 AIO 1"), (4, "rank 0 thread 0 AIO 2")] {
        definitions.lines.push(Line {
            name: Some(name.into()),
            host: Some("n0".into()),
            ..Line::of_thread(id, 0, 0)
        });
    }
    let things = (0..5).map(|line| state(2, line, 1.0, 2.0, vec![]));
    let mut things: Vec<Thing> = things.collect();
    things.push(message((1.25, 0), (1.5, 2), 7, 8));
    let (trace, _) = written(
        &Things {
            definitions,
            things,
        },
        FieldDialect::New,
    );
    let (again, things_again, _) = read(&trace);
    let lines: Vec<_> = again
        .lines
        .iter()
        .map(|line| (line.rank, line.name.as_deref()))
        .collect();
    assert_eq!(
        lines,
        [
            (0, None),
            (0, None),
            (0, Some("rank 0 thread 0 AIO 1")),
            (0, Some("rank 0 thread 0 AIO 2")),
            (1, None),
        ]
    );
    let arrows = things_again
        .iter()
        .filter(|thing| thing.topology == Topology::Arrow);
    assert_eq!(arrows.count(), 1);
}

/// The ranks of a communicator may be in another order than those of MPI_COMM_WORLD, and roots are told by them. Fields have the names of
/// values, without the units of the values before them.
#[test]
fn ranks_in_communicators_and_names_of_values_are_read_again() {
    let mut definitions = definitions();
    let places = [(3, 0, 1, None), (4, 1, 0, Some("one of ours"))];
    definitions
        .lines
        .extend(places.map(|(id, rank, comm_rank, name)| Line {
            comm: 2,
            comm_rank,
            name: name.map(str::to_owned),
            host: Some("n0".into()),
            ..Line::of_thread(id, rank, 0)
        }));
    definitions.categories[1].set_info_format(b"lasts=%l ns, complete=%l ns; writes=%d");
    let mut info = InfoWriter::default();
    info.long(5).long(6).int(7);
    let things = vec![
        state(1, 3, 1.0, 2.0, info.bytes().to_vec()),
        state(2, 4, 1.0, 2.0, vec![]),
    ];
    let things = Things {
        definitions,
        things,
    };
    let (trace, losses) = written(&things, FieldDialect::New);
    assert!(losses.is_empty(), "{losses}");
    let (again, ..) = read(&trace);
    let of_comm = again.lines.iter().filter(|line| line.comm == 2);
    let of_comm: Vec<_> = of_comm
        .map(|line| (line.rank, line.comm_rank, line.name.as_deref()))
        .collect();
    assert_eq!(of_comm, [(0, 1, None), (1, 0, Some("one of ours"))]);
    let fields = again.categories.iter().map(value_names);
    let fields: Vec<_> = fields.filter(|fields| fields.len() == 3).collect();
    assert_eq!(fields, [["lasts", "complete", "writes"]]);
}

#[test]
fn what_has_no_place_is_counted() {
    let mut things = Things {
        definitions: definitions(),
        things: vec![
            state(2, 9, 1.0, 3.0, vec![]),
            state(7, 0, 1.0, 3.0, vec![]),
            state(0, 0, 1.0, 3.0, vec![]),
            state(2, 0, 1.0, f64::NAN, vec![]),
        ],
    };
    let mut wide = Category::new(4, "wide".into(), Topology::State, Color::WHITE);
    wide.set_info_format(b"a=%d b=%d c=%d d=%d e=%d f=%d g=%d h=%d i=%d j=%d k=%d l=%d m=%d n=%d");
    things.definitions.categories.push(wide);
    let (trace, losses) = written(&things, FieldDialect::New);
    check(&trace);
    assert_eq!(losses.count("drawable on a line that is not defined"), 1);
    assert_eq!(
        losses.count("drawable of a category that is not defined"),
        2
    );
    assert_eq!(losses.count("drawable without a time"), 1);
    assert_eq!(
        losses.count("value of an info beyond the twelve that a line can hold"),
        1
    );
}

/// Through SLOG2 and back nothing is lost.
#[test]
fn slog2_holds_what_paje_holds() {
    let things = Things {
        definitions: definitions(),
        things: vec![
            state(1, 0, 1.0, 2.0, info(5, 0.5, "x")),
            state(2, 2, 1.25, 2.0, vec![]),
            message((1.5, 0), (1.75, 2), 7, 4096),
            event(1.5, 1, 3),
        ],
    };
    let (trace, _) = written(&things, FieldDialect::New);
    let source = PajeSource::new(PajeTrace::new(&trace)).expect("good trace");
    let file = Rc::new(RefCell::new(Vec::new()));
    let kept = file.clone();
    let out = std::io::Cursor::new(Vec::new());
    let sink = slog2::Slog2Sink::new(
        out,
        source.definitions(),
        slog2::TreeOptions::default(),
        move |out| {
            *kept.borrow_mut() = out.into_inner();
            Ok(())
        },
    );
    let losses = convert(&source, Box::new(sink.expect("memory"))).expect("converted");
    assert!(losses.is_empty(), "{losses}");
    let file = file.take();
    let back = slog2::Slog2Source::new(&file).expect("good file");
    let (again, losses) = written(&back, FieldDialect::New);
    assert!(losses.is_empty(), "{losses}");
    let (definitions, found, _) = read(&again);
    assert_eq!(
        named(&definitions, &found),
        named(&things.definitions, &things.things)
    );
}

/// Nested states on three lines, messages and events, at whole microseconds so that times are exact in nine decimals.
fn things() -> impl Strategy<Value = Vec<Thing>> {
    let time = |micros: u32| f64::from(micros) / 1e6;
    let call = (any::<i64>(), -9i32..9, "[a-z \"#\u{e9}]{0,5}");
    let states =
        proptest::collection::vec((0i32..3, 0u32..50, 0u32..50, any::<bool>(), call), 0..30);
    let others = proptest::collection::vec(
        (
            0i32..3,
            0i32..3,
            0u32..60,
            0u32..60,
            any::<i32>(),
            any::<bool>(),
        ),
        0..20,
    );
    (states, others).prop_map(move |(states, others)| {
        let mut things: Vec<Thing> = Vec::new();
        let mut spans: Vec<(i32, u32, u32)> = Vec::new();
        for (line, start, length, plain, (id, ratio, name)) in states {
            let (start, end) = (start, start + length);
            // Either one lies inside the other, or they do not touch; and none is like another.
            let fits = spans.iter().all(|&(other, a, b)| {
                other != line
                    || end <= a
                    || b <= start
                    || (a < start && end < b)
                    || (start < a && b < end)
            });
            if !fits || start == end {
                continue;
            }
            spans.push((line, start, end));
            let name = if name.is_empty() { " ".into() } else { name };
            things.push(match plain {
                true => state(2, line, time(start), time(end), vec![]),
                false => state(
                    1,
                    line,
                    time(start),
                    time(end),
                    info(id, f64::from(ratio) / 4.0, &name),
                ),
            });
        }
        for (from, to, sent, received, number, is_event) in others {
            things.push(match is_event {
                true => event(time(sent), from, number.into()),
                false => message(
                    (time(sent), from),
                    (time(received), to),
                    number,
                    number.saturating_abs(),
                ),
            });
        }
        things
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(things in things()) {
        let things = Things { definitions: definitions(), things };
        let (trace, losses) = written(&things, FieldDialect::New);
        prop_assert!(losses.is_empty());
        check(&trace);
        let (mut definitions, found, losses) = read(&trace);
        prop_assert!(losses.is_empty(), "{}", losses);
        // The quotes of names and texts become single ones.
        let expected: Vec<String> = named(&things.definitions, &things.things)
            .into_iter().map(|text| text.replace("34,", "39,").replace("34]", "39]")).collect();
        definitions.lines.clear();
        prop_assert_eq!(named(&definitions, &found), expected);
    }
}
