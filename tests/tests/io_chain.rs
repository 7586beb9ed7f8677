//! From the MPI-IO call down to the disk, with real MPI programs.

use records::define::Definition;
use records::file::File;
use std::fs;
use tests::trace::Tracing;
use tests::{Mpi, Program, Run};

/// What `views.c` prints of a definition.
fn line(definition: &Definition) -> Option<String> {
    match definition {
        Definition::View(view) => {
            let mut line = format!(
                "{} {} {} {} {}",
                if view.hull { "HULL" } else { "VIEW" },
                view.displacement,
                view.etype,
                view.extent,
                view.size
            );
            for (offset, length) in view.pieces.iter().take(100) {
                line += &format!(" {offset}+{length}");
            }
            line += &format!(" pieces {}", view.pieces.len());
            assert!(!view.converted);
            Some(line)
        }
        Definition::Position { etypes, .. } => Some(format!("POSITION {etypes}")),
        _ => None,
    }
}

/// The views and positions in the block file of a rank.
fn recorded(run: &Run) -> Vec<String> {
    let bytes = fs::read(run.file("blocks")).expect("own folder");
    let file = File::new(&bytes).expect("a block file");
    let mut lines = Vec::new();
    for thread in file.threads() {
        let mut records = thread.records();
        while let Some(record) = records.next() {
            let definition = Definition::decode(record.function, record.payload);
            lines.extend(definition.as_ref().and_then(line));
        }
    }
    lines
}

/// Every kind of filetype is flattened to what MPI_Pack takes of it, and the individual pointer is known before each access
/// by it.
#[test]
fn views_and_positions() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        for large_count in [false, true] {
            // MPICH 4.0's own ROMIO cannot take filetypes made with large counts.
            if large_count && !tests::compile::declared(mpi).contains("MPI_Type_get_value_index") {
                continue;
            }
            let program = Program {
                large_count,
                ..Program::c("views")
            };
            let mut tracing = Tracing::new(mpi, 1);
            tracing.variables = &[("TRACE_KEEP_BLOCKS", "yes")];
            let run = tracing.run(&program.compile(mpi), &[]);
            let finished = &run.finished;
            assert!(finished.status.success(), "{}", finished.story());
            let printed: Vec<&str> = finished.stdout.lines().filter(|l| *l != "ok").collect();
            let recorded = recorded(&run);
            for (printed, recorded) in printed.iter().zip(&recorded) {
                assert_eq!(printed, recorded, "{mpi:?}");
            }
            assert_eq!(printed.len(), recorded.len(), "{mpi:?}");
            assert!(printed.len() > 40);
        }
    }
}
