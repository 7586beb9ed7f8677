//! Arrows, merging, sub-lines and views.

use std::collections::BTreeMap;

use crate::edit::common::{Drawn, Listed, all, any_drawn, drawn, sort, written};
use proptest::prelude::*;
use trace_formats::slog2::{Slog2Reader, Topology};
use trace_model::{DrawableOrder, Line, Source};
use transform::{
    Arrows, CategoryPattern, LineView, MergeInput, MergedTraces, Split, align_by_call_ids,
    align_by_category, align_starts, usual_views, view,
};

fn call(id: u64, line: i32, from: f64, to: f64) -> Drawn {
    let info = [id.to_be_bytes(), 5u64.to_be_bytes()].concat();
    Drawn::new(2, &info, &[(from, line), (to, line)])
}

fn disk(id: u32, line: i32, at: f64) -> Drawn {
    Drawn::new(3, &id.to_be_bytes(), &[(at, line)])
}

fn state(line: i32, from: f64, to: f64) -> Drawn {
    Drawn::new(1, &[], &[(from, line), (to, line)])
}

#[test]
fn arrows_go_from_each_call_to_what_carries_its_call_id() {
    let source = Listed::new(&[
        call(7, 0, 1.0, 5.0),
        disk(7, 2, 2.0),
        disk(7, 3, 3.0),
        // The first by start is the call, whatever it is; of two that start together the longer one.
        disk(8, 2, 6.0),
        call(8, 1, 6.0, 7.0),
        call(9, 1, 8.0, 9.0),
        state(0, 0.0, 1.0),
    ]);
    let arrows = Arrows::new(&source);
    let list = all(&arrows);
    let categories = &arrows.definitions().categories;
    let of = |name: &str| {
        let found = categories.iter().find(|c| c.name.to_str() == name);
        found
            .unwrap_or_else(|| panic!("no category {name}"))
            .clone()
    };
    let target = of("triggers disk");
    assert_eq!(target.topology, Topology::Arrow);
    assert_eq!(target.color, of("disk").color);
    let arrow = |id: u64, from: (f64, i32), to: (f64, i32)| {
        Drawn::new(target.index, &id.to_be_bytes(), &[from, to])
    };
    let mut expected = source.drawn.clone();
    expected.extend([
        arrow(7, (1.0, 0), (2.0, 2)),
        arrow(7, (1.0, 0), (3.0, 3)),
        arrow(8, (6.0, 1), (6.0, 2)),
    ]);
    sort(&mut expected);
    assert_eq!(list, expected);
    let text = arrows.statistics().to_string();
    assert_eq!(
        text,
        "Found 2 categories with CallID info key.\nCounted 7 drawables.\n\
         Found 3 different CallID values.\nOn average there are 1.5 arrows per CallID having any.\n"
    );
    // Arrows are no calls and no targets, so drawing them again finds the same.
    let file = written(&arrows, &usual_views(&source.definitions.lines));
    let again = trace_formats::slog2::Slog2Source::new(&file).expect("reads");
    let arrows = Arrows::new(&again);
    assert_eq!(all(&arrows).len(), expected.len() + 3);
    assert_eq!(arrows.statistics().arrows, 3);
    assert_eq!(arrows.statistics().drawables, 10);
}

#[test]
fn no_call_ids_no_arrows() {
    let source = Listed::new(&[state(0, 0.0, 1.0)]);
    let arrows = Arrows::new(&source);
    assert_eq!(all(&arrows), source.drawn);
    assert!(
        arrows
            .statistics()
            .to_string()
            .ends_with("No arrow could be drawn.\n")
    );
}

fn part<'s>(source: &'s Listed, name: &str, shift: f64) -> MergeInput<'s> {
    MergeInput {
        source,
        views: usual_views(&source.definitions.lines),
        name: name.to_owned(),
        shift,
    }
}

