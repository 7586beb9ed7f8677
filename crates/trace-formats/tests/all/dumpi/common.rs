//! Files that the tests of DUMPI make with the writer.

use trace_formats::dumpi::types::{
    AddressLabel, ClockOffsets, ClockSpan, DumpiHeader, DumpiTrailer, Mask,
};
use trace_formats::dumpi::value::DumpiStatus;
use trace_formats::dumpi::write::{
    DumpiWriteError, DumpiWriter, LIBDUMPI, RecordBuilder, RecordHead,
};

/// The times of the `n`th call: a millisecond each, 7 s of wall clock and 0 s of cpu clock before the first.
fn head(n: u64, mask: u8) -> RecordHead {
    let start = n * 2_000_000;
    let wall = 7_000_000_000 + start;
    RecordHead {
        mask: Mask(mask),
        thread: (n % 3) as u16,
        cpu: ClockSpan::from_ns(start / 2, start / 2 + 900),
        wall: ClockSpan::from_ns(wall, wall + 1_000_000),
    }
}

/// A status of a message that was received.
fn status(bytes: i32, source: i32, tag: i32) -> DumpiStatus {
    DumpiStatus {
        bytes,
        source,
        tag,
        ..DumpiStatus::default()
    }
}

/// A status of a request that was cancelled.
fn cancelled() -> DumpiStatus {
    DumpiStatus {
        cancelled: 1,
        error: -3,
        ..status(0, -1, -1)
    }
}

