//! DUMPI files filtered, against what dumpi2dumpi made of the same.

use test_support::golden;
use trace_formats::dumpi::DumpiSource;
use trace_formats::dumpi::functions::by_name;
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::{ClockOffsets, ClockSpan, DumpiTrailer, Mask};
use trace_formats::dumpi::write::{DumpiWriter, LIBDUMPI, RecordHead};
use trace_model::{Source as _, Topology};
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

/// Function, start and end, and arguments of a call.
type Call = (&'static str, [i64; 2], &'static [i32]);

/// A file of calls: function, start and end in ns, and arguments, of which numbers below 0 are the handles -number.
fn calls_of_rank(calls: &[Call]) -> Vec<u8> {
    let mut writer = DumpiWriter::new(Vec::new(), ClockOffsets::default()).expect("memory");
    for &(name, [start, stop], arguments) in calls {
        let head = RecordHead {
            mask: Mask(Mask::DEFAULT.0 & !Mask::STATUSES),
            thread: 0,
            cpu: ClockSpan::default(),
            wall: ClockSpan::from_ns(start as u64, stop as u64),
        };
        let id = by_name(name).expect("a function").id;
        let mut call = writer.call(id, &head, &[]);
        for &argument in arguments {
            match argument {
                0.. => call.int(argument),
                _ => call.handle(-argument),
            };
        }
        call.end().expect("a call");
    }
    let trailer = DumpiTrailer::default();
    writer.finish(&trailer, LIBDUMPI).expect("memory").0
}

/// The arrows of a run of two ranks: when sent and when received, ns after the first call.
fn arrows(files: &[Vec<u8>; 2]) -> Vec<[i64; 2]> {
    let [a, b] = files;
    let source = DumpiSource::new(2, &[(0, a), (1, b)]).expect("a run");
    let mut arrows = Vec::new();
    let drawn = source.for_each(&mut |drawable| {
        if drawable.topology == Topology::Arrow {
            let times = [0, 1].map(|end| drawable.vertices[end].time * 1e9);
            arrows.push(times.map(|time| time.round() as i64));
        }
        Ok(())
    });
    drawn.expect("no error");
    arrows.sort_unstable();
    arrows
}

/// Message n is sent at 1000 n and received at 1000 n + 4500, so that calls of one time are about different messages. Each arrow that is drawn of a
/// filtered run is one of these.
#[test]
fn arrows_of_filtered_runs_are_true() {
    let run = |own: &[Call]| {
        let barriers = (0..20).map(|nth| ("MPI_Barrier", [800 * nth, 800 * nth + 1], &[-2][..]));
        let mut calls: Vec<Call> = barriers.chain(own.iter().copied()).collect();
        calls.sort_by_key(|call| call.1[1]);
        calls_of_rank(&calls)
    };
    let at = |nth: i64, late: i64| [1000 * nth + late, 1000 * nth + late + 10];
    let sends: Vec<Call> = (1..=10)
        .map(|nth| ("MPI_Send", at(nth, 0), &[1, -2, 1, 7, -2][..]))
        .collect();
    let receives: Vec<Call> = (1..=10)
        .map(|nth| ("MPI_Recv", at(nth, 4490), &[1, -2, 0, 7, -2][..]))
        .collect();
    let files = [run(&sends), run(&receives)];
    let is_true = |[sent, received]: &[i64; 2]| received - sent == 4500;
    let all = arrows(&files);
    assert!(all.len() == 10 && all.iter().all(is_true), "{all:?}");
    let kept = |filter: &DumpiFilter| {
        let files = files.each_ref().map(|file| filtered(file, filter).0);
        let found = arrows(&files);
        assert!(found.iter().all(is_true), "{found:?}");
        let lack = |file: &Vec<u8>| DumpiReader::open(file).expect("opens").lacks_messages();
        (found.len(), files.each_ref().map(lack))
    };
    let window = |from, to| {
        let mut filter = DumpiFilter::default();
        filter.windows.keep.push((from, to));
        filter
    };
    assert_eq!(kept(&window(4200, 11_200)), (0, [true, false]));
    assert_eq!(kept(&window(4200, 99_999)).1, [true, false]);
    // What is kept is the beginning of all messages, or all of them.
    assert_eq!(kept(&window(0, 9600)), (5, [false, false]));
    assert_eq!(kept(&window(900, 99_999)), (10, [false, false]));
    let without = |name| {
        let mut filter = DumpiFilter::default();
        filter.functions.set(name, false).expect("known");
        filter
    };
    assert_eq!(kept(&without("MPI_Barrier")), (10, [false, false]));
    assert_eq!(kept(&without("MPI_Send")), (0, [false, false]));
    let middle = DumpiFilter {
        invert: true,
        ..window(4200, 5800)
    };
    assert_eq!(kept(&middle), (0, [true, true]));
}

