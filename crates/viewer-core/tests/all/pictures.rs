//! Pictures of small files of our own: what is in the SVG text.

use crate::common::{categories, content, file, of_states};
use std::path::Path;
use trace_formats::slog2::{Category, Color, Slog2Reader, TimeBBox, Topology, Vertex};
use viewer_core::{
    ContentRequest, NamedTimelines, PictureLayout, PictureStyle, SpanFill, Theme, TimelineWait,
    WindowContent, svg,
};

fn svg_of(content: &WindowContent) -> String {
    let title = "own.slog2".to_owned();
    svg::write(&PictureLayout::new(
        content,
        &PictureStyle {
            title,
            ..PictureStyle::default()
        },
    ))
}

/// Texts that an XML reader finds in well-formed SVG; elements must be closed in the right order.
fn texts(svg: &str) -> Vec<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut texts = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        assert!(!text.contains('>'), "{text}");
        if open.last() == Some(&"text") {
            texts.push(
                text.replace("&lt;", "<")
                    .replace("&gt;", ">")
                    .replace("&amp;", "&"),
            );
        }
        let end = at + rest[at..].find('>').unwrap();
        let tag = &rest[at + 1..end];
        assert!(!tag.contains('<'), "{tag}");
        let name = tag
            .trim_start_matches('/')
            .split([' ', '/'])
            .next()
            .unwrap();
        let known = [
            "svg", "title", "rect", "g", "text", "path", "clipPath", "pattern",
        ];
        assert!(known.contains(&name), "{tag}");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
    texts
}

fn state(category: i32, line: i32, start: f64, end: f64) -> (i32, Vec<Vertex>, Vec<u8>) {
    let vertices = [start, end].map(|time| Vertex { time, line });
    (category, vertices.to_vec(), Vec::new())
}

#[test]
fn hostile_names_stay_text() {
    let hostile = [
        "<script>alert(1)</script>",
        "]]><!-- \"'&amp;",
        "a\u{0}b\u{1b}[31m\u{202e}\u{ffff}\nc",
    ];
    let long = "n".repeat(10_000);
    let names = hostile.into_iter().chain([long.as_str(), ""]);
    let kinds = names.enumerate().map(|(index, name)| {
        let mut kind = Category::new(index as i32, name.into(), Topology::State, Color::WHITE);
        kind.set_info_format(b"</text>%s");
        kind
    });
    let kinds: Vec<Category> = kinds.collect();
    let mut drawables: Vec<_> = (0..5)
        .map(|nth| {
            let (_, vertices, _) = state(nth, 0, f64::from(nth), f64::from(nth) + 1.0);
            (nth, vertices, b"\0\x09</svg>\0\xff\"".to_vec())
        })
        .collect();
    let file = file(&kinds, 1, &mut drawables);
    let content = content(&file, None);
    let title = "<b>&\u{7}.slog2".to_owned();
    let svg = svg::write(&PictureLayout::new(
        &content,
        &PictureStyle {
            title,
            ..PictureStyle::default()
        },
    ));
    let texts = texts(&svg);
    assert!(
        texts.iter().any(|text| text.starts_with(hostile[0])),
        "{texts:?}"
    );
    assert!(
        texts.iter().any(|text| text.contains("category 4")),
        "{texts:?}"
    );
    let hidden = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}' || c == '\u{ffff}';
    assert!(!svg.contains(hidden));
    assert!(svg.len() < 20_000, "{}", svg.len());
}

