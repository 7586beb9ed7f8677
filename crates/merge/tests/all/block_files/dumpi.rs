//! Block files made in memory, turned into DUMPI and read back as dumpi2ascii's text.

use crate::block_files::ranks::blocks::*;
use blockfile::define::{DatatypeDefinition, Definition};
use blockfile::file::BlockFile;
use blockfile::layout::Family;
use merge::dumpi::{DumpiFileSummary, DumpiOptions, constant_names, write_to};
use trace_formats::dumpi::print::{Sections, Zone, print};
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::{DumpiTrailer, Mask};

fn convert(blocks: &Blocks, options: &DumpiOptions) -> (Vec<u8>, DumpiFileSummary) {
    let bytes = blocks.bytes();
    let file = BlockFile::new(&bytes).expect("a block file");
    write_to(&file, blocks.table, options, Vec::new()).expect("a Vec takes everything")
}

/// Each call with its arguments, without times.
fn calls(blocks: &Blocks) -> Vec<String> {
    let (bytes, summary) = convert(blocks, &DumpiOptions::default());
    assert_eq!(summary.damaged, 0);
    calls_of(&bytes)
}

/// Each call of a DUMPI file with its arguments, without times.
pub fn calls_of(bytes: &[u8]) -> Vec<String> {
    let reader = DumpiReader::open(bytes).expect("a DUMPI file");
    let mut text = Vec::new();
    print(&reader, Sections::STREAM, Zone::Utc, &mut text).expect("a sound stream");
    let mut calls: Vec<String> = Vec::new();
    for line in String::from_utf8_lossy(&text).lines() {
        if let Some((name, _)) = line.split_once(" entering at ") {
            calls.push(format!("{name}:"));
        } else if !line.contains(" returning at ") {
            let call = calls.last_mut().expect("an entry line first");
            call.push(' ');
            call.push_str(line);
        }
    }
    calls
}

fn trailer(blocks: &Blocks, options: &DumpiOptions) -> DumpiTrailer {
    let (bytes, _) = convert(blocks, options);
    let reader = DumpiReader::open(&bytes).expect("a DUMPI file");
    DumpiTrailer {
        header: reader.header().expect("a header").clone(),
        footer: reader.footer().unwrap().unwrap(),
        keyvals: Vec::new(),
        perf_labels: reader.perf_labels().unwrap().unwrap(),
        type_sizes: reader.type_sizes().unwrap().unwrap(),
        address_labels: reader.address_labels().unwrap().unwrap(),
    }
}

use V::{A, Aio, H, I, Io, No, S, T};

