//! SLOG2 on a stored log of our own, on other tree shapes, and on version 2.0.5.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use crate::slog2::common::{Log, drawables, sample};
use trace_formats::slog2::{
    ConvertOptions, Navigator, PrintOrder, PrintedDrawables, PrintedParts, RecursiveOptions,
    Slog2Layout, Slog2PrintOptions, Slog2Reader, TreeOptions, convert, print, print_recursively,
};

fn stored(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/slog2")
        .join(name);
    if std::env::var_os("STORE_SLOG2_SAMPLE").is_some() {
        // To make the files anew after a change that is meant: look at the difference before you commit it.
        let (file, _) = sample(5).convert(500);
        let bytes = match name {
            "sample.slog2" => file,
            "sample.slog2.txt" => list(&file, &Slog2PrintOptions::default()).into_bytes(),
            "sample.windows.txt" => windows(&file).into_bytes(),
            "sample.navigate.txt" => walk(&file).into_bytes(),
            _ => recursive(&file, &RecursiveOptions::default()).into_bytes(),
        };
        fs::write(&path, bytes).expect("writable");
    }
    fs::read(&path).expect("stored file")
}

fn list(file: &[u8], options: &Slog2PrintOptions) -> String {
    let mut text = Vec::new();
    print(&Slog2Reader::new(file).expect("reads"), options, &mut text).expect("prints");
    String::from_utf8(text).expect("UTF-8")
}

fn recursive(file: &[u8], options: &RecursiveOptions) -> String {
    let mut text = Vec::new();
    print_recursively(&Slog2Reader::new(file).expect("reads"), options, &mut text).expect("prints");
    String::from_utf8(text).expect("UTF-8")
}

#[test]
fn the_sample_is_converted_as_stored() {
    let (file, conversion) = sample(5).convert(500);
    assert!(file == stored("sample.slog2"));
    // 5 steps of 3 ranks with two states and an arrow, and one state and one event; one arrow and one event.
    assert_eq!(conversion.drawables, 5 * (3 * 3 + 2) + 2);
    assert_eq!(conversion.header.max_depth, 3);
    assert_eq!(
        list(&file, &Slog2PrintOptions::default()),
        String::from_utf8_lossy(&stored("sample.slog2.txt"))
    );
    let text = recursive(&file, &RecursiveOptions::default());
    assert_eq!(text, String::from_utf8_lossy(&stored("sample.recur.txt")));
}

#[test]
fn records_and_their_bytes_give_the_same_file() {
    let log = sample(12);
    let (pushed, _) = log.convert(TreeOptions::default().leaf_byte_size);
    let options = ConvertOptions::default();
    let (encoded, conversion) =
        convert(&log.clog2(), Cursor::new(Vec::new()), options).expect("converts");
    assert!(encoded.into_inner() == pushed);
    // Each record, and the ENDBLOCK or ENDLOG of each block of 1024 bytes.
    let records: usize = log.records.iter().map(|record| record.size()).sum();
    let ends = conversion.record_bytes - records as u64;
    assert!(
        ends.is_multiple_of(24) && ends / 24 >= records as u64 / 1024,
        "{ends}"
    );
}

#[test]
fn every_tree_shape_holds_every_drawable_once() {
    let log = sample(12);
    let sorted = |file: &[u8]| {
        let mut list: Vec<String> = drawables(file)
            .iter()
            .map(|drawable| format!("{drawable:?}"))
            .collect();
        list.sort();
        list
    };
    let (whole, _) = log.convert(1 << 30);
    assert_eq!(
        Slog2Reader::new(&whole).expect("reads").directory().len(),
        1
    );
    let all = sorted(&whole);
    for leaf_byte_size in [1, 80, 100, 150, 300, 1000, 3000] {
        let (file, _) = log.convert(leaf_byte_size);
        assert_eq!(sorted(&file), all, "{leaf_byte_size}");
        let reader = Slog2Reader::new(&file).expect("reads");
        // Levels get narrower upwards, and each inner node previews all drawables below it.
        for entry in reader.directory() {
            let node = reader.node(entry.ptr).expect("node");
            let children = reader.directory().iter().filter(|child| {
                child.id.depth + 1 == entry.id.depth && child.id.xpos / 2 == entry.id.xpos
            });
            assert_eq!(node.shadows.len(), children.count());
            for buffer in &node.shadows {
                let child = reader.node(buffer.stub.ptr).expect("child");
                let below: i64 = child.shadows.iter().map(|buffer| buffer.real_count()).sum();
                let own = child.nestless.len() + child.nestable.len();
                assert_eq!(buffer.real_count(), below + own as i64);
            }
        }
        for category in reader.categories() {
            let whole = Slog2Reader::new(&whole).expect("reads");
            let same = whole
                .categories()
                .iter()
                .find(|other| other.index == category.index);
            assert_eq!(
                same.map(|same| same.summary.count),
                Some(category.summary.count)
            );
        }
    }
}

