//! CLOG2 files made of drawables: read again, they give the same drawables.

use crate::clog2::common::*;
use std::cell::RefCell;
use std::io::Cursor;
use std::rc::Rc;
use trace_formats::clog2::*;
use trace_model::{
    Category, Color, Definitions, Drawable, DrawableOrder, Line, Losses, Source as _, Stop,
    Topology, Vertex,
};

/// Makes a file in memory of all that a source gives, in the order the sink wants.
fn made(source: &dyn trace_model::Source, options: SinkOptions) -> (Vec<u8>, Losses) {
    struct Kept(Option<Clog2Sink<Cursor<Vec<u8>>>>, Rc<RefCell<Vec<u8>>>);
    impl trace_model::Sink for Kept {
        fn order(&self) -> DrawableOrder {
            DrawableOrder::Start
        }
        fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
            self.0.as_mut().expect("open").add(drawable)
        }
        fn finish(mut self: Box<Self>) -> Result<Losses, Stop> {
            let (out, losses) = self.0.take().expect("open").close()?;
            *self.1.borrow_mut() = out.into_inner();
            Ok(losses)
        }
    }
    let file = Rc::new(RefCell::new(Vec::new()));
    let sink =
        Clog2Sink::new(Cursor::new(Vec::new()), source.definitions(), options).expect("started");
    assert!(matches!(
        trace_model::Sink::order(&sink),
        DrawableOrder::Start
    ));
    let losses =
        trace_model::convert(source, Box::new(Kept(Some(sink), file.clone()))).expect("made");
    let bytes = file.borrow().clone();
    (bytes, losses)
}

fn shown(source: &dyn trace_model::Source, with_info: bool) -> Vec<String> {
    let definitions = source.definitions();
    let mut list = Vec::new();
    let mut put = |drawable: &Drawable<'_>| {
        let category = definitions.category(drawable.category).expect("a category");
        let places: Vec<_> = drawable
            .vertices
            .iter()
            .map(|vertex| {
                let line = definitions.line(vertex.line).expect("a line");
                (
                    vertex.time,
                    line.comm,
                    line.comm_rank,
                    line.thread,
                    line.rank,
                )
            })
            .collect();
        let info = if with_info { drawable.info } else { &[] };
        let format = (
            &category.info_keys,
            category.info_types.escape_ascii().to_string(),
        );
        list.push(format!(
            "{places:?} {:?} {:?} {format:?} {info:?}",
            category.name, category.color
        ));
        Ok(())
    };
    source.for_each(&mut put).expect("sound");
    list.sort();
    list
}

#[test]
fn goldens_come_back_with_every_drawable() {
    for (name, file) in golden_files() {
        let source = Clog2Source::new(&file).unwrap();
        let (copy, losses) = made(&source, SinkOptions { block_size: 1024 });
        let again = Clog2Source::new(&copy).unwrap();
        let mut expected = shown(&source, true);
        let mut found = shown(&again, true);
        if losses.count("colour, for which the nearest one with a name is taken") > 0 {
            // Categories that nobody described have colours without names.
            assert!(name.contains("local"), "{name}: {losses}");
            for line in expected.iter_mut().chain(&mut found) {
                let at = line.find("Color(").expect("a colour");
                line.replace_range(at..at + 16, "");
            }
        }
        assert_eq!(found, expected, "{name}: {losses}");
        // The numbers of communicators and events are kept as well.
        let lines = |source: &Clog2Source<'_>| source.definitions().lines.clone();
        let key = |lines: Vec<Line>| {
            let places = lines
                .iter()
                .map(|l| (l.comm, l.comm_rank, l.thread, l.rank));
            places.collect::<Vec<_>>()
        };
        assert_eq!(key(lines(&again)), key(lines(&source)), "{name}");
        let etypes = |source: &Clog2Source<'_>| {
            let definitions = source.definitions();
            let used = definitions.categories.iter();
            let mut found: Vec<_> = used
                .filter_map(|c| Some((c.name.clone().0, definitions.etypes.get(&c.index)?)))
                .map(|(name, etypes)| (name, *etypes))
                .collect();
            found.sort();
            found
        };
        assert_eq!(etypes(&again), etypes(&source), "{name}");
        let reader = Clog2Reader::new(&copy).unwrap();
        assert_eq!(reader.preamble().block_size, 1024);
        let times: Vec<f64> = reader.records().map(|r| r.unwrap().header.time).collect();
        assert!(times.is_sorted(), "{name}: records in order of time");
        assert!(reader.comm_table().is_ok());
    }
}

