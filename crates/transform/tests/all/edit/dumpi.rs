//! DUMPI files filtered, against what dumpi2dumpi made of the same.

use test_support::golden;
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::write::DumpiWriter;
use transform::{Copied, DumpiFilter, PropertySelection};

fn filtered(input: &[u8], filter: &DumpiFilter) -> (Vec<u8>, Copied) {
    let reader = DumpiReader::open(input).expect("opens");
    let mut writer = DumpiWriter::new(Vec::new(), filter.offsets(&reader)).expect("memory");
    let copied = filter.copy(&reader, &mut writer).expect("memory");
    let (bytes, _) = writer
        .finish(&copied.trailer, filter.layout())
        .expect("memory");
    (bytes, copied)
}

fn original() -> DumpiFilter {
    DumpiFilter {
        statuses: false,
        counters: false,
        like_original: true,
        ..DumpiFilter::default()
    }
}

#[test]
fn the_same_bytes_as_dumpi2dumpi() {
    let input = golden::read(&golden::files("dumpi/ring-n2-default", ".bin")[0]);
    type Case = (&'static str, fn(&mut DumpiFilter));
    let cases: [Case; 5] = [
        ("all", |_| ()),
        ("norank", |f| {
            f.functions.set("MPI_Comm_rank", false).expect("known");
            f.functions.set("MPI_Comm_size", false).expect("known");
        }),
        ("sendrecv", |f| {
            f.functions.set_mpi(false);
            f.functions.set("MPI_Send", true).expect("known");
            f.functions.set("MPI_Recv", true).expect("known");
        }),
        ("nowall", |f| f.wall = false),
        ("nocpu", |f| f.cpu = false),
    ];
    for (name, set) in cases {
        let mut filter = original();
        set(&mut filter);
        let expected = golden::read(format!("dumpi/tools/d2d/{name}.bin"));
        assert!(filtered(&input, &filter).0 == expected, "{name} differs");
    }
    let mut reductions = original();
    reductions.functions.set_mpi(false);
    for name in ["MPI_Init", "MPI_Allreduce", "MPI_Finalize"] {
        reductions.functions.set(name, true).expect("known");
    }
    for (rank, path) in golden::files("dumpi/coll-n2-default", ".bin")
        .iter()
        .enumerate()
    {
        let input = golden::read(path);
        let expected = golden::read(format!("dumpi/tools/d2d/red-000{rank}.bin"));
        assert!(
            filtered(&input, &reductions).0 == expected,
            "rank {rank} differs"
        );
    }
}

#[test]
fn filtering_nothing_changes_no_call_and_no_section() {
    let mut files = 0;
    for path in golden::files("dumpi", ".bin") {
        let input = golden::read(&path);
        let (bytes, copied) = filtered(&input, &DumpiFilter::default());
        let (before, after) = (
            DumpiReader::open(&input).expect("opens"),
            DumpiReader::open(&bytes).expect("opens"),
        );
        let records = |reader: &DumpiReader<'_>| -> Vec<String> {
            let shown = |record: trace_formats::dumpi::types::DumpiRecord<'_>| {
                let args: Vec<_> = record.args().map(|(_, arg)| format!("{arg:?}")).collect();
                format!(
                    "{} {:?} {} {:?} {:?} {:?} {args:?}",
                    record.function.name,
                    record.mask,
                    record.thread,
                    record.cpu,
                    record.wall,
                    record.counters
                )
            };
            reader
                .records()
                .map(|record| shown(record.expect("reads")))
                .collect()
        };
        assert_eq!(records(&before), records(&after), "{}", path.display());
        let (a, b) = (
            before.trailer().expect("reads"),
            after.trailer().expect("reads"),
        );
        assert_eq!((a.keyvals, a.perf_labels), (b.keyvals, b.perf_labels));
        assert_eq!(
            (a.type_sizes, a.address_labels),
            (b.type_sizes, b.address_labels)
        );
        assert_eq!(copied.removed, 0);
        files += 1;
    }
    assert!(files > 50, "{files} files");
}

#[test]
fn calls_are_selected_by_communicator_and_time() {
    let input = golden::read(&golden::files("dumpi/ring-n2-default", ".bin")[0]);
    let all = DumpiReader::open(&input).expect("opens").records().count() as u64;
    let keep = |text: &str| PropertySelection {
        keep: vec![text.parse().expect("numbers")],
        remove: Vec::new(),
    };
    let mut world = DumpiFilter {
        comms: keep("2"),
        ..DumpiFilter::default()
    };
    let kept = filtered(&input, &world).1.kept;
    assert!(kept > 0 && kept < all);
    world.invert = true;
    assert_eq!(filtered(&input, &world).1.kept, all - kept);

    let reader = DumpiReader::open(&input).expect("opens");
    let times: Vec<(i64, i64)> = reader
        .records()
        .map(|record| record.expect("reads").wall)
        .map(|wall| (wall.start.ns(), wall.stop.ns()))
        .collect();
    let (from, to) = (times[10].0, times[20].1);
    let expected = times.iter().filter(|(a, b)| *a <= to && *b >= from).count() as u64;
    let mut window = DumpiFilter::default();
    window.windows.keep.push((from, to));
    assert_eq!(filtered(&input, &window).1.kept, expected);
    assert!(expected >= 11 && expected < all);
}
