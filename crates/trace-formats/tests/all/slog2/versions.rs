//! SLOG2 files written again as they were read, in both versions, with trees built anew, and with composites.

use std::io::Cursor;

use proptest::prelude::*;
use test_support::golden;
use trace_formats::slog2::{
    Category, Color, DrawableWalk, LineIdMap, NewComposite, NewDrawable, NodeDrawable,
    Slog2ErrorKind, Slog2Layout, Slog2PrintOptions, Slog2Reader, Topology, TreeBuilder,
    TreeOptions, Vertex, convert, print, rewrite, update,
};

use crate::slog2::common::sample;

/// All SLOG2 files of the original software.
fn golden_files() -> Vec<(String, Vec<u8>)> {
    let files = golden::contents("mpe", ".slog2");
    assert!(files.len() > 20, "only {} golden files", files.len());
    files
}

fn written(file: &[u8], layout: Slog2Layout) -> Vec<u8> {
    let reader = Slog2Reader::new(file).expect("reads");
    let out = Cursor::new(Vec::new());
    rewrite(&reader, layout, out)
        .expect("writes")
        .0
        .into_inner()
}

fn updated(file: &[u8]) -> Vec<u8> {
    let reader = Slog2Reader::new(file).expect("reads");
    let options = TreeOptions::from(reader.header());
    let out = Cursor::new(Vec::new());
    let (out, _, _) = update(&reader, options, out).expect("updates");
    out.into_inner()
}

fn text(file: &[u8]) -> String {
    let mut text = Vec::new();
    let reader = Slog2Reader::new(file).expect("reads");
    print(&reader, &Slog2PrintOptions::default(), &mut text).expect("prints");
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn goldens_are_written_again_byte_for_byte() {
    for (name, file) in golden_files() {
        assert!(written(&file, Slog2Layout::V206) == file, "{name}");
        // Version 2.0.5: smaller by the counts, and the same when read and written again.
        let old = written(&file, Slog2Layout::V205);
        assert!(old.len() < file.len());
        assert_eq!(&old[2..12], b"SLOG 2.0.5");
        assert!(written(&old, Slog2Layout::V205) == old, "{name}");
        let (new, old) = (
            Slog2Reader::new(&file).unwrap(),
            Slog2Reader::new(&old).unwrap(),
        );
        assert_eq!(old.layout(), Slog2Layout::V205);
        for (a, b) in new.directory().iter().zip(old.directory().iter()) {
            let (a, b) = (new.node(a.ptr).unwrap(), old.node(b.ptr).unwrap());
            assert_eq!((&a.nestless, &a.nestable), (&b.nestless, &b.nestable));
            for (a, b) in a.shadows.iter().zip(&b.shadows) {
                assert_eq!((a.stub.id, a.real_count()), (b.stub.id, b.real_count()));
            }
        }
    }
}

/// An updated 2.0.5 file has its drawables in the tree that a conversion gives.
#[test]
fn updates_are_what_a_conversion_makes() {
    for (leaf_byte_size, steps) in [(65536, 3), (600, 40), (200, 40)] {
        let log = sample(steps);
        let (new, _) = log.convert(leaf_byte_size);
        let old = written(&new, Slog2Layout::V205);
        let again = updated(&old);
        let [a, b] = [&new, &again].map(|file| Slog2Reader::new(file).expect("reads"));
        let sorted = |file: &[u8]| {
            let mut list: Vec<String> = crate::slog2::common::drawables(file)
                .into_iter()
                .map(|drawn| format!("{drawn:?}"))
                .collect();
            list.sort();
            list
        };
        assert_eq!(sorted(&new), sorted(&again));
        let counts = |reader: &Slog2Reader<'_>| {
            let counts = reader.categories().iter();
            let mut counts: Vec<(i32, i64)> = counts.map(|c| (c.index, c.summary.count)).collect();
            counts.sort();
            counts
        };
        assert_eq!(counts(&a), counts(&b), "summaries are counted once");
        assert_eq!(a.line_id_maps(), b.line_id_maps());
        assert_eq!(a.header().leaf_byte_size, b.header().leaf_byte_size);
        // An update of what it made changes nothing.
        assert!(updated(&again) == again);
    }
}

