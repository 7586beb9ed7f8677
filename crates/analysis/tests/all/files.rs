//! Times by file of a made-up run, against what it consists of.

use analysis::performance::{PerformanceOptions, TimesOfFile, analyse_in_order};
use std::convert::Infallible;
use trace_model::{
    Category, Color, Definitions, Drawable, InfoWriter, Line, Text, Topology, Vertex,
};

const OPERATION: &[u8] = b"CallID=0x%X, file=%d, fd=%d, offset=%l, size=%l, result=%l, filler=%l, errno=%d, details=%s, operation=%l";
const OPERATION_WITHOUT_CALL: &[u8] =
    b"file=%d, fd=%d, offset=%l, size=%l, result=%l, filler=%l, errno=%d, details=%s, operation=%l";
const ACCESS: &[u8] = b"CallID=0x%X, function=%s, file=%d, sequence=%l, bytes=%l, first=%l, behind=%l, pieces=%l, lasts=%l ns, complete=%l ns, writes=%d, number=%d";
const FILE: &[u8] = b"file=%d, role=%s, path=%s, device=0x%X, inode=%l";

/// Name, topology and info of each category; its number is its place.
const CATEGORIES: &[(&str, Topology, &[u8])] = &[
    ("MPI_Init", Topology::State, b""),
    ("MPI_Finalize", Topology::State, b""),
    ("MPI_File_open", Topology::State, b"handle=%d"),
    ("MPI_File_write_at", Topology::State, b""),
    ("MPI_File_close", Topology::State, b"handle=%d"),
    ("file", Topology::Event, FILE),
    ("I/O access", Topology::Event, ACCESS),
    ("pwrite", Topology::State, OPERATION),
    ("pwrite (no call)", Topology::State, OPERATION_WITHOUT_CALL),
];

/// Categories of a trace whose calls tell files and bytes themselves, as those of DUMPI and OTF2.
const TELLING_CALLS: &[(&str, Topology, &[u8])] = &[
    ("MPI_Init", Topology::State, b""),
    ("MPI_Finalize", Topology::State, b""),
    ("MPI_File_open", Topology::State, b"filename=%s, file=%d"),
    (
        "MPI_File_write_all_begin",
        Topology::State,
        b"file=%d, bytes=%l",
    ),
    (
        "MPI_File_write_all_end",
        Topology::State,
        b"file=%d, bytes=%l",
    ),
    (
        "MPI_File_read_at",
        Topology::State,
        b"filename=%s, bytes=%l",
    ),
    ("MPI_File_close", Topology::State, b"file=%d"),
];

/// Drawables of two ranks, in seconds, and what their categories are.
struct Run(
    Vec<(usize, i32, [f64; 2], Vec<u8>)>,
    &'static [(&'static str, Topology, &'static [u8])],
);

impl Default for Run {
    fn default() -> Run {
        Run(Vec::new(), CATEGORIES)
    }
}

impl Run {
    fn put(&mut self, name: &str, rank: i32, times: [f64; 2], info: &InfoWriter) {
        let category = self.1.iter().position(|(known, ..)| *known == name);
        let category = category.expect("a category");
        self.0.push((category, rank, times, info.bytes().to_vec()));
    }

    fn call(&mut self, name: &str, rank: i32, times: [f64; 2], handle: Option<i32>) {
        let mut info = InfoWriter::default();
        handle.into_iter().for_each(|handle| _ = info.int(handle));
        self.put(name, rank, times, &info);
    }

    fn file(&mut self, number: i32, role: &str, name: &str) {
        let mut info = InfoWriter::default();
        info.int(number).text(role.as_bytes()).text(name.as_bytes());
        self.put("file", 0, [0.0; 2], info.long(0).long(0));
    }

