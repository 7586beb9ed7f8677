//! ALOG and CLOG-1 as sources and sinks of drawables, and each made of the other.

use crate::legacy::*;
use proptest::prelude::*;
use std::path::PathBuf;
use trace_formats::{alog, clog1};
use trace_model::{
    Category, Definitions, Drawable, DrawableOrder, Line, Losses, Source as _, Topology, Vertex,
    convert, info_values,
};

/// A drawable in words: name, topology, info, then time and rank of each corner.
type Shown = (String, Topology, String, Vec<(f64, i32)>);

fn shown(source: &dyn trace_model::Source) -> (Vec<Shown>, Losses) {
    let definitions = source.definitions();
    let mut found = Vec::new();
    let losses = source
        .for_each(&mut |drawable| {
            let category = definitions.category(drawable.category).unwrap();
            assert_eq!(category.topology, drawable.topology);
            let info: String = info_values(category, drawable.info)
                .map(|(key, value)| format!("{}{value:?}", key.to_str()))
                .collect();
            let place = |vertex: &Vertex| {
                let line = definitions.line(vertex.line).unwrap();
                (
                    vertex.time,
                    line.rank.wrapping_mul(100).wrapping_add(line.thread),
                )
            };
            let corners = drawable.vertices.iter().map(place).collect();
            let name = category.name.to_str().into_owned();
            found.push((name, drawable.topology, info, corners));
            Ok(())
        })
        .unwrap();
    (found, losses)
}

fn sorted(mut drawables: Vec<Shown>) -> Vec<Shown> {
    drawables.sort_by(|a, b| {
        let times = |shown: &Shown| shown.3.iter().map(|&(time, _)| time).collect::<Vec<_>>();
        times(a)
            .partial_cmp(&times(b))
            .unwrap()
            .then_with(|| a.0.cmp(&b.0))
            .then_with(|| a.2.cmp(&b.2))
            .then_with(|| a.3[0].1.cmp(&b.3[0].1))
    });
    drawables
}

/// A file that is removed in the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let process = std::process::id();
        let thread = std::thread::current().id();
        Temporary(std::env::temp_dir().join(format!("mpe1-{process}-{thread:?}-{name}")))
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.0).unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn to_clog1(source: &dyn trace_model::Source) -> (Vec<u8>, Losses) {
    let file = Temporary::new("x.clog");
    let sink = clog1::Clog1Sink::create(&file.0, source.definitions()).unwrap();
    let losses = convert(source, Box::new(sink)).unwrap();
    (file.bytes(), losses)
}

fn to_alog(source: &dyn trace_model::Source, is_mpe: bool) -> (Vec<u8>, Losses) {
    let file = Temporary::new("x.alog");
    let creator = Some("program 2026-11-20".to_string());
    let options = alog::AlogOptions { is_mpe, creator };
    let sink = alog::AlogSink::create(&file.0, source.definitions(), options).unwrap();
    let losses = convert(source, Box::new(sink)).unwrap();
    (file.bytes(), losses)
}

/// `spec/alog.md` section 3: states close the latest open one, messages pair in both orders, the rest is counted.
#[test]
fn events_are_paired() {
    use Topology::{Arrow, Event, State};
    let file = written(&small_log(), clog1::Clog1Layout::default());
    let source = clog1::Clog1Source::new(&file).unwrap();
    let (drawables, losses) = shown(&source);
    let expected: Vec<Shown> = [
        ("Step", Event, "data=Integer(3), text=Text([116, 104, 105, 114, 100, 32, 115, 116, 101, 112])", vec![(1.25, 0)]),
        ("message", Arrow, "msg_tag=Integer(99), msg_size=Integer(12)", vec![(1.5, 0), (1.25, 100)]),
        ("Solve", State, "data=Integer(2), end data=Integer(2), text=Text([]), end text=Text([])", vec![(1.0, 0), (1.75, 0)]),
        ("message", Arrow, "msg_tag=Integer(7), msg_size=Integer(1024)", vec![(1.5, 0), (2.0, 100)]),
        ("event -101", Event, "text=Text([110, 111, 32, 116, 97, 103])", vec![(2.0, 100)]),
        ("RECV", State, "data=Integer(1), end data=Integer(2)", vec![(1.75, 0), (2.25, 0)]),
        ("Solve", State, "data=Integer(1), end data=Integer(1), text=Text([111, 117, 116, 101, 114]), end text=Text([100, 111, 110, 101])", vec![(0.75, 0), (2.5, 0)]),
    ]
    .map(|(name, topology, info, corners)| (name.to_string(), topology, info.to_string(), corners))
    .to_vec();
    assert_eq!(drawables, expected);
    assert_eq!(source.order(), DrawableOrder::End);
    let expected = [
        ("bitmap of a state", 2),
        ("constant of MPI", 1),
        ("end of a state without its start", 1),
        ("message without a send", 1),
        ("place in the source", 1),
        ("record of a communicator", 1),
        ("record of no known type", 1),
        ("shift of a clock", 1),
        ("start of a state without its end", 2),
    ];
    assert_eq!(losses.iter().collect::<Vec<_>>(), expected);
    let indices: Vec<(i32, String)> = source
        .definitions()
        .categories
        .iter()
        .map(|category| (category.index, category.name.to_str().into_owned()))
        .collect();
    // As clogTOslog2 numbers them: event 500 is the start of the first of the user's states, 155 that of MPI call 77.
    assert!(indices.contains(&(181, "Solve".into())) && indices.contains(&(78, "RECV".into())));
    // The collective record has a number of MPE's table, but no definition.
    assert!(indices.contains(&(7, "BCAST".into())), "{indices:?}");
}