#[test]
fn every_order_lists_every_drawable_but_those_on_the_border() {
    let (file, conversion) = sample(12).convert(300);
    let lines = |kinds, order| {
        let options = Slog2PrintOptions {
            kinds,
            order,
            ..Slog2PrintOptions::default()
        };
        let text = list(&file, &options);
        let drawables = text
            .lines()
            .filter_map(|line| line.split_once(": Primitive"));
        drawables
            .map(|(_, drawable)| drawable.to_string())
            .collect::<Vec<_>>()
    };
    let reversed = |mut list: Vec<String>| {
        list.reverse();
        list
    };
    let by_start = lines(PrintedDrawables::All, PrintOrder::IncreasingStart);
    // The last event starts at the end of the log.
    assert_eq!(by_start.len() as u64, conversion.drawables - 1);
    assert_eq!(
        reversed(lines(PrintedDrawables::All, PrintOrder::DecreasingStart)),
        by_start
    );
    let by_end = lines(PrintedDrawables::All, PrintOrder::IncreasingEnd);
    assert_eq!(by_end.len() as u64, conversion.drawables);
    assert_eq!(
        reversed(lines(PrintedDrawables::All, PrintOrder::DecreasingEnd)),
        by_end
    );
    let states = lines(PrintedDrawables::Nestable, PrintOrder::IncreasingStart);
    assert_eq!(states.len(), 12 * 7);
    assert!(states.iter().all(|line| line.contains("topo=State")));
    let others = lines(PrintedDrawables::Nestless, PrintOrder::IncreasingStart);
    assert_eq!(others.len() + states.len(), by_start.len());
    assert!(!list(&file, &Slog2PrintOptions::default()).contains("  *****  "));
}

#[test]
fn options_choose_parts_and_window() {
    let (file, _) = sample(12).convert(300);
    let parts = |parts| {
        let options = Slog2PrintOptions {
            parts,
            drawables: false,
            ..Slog2PrintOptions::default()
        };
        list(&file, &options)
    };
    let has = |text: &str| {
        [
            "CategoryMap",
            "Tree Directory",
            "LineIDMapList",
            "Primitive[",
        ]
        .map(|part| text.contains(part))
    };
    assert_eq!(
        has(&parts(PrintedParts::Categories)),
        [true, false, false, false]
    );
    assert_eq!(
        has(&parts(PrintedParts::Directory)),
        [false, true, false, false]
    );
    assert_eq!(
        has(&parts(PrintedParts::LineIdMaps)),
        [false, false, true, false]
    );
    assert_eq!(has(&parts(PrintedParts::All)), [true, true, true, false]);
    // Each part has a blank line behind it, and println of the original one more.
    for text in [
        parts(PrintedParts::Categories),
        parts(PrintedParts::LineIdMaps),
        parts(PrintedParts::All),
    ] {
        assert!(text.ends_with("\n\n\n"), "{:?}", &text[text.len() - 20..]);
    }
    let window = |from, to| {
        let options = Slog2PrintOptions {
            window: (from, to),
            ..Slog2PrintOptions::default()
        };
        list(&file, &options).matches(": Primitive").count()
    };
    let all = window(0.0, 1.0);
    let (left, right) = (window(0.0, 0.5), window(0.5, 1.0));
    assert!(
        left < all && right < all && left + right >= all,
        "{left} {right} {all}"
    );
}