    /// A call that writes so many bytes by one operation in the middle of it.
    fn write(&mut self, rank: i32, file: i32, [from, to]: [f64; 2], bytes: i64) {
        let mut info = InfoWriter::default();
        info.long(1).text(b"MPI_File_write_at").int(file).long(0);
        info.long(bytes).long(0).long(bytes).long(1).long(0).long(0);
        self.put("I/O access", rank, [from; 2], info.int(1).int(0));
        self.call("MPI_File_write_at", rank, [from, to], None);
        let quarter = (to - from) / 4.0;
        let times = [from + quarter, to - quarter];
        self.operation("pwrite", rank, file, times, bytes);
    }

    fn operation(&mut self, name: &str, rank: i32, file: i32, times: [f64; 2], bytes: i64) {
        let mut info = InfoWriter::default();
        if name == "pwrite" {
            info.long(1);
        }
        info.int(file).int(9).long(0).long(bytes).long(bytes);
        self.put(name, rank, times, info.long(0).int(0).text(b"").long(1));
    }

    fn by_file(mut self) -> Vec<TimesOfFile> {
        for rank in 0..2 {
            self.call("MPI_Init", rank, [0.0, 1.0], None);
            self.call("MPI_Finalize", rank, [99.0, 100.0], None);
        }
        self.0.sort_by(|a, b| a.2[0].total_cmp(&b.2[0]));
        let categories = (self.1.iter())
            .zip(0..)
            .map(|((name, topology, format), index)| {
                let mut category = Category::new(index, Text::from(*name), *topology, Color::WHITE);
                category.set_info_format(format);
                category
            });
        let definitions = Definitions {
            categories: categories.collect(),
            lines: (0..2).map(|rank| Line::of_thread(rank, rank, 0)).collect(),
            ..Definitions::default()
        };
        let options = PerformanceOptions {
            parts: 4,
            ..PerformanceOptions::default()
        };
        let Ok(report) = analyse_in_order::<Infallible>(&definitions, &options, |put| {
            for (category, rank, times, info) in &self.0 {
                let vertices = times.map(|time| Vertex { time, line: *rank });
                let topology = self.1[*category].1;
                let count = if topology == Topology::Event { 1 } else { 2 };
                put(&Drawable {
                    topology,
                    category: *category as i32,
                    info,
                    vertices: &vertices[..count],
                });
            }
            Ok(())
        });
        // Both passes find the same waits.
        let parts = report.over_time.iter().map(|part| part.time.waiting);
        assert_eq!(parts.sum::<f64>(), report.time.waiting);
        report.by_file
    }
}

/// Two files with calls of known lengths: an open waits for the other rank, and its file is that of the handle; an operation beside MPI counts for
/// its file, and one before the end of MPI_Init for none.
#[test]
fn each_file_has_its_calls_and_operations() {
    let mut run = Run::default();
    run.file(0, "data", "/a");
    run.file(1, "side", "/.a.lock");
    run.file(2, "data", "/b");
    run.operation("pwrite (no call)", 0, 2, [0.5, 0.75], 7);
    // Both ranks open the first file; rank 1 comes 3 s later, and the library touches a file of its own before the file itself.
    run.call("MPI_File_open", 0, [2.0, 6.0], Some(0));
    run.call("MPI_File_open", 1, [5.0, 6.0], Some(0));
    for rank in 0..2 {
        run.operation("pwrite", rank, 1, [5.25, 5.5], 1);
    }
    run.write(0, 0, [8.0, 12.0], 100);
    run.write(1, 0, [9.0, 10.0], 50);
    run.write(1, 2, [20.0, 22.0], 30);
    run.operation("pwrite (no call)", 0, 2, [30.0, 31.0], 7);
    // Of this file no access and no operation tells the name.
    run.call("MPI_File_close", 0, [40.0, 41.0], Some(5));
    run.call("MPI_File_close", 1, [40.0, 41.0], Some(5));
    run.call("MPI_File_close", 0, [50.0, 51.0], Some(0));
    run.call("MPI_File_close", 1, [50.0, 51.0], Some(0));
    let by_file = run.by_file();
    let row = |file: Option<&str>| {
        let mut rows = by_file.iter();
        let row = rows.find(|row| row.file.as_deref() == file);
        row.unwrap_or_else(|| panic!("{file:?}: {by_file:?}"))
            .clone()
    };
    let b = row(Some("/b"));
    assert_eq!((b.calls, b.seconds, b.waiting, b.bytes), (1, 2.0, 0.0, 30));
    let operations = (b.operations, b.operation_seconds, b.moved_bytes);
    assert_eq!(operations, (2, 2.0, 37));
    let side = row(Some("/.a.lock"));
    assert_eq!((side.calls, side.operations), (0, 2));
    // The open calls and those that close it have no file that has the program's data.
    let unknown = row(None);
    let a = row(Some("/a"));
    assert_eq!((a.calls, a.seconds, a.bytes), (2, 5.0, 150));
    assert_eq!(
        (unknown.calls, unknown.seconds, unknown.waiting),
        (6, 9.0, 3.0)
    );
}

