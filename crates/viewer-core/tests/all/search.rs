//! Searches against all drawables looked at one by one.

use crate::common::{categories, file};
use serde_json::Value;
use trace_formats::slog2::{Depth, NodeDrawable, Vertex};
use trace_model::{Category, Color, InfoWriter, Topology};
use viewer_core::index::{IndexBuilder, IndexShape};
use viewer_core::picture::frame::DecodedFrame;
use viewer_core::search::language::SearchTerms;
use viewer_core::search::plan::SearchPlan;
use viewer_core::{AnswerLimits, Viewer};

type Simple = (i32, Vec<Vertex>, Vec<u8>);

/// Some thousand drawables on eight lines; exactly one of category 5, one arrow in three of tag 7.
fn drawables() -> Vec<Simple> {
    let mut all: Vec<Simple> = Vec::new();
    let mut seed = 12345_u64;
    let mut random = |most: u64| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) % most
    };
    let at = |time: u64, line: u64| Vertex {
        time: time as f64 / 1000.0,
        line: line as i32,
    };
    for step in 0..3000 {
        let (line, length) = (random(8), 1 + random(40));
        let category = random(5) as i32;
        all.push((
            category,
            vec![at(step, line), at(step + length, line)],
            vec![],
        ));
        if step % 5 == 0 {
            let mut info = InfoWriter::default();
            info.int(if step % 3 == 0 { 7 } else { 1 })
                .int(random(5000) as i32);
            let ends = vec![at(step, line), at(step + random(9), random(8))];
            all.push((6, ends, info.bytes().to_vec()));
        }
        if step % 11 == 0 {
            all.push((7, vec![at(step, line)], vec![]));
        }
    }
    all.push((
        5,
        vec![
            at(1717, 3),
            Vertex {
                time: 1.717001,
                line: 3,
            },
        ],
        vec![],
    ));
    all
}

fn trace() -> Vec<u8> {
    let mut categories = categories();
    categories[6] = Category {
        index: 6,
        ..Category::message()
    };
    categories.push(Category::new(
        8,
        "unused".into(),
        Topology::State,
        Color::PINK,
    ));
    file(&categories, 8, &mut drawables())
}

fn ask(viewer: &Viewer<'_>, question: &str) -> Value {
    let answer = viewer.answer(question, &|| false);
    let answer = answer.unwrap_or_else(|error| panic!("{question}: {error}"));
    serde_json::from_slice(&answer.body).unwrap()
}

/// Starts of the drawables that fit, in order.
fn expected(viewer: &Viewer<'_>, query: &str) -> Vec<(f64, i32)> {
    let trace = viewer.trace();
    let plan = SearchPlan::new(trace, &|_| true, &SearchTerms::parse(query).unwrap());
    let window = trace
        .reader()
        .window(trace.bounds(), Depth::Lowest(0))
        .unwrap();
    let items = window
        .drawables
        .iter()
        .filter_map(|drawable| match drawable {
            NodeDrawable::Primitive(primitive) => trace.item(primitive),
            NodeDrawable::Composite(_) => None,
        });
    let fitting = items.filter(|item| plan.fits(trace, item));
    let mut found: Vec<(f64, i32)> = fitting
        .map(|item| (item.start, trace.lines()[item.line as usize].line.id))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    found
}

const QUERIES: [(&str, bool); 9] = [
    ("\"state 3\" rank:2,5", true),
    ("tag=7 size>=4k", true),
    ("dur>38ms", true),
    ("event rank:0-1", true),
    ("is:arrow rank:7 t>2", true),
    ("!state !arrow", true),
    ("\"state 5\"", true),
    ("unused", false),
    ("tag=8", false),
];