#[test]
fn goldens_of_2_0_5_become_what_they_were() {
    let mut same = 0;
    let files = golden_files();
    for (name, file) in &files {
        let again = updated(&written(file, Slog2Layout::V205));
        // Equal end times may have come in another order, and slog2filter's summaries are doubled.
        let [ours, theirs] = [&again, file].map(|file| Slog2Reader::new(file).expect("reads"));
        assert_eq!(ours.directory().len(), theirs.directory().len(), "{name}");
        same += usize::from(again == *file);
    }
    println!("{same} of {} byte for byte", files.len());
    assert!(same * 2 > files.len());
}

/// Parts of composites: start, duration in eighths, line, kind; and which of them belong together.
fn parts() -> impl Strategy<Value = Vec<Vec<(u16, u8, u8, u8)>>> {
    let part = (0u16..200, 0u8..40, 0u8..3, 0u8..3);
    prop::collection::vec(prop::collection::vec(part, 1..5), 1..60)
}

const TOPOLOGIES: [Topology; 3] = [Topology::Event, Topology::State, Topology::Arrow];

fn categories() -> Vec<Category> {
    let mut list: Vec<Category> = TOPOLOGIES.map(Category::preview).to_vec();
    for (index, topology) in TOPOLOGIES.into_iter().enumerate() {
        let name = format!("kind {index}");
        list.push(Category::new(
            index as i32,
            name.as_str().into(),
            topology,
            Color::WHITE,
        ));
    }
    list.push(Category::new(
        9,
        "whole".into(),
        Topology::State,
        Color::PINK,
    ));
    list
}

/// Builds a tree of groups, each as a composite or, if `apart`, as its parts.
fn build(groups: &[Vec<(u16, u8, u8, u8)>], leaf: i32, apart: bool) -> Vec<u8> {
    let options = TreeOptions {
        leaf_byte_size: leaf,
        ..TreeOptions::default()
    };
    let mut builder = TreeBuilder::new(Cursor::new(Vec::new()), options).expect("memory");
    let mut corners: Vec<Vec<(usize, Vec<Vertex>)>> = groups
        .iter()
        .map(|group| {
            let part = |&(start, duration, line, kind): &(u16, u8, u8, u8)| {
                let time = f64::from(start) / 8.0;
                let first = Vertex {
                    time,
                    line: line.into(),
                };
                let time = time + f64::from(duration) / 8.0;
                let kind = usize::from(kind);
                let last = Vertex {
                    time,
                    line: i32::from(line) + i32::from(kind == 2),
                };
                (
                    kind,
                    if kind == 0 {
                        vec![first]
                    } else {
                        vec![first, last]
                    },
                )
            };
            group.iter().map(part).collect()
        })
        .collect();
    let end = |group: &Vec<(usize, Vec<Vertex>)>| {
        let times = group.iter().flat_map(|(_, corners)| corners);
        times.map(|v| v.time).fold(f64::NEG_INFINITY, f64::max)
    };
    if apart {
        corners = corners
            .into_iter()
            .flatten()
            .map(|part| vec![part])
            .collect();
    }
    corners.sort_by(|a, b| end(a).total_cmp(&end(b)));
    for group in &corners {
        let parts: Vec<NewDrawable<'_>> = group
            .iter()
            .map(|(kind, vertices)| NewDrawable {
                topology: TOPOLOGIES[*kind],
                category: *kind as i32,
                info: &[],
                vertices,
            })
            .collect();
        if apart {
            builder.add(&parts[0]).expect("memory");
        } else {
            let composite = NewComposite {
                category: 9,
                info: b"composite",
                primitives: &parts,
            };
            builder.add_composite(&composite).expect("memory");
        }
    }
    let tree = builder.close().expect("some drawables");
    let maps = [LineIdMap::identity(tree.lines())];
    tree.finish(&categories(), &maps)
        .expect("memory")
        .0
        .into_inner()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn composites_come_back(groups in parts(), leaf in 100i32..2000) {
        let file = build(&groups, leaf, false);
        let reader = Slog2Reader::new(&file).expect("reads");
        let mut found = 0;
        for drawable in DrawableWalk::new(&reader) {
            let NodeDrawable::Composite(composite) = drawable.expect("reads") else {
                panic!("a primitive on its own");
            };
            prop_assert_eq!(composite.info, b"composite");
            let starts: Vec<f64> = composite.primitives.iter().map(|p| p.bounds.earliest).collect();
            prop_assert!(starts.is_sorted());
            for primitive in &composite.primitives {
                prop_assert!(composite.bounds.covers(primitive.bounds));
            }
            found += composite.primitives.len();
        }
        prop_assert_eq!(found, groups.iter().map(Vec::len).sum::<usize>());
        // They count by their parts, and their own category is there without a count.
        let apart = build(&groups, leaf, true);
        let apart = Slog2Reader::new(&apart).expect("reads");
        for category in reader.categories().iter().filter(|c| c.index >= 0) {
            match apart.categories().iter().find(|c| c.index == category.index) {
                Some(other) => prop_assert_eq!(category.summary.count, other.summary.count),
                None => prop_assert_eq!((category.index, category.summary.count), (9, 0)),
            }
        }
        prop_assert_eq!(reader.line_id_maps(), apart.line_id_maps());
        // Written again, in both versions, they are the same; printed, one line each.
        prop_assert!(written(&file, Slog2Layout::V206) == file);
        let again = updated(&written(&file, Slog2Layout::V205));
        prop_assert_eq!(DrawableWalk::new(&Slog2Reader::new(&again).expect("reads")).count(), groups.len());
        let lines = text(&file).matches(": Composite[ ").count();
        // A drawable that starts at the very end of the log is not listed, as in the original.
        let end = reader.root().expect("root").bounds.latest;
        let starts = DrawableWalk::new(&reader).flatten().map(|d| d.bounds().earliest);
        prop_assert_eq!(lines, starts.filter(|&start| start < end).count());
    }

    /// With one leaf, previews would be the same whether parts are together or apart.
    #[test]
    fn summaries_are_those_of_the_parts(groups in parts()) {
        let [whole, apart] = [false, true].map(|apart| build(&groups, 1 << 20, apart));
        let [whole, apart] = [&whole, &apart].map(|file| Slog2Reader::new(file).expect("reads"));
        for category in apart.categories() {
            let other = whole.categories().iter().find(|c| c.index == category.index);
            let other = other.expect("used");
            let close = |a: f32, b: f32| a == b || (a - b).abs() <= 1e-5 * a.abs().max(b.abs()) || a.is_nan() && b.is_nan();
            prop_assert!(close(category.summary.inclusive, other.summary.inclusive));
        }
    }
}

