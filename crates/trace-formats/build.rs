//! Makes the table of DUMPI's functions from the lines `dumpi:` of the function table (`wrappers/mpi.table`).

use std::collections::BTreeMap;
use std::path::Path;

/// Functions of DUMPI that the function table has no DUMPI id for: id, name, variant of `Binding`, fields.
const NOT_IN_FUNCTION_TABLE: [(u16, &str, &str, &str); 12] = [
    (128, "MPI_Pcontrol", "Pseudo", ""),
    (
        282,
        "MPIO_Test",
        "Extra",
        "request:ioreq flag:int* status:stat*?",
    ),
    (283, "MPIO_Wait", "Extra", "request:ioreq status:stat*"),
    (
        284,
        "MPIO_Testall",
        "Extra",
        "count:int requests:ioreq[count] flag:int* statuses:stat[count]*?",
    ),
    (
        285,
        "MPIO_Waitall",
        "Extra",
        "count:int requests:ioreq[count] statuses:stat[count]*",
    ),
    (
        286,
        "MPIO_Testany",
        "Extra",
        "count:int requests:ioreq[count] flag:int* index:int* statuses:stat[count]*?",
    ),
    (
        287,
        "MPIO_Waitany",
        "Extra",
        "count:int requests:ioreq[count] index:int* statuses:stat[count]*?",
    ),
    (
        288,
        "MPIO_Waitsome",
        "Extra",
        "count:int requests:ioreq[count] outcount:int* indices:int[outcount]* statuses:stat[outcount]*",
    ),
    (
        289,
        "MPIO_Testsome",
        "Extra",
        "count:int requests:ioreq[count] outcount:int* indices:int[outcount]* statuses:stat[outcount]*",
    ),
    (290, "MPI_ALL_FUNCTIONS", "Pseudo", ""),
    (291, "Function_enter", "Pseudo", "fn:u64"),
    (292, "Function_exit", "Pseudo", "fn:u64"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let table = match wrappers::table() {
        Ok(table) => table,
        Err(error) => panic!("mpi.table: {error}"),
    };
    let mut rows: BTreeMap<u16, String> = BTreeMap::new();
    for function in &table.functions {
        let Some(id) = function.dumpi else { continue };
        let binding = if function.dumpi_old { "Old" } else { "Default" };
        rows.insert(id, row(id, &function.name, binding, &function.dumpi_fields));
    }
    for (id, name, binding, fields) in NOT_IN_FUNCTION_TABLE {
        let taken = rows.insert(id, row(id, name, binding, fields));
        assert!(taken.is_none(), "DUMPI id {id} stands twice");
    }
    let text = format!("[\n{}]\n", rows.into_values().collect::<String>());
    let folder = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let file = Path::new(&folder).join("dumpi_functions.rs");
    std::fs::write(file, text).expect("OUT_DIR can be written");
}

/// One element of the generated array.
fn row(id: u16, name: &str, binding: &str, fields: &str) -> String {
    format!("function({id}, {name:?}, LibraryBinding::{binding}, {fields:?}),\n")
}
