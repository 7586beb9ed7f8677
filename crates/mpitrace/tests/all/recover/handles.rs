//! Handles that a library gives to another thread while the call that frees them has not returned.

use super::common::{Blocks, V, WORLD, call_at, rank};
use super::{End, Folder, KILLED, file};
use blockfile::define::{CommCreation, CommDefinition, CommDefinitionKind, Definition};
use blockfile::layout::ended;

const FINALIZED: End = End {
    ended: ended::FINALIZED,
    ..KILLED
};

/// Rank 0 frees a communicator and a window in one thread while another thread gets their handles for new ones; rank 1 does the same one after the other.
/// Every rank comes to every collective call.
#[test]
fn verify_follows_handles_that_go_to_another_thread() {
    let (kept, made, other) = (700, 600, 601);
    let (window, other_window) = (V::H(8), V::H(9));
    let create = |comm: u64, window: &V| {
        let info = V::H(5);
        [V::No, V::I(64), V::I(1), info, V::H(comm), window.clone()]
    };
    // The communicator is there before the call that makes it returns.
    let define = |b: &mut Blocks, time: u32, handle, parent| {
        let definition = Definition::Comm(CommDefinition {
            handle,
            parent,
            kind: CommDefinitionKind::Intra,
            origin: CommCreation::Parent,
            rank: b.rank,
            members: vec![0, 1],
            remote: Vec::new(),
        });
        b.record(definition.number(), time, 0, &definition.encode());
    };
    let dup = |from: u64, to: u64| [V::H(from), V::H(to)];

    let mut a = rank(0, 2);
    a.threads.push(Vec::new());
    a.thread = 1;
    define(&mut a, 1090, kept, WORLD);
    call_at(&mut a, 1000, 1100, "MPI_Comm_dup", &dup(WORLD, kept));
    a.thread = 0;
    call_at(&mut a, 1200, 1300, "MPI_Comm_rank", &[V::H(WORLD), V::I(0)]);
    define(&mut a, 1490, made, WORLD);
    call_at(&mut a, 1400, 1500, "MPI_Comm_dup", &dup(WORLD, made));
    call_at(&mut a, 1600, 1700, "MPI_Barrier", &[V::H(made)]);
    call_at(
        &mut a,
        1800,
        1900,
        "MPI_Win_create",
        &create(WORLD, &window),
    );
    call_at(&mut a, 3000, 5000, "MPI_Comm_free", &[V::H(made)]);
    call_at(
        &mut a,
        7000,
        9000,
        "MPI_Win_free",
        std::slice::from_ref(&window),
    );
    a.thread = 1;
    define(&mut a, 3990, made, kept);
    call_at(&mut a, 2500, 4000, "MPI_Comm_dup", &dup(kept, made));
    call_at(&mut a, 6000, 6100, "MPI_Barrier", &[V::H(made)]);
    call_at(&mut a, 6500, 8000, "MPI_Win_create", &create(kept, &window));
    call_at(
        &mut a,
        9500,
        9600,
        "MPI_Win_fence",
        &[V::I(0), window.clone()],
    );

    let mut b = rank(1, 2);
    define(&mut b, 1090, kept, WORLD);
    call_at(&mut b, 1000, 1100, "MPI_Comm_dup", &dup(WORLD, kept));
    define(&mut b, 1490, made, WORLD);
    call_at(&mut b, 1400, 1500, "MPI_Comm_dup", &dup(WORLD, made));
    call_at(&mut b, 1600, 1700, "MPI_Barrier", &[V::H(made)]);
    call_at(
        &mut b,
        1800,
        1900,
        "MPI_Win_create",
        &create(WORLD, &window),
    );
    call_at(&mut b, 3000, 3100, "MPI_Comm_free", &[V::H(made)]);
    define(&mut b, 4090, other, kept);
    call_at(&mut b, 4000, 4100, "MPI_Comm_dup", &dup(kept, other));
    call_at(&mut b, 6000, 6100, "MPI_Barrier", &[V::H(other)]);
    call_at(
        &mut b,
        6500,
        6600,
        "MPI_Win_create",
        &create(kept, &other_window),
    );
    call_at(&mut b, 7000, 7100, "MPI_Win_free", &[window]);
    call_at(
        &mut b,
        9500,
        9600,
        "MPI_Win_fence",
        &[V::I(0), other_window],
    );

    let folder = Folder::new("handles-of-threads");
    folder.write("0.blocks", &file(&a, &FINALIZED));
    folder.write("1.blocks", &file(&b, &FINALIZED));
    let verified = folder.succeeds(&["verify", "--json", "0.blocks", "1.blocks"]);
    let report: serde_json::Value = serde_json::from_str(&verified).expect("JSON");
    assert_eq!(report["findings"], serde_json::json!([]), "{report:#}");
    // Three duplicates, two barriers, two windows made, one freed, one fence.
    assert_eq!(report["operations"], 9, "{report:#}");
}