#[test]
fn composites_that_cannot_be_written_are_refused() {
    let mut builder =
        TreeBuilder::new(Cursor::new(Vec::new()), TreeOptions::default()).expect("memory");
    let mut refused = |info: &[u8], primitives: &[NewDrawable<'_>]| {
        let composite = NewComposite {
            category: 1,
            info,
            primitives,
        };
        let error = builder.add_composite(&composite).expect_err("refused");
        assert_eq!(builder.count(), 0);
        error.kind
    };
    let vertices = [Vertex::default(); 2];
    let state = NewDrawable {
        topology: Topology::State,
        category: 1,
        info: &[],
        vertices: &vertices,
    };
    assert!(matches!(refused(&[], &[]), Slog2ErrorKind::NoVertices));
    let many = vec![state; 1 << 15];
    assert!(matches!(
        refused(&[], &many),
        Slog2ErrorKind::TooLarge { .. }
    ));
    let long = vec![0; 1 << 15];
    assert!(matches!(
        refused(&long, &[state]),
        Slog2ErrorKind::TooLarge { .. }
    ));
    let event = NewDrawable {
        topology: Topology::Event,
        ..state
    };
    let found = refused(&[], &[state, event]);
    assert!(matches!(found, Slog2ErrorKind::VertexCount { found: 2 }));
}

#[test]
fn damaged_files_are_not_written_again() {
    let (file, _) = sample(2).convert(300);
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= [0x01, 0x80, 0xff][at % 3];
        if let Ok(reader) = Slog2Reader::new(&damaged) {
            let out = Cursor::new(Vec::new());
            let written = rewrite(&reader, Slog2Layout::V205, out).map(|(out, _)| out.into_inner());
            if let Ok(written) = written {
                Slog2Reader::new(&written).expect("what was written can be read");
            }
            let options = TreeOptions::from(reader.header());
            let _ = update(&reader, options, Cursor::new(Vec::new()));
        }
    }
    // Nothing of the original is needed for a conversion either.
    assert!(convert(&file, Cursor::new(Vec::new()), Default::default()).is_err());
}