/// Of a trace that is too large to be read the hits are where they are of one that is read: in pictures and in tables.
#[test]
fn hits_of_a_large_trace_are_told_one_by_one() {
    let file = trace();
    let small = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let limits = AnswerLimits {
        tree_bytes: 0,
        ..AnswerLimits::default()
    };
    let large = Viewer::new("own", &file, limits).unwrap();
    let shape = IndexShape {
        window: large.trace().bounds(),
        bins: 64,
        totals: true,
    };
    let mut builder = IndexBuilder::new(large.trace(), shape).unwrap();
    while builder.step(1000).unwrap() {}
    large.set_index(builder.finish());
    let frame = |viewer: &Viewer<'_>, question: &str| {
        DecodedFrame::read(&viewer.answer(question, &|| false).unwrap().body).unwrap()
    };
    for (query, some) in QUERIES {
        let q = query
            .replace(' ', "+")
            .replace('"', "%22")
            .replace('=', "%3D");
        for timelines in ["", "block:2", "only:2-6"] {
            let question = format!("picture?w=64&timelines={timelines}&q={q}");
            let [read, found] = [&small, &large].map(|viewer| frame(viewer, &question));
            assert_eq!(found.header.flags & 16, 16, "from the index");
            assert_eq!(found.numbers(5), read.numbers(5), "{question}");
            assert!(
                !timelines.is_empty() || read.numbers(5).is_empty() != some,
                "{query}"
            );
            let question = format!("events?timelines={timelines}&q={q}&sort=-dur&limit=50");
            assert_eq!(ask(&large, &question), ask(&small, &question), "{question}");
        }
    }
    let refused = large.answer("events?limit=5", &|| false);
    assert_eq!(refused.unwrap_err().status, 413);
}

#[test]
fn every_hit_is_found_once_in_both_directions() {
    let file = trace();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    for (query, some) in QUERIES {
        let mut expected = expected(&viewer, query);
        assert_eq!(!expected.is_empty(), some, "{query}");
        let q = query
            .replace(' ', "+")
            .replace('"', "%22")
            .replace('=', "%3D");
        for dir in [1, -1] {
            let mut found = Vec::new();
            let mut from = String::new();
            loop {
                let answer = ask(
                    &viewer,
                    &format!("search?q={q}&dir={dir}&wrap=0&from={from}"),
                );
                let hit = &answer["hit"];
                if hit.is_null() {
                    break;
                }
                from = hit["ref"].as_str().unwrap().to_owned();
                found.push((
                    hit["t0"].as_f64().unwrap(),
                    hit["line"].as_i64().unwrap() as i32,
                ));
                assert!(found.len() <= expected.len(), "{query}");
            }
            assert_eq!(found, expected, "{query} {dir}");
            expected.reverse();
        }
        let hits = ask(&viewer, &format!("hits?q={q}&bins=7"));
        assert_eq!(hits["count"], expected.len(), "{query}");
        assert_eq!(
            (&hits["exact"], &hits["bins_exact"]),
            (&true.into(), &true.into())
        );
        let mut bins = [0.0; 7];
        let bounds = viewer.trace().bounds();
        for (start, _) in &expected {
            let part = (start - bounds.earliest) / bounds.duration();
            bins[((part * 7.0) as usize).min(6)] += 1.0;
        }
        assert_eq!(hits["bins"], Value::from(bins.to_vec()), "{query}");
    }
}

#[test]
fn a_single_state_is_found_in_few_nodes() {
    let file = trace();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let depth = viewer.trace().reader().root().unwrap().id.depth as u64;
    assert!(depth > 5);
    for from in ["", "1.5", "0.1"] {
        let answer = ask(&viewer, &format!("search?q=%22state+5%22&from={from}"));
        assert_eq!(answer["hit"]["t0"], 1.717);
        let nodes = answer["nodes"].as_u64().unwrap();
        assert!(
            nodes <= 3 * depth,
            "{nodes} nodes of a tree of depth {depth}"
        );
    }
    // Begun behind it, it is found from the beginning on.
    let answer = ask(&viewer, "search?q=%22state+5%22&from=2.5");
    assert_eq!(
        (&answer["hit"]["t0"], &answer["wrapped"]),
        (&1.717.into(), &true.into())
    );
    let none = ask(&viewer, "search?q=%22no+such+name%22");
    assert_eq!((&none["hit"], &none["nodes"]), (&Value::Null, &0.into()));
}

#[test]
fn a_search_goes_on_where_its_budget_ended() {
    let file = trace();
    let limits = AnswerLimits {
        tree_bytes: 20_000,
        ..AnswerLimits::default()
    };
    let viewer = Viewer::new("own", &file, limits).unwrap();
    // The last message of its tag: previews cannot tell where it is.
    let expected = expected(&viewer, "tag=7 t>2.96");
    let (mut from, mut rounds) = ("0".to_owned(), 0);
    let hit = loop {
        let answer = ask(
            &viewer,
            &format!("search?q=tag%3D7+size>0+dur>=0+!t<2.96&wrap=0&from={from}"),
        );
        match &answer["from"] {
            Value::Null => break answer["hit"]["t0"].as_f64(),
            next => from = next.to_string(),
        }
        rounds += 1;
        assert!(rounds < 1000, "{from}");
    };
    assert_eq!(hit, expected.first().map(|hit| hit.0));
    assert!(rounds > 3, "{rounds}");
    // Counting by category needs no more than the top, counting by tag says that it is not complete.
    let by_name = ask(&viewer, "hits?q=message&bins=1");
    assert_eq!(
        (&by_name["count"], &by_name["exact"], &by_name["at_least"]),
        (&600.into(), &true.into(), &false.into())
    );
    let by_tag = ask(&viewer, "hits?q=tag%3D7&bins=1");
    assert_eq!(
        (&by_tag["exact"], &by_tag["at_least"]),
        (&false.into(), &true.into())
    );
}