#[test]
fn a_wait_is_hatched_on_the_innermost_state() {
    // On the second timeline one state within another; both wait from 4 to 8 s.
    let file = of_states(2, &[(0, 0, 0.0, 10.0), (1, 0, 0.0, 10.0), (1, 1, 2.0, 8.0)]);
    let content = content(&file, None);
    let picture = |waits: &[(u32, f64, f64)]| {
        let waits = waits
            .iter()
            .map(|&(timeline, from, to)| TimelineWait { timeline, from, to });
        let style = PictureStyle {
            waits: waits.collect(),
            ..PictureStyle::default()
        };
        PictureLayout::new(&content, &style)
    };
    let shown = picture(&[(1, 4.0, 8.0)]);
    let inner = &shown.timelines[1].strips[1];
    let [from, to] = [4.0, 8.0].map(|time| shown.x(time));
    assert_eq!(shown.waits, [[from, inner.y, to - from, inner.height]]);
    let svg = svg::write(&shown);
    assert_eq!(svg.matches("url(#waiting)").count(), 1);
    let said = texts(&svg);
    assert!(said.contains(&"hatched: waiting".to_owned()), "{said:?}");
    // Names on hatching have a ground of the state's colour, and others do not.
    let name = shown.labels.iter().find(|label| label.text == "state 1");
    let ground = format!(" fill=\"#{:06x}\"/>\n<text", name.unwrap().ground.0);
    let grounds = |wait: (u32, f64, f64)| svg::write(&picture(&[wait])).matches(&ground).count();
    let found = [(1, 2.0, 8.0), (1, 7.0, 8.0)].map(grounds);
    assert_eq!(found, [1, 0], "{ground}");
    // Of what reaches beyond the window the rest is shown; what is outside, without a timeline or too narrow is not.
    let [x, ..] = picture(&[(0, -5.0, 5.0)]).waits[0];
    assert_eq!(x, shown.plot[0]);
    let nothing = picture(&[(0, 11.0, 12.0), (7, 4.0, 8.0), (0, 4.0, 4.000_001)]);
    assert!(nothing.waits.is_empty());
    assert!(!svg::write(&nothing).contains("waiting"));
}

#[test]
fn no_wait_is_hatched_where_timelines_are_drawn_as_one() {
    let states: Vec<_> = (0..1000).map(|line| (line, 0, 0.0, 10.0)).collect();
    let file = of_states(1000, &states);
    let content = content(&file, None);
    let style = PictureStyle {
        waits: vec![TimelineWait {
            timeline: 0,
            from: 0.0,
            to: 10.0,
        }],
        ..PictureStyle::default()
    };
    let picture = PictureLayout::new(&content, &style);
    assert!(picture.timelines[0].timelines.len() > 1);
    assert!(picture.waits.is_empty());
}

#[test]
fn one_drawable() {
    let file = of_states(1, &[(0, 2, 3.0, 3.5)]);
    let texts = texts(&svg_of(&content(&file, None)));
    for text in [
        "own.slog2",
        "rank 0",
        "state 2",
        "500 ms",
        "3.0000 s – 3.5000 s (500 ms), 1 timeline",
    ] {
        assert!(texts.iter().any(|found| found == text), "{text}: {texts:?}");
    }
    let mut event = vec![(7, vec![Vertex { time: 1.0, line: 0 }], Vec::new())];
    let file = crate::common::file(&categories(), 1, &mut event);
    let content = content(&file, None);
    let picture = PictureLayout::new(&content, &PictureStyle::default());
    assert_eq!(picture.markers.len(), 1);
    let middle = picture.plot[0] + picture.plot[2] / 2.0;
    assert!((picture.markers[0].x - middle).abs() < 1.0);
}

#[test]
fn a_window_in_which_nothing_is() {
    let file = of_states(2, &[(0, 0, 0.0, 1.0), (1, 0, 9.0, 10.0)]);
    for (earliest, latest) in [
        (2.0, 3.0),
        (20.0, 30.0),
        (-5.0, -4.0),
        (f64::NAN, f64::INFINITY),
    ] {
        let content = content(&file, Some(TimeBBox { earliest, latest }));
        let texts = texts(&svg_of(&content));
        if earliest.is_finite() {
            assert!(
                texts.iter().any(|text| text == "nothing in this window"),
                "{texts:?}"
            );
        }
        assert!(texts.iter().any(|text| text == "rank 1"));
    }
}

