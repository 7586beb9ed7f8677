//! SLOG2 files filtered.

use std::io::Cursor;

use crate::edit::common::{
    Drawn, all as all_of, any_drawn, categories, drawn, file, file_of, sort,
};
use proptest::prelude::*;
use test_support::golden;
use trace_formats::slog2::{
    Category, Color, DrawableWalk, LineIdMap, NewComposite, NewDrawable, NodeDrawable,
    Slog2ErrorKind, Slog2Reader, Slog2Source, Topology, TreeBuilder, TreeOptions, Vertex,
};
use transform::{Filtered, NumberRanges, PropertySelection, Rebuilt, Selection, Slog2Filter};

fn filtered(input: &[u8], filter: &Slog2Filter) -> (Vec<u8>, Rebuilt) {
    let reader = Slog2Reader::new(input).expect("reads");
    let out = Cursor::new(Vec::new());
    let (out, rebuilt) = filter.run(&reader, out, || ()).expect("filters");
    (out.into_inner(), rebuilt)
}

fn of(selection: Selection) -> Slog2Filter {
    Slog2Filter {
        selection,
        ..Slog2Filter::default()
    }
}

fn numbers(text: &str) -> Vec<NumberRanges> {
    vec![text.parse().expect("numbers")]
}

fn keep<T>(keep: Vec<T>) -> PropertySelection<T> {
    PropertySelection {
        keep,
        remove: Vec::new(),
    }
}

fn remove<T>(remove: Vec<T>) -> PropertySelection<T> {
    PropertySelection {
        keep: Vec::new(),
        remove,
    }
}

/// A log of two ranks with two threads, whose drawables are easy to tell apart.
fn sample() -> Vec<Drawn> {
    let call = |id: u64| [id.to_be_bytes(), 5u64.to_be_bytes()].concat();
    vec![
        // Ends at the very start of the log, which the original loses.
        Drawn::new(3, &[0, 0, 0, 9], &[(0.0, 0)]),
        Drawn::new(1, &[], &[(0.0, 0), (1.0, 0)]),
        Drawn::new(2, &call(9), &[(1.0, 1), (3.0, 1)]),
        Drawn::new(0, &[0; 8], &[(0.5, 0), (2.5, 2)]),
        Drawn::new(0, &[0; 8], &[(0.5, 0), (2.5, 1)]),
        Drawn::new(2, &call(0x10_0000_0003), &[(2.0, 3), (4.0, 3)]),
        Drawn::new(3, &[0, 0, 0, 3], &[(4.0, 2)]),
    ]
}

#[test]
fn the_same_bytes_as_slog2filter() {
    let input = golden::read("mpe/nonblk_n5.slog2");
    let expected = golden::read("mpe/nonblk_n5.filter.slog2");
    let filter = Slog2Filter {
        selection: Selection {
            categories: remove(vec!["0".into(), "106".into()]),
            ..Selection::default()
        },
        like_original: true,
        tree: None,
    };
    assert!(filtered(&input, &filter).0 == expected);
}

#[test]
fn what_slog2filter_gets_wrong_is_right() {
    let input = golden::read("mpe/nonblk_n5.slog2");
    let before = Slog2Reader::new(&input).expect("reads");
    let (file, rebuilt) = filtered(
        &input,
        &of(Selection {
            categories: remove(vec!["message".into(), "MPI_Wait".into()]),
            ..Selection::default()
        }),
    );
    let after = Slog2Reader::new(&file).expect("reads");
    let removed = drawn(&input)
        .iter()
        .filter(|drawn| [0, 106].contains(&drawn.category))
        .count();
    assert_eq!(rebuilt.removed, removed as u64);
    assert_eq!(drawn(&file).len() + removed, drawn(&input).len());
    for category in after.categories() {
        let same = before
            .categories()
            .iter()
            .find(|c| c.index == category.index);
        let same = same.expect("was there before");
        assert_eq!(
            category.summary.count, same.summary.count,
            "{:?}",
            category.name
        );
    }
}

