//! The rules of the conversion from CLOG2, one by one, on logs small enough to work out by hand.

use crate::slog2::common::{Log, drawables};
use trace_formats::slog2::{
    Category, Color, ConvertOptions, LineIdMap, Slog2ErrorKind, Slog2Reader, Topology, Warning,
};

const WORLD: (i32, i32, i32) = (0, 0, 0);

fn category(file: &[u8], index: i32) -> Option<Category> {
    let reader = Slog2Reader::new(file).expect("reads");
    reader
        .categories()
        .iter()
        .find(|category| category.index == index)
        .cloned()
}

#[test]
fn states_of_one_category_and_line_are_first_in_first_out() {
    let mut log = Log::new(2, 1);
    log.bare(1.0, WORLD, 10);
    log.bare(2.0, WORLD, 10);
    log.bare(2.5, (0, 1, 0), 10);
    log.bare(3.0, WORLD, 11);
    log.bare(3.5, (0, 1, 0), 11);
    log.bare(4.0, WORLD, 11);
    let (file, conversion) = log.convert(65536);
    let state = |a, b, line| (Topology::State, 6, vec![], vec![(a, line), (b, line)]);
    // By start time; the outer start has the inner end.
    assert_eq!(
        drawables(&file),
        [state(1.0, 3.0, 0), state(2.0, 4.0, 0), state(2.5, 3.5, 1)]
    );
    assert_eq!(conversion.drawables, 3);
    assert_eq!(conversion.warnings.total, 0);
}

#[test]
fn data_of_the_end_replace_those_of_the_start() {
    let mut log = Log::new(1, 1);
    log.cargo(1.0, WORLD, 10, b"start");
    log.cargo(2.0, WORLD, 11, b"end");
    log.cargo(3.0, WORLD, 10, b"start");
    log.bare(4.0, WORLD, 11);
    let (file, _) = log.convert(65536);
    let infos: Vec<Vec<u8>> = drawables(&file)
        .into_iter()
        .map(|drawable| drawable.2)
        .collect();
    let padded = |text: &[u8]| [text, &[0; 32][text.len()..]].concat();
    assert_eq!(infos, [padded(b"end"), padded(b"start")]);
}

#[test]
fn messages_are_matched_by_tag_sender_and_receiver() {
    let mut log = Log::new(3, 2);
    log.send(1.0, (0, 0, 1), 1, 7, 10);
    log.send(2.0, (0, 0, 0), 1, 7, 20);
    log.send(2.5, (0, 2, 0), 1, 7, 30);
    log.recv(3.0, (0, 1, 0), 0, 8, 0);
    log.recv(4.0, (0, 1, 0), 0, 7, 10);
    log.recv(5.0, (0, 1, 1), 0, 7, 20);
    log.send(6.0, (0, 0, 0), 1, 8, 40);
    let (file, conversion) = log.convert(65536);
    let arrow = |tag: i32, size: i32, a, b| {
        let info = [tag.to_be_bytes(), size.to_be_bytes()].concat();
        (Topology::Arrow, 0, info, vec![a, b])
    };
    let expected = [
        arrow(7, 10, (1.0, 1), (4.0, 2)),
        arrow(7, 20, (2.0, 0), (5.0, 3)),
        // The size of a send that comes after its receive is not known to the original either.
        arrow(8, 0, (6.0, 0), (3.0, 2)),
    ];
    assert_eq!(drawables(&file), expected);
    // The message of rank 2.
    assert_eq!(conversion.unmatched_events, 1);
    let backward = Warning::Backward {
        category: 0,
        start: 6.0,
        end: 3.0,
    };
    assert_eq!(conversion.warnings.first, [backward]);
}

#[test]
fn unmatched_states_count_once_per_definition() {
    let mut log = Log::new(1, 1);
    log.bare(1.0, WORLD, -10);
    log.bare(1.0, WORLD, 10);
    log.bare(1.5, WORLD, 10);
    log.bare(2.0, WORLD, 20);
    log.bare(3.0, WORLD, 31);
    log.state_def([10, 11], "a", "red", "");
    log.state_def([10, 11], "a", "red", "");
    let (_, conversion) = log.convert(65536);
    assert_eq!(conversion.unmatched_events, 4);
    let expected = Warning::EndWithoutStart {
        etype: 31,
        time: 3.0,
        line: 0,
    };
    assert_eq!(conversion.warnings.first, [expected]);
}