/// A call: its function id, its mask, and what writes its arguments.
type CallToWrite = (u16, u8, fn(&mut RecordBuilder<'_, Vec<u8>>));

/// Calls with each kind of field, in the order of a file.
fn every_kind_calls() -> impl Iterator<Item = CallToWrite> {
    simple_field_calls().into_iter().chain(list_field_calls())
}

/// Calls whose fields are numbers, handles, statuses and lists of these.
fn simple_field_calls() -> Vec<CallToWrite> {
    vec![
        (124, 0x4f, |c| _ = c.strings(["./a", "", "-x y"])),
        (0, 0x4f, |c| _ = c.int(3).handle(9).int(1).int(-1).handle(2)),
        (1, 0x4f, |c| {
            _ = c
                .int(3)
                .handle(300)
                .int(-1)
                .int(5)
                .handle(4)
                .statuses([status(12, 1, 5)])
        }),
        (1, 0x4c, |c| {
            _ = c
                .int(3)
                .handle(14)
                .int(-2)
                .int(5)
                .handle(-7)
                .statuses([status(12, 1, 5)])
        }),
        (8, 0x43, |c| {
            _ = c.int(0).handle(6).int(-2).int(-1).handle(3).int(2)
        }),
        (18, 0x4f, |c| {
            _ = c
                .int(2)
                .ints([2, -5])
                .statuses([status(12, 1, 5), cancelled()])
        }),
        (18, 0x4f, |c| _ = c.int(0).ints([]).statuses([])),
        (20, 0x48, |c| {
            _ = c.int(1).ints([1]).int(-32766).ints([]).statuses([])
        }),
        (54, 0x4f, |c| _ = c.int(1).int(4).handle(9).int(0).handle(2)),
        (54, 0x4f, |c| {
            _ = c.int(0).int(4).handle(9).int(0).handle(2).int(8).handle(2)
        }),
        (55, 0x4f, |c| {
            _ = c.int(1).int(2).int(4).handle(9).int(0).handle(2).handle(0)
        }),
        (57, 0x4f, |c| {
            c.int(1)
                .int(2)
                .handle(9)
                .int(4)
                .handle(10)
                .int(1)
                .handle(2)
                .ints([1, 2])
                .ints([0, 1]);
        }),
        (62, 0x4f, |c| {
            _ = c.int(1).handle(14).code(255).int(0).handle(2)
        }),
        (71, 0x4f, |c| _ = c.handle(3).handle(4).code(-1)),
    ]
}

/// Calls whose fields are rows, strings and lists of strings, among others.
fn list_field_calls() -> Vec<CallToWrite> {
    vec![
        (78, 0x4f, |c| {
            _ = c.handle(3).int(2).rows([[0, 6, 2], [1, 1, 1]]).handle(5)
        }),
        (79, 0x4f, |c| _ = c.handle(3).int(0).rows([]).handle(5)),
        (135, 0x4f, |c| {
            c.int(0)
                .int(0)
                .handle(2)
                .handle(4)
                .string(b"./b")
                .strings(["1", "2"])
                .int(2)
                .handle(1)
                .ints([0, 0]);
        }),
        (136, 0x4f, |c| {
            c.int(3)
                .int(0)
                .int(0)
                .handle(2)
                .handle(4)
                .int(2)
                .strings(["x", "y"]);
            c.string_lists([vec!["1", "2"], vec![]])
                .ints([1, 2])
                .handles([0, 1])
                .ints([0, 0, 1]);
        }),
        (136, 0x4f, |c| {
            _ = c.int(3).int(1).int(0).handle(2).handle(4)
        }),
        (146, 0x4f, |c| _ = c.code(18).handle(1)),
        (155, 0x4f, |c| {
            c.int(1)
                .ints([1])
                .ints([2])
                .handles([9])
                .ints([3])
                .ints([4])
                .handles([-7])
                .handle(2);
        }),
        (217, 0x4f, |c| {
            c.int(1)
                .int(0)
                .int(2)
                .ints([8, 9])
                .codes([1, 4])
                .ints([-49767, 2])
                .ints([1, 1]);
            c.code(2).handle(13).handle(28);
        }),
        (254, 0x4f, |c| _ = c.handle(1).i64(-5_000_000_000).code(2)),
        (291, 0x4f, |c| _ = c.u64(4096)),
        (292, 0x03, |c| _ = c.u64(u64::MAX)),
        (125, 0xcf, |_| ()),
    ]
}

/// A file with each kind of field, written through the encoder.
pub fn every_kind() -> Result<Vec<u8>, DumpiWriteError> {
    let mut writer = DumpiWriter::new(Vec::new(), ClockOffsets { cpu: 0, wall: 7 })?;
    let mut trailer = DumpiTrailer::default();
    for (n, (id, mask, put)) in (0..).zip(every_kind_calls()) {
        let mut call = writer.call(id, &head(n, mask), &[(n as i64, -1), (i64::MAX, 0)]);
        put(&mut call);
        call.end()?;
        trailer.footer.count(id, 1, 0);
    }
    trailer.footer.count(82, 2, 2);
    trailer.header = DumpiHeader {
        starttime: 86_400,
        hostname: b"node1".to_vec(),
        username: b"<none>".to_vec(),
        mesh_coords: vec![1, 0],
        mesh_sizes: vec![4, 2],
        ..DumpiHeader::default()
    };
    trailer.perf_labels = vec![b"CYCLES".to_vec(), b"L1".to_vec()];
    trailer.type_sizes = (0..30).collect();
    trailer.address_labels = vec![AddressLabel {
        key: 4096,
        label: b"ANNOTATION: step".to_vec(),
    }];
    writer.finish(&trailer, LIBDUMPI).map(|(bytes, _)| bytes)
}

/// A file of a few plain calls, small enough to damage it everywhere.
pub fn small() -> Result<Vec<u8>, DumpiWriteError> {
    let mut writer = DumpiWriter::new(Vec::new(), ClockOffsets { cpu: 0, wall: 7 })?;
    let mut call = writer.call(124, &head(0, 0x4f), &[]);
    call.strings(["./a"]);
    call.end()?;
    let mut call = writer.call(136, &head(1, 0xcf), &[(1, 2)]);
    call.int(1)
        .int(0)
        .int(0)
        .handle(2)
        .handle(4)
        .int(1)
        .strings(["x"]);
    call.string_lists([["1", "2"]])
        .ints([1])
        .handles([0])
        .ints([0]);
    call.end()?;
    let mut call = writer.call(79, &head(2, 0x4f), &[]);
    call.handle(3).int(1).rows([[1, 2, 3]]).handle(5);
    call.end()?;
    let mut call = writer.call(18, &head(3, 0x4f), &[]);
    call.int(2)
        .ints([2, 3])
        .statuses([DumpiStatus::default(); 2]);
    call.end()?;
    writer.call(125, &head(4, 0x4f), &[]).end()?;
    let trailer = DumpiTrailer {
        perf_labels: vec![b"CYCLES".to_vec()],
        type_sizes: vec![0, 4],
        address_labels: vec![AddressLabel {
            key: 1,
            label: b"f".to_vec(),
        }],
        ..DumpiTrailer::default()
    };
    writer.finish(&trailer, LIBDUMPI).map(|(bytes, _)| bytes)
}