#[test]
fn filtering_nothing_keeps_all_goldens_as_they_are() {
    let files = golden::files("mpe", ".slog2");
    for path in &files {
        let input = golden::read(path);
        let (file, rebuilt) = filtered(&input, &Slog2Filter::default());
        assert_eq!(drawn(&file), drawn(&input), "{}", path.display());
        assert_eq!(rebuilt.removed, 0);
        let (a, b) = (
            Slog2Reader::new(&input).expect("reads"),
            Slog2Reader::new(&file).expect("reads"),
        );
        let lines = |reader: &Slog2Reader<'_>| reader.line_id_maps()[0].clone();
        assert_eq!(lines(&a), lines(&b), "{}", path.display());
        assert_eq!(a.header().leaf_byte_size, b.header().leaf_byte_size);
    }
    assert!(files.is_empty() || files.len() > 15);
}

#[test]
fn by_category_rank_thread_call_id_and_time() {
    let all = sample();
    let input = file(&all, 200);
    let check = |selection: Selection, expected: &[usize]| {
        let (file, rebuilt) = filtered(&input, &of(selection.clone()));
        let mut expected: Vec<Drawn> = expected.iter().map(|&at| all[at].clone()).collect();
        sort(&mut expected);
        assert_eq!(drawn(&file), expected, "{selection:?}");
        assert_eq!(rebuilt.kept as usize, expected.len());
        assert_eq!((rebuilt.kept + rebuilt.removed) as usize, all.len());
        let lines = Slog2Reader::new(&file)
            .expect("reads")
            .line_id_maps()
            .to_vec();
        let mut used: Vec<i32> = expected
            .iter()
            .flat_map(|drawn| drawn.vertices.iter().map(|vertex| vertex.1))
            .collect();
        used.sort();
        used.dedup();
        for map in lines {
            let rows: Vec<i32> = map.rows().map(|row| row[0]).collect();
            assert_eq!(rows, used, "{:?}", map.title);
        }
    };
    let base = Selection::default;
    check(
        Selection {
            categories: keep(vec!["MPI_*".into()]),
            ..base()
        },
        &[1, 2, 5],
    );
    check(
        Selection {
            categories: remove(vec!["MPI_*".into(), "3".into()]),
            ..base()
        },
        &[3, 4],
    );
    check(
        Selection {
            ranks: keep(numbers("0")),
            ..base()
        },
        &[0, 1, 2, 4],
    );
    check(
        Selection {
            ranks: remove(numbers("1-")),
            ..base()
        },
        &[0, 1, 2, 4],
    );
    check(
        Selection {
            threads: keep(numbers("1")),
            ..base()
        },
        &[2, 5],
    );
    check(
        Selection {
            call_ids: keep(numbers("9")),
            ..base()
        },
        &[0, 2],
    );
    check(
        Selection {
            call_ids: remove(numbers("0x1000000003")),
            ..base()
        },
        &[0, 1, 2, 3, 4, 6],
    );
    check(
        Selection {
            windows: keep(vec![(3.5, 9.0)]),
            ..base()
        },
        &[5, 6],
    );
    check(
        Selection {
            windows: keep(vec![(0.0, 0.0), (4.0, 4.0)]),
            ..base()
        },
        &[0, 1, 5, 6],
    );
    check(
        Selection {
            windows: remove(vec![(0.0, 2.0)]),
            ..base()
        },
        &[6],
    );
    check(
        Selection {
            ranks: keep(numbers("0")),
            invert: true,
            ..base()
        },
        &[3, 5, 6],
    );
    check(
        Selection {
            ranks: keep(numbers("0")),
            categories: remove(vec!["disk".into()]),
            ..base()
        },
        &[1, 2, 4],
    );
}

#[test]
fn nothing_left_is_an_error() {
    let input = file(&sample(), 200);
    let reader = Slog2Reader::new(&input).expect("reads");
    let filter = of(Selection {
        categories: keep(vec!["no such".into()]),
        ..Selection::default()
    });
    let error = filter
        .run(&reader, Cursor::new(Vec::new()), || ())
        .expect_err("nothing is left");
    assert!(matches!(error.kind, Slog2ErrorKind::NoDrawables));
}

