//! What the states of made-up runs say beside their accesses: nonblocking ones that are waited for at once, ranks that record.

use analysis::io::{RunFacts, RunFactsCollector};
use trace_model::{
    Category, Color, Definitions, Drawable, InfoWriter, Line, Text, Topology, Vertex,
};

const ACCESS: &[u8] = b"CallID=0x%X, function=%s, file=%d, sequence=%l, bytes=%l, first=%l, behind=%l, pieces=%l, lasts=%l ns, complete=%l ns, writes=%d, number=%d";

/// Name, topology and info of each category; its number is its place.
const CATEGORIES: [(&str, Topology, &[u8]); 6] = [
    ("MPI_File_iwrite_at", Topology::State, b""),
    ("MPI_Wait", Topology::State, b""),
    ("MPI_Send", Topology::State, b""),
    ("I/O access", Topology::Event, ACCESS),
    (
        "MPI_File_set_atomicity",
        Topology::State,
        b"CallID=0x%X, handle=%d, atomic=%d",
    ),
    ("library", Topology::Event, b"%s"),
];

/// What a rank does, and when (us).
enum Act {
    /// A nonblocking write from one time to the other, which is complete at the third.
    Begin(i64, i64, i64),
    /// Another call: its category.
    Call(i32, i64, i64),
    /// A call of MPI_File_set_atomicity with this flag, -1 where it is not known.
    Atomicity(i32),
    /// An I/O library is loaded.
    Library(&'static str),
}

fn facts(acts: &[Act]) -> RunFacts {
    let mut definitions = Definitions::default();
    for (index, (name, topology, info)) in (0..).zip(CATEGORIES) {
        let mut category = Category::new(index, Text::from(name), topology, Color::WHITE);
        category.set_info_format(info);
        definitions.categories.push(category);
    }
    definitions.lines = (0..2).map(|rank| Line::of_thread(rank, rank, 0)).collect();
    let mut collector = RunFactsCollector::new(&definitions, None);
    let mut put = |category, times: &[i64], info: &[u8]| {
        let vertices: Vec<Vertex> = times
            .iter()
            .map(|us| Vertex {
                time: *us as f64 / 1e6,
                line: 0,
            })
            .collect();
        collector.put(&Drawable {
            topology: CATEGORIES[category as usize].1,
            category,
            info,
            vertices: &vertices,
        });
    };
    for act in acts {
        match *act {
            Act::Begin(start, end, complete) => {
                put(0, &[start, end], b"");
                let mut info = InfoWriter::default();
                info.long(1).text(b"MPI_File_iwrite_at").int(0).long(-1);
                info.long(9)
                    .long(0)
                    .long(9)
                    .long(1)
                    .long((end - start) * 1000);
                info.long((complete - start) * 1000).int(1).int(0);
                put(3, &[start], info.bytes());
            }
            Act::Call(category, start, end) => put(category, &[start, end], b""),
            Act::Library(name) => {
                let mut info = InfoWriter::default();
                put(5, &[0], info.text(name.as_bytes()).bytes());
            }
            Act::Atomicity(flag) => {
                let mut info = InfoWriter::default();
                info.long(1).int(0).int(flag);
                put(4, &[0, 1], info.bytes());
            }
        }
    }
    collector.finish(None)
}

/// Calls and us that were waited for at once.
fn at_once(acts: &[Act]) -> Option<(u64, u64)> {
    let facts = facts(acts);
    let sum = facts.waited_at_once.get("MPI_File_iwrite_at")?;
    Some((sum.calls, sum.ns / 1000))
}

const WAIT: i32 = 1;
const SEND: i32 = 2;

#[test]
fn a_wait_for_the_access_before_it_is_at_once() {
    use Act::{Begin, Call};
    let one = [Begin(0, 10, 50), Call(WAIT, 12, 50)];
    assert_eq!(at_once(&one), Some((1, 48)));
    let late = [Begin(0, 10, 500), Call(WAIT, 300, 500)];
    assert_eq!(at_once(&late), None);
    let other_call = [Begin(0, 10, 50), Call(SEND, 12, 20), Call(WAIT, 21, 50)];
    assert_eq!(at_once(&other_call), None);
}

#[test]
fn accesses_that_are_under_way_together_are_not_waited_for_at_once() {
    use Act::{Begin, Call};
    // Two buffers by turns: while one is written, the other is filled.
    let by_turns = [
        Begin(0, 10, 2050),
        Begin(2000, 2010, 4050),
        Call(WAIT, 2012, 2050),
        Begin(4000, 4010, 6050),
        Call(WAIT, 4012, 4050),
        Call(WAIT, 6000, 6050),
    ];
    assert_eq!(at_once(&by_turns), None);
    // All begin, then all are waited for.
    let together = [
        Begin(0, 10, 50),
        Begin(11, 20, 60),
        Call(WAIT, 21, 50),
        Call(WAIT, 51, 60),
    ];
    assert_eq!(at_once(&together), None);
}

#[test]
fn ranks_without_calls_do_not_record() {
    // Rank 1 has a timeline and no call.
    assert_eq!(facts(&[Act::Call(SEND, 0, 1)]).ranks, 1);
    assert_eq!(facts(&[]).ranks, 2);
}

#[test]
fn only_a_flag_that_is_set_asks_for_atomic_mode() {
    let atomic = facts(&[1, 0, 1, 0, 0, -1].map(Act::Atomicity)).atomic;
    assert_eq!((atomic.asked, atomic.unknown), (2, 1));
    // Traces without the value in the info.
    assert_eq!(facts(&[Act::Call(4, 0, 1)]).atomic.unknown, 1);
}

#[test]
fn loaded_libraries_are_known_by_their_file_names() {
    let has = |names: &[&'static str]| {
        let acts: Vec<Act> = names.iter().map(|name| Act::Library(name)).collect();
        let found = facts(&acts);
        (found.has_hdf5, found.has_pnetcdf, found.libraries.len())
    };
    assert_eq!(has(&[]), (false, false, 0));
    assert_eq!(has(&["libhdf5_mpich.so.103"; 2]), (true, false, 1));
    assert_eq!(has(&["HDF5 library version: 1.10.8"]), (true, false, 1));
    let both = ["libpnetcdf.so.4", "libadios2_core.so.2.8"];
    assert_eq!(has(&both), (false, true, 2));
}