#[test]
fn messages_and_their_completion() {
    let mut b = Blocks::new();
    let p2p = |dest: i64, tag: i64| [No, I(4), H(DOUBLE), I(dest), I(tag), H(WORLD)];
    b.call("MPI_Send", &p2p(1, 7));
    b.call("MPI_Send", &p2p(-1, 7));
    let [.., comm] = p2p(0, 0);
    b.call(
        "MPI_Recv",
        &[
            No,
            I(4),
            H(DOUBLE),
            I(-2),
            I(-1),
            comm.clone(),
            S(Some(status(1, 7, 32))),
        ],
    );
    b.call(
        "MPI_Recv",
        &[
            No,
            I(4),
            H(INT),
            I(-1),
            I(3),
            comm.clone(),
            S(Some(status(-1, -1, 0))),
        ],
    );
    b.call(
        "MPI_Irecv",
        &[No, I(1), H(INT), I(1), I(0), comm.clone(), H(0x9c00_0001)],
    );
    b.call(
        "MPI_Isend",
        &[No, I(1), H(INT), I(1), I(0), comm, H(0x9c00_0002)],
    );
    let requests = [0x9c00_0002, 0x9c00_0001, REQUEST_NULL];
    b.call(
        "MPI_Waitall",
        &[
            I(3),
            handles(&requests),
            statuses(&[status(0, 0, 0), status(1, 5, 4), status(-2, -1, 0)]),
        ],
    );
    b.call("MPI_Test", &[H(0x9c00_0003), I(0), S(None)]);
    b.call(
        "MPI_Waitsome",
        &[
            I(1),
            handles(&[REQUEST_NULL]),
            I(-32766),
            A(Some(vec![])),
            A(Some(vec![])),
        ],
    );
    b.call(
        "MPI_Testall",
        &[I(2), handles(&requests[..2]), I(0), A(None)],
    );
    b.call(
        "MPI_Waitany",
        &[I(2), handles(&requests[..2]), I(-32766), S(None)],
    );
    let stat = |bytes, source: &str, tag: &str| {
        format!("{{bytes={bytes}, cancelled=0, source={source}, tag={tag}, error=0}}")
    };
    let got = calls(&b);
    let want = [
        "MPI_Send: int count=4 MPI_Datatype datatype=14 (MPI_DOUBLE) int dest=1 int tag=7 MPI_Comm comm=2 (MPI_COMM_WORLD)".to_owned(),
        "MPI_Send: int count=4 MPI_Datatype datatype=14 (MPI_DOUBLE) int dest=-1 int tag=7 MPI_Comm comm=2 (MPI_COMM_WORLD)".to_owned(),
        format!("MPI_Recv: int count=4 MPI_Datatype datatype=14 (MPI_DOUBLE) int source=-1 (MPI_ANY_SOURCE) int tag=-1 (MPI_ANY_TAG) MPI_Comm comm=2 (MPI_COMM_WORLD) MPI_Status status=[{}]", stat(32, "1", "7")),
        format!("MPI_Recv: int count=4 MPI_Datatype datatype=9 (MPI_INT) int source=-1 (MPI_ANY_SOURCE) int tag=3 MPI_Comm comm=2 (MPI_COMM_WORLD) MPI_Status status=[{}]", stat(0, "-1", "-1")),
        "MPI_Irecv: int count=1 MPI_Datatype datatype=9 (MPI_INT) int source=1 int tag=0 MPI_Comm comm=2 (MPI_COMM_WORLD) MPI_Request request=[2]".to_owned(),
        "MPI_Isend: int count=1 MPI_Datatype datatype=9 (MPI_INT) int dest=1 int tag=0 MPI_Comm comm=2 (MPI_COMM_WORLD) MPI_Request request=[3]".to_owned(),
        format!("MPI_Waitall: int count=3 MPI_Request requests[3]=[3, 2, 1] MPI_Status statuses[3]=[{}, {}, {}]", stat(0, "0", "0"), stat(4, "1", "5"), stat(0, "-1", "-1")),
        "MPI_Test: MPI_Request request=[4] int flag=0 MPI_Status status=<IGNORED>".to_owned(),
        "MPI_Waitsome: int count=1 MPI_Request requests[1]=[1] int outcount=0 int indices[0]=<IGNORED> MPI_Status statuses[0]=<IGNORED>".to_owned(),
        "MPI_Testall: int count=2 MPI_Request requests[2]=[3, 2] int flag=0 MPI_Status statuses[2]=<IGNORED>".to_owned(),
        "MPI_Waitany: int count=2 MPI_Request requests[2]=[3, 2] int index=-32766 MPI_Status status=<IGNORED>".to_owned(),
    ];
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(&want) {
        assert_eq!(got, want);
    }
}

