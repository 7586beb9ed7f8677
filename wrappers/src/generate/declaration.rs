//! A function's declaration in `mpi.h` as Rust source: its wrapper's name, its parameters, its type.

use crate::Function;
use crate::header::DeclaredFunction;

/// A declared function with its entry in the table, if it has one.
pub(super) type DeclaredEntry<'a> = (&'a DeclaredFunction, Option<&'a Function>);

/// Name of the wrapper: `MPI_File_open` becomes `file_open`.
pub(super) fn rust_name(name: &str) -> String {
    let short = name.strip_prefix("MPI_").unwrap_or(name).to_lowercase();
    match short.as_str() {
        "test" | "type" | "send" => format!("{short}_"),
        _ => short,
    }
}

/// The parameters with their types: `a0: i32, a1: *mut MPI_Comm`.
pub(super) fn signature(d: &DeclaredFunction) -> String {
    let list: Vec<String> = d
        .params
        .iter()
        .enumerate()
        .map(|(i, p)| format!("a{i}: {}", p.ty))
        .collect();
    list.join(", ")
}

/// The names of the parameters: `a0, a1`.
pub(super) fn names(d: &DeclaredFunction) -> String {
    let list: Vec<String> = (0..d.params.len()).map(|i| format!("a{i}")).collect();
    list.join(", ")
}

/// The type of a pointer to the function.
pub(super) fn pointer_type(d: &DeclaredFunction) -> String {
    let list: Vec<&str> = d.params.iter().map(|p| p.ty.as_str()).collect();
    let more = if d.variadic { ", ..." } else { "" };
    format!(
        "unsafe extern \"C-unwind\" fn({}{more}) -> {}",
        list.join(", "),
        d.returns
    )
}
