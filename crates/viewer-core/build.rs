//! Brings the classes of MPI functions into a short form, so that a page without a server need not carry the table of the
//! wrappers.

use std::collections::BTreeMap;
use std::path::Path;
use wrappers::Class;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let table = match wrappers::table() {
        Ok(table) => table,
        Err(error) => panic!("mpi.table: {error}"),
    };
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for function in &table.functions {
        if let Some(class) = class(function.class) {
            names.entry(class).or_default().push(&function.name);
        }
    }
    let classes = names.iter();
    let classes =
        classes.map(|(class, names)| format!("(ActivityClass::{class}, {:?}),\n", names.join(" ")));
    let text = format!("&[\n{}]\n", classes.collect::<String>());
    let folder = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&folder).join("functions.rs"), text).expect("OUT_DIR can be written");
}

/// Activity that pictures and summaries tell apart; `None` for the rest of MPI.
fn class(class: Class) -> Option<&'static str> {
    Some(match class {
        Class::Send
        | Class::Recv
        | Class::Sendrecv
        | Class::Isend
        | Class::Irecv
        | Class::Isendrecv
        | Class::SendInit
        | Class::RecvInit
        | Class::PsendInit
        | Class::PrecvInit
        | Class::Partition
        | Class::Start
        | Class::Probe
        | Class::Buffer => "P2p",
        Class::Complete | Class::Test => "Wait",
        Class::Collective
        | Class::Icollective
        | Class::CollectiveInit
        | Class::Neighbor
        | Class::Ineighbor
        | Class::NeighborInit => "Collective",
        Class::Rma
        | Class::RmaRequest
        | Class::WinCreate
        | Class::WinFree
        | Class::WinInfo
        | Class::RmaSync => "Rma",
        Class::FileOpen | Class::FileClose | Class::FileMeta | Class::FileAccess => "Io",
        _ => return None,
    })
}