/// Fields that only the root has, the rank that decides it, and the order in which MPI_Scatter numbers its types.
#[test]
fn roots() {
    let other = 0x8400_0001;
    let run = |rank: i32| {
        let mut b = Blocks::new();
        b.comm(other, rank, &[0, 1]);
        b.datatype(100, 24, "");
        b.datatype(101, 40, "");
        let counts = if rank == 1 { ints(&[1, 2]) } else { A(None) };
        b.call(
            "MPI_Scatter",
            &[No, I(3), H(100), No, I(4), H(101), I(1), H(other)],
        );
        b.call(
            "MPI_Gather",
            &[No, I(3), H(100), No, I(4), H(101), I(1), H(other)],
        );
        b.call(
            "MPI_Gatherv",
            &[
                No,
                I(3),
                H(INT),
                No,
                counts.clone(),
                counts.clone(),
                H(CHAR),
                I(1),
                H(other),
            ],
        );
        b.call(
            "MPI_Scatterv",
            &[
                No,
                counts.clone(),
                counts,
                H(CHAR),
                No,
                I(3),
                H(INT),
                I(1),
                H(other),
            ],
        );
        calls(&b)
    };
    let user = |n| format!("{n} (user-defined-datatype)");
    let tail = "int root=1 MPI_Comm comm=4 (user-defined-comm)";
    assert_eq!(
        run(1),
        [
            format!(
                "MPI_Scatter: int commrank=1 int sendcount=3 MPI_Datatype sendtype={} int recvcount=4 MPI_Datatype recvtype={} {tail}",
                user(28),
                user(29)
            ),
            format!(
                "MPI_Gather: int commrank=1 int sendcount=3 MPI_Datatype sendtype={} int recvcount=4 MPI_Datatype recvtype={} {tail}",
                user(28),
                user(29)
            ),
            format!(
                "MPI_Gatherv: int commrank=1 int commsize=2 int sendcount=3 MPI_Datatype sendtype=9 (MPI_INT) int recvcounts[2]=[1, 2] int displs[2]=[1, 2] MPI_Datatype recvtype=2 (MPI_CHAR) {tail}"
            ),
            format!(
                "MPI_Scatterv: int commrank=1 int commsize=2 int sendcounts[2]=[1, 2] int displs[2]=[1, 2] MPI_Datatype sendtype=2 (MPI_CHAR) int recvcount=3 MPI_Datatype recvtype=9 (MPI_INT) {tail}"
            ),
        ]
    );
    assert_eq!(
        run(0),
        [
            format!(
                "MPI_Scatter: int commrank=0 int sendcount=0 MPI_Datatype sendtype=0 (MPI_DATATYPE_ERROR) int recvcount=4 MPI_Datatype recvtype={} {tail}",
                user(28)
            ),
            format!(
                "MPI_Gather: int commrank=0 int sendcount=3 MPI_Datatype sendtype={} int recvcount=0 MPI_Datatype recvtype=0 (MPI_DATATYPE_ERROR) {tail}",
                user(29)
            ),
            format!(
                "MPI_Gatherv: int commrank=0 int commsize=2 int sendcount=3 MPI_Datatype sendtype=9 (MPI_INT) int recvcounts[2]=<IGNORED> int displs[2]=<IGNORED> MPI_Datatype recvtype=0 (MPI_DATATYPE_ERROR) {tail}"
            ),
            format!(
                "MPI_Scatterv: int commrank=0 int commsize=2 int sendcounts[2]=<IGNORED> int displs[2]=<IGNORED> MPI_Datatype sendtype=2 (MPI_CHAR) int recvcount=3 MPI_Datatype recvtype=9 (MPI_INT) {tail}"
            ),
        ]
    );
}