/// The library reads the shared file pointer before it waits for the other ranks. Rank 0 begins to write before the other one comes.
#[test]
fn an_operation_on_a_file_of_the_library_does_not_end_a_wait() {
    for (role, waiting) in [("shared pointer", 3.0), ("data", 1.0)] {
        let mut run = Run::default();
        run.file(0, "data", "/a");
        run.file(1, role, "/.a.shfp");
        run.call("MPI_File_open", 0, [2.0, 6.0], Some(0));
        run.operation("pwrite", 0, 1, [3.0, 3.25], 8);
        run.call("MPI_File_open", 1, [5.0, 6.0], Some(0));
        run.operation("pwrite", 0, 0, [5.5, 5.75], 8);
        let by_file = run.by_file();
        let waits: f64 = by_file.iter().map(|file| file.waiting).sum();
        assert_eq!(waits, waiting, "{role}");
    }
}

/// The operations of an open call say what its handle stands for, for the calls without an access, too.
#[test]
fn a_handle_stands_for_the_file_that_its_open_touches() {
    let mut run = Run::default();
    run.file(0, "data", "/a");
    for rank in 0..2 {
        run.call("MPI_File_open", rank, [2.0, 4.0], Some(3));
        run.operation("pwrite", rank, 0, [3.0, 3.5], 0);
        run.call("MPI_File_close", rank, [6.0, 7.0], Some(3));
    }
    let by_file = run.by_file();
    let [a] = &by_file[..] else {
        panic!("{by_file:?}");
    };
    assert_eq!((a.calls, a.seconds, a.waiting), (4, 6.0, 0.0));
    assert_eq!((a.operations, a.operation_seconds), (2, 1.0));
}

/// Calls tell files and bytes where no access does. A rank uses the number of a file again when it has closed it; the second half of a split access
/// tells the bytes once more.
#[test]
fn calls_tell_files_and_bytes_where_no_access_does() {
    let mut run = Run(Vec::new(), TELLING_CALLS);
    for (name, start) in [("/a", 10.0), ("/b", 30.0)] {
        let mut info = InfoWriter::default();
        let mut put = |name: &str, info: &InfoWriter, after: f64| {
            run.put(name, 0, [start + after, start + after + 1.0], info);
        };
        put("MPI_File_open", info.text(name.as_bytes()).int(1), 0.0);
        let bytes = start as i64;
        put(
            "MPI_File_write_all_begin",
            info.clear().int(1).long(bytes),
            2.0,
        );
        put(
            "MPI_File_write_all_end",
            info.clear().int(1).long(bytes),
            4.0,
        );
        put("MPI_File_close", info.clear().int(1), 6.0);
    }
    let mut info = InfoWriter::default();
    info.text(b"/a").long(5);
    run.put("MPI_File_read_at", 1, [50.0, 53.0], &info);
    let by_file = run.by_file();
    let rows: Vec<_> = (by_file.iter())
        .map(|row| (row.file.as_deref(), row.calls, row.bytes))
        .collect();
    assert_eq!(rows, [(Some("/a"), 5, 15), (Some("/b"), 4, 30)]);
}
