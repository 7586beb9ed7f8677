//! Random traces: whatever is put in, the library takes the events, regions nest, and everything is there.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trace_model::{Category, InfoWriter, Topology};

use super::archive;
use super::printed::PrintedEvent;
use crate::perfetto::{OwnedDrawable, category, definitions};

/// Kind, length, start, line of each end, number of a request or file.
type Span = (u8, i8, u8, u8, u8, u8);

const STATES: [&str; 8] = [
    "work",
    "MPI_Isend",
    "MPI_Irecv",
    "MPI_Waitall",
    "MPI_Ibcast",
    "MPI_File_open",
    "MPI_File_write_at",
    "pwrite",
];

fn categories() -> Vec<Category> {
    let formats = [
        "",
        "request=%d",
        "request=%d",
        "completes=%s",
        "root=%d, bytes=%l, request=%d",
        "CallID=0x%X, handle=%d",
        "CallID=0x%X, bytes=%l, handle=%d",
        "file=%d, fd=%d, size=%l, result=%l, operation=%l",
    ];
    let mut categories = vec![
        Category::message(),
        category(1, "mark", Topology::Event, "value=%l"),
        category(
            2,
            "I/O access",
            Topology::Event,
            "CallID=0x%X, file=%d, complete=%l ns",
        ),
    ];
    for ((index, name), format) in (3..).zip(STATES).zip(formats) {
        categories.push(category(index, name, Topology::State, format));
    }
    categories
}

fn info(kind: usize, number: u8, info: &mut InfoWriter) -> Vec<u8> {
    let (int, long) = (i32::from(number) - 1, i64::from(number) - 1);
    let info = info.clear();
    match kind {
        1 | 2 => info.int(int),
        3 => info.text(format!("{number},{}-{}", number + 1, number + 2).as_bytes()),
        4 => info.int(int).long(long).int(int),
        5 => info.long(long).int(int),
        6 => info.long(long).long(8).int(int),
        7 => info.int(int).int(3).long(8).long(long).long(0),
        _ => info,
    };
    info.bytes().to_vec()
}

fn drawables(spans: &[Span]) -> Vec<OwnedDrawable> {
    let mut writer = InfoWriter::default();
    let mut drawables: Vec<OwnedDrawable> = spans
        .iter()
        .map(|&(kind, length, start, from, to, number)| {
            let start = f64::from(start) / 4.0;
            let (from, to) = (i32::from(from), i32::from(to));
            let end = start + f64::from(length) / 4.0;
            match kind % 12 {
                0 => {
                    let info = writer.clear().long(number.into()).bytes().to_vec();
                    OwnedDrawable::new(Topology::Event, 1, &info, &[(start, from)])
                }
                1 => {
                    let later = i64::from(length) << 28;
                    let info = writer
                        .clear()
                        .long(i64::from(number) - 1)
                        .int(number.into());
                    let info = info.long(later).bytes().to_vec();
                    OwnedDrawable::new(Topology::Event, 2, &info, &[(start, from)])
                }
                2 | 3 => {
                    let info = [0, 0, 0, 1, 0, 0, 0, 8];
                    OwnedDrawable::new(Topology::Arrow, 0, &info, &[(start, from), (end, to)])
                }
                kind => {
                    let kind = usize::from(kind - 4);
                    let info = info(kind, number, &mut writer);
                    let end = start + f64::from(length.unsigned_abs()) / 4.0;
                    let ends = [(start, from), (end, from)];
                    OwnedDrawable::new(Topology::State, 3 + kind as i32, &info, &ends)
                }
            }
        })
        .collect();
    drawables.sort_by(|a, b| {
        let (a, b) = (a.borrowed().bounds(), b.borrowed().bounds());
        let starts = a.earliest.total_cmp(&b.earliest);
        starts.then(b.latest.total_cmp(&a.latest))
    });
    drawables
}

/// By rank and number of a request 1 while it is open, else 0.
type OpenRequests = BTreeMap<(u64, String), i32>;