/// Every event of a file is part of a drawable or counted as lost.
#[test]
fn all_events_of_a_file_are_accounted_for() {
    for (name, file) in alog_files() {
        let source = alog::AlogSource::new(&file).unwrap();
        let (drawables, losses) = shown(&source);
        let corners: u64 = drawables.iter().map(|shown| shown.3.len() as u64).sum();
        let lost: u64 = losses
            .iter()
            .filter(|(what, _)| *what != "bitmap of a state")
            .map(|(_, count)| count)
            .sum();
        let announced = source.header().counts[0].unwrap();
        assert_eq!(corners + lost, announced as u64, "{name}: {losses}");
        assert!(
            drawables.iter().any(|shown| shown.1 == Topology::State),
            "{name}"
        );
    }
}

#[test]
fn clog1_and_its_alog_have_the_same_drawables() {
    for (name, clog, text) in clog1_and(|name| format!("alog/{name}_from_clog.alog")) {
        let of_clog = sorted(shown(&clog1::Clog1Source::new(&clog).unwrap()).0);
        let of_text = sorted(shown(&alog::AlogSource::new(&text).unwrap()).0);
        assert_eq!(of_clog.len(), of_text.len());
        let counts = |drawables: &[Shown]| {
            let mut counts = std::collections::BTreeMap::new();
            for (name, topology, info, _) in drawables {
                *counts
                    .entry((name.clone(), topology.number(), info.clone()))
                    .or_insert(0) += 1;
            }
            counts
        };
        assert_eq!(counts(&of_clog), counts(&of_text), "{name}");
    }
}