#[test]
fn ten_thousand_timelines_are_all_in_the_picture() {
    let states: Vec<_> = (0..10_000)
        .map(|line| (line, line % 6, f64::from(line), f64::from(line) + 50.0))
        .collect();
    let file = of_states(10_000, &states);
    let content = content(&file, None);
    let picture = PictureLayout::new(&content, &PictureStyle::default());
    let covered: Vec<u32> = picture
        .timelines
        .iter()
        .flat_map(|timeline| timeline.timelines.clone())
        .collect();
    assert_eq!(covered, (0..10_000).collect::<Vec<u32>>());
    assert!(picture.height < 1400.0, "{}", picture.height);
    assert_eq!(picture.timelines[0].name, "rank 0–31");
    let note = "10 000 timelines in 313, each of up to 32";
    assert!(
        picture.notes.iter().any(|found| found.contains(note)),
        "{:?}",
        picture.notes
    );
    let mut bottom = f64::MIN;
    for timeline in picture
        .timelines
        .iter()
        .filter(|timeline| !timeline.name.is_empty())
    {
        let middle = timeline.y + timeline.height / 2.0;
        assert!(middle - bottom >= 12.0, "names overlap");
        bottom = middle;
    }
}

/// One of ten thousand is late for a call, and one is in no call, as all others are: both are seen where they share a line with many.
#[test]
fn the_one_that_differs_is_seen_in_a_picture_of_ten_thousand() {
    const LINES: i32 = 10_000;
    let [late, alone] = [7_770, 3_000];
    let mut states = Vec::new();
    for line in 0..LINES {
        states.push((line, 0, 0.0, 10.0));
        let begins = if line == late { 8.0 } else { 2.0 };
        states.push((line, 1, begins, 9.0));
        if line != alone {
            states.push((line, 2, 10.0, 12.0));
        }
        states.push((line, 3, 12.0, 16.0));
    }
    let file = of_states(LINES, &states);
    let content = content(&file, None);
    let picture = PictureLayout::new(&content, &PictureStyle::default());
    let columns = picture.plot[2];
    for timeline in &picture.timelines {
        // What lies on top in the middle of a second.
        let at = |seconds: f64| {
            let column = (columns * (seconds + 0.5) / 16.0) as u32;
            let strips = timeline.strips.iter().rev();
            let mut spans = strips.flat_map(|strip| &strip.band.spans);
            let span = spans.find(|span| (span.from..span.to).contains(&column))?;
            let SpanFill::Cells { kind, .. } = span.fill else {
                panic!("{span:?} is a state of one of many timelines");
            };
            Some(kind)
        };
        let has = |line: i32| timeline.timelines.contains(&(line as u32));
        let name = &timeline.name;
        assert_eq!(at(1.0), Some(0), "{name}");
        assert_eq!(at(5.0), Some(if has(late) { 0 } else { 1 }), "{name}");
        assert_eq!(at(11.0), (!has(alone)).then_some(2), "{name}");
        assert_eq!(at(14.0), Some(3), "{name}");
    }
    let note = "what few of all timelines do hides what the others do there";
    assert!(picture.notes.iter().any(|found| found.contains(note)));
}

/// Rank 0 is in one state from 0 to 10, rank 1 in another one from 2 to 8, rank 2 in that from 0 to 10.
#[test]
fn states_of_ranks_on_one_timeline_are_not_nested_in_each_other() {
    let file = of_states(3, &[(0, 0, 0.0, 10.0), (1, 2, 2.0, 8.0), (2, 2, 0.0, 10.0)]);
    let reader = Slog2Reader::new(&file).unwrap();
    let window = TimeBBox {
        earliest: 0.0,
        latest: 10.0,
    };
    let shown = |timelines: Vec<(String, Vec<Vec<i32>>)>| {
        let timelines = NamedTimelines::named(timelines);
        WindowContent::read(&reader, timelines, window, &ContentRequest::default()).unwrap()
    };
    let together = shown(vec![("all".to_owned(), vec![vec![0], vec![1], vec![2]])]);
    let picture = PictureLayout::new(&together, &PictureStyle::default());
    assert_eq!(picture.timelines.len(), 1);
    let timeline = &picture.timelines[0];
    assert_eq!((timeline.name.as_str(), timeline.strips.len()), ("all", 1));
    // No state fills a column alone: all three ranks have a part of it.
    let spans = &timeline.strips[0].band.spans;
    let is_cells = |fill| matches!(fill, SpanFill::Cells { .. });
    assert!(!spans.is_empty() && spans.iter().all(|span| is_cells(span.fill)));
    let note = picture.notes.join(" ");
    assert!(note.contains("several ranks or threads"), "{note}");
    assert!(
        picture.titles[1].ends_with(", 1 timeline"),
        "{}",
        picture.titles[1]
    );
    let alone = shown(vec![
        ("a".to_owned(), vec![vec![0]]),
        ("b".to_owned(), vec![vec![1]]),
    ]);
    let picture = PictureLayout::new(&alone, &PictureStyle::default());
    assert_eq!((picture.timelines.len(), picture.notes.len()), (2, 0));
}