/// The middle of the log in all orders of slog2print, and what PrintRecursively merges down to a depth.
fn windows(file: &[u8]) -> String {
    let mut text = String::new();
    for order in [
        PrintOrder::IncreasingStart,
        PrintOrder::DecreasingStart,
        PrintOrder::IncreasingEnd,
        PrintOrder::DecreasingEnd,
    ] {
        text += &list(
            file,
            &Slog2PrintOptions {
                order,
                parts: PrintedParts::LineIdMaps,
                window: (0.25, 0.5),
                ..Slog2PrintOptions::default()
            },
        );
    }
    for merged in [false, true] {
        text += &recursive(
            file,
            &RecursiveOptions {
                window: (0.25, 0.5),
                lowest_depth: 1,
                merged,
            },
        );
    }
    text
}

/// A walk with all commands, some wrong.
fn walk(file: &[u8]) -> String {
    let reader = Slog2Reader::new(file).expect("reads");
    let mut navigator = Navigator::new(&reader, false).expect("reads");
    let mut text = Vec::new();
    navigator.greet(&mut text).expect("memory");
    let mut wrong = 0;
    for line in [
        "d=1 a",
        "+=2.5",
        "+",
        ">=0.5",
        "s",
        ">",
        "-",
        "<=2 d=7",
        "d=0",
        "ts=0.5 tf=1.5",
        "none",
    ] {
        text.extend(Navigator::PROMPT.as_bytes());
        wrong += usize::from(navigator.obey(line, &mut text).expect("reads").is_err());
    }
    assert_eq!(wrong, 2);
    text.extend(Navigator::PROMPT.as_bytes());
    String::from_utf8(text).expect("UTF-8")
}

#[test]
fn windows_and_walks_are_printed_as_stored() {
    // Both texts were compared with what the original's tools print of this file.
    let file = stored("sample.slog2");
    assert_eq!(
        windows(&file),
        String::from_utf8_lossy(&stored("sample.windows.txt"))
    );
    assert_eq!(
        walk(&file),
        String::from_utf8_lossy(&stored("sample.navigate.txt"))
    );
}

/// As slog2print does: values that are not there are `null`.
#[test]
fn drawables_without_their_data_show_keys_and_null() {
    let mut log = Log::new(1, 1);
    log.bare(1.0, (0, 0, 0), 5000);
    log.bare(2.0, (0, 0, 0), 600);
    log.bare(3.0, (0, 0, 0), 601);
    log.bare(4.0, (0, 0, 0), 5000);
    log.state_def([600, 601], "step", "gold", "n=%d, r=%E, s=%s.");
    log.event_def(5000, "mark", "red", "%h%l");
    let (file, _) = log.convert(65536);
    let text = list(&file, &Slog2PrintOptions::default());
    let missing = " **** Missing user byte[] but Non-empty format chars! **** ]";
    assert!(
        text.contains(&format!("]: n=null, r=null, s=null.{missing}")),
        "{text}"
    );
    assert!(text.contains(&format!("]: nullnull{missing}")), "{text}");
}

#[test]
fn recursion_ends_at_the_depth_and_merges_on_request() {
    let (file, conversion) = sample(12).convert(300);
    let stubs = |lowest_depth| {
        let options = RecursiveOptions {
            lowest_depth,
            ..RecursiveOptions::default()
        };
        recursive(&file, &options)
            .matches("*** Start of TreeNode ***")
            .count()
    };
    let reader = Slog2Reader::new(&file).expect("reads");
    assert_eq!(stubs(0), reader.directory().len());
    assert_eq!(stubs(reader.header().max_depth), 1);
    let merged = RecursiveOptions {
        merged: true,
        ..RecursiveOptions::default()
    };
    let text = recursive(&file, &merged);
    assert_eq!(
        text.matches(", Primitive[").count() as u64,
        conversion.drawables
    );
    assert!(text.contains("\n1, Primitive["));
}