/// Drawables of our own.
struct Made {
    definitions: Definitions,
    drawables: Vec<(Topology, i32, Vec<u8>, Vec<Vertex>)>,
}

impl trace_model::Source for Made {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }
    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        for (topology, category, info, vertices) in &self.drawables {
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
fn what_the_format_cannot_hold_is_counted() {
    let mut state = Category::new(
        1,
        "a state whose name is longer than 31 bytes".into(),
        Topology::State,
        Color::rgb(0x010203),
    );
    state.set_info_format(b"text=%s, and a key that is far too long for a format=%d");
    let plain = Category::new(4, "plain".into(), Topology::State, Color::rgb(0xff0000));
    let mut arrow = Category::new(2, "dependency".into(), Topology::Arrow, Color::WHITE);
    arrow.width = 3;
    let vertex = |time, line| Vertex { time, line };
    let message = |size: i32| [7i32.to_be_bytes(), size.to_be_bytes()].concat();
    let source = Made {
        definitions: Definitions {
            categories: vec![Category::message(), state, arrow, plain],
            lines: vec![
                Line::of_thread(0, 0, 0),
                Line {
                    name: Some("gpu".into()),
                    ..Line::of_thread(1, 0, 0)
                },
                Line {
                    host: Some("n1".into()),
                    ..Line::of_thread(2, 1, 0)
                },
            ],
            ..Definitions::default()
        },
        drawables: vec![
            (
                Topology::State,
                1,
                vec![b'x'; 40],
                vec![vertex(-2.0, 0), vertex(5.0, 0)],
            ),
            (
                Topology::State,
                4,
                vec![],
                vec![vertex(1.0, 0), vertex(4.0, 0)],
            ),
            (
                Topology::State,
                4,
                vec![],
                vec![vertex(2.0, 0), vertex(3.0, 0)],
            ),
            (
                Topology::Arrow,
                0,
                message(8),
                vec![vertex(1.0, 0), vertex(4.5, 2)],
            ),
            (
                Topology::Arrow,
                0,
                message(9),
                vec![vertex(1.5, 0), vertex(4.0, 2)],
            ),
            (
                Topology::Arrow,
                0,
                message(10),
                vec![vertex(4.9, 2), vertex(4.8, 0)],
            ),
            (
                Topology::Arrow,
                2,
                vec![],
                vec![vertex(3.0, 1), vertex(3.5, 2)],
            ),
            (Topology::Event, 99, vec![], vec![vertex(3.0, 1)]),
            (
                Topology::State,
                1,
                vec![],
                vec![vertex(3.0, 77), vertex(3.0, 77)],
            ),
        ],
    };
    let (file, losses) = made(&source, SinkOptions::default());
    for (what, number) in [
        ("name above 31 bytes, cut", 1),
        ("colour, for which the nearest one with a name is taken", 1),
        ("key of an info beyond 39 bytes of format", 1),
        ("info above 32 bytes, cut", 1),
        ("category of arrows, drawn as messages", 1),
        ("name of a line", 1),
        ("host of a line", 1),
        (
            "line at the place of another one, made a rank of its own",
            1,
        ),
        (
            "state that overlaps one of its own category on its line, ends exchanged",
            2,
        ),
        (
            "message that overtakes one of its own tag, ends exchanged",
            2,
        ),
        ("size of a message that arrives before it is sent", 1),
        ("drawable of an undescribed category", 1),
        ("drawable on an undescribed line", 1),
    ] {
        assert_eq!(losses.count(what), number, "{what}: {losses}");
    }
    assert_eq!(losses.iter().count(), 13, "{losses}");
    let again = Clog2Source::new(&file).unwrap();
    let unmatched = again.for_each(&mut |_| Ok(())).unwrap();
    assert!(unmatched.is_empty(), "{unmatched}");
    assert_eq!(shown(&again, false).len(), 7);
}

#[test]
fn a_trace_without_drawables_is_a_sound_file() {
    let source = Made {
        definitions: Definitions::default(),
        drawables: Vec::new(),
    };
    let (file, losses) = made(&source, SinkOptions { block_size: 0 });
    assert!(losses.is_empty());
    let reader = Clog2Reader::new(&file).unwrap();
    assert_eq!(reader.records().count(), 0);
}