#[test]
fn merged_lines_stand_under_each_other() {
    let a = Listed::new(&[state(0, 0.0, 1.0), state(3, 0.0, 4.0)]);
    let mut b = Listed::new(&[state(0, 0.0, 1.0), call(1, 1, 1.0, 2.0), disk(1, 1, 1.5)]);
    // One category of the second file is another, under a number that is taken; the others are the same.
    b.definitions.categories[1].name = "served".into();
    let merged =
        MergedTraces::new(vec![part(&a, "client", 0.0), part(&b, "server", 10.0)]).expect("merges");
    let file = written(&merged, merged.views());
    let reader = Slog2Reader::new(&file).expect("reads");
    let served = reader
        .categories()
        .iter()
        .find(|c| c.name.to_str() == "served");
    let served = served.expect("the category").index;
    assert!(served > 4);
    let mut expected = a.drawn.clone();
    expected.extend([
        Drawn::new(served, &[], &[(10.0, 4), (11.0, 4)]),
        call(1, 5, 11.0, 12.0),
        disk(1, 5, 11.5),
    ]);
    sort(&mut expected);
    assert_eq!(drawn(&file), expected);
    let maps = reader.line_id_maps();
    let shown: Vec<String> = maps
        .iter()
        .map(|map| {
            let labels: Vec<_> = map.column_labels.iter().map(|l| l.to_str()).collect();
            format!("{} {labels:?} {:?}", map.title.to_str(), map.cells)
        })
        .collect();
    assert_eq!(
        shown,
        [
            "Process-Thread View (0-1 client, 2 server) [\"world_rank\", \"thread\"] \
             [0, 0, 0, 3, 1, 1, 4, 2, 0, 5, 2, 1]",
            "File and Process-Thread View (1 client; 2 server) [\"file\", \"rank\", \"thread\"] \
             [0, 1, 0, 0, 3, 1, 1, 1, 4, 2, 0, 0, 5, 2, 0, 1]",
            "File and Communicator-Thread View (1 client; 2 server) \
             [\"file\", \"comm\", \"rank_in_comm\", \"thread\"] \
             [0, 1, 0, 0, 0, 3, 1, 0, 1, 1, 4, 2, 0, 0, 0, 5, 2, 0, 0, 1]",
            "Communicator-Thread View [\"commID\", \"comm_rank\", \"thread\"] \
             [0, 0, 0, 0, 3, 0, 1, 1, 4, 1, 0, 0, 5, 1, 0, 1]",
            "Identity Map [\"LineID\"] [0, 0, 3, 3, 4, 4, 5, 5]",
        ]
    );
    let ranks: Vec<(i32, i32)> = merged
        .definitions()
        .lines
        .iter()
        .map(|l| (l.id, l.rank))
        .collect();
    assert_eq!(ranks, [(0, 0), (3, 1), (4, 2), (5, 2)]);
}

#[test]
fn views_of_different_shapes_are_joined() {
    let a = Listed::new(&[state(0, 0.0, 1.0), state(1, 0.0, 4.0)]);
    let mut b = Listed::new(&[state(0, 0.0, 1.0), state(2, 0.0, 1.0)]);
    for line in &mut b.definitions.lines {
        line.host = Some(format!("host{}", line.rank));
    }
    let merged = MergedTraces::new(vec![part(&b, "b", 0.0), part(&a, "a", 0.0)]).expect("merges");
    let titles: Vec<_> = merged
        .views()
        .iter()
        .map(|map| map.title.to_str().into_owned())
        .collect();
    assert_eq!(
        titles,
        [
            "Process-Thread View (0-1 b, 2 a)",
            "File and Process-Thread View (1 b; 2 a)",
            "File and Communicator-Thread View (1 b; 2 a)",
            "File and Node View (1 b: 0 host0, 1 host1; 2 a)",
            "Communicator-Thread View",
            "Identity Map",
            "Node View (0 host0, 1 host1)",
        ]
    );
    let rows: Vec<&[i32]> = merged.views()[1].rows().collect();
    assert_eq!(
        rows,
        [[0, 1, 0, 0], [2, 1, 1, 0], [3, 2, 0, 0], [4, 2, 0, 1]]
    );
    // The first trace has no view by node in the second file: its lines go by their numbers.
    let rows: Vec<&[i32]> = merged.views()[3].rows().collect();
    assert_eq!(
        rows,
        [
            [0, 1, 0, 0, 0],
            [2, 1, 1, 1, 0],
            [3, 2, 0, -1, -1],
            [4, 2, 1, -1, -1]
        ]
    );
}

