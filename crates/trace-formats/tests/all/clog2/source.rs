//! CLOG2 files as drawables: what the original converter made of the same files.

use crate::clog2::common::*;
use test_support::golden;
use trace_formats::clog2::*;
use trace_formats::slog2;
use trace_model::{Drawable, DrawableOrder, Source as _, Topology};

/// A drawable with what its category is called, in a form that sorts.
fn shown(source: &dyn trace_model::Source) -> Vec<String> {
    let definitions = source.definitions();
    let mut list = Vec::new();
    let mut put = |drawable: &Drawable<'_>| {
        let category = definitions
            .category(drawable.category)
            .expect("a known category");
        assert_eq!(category.topology, drawable.topology);
        for vertex in drawable.vertices {
            assert!(definitions.line(vertex.line).is_some(), "a known line");
        }
        list.push(format!(
            "{:?} {:?} {:?} {:?}",
            drawable.vertices, category.name, category.color, drawable.info
        ));
        Ok(())
    };
    source.for_each(&mut put).expect("a sound file");
    list.sort();
    list
}

#[test]
fn goldens_give_the_drawables_that_the_original_converter_made() {
    let mut compared = 0;
    for (name, file) in golden_files() {
        let converted = format!("mpe/{}", name.replace(".clog2", ".slog2"));
        if !golden::exists(&converted) {
            continue;
        }
        let theirs = golden::read(converted);
        let ours = Clog2Source::new(&file).unwrap();
        let theirs = slog2::Slog2Source::new(&theirs).unwrap();
        assert_eq!(shown(&ours), shown(&theirs), "{name}");
        let definitions = ours.definitions();
        let of_view = &slog2::Slog2Source::definitions(&theirs).lines;
        assert_eq!(&definitions.lines, of_view, "{name}");
        compared += 1;
    }
    assert!(compared >= 20, "{compared} files");
}

#[test]
fn the_order_told_is_the_order_kept() {
    for (name, file) in golden_files() {
        let source = Clog2Source::new(&file).unwrap();
        let mut before = (f64::NEG_INFINITY, f64::INFINITY);
        let mut kept = true;
        let mut put = |drawable: &Drawable<'_>| {
            let times = drawable.vertices.iter().map(|vertex| vertex.time);
            let start = times.clone().fold(f64::INFINITY, f64::min);
            let end = times.fold(f64::NEG_INFINITY, f64::max);
            kept &= end > before.0 || end == before.0 && start <= before.1;
            before = (end, start);
            Ok(())
        };
        source.for_each(&mut put).unwrap();
        assert_eq!(source.order() == DrawableOrder::End, kept, "{name}");
    }
}

#[test]
fn local_files_are_read_with_their_shifts_and_communicators() {
    let file = |name: &str| golden::read(format!("mpe/{name}"));
    let whole = file("flush_n2.joined.clog2");
    let parts = [file("flush_n2.local0.clog2"), file("flush_n2.local1.clog2")];
    let states = |file: &[u8], rank: Option<i32>| -> Vec<(f64, f64, i32)> {
        let source = Clog2Source::new(file).unwrap();
        let definitions = source.definitions().clone();
        let mut list = Vec::new();
        let mut put = |drawable: &Drawable<'_>| {
            let line = definitions.line(drawable.vertices[0].line).unwrap();
            if drawable.topology == Topology::State && rank.is_none_or(|rank| line.rank == rank) {
                let [start, end] = drawable.vertices else {
                    panic!("a state has two ends")
                };
                list.push((start.time, end.time, line.rank));
            }
            Ok(())
        };
        source.for_each(&mut put).unwrap();
        list.sort_by(|a, b| a.partial_cmp(b).unwrap());
        list
    };
    for (rank, part) in parts.iter().enumerate() {
        let found = states(part, None);
        assert!(found.len() > 20);
        assert_eq!(found, states(&whole, Some(rank as i32)), "rank {rank}");
    }
}

#[test]
fn what_is_no_drawable_is_counted() {
    let (preamble, records, table) = small_log();
    let file = written(&preamble, &records, &table);
    let source = Clog2Source::new(&file).unwrap();
    let losses = source.for_each(&mut |_| Ok(())).unwrap();
    for (what, number) in [
        ("message without its other end", 2),
        ("constant of MPI", 3),
        ("record of a collective operation", 1),
        ("place in the source", 1),
    ] {
        assert_eq!(losses.count(what), number, "{what}: {losses}");
    }
    assert_eq!(source.definitions().etypes.get(&601), None);
    let etypes = &source.definitions().etypes;
    assert!(
        etypes.values().any(|&pair| pair == (600, 601)),
        "{etypes:?}"
    );
}

#[test]
fn damage_is_an_error() {
    let (preamble, records, table) = small_log();
    let mut file = written(&preamble, &records, &table);
    file[PREAMBLE_SIZE + 20] = 99;
    assert!(Clog2Source::new(&file).is_err());
}