/// A file of version 2.0.5, put together by hand from the tables of the format description: one root with the preview of
/// one leaf, which holds one state.
fn version_2_0_5() -> Vec<u8> {
    let int = |value: i32| value.to_be_bytes().to_vec();
    let short = |value: i16| value.to_be_bytes().to_vec();
    let double = |value: f64| value.to_be_bytes().to_vec();
    let text = |text: &str| [short(text.len() as i16), text.as_bytes().to_vec()].concat();
    let ptr = |offset: usize, size: usize| {
        [(offset as i64).to_be_bytes().to_vec(), int(size as i32)].concat()
    };
    let state = |category: i32| {
        let vertices = [double(1.0), int(0), double(3.0), int(0)].concat();
        [int(category), short(0), short(2), vertices].concat()
    };
    let stub = |depth: i16, offset: usize, size: usize| {
        [
            double(1.0),
            double(3.0),
            short(depth),
            int(0),
            ptr(offset, size),
        ]
        .concat()
    };
    let (leaf_at, leaf_size) = (108, 46 + 33);
    let leaf = [
        stub(0, leaf_at, leaf_size),
        int(0),
        int(1),
        vec![0],
        state(7),
        int(0),
    ]
    .concat();
    assert_eq!(leaf.len(), leaf_size);
    // A weight has no count: 12 bytes.
    let weight = [
        int(7),
        1f32.to_be_bytes().to_vec(),
        0.5f32.to_be_bytes().to_vec(),
    ]
    .concat();
    let shadow = [
        state(-3),
        double(1.0),
        double(3.0),
        vec![0, 0, 0, 0, 0, 0, 0, 1],
        int(1),
        weight,
    ]
    .concat();
    let buffer = [stub(0, leaf_at, leaf_size), int(0), int(1), shadow].concat();
    let (root_at, root_size) = (leaf_at + leaf_size, 46 + buffer.len());
    let root = [stub(1, root_at, root_size), int(0), int(0), int(1), buffer].concat();
    let category = |index: i32, name: &str| {
        let color = [0xff, 1, 2, 3, 1, 1].to_vec();
        [
            int(index),
            text(name),
            int(1),
            color,
            short(0),
            short(0),
            short(0),
        ]
        .concat()
    };
    let categories = [int(2), category(7, "work"), category(-3, "Preview_State")].concat();
    let maps = [
        int(1),
        text("Identity Map"),
        int(1),
        text("LineID"),
        int(1),
        int(0),
        int(0),
        short(0),
    ]
    .concat();
    let entry = |depth: i16, offset: usize, size: usize| {
        [
            short(depth),
            int(0),
            double(1.0),
            double(3.0),
            ptr(offset, size),
        ]
        .concat()
    };
    let directory = [
        int(2),
        entry(1, root_at, root_size),
        entry(0, leaf_at, leaf_size),
    ]
    .concat();
    let categories_at = root_at + root_size;
    let maps_at = categories_at + categories.len();
    let directory_at = maps_at + maps.len();
    let header = [
        text("SLOG 2.0.5"),
        short(2),
        int(65536),
        short(1),
        int(4096),
        ptr(categories_at, categories.len()),
        ptr(0, 0),
        ptr(maps_at, maps.len()),
        ptr(root_at, root_size),
        ptr(directory_at, directory.len()),
        ptr(0, 0),
        ptr(0, 0),
    ]
    .concat();
    assert_eq!(header.len(), 108);
    [header, leaf, root, categories, maps, directory].concat()
}

#[test]
fn version_2_0_5_has_neither_counts_nor_summaries() {
    let file = version_2_0_5();
    let reader = Slog2Reader::new(&file).expect("reads");
    assert_eq!(reader.layout(), Slog2Layout::V205);
    let root = reader.node(reader.header().tree_root).expect("root");
    let weights: Vec<_> = root.shadows[0].nestable[0].weights().collect();
    assert_eq!(weights.len(), 1);
    let ratios = weights[0].ratios;
    assert_eq!(
        (ratios.inclusive, ratios.exclusive, ratios.count),
        (1.0, 0.5, 0)
    );
    let mut written = Vec::new();
    root.write(&mut written);
    let start = reader.header().tree_root.offset as usize;
    assert_eq!(written, file[start..start + written.len()]);
    let text = recursive(&file, &RecursiveOptions::default());
    assert!(text.contains("\n(type=7:workratios=1.0,0.5)\n"), "{text}");
    // The same bytes under the name of another version cannot be read.
    let mut newer = file.clone();
    newer[11] = b'6';
    assert!(Slog2Reader::new(&newer).is_err());
    newer[11] = b'9';
    assert!(Slog2Reader::new(&newer).is_err());
    assert!(Slog2Reader::with_layout(&newer, Slog2Layout::V205).is_ok());
}