#[test]
fn clocks_are_aligned_by_call_ids() {
    let calls: Vec<Drawn> = (0..50)
        .map(|n| call(n, 0, 100.0 + n as f64, 100.5 + n as f64))
        .collect();
    // The server's clock is 90 behind; its operations begin 0.1 to 0.3 into the call.
    let operations: Vec<Drawn> = (0..50)
        .map(|n| {
            let start = 10.1 + n as f64 + 0.004 * n as f64;
            call(n, 1, start, start + 0.1)
        })
        .collect();
    let (client, server) = (Listed::new(&calls), Listed::new(&operations));
    for (first, second, sign) in [(&client, &server, 1.0), (&server, &client, -1.0)] {
        let found = align_by_call_ids(first, second)
            .expect("reads")
            .expect("common CallIDs");
        assert_eq!((found.common, found.within), (50, 50));
        assert!((89.9..=90.1).contains(&(sign * found.shift)), "{found:?}");
        assert_eq!(found.within_unshifted, 0);
    }
    // Operations that go on behind their calls: the median of the differences of the starts.
    let outside: Vec<Drawn> = (0..5)
        .map(|n| call(n, 1, 10.0 + 3.0 * n as f64, 10.9 + n as f64 * 9.0))
        .collect();
    let mut lasting = Listed::new(&outside);
    lasting.drawn.push(call(99, 1, 0.0, 1.0));
    let found = align_by_call_ids(&client, &lasting)
        .expect("reads")
        .expect("common CallIDs");
    assert_eq!(found.common, 5);
    // Both have the calls themselves.
    assert_eq!(found.calls_in_both, 5);
    assert!(!found.is_likely());
    let none = Listed::new(&[call(1000, 0, 0.0, 1.0)]);
    assert_eq!(align_by_call_ids(&client, &none).expect("reads"), None);

    let (write, disk): (CategoryPattern, CategoryPattern) = ("MPI_File_*".into(), "disk".into());
    let by = |a, b| {
        align_by_category((&client as &dyn Source, a), (&server as &dyn Source, b)).expect("reads")
    };
    assert_eq!(by(&write, &write), Some(100.0 - 10.1));
    assert_eq!(by(&write, &disk), None);
    assert_eq!(
        align_starts(&client, &server).expect("reads"),
        Some(100.0 - 10.1)
    );
}

#[test]
fn overlapping_states_go_to_sub_lines() {
    let source = Listed::new(&[
        call(1, 0, 0.0, 4.0),
        // Nested, then overlapping, then free again.
        state(0, 1.0, 2.0),
        call(2, 0, 3.0, 6.0),
        state(0, 4.0, 5.0),
        state(0, 6.0, 7.0),
        // Three at once.
        call(3, 0, 3.5, 6.5),
        // By CallID, by what began last, and outside of all.
        disk(2, 0, 3.75),
        disk(9, 0, 3.75),
        disk(9, 0, 9.0),
        Drawn::new(4, &[], &[(5.5, 2), (6.25, 0)]),
        state(2, 0.0, 9.0),
    ]);
    let split = Split::new(&source).expect("splits");
    let subs: Vec<_> = split
        .sub_lines()
        .iter()
        .map(|(&new, &old)| (new, old))
        .collect();
    assert_eq!(subs, [(3, (0, 1)), (4, (0, 2))]);
    let mut expected = vec![
        call(1, 0, 0.0, 4.0),
        state(0, 1.0, 2.0),
        call(2, 3, 3.0, 6.0),
        state(0, 4.0, 5.0),
        state(0, 6.0, 7.0),
        call(3, 4, 3.5, 6.5),
        disk(2, 3, 3.75),
        disk(9, 4, 3.75),
        disk(9, 0, 9.0),
        Drawn::new(4, &[], &[(5.5, 2), (6.25, 0)]),
        state(2, 0.0, 9.0),
    ];
    sort(&mut expected);
    assert_eq!(all(&split), expected);
    let views = split.views(&usual_views(&source.definitions.lines));
    let shown: Vec<String> = views
        .iter()
        .map(|map| format!("{} {:?}", map.title.to_str(), map.cells))
        .collect();
    assert_eq!(
        shown,
        [
            "Process View, split (world_rank x 10 + sub-line) [0, 0, 2, 10, 3, 1, 4, 2]",
            "Process View, split [0, 0, 0, 2, 1, 0, 3, 0, 1, 4, 0, 2]",
            "Line View, split [0, 0, 0, 2, 2, 0, 3, 0, 1, 4, 0, 2]",
            "Process View [0, 0, 2, 1, 3, 0, 4, 0]",
            "Communicator View [0, 0, 0, 2, 0, 1, 3, 0, 0, 4, 0, 0]",
            "Identity Map [0, 0, 2, 2]",
        ]
    );
    let file = written(&split, &views);
    assert_eq!(drawn(&file), expected);
    assert_eq!(
        Slog2Reader::new(&file).expect("reads").line_id_maps()[4]
            .rows()
            .count(),
        4
    );
}

#[test]
fn views_are_made_from_lines() {
    let mut lines = vec![
        Line::of_thread(0, 0, 0),
        Line::of_thread(1, 0, 1),
        Line::of_thread(2, 1, 0),
    ];
    lines[2].comm = 3;
    lines[2].comm_rank = 0;
    let unknown = |_: i32| None;
    let cells = |kind| view(kind, &lines, &unknown).expect("a view").cells;
    assert_eq!(cells(LineView::Process), [0, 0, 1, 0, 2, 1]);
    assert_eq!(cells(LineView::Thread), [0, 0, 0, 1, 0, 1, 2, 1, 0]);
    assert_eq!(
        cells(LineView::Communicator),
        [0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 0, 0]
    );
    assert_eq!(cells(LineView::Line), [0, 0, 1, 1, 2, 2]);
    assert!(view(LineView::Node, &lines, &unknown).is_none());
    let nodes = view(LineView::Node, &lines, &|rank| {
        Some(format!("n{}", 7 + rank))
    })
    .expect("a view");
    assert_eq!(nodes.title.to_str(), "Node View (0 n7, 1 n8)");
    assert_eq!(nodes.cells, [0, 0, 0, 0, 1, 0, 0, 1, 2, 1, 1, 0]);
}

