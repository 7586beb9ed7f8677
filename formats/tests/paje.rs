//! Pajé traces against the texts and the rules of pj_dump.

use std::path::{Path, PathBuf};

use formats::paje::{PrintOptions, Printed, Trace, print};

fn golden(name: &str) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/golden/paje");
    if !folder.exists() {
        println!("SKIPPED: {} is not there", folder.display());
        return None;
    }
    Some(read(&folder.join(name)))
}

fn read(path: &PathBuf) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn printed(trace: &[u8], options: &PrintOptions) -> (String, Printed) {
    let mut out = Vec::new();
    let printed = print(&Trace::new(trace), options, &mut out).expect("memory");
    (String::from_utf8(out).expect("UTF-8"), printed)
}

#[test]
fn goldens_print_as_by_pj_dump() {
    for (trace, text) in [
        ("mpi_sample.trace", "mpi_sample.pj_dump.txt"),
        ("mpi_sample_2003names.trace", "mpi_sample.pj_dump.txt"),
        ("seed_3_4.trace", "seed_3_4.pj_dump_n.txt"),
    ] {
        let (Some(trace), Some(text)) = (golden(trace), golden(text)) else {
            return;
        };
        let (found, printed) = printed(&trace, &PrintOptions::default());
        assert_eq!(found, String::from_utf8(text).expect("UTF-8"));
        assert!(printed.error.is_none() && printed.warnings.is_empty());
    }
}