/// Readers take as many elements as there are ranks, whether they are significant or not.
#[test]
fn arrays_per_rank_are_never_short() {
    let mut b = Blocks::new();
    b.call(
        "MPI_Alltoallv",
        &[
            No,
            A(None),
            A(None),
            H(TYPE_NULL),
            No,
            ints(&[1, 2]),
            ints(&[0, 1]),
            H(INT),
            H(WORLD),
        ],
    );
    b.call(
        "MPI_Alltoallw",
        &[
            No,
            A(None),
            A(None),
            A(None),
            No,
            ints(&[1, 2]),
            ints(&[0, 1]),
            handles(&[INT, DOUBLE]),
            H(WORLD),
        ],
    );
    assert_eq!(
        calls(&b),
        [
            "MPI_Alltoallv: int commsize=2 int sendcounts[2]=[0, 0] int senddispls[2]=[0, 0] MPI_Datatype sendtype=1 (MPI_DATATYPE_NULL) int recvcounts[2]=[1, 2] int recvdispls[2]=[0, 1] MPI_Datatype recvtype=9 (MPI_INT) MPI_Comm comm=2 (MPI_COMM_WORLD)",
            "MPI_Alltoallw: int commsize=2 int sendcounts[2]=[0, 0] int senddispls[2]=[0, 0] MPI_Datatype sendtypes[2]=[0, 0] int recvcounts[2]=[1, 2] int recvdispls[2]=[0, 1] MPI_Datatype recvtypes[2]=[9, 14] MPI_Comm comm=2 (MPI_COMM_WORLD)",
        ]
    );
}

/// Faults of the reference that we do not repeat (`spec/dumpi.md` section 9.2).
#[test]
fn right_where_the_reference_is_wrong() {
    let mut b = Blocks::new();
    let far = 0x7fff_1234_5678;
    b.call(
        "MPI_Type_create_hindexed",
        &[I(3), ints(&[1, 2, 3]), ints(&[0, 16, far]), H(INT), H(100)],
    );
    b.call(
        "MPI_Type_create_hvector",
        &[I(3), I(1), I(1 << 40), H(INT), H(101)],
    );
    b.call("MPI_Get_address", &[No, I(far)]);
    b.call(
        "MPI_Dims_create",
        &[I(6), I(2), Aio(vec![I(0), I(2)], vec![I(3), I(2)])],
    );
    b.call(
        "MPI_Graph_create",
        &[
            H(WORLD),
            I(2),
            ints(&[1, 3]),
            ints(&[1, 0, 0]),
            I(0),
            H(0x8400_0002),
        ],
    );
    b.call(
        "MPI_Info_get",
        &[H(5), T(Some("key")), I(16), T(None), I(0)],
    );
    b.call("MPI_Win_fence", &[I(0), H(6)]);
    b.call("MPI_Win_fence", &[I(1024 | 4096), H(6)]);
    b.call("MPI_File_open", &[H(WORLD), T(Some("f")), I(3), H(5), H(7)]);
    b.call(
        "MPI_Win_create",
        &[No, I(3 << 31), I(8), H(5), H(WORLD), H(8)],
    );
    let got = calls(&b);
    let fragments = [
        "displacements[3]=[0, 16, 305419896]",
        "stride=2147483647",
        "address=305419896",
        "int dims.in[2]=[0, 2] int dims.out[2]=[3, 2]",
        "numedges=3",
        "string key=\"key\" int valuelength=16 string value=\"\" int flag=0",
        "int assertion=0",
        "int assertion=5",
        "amode=0",
        "size=2147483647",
    ];
    assert_eq!(got.len(), fragments.len());
    for (call, fragment) in got.iter().zip(fragments) {
        assert!(call.contains(fragment), "{call}: {fragment} expected");
    }
    assert!(
        got[4].contains("index[2]=[1, 3] int edges[3]=[1, 0, 0]"),
        "{}",
        got[4]
    );
}

/// Equal arguments are encoded once, but not beyond a definition by which they mean something else.
#[test]
fn equal_arguments_have_equal_fields_up_to_a_definition() {
    let mut b = Blocks::new();
    let send = |b: &mut Blocks| {
        let send = [No, I(4), H(100), I(1), I(7), H(WORLD)];
        b.call("MPI_Send", &send);
        b.call("MPI_Send", &send);
    };
    let size = |size| {
        Definition::Type(DatatypeDefinition {
            handle: 100,
            size,
            extent: size,
            name: String::new(),
        })
    };
    b.define(&size(24));
    send(&mut b);
    b.define(&size(28));
    send(&mut b);
    let got = calls(&b);
    let fragments = ["28", "28", "29", "29"];
    for (call, number) in got.iter().zip(fragments) {
        assert!(call.contains(&format!("datatype={number}")), "{call}");
    }
    assert_eq!(got.len(), fragments.len());
}

