//! MPI programs with the recorder through the server: each request must have the CallID of the call in which the rank's own
//! trace has the thread at that time.
//!
//! Needs the recorder (`ci/build tested`) and that MPI; says so and passes where they are not there.

use super::instance::{Instance, read};
use blockfile::file::BlockFile;
use blockfile::operation;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A stretch of time in which a thread was in a call, or in a call into libc.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    stop: u64,
    call: u64,
}

/// Actions of a thread of a rank.
#[derive(Default)]
struct Thread {
    calls: Vec<Span>,
    transfers: Vec<Span>,
}

/// The spans of every thread, by its number in the system, of the block files in `folder`.
fn threads(folder: &Path) -> HashMap<u64, Thread> {
    let mut threads: HashMap<u64, Thread> = HashMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "blocks") {
            continue;
        }
        let bytes = fs::read(path).unwrap();
        let file = BlockFile::new(&bytes).unwrap();
        let info = file.info();
        let rank = u64::try_from(info.rank).unwrap() << info.counter_bits;
        for thread in file.threads() {
            let spans = threads.entry(thread.tid).or_default();
            let mut records = thread.records();
            while let Some(record) = records.next() {
                let span = Span {
                    start: record.start,
                    stop: record.stop(),
                    call: rank | record.call,
                };
                if record.is_call() {
                    spans.calls.push(span);
                } else if record.is_operation() {
                    spans.transfers.push(span);
                }
            }
            for spans in [&mut spans.calls, &mut spans.transfers] {
                spans.sort_by_key(|span| (span.start, u64::MAX - span.stop));
            }
        }
    }
    threads
}

/// The outermost span that `time` is in.
fn at(spans: &[Span], time: u64) -> Option<Span> {
    let before = spans.partition_point(|span| span.start <= time);
    // Spans of one thread are nested or apart, and not deeply so.
    let mut inside = spans[..before].iter().rev().take(512);
    inside.rfind(|span| time <= span.stop).copied()
}

fn run(mpi: &str, name: &str, options: &[&str], ranks: u32) {
    let Some(library) = test_support::recorder(mpi) else {
        return;
    };
    let Some(instance) = Instance::start(&format!("{mpi}-{name}"), options) else {
        return;
    };
    let plain = instance.plain();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    let program = plain.join("io");
    let compiled = Command::new(format!("mpicc.{mpi}"))
        .args(["-O1", "-w", "-o"])
        .arg(&program)
        .arg(source.join("io.c"))
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let output = Command::new("timeout")
        .args(["200", &format!("mpiexec.{mpi}")])
        .args(["-n", &ranks.to_string(), "env"])
        .arg(format!("LD_PRELOAD={}", library.display()))
        .arg(&program)
        .current_dir(instance.mount())
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("TRACE_CLOCK", "monotonic")
        .env("TRACE_KEEP_BLOCKS", "yes")
        .env("TRACE_TMPDIR", &plain)
        .env("TRACE_DIR", &plain)
        .env("TRACE_TIDS", instance.reported("TRACE_TIDS"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    instance.unmount();
    let threads = threads(&plain);
    let (operations, _) = read(&instance.trace());
    let (mut known, mut in_calls, mut in_transfers, mut unknown) = (0, 0, 0, 0);
    for r in &operations {
        let kind = operation::kind(r.kind).unwrap();
        if kind.layer != operation::Layer::Request {
            continue;
        }
        let request = r.operation.request.unwrap();
        let Some(thread) = threads.get(&u64::from(request.tid)) else {
            unknown += 1;
            assert_eq!(r.operation.call, None, "{r:?}");
            continue;
        };
        known += 1;
        let call = at(&thread.calls, request.arrived).map(|span| span.call);
        in_calls += u64::from(call.is_some());
        assert_eq!(r.operation.call, call, "{} {r:?}", kind.name);
        if let Some(transfer) = at(&thread.transfers, request.arrived) {
            in_transfers += 1;
            assert_eq!(r.operation.call, Some(transfer.call), "{r:?}");
        }
    }
    println!(
        "{mpi} {name}: {known} requests of {} threads, {in_calls} in calls and {in_transfers} in file calls, all with the \
         right CallID; {unknown} of other threads",
        threads.len()
    );
    assert!(in_transfers > 50 && in_calls >= in_transfers);
}

pub fn mpich() {
    run("mpich", "plain", &[], 2);
    run(
        "mpich",
        "striped",
        &["--servers", "3", "--stripe", "512"],
        4,
    );
}

pub fn openmpi() {
    run("openmpi", "plain", &[], 2);
    run(
        "openmpi",
        "striped",
        &["--servers", "3", "--stripe", "512"],
        4,
    );
}