#[test]
fn categories_have_the_indices_of_the_preamble_and_late_definitions_count() {
    let mut log = Log::new(1, 1);
    log.bare(0.5, WORLD, 900);
    log.bare(1.0, WORLD, 600);
    log.bare(2.0, WORLD, 601);
    log.bare(3.0, WORLD, -9);
    log.bare(3.0, WORLD, 5000);
    log.bare(3.5, WORLD, 12);
    log.bare(3.5, WORLD, 13);
    log.state_def([600, 601], "  user ", "RoyalBlue", "a=%d b=%s");
    log.state_def([900, 902], "new", "red", "");
    log.bare(4.0, WORLD, 900);
    log.bare(5.0, WORLD, 902);
    log.state_def([600, 900], "clash", "red", "");
    log.event_def(900, "clash", "red", "");
    log.event_def(7000, "unused", "red", "");
    let (file, conversion) = log.convert(65536);
    let user = category(&file, 301).expect("the first user state");
    assert_eq!(user.name, "user".into());
    assert_eq!(user.color, Color::rgb(0x4169e1));
    assert_eq!(user.info_keys, ["a=".into(), " b=".into(), "".into()]);
    assert_eq!(user.info_types, b"ds");
    // Message, 300 known states, 1 user state, 2 known and 1 user solo events come before.
    assert_eq!(
        category(&file, 305).expect("a number of its own").name,
        "new".into()
    );
    // The user state took the first default colour, before its definition came.
    let first = category(&file, 303).expect("the second known solo event");
    assert_eq!(
        (first.name, first.color),
        ("UnknownType-303".into(), Color::rgb(0xffccff))
    );
    let second = category(&file, 304).expect("the user's solo event");
    assert_eq!(
        (second.name, second.color),
        ("UnknownType-304".into(), Color::rgb(0xffffcc))
    );
    let third = category(&file, 7).expect("the sixth known state");
    assert_eq!(
        (third.name, third.color),
        ("UnknownType-7".into(), Color::rgb(0x99ffff))
    );
    let reader = Slog2Reader::new(&file).expect("reads");
    let mut indices: Vec<i32> = reader
        .categories()
        .iter()
        .map(|category| category.index)
        .collect();
    indices.sort_unstable();
    // Neither message nor event 7000 occur, nor does a preview of arrows.
    assert_eq!(indices, [-3, -1, 7, 301, 303, 304, 305]);
    let clash = |etypes| Warning::ConflictingDefinition {
        name: "clash".into(),
        etypes,
    };
    let undescribed = Warning::UndescribedEvent {
        etype: 900,
        time: 0.5,
        line: 0,
    };
    assert_eq!(
        conversion.warnings.first,
        [undescribed, clash([600, 900]), clash([900, 900])]
    );
}

#[test]
fn an_unknown_colour_is_reported() {
    let mut log = Log::new(1, 1);
    log.event_def(-10, "init", "Octarine", "");
    log.bare(1.0, WORLD, -10);
    let (file, conversion) = log.convert(65536);
    assert_eq!(category(&file, 302).expect("init").color, Color::PINK);
    let expected = Warning::UnknownColor {
        color: "Octarine".into(),
        category: "init".into(),
    };
    assert_eq!(conversion.warnings.first, [expected]);
}

