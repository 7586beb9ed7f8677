//! SLOG2 against the files of the original software: conversion, reading, writing again, texts.

use std::io::Cursor;
use std::path::PathBuf;

use test_support::golden;
use trace_formats::slog2::{
    ConvertOptions, Ratios, RecursiveOptions, ShadowBuffer, Slog2Node, Slog2PrintOptions,
    Slog2Reader, TreeOptions, Warning, Weight, convert, print, print_recursively,
};

/// Every conversion of the goldens: input, output, options.
fn conversions() -> Vec<(PathBuf, PathBuf, TreeOptions)> {
    let variants = [
        (".ls1k.slog2", 2, 1024),
        (".ls1k_nc4.slog2", 4, 1024),
        (".ls600_nc3.slog2", 3, 600),
        (".slog2", 2, 65536),
    ];
    golden::files("mpe", ".slog2")
        .into_iter()
        .filter(|path| !path.to_string_lossy().ends_with(".filter.slog2"))
        .map(|path| {
            let name = path.to_string_lossy().into_owned();
            let variant =
                variants
                    .iter()
                    .find_map(|&(ending, children_per_node, leaf_byte_size)| {
                        let options = TreeOptions {
                            children_per_node,
                            leaf_byte_size,
                        };
                        Some((name.strip_suffix(ending)?.to_string(), options))
                    });
            let (stem, options) = variant.expect("one ending fits");
            (PathBuf::from(stem + ".clog2"), path, options)
        })
        .collect()
}

/// Compares two files and accepts what `spec/slog2.md` section 8.8 excepts and nothing else: the last bits of the two
/// floats of category summaries, and the order of weights with equal inclusive ratios, or next to a NaN. Gives how often
/// it had to.
fn assert_same_log(name: &str, ours: &[u8], theirs: &[u8]) -> [usize; 2] {
    if ours == theirs {
        return [0, 0];
    }
    assert_eq!(ours.len(), theirs.len(), "{name}: length");
    let (a, b) = (
        Slog2Reader::new(ours).expect("ours"),
        Slog2Reader::new(theirs).expect("theirs"),
    );
    assert_eq!(a.header(), b.header(), "{name}: header");
    assert_eq!(a.directory(), b.directory(), "{name}: directory");
    assert_eq!(a.line_id_maps(), b.line_id_maps(), "{name}: line maps");
    // Fields that may differ are neutralised; then everything else must be equal byte by byte.
    let (mut ours, mut theirs) = (ours.to_vec(), theirs.to_vec());
    let mut excepted = [0, 0];
    let mut at = b.header().categories.offset as usize + 4;
    assert_eq!(
        a.categories().len(),
        b.categories().len(),
        "{name}: categories"
    );
    for (x, y) in a.categories().iter().zip(b.categories()) {
        let texts = [&x.name]
            .into_iter()
            .chain(&x.info_keys)
            .map(|text| 2 + text.0.len());
        at += 4 + texts.sum::<usize>() + 4 + 4 + 1 + 1 + 2 + 2 + x.info_types.len() + 2;
        for (p, q) in [
            (x.summary.inclusive, y.summary.inclusive),
            (x.summary.exclusive, y.summary.exclusive),
        ] {
            let close = (p - q).abs() <= 1e-5 * p.abs().max(q.abs());
            assert!(
                close || p.to_bits() == q.to_bits(),
                "{name}: {:?} {p} {q}",
                x.name
            );
            excepted[0] += usize::from(p.to_bits() != q.to_bits());
            ours[at..at + 4].fill(0);
            theirs[at..at + 4].fill(0);
            at += 4;
        }
        at += 8;
    }
    assert_eq!(
        at,
        (b.header().categories.offset + i64::from(b.header().categories.size)) as usize
    );
    for entry in a.directory() {
        let (x, y) = (
            a.node(entry.ptr).expect("ours"),
            b.node(entry.ptr).expect("theirs"),
        );
        for (x, y) in x.shadows.iter().zip(&y.shadows) {
            assert_eq!(x.stub, y.stub, "{name}");
            excepted[1] += same_weights(name, x, y);
        }
        // The weights are compared; the rest of the node is, once the weights of both are in the same order.
        let range =
            entry.ptr.offset as usize..(entry.ptr.offset + i64::from(entry.ptr.size)) as usize;
        sort_weights(&x, &mut ours[range.clone()]);
        sort_weights(&y, &mut theirs[range]);
    }
    let first = ours.iter().zip(&theirs).position(|(x, y)| x != y);
    assert_eq!(first, None, "{name}: first different byte");
    excepted
}

fn bits(weight: &Weight) -> (i32, u32, u32, i64) {
    let Ratios {
        inclusive,
        exclusive,
        count,
    } = weight.ratios;
    (
        weight.category,
        inclusive.to_bits(),
        exclusive.to_bits(),
        count,
    )
}

/// Checks that the weights of all shadows are the same, in an order that may differ only where `spec/slog2.md`
/// section 8.8 lets it. Gives the number of shadows in which it does.
fn same_weights(name: &str, ours: &ShadowBuffer<'_>, theirs: &ShadowBuffer<'_>) -> usize {
    let shadows = |buffer: &ShadowBuffer<'_>| {
        let all = buffer.nestless.iter().chain(&buffer.nestable);
        all.map(|shadow| shadow.weights().collect::<Vec<Weight>>())
            .collect::<Vec<_>>()
    };
    let mut differing = 0;
    let (ours, theirs) = (shadows(ours), shadows(theirs));
    assert_eq!(ours.len(), theirs.len(), "{name}: shadows");
    for (x, y) in ours.iter().zip(&theirs) {
        let bits = |weights: &[Weight]| weights.iter().map(bits).collect::<Vec<_>>();
        let (mut p, mut q) = (bits(x), bits(y));
        if p == q {
            continue;
        }
        differing += 1;
        let any_nan = x
            .iter()
            .chain(y)
            .any(|weight| weight.ratios.inclusive.is_nan());
        if !any_nan {
            let ratios = |weights: &[Weight]| {
                weights
                    .iter()
                    .map(|weight| weight.ratios.inclusive)
                    .collect::<Vec<_>>()
            };
            assert_eq!(ratios(x), ratios(y), "{name}: order of weights");
        }
        p.sort_unstable();
        q.sort_unstable();
        assert_eq!(p, q, "{name}: weights");
    }
    differing
}