#[test]
fn wrong_queries_are_refused_with_the_place() {
    let file = trace();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    for route in ["search", "hits"] {
        let error = viewer.answer(&format!("{route}?q=dur>1x"), &|| false);
        let error = error.unwrap_err();
        assert_eq!(error.status, 400);
        assert!(error.message.contains("character 5"), "{error}");
    }
}

/// Arrows whose ends are both known here, without the search.
#[test]
fn an_arrow_is_on_both_its_ends() {
    let file = trace();
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    let arrows: Vec<(i32, i32)> = drawables()
        .iter()
        .filter(|(category, ..)| *category == 6)
        .map(|(_, ends, _)| (ends[0].line, ends[1].line))
        .collect();
    let is_on = |rank: i32| move |&(from, to): &(i32, i32)| from == rank || to == rank;
    let on_3_and_4 = |ends: &(i32, i32)| is_on(3)(ends) && is_on(4)(ends);
    let on_3_alone = |ends: &(i32, i32)| is_on(3)(ends) && !is_on(4)(ends);
    type Fits<'f> = &'f dyn Fn(&(i32, i32)) -> bool;
    let cases: [(&str, Fits<'_>); 6] = [
        ("is:arrow rank:3", &is_on(3)),
        ("is:arrow !rank:3", &|ends| !is_on(3)(ends)),
        ("is:arrow rank!%3D3", &|ends| !is_on(3)(ends)),
        ("is:arrow !rank!%3D3", &is_on(3)),
        ("is:arrow rank:3 rank:4", &on_3_and_4),
        ("is:arrow rank:3 !rank:4", &on_3_alone),
    ];
    for (query, fits) in cases {
        let truth = arrows.iter().filter(|ends| fits(ends)).count();
        assert!(truth > 0 && truth < arrows.len(), "{query}");
        let hits = ask(&viewer, &format!("hits?q={}", query.replace(' ', "+")));
        assert_eq!(hits["count"], truth, "{query}");
        // Durations are told by the drawables themselves, not by previews.
        let each = ask(
            &viewer,
            &format!("hits?q={}+dur<9", query.replace(' ', "+")),
        );
        assert_eq!(each["count"], truth, "{query} one by one");
    }
}

#[test]
fn performance_counters_are_found_and_summed_by_their_names() {
    let mut state = Category::new(0, "MPI_Send".into(), Topology::State, Color::WHITE);
    state.set_info_format(b"tag=%d, page-faults=+%l, perf::cycles:u=+%l");
    let counts = [(12, 700), (3, 900), (-1, -1)];
    let mut drawables: Vec<Simple> = (0..)
        .zip(counts)
        .map(|(nth, (faults, cycles))| {
            let mut info = InfoWriter::default();
            info.int(nth).long(faults).long(cycles);
            let ends = [0.0, 0.5].map(|at| Vertex {
                time: f64::from(nth) + at,
                line: 0,
            });
            (0, ends.to_vec(), info.bytes().to_vec())
        })
        .collect();
    let file = file(&[state], 1, &mut drawables);
    let viewer = Viewer::new("own", &file, AnswerLimits::default()).unwrap();
    for (query, truth) in [
        ("page-faults>10", 1),
        ("page-faults<10", 1),
        ("page-faults>=0", 2),
        ("cycles>=700", 2),
        ("!page-faults>10", 2),
    ] {
        let hits = ask(&viewer, &format!("hits?q={}", query.replace('=', "%3D")));
        assert_eq!(hits["count"], truth, "{query}");
    }
    let sums = ask(&viewer, "aggregate?a=sum+page-faults+by+name");
    assert_eq!(sums["lines"][0]["sum"], 15.0, "{sums}");
    let details = ask(&viewer, "at?t=0.25&timeline=0&dt=0.1");
    let shown = serde_json::json!([
        ["tag", "0"],
        ["page-faults", "12"],
        ["perf::cycles:u", "700"]
    ]);
    assert_eq!(details["info"], shown);
}