#[test]
fn values_that_change_and_computed_fields() {
    let mut b = Blocks::new();
    b.call(
        "MPI_Init_thread",
        &[I(2), texts(&[Some("./a"), None]), I(3), I(3)],
    );
    b.call(
        "MPI_Pack",
        &[No, I(3), H(INT), No, I(256), Io(8, 20), H(WORLD)],
    );
    b.call(
        "MPI_Cart_get",
        &[H(WORLD), I(2), ints(&[2, 1]), ints(&[1, 0]), ints(&[0, 0])],
    );
    b.call("MPI_Cart_sub", &[H(WORLD), ints(&[1, 0]), H(0x8400_0003)]);
    b.call(
        "MPI_Group_range_incl",
        &[H(9), I(2), ints(&[0, 4, 2, 5, 5, 1]), H(10)],
    );
    b.call("MPI_Comm_create_keyval", &[No, No, I(0x6400_0001), No]);
    b.call("MPI_Comm_free_keyval", &[Io(0x6400_0001, 0x2400_0000)]);
    b.call("MPI_Comm_get_attr", &[H(WORLD), I(0x6440_0001), No, I(1)]);
    b.call(
        "MPI_Comm_spawn_multiple",
        &[
            I(2),
            texts(&[Some("a"), Some("b")]),
            texts(&[Some("-x"), Some("-y"), None, None]),
            ints(&[1, 2]),
            handles(&[5, 5]),
            I(0),
            H(WORLD),
            H(0x8400_0004),
            ints(&[0, 0, 17]),
        ],
    );
    let got = calls(&b);
    let fragments = [
        "argv[2]=[\"./a\", \"\"] int required=4 (MPI_THREAD_MULTIPLE)",
        "int outcount=256 int position.in=8 int position.out=20",
        "int ndim=2 MPI_Comm comm=2 (MPI_COMM_WORLD) int maxdims=2 int dims[2]=[2, 1]",
        "int ndim=2 MPI_Comm oldcomm=2 (MPI_COMM_WORLD) int remain_dims[2]=[1, 0] MPI_Comm newcomm=4",
        "[0, 4, 2]",
        "keyval=10",
        "keyval=10",
        "keyval=0",
        "totprocs=3",
    ];
    assert_eq!(got.len(), fragments.len());
    for (call, fragment) in got.iter().zip(fragments) {
        assert!(call.contains(fragment), "{call}: {fragment} expected");
    }
    for part in [
        "[[\"-x\"\"-y\"], []]",
        "errcodes[3]=[0, 0, 17]",
        "maxprocs[2]=[1, 2]",
    ] {
        assert!(got[8].contains(part), "{}: {part} expected", got[8]);
    }
}