/// What is in a window or of a rank names files by number, whoever named them first.
#[test]
fn names_of_files_stay() {
    let name = |number: u8, time: f64, line: i32| {
        Drawn::new(
            5,
            &[&[0, 0, 0, number][..], &[0; 20]].concat(),
            &[(time, line)],
        )
    };
    let rest = |from: f64, to: f64| Drawn::new(1, &[], &[(from, 2), (to, 2)]);
    let all = [
        name(1, 0.5, 0),
        rest(0.0, 1.0),
        rest(1.5, 3.0),
        name(2, 2.5, 2),
        rest(2.0, 7.0),
        name(3, 7.5, 0),
        rest(8.0, 9.0),
    ];
    let mut categories = categories();
    let mut name_category = Category::new(5, "file".into(), Topology::Event, Color::WHITE);
    name_category.set_info_format(b"file=%d, role=%s, path=%s, device=0x%X, inode=%l");
    categories.push(name_category);
    let input = file_of(&all, 200, &categories);
    let part = |selection: Selection| {
        let mut found = drawn(&filtered(&input, &of(selection.clone())).0);
        // The same of a source, in whatever order its drawables come.
        let source = Slog2Source::new(&input).expect("reads");
        let mut same = all_of(&Filtered::new(&source, &selection));
        sort(&mut found);
        sort(&mut same);
        assert_eq!(found, same);
        found
    };
    let sorted = |mut list: Vec<Drawn>| {
        sort(&mut list);
        list
    };
    let in_window = part(Selection {
        windows: keep(vec![(2.0, 4.0)]),
        ..Selection::default()
    });
    let expected = [
        name(1, 2.0, 0),
        rest(1.5, 3.0),
        name(2, 2.5, 2),
        rest(2.0, 7.0),
        name(3, 7.0, 0),
    ];
    assert_eq!(in_window, sorted(expected.to_vec()));
    let of_rank = part(Selection {
        ranks: keep(numbers("1")),
        windows: keep(vec![(8.5, 8.6)]),
        ..Selection::default()
    });
    let expected = [
        name(1, 8.5, 2),
        name(2, 8.5, 2),
        name(3, 8.5, 2),
        rest(8.0, 9.0),
    ];
    assert_eq!(of_rank, sorted(expected.to_vec()));
    let without = part(Selection {
        categories: remove(vec!["file".into()]),
        windows: keep(vec![(2.0, 2.2)]),
        ..Selection::default()
    });
    assert_eq!(without, sorted(vec![rest(1.5, 3.0), rest(2.0, 7.0)]));
}

fn walked(file: &[u8]) -> Vec<(f64, f64)> {
    let reader = Slog2Reader::new(file).expect("reads");
    let bounds = |drawable: NodeDrawable<'_>| drawable.bounds();
    DrawableWalk::new(&reader)
        .map(|drawable| bounds(drawable.expect("reads")))
        .map(|bounds| (bounds.earliest, bounds.latest))
        .collect()
}