/// What an event does to the number of its request's open operations.
fn change(event: &PrintedEvent) -> i32 {
    match event.kind.as_str() {
        "MPI_ISEND" | "MPI_IRECV_REQUEST" | "NON_BLOCKING_COLLECTIVE_REQUEST" => 1,
        "MPI_ISEND_COMPLETE" | "MPI_IRECV" | "NON_BLOCKING_COLLECTIVE_COMPLETE" => -1,
        _ => 0,
    }
}

/// The three locations in every order.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// The open requests after the events of an instant; `None` if one is made while it is open, or completed while it is not. Events of one
/// location are in order. Between locations there is no order within an instant, so one of all must do, or the order in which they are printed.
fn after(open: &OpenRequests, instant: &[PrintedEvent]) -> Option<OpenRequests> {
    let mut locations: Vec<u64> = instant.iter().map(|event| event.location).collect();
    locations.sort_unstable();
    locations.dedup();
    let printed: Vec<&PrintedEvent> = instant.iter().collect();
    let ordered = ORDERS.iter().map(|order| {
        let place = |event: &&PrintedEvent| {
            let at = locations.binary_search(&event.location).ok();
            at.and_then(|at| order.get(at)).copied()
        };
        let mut events = printed.clone();
        events.sort_by_key(place);
        events
    });
    [printed.clone()]
        .into_iter()
        .chain(ordered)
        .find_map(|events| {
            let mut open = open.clone();
            for event in events.into_iter().filter(|event| change(event) != 0) {
                let request = (
                    event.location & 0xffff_ffff,
                    event.value("Request").to_owned(),
                );
                let number = open.entry(request).or_default();
                *number += change(event);
                if !(0..=1).contains(number) {
                    return None;
                }
            }
            Some(open)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn regions_nest_and_nothing_is_missing(
        spans in proptest::collection::vec((0u8..24, -3i8..6, 0u8..24, 0u8..3, 0u8..3, 0u8..5), 0..60),
    ) {
        let definitions = definitions(categories(), &[(0, 0), (0, 1), (1, 0)]);
        let drawables = drawables(&spans);
        let Some((archive, _)) = archive(&definitions, &drawables, false) else {
            return Ok(());
        };
        let mut inside: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        let mut requests = OpenRequests::default();
        let mut operations: BTreeMap<String, i32> = BTreeMap::new();
        let mut last = 0;
        for event in &archive.events {
            prop_assert!(event.time >= last);
            last = event.time;
            let regions = inside.entry(event.location).or_default();
            match event.kind.as_str() {
                "ENTER" => regions.push(event.value("Region").to_owned()),
                "LEAVE" => {
                    let left = regions.pop();
                    prop_assert_eq!(left.as_deref(), Some(event.value("Region")));
                }
                "IO_OPERATION_BEGIN" => *operations.entry(event.value("Matching Id").to_owned()).or_default() += 1,
                "IO_OPERATION_COMPLETE" => *operations.entry(event.value("Matching Id").to_owned()).or_default() += 2,
                _ => {}
            }
        }
        for instant in archive.events.chunk_by(|a, b| a.time == b.time) {
            let next = after(&requests, instant);
            prop_assert!(next.is_some(), "{:?}", instant);
            requests = next.unwrap_or_default();
        }
        prop_assert!(inside.values().all(Vec::is_empty));
        prop_assert!(operations.values().all(|&number| number == 3));
        let number = |kinds: &[&str]| archive.events.iter().filter(|event| kinds.contains(&event.kind.as_str())).count();
        let of = |topology, category| {
            let of = |d: &&OwnedDrawable| d.topology == topology && (category == 0 || d.category == category);
            drawables.iter().filter(of).count()
        };
        let (marks, states) = (of(Topology::Event, 1), of(Topology::State, 0));
        let arrows = of(Topology::Arrow, 0);
        prop_assert_eq!(number(&["ENTER"]), states + marks);
        prop_assert_eq!(number(&["LEAVE"]), states + marks);
        prop_assert_eq!(number(&["METRIC"]), marks);
        prop_assert_eq!(number(&["MPI_SEND", "MPI_ISEND"]), arrows);
        prop_assert_eq!(number(&["MPI_RECV", "MPI_IRECV"]), arrows);
    }
}