#[test]
fn views_name_the_lines_in_use() {
    let mut log = Log::new(2, 2);
    log.comm(100, 3, 0, 1);
    // A null communicator and a remote group announce nothing.
    log.comm(10, -999_999_999, -1, -1);
    log.comm(102, 1, -1, 0);
    log.bare(1.0, (0, 1, 0), -10);
    log.bare(2.0, (3, 0, 1), -10);
    log.bare(3.0, (5, 1, 0), -10);
    let mut converter = log.feed(ConvertOptions::default());
    let mut nodes = LineIdMap::new("Node View", &["node", "world_rank", "thread"]);
    nodes.push(0, &[0, 0, 0]);
    nodes.push(2, &[1, 1, 0]);
    nodes.push(13, &[1, 1, 1]);
    converter.add_line_map(nodes);
    let (file, conversion) = converter.finish().expect("finishes");
    let file = file.into_inner();
    let reader = Slog2Reader::new(&file).expect("reads");
    let views: Vec<(String, Vec<i32>)> = reader
        .line_id_maps()
        .iter()
        .map(|map| (map.title.to_str().into_owned(), map.cells.clone()))
        .collect();
    let view = |title: &str, cells: &[i32]| (title.to_string(), cells.to_vec());
    assert_eq!(
        views,
        [
            view("Process-Thread View", &[2, 1, 0, 13, 1, 1, 22, 1, 0]),
            view(
                "Communicator-Thread View",
                &[2, 0, 1, 0, 13, 3, 0, 1, 22, 5, 1, 0]
            ),
            view("Identity Map", &[2, 2, 13, 13, 22, 22]),
            view("Node View", &[2, 1, 1, 0, 13, 1, 1, 1, 22, -1, -1, -1]),
        ]
    );
    let expected = Warning::UnannouncedLine { line: 22 };
    assert_eq!(conversion.warnings.first, [expected]);
}

#[test]
fn a_log_without_drawables_is_an_error() {
    let mut log = Log::new(1, 1);
    log.bare(1.0, WORLD, 10);
    let error = log
        .feed(ConvertOptions::default())
        .finish()
        .expect_err("nothing to write");
    assert!(matches!(error.kind, Slog2ErrorKind::NoDrawables), "{error}");
}

#[test]
fn end_times_are_checked_on_request() {
    let mut log = Log::new(1, 1);
    log.bare(2.0, WORLD, -10);
    log.bare(1.0, WORLD, -10);
    let check_end_times = true;
    let options = ConvertOptions {
        check_end_times,
        ..ConvertOptions::default()
    };
    let (_, conversion) = log.feed(options).finish().expect("finishes");
    let expected = Warning::EndTimeOrder {
        before: 2.0,
        end: 1.0,
    };
    assert_eq!(conversion.warnings.first, [expected]);
    let (_, conversion) = log.convert(65536);
    assert_eq!(conversion.warnings.total, 0);
}

#[test]
fn shadows_hold_averages_and_ratios() {
    let mut log = Log::new(1, 1);
    // [0, 8] with [2, 4] and [4, 6] of another category nested in it, then [8, 10]. In the leaf of 46 bytes there is
    // room for all but the last, which opens a second one; the root gets the preview of both.
    for (start, end, etype) in [
        (2.0, 4.0, 20),
        (4.0, 6.0, 20),
        (0.0, 8.0, 10),
        (8.0, 10.0, 10),
    ] {
        log.bare(start, WORLD, etype);
        log.bare(end, WORLD, etype + 1);
    }
    let (file, _) = log.convert(46 + 3 * 33);
    let reader = Slog2Reader::new(&file).expect("reads");
    assert_eq!(reader.directory().len(), 3);
    let root = reader.node(reader.header().tree_root).expect("root");
    assert_eq!(root.shadows.len(), 2);
    let shadow = root.shadows[0].nestable[0];
    assert_eq!(
        (shadow.count, shadow.bounds.earliest, shadow.bounds.latest),
        (3, 0.0, 8.0)
    );
    let times: Vec<f64> = shadow
        .primitive
        .vertices()
        .map(|vertex| vertex.time)
        .collect();
    assert_eq!(times, [2.0, 6.0]);
    let weights: Vec<(i32, f32, f32, i64)> = shadow
        .weights()
        .map(|weight| {
            let ratios = weight.ratios;
            (
                weight.category,
                ratios.inclusive,
                ratios.exclusive,
                ratios.count,
            )
        })
        .collect();
    assert_eq!(weights, [(11, 0.5, 0.5, 2), (6, 1.0, 0.5, 1)]);
    // Over the whole log of 10 s: 10 in one category, 4 of them in the other as well.
    let summary = |index| category(&file, index).expect("category").summary;
    let outer = summary(6);
    assert_eq!(
        (outer.count, outer.inclusive, outer.exclusive),
        (2, 1.0, 0.6)
    );
    let inner = summary(11);
    assert_eq!(
        (inner.count, inner.inclusive, inner.exclusive),
        (2, 0.4, 0.4)
    );
}