/// The first of two receives is completed after the second one, and its completion is left out: the other one gets the second message all the same.
#[test]
fn a_receive_under_way_keeps_its_message() {
    let send = |nth: i64| {
        (
            "MPI_Send",
            [1000 * nth, 1000 * nth + 10],
            &[1, -2, 1, 7, -2][..],
        )
    };
    let request: &[i32] = &[1, -2, 0, 7, -2, 5];
    let receive: &[i32] = &[1, -2, 0, 7, -2];
    let receives: &[Call] = &[
        ("MPI_Irecv", [100, 110], request),
        ("MPI_Recv", [2100, 2500], receive),
        ("MPI_Wait", [3000, 3500], &[5]),
    ];
    let files = [calls_of_rank(&[send(1), send(2)]), calls_of_rank(receives)];
    let truth = [[900, 3400], [1900, 2400]];
    assert_eq!(arrows(&files), truth);
    let mut filter = DumpiFilter::default();
    filter.windows.keep.push((0, 2900));
    let files = files.each_ref().map(|file| filtered(file, &filter).0);
    let found = arrows(&files);
    assert!(found.iter().all(|arrow| truth.contains(arrow)), "{found:?}");
}

/// A region is one from its start to its end, though a file has a record for each: both are kept or none, as in other formats.
#[test]
fn a_window_keeps_regions_whole() {
    let region = |name, time: u64, key: u64| (name, time, key);
    let calls = [
        region("Function_enter", 100, 1),
        region("Function_enter", 200, 2),
        region("Function_exit", 300, 2),
        region("Function_exit", 900, 1),
        region("Function_enter", 1000, 3),
    ];
    let mut writer = DumpiWriter::new(Vec::new(), ClockOffsets::default()).expect("memory");
    for (name, time, key) in calls {
        let head = RecordHead {
            mask: Mask(Mask::DEFAULT.0 & !Mask::STATUSES),
            thread: 0,
            cpu: ClockSpan::default(),
            wall: ClockSpan::from_ns(time, time),
        };
        let id = by_name(name).expect("a function").id;
        let mut call = writer.call(id, &head, &[]);
        call.u64(key);
        call.end().expect("a call");
    }
    let trailer = DumpiTrailer::default();
    let input = writer.finish(&trailer, LIBDUMPI).expect("memory").0;
    let kept = |from, to, is_removed| {
        let mut filter = DumpiFilter::default();
        match is_removed {
            false => filter.windows.keep.push((from, to)),
            true => filter.windows.remove.push((from, to)),
        }
        let reader = DumpiReader::open(&input).expect("opens");
        let (output, copied) = filtered(&input, &filter);
        assert_eq!(filter.keeps_any(&reader), copied.kept > 0);
        let reader = DumpiReader::open(&output).expect("opens");
        let times = reader
            .records()
            .map(|record| record.expect("reads").wall.start.ns());
        times.collect::<Vec<i64>>()
    };
    assert_eq!(kept(400, 500, false), [100, 900]);
    assert_eq!(kept(250, 260, false), [100, 200, 300, 900]);
    assert_eq!(kept(850, 2000, false), [100, 900, 1000]);
    assert_eq!(kept(2000, 3000, false), [1000]);
    assert_eq!(kept(250, 950, true), [1000]);
    assert_eq!(kept(400, 500, true), [200, 300, 1000]);
}