/// An ALOG file of MPE's is the same again by way of CLOG-1: numbers, constants and microseconds are kept.
#[test]
fn alog_by_way_of_clog1_is_the_same() {
    for (name, file) in alog_files() {
        if ![
            "ring_from_clog.alog",
            "fpilog_from_clog.alog",
            "srtest.alog",
        ]
        .contains(&name)
        {
            continue;
        }
        let (clog, losses) = clog1::from_alog(&alog::AlogReader::new(&file), Vec::new()).unwrap();
        assert!(losses.is_empty(), "{losses}");
        let mut again = Vec::new();
        alog::from_clog1(&clog1::Clog1Reader::new(&clog).unwrap(), &mut again).unwrap();
        assert!(again == file, "{name}");
    }
    let file = std::fs::read(data("alog/small_from_clog.alog")).unwrap();
    let (clog, _) = clog1::from_alog(&alog::AlogReader::new(&file), Vec::new()).unwrap();
    let mut again = Vec::new();
    alog::from_clog1(&clog1::Clog1Reader::new(&clog).unwrap(), &mut again).unwrap();
    // Lines of messages and collectives in records of their own have no blank at the end.
    let plain = |file: &[u8]| {
        let text = String::from_utf8(file.to_vec()).unwrap();
        text.lines()
            .map(|line| line.trim_end().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(plain(&again), plain(&file));
}

#[test]
fn drawables_survive_both_formats() {
    for (name, file) in alog_files() {
        // The names of its states are too long for CLOG-1.
        if name == "fpilog_profile.log" {
            continue;
        }
        let source = alog::AlogSource::new(&file).unwrap();
        let (expected, _) = shown(&source);
        let start = expected
            .iter()
            .flat_map(|shown| &shown.3)
            .map(|&(time, _)| time)
            .fold(f64::INFINITY, f64::min);
        let first = (1e6 * start) as i64;
        let micros = |drawables: Vec<Shown>, first: i64| -> Vec<Shown> {
            let micros = |time: f64| (1e6 * time).round() as i64 - first;
            sorted(
                drawables
                    .into_iter()
                    .map(|(name, topology, info, corners)| {
                        let corners = corners
                            .iter()
                            .map(|&(time, rank)| (micros(time) as f64, rank));
                        (name, topology, info, corners.collect())
                    })
                    .collect(),
            )
        };
        let (clog, losses) = to_clog1(&source);
        assert_eq!(losses.count("text cut to 15 bytes"), 0, "{name}: {losses}");
        let by_clog = clog1::Clog1Source::new(&clog).unwrap();
        assert_eq!(
            micros(shown(&by_clog).0, 0),
            micros(expected.clone(), 0),
            "{name}"
        );
        assert_eq!(by_clog.order(), DrawableOrder::End);

        let (text, losses) = to_alog(&source, false);
        assert_eq!(
            losses.count("nanoseconds that set events of a line apart"),
            0,
            "{name}"
        );
        alog::check(&alog::AlogReader::new(&text)).unwrap();
        let by_text = alog::AlogSource::new(&text).unwrap();
        assert_eq!(
            micros(shown(&by_text).0, 0),
            micros(expected, first),
            "{name}"
        );
    }
}

/// Two ranks with two threads, a host, a name, a communicator, every kind of drawable, times before 0.
fn own() -> (Definitions, Vec<Made>) {
    let mut send = Category::new(
        3,
        "MPI_Send".into(),
        Topology::State,
        trace_model::Color::rgb(0x0000ff),
    );
    send.set_info_format(b"CallID=0x%X, bytes=%l.");
    let long = Category::new(
        4,
        "a name of more than 15 bytes".into(),
        Topology::State,
        trace_model::Color::rgb(0x123456),
    );
    let mark = Category::new(5, "mark".into(), Topology::Event, trace_model::Color::WHITE);
    let link = Category::new(6, "link".into(), Topology::Arrow, trace_model::Color::WHITE);
    let mut lines = vec![
        Line::of_thread(0, 0, 0),
        Line::of_thread(1, 0, 1),
        Line::of_thread(2, 1, 0),
        Line::of_thread(3, -1, 0),
        Line::of_thread(4, 1, 0),
    ];
    lines[2].host = Some("node".into());
    lines[3].name = Some("disk 1".into());
    lines[4].comm = 7;
    let definitions = Definitions {
        program: "halo".into(),
        categories: vec![Category::message(), send, long, mark, link],
        lines,
        etypes: [(4, (23, 24))].into(),
    };
    let at = |time, line| Vertex { time, line };
    let mut info = trace_model::InfoWriter::default();
    let call = info.long(0x1_0000_0002).long(4096).bytes().to_vec();
    let message = info
        .clear()
        .int(1_000_000_000)
        .int(2_000_000_000)
        .bytes()
        .to_vec();
    let drawables = vec![
        (Topology::State, 3, call, vec![at(-1.5, 0), at(0.5, 0)]),
        (Topology::State, 4, vec![], vec![at(-1.25, 1), at(0.25, 1)]),
        (Topology::Arrow, 0, message, vec![at(-1.0, 0), at(-0.5, 2)]),
        (Topology::Event, 5, vec![], vec![at(-0.75, 3)]),
        (Topology::Arrow, 6, vec![], vec![at(0.0, 4), at(0.125, 3)]),
        (Topology::State, 4, vec![], vec![at(0.0, 0), at(0.125, 2)]),
        (Topology::State, 99, vec![], vec![at(0.0, 0), at(0.125, 0)]),
        (Topology::Event, 5, vec![], vec![at(1.000_000_1, 2)]),
        (Topology::Event, 5, vec![], vec![at(1.000_000_2, 2)]),
    ];
    (definitions, drawables)
}

/// Line 0 is of the thread itself, line 1 holds what overlaps there: the name of the second is not the process's.
#[test]
fn processes_of_alog_are_not_named_after_lines_beside_a_thread() {
    let aside = |id, name: &str| Line {
        name: Some(name.into()),
        ..Line::of_thread(id, 0, 0)
    };
    let (mut definitions, drawables) = own();
    definitions.lines = vec![
        aside(1, "rank 0 thread 0 AIO 1"),
        Line::of_thread(0, 0, 0),
        Line {
            name: Some("server 2 thread 0".into()),
            ..Line::of_thread(2, -1, 0)
        },
    ];
    let (file, losses) = to_alog(&Own(definitions, drawables[..1].to_vec()), false);
    let header = alog::check(&alog::AlogReader::new(&file)).unwrap();
    assert_eq!(header.processes, [(1, b"server 2 thread 0".to_vec())]);
    let lost = losses.iter().find(|(what, _)| *what == "name of a line");
    assert_eq!(lost, Some(("name of a line", 1)));
}

/// Topology, category, info and corners.
type Made = (Topology, i32, Vec<u8>, Vec<Vertex>);

struct Own(Definitions, Vec<Made>);

impl trace_model::Source for Own {
    fn definitions(&self) -> &Definitions {
        &self.0
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), trace_model::Stop>,
    ) -> Result<Losses, trace_model::Stop> {
        for (topology, category, info, vertices) in &self.1 {
            put(&Drawable {
                topology: *topology,
                category: *category,
                info,
                vertices,
            })?;
        }
        Ok(Losses::default())
    }
}

#[test]
fn any_trace_becomes_clog1() {
    let (definitions, drawables) = own();
    let (file, losses) = to_clog1(&Own(definitions, drawables));
    let reader = clog1::Clog1Reader::new(&file).unwrap();
    let mut text = Vec::new();
    clog1::print::print(&reader, &mut text).unwrap();
    assert_stored("clog1/from_drawables.txt", &text);
    let expected = [
        ("arrow without tag and size, written as a message", 1),
        ("colour of an event category", 1),
        ("colour without a name, replaced by the nearest", 1),
        ("drawable without a category", 1),
        ("host of a line", 1),
        ("name of a line", 1),
        ("name of the program", 1),
        ("size of a message whose tag and size do not fit", 2),
        ("state that begins on another line than it ends on", 1),
        ("text cut to 15 bytes", 1),
        ("thread of a line", 1),
        ("time of the log's beginning, which is set to 0", 1),
        ("value of an info that does not fit", 1),
    ];
    assert_eq!(losses.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn any_trace_becomes_alog() {
    let (definitions, drawables) = own();
    let own = Own(definitions, drawables);
    let (file, losses) = to_alog(&own, false);
    assert_stored("alog/from_drawables.alog", &file);
    alog::check(&alog::AlogReader::new(&file)).unwrap();
    let expected = [
        ("arrow without tag and size, written as a message", 1),
        ("colour of an event category", 1),
        ("colour without a name, replaced by the nearest", 1),
        ("communicator of a line", 1),
        ("drawable without a category", 1),
        ("host of a line", 1),
        ("nanoseconds that set events of a line apart", 1),
        ("state that begins on another line than it ends on", 1),
    ];
    assert_eq!(losses.iter().collect::<Vec<_>>(), expected);
    let (mpe, losses) = to_alog(&own, true);
    assert!(mpe.starts_with(b"-1 0 0 0 0 0 Me\n-2 0 0 11 0 0\n"));
    assert!(!String::from_utf8(mpe).unwrap().contains("\n-15 "));
    assert_eq!(losses.count("name of a line"), 1);
    assert_eq!(losses.count("text cut to 15 bytes"), 0);
    assert_eq!(
        losses.count("size of a message whose tag and size do not fit"),
        2
    );
    assert_eq!(losses.count("value of an info that does not fit"), 1);
}

/// A file of nothing but numbers of events, processes and definitions that differ.
#[test]
fn memory_has_a_limit() {
    let mut file = Vec::new();
    for nth in 0..70_000 {
        let line = format!(
            "-13 0 {} {} 0 0 red s\n{nth} {nth} 0 0 0 0 \n",
            2 * nth,
            2 * nth + 1
        );
        file.extend_from_slice(line.as_bytes());
    }
    let source = alog::AlogSource::new(&file).unwrap();
    assert!(source.definitions().categories.len() <= 3 * 65536);
    assert_eq!(source.definitions().lines.len(), 65536);
    let losses = source.for_each(&mut |_| Ok(())).unwrap();
    assert_eq!(
        losses.count("event beyond the first 65536 lines"),
        70_000 - 65536
    );
}

#[test]
fn a_trace_without_drawables_is_an_empty_log() {
    let empty = Own(Definitions::default(), Vec::new());
    let (file, _) = to_clog1(&empty);
    assert_eq!(clog1::Clog1Reader::new(&file).unwrap().records().count(), 0);
    let (file, _) = to_alog(&empty, true);
    assert_eq!(
        alog::check(&alog::AlogReader::new(&file)).unwrap().counts[0],
        Some(0)
    );
}

#[test]
fn what_stands_before_the_damage_is_read() {
    let file = written(&small_log(), clog1::Clog1Layout::default());
    let whole = shown(&clog1::Clog1Source::new(&file).unwrap()).0;
    for length in (clog1::HEADER_SIZE..1400).step_by(7) {
        let cut = &file[..length];
        assert!(clog1::Clog1Source::new(cut).is_err());
        let (source, damage) = clog1::Clog1Source::salvaged(clog1::Clog1Reader::new(cut).unwrap());
        assert!(damage.is_some());
        let (found, _) = shown(&source);
        assert!(found.len() <= whole.len());
        // Of the states the definition may be missing, and with it the name; the first event stays what it is.
        if length > 1000 {
            assert_eq!(found[0].0, "Step");
        }
    }
    let text = std::fs::read(data("alog/small_from_clog.alog")).unwrap();
    let whole = shown(&alog::AlogSource::new(&text).unwrap()).0;
    for length in 0..text.len() {
        assert!(alog::AlogSource::new(&text[..length]).is_err());
        let (source, damage) = alog::AlogSource::salvaged(&text[..length]);
        assert!(damage.is_some());
        assert!(shown(&source).0.len() <= whole.len());
    }
}

/// States of one category on a line that overlap without one lying in the other: readers give an end to the last start, and that is said.
#[test]
fn ends_that_readers_exchange_are_counted() {
    let (definitions, _) = own();
    let state = |from: f64, to: f64, line| {
        let vertices = [from, to].map(|time| Vertex { time, line });
        (Topology::State, 3, vec![], vertices.to_vec())
    };
    let nested = vec![state(0.0, 4.0, 0), state(1.0, 2.0, 0), state(1.5, 5.0, 2)];
    let crossed = vec![state(0.0, 4.0, 0), state(1.0, 5.0, 0), state(1.5, 2.5, 2)];
    let what = "state that overlaps one of its own category on its line, ends exchanged";
    for (drawables, expected) in [(nested, 0), (crossed, 2)] {
        let own = Own(definitions.clone(), drawables.clone());
        for losses in [to_clog1(&own).1, to_alog(&own, false).1] {
            assert_eq!(losses.count(what), expected);
        }
        let (file, _) = to_alog(&own, false);
        let read = shown(&alog::AlogSource::new(&file).unwrap()).0;
        let ends = |times: &[(f64, i32)]| [times[0].0, times[1].0];
        let mut read: Vec<[f64; 2]> = read.iter().map(|shown| ends(&shown.3)).collect();
        read.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let told = drawables
            .iter()
            .map(|made| [made.3[0].time, made.3[1].time]);
        assert_eq!(read == told.collect::<Vec<_>>(), expected == 0, "{read:?}");
    }
}

/// A file is known by the ranks and times of its first block. One that nobody would know is not written.
#[test]
fn no_clog1_file_is_written_that_no_reader_knows() {
    let (mut definitions, _) = own();
    let at = |time, line| (Topology::Event, 5, vec![], vec![Vertex { time, line }]);
    let convert = |definitions: &Definitions, times: [f64; 2]| {
        let drawables = times.map(|time| at(time, 0)).to_vec();
        let source = Own(definitions.clone(), drawables);
        let file = Temporary::new("x.clog");
        let sink = clog1::Clog1Sink::create(&file.0, definitions).unwrap();
        let written = convert(&source, Box::new(sink));
        assert_eq!(file.0.exists(), written.is_ok());
        let name = file.0.display().to_string();
        written
            .map(|_| assert!(clog1::recognises(&file.bytes())))
            .map_err(|error| error.to_string().replace(&name, "NAME"))
    };
    assert_eq!(convert(&definitions, [0.0, 1e6]), Ok(()));
    assert_eq!(convert(&definitions, [2e9, 2e9 + 5.0]), Ok(()));
    let times = "CLOG-1 files are known by ranks from 0 to 1048575 and times up to 1000000 s";
    let expected = format!("NAME: a record of rank 0 at 2000000000 s; {times}");
    assert_eq!(convert(&definitions, [0.0, 2e9]), Err(expected));
    definitions.lines[2].rank = i32::MAX - 1;
    let expected = format!("NAME: a record of rank 2147483646 at 0 s; {times}");
    assert_eq!(convert(&definitions, [0.0, 1.0]), Err(expected));
}

#[test]
fn what_is_not_read_back_is_counted() {
    let (mut definitions, _) = own();
    definitions.lines = (0..65_540)
        .map(|rank| Line::of_thread(rank, rank, 0))
        .collect();
    let states = (0..65_539).map(|nth| {
        let name = format!("s{nth}").as_str().into();
        Category::new(10 + nth, name, Topology::State, trace_model::Color::WHITE)
    });
    definitions.categories = states.collect();
    let own = Own(definitions, Vec::new());
    for losses in [to_clog1(&own).1, to_alog(&own, false).1] {
        let beyond = |what: &str| {
            losses.count(&format!(
                "{what} beyond the first 65536, which is not read back"
            ))
        };
        assert_eq!(
            ["rank or thread", "kind of state", "kind of event"].map(beyond),
            [4, 3, 0]
        );
    }
}

fn any_drawables() -> impl Strategy<Value = Vec<Made>> {
    let one = (0u8..4, 0i32..3000, 0i32..300, 0i32..4, 0i32..4, 0i32..5).prop_map(
        |(kind, start, length, line, other, tag)| {
            let vertex = |ticks, line| Vertex {
                time: f64::from(ticks) / 64.0,
                line,
            };
            let (first, last) = (vertex(start, line), vertex(start + length, line));
            let mut info = trace_model::InfoWriter::default();
            match kind {
                0 => (Topology::Event, 5, vec![], vec![first]),
                1 => {
                    let info = info.int(tag).int(100).bytes().to_vec();
                    // Each tag from each to each takes its own time, so that first in, first out holds.
                    let last = vertex(start + 5, other);
                    (Topology::Arrow, 0, info, vec![first, last])
                }
                kind => (
                    Topology::State,
                    i32::from(kind) + 1,
                    vec![],
                    vec![first, last],
                ),
            }
        },
    );
    prop::collection::vec(one, 0..60)
}

proptest! {
    /// States of one category and line may pair otherwise when they cross, but no end is lost or moved.
    #[test]
    fn no_end_of_a_drawable_is_lost(drawables in any_drawables()) {
        let (mut definitions, _) = own();
        definitions.lines = (0..4).map(|id| Line::of_thread(id, id, 0)).collect();
        definitions.categories[1].set_info_format(b"");
        let ends = |drawables: &[Shown]| {
            let mut ends: Vec<(String, i64, i32)> = drawables.iter().flat_map(|shown| {
                shown.3.iter().map(|&(time, rank)| (shown.0.clone(), (64.0 * time).round() as i64, rank))
            }).collect();
            ends.sort();
            ends
        };
        let source = Own(definitions, drawables);
        let (mut expected, _) = shown(&source);
        for (name, ..) in &mut expected {
            // CLOG-1 has 15 bytes for it.
            name.truncate(15);
            name.truncate(name.trim_end().len());
        }
        let (clog, _) = to_clog1(&source);
        let (found, losses) = shown(&clog1::Clog1Source::new(&clog).unwrap());
        prop_assert_eq!(ends(&found), ends(&expected));
        prop_assert_eq!(losses.count("end of a state without its start"), 0);
        let (text, _) = to_alog(&source, true);
        let (found, losses) = shown(&alog::AlogSource::new(&text).unwrap());
        prop_assert_eq!(found.len(), expected.len());
        prop_assert_eq!(losses.count("end of a state without its start"), 0);
    }

    #[test]
    fn damaged_files_do_not_panic(
        changes in prop::collection::vec((0usize..2048, any::<u8>()), 1..12),
    ) {
        let mut clog = std::fs::read(data("clog1/small.clog")).unwrap();
        let mut text = std::fs::read(data("alog/small_from_clog.alog")).unwrap();
        for (at, byte) in changes {
            let (clog_at, text_at) = (at % clog.len(), at % text.len());
            clog[clog_at] = byte;
            text[text_at] = byte;
        }
        let (source, _) = alog::AlogSource::salvaged(&text);
        shown(&source);
        let _ = clog1::from_alog(&alog::AlogReader::new(&text), Vec::new());
        if let Ok(reader) = clog1::Clog1Reader::new(&clog) {
            shown(&clog1::Clog1Source::salvaged(reader).0);
            let _ = alog::from_clog1(&reader, &mut Vec::new());
        }
    }
}