fn started(file: &[u8]) -> Vec<(f64, f64)> {
    let source = Slog2Source::new(file).expect("reads");
    let mut found = Vec::new();
    let put = &mut |drawable: &trace_model::Drawable<'_>| {
        let times = || drawable.vertices.iter().map(|vertex| vertex.time);
        let latest = times().fold(f64::NEG_INFINITY, f64::max);
        found.push((times().fold(f64::INFINITY, f64::min), latest));
        Ok(())
    };
    trace_model::Source::for_each(&source, put).expect("reads");
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn filtering_nothing_keeps_everything(
        mut list in prop::collection::vec(any_drawn(6), 1..120),
        leaf in 60..900i32,
    ) {
        let input = file(&list, leaf);
        let (output, rebuilt) = filtered(&input, &Slog2Filter::default());
        sort(&mut list);
        prop_assert_eq!(&drawn(&output), &list);
        prop_assert_eq!(rebuilt.kept as usize, list.len());
        let summary = |file: &[u8]| {
            let reader = Slog2Reader::new(file).expect("reads");
            let mut counts: Vec<(i32, i64)> = reader
                .categories()
                .iter()
                .map(|category| (category.index, category.summary.count))
                .collect();
            counts.sort();
            counts
        };
        prop_assert_eq!(summary(&output), summary(&input));
    }

    #[test]
    fn everything_comes_in_order(
        list in prop::collection::vec(any_drawn(6), 1..150),
        leaf in 60..900i32,
    ) {
        let input = file(&list, leaf);
        let by_start = started(&input);
        let by_end = walked(&input);
        prop_assert_eq!(by_start.len(), list.len());
        prop_assert_eq!(by_end.len(), list.len());
        prop_assert!(by_start.is_sorted_by(|a, b| a.0 < b.0 || a.0 == b.0 && a.1 >= b.1));
        prop_assert!(by_end.is_sorted_by(|a, b| a.1 < b.1 || a.1 == b.1 && a.0 >= b.0));
    }

    #[test]
    fn what_is_kept_and_what_is_removed_are_all(
        mut list in prop::collection::vec(any_drawn(6), 1..80),
        rank in 0..3u32,
        window in (0..20u32, 0..20u32),
    ) {
        let input = file(&list, 400);
        let mut selection = Selection {
            ranks: keep(numbers(&rank.to_string())),
            windows: keep(vec![(f64::from(window.0), f64::from(window.0 + window.1))]),
            ..Selection::default()
        };
        let mut found = Vec::new();
        for invert in [false, true] {
            selection.invert = invert;
            let reader = Slog2Reader::new(&input).expect("reads");
            match of(selection.clone()).run(&reader, Cursor::new(Vec::new()), || ()) {
                Ok((out, _)) => found.extend(drawn(out.get_ref())),
                Err(error) => prop_assert!(matches!(error.kind, Slog2ErrorKind::NoDrawables)),
            }
        }
        sort(&mut found);
        sort(&mut list);
        prop_assert_eq!(found, list);
    }
}

#[test]
fn composites_stay_composites() {
    let categories = categories();
    let mut categories: Vec<_> = categories.into_iter().collect();
    let mut whole = categories[1].clone();
    whole.index = 7;
    whole.name = "file access".into();
    categories.push(whole);
    let options = TreeOptions {
        leaf_byte_size: 300,
        ..TreeOptions::default()
    };
    let mut builder = TreeBuilder::new(Cursor::new(Vec::new()), options).expect("starts");
    for nth in 0..20i32 {
        let time = f64::from(nth);
        let vertex = |after: f64, line| Vertex {
            time: time + after,
            line,
        };
        let outer = [vertex(0.0, nth % 3), vertex(0.75, nth % 3)];
        let inner = [vertex(0.25, nth % 3), vertex(0.5, nth % 3)];
        let primitive = |category, vertices| NewDrawable {
            topology: trace_formats::slog2::Topology::State,
            category,
            info: &[],
            vertices,
        };
        let primitives = [primitive(2, &outer[..]), primitive(1, &inner[..])];
        let composite = NewComposite {
            category: 7,
            info: &[],
            primitives: &primitives,
        };
        builder.add_composite(&composite).expect("memory");
        let alone = [vertex(0.8, nth % 3), vertex(0.9, nth % 3)];
        builder.add(&primitive(1, &alone[..])).expect("memory");
    }
    let tree = builder.close().expect("drawables");
    let identity = LineIdMap::identity(tree.lines());
    let (out, _) = tree.finish(&categories, &[identity]).expect("memory");
    let input = out.into_inner();
    let listed = |file: &[u8]| -> Vec<String> {
        let reader = Slog2Reader::new(file).expect("reads");
        let drawables = DrawableWalk::new(&reader);
        drawables
            .map(|drawable| format!("{:?}", drawable.expect("reads")))
            .collect()
    };
    let (output, rebuilt) = filtered(&input, &Slog2Filter::default());
    assert_eq!(listed(&output), listed(&input));
    assert_eq!(rebuilt.kept, 40);
    let (output, _) = filtered(
        &input,
        &of(Selection {
            categories: remove(vec!["file access".into()]),
            ..Selection::default()
        }),
    );
    let expected: Vec<String> = listed(&input)
        .into_iter()
        .filter(|text| text.starts_with("Primitive"))
        .collect();
    assert_eq!(expected.len(), 20);
    assert_eq!(listed(&output), expected);
    let names: Vec<i32> = Slog2Reader::new(&output)
        .expect("reads")
        .categories()
        .iter()
        .map(|category| category.index)
        .collect();
    assert_eq!(names, [1, -3]);
}