/// Calls without an id, and large counts.
#[test]
fn extensions_keep_what_the_format_has_no_record_for() {
    let mut b = Blocks::new();
    let unknown = blockfile::record::FIRST_UNKNOWN + 3;
    b.define(&Definition::Function {
        number: unknown,
        name: "MPIX_Thing".to_owned(),
    });
    b.call("MPI_Ibarrier", &[H(WORLD), H(0x9c00_0001)]);
    let now = b.now;
    b.record(unknown, now, 20, &[]);
    b.now += 100;
    b.call("MPI_Bcast_c", &[No, I(5), H(INT), I(0), H(WORLD)]);
    b.call("MPI_Bcast_c", &[No, I(1 << 31), H(INT), I(0), H(WORLD)]);
    b.call("MPI_Ibarrier", &[H(WORLD), H(0x9c00_0001)]);
    assert!(
        calls(&b)[4].starts_with("MPI_Bcast: int count=5 "),
        "{:?}",
        calls(&b)
    );
    let (bytes, summary) = convert(&b, &DumpiOptions::default());
    assert_eq!(
        (summary.calls, summary.extensions, summary.left_out),
        (1, 4, 0)
    );
    let reader = DumpiReader::open(&bytes).unwrap();
    let labels = reader.address_labels().unwrap().unwrap();
    let name = |key: u64| {
        let label = labels
            .iter()
            .find(|l| l.key == key)
            .expect("a label for each key");
        String::from_utf8_lossy(&label.label).into_owned()
    };
    let mut seen = Vec::new();
    for record in reader.records() {
        let record = record.unwrap();
        assert!(record.wall.start <= record.wall.stop);
        let wall = (record.wall.start.nsec, record.wall.stop.nsec);
        match record.args().next() {
            Some((_, trace_formats::dumpi::value::FieldValue::U64(key))) => {
                assert!(key > 1 << 47);
                seen.push((record.function.name, name(key), wall));
            }
            _ => seen.push((record.function.name, String::new(), wall)),
        }
    }
    let (enter, exit) = ("Function_enter", "Function_exit");
    let pair = |n: &str, start, stop| {
        [
            (enter, n.to_owned(), (start, start)),
            (exit, n.to_owned(), (stop, stop)),
        ]
    };
    let mut want = Vec::new();
    want.extend(pair("MPI_Ibarrier", 1000, 1010));
    want.extend(pair("MPIX_Thing", 1100, 1120));
    want.push(("MPI_Bcast", String::new(), (1200, 1210)));
    want.extend(pair("MPI_Bcast_c", 1300, 1310));
    want.extend(pair("MPI_Ibarrier", 1400, 1410));
    assert_eq!(seen, want);
    let footer = reader.footer().unwrap().unwrap();
    assert_eq!((footer.called[53], footer.ignored[53]), (2, 1));
    assert_eq!((footer.called[290], footer.ignored[290]), (2, 1));

    let off = DumpiOptions {
        extensions: false,
        ..DumpiOptions::default()
    };
    let (bytes, summary) = convert(&b, &off);
    assert_eq!(
        (summary.calls, summary.extensions, summary.left_out),
        (1, 0, 4)
    );
    assert_eq!(calls_of(&bytes).len(), 1);
    assert!(trailer(&b, &off).address_labels.is_empty());
}

#[test]
fn what_stands_behind_the_stream() {
    let mut b = Blocks::new();
    b.call("MPI_Barrier", &[H(WORLD)]);
    b.call("MPI_Comm_rank", &[H(WORLD), I(0)]);
    let barrier = b.table.get("MPI_Barrier").unwrap().id as u16;
    for calls in [4, 9] {
        b.define(&Definition::Ignored {
            function: barrier,
            calls,
        });
    }
    b.datatype(100, 24, "");
    b.call("MPI_Type_contiguous", &[I(6), H(INT), H(100)]);
    let mut all = trailer(&b, &DumpiOptions::default());
    assert_eq!((all.footer.called[52], all.footer.ignored[52]), (10, 9));
    assert_eq!((all.footer.called[82], all.footer.ignored[82]), (1, 0));
    assert_eq!((all.footer.called[290], all.footer.ignored[290]), (12, 9));
    assert_eq!(all.type_sizes.len(), 28);
    assert_eq!(
        [all.type_sizes[2], all.type_sizes[9], all.type_sizes[14]],
        [1, 4, 8]
    );
    b.call("MPI_Type_commit", &[H(100)]);
    all = trailer(&b, &DumpiOptions::default());
    assert_eq!(all.type_sizes[28..], [24]);
    assert_eq!(all.header.hostname, b"node7");
    assert_eq!(all.header.username, b"someone");
    assert_eq!(all.header.starttime, 1_700_000_000);
}