#[test]
fn arrows_are_drawn_from_end_to_end_or_their_number_is_said() {
    let arrow = |nth: u32, count: u32| {
        let time = f64::from(nth) / f64::from(count);
        let vertices = vec![
            Vertex { time, line: 0 },
            Vertex {
                time: time + 0.1,
                line: 1,
            },
        ];
        (6, vertices, Vec::new())
    };
    let with = |count: u32| {
        let mut drawables: Vec<_> = (0..count).map(|nth| arrow(nth, count)).collect();
        content(&file(&categories(), 2, &mut drawables), None)
    };
    let few = with(10);
    let picture = PictureLayout::new(&few, &PictureStyle::default());
    assert_eq!((picture.arrows.len(), picture.notes.len()), (10, 0));
    let many = with(20_000);
    let picture = PictureLayout::new(&many, &PictureStyle::default());
    let note = picture.notes.join(" ");
    assert!(note.starts_with("20 000 arrows drawn as "), "{note}");
    assert!((100..1500).contains(&picture.arrows.len()));
    // White arrows are toned where all is light.
    let ground = Theme::Light.timeline();
    assert!(
        picture
            .arrows
            .iter()
            .all(|arrow| arrow.color.contrast(ground) > 2.0)
    );
}

#[test]
fn previews_stand_for_what_is_not_read() {
    let states: Vec<_> = (0..20_000)
        .map(|nth| (nth % 3, 1 + nth % 2, f64::from(nth), f64::from(nth) + 1.0))
        .collect();
    let file = of_states(3, &states);
    let reader = Slog2Reader::new(&file).unwrap();
    let window = reader.root().unwrap().bounds;
    let timelines = NamedTimelines::new(reader.lines().values());
    let wanted = ContentRequest {
        bytes: 50_000,
        ..ContentRequest::default()
    };
    let content = WindowContent::read(&reader, timelines, window, &wanted).unwrap();
    assert!(content.reading.bytes < 200_000, "{:?}", content.reading);
    assert!(!content.previews.is_empty());
    let count: u64 = content.totals.iter().map(|total| total.count).sum();
    let seconds: f64 = content.totals.iter().map(|total| total.seconds).sum();
    assert_eq!(count, 20_000);
    assert!((seconds - 20_000.0).abs() < 20.0, "{seconds}");
    let picture = PictureLayout::new(&content, &PictureStyle::default());
    for timeline in &picture.timelines {
        let shown: u32 = timeline.strips[0]
            .band
            .spans
            .iter()
            .map(|span| span.to - span.from)
            .sum();
        assert!(f64::from(shown) > picture.plot[2] * 0.99, "{shown}");
    }
    texts(&svg::write(&picture));
}

#[test]
fn the_same_bytes_for_a_small_trace() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../trace-formats/tests/data/slog2/sample.slog2");
    let file = std::fs::read(data).unwrap();
    let content = content(&file, None);
    let svg = svg_of(&content);
    texts(&svg);
    assert_eq!(svg, svg_of(&content));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sample.svg");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &svg).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        svg == expected,
        "tests/data/sample.svg has changed: UPDATE_SNAPSHOTS=1, and look at it"
    );
}