/// Puts the weights of all shadows of a node into an order that depends on nothing but their bytes.
fn sort_weights(node: &Slog2Node<'_>, bytes: &mut [u8]) {
    let drawables = node.nestless.iter().chain(&node.nestable);
    let mut at = 34
        + 12
        + drawables
            .map(|drawable| 1 + drawable.byte_size())
            .sum::<usize>();
    for buffer in &node.shadows {
        at += 34;
        for list in [&buffer.nestless, &buffer.nestable] {
            at += 4;
            for shadow in list {
                let count = shadow.weights().len();
                let end = at + shadow.byte_size();
                let weights = &mut bytes[end - 20 * count..end];
                let mut sorted: Vec<Vec<u8>> = weights.chunks(20).map(<[u8]>::to_vec).collect();
                sorted.sort();
                weights.copy_from_slice(&sorted.concat());
                at = end;
            }
        }
    }
    assert_eq!(at, bytes.len());
}

#[test]
fn conversion_gives_the_original_bytes() {
    let mut same = 0;
    let conversions = conversions();
    for (input, output, tree) in &conversions {
        let name = output.file_name().expect("name").to_string_lossy();
        let clog2 = golden::read(input);
        let options = ConvertOptions {
            tree: *tree,
            ..ConvertOptions::default()
        };
        let (ours, conversion) =
            convert(&clog2, Cursor::new(Vec::new()), options).expect("converts");
        // Messages that run backwards do occur in them.
        let backward = |warning: &Warning| matches!(warning, Warning::Backward { .. });
        let warnings = &conversion.warnings;
        assert!(warnings.first.iter().all(backward), "{name}: {warnings:?}");
        let theirs = golden::read(output);
        let excepted = assert_same_log(&name, &ours.into_inner(), &theirs);
        if excepted == [0, 0] {
            same += 1;
        } else {
            println!("{name}: {excepted:?} summaries, shadows");
        }
        let printed = golden::text(output.with_extension("conv.txt"));
        for (title, number) in [
            ("Number of Drawables", conversion.drawables),
            ("Number of Unmatched Events", conversion.unmatched_events),
            ("Total ByteSize of the logfile", conversion.record_bytes),
        ] {
            let line = format!("{title} = {number}");
            assert!(
                printed.lines().any(|printed| printed == line),
                "{name}: {line}"
            );
        }
    }
    println!("{same} of {} are the same in every byte", conversions.len());
}

#[test]
fn nodes_written_again_are_the_same() {
    let mut nodes = 0;
    for path in golden::files("mpe", ".slog2") {
        let bytes = golden::read(&path);
        let reader = Slog2Reader::new(&bytes).expect("reads");
        for entry in reader.directory() {
            let mut written = Vec::new();
            let node = reader.node(entry.ptr).expect("node");
            node.write(&mut written);
            let start = entry.ptr.offset as usize;
            assert_eq!(
                written,
                bytes[start..start + entry.ptr.size as usize],
                "{}",
                path.display()
            );
            assert_eq!(
                (node.stub.id, node.stub.bounds, node.stub.ptr),
                (entry.id, entry.bounds, entry.ptr)
            );
            nodes += 1;
        }
        assert_eq!(
            reader.root().map(|root| root.id.depth),
            Some(reader.header().max_depth)
        );
    }
    println!("{nodes} nodes");
}

/// Compares a text with a golden one, byte by byte.
fn assert_same_text(name: &str, ours: &[u8], theirs: &[u8]) {
    let lines = |text: &[u8]| {
        text.split(|&b| b == b'\n')
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    };
    for (at, (x, y)) in lines(ours).into_iter().zip(lines(theirs)).enumerate() {
        let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
        assert!(x == y, "{name}:{}\n{}\n{}", at + 1, text(&x), text(&y));
    }
    assert_eq!(ours.len(), theirs.len(), "{name}: length");
}

#[test]
fn text_of_slog2print() {
    for path in golden::files("mpe", ".slog2") {
        let name = path
            .file_name()
            .expect("name")
            .to_string_lossy()
            .into_owned()
            + ".txt";
        let bytes = golden::read(&path);
        let reader = Slog2Reader::new(&bytes).expect("reads");
        let mut text = Vec::new();
        print(&reader, &Slog2PrintOptions::default(), &mut text).expect("prints");
        let theirs = golden::read(path.with_extension("slog2.txt"));
        assert_same_text(&name, &text, &theirs);
    }
}

#[test]
fn text_of_print_recursively() {
    for path in golden::files("mpe", ".recur.txt") {
        let name = path
            .file_name()
            .expect("name")
            .to_string_lossy()
            .into_owned();
        let slog2 = path.to_string_lossy().replace(".recur.txt", ".slog2");
        let bytes = golden::read(slog2);
        let reader = Slog2Reader::new(&bytes).expect("reads");
        let mut text = Vec::new();
        print_recursively(&reader, &RecursiveOptions::default(), &mut text).expect("prints");
        let theirs = golden::read(&path);
        assert_same_text(&name, &text, &theirs);
    }
}