fn any_list(most: usize) -> impl Strategy<Value = Vec<Drawn>> {
    prop::collection::vec(any_drawn(6), 1..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn merging_keeps_everything(a in any_list(60), b in any_list(60), shift in 0..100u32) {
        let (a, b) = (Listed::new(&a), Listed::new(&b));
        let shift = f64::from(shift) / 4.0;
        let merged = MergedTraces::new(vec![part(&a, "a", 0.0), part(&b, "b", shift)]).expect("merges");
        let offset = a.definitions.lines.iter().map(|l| l.id).max().unwrap_or(-1) + 1
            - b.definitions.lines[0].id;
        let mut expected = a.drawn.clone();
        expected.extend(b.drawn.iter().map(|drawn| Drawn {
            vertices: drawn.vertices.iter().map(|&(t, line)| (t + shift, line + offset)).collect(),
            ..drawn.clone()
        }));
        sort(&mut expected);
        let file = written(&merged, merged.views());
        prop_assert_eq!(drawn(&file), expected);
        let count: i64 = Slog2Reader::new(&file).expect("reads").categories().iter().map(|c| c.summary.count).sum();
        prop_assert_eq!(count as usize, a.drawn.len() + b.drawn.len());
    }

    #[test]
    fn on_a_sub_line_states_are_alone_or_nested(list in any_list(80), sorted in any::<bool>()) {
        let mut source = Listed::new(&list);
        if !sorted {
            source.order = DrawableOrder::Any;
            source.drawn.reverse();
        }
        let split = Split::new(&source).expect("splits");
        let result = all(&split);
        let back = |line: i32| split.sub_lines().get(&line).map_or(line, |old| old.0);
        let mut origin: Vec<Drawn> = result
            .iter()
            .map(|drawn| Drawn {
                vertices: drawn.vertices.iter().map(|&(t, line)| (t, back(line))).collect(),
                ..drawn.clone()
            })
            .collect();
        sort(&mut origin);
        let mut before = source.drawn.clone();
        sort(&mut before);
        prop_assert_eq!(origin, before);
        let mut lines: BTreeMap<i32, Vec<(f64, f64)>> = BTreeMap::new();
        for drawn in result.iter().filter(|drawn| [1, 2].contains(&drawn.category)) {
            lines.entry(drawn.vertices[0].1).or_default().push((drawn.start(), drawn.end()));
        }
        for states in lines.values() {
            for (n, a) in states.iter().enumerate() {
                for b in &states[..n] {
                    let apart = a.1 <= b.0 || b.1 <= a.0;
                    let nested = (a.0 <= b.0 && b.1 <= a.1) || (b.0 <= a.0 && a.1 <= b.1);
                    prop_assert!(apart || nested, "{:?} and {:?}", a, b);
                }
            }
        }
    }

    #[test]
    fn arrows_as_by_the_plain_algorithm(list in any_list(60), sorted in any::<bool>()) {
        let mut source = Listed::new(&list);
        let id = |drawn: &Drawn| match drawn.category {
            2 => Some(u64::from_be_bytes(drawn.info[..8].try_into().expect("8 bytes"))),
            3 => Some(u64::from(u32::from_be_bytes(drawn.info[..4].try_into().expect("4 bytes")))),
            _ => None,
        };
        let mut first: BTreeMap<u64, (f64, i32)> = BTreeMap::new();
        let mut expected = 0u64;
        let mut ends = Vec::new();
        for drawn in &source.drawn {
            let Some(id) = id(drawn) else { continue };
            let at = drawn.vertices[0];
            match first.get(&id) {
                None => { first.insert(id, at); }
                Some(&from) => {
                    expected += 1;
                    ends.push((from.0, at));
                }
            }
        }
        if !sorted {
            source.order = DrawableOrder::Any;
        }
        let arrows = Arrows::new(&source);
        let made: Vec<Drawn> = all(&arrows).into_iter().filter(|drawn| drawn.category > 4).collect();
        let mut made: Vec<_> = made.iter().map(|d| (d.vertices[0].0, d.vertices[1])).collect();
        made.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
        ends.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
        prop_assert_eq!(made, ends);
        prop_assert_eq!(arrows.statistics().arrows, expected);
        prop_assert_eq!(arrows.statistics().call_ids as usize, first.len());
    }
}
