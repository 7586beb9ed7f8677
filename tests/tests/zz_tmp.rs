use tests::{Mpi, Program, trace::Tracing};
#[test]
fn tmp() {
    for mpi in Mpi::ALL {
        for name in "p2p nonblocking persistent partitioned collectives icollectives neighborhood datatypes rma io many_calls comms groups topology environment sessions tool threads removed silent init_in_thread children pcontrol".split(' ') {
            for large_count in [false, true] {
                if large_count && mpi == Mpi::OpenMpi { continue }
                let r = std::panic::catch_unwind(|| {
                let p = Program { large_count, ..Program::c(name) };
                let e = p.compile(mpi);
                for n in [1, 2] {
                    let mut t = Tracing::new(mpi, n);
                    t.preload = false;
                    let run = t.run(&e, &[]);
                    assert!(run.finished.status.success() && run.finished.stdout == "ok\n", "{}", run.finished.story());
                    assert_eq!(run.made().len(), n);
                    println!("{mpi:?} {name} {n} {:?} {}", run.finished.took, run.made()[&0].values().sum::<u64>());
                }
                });
                if r.is_err() { println!("FAILED {mpi:?} {name} large {large_count}"); }
            }
        }
    }
}
