//! The functions that `include/libdumpi.h` numbers are those of the format.

use std::collections::BTreeMap;
use std::path::Path;
use trace_formats::dumpi::functions;

#[test]
fn the_header_numbers_functions_as_files_do() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/libdumpi.h");
    let header = std::fs::read_to_string(path).expect("include/libdumpi.h");
    let list = header
        .split("enum dumpi_function {")
        .nth(1)
        .expect("a list");
    let list = list.split('}').next().expect("its end");
    let numbered: BTreeMap<u16, &str> = list
        .split(',')
        .map(|item| {
            let (name, number) = item.split_once('=').expect("a number");
            (number.trim().parse().expect("a number"), name.trim())
        })
        .collect();
    assert_eq!(numbered.len(), 291);
    for (id, name) in numbered {
        if id < functions::ALL_FUNCTIONS {
            let function = functions::by_id(id).expect("in the format");
            assert_eq!(name, function.name.replacen("MPI", "DUMPI", 1));
        }
    }
}