#[test]
fn masks_follow_the_settings_and_the_records() {
    let masks = |b: &Blocks, options: &DumpiOptions| -> Vec<u8> {
        let (bytes, _) = convert(b, options);
        let reader = DumpiReader::open(&bytes).unwrap();
        reader.records().map(|r| r.unwrap().mask.0).collect()
    };
    let mut b = Blocks::new();
    b.call("MPI_Barrier", &[H(WORLD)]);
    b.cpu = true;
    b.call(
        "MPI_Probe",
        &[I(1), I(1), H(WORLD), S(Some(status(1, 1, 5)))],
    );
    assert_eq!(masks(&b, &DumpiOptions::default()), [0x4B, 0x4F]);
    let bare = DumpiOptions {
        cpu: false,
        wall: false,
        statuses: 0,
        ..DumpiOptions::default()
    };
    assert_eq!(masks(&b, &bare), [0x40, 0x40]);
    let success = DumpiOptions {
        wall: false,
        statuses: Mask::STATUSES_OF_SUCCESS,
        ..DumpiOptions::default()
    };
    assert_eq!(masks(&b, &success), [0x41, 0x45]);
    let (bytes, _) = convert(&b, &bare);
    assert_eq!(
        calls_of(&bytes)[1],
        "MPI_Probe: int source=1 int tag=1 MPI_Comm comm=2 (MPI_COMM_WORLD) MPI_Status status=<IGNORED>"
    );
    let (bytes, _) = convert(&b, &DumpiOptions::default());
    let reader = DumpiReader::open(&bytes).unwrap();
    let cpu = reader.records().nth(1).unwrap().unwrap().cpu;
    assert_eq!(
        (cpu.start.ns(), cpu.stop.ns()),
        (7_000_000_001, 7_000_000_002)
    );
}

/// Threads in the order of completion, each with its number.
#[test]
fn threads() {
    let mut b = Blocks::new();
    b.threads.push(Vec::new());
    b.call("MPI_Barrier", &[H(WORLD)]);
    for thread in [1, 0, 1] {
        b.thread = thread;
        b.call("MPI_Comm_rank", &[H(WORLD), I(thread as i64)]);
    }
    let (bytes, _) = convert(&b, &DumpiOptions::default());
    let reader = DumpiReader::open(&bytes).unwrap();
    let threads: Vec<u16> = reader.records().map(|r| r.unwrap().thread).collect();
    assert_eq!(threads, [0, 1, 0, 1]);
}

/// Open MPI's handles are six bytes wide and its constants differ; the text does not.
#[test]
fn open_mpi() {
    let mut b = Blocks::empty(Family::OpenMpi);
    for (name, value) in [
        ("MPI_ANY_SOURCE", -1),
        ("MPI_PROC_NULL", -2),
        ("MPI_ROOT", -4),
    ] {
        b.define(&Definition::Constant {
            name: name.to_owned(),
            value,
        });
    }
    let world = 0x7f12_3456_7890;
    b.define(&Definition::Predefined(
        blockfile::define::PredefinedHandle {
            handle: world,
            name: "MPI_COMM_WORLD".to_owned(),
        },
    ));
    b.call(
        "MPI_Bcast",
        &[No, I(1), H(0x7f12_3456_0000), I(-4), H(world)],
    );
    b.call(
        "MPI_Send",
        &[No, I(1), H(0x7f12_3456_0000), I(-2), I(0), H(world)],
    );
    assert_eq!(
        calls(&b),
        [
            "MPI_Bcast: int count=1 MPI_Datatype datatype=28 (user-defined-datatype) int root=-3 MPI_Comm comm=2 (MPI_COMM_WORLD)",
            "MPI_Send: int count=1 MPI_Datatype datatype=28 (user-defined-datatype) int dest=-1 int tag=0 MPI_Comm comm=2 (MPI_COMM_WORLD)",
        ]
    );
}

#[test]
fn constants_have_names() {
    let all: Vec<_> = constant_names().collect();
    assert!(all.len() > 60 && all.iter().all(|n| n.starts_with("MPI_")));
    assert!(all.contains(&"MPI_ANY_TAG") && all.contains(&"MPI_MODE_APPEND"));
}
